//! compile E0425: error[E0425]: cannot find value `__colibri_fuel` in this scope
//!
//! found by: cargo xtask fuzz-macro --seed 41 --first 2023 --functions 1
//! edition: 2024

#[cooperative]
pub fn entry((p1, mut p2): (i32, u32), depth_left: u32) -> Option<i32> {
    call_tick();
    (if matches!((if depth_left > 0 { entry((p1, 5u32), depth_left - 1) } else { (if depth_left > 0 { entry((p1, p2), depth_left - 1) } else { Some(8i32) }) }), Some(q) if q & 1 == 0) { 8usize } else { 1 });
    None
}
