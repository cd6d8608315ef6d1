//! compile: a `break` with a block-like value in a copied loop got a label, and needs parentheses then
//!
//! found by: cargo xtask fuzz-macro
//! edition: 2024

#[cooperative]
pub fn entry(p1: usize) -> usize {
    loop {
        tick();
        if p1 < 1000 { break loop { tick(); if p1 < 2000 { break 5; } }; }
    }
}
