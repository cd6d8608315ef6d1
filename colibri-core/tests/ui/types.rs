//! Errors in the body point at the user's own code.

use colibri_core::cooperative;

#[cooperative]
fn tail(n: u32) -> u32 {
    for _ in 0..n {}
    "text" //~ ERROR mismatched types
}

#[cooperative]
fn returned(n: u32) -> u32 {
    for i in 0..n {
        if i == 3 {
            return "text"; //~ ERROR mismatched types
        }
    }
    0
}

#[cooperative]
fn missing(n: u32) -> u32 { //~ ERROR mismatched types
    for _ in 0..n {}
}

#[cooperative]
fn question(n: u32) -> Option<u32> {
    for _ in 0..n {
        Err::<u32, ()>(())?; //~ ERROR
    }
    None
}

#[cooperative]
fn no_question(n: u32) -> u32 {
    for _ in 0..n {
        Some(1)?; //~ ERROR
    }
    0
}

#[cooperative]
fn refutable(n: u32) {
    for Some(x) in [Some(n)] { //~ ERROR not covered
        let _ = x;
    }
}

#[cooperative]
fn no_iterator(n: u32) {
    for _ in n {} //~ ERROR is not an iterator
}

#[cooperative]
fn condition(n: u32) {
    while n {} //~ ERROR mismatched types
}

#[cooperative]
fn moved(text: String, n: u32) {
    for _ in 0..n {
        drop(text); //~ ERROR use of moved value
    }
}

#[cooperative]
fn borrowed(n: u32) -> &'static u32 {
    for _ in 0..n {}
    &n //~ ERROR
}

fn main() {}
