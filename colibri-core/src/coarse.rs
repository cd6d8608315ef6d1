//! Time between the ticks of a coarse clock.
//!
//! Some browsers and systems show time in steps of many milliseconds. A slice of 8 ms would then last until the next
//! step. So time between two steps is estimated from what is counted anyway: checks, at the rate that was learned. A
//! step of the clock corrects the estimate, and the rate.

use core::cell::Cell;

/// Steps longer than this are coarse: 2 ms, a default quantum.
pub(crate) const COARSE_STEP_NANOS: u64 = 2_000_000;

/// Looks that must see a clock stand still before its step counts as coarse. A long iteration alone makes a long step,
/// too, but no look falls into it.
const LOOKS_THAT_SEE_IT_STAND: u32 = 8;

/// Coarse steps in a row before a clock is taken for coarse.
const STEPS_TO_BELIEVE: u32 = 2;

/// What is known of a clock's steps.
#[derive(Default)]
pub(crate) struct CoarseClock {
    /// The reading of the last step.
    tick: Cell<u64>,
    /// The estimate of what has passed since.
    estimated: Cell<u64>,
    looks: Cell<u32>,
    coarse_steps: Cell<u32>,
    /// The length of the last coarse step.
    step: Cell<u64>,
}

/// What a look at the clock says.
pub(crate) struct Look {
    /// The time, estimated between two steps.
    pub(crate) now: u64,
    /// On a coarse clock, when it has made a step: what was estimated for it, and what it was.
    pub(crate) correction: Option<(u64, u64)>,
}

impl CoarseClock {
    fn is_coarse(&self) -> bool {
        self.coarse_steps.get() >= STEPS_TO_BELIEVE
    }

    /// The clock reads `reading`; by the learned rate `estimate` nanoseconds of work were done since the last look.
    pub(crate) fn look(&self, reading: u64, estimate: u64) -> Look {
        let step = reading.saturating_sub(self.tick.get());
        if step == 0 {
            self.looks.set(self.looks.get().saturating_add(1));
            self.estimated.set(self.estimated.get().saturating_add(estimate));
            // Not up to the next step: that is the clock's to say.
            let passed = if self.is_coarse() { self.estimated.get().min(self.step.get() - 1) } else { 0 };
            return Look { now: reading + passed, correction: None };
        }
        let stood = self.looks.replace(0) >= LOOKS_THAT_SEE_IT_STAND;
        let estimated = self.estimated.replace(0).saturating_add(estimate);
        self.tick.set(reading);
        if step <= COARSE_STEP_NANOS {
            self.coarse_steps.set(0);
        } else if stood {
            self.coarse_steps.set(self.coarse_steps.get().saturating_add(1));
            self.step.set(step);
        }
        let correction = (stood && step > COARSE_STEP_NANOS).then_some((estimated, step));
        Look { now: reading, correction }
    }
}
