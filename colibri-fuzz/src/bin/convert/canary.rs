//! Lowerings that are wrong on purpose, to show that crates' own tests find such faults.

/// A wrong lowering: a runtime, one of the modules of `template/faulty.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Canary {
    pub(crate) name: &'static str,
    /// What is wrong.
    pub(crate) what: &'static str,
    pub(crate) runtime: &'static str,
}

/// All of them.
pub(crate) const CANARIES: [Canary; 2] = [
    Canary {
        name: "lost-item",
        what: "a `for` loses its last item, where the iterator knows that it is the last",
        runtime: "lost_item",
    },
    Canary {
        name: "endless-fuel",
        what: "the fuel never ends: results are right, and nothing ever gives way",
        runtime: "endless_fuel",
    },
];

/// The canary of that name.
pub(crate) fn named(name: &str) -> Result<Canary, String> {
    let found = CANARIES.into_iter().find(|canary| canary.name == name);
    found.ok_or_else(|| format!("there are {}", CANARIES.map(|canary| canary.name).join(", ")))
}

/// What the command line's help says of them.
pub(crate) fn help() -> String {
    let lines = CANARIES.map(|canary| format!("  {:<12} {}", canary.name, canary.what)).join("\n");
    format!("Use a lowering that is wrong on purpose: some test must differ, or nothing give way:\n{lines}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canary_is_found_by_name() {
        assert_eq!(named("lost-item").map(|canary| canary.runtime), Ok("lost_item"));
        assert!(named("lost").is_err_and(|why| why.contains("endless-fuel")));
    }

    #[test]
    fn each_has_a_runtime() {
        let faulty = include_str!("template/faulty.rs");
        for canary in CANARIES {
            assert!(faulty.contains(&format!("pub mod {} {{", canary.runtime)), "{}", canary.name);
        }
    }
}
