//! `#[cooperative(..)]` inside a function.

use colibri_core::cooperative;

#[cooperative]
fn misplaced(n: u32) -> u32 {
    #[cooperative(skip)] //~ ERROR stands on a loop
    let mut sum = 0;
    #[cooperative(strict)] //~ ERROR one option
    for i in 0..n {
        sum += i;
    }
    #[cooperative] //~ ERROR one option
    while sum > 10 {
        sum -= 1;
    }
    #[cooperative(skip)] //~ ERROR stands on a loop
    if sum > 3 {
        sum += 1;
    }
    #[cooperative(skip)] // this one is right
    loop {
        break sum;
    }
}

fn main() {
    let _ = misplaced(3);
}
