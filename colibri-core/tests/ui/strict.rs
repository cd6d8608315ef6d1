//! `strict`: loops that cannot stop.

use colibri_core::cooperative;

#[cooperative(strict)]
fn strict(n: u32) -> u32 {
    fn nested(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n { sum += i } //~ ERROR in a nested item
        sum
    }
    #[cooperative]
    fn nested_cooperative(n: u32) {
        for _ in 0..n {}
    }
    let closure = |n: u32| {
        let mut i = 0;
        while i < n { i += 1 } //~ ERROR in a closure
        #[allow(unused_labels)]
        'a: loop { break } //~ ERROR in a closure
        i
    };
    let block = async { for _ in 0..n {} }; //~ ERROR in an `async` block
    let list = vec![{ let mut s = 0; for i in 0..n { s += i } s }]; //~ ERROR in a macro call
    println!("{}", loop { break 1 }); //~ ERROR in a macro call
    let ty: for<'a> fn(&'a u32) -> u32 = |x| *x;
    for _ in 0..n {}
    #[cooperative(skip)]
    for _ in 0..n {}
    block.await;
    nested_cooperative(n).await;
    nested(n) + closure(n) + list[0] + ty(&n)
}

#[cooperative]
fn not_strict(n: u32) -> u32 {
    let closure = |n: u32| { let mut i = 0; while i < n { i += 1 } i };
    closure(n)
}

fn main() {
    let _ = (strict(1), not_strict(1));
}
