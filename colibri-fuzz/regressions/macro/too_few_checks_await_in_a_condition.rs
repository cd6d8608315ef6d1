//! too-few-checks: input 0, budget Checks(0): gave way 600 times in 1200 iterations
//!
//! found by: cargo xtask fuzz-macro --seed 41 --first 1374 --functions 1
//! edition: 2021

#[cooperative]
pub fn helper0(p1: usize, mut p2: &mut Vec<i32>) -> i32 {
    let mut v3: String = String::new();
    let mut o4: i32 = 1i32;
    let mut o5: Big = Big::of((1u32 as i32));
    let mut o7: usize = p1;
    let mut i8: usize = 1;
    while i8 < (4usize & 7) as usize {
        soft_tick();
        {
            let late10: String;
            if (7i64 != (-0i64)) {
                {
                    let v13: bool = (3u32 == 13u32.wrapping_add(3u32));
                    if ((5u8 < 5u8) || !(v13)) {
                        break;
                    }
                }
                late10 = String::new();
            }
            let v30: usize = 3usize;
        }
    }
    note(o4);
    note(&o5);
    note(o7);
    ((o4 & o4) >> 1)
}
#[cooperative(boxed)]
pub fn entry(mut p35: Dot) -> Loud {
    note(5u64.wrapping_add(2u64));
    while let Some(v39) = Loud(helper0(2usize, &mut vec![9, 8], ).await & 63).some(0i32 & 4 == 0) {
        tick();
        note(v39.value());
    }
    note(0i32);
    Loud((100i32 as i32) & 63)
}
