//! Faults that the loom models seed into what they run, to show that they would find them. Outside of these models
//! there are none: [`seeded`] is a constant then, and costs nothing.

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// A task that is woken while it runs does not remember it.
    ForgetsWakesOfTheRunning,
    /// An ended task's header still leads to its place.
    LeavesHeaderBound,
    /// A task that is cancelled while it runs goes on.
    ForgetsCancelOfTheRunning,
    /// An id stands for whoever is in its place.
    IgnoresGenerations,
    /// The end of a task wakes nobody.
    ForgetsJoiners,
    /// A handle leaves the output behind.
    LeavesOutputs,
    /// The host comes without a write that a waker's would be ordered with.
    ComesUnannounced,
    /// Mail that comes while the inbox is emptied is not seen.
    #[cfg(feature = "std")]
    ForgetsMail,
}

/// Whether `fault` is to happen.
#[cfg(not(all(test, colibri_loom)))]
#[inline(always)]
pub(crate) const fn seeded(_fault: Fault) -> bool {
    false
}

#[cfg(all(test, colibri_loom))]
pub(crate) use self::seeds::{seed, seeded};

#[cfg(all(test, colibri_loom))]
mod seeds {
    use super::Fault;
    use core::cell::Cell;

    // The system's thread, not the model's: a model runs all of its threads on one.
    std::thread_local! {
        static SEED: Cell<Option<Fault>> = const { Cell::new(None) };
    }

    /// Seeds a fault, or none.
    pub(crate) fn seed(fault: Option<Fault>) {
        SEED.with(|seed| seed.set(fault));
    }

    /// Whether `fault` is to happen.
    pub(crate) fn seeded(fault: Fault) -> bool {
        SEED.with(|seed| seed.get() == Some(fault))
    }
}
