//! compile E0308: error[E0308]: mismatched types
//!
//! found by: cargo xtask fuzz-macro --seed 97 --first 295 --functions 1
//! edition: 2024

#[cooperative]
pub fn helper0() -> Option<i32> {
    let mut o1: usize = 0usize;
    'l6: for v5 in 0..5usize {
        1;
        let next: usize = 1;
        let v7: i32 = (-7i32);
        {
            let mut o1: i32 = 1;
            'l14: for core in (1..1).rev() {
                1;
            }
        }
        if (next == (o1 * 2usize)) {
            break;
        }
    }
    None
}
#[cooperative(boxed)]
pub fn entry(mut p19: u32, ) -> i32 {
    1
}
