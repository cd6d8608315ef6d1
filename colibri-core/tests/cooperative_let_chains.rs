//! Loops over let chains, which editions before 2024 do not have.

#![allow(clippy::all, reason = "odd forms are what is tested")]

mod cooperative_support;

use cooperative_support::{Loud, note, same};

both! {
    fn chains(n: u32) -> u32 {
        let mut i = n;
        let mut stack = vec![1, 2, 3, 4, 5];
        while let Some(x) = stack.pop() && x > 3 { i += x; }
        while let Some(x) = stack.pop() && let Some(y) = x.checked_sub(1) && y < 10 { i += y; }
        while i > 3 && let Some(y) = i.checked_sub(2) { i = y; if y % 2 == 0 && let 4 = y { continue } i -= 1; }
        i
    }

    fn temporaries(n: u32) {
        let mut i = n;
        while Loud("first").is(true) && let Some(loud) = Loud("second").some(i) && Loud("third").is(true) { note(loud.0); i -= 1; }
        let _local = Loud("local");
        let mut i = n;
        while let Some(loud) = Loud("first").some(i) && i > 1 { let _x = Loud("x"); note(loud.0); i -= 1; }
    }
}

#[test]
fn in_conditions() {
    for n in 0..5 {
        same(|| plain::chains(n), || stopping::chains(n));
        same(|| plain::temporaries(n), || stopping::temporaries(n));
    }
}
