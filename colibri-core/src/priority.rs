//! The three classes.

use core::fmt;

/// A task's class. Classes are strict: none runs while a higher one is ready, but for promotion, which keeps each
/// wait bounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum Priority {
    /// What somebody waits for with the finger on the button: input, frames, requests. Latency target 16 ms.
    Immediate = 0,
    /// What should be done soon. Latency target 100 ms.
    #[default]
    Normal = 1,
    /// What may take its time: indexing, prefetching, clean-up. Latency target 1000 ms.
    Idle = 2,
}

impl Priority {
    /// All classes, the highest first.
    pub const ALL: [Priority; 3] = [Priority::Immediate, Priority::Normal, Priority::Idle];

    /// The class above, if there is one.
    pub(crate) fn above(self) -> Option<Priority> {
        match self {
            Priority::Immediate => None,
            Priority::Normal => Some(Priority::Immediate),
            Priority::Idle => Some(Priority::Normal),
        }
    }

    pub(crate) fn at(level: u32) -> Priority {
        // A table, of a length that needs no bounds check, is half the instructions of a match.
        const LEVELS: [Priority; 4] = [Priority::Immediate, Priority::Normal, Priority::Idle, Priority::Idle];
        LEVELS[level as usize & 3]
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Priority::Immediate => "immediate",
            Priority::Normal => "normal",
            Priority::Idle => "idle",
        })
    }
}
