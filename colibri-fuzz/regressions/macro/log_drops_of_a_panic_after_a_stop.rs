//! log: input 2, budget Checks(0): event 0 differs: .. drop 7, drop 40, drop 0 .. instead of .. drop 0, drop 7, drop 40 ..
//!
//! found by: cargo xtask fuzz-macro --seed 41 --first 247 --functions 1
//! edition: 2024

#[cooperative]
pub async fn entry(mut p1: i32) -> i32 {
    let mut o7: [i32; 4] = [p1, p1, 7, -1];
    let mut o8: u64 = 13u64;
    let mut most9 = 0;
    for fuel in vec![Loud(p1 & 63), Loud(7i32 & 63), Loud(40)] {
        soft_tick();
        o8 = (o8 ^ o8) / o8;
        let mut i10: u64 = 0;
        while i10 < (4usize & 7) as u64 && (0i64 < 100i64) {
            soft_tick();
            i10 += 2;
            p1 = 1 / p1;
        }
    }
    note(most9);
    1
}
