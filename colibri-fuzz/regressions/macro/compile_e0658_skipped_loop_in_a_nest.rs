//! compile E0658: `#[cooperative(skip)]` was left standing in an outlined nest
//!
//! found by: cargo xtask fuzz-macro
//! edition: 2024

#[cooperative]
pub fn entry(p1: &[i32]) -> i32 {
    let mut sum = 0i32;
    for &x in p1 {
        soft_tick();
        #[cooperative(skip)]
        for k in 0..(x & 7) {
            sum += k;
        }
        for k in 0..(x & 7) {
            soft_tick();
            sum += k;
        }
    }
    sum
}
