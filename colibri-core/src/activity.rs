//! What the host is doing, and how long a slice may be meanwhile.

use core::time::Duration;

/// What the host and its user are doing. The slice's length follows it; see [`Activity::slice`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Activity {
    /// The user drags, scrolls or types: the host needs its thread back soon.
    Interacting,
    /// The ordinary case.
    #[default]
    Foreground,
    /// Nobody looks: longer slices mean less overhead.
    Background,
    /// The device saves power: one frame's length, so that the host wakes at most once a frame.
    LowPower,
}

impl Activity {
    /// The default length of a slice.
    ///
    /// Interacting: 4 ms, a quarter of a frame at 60 Hz (16.7 ms), so that a host that needs 12 ms keeps its rate.
    /// Foreground: 8 ms, half a frame. Background: 50 ms, half the time in which people call a reaction immediate
    /// (100 ms), for when they come back. Low power: 16 ms, a frame.
    #[must_use]
    pub const fn slice(self) -> Duration {
        Duration::from_millis(match self {
            Activity::Interacting => 4,
            Activity::Foreground => 8,
            Activity::Background => 50,
            Activity::LowPower => 16,
        })
    }
}
