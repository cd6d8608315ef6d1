//! `convert`: do public crates pass their own tests when every function of theirs that has a loop is cooperative?
//! Started by `cargo xtask convert`.
//!
//! The road of one crate:
//!
//! 1. `catalogue` names it and its version; `project` has cargo bring its sources and copies them.
//! 2. `convert` makes two of each function with a loop: the twin, which has its body and the attribute, and a wrapper
//!    with its name and signature, which drives the twin to its end with a yield at every third check. So callers and
//!    tests stay as they are. `find` says which functions have loops and which of these have to stay, `signature` how a
//!    wrapper calls its twin, `text` changes places of a file and leaves the rest byte for byte.
//! 3. `compile` sorts what rustc says by function. Twins without the attribute come first: what does not compile even so
//!    is a limit of this tool, all else is a fault of the attribute. A function that fails is left plain, so that
//!    the others are tried.
//! 4. `testing` runs the crate's tests, plain and converted; `report` tells how they differ.
//!
//! `canary` has lowerings that are wrong on purpose: the road is worth nothing if it does not find them out.

mod arguments;
mod canary;
mod catalogue;
mod compile;
mod convert;
mod find;
mod project;
mod report;
mod run;
mod signature;
mod testing;
mod text;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::Arguments;

fn main() -> ExitCode {
    // clap ends wrong use with status 2 by itself.
    match run::run(&Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}
