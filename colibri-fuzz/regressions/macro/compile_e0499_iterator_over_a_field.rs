//! compile E0499: what a stop carries kept `self` borrowed by an iterator over one of its fields
//!
//! found by: cargo xtask fuzz-macro
//! edition: 2024

pub struct S { pub log: Vec<i32> }
impl S {
    #[cooperative]
    pub fn m(&mut self) {
        let mut stack = vec![1, 2, 3];
        while let Some(top) = stack.pop() { tick(); for next in &mut self.log { soft_tick(); *next += top; } }
    }
    #[cooperative]
    pub fn n(&mut self) {
        for next in 0..5usize { soft_tick(); self.log.push(3); for (at, &x) in self.log.iter().enumerate() { soft_tick(); let _ = (at, x, next); } }
    }
}
#[cooperative]
pub fn entry(p1: Vec<i32>) {
    let mut s = S { log: p1 };
    s.m().await;
    s.n().await;
    note(s.log);
}
