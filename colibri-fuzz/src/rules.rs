//! The scheduling rules, one method each: what DESIGN's section 5 says, as code that is short enough to be checked by
//! reading. The [`model`](crate::model) follows them; each canary breaks one.

use std::cmp::Ordering;

use crate::trace::Why;
use crate::workload::Class;

/// Where a task that gave way is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// In front of all others of its class.
    Head,
    /// Behind them.
    Tail,
}

/// What a running task finds at a checkpoint. Times are in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// It was cancelled or paused.
    pub stopped: bool,
    /// What it used of its quantum.
    pub used: u64,
    /// The quantum.
    pub quantum: u64,
    /// The host asked for the thread.
    pub host_asks: bool,
    /// Now.
    pub now: u64,
    /// When the slice ends.
    pub slice_end: u64,
    /// Something of a higher class is ready (guests do not count).
    pub outranked: bool,
}

/// What a pick has to choose between: the first of the level's own tasks, and its first guest.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// When the first guest was promoted, in microseconds.
    pub guest_came: u64,
    /// When the first of the level's own became ready, in microseconds. `None`: there is none.
    pub own_came: Option<u64>,
    /// That one goes on with a turn that was cut.
    pub own_goes_on: bool,
}

/// A clock that steps back by up to this much is waited for: 50 ms.
pub const LONGEST_STANDSTILL_NANOS: u64 = 50_000_000;

/// The longest turn of a weighted task: 4 s.
pub const LONGEST_TURN_NANOS: u64 = 4_000_000_000;

/// One part in so many of the time that passes may be stood still in for a clock that steps back again and again.
pub const STANDSTILL_SHARE: u64 = 16;

/// A stretch without a look at the clock that is this long, 1 s, is a clock that jumped, or past making good: it is charged one
/// turn.
pub const JUMP_NANOS: u64 = 1_000_000_000;

/// The time, and what is known of a clock that steps back. All in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// The time.
    pub now: u64,
    /// By how much it is ahead of the clock for good.
    pub ahead: u64,
    /// The time when the clock last stepped back, its reading since, and by how much it may do so and be waited for.
    pub(crate) stood_at: u64,
    pub(crate) reading: u64,
    pub(crate) patience: u64,
}

impl Default for Time {
    fn default() -> Self {
        Time { now: 0, ahead: 0, stood_at: 0, reading: 0, patience: LONGEST_STANDSTILL_NANOS }
    }
}

/// The rules. Every method has a body: the right one.
pub trait Rules: Default + 'static {
    /// The classes in the order in which they are served.
    fn classes(&self) -> [Class; 3] {
        Class::ALL
    }

    /// Whether and why a task gives way at a checkpoint. The quantum comes first among the reasons: a task that has
    /// nothing left of it has nothing to keep.
    fn gives_way(&self, at: &Situation) -> Option<Why> {
        if at.stopped {
            Some(Why::Own)
        } else if at.used >= at.quantum {
            Some(Why::Quantum)
        } else if at.host_asks {
            Some(Why::Host)
        } else if at.now >= at.slice_end {
            Some(Why::Slice)
        } else if at.outranked {
            Some(Why::Preempted)
        } else {
            None
        }
    }

    /// Where a task goes that gave way: to the tail if its turn is over, to the head (with the rest of its quantum) if
    /// it was stopped through no fault of its own.
    fn goes_to(&self, why: Why) -> End {
        match why {
            Why::Own | Why::Checkpoint | Why::Quantum => End::Tail,
            Why::Slice | Why::Preempted | Why::Host => End::Head,
        }
    }

    /// How long a turn lasts, in nanoseconds: in proportion to the weight, up to the longest.
    fn turn(&self, quantum: u64, weight: u32) -> u64 {
        quantum.saturating_mul(u64::from(weight)).min(LONGEST_TURN_NANOS)
    }

    /// How much longer the next turn of a task is that has waited for so many nanoseconds: a sleeper saves no credit.
    fn credits(&self, _slept: u64, _quantum: u64) -> u64 {
        0
    }

    /// Whether a task is refused, when so many live already.
    fn refuses(&self, live: usize, most: Option<usize>) -> bool {
        most.is_some_and(|most| live >= most)
    }

    /// The time, when the clock shows `shown` nanoseconds: it never goes back. After a step back it stands until the clock
    /// has caught up, if that is soon; else it goes on from where it was.
    fn goes_by(&self, shown: u64, before: Time) -> Time {
        let mut time = before;
        let reading = shown + time.ahead;
        if reading >= time.now {
            time.now = reading;
            return time;
        }
        if time.stood_at != time.now {
            let progress = time.now - time.stood_at;
            time.patience = (time.patience + progress / STANDSTILL_SHARE).min(LONGEST_STANDSTILL_NANOS);
            (time.stood_at, time.reading) = (time.now, time.now);
        }
        // Catching up is no new step.
        let step = time.reading.saturating_sub(reading);
        time.reading = reading;
        match time.patience.checked_sub(step) {
            Some(left) => time.patience = left,
            None => time.ahead += time.now - reading,
        }
        time
    }

    /// How many of the tasks that other threads have sent are taken in at a time: a storm of them must not hold the thread.
    fn admissions_at_once(&self) -> usize {
        64
    }

    /// Whether the host is asked for a turn, when something becomes ready while it has the thread.
    fn asks_host(&self, asked: bool) -> bool {
        !asked
    }

    /// Where a task goes that becomes ready, whatever its number: behind all others of its class.
    fn joins_at(&self, _number: u32) -> End {
        End::Tail
    }

    /// What is charged to the next turn, when a turn ends in which `used` of `quantum` nanoseconds were used. A guest has
    /// paid with its waiting: else the debts of tasks that run by promotion only would grow without end.
    fn carries_over(&self, used: u64, quantum: u64, guest: bool) -> u64 {
        if guest { 0 } else { used.saturating_sub(quantum) }
    }

    /// Whether a promotion clears what the task owes.
    fn promotion_forgives(&self) -> bool {
        true
    }

    /// Whether a slice is over before the next pick.
    fn slice_is_over(&self, now: u64, slice_end: u64) -> bool {
        now >= slice_end
    }

    /// Whether a task that has been ready for `waited` microseconds rises one level.
    fn rises(&self, waited: u64, upgrade_after: u64) -> bool {
        waited >= upgrade_after
    }

    /// How many tasks rise from one level between two polls at most: a storm of promotions must not hold the thread.
    fn promotions_at_once(&self) -> usize {
        64
    }

    /// Whether the pick must go to a class's own task, if there is any, whatever guests stand above it: after each
    /// guest it must. So guests take at most every second pick.
    fn must_be_own(&self, guest_before: bool) -> bool {
        guest_before
    }

    /// Whether, at a level that has both, the pick goes to the guest: to whoever came first, but not before a task that
    /// goes on with its turn.
    fn takes_guest(&self, choice: &Choice) -> bool {
        match choice.own_came {
            None => true,
            Some(own_came) => !choice.own_goes_on && choice.guest_came < own_came,
        }
    }

    /// Whether guests make the running task give way, as their level's own do.
    fn guests_outrank(&self) -> bool {
        false
    }

    /// What a task is charged that ran for `passed` nanoseconds without a look at the clock. A second and more is a
    /// clock that jumped, or past making good: one turn.
    fn charges(&self, passed: u64, turn: u64) -> u64 {
        if passed >= JUMP_NANOS { turn } else { passed }
    }

    /// Whether a guest goes home after it ran.
    fn guest_goes_home(&self) -> bool {
        true
    }

    /// Whether a timer is due.
    fn is_due(&self, deadline: u64, now: u64) -> bool {
        deadline <= now
    }

    /// The order in which timers fire: by deadline, then in the order of their making.
    fn timer_order(&self, one: (u64, u64), other: (u64, u64)) -> Ordering {
        one.cmp(&other)
    }

    /// The order in which those run that have a deadline: by that, then in the order of their coming.
    fn due_order(&self, one: (Option<u64>, usize), other: (Option<u64>, usize)) -> Ordering {
        one.cmp(&other)
    }

    /// Whether timers are looked at, given that something is ready.
    fn looks_at_timers(&self, something_is_ready: bool) -> bool {
        let _ = something_is_ready;
        true
    }

    /// Whether a wake that meets the task in its own poll is kept until the poll ends.
    fn keeps_wake_while_running(&self) -> bool {
        true
    }

    /// Whether a wake, or readiness, that meets the task while it hovers is kept until it is resumed.
    fn keeps_wake_while_paused(&self) -> bool {
        true
    }

    /// Whether a wake of a task that is ready already is ignored.
    fn queues_once(&self) -> bool {
        true
    }

    /// Whether a paused task is taken out of its queue.
    fn pause_stops(&self) -> bool {
        true
    }

    /// Whether the future of a cancelled task is dropped by the time that `cancel` returns.
    fn cancel_drops(&self) -> bool {
        true
    }

    /// Whether a cancelled task is taken out of its queue.
    fn cancel_stops(&self) -> bool {
        true
    }

    /// Whether those who await a task are woken at its end.
    fn wakes_joiner(&self) -> bool {
        true
    }

    /// Whether a task that is awaited runs in its waiter's class, if that is higher: else a middle task could keep a low
    /// one from running for which a high one waits.
    fn lifts(&self) -> bool {
        true
    }

    /// What the host is told: whether something is ready.
    fn tells_of_work(&self, something_is_ready: bool) -> bool {
        something_is_ready
    }
}

/// The rules as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Right;

impl Rules for Right {}

#[cfg(test)]
mod tests {
    use super::*;

    const CALM: Situation = Situation {
        stopped: false,
        used: 0,
        quantum: 2,
        host_asks: false,
        now: 0,
        slice_end: 8,
        outranked: false,
    };

    #[test]
    fn reasons_to_give_way_have_an_order() {
        let at = |change: fn(&mut Situation)| {
            let mut situation = CALM;
            change(&mut situation);
            Right.gives_way(&situation)
        };
        assert_eq!(Right.gives_way(&CALM), None);
        assert_eq!(at(|at| at.outranked = true), Some(Why::Preempted));
        assert_eq!(at(|at| (at.outranked, at.now) = (true, 8)), Some(Why::Slice));
        assert_eq!(at(|at| (at.now, at.host_asks) = (8, true)), Some(Why::Host));
        assert_eq!(at(|at| (at.host_asks, at.used) = (true, 2)), Some(Why::Quantum));
        assert_eq!(at(|at| (at.used, at.stopped) = (2, true)), Some(Why::Own));
    }

    #[test]
    fn guests_take_turns_with_the_level_s_own() {
        let choice = Choice { guest_came: 5, own_came: Some(7), own_goes_on: false };
        assert!(Right.takes_guest(&choice));
        assert!(Right.must_be_own(true) && !Right.must_be_own(false));
        assert!(!Right.takes_guest(&Choice { own_goes_on: true, ..choice }));
        assert!(!Right.takes_guest(&Choice { own_came: Some(5), ..choice }));
        assert!(Right.takes_guest(&Choice { own_came: None, ..choice }));
    }
}
