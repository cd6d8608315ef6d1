//! log: input 0, budget Checks(0): event 1 differs: .. drop 0, drop 0, 1.5 .. instead of .. drop 0, 1.5, drop 0 ..
//!
//! found by: cargo xtask fuzz-macro --seed 97 --first 2579 --functions 1
//! edition: 2021

#[cooperative]
pub async fn entry() -> u64 {
    for _ in (0..1).map(Loud) {
        soft_tick();
        for v5 in 0..1usize {
            soft_tick();
            let mut v6: Vec<Loud> = (0..1).map(Loud).collect::<Vec<Loud>>();
        }
        note(1.5f64);
    }
    1
}
