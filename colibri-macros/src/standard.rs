//! The macros of the standard library that the attribute knows: what they do with their arguments is no secret.

use syn::Macro;

/// What a macro of the standard library is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standard {
    /// `assert!` and its like: looks at its arguments, and perhaps panics.
    Assertion,
    /// `println!` and its like: looks at its arguments.
    Formatting,
    /// `panic!` and its like: looks at its arguments, and never goes on.
    Ending,
    /// `vec!`
    Vector,
    /// `matches!`, `format_args!`: borrows from its arguments, or binds in them.
    Borrowing,
    /// `dbg!`: gives its argument back.
    Passing,
}

impl Standard {
    /// Which of them it is, by the last part of its path; `None` for a macro of which nobody knows anything.
    pub(crate) fn of(node: &Macro) -> Option<Standard> {
        let name = node.path.segments.last()?.ident.to_string();
        Some(match name.as_str() {
            "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq" | "debug_assert_ne" => {
                Standard::Assertion
            }
            "eprint" | "eprintln" | "format" | "print" | "println" | "write" | "writeln" => {
                Standard::Formatting
            }
            "panic" | "todo" | "unimplemented" | "unreachable" => Standard::Ending,
            "vec" => Standard::Vector,
            "format_args" | "matches" => Standard::Borrowing,
            "dbg" => Standard::Passing,
            _ => return None,
        })
    }
}
