//! compile E0277: a `?` in the head of an inner `for` stayed as it was in the nest's closure
//!
//! found by: cargo xtask fuzz-macro
//! edition: 2024

#[cooperative]
pub fn entry(p1: &[i32]) -> Option<i32> {
    let mut sum = 0i32;
    for &x in p1 {
        soft_tick();
        for k in 0..p1.get(x as usize & 7).copied()? & 3 {
            soft_tick();
            sum += k;
        }
    }
    Some(sum)
}
