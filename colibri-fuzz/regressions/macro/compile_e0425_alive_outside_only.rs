//! compile E0425: a stop at an inner loop did not carry what a stop at the loop around it does
//!
//! found by: cargo xtask fuzz-macro
//! edition: 2024

#[cooperative]
pub fn entry(p1: &[i32]) -> usize {
    let mut sum = 0usize;
    for a in 2..4usize {
        soft_tick();
        let mut words = 0usize;
        let mut i = 0;
        'scan: while i < p1.len() {
            tick();
            i += 1;
            if p1[i - 1] & 1 == a as i32 & 1 {
                loop {
                    tick();
                    if i == p1.len() { break 'scan; }
                    if p1[i] & 2 == 0 { continue 'scan; }
                    i += 1;
                }
            } else {
                words += 1;
            }
        }
        sum += i;
    }
    sum
}
