//! compile E0308: a `&mut Vec` was passed as a slice to a nest that lends it whole
//!
//! found by: cargo xtask fuzz-macro
//! edition: 2024

#[cooperative]
pub fn entry(p1: &mut Vec<i32>, p2: usize) {
    let mut i = 0;
    while i < (p2 & 3) {
        soft_tick();
        i += 1;
        let _r: &mut Vec<i32> = &mut *p1;
    }
}
