//! Time between the ticks of a coarse clock.
//!
//! Some browsers and systems show time in steps of many milliseconds. A slice of 8 ms would then last until the next
//! step. So time between two steps is estimated from what is counted anyway: checks, at the rate that was learned. A
//! step of the clock corrects the estimate, and the rate.

use core::cell::Cell;

/// Steps longer than this are coarse: 2 ms, a default quantum.
pub(crate) const COARSE_STEP_NANOS: u64 = 2_000_000;

/// Checks that must fall into a step before it counts as coarse. A long iteration alone makes a long step, too, but no
/// check falls into it. 8: the checks of a few short iterations that a look was late for fall into a step of a fine clock as
/// well, and at 8 a check takes 250 µs at least, which fine clocks do not stand still for.
const CHECKS_THAT_SEE_IT_STAND: u64 = 8;

/// Coarse steps in a row before a clock is taken for coarse. 2: a suspended machine or a corrected time makes one, and the second
/// comes 16 ms later on the coarsest clock there is.
const STEPS_TO_BELIEVE: u32 = 2;

/// What is known of a clock's steps.
#[derive(Default)]
pub(crate) struct CoarseClock {
    /// The reading of the last step.
    tick: Cell<u64>,
    /// Checks that passed since, as far as looks have seen them.
    checks: Cell<u64>,
    coarse_steps: Cell<u32>,
    /// The length of the last coarse step, and the time of a check in it, in nanoseconds.
    step: Cell<u64>,
    check_nanos: Cell<u64>,
}

impl CoarseClock {
    fn is_coarse(&self) -> bool {
        self.coarse_steps.get() >= STEPS_TO_BELIEVE
    }

    /// The clock reads `reading`, and `checks` passed since the last look: the time, estimated between two steps.
    pub(crate) fn look(&self, reading: u64, checks: u64) -> u64 {
        let passed = self.checks.get().saturating_add(checks);
        self.checks.set(passed);
        let step = reading.saturating_sub(self.tick.get());
        if step > 0 {
            self.note_step(reading, step, passed);
        } else if self.is_coarse() {
            // Not up to the next step: that is the clock's to say.
            return reading + passed.saturating_mul(self.check_nanos.get()).min(self.step.get() - 1);
        }
        reading
    }

    fn note_step(&self, reading: u64, step: u64, checks: u64) {
        self.tick.set(reading);
        self.checks.set(0);
        if step <= COARSE_STEP_NANOS {
            self.coarse_steps.set(0);
        } else if checks >= CHECKS_THAT_SEE_IT_STAND {
            self.coarse_steps.set(self.coarse_steps.get().saturating_add(1));
            self.step.set(step);
            self.check_nanos.set((step / checks).max(1));
        }
    }
}
