//! compile: a `let` in the head of an inner `for` kept its number
//!
//! found by: cargo xtask fuzz-macro
//! edition: 2024

#[cooperative]
pub fn entry(p1: &[i32]) -> i32 {
    let mut sum = 0i32;
    for &x in p1 { soft_tick(); for k in 0..({ let y = x & 7; y }) { soft_tick(); sum += k; } }
    sum
}
