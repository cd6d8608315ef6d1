//! `fuzz-macro`: does `#[cooperative]` keep the meaning of functions? Started by `cargo xtask fuzz-macro`.
//!
//! The road of one function:
//!
//! 1. `function` writes it from a seed, with `statement`, `borrow`, `looping`, `while_loop`, `nest`, `nest_part`, `idiom`,
//!    `call`, `expression` and `number`, which share the `generator`; `kernel` has whole functions; `scope` knows what the
//!    borrow checker would say. `form` counts what a function is made of.
//! 2. `case` makes two of the one text: the plain twin, and the one with the attribute.
//! 3. `project` writes many of them into programs, `compile` builds these and sorts what rustc says by case, `execute`
//!    runs them; `template/support.rs` compares the twins there, under every kind of budget, and on the runtime of
//!    `template/short.rs`, which stops far more often than the real one. `judge` does all three.
//! 4. If the twins differ, `shrink` makes the function small, and `kept` keeps it.
//!
//! `canary` has wrong lowerings that must be found out; `hunt` looks for them all.

mod arguments;
mod borrow;
mod call;
mod canary;
mod case;
mod compile;
mod execute;
mod expression;
mod form;
mod function;
mod generator;
mod hunt;
mod idiom;
mod indent;
mod judge;
mod kept;
mod kernel;
mod kind;
mod looping;
mod nest;
mod nest_part;
mod number;
mod project;
mod random;
mod run;
mod scope;
mod shrink;
mod statement;
mod summary;
mod while_loop;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::Arguments;

fn main() -> ExitCode {
    // clap ends wrong use with status 2 by itself.
    let arguments = Arguments::parse();
    if let Some(number) = arguments.print {
        say(&case::Case::generated(arguments.seed, number).text);
        return ExitCode::SUCCESS;
    }
    let result = if arguments.canaries { hunt::hunt(&arguments) } else { run::run(&arguments) };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Prints a line; a reader that has gone away is no error.
fn say(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}
