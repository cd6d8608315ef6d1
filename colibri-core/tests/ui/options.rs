//! Wrong options: each is reported, and the function is cooperative all the same.

use colibri_core::cooperative;

#[cooperative(bugdet = 128)] //~ ERROR unknown option
fn unknown() {}

#[cooperative(budget = 1, slice = "4ms", budget = 2)] //~ ERROR given twice
fn twice() {}

#[cooperative(strict, strict)] //~ ERROR given twice
fn twice_strict() {}

#[cooperative(slice = "4")] //~ ERROR unit
fn no_unit() {}

#[cooperative(slice = "four ms")] //~ ERROR unit
fn no_number() {}

#[cooperative(slice = "0ms")] //~ ERROR above zero
fn zero() {}

#[cooperative(slice = 4)] //~ ERROR is written as
fn no_text() {}

#[cooperative(budget = -1)] //~ ERROR is written as
fn negative() {}

#[cooperative(budget = 5000000000)] //~ ERROR number of checks
fn too_many() {}

#[cooperative(budget)] //~ ERROR needs a value
fn no_value() {}

#[cooperative(boxed = true)] //~ ERROR takes no value
fn a_value() {}

#[cooperative(skip)] //~ ERROR belongs on a loop
fn skipped() {}

#[cooperative(crate)] //~ ERROR needs a value
fn no_path() {}

#[cooperative(name = index)] //~ ERROR is written as
fn name_without_quotes() {}

#[cooperative("4ms")] //~ ERROR expected an option
fn no_key() {}

#[cooperative(one, boxed, slice = "x", two, strict = 1)] //~ ERROR four at once
fn several() {}

fn main() {
    fn future<F: Future>(_: F) {}
    future(unknown());
    future(twice());
    future(no_unit());
    future(several());
}
