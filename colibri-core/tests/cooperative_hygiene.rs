//! The user owns every identifier; and what `macro_rules` passes on keeps its meaning.

#![allow(clippy::all, reason = "odd forms are what is tested")]

mod cooperative_support;

use cooperative_support::same;

mod own_names {
    //! Modules, macros and values that are called like what an expansion might want.
    #![allow(
        dead_code,
        unreachable_pub,
        non_upper_case_globals,
        non_camel_case_types,
        unused_macros,
        unused_imports
    )]

    pub mod core {}
    pub mod std {}
    pub mod alloc {}
    pub mod colibri_core {}
    pub mod __private {}

    pub struct Option;
    pub struct Some;
    pub struct None;
    pub struct Result;
    pub struct Ok;
    pub struct Err;
    pub struct Box;
    pub struct Vec;
    pub struct Future;
    pub struct Pin;
    pub struct Iterator;
    pub struct IntoIterator;
    pub struct Poll;
    pub struct Send;
    pub struct value;
    pub struct future;
    pub struct iterator;
    pub const fuel: u8 = 0;
    pub const frame: u8 = 0;
    pub static body: u8 = 0;
    pub static context: u8 = 0;
    pub static scope: u8 = 0;

    macro_rules! pin {
        () => {};
    }
    macro_rules! file {
        () => {
            0
        };
    }
    macro_rules! concat {
        () => {};
    }

    #[::colibri_core::cooperative]
    pub fn sum(limit: u32, items: &[u32]) -> u32 {
        let mut total = 0;
        for item in items {
            if *item > limit {
                return total + 100;
            }
            let mut __n = 0;
            while __n < *item {
                __n += 1;
                total += 1;
            }
        }
        total
    }

    #[::colibri_core::cooperative]
    pub fn down(n: u32) -> u32 {
        if n == 0 { 0 } else { down(n - 1) + 1 }
    }
}

#[test]
fn items_of_any_name() {
    same(|| 6, || own_names::sum(9, &[1, 2, 3]));
    same(|| 101, || own_names::sum(1, &[1, 2, 3]));
    same(|| 3, || own_names::down(3));
}

#[test]
fn locals_of_any_name() {
    #[colibri_core::cooperative]
    fn any_local(core: u32, std: u32, alloc: u32, r#type: u32, r#match: &[u32]) -> u32 {
        let (fuel, iterator, value, future, frame, body) = (1, 2, 3, 4, 5, 6);
        let colibri_core = fuel + iterator + value + future + frame + body;
        let mut take = core + std + alloc + r#type;
        'refill: for r#loop in r#match {
            for put in 0..*r#loop {
                if put == 5 {
                    break 'refill;
                }
                take += put + colibri_core;
            }
        }
        take
    }
    same(|| 4 + 21 * 3 + 1, || any_local(1, 1, 1, 1, &[1, 2]));

    #[colibri_core::cooperative]
    fn r#while(r#fn: u32) -> u32 {
        if r#fn == 0 { 0 } else { r#while(r#fn - 1) + r#fn }
    }
    same(|| 6, || r#while(3));
}

// What `macro_rules` passes on.

macro_rules! precedence {
    ($name:ident, $sum:expr, $negative:expr, $place:expr, $ty:ty, $condition:expr) => {
        fn $name() -> (i32, i32, i32, i32, usize, bool) {
            let mut product = 0;
            for i in 0..3 {
                product += i * $sum;
            }
            let absolute = $negative.abs();
            let mut n = 0;
            while !$condition && n < $sum {
                n += 1;
            }
            let mut data = [1, 2, 3];
            for x in $place.iter_mut() {
                *x *= $sum;
            }
            let _ = &mut data;
            assert!($sum * 2 == 14, "{}", $sum * 2);
            let cast = n as $ty < 100;
            (product, absolute, n, data[0], size_of::<$ty>(), cast)
        }
    };
}

mod precedence_plain {
    pub(super) fn seven() -> i32 {
        7
    }
    macro_rules! make {
        ($($attribute:meta)?; $name:ident, $sum:expr, $ty:ty, $reference:ty) => {
            $(#[$attribute])?
            pub(super) fn $name(negative: i32) -> (i32, i32, usize, bool, bool) {
                let mut product = 0;
                for i in 0..3 {
                    product += i * $sum;
                }
                let mut n = 0;
                while n != $sum {
                    n += 1;
                }
                assert!($sum * 2 == 14, "{}", $sum * 2);
                let small = negative as $ty < 100;
                let text: &$reference = &"text";
                (product, n, size_of::<$ty>(), small, text.len() == 4)
            }
        };
    }
    make!(; plain, 3 + 4, u8, &str);
    make!(colibri_core::cooperative; stopping, 3 + 4, u8, &str);
}

#[test]
fn groups_keep_their_precedence() {
    assert_eq!(precedence_plain::seven(), 7);
    same(|| precedence_plain::plain(300), || precedence_plain::stopping(300));
    precedence!(unused, 3 + 4, (-1i32), data_of(&mut [1, 2, 3]), u8, false);
    fn data_of(data: &mut [i32; 3]) -> &mut [i32; 3] {
        data
    }
    assert_eq!(unused().0, 21);
}

mod fragments {
    #[derive(Clone, Copy, PartialEq)]
    pub(crate) struct Point {
        pub(crate) x: u32,
    }

    fn at(x: u32) -> Point {
        Point { x }
    }

    macro_rules! make {
        (
            $(#[$meta:meta])* $visibility:vis $name:ident $argument:ident: $ty:ty,
            $pattern:pat, $iterator:expr, $label:lifetime, $made:ident, $statement:stmt, $body:block, $literal:literal, $path:path,
            $point:expr, $tokens:tt, $inner:item
        ) => {
            $(#[$meta])*
            $visibility fn $name($argument: $ty) -> u32 {
                $inner
                $statement
                let mut sum = $argument + $literal + inner();
                $label: for $pattern in $iterator {
                    sum += $body;
                    if sum > 20 { break $label }
                    loop { if sum % 2 == 0 { continue $label } else { break } }
                }
                while $point != $path(3) && sum < $tokens { sum += 7; }
                for _ in [$point] { sum += $point.x; }
                sum + $made
            }
        };
    }

    make!(
        pub(super) plain n: u32, (_, Some(_) | None), vec![(1u32, Some(2)), (2, None)], 'outer, made, let made = 1,
        { let mut sum = 0; for i in 0..3 { sum += i } sum }, 5, at, Point { x: 2 }, 40,
        fn inner() -> u32 { let mut n = 0; while n < 3 { n += 1 } n }
    );
    make!(
        #[colibri_core::cooperative] pub(super) stopping n: u32, (_, Some(_) | None), vec![(1u32, Some(2)), (2, None)], 'outer, made, let made = 1,
        { let mut sum = 0; for i in 0..3 { sum += i } sum }, 5, at, Point { x: 2 }, 40,
        fn inner() -> u32 { let mut n = 0; while n < 3 { n += 1 } n }
    );
}

#[test]
fn every_fragment() {
    let checks = same(|| fragments::plain(1), || fragments::stopping(1));
    assert!(checks > 8, "the loop in the block fragment is one of the function's: {checks}");
}
