//! Faults that the loom models seed into what they run, to show that they would find them. Outside of these models
//! there are none: [`seeded`] is a constant then, and costs nothing.

/// What goes wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// A wake finds by a compare-exchange that its number is queued, which publishes nothing then, and the drain clears that
    /// with a plain store.
    DedupesByExchange,
    /// A drain takes a number out of the stack only after the poll that it brings.
    PollsBeforeItUnqueues,
    /// A wake does not look whether the stack has changed before its number goes on it.
    PushesWithoutALook,
    /// Who uses a header again trusts the count of its clones, and does not ask whether a wake is queued.
    TrustsTheCount,
    /// A host parks without having said so.
    #[cfg(feature = "std")]
    ParksUnannounced,
    /// A header whose waker was kept is lent to the next task.
    LendsWhatWasKept,
    /// A header of an ended task is used again while somebody holds a waker.
    ReusesHeadersInUse,
    /// A task that is woken while it runs does not remember it.
    ForgetsWakesOfTheRunning,
    /// An ended task's header still leads to its place.
    LeavesHeaderBound,
    /// A task that is cancelled while it runs goes on.
    ForgetsCancelOfTheRunning,
    /// A task that is cancelled while it is ready stays in its list.
    LeavesCancelledInTheirList,
    /// An id stands for whoever is in its place.
    IgnoresGenerations,
    /// The end of a task wakes nobody.
    ForgetsJoiners,
    /// A handle leaves the output behind.
    LeavesOutputs,
    /// The host comes without a write that a waker's would be ordered with.
    ComesUnannounced,
    /// The last spawner goes without telling the host.
    #[cfg(feature = "std")]
    LeavesSilently,
    /// Whether there is mail is looked at before whether somebody can send some.
    #[cfg(feature = "std")]
    LooksForMailFirst,
    /// A task takes its place while another thread may be promised it.
    #[cfg(feature = "std")]
    TakesPlacesUnlocked,
    /// Who wants a place counts those that live before those that were promised one.
    #[cfg(feature = "std")]
    CountsTheLivingFirst,
    /// A new hook counts as not called before it is in its place.
    #[cfg(feature = "std")]
    AsksBeforeTheHookIsThere,
    /// A detector goes to sleep without a note that it must be woken.
    #[cfg(feature = "std")]
    SleepsUnannounced,
    /// Mail that comes while the inbox is emptied is not seen.
    #[cfg(feature = "std")]
    ForgetsMail,
    /// The inbox is closed after its lock was given back.
    #[cfg(feature = "std")]
    ClosesTooLate,
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
