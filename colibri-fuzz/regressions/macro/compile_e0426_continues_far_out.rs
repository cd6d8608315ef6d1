//! compile E0426: error[E0426]: use of undeclared label `'__colibri_iteration_0`
//!
//! found by: cargo xtask fuzz-macro --seed 41 --first 613 --functions 1
//! edition: 2024

#[cooperative]
pub fn entry(p3: &str, p4: i64, ) -> u64 {
    let mut o23: Dot = Dot { x: (-0i32), y: 3i32 };
    let mut o24: bool = true;
    let mut i25: i32 = 1;
    'l26: while true {
        soft_tick();
        i25 += 2;
        'l29: for v28 in (1..(p4 & 7)).rev() {
            soft_tick();
            let mut i31: i32 = 1;
            'l32: while true {
                soft_tick();
                i31 += 1;
                continue 'l26;
            }
        }
    }
    note(o23);
    note(o24);
    1u64
}
