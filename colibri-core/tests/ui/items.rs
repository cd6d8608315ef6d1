//! The attribute on what is no function it could make one with a future of.

use colibri_core::cooperative;

#[cooperative]
const fn constant(n: u32) -> u32 { //~ ERROR const fn
    let mut i = 0;
    while i < n { i += 1 }
    i
}

const THREE: u32 = constant(3);

#[cooperative]
extern "C" fn external() {} //~ ERROR extern

#[cooperative]
struct Structure { //~ ERROR not on a struct
    field: u32,
}

#[cooperative]
enum Enumeration { //~ ERROR not on an enum
    Variant,
}

#[cooperative]
impl Structure { //~ ERROR not on an `impl` block
    fn method(&self) -> u32 { self.field }
}

#[cooperative]
pub(crate) trait Trait {} //~ ERROR not on a trait

#[cooperative]
mod module { //~ ERROR not on a module
    pub fn f() {}
}

#[cooperative]
static STATIC: u32 = 1; //~ ERROR not on a static

#[cooperative]
const CONSTANT: u32 = 1; //~ ERROR not on a constant

#[cooperative]
use std::fmt; //~ ERROR not on a `use` declaration

#[cooperative]
/// Docs.
type Alias = u32; //~ ERROR not on a type alias

// All of them are still there: no other error follows.
fn main() {
    external();
    let structure = Structure { field: THREE };
    structure.method();
    let _ = Enumeration::Variant;
    module::f();
    let _: Alias = STATIC + CONSTANT;
    let _ = fmt::Error;
    fn implements<T: Trait>() {}
}
