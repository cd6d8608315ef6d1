//! Time in the engine: looks at the clock, what they charge, and what they say of the running task and of those that
//! wait.

use super::Engine;
use crate::builder::LONGEST_QUANTUM;
use crate::event::{Kind, YieldReason};
use crate::instant::nanos;
use crate::meter::LOOK_INTERVAL_NANOS;
use crate::priority::Priority;
use crate::queue;
use crate::slot::{CANCELLED, EXTRAS, NIL, PAUSED, Slot};

/// The most switches between two looks at the clock. Each look costs 20 to 40 ns, a switch about 10; at 16 a look
/// adds 2 ns to each. The stride starts at one in each slice and is doubled only while a look finds less than
/// [`LOOK_INTERVAL_NANOS`] gone, so that tasks long enough to matter are timed one by one.
const LONGEST_STRIDE_SWITCHES: u32 = 16;

/// A clock that steps back by up to this much is waited for: nothing is early by the clock itself then. 50 ms is the
/// longest default slice, the most by which a slice grows. After a longer step time goes on from where it was: standing
/// still for an hour would make a slice endless.
const LONGEST_STANDSTILL_NANOS: u64 = 50_000_000;

/// One part in so many of the time that passes may be stood still in for a clock that steps back again and again: enough
/// for jitter of 1 µs at looks every 20 µs, and little enough that a saw-tooth does not stop time.
const STANDSTILL_SHARE: u64 = 16;

/// What is known of a clock's steps back.
#[derive(Clone, Copy)]
pub(super) struct SteppedBack {
    /// The latest time when it stepped back last.
    latest: u64,
    /// Its last reading since.
    reading: u64,
    /// By how much it may step back and be waited for.
    allowance: u64,
}

impl SteppedBack {
    pub(super) fn never(now: u64) -> Self {
        SteppedBack { latest: now, reading: now, allowance: LONGEST_STANDSTILL_NANOS }
    }
}

/// A stretch between two looks that is this long, 1 s, is a clock that jumped (a suspended machine, a corrected time), or a
/// task whose overrun is past making good: it is charged one turn. Charged in full, a jump of a day would leave the task
/// that happened to run without a turn for hundreds of rounds.
const LONGEST_CREDIBLE_STRETCH_NANOS: u64 = 1_000_000_000;

/// A stretch without a look after which the tasks that became ready in it get a new stamp: 1 ms, a five-hundredth of the
/// wait after which a task is promoted, is the error that is left otherwise.
const LONG_STRETCH_NANOS: u64 = 1_000_000;

/// Promotions made at one look at most: a storm of them must not hold the thread, and since promoted tasks get every
/// second pick at most, making them faster would help nobody.
const PROMOTIONS_PER_LOOK: u32 = 64;

impl Engine {
    /// The time; never less than before.
    #[inline]
    pub(crate) fn read_clock(&self) -> u64 {
        // Between the ticks of a coarse clock the last look was an estimate, and is ahead of it.
        self.reading().max(self.now.get())
    }

    /// What the clock shows; never less than before.
    #[inline]
    pub(crate) fn reading(&self) -> u64 {
        let reading = self.clock.now().as_nanos().saturating_add(self.offset.get());
        let latest = self.latest.get();
        if reading < latest {
            return self.reading_that_stepped_back(reading, latest);
        }
        self.latest.set(reading);
        reading
    }

    /// The clock shows less than before. Time stands still until the clock has caught up, if that is soon; else it goes
    /// on from where it was.
    #[cold]
    fn reading_that_stepped_back(&self, reading: u64, latest: u64) -> u64 {
        let mut back = self.stepped_back.get();
        if back.latest != latest {
            let progress = latest - back.latest;
            back.allowance = LONGEST_STANDSTILL_NANOS.min(back.allowance + progress / STANDSTILL_SHARE);
            (back.latest, back.reading) = (latest, latest);
        }
        // Catching up is no new step.
        let step = back.reading.saturating_sub(reading);
        back.reading = reading;
        match back.allowance.checked_sub(step) {
            Some(left) => back.allowance = left,
            None => self.offset.set(self.offset.get() + (latest - reading)),
        }
        self.stepped_back.set(back);
        latest
    }

    /// The last look at the clock.
    #[inline(always)]
    pub(crate) fn now(&self) -> u64 {
        self.now.get()
    }

    /// Notes a look at the clock; the time since the last one is charged to the running task.
    #[inline]
    pub(crate) fn look(&self, now: u64) {
        let elapsed = now - self.now.replace(now);
        let before = self.now_micros.replace((now / 1000) as u32);
        if elapsed > LONG_STRETCH_NANOS && !self.every_check {
            self.ready.restamp(&self.slots, before, self.now_micros.get());
        }
        self.looked.set(true);
        let running = self.running.get();
        if running != NIL {
            let slot = self.slots.at(running);
            let charge = if elapsed < LONGEST_CREDIBLE_STRETCH_NANOS {
                elapsed as u32
            } else {
                self.jump_charge(running, slot)
            };
            slot.used.set(slot.used.get().saturating_add(charge));
        }
    }

    /// What the running task is charged when the clock has jumped: a turn.
    #[cold]
    fn jump_charge(&self, index: u32, slot: &Slot) -> u32 {
        u32::try_from(self.quota(index, slot)).unwrap_or(u32::MAX)
    }

    /// A task's turn, in nanoseconds.
    #[inline(always)]
    pub(super) fn quota(&self, index: u32, slot: &Slot) -> u64 {
        if slot.is(EXTRAS) { self.weighted_quota(index) } else { self.figures.quantum }
    }

    #[cold]
    pub(super) fn weighted_quota(&self, index: u32) -> u64 {
        let weight = self.extras.borrow().get(index).and_then(|extras| extras.weight).unwrap_or(1);
        self.figures.quantum.saturating_mul(u64::from(weight)).min(nanos(LONGEST_QUANTUM))
    }

    /// At a look: must the running task give way, and why?
    pub(crate) fn verdict(&self, now: u64) -> Option<YieldReason> {
        self.look(now);
        self.take_news();
        self.fire_timers();
        // What those two ran may have looked again.
        self.reason_to_give_way(self.now.get())
    }

    pub(crate) fn reason_to_give_way(&self, now: u64) -> Option<YieldReason> {
        let running = self.running.get();
        if running == NIL {
            return None;
        }
        let slot = self.slots.at(running);
        if slot.is(CANCELLED) || slot.is(PAUSED) {
            return Some(YieldReason::Own);
        }
        let used = u64::from(slot.used.get()) + (now - self.now.get());
        // First, since a task without any quantum left has nothing to keep at the head of its class.
        if used >= self.quota(running, slot) {
            return Some(YieldReason::Quantum);
        }
        if self.remote.is_yield_requested() {
            return Some(YieldReason::Host);
        }
        if now >= self.slice_end.get() {
            return Some(YieldReason::Slice);
        }
        self.ready.any_above(self.running_level.get()).then_some(YieldReason::Preempted)
    }

    /// After a poll. One that looked at the clock itself was no short one, and is timed by itself, as are all whose times are
    /// told to somebody; of others, every so many are timed together.
    #[inline(always)]
    pub(super) fn time_poll<const WATCHED: bool>(&self) {
        if WATCHED || self.looked.get() {
            self.look_after_long_poll();
        } else {
            self.look_every_so_often();
        }
    }

    #[inline(never)]
    fn look_after_long_poll(&self) {
        // What passed before its last look may be others' time; what passed since is its own.
        let in_time = self.looked.get() && self.now.get() < self.slice_end.get();
        let timed_alone = in_time || self.until_look.get() == self.stride.get();
        self.time_each_switch();
        self.look_after_stride();
        self.timed_alone.set(timed_alone);
    }

    /// Looks at the clock every so many polls, or stamps outside of a slice; what passed is charged to the task that ran last.
    #[inline(always)]
    pub(super) fn look_every_so_often(&self) {
        let left = self.until_look.get() - 1;
        self.until_look.set(left);
        if left == 0 {
            self.look_after_stride();
        }
    }

    #[inline(never)]
    fn look_after_stride(&self) {
        self.timed_alone.set(self.stride.get() == 1);
        let before = self.now.get();
        let now = self.read_clock();
        self.look(now);
        if now - before >= LOOK_INTERVAL_NANOS || self.every_check {
            self.stride.set(1);
        } else {
            self.stride.set((self.stride.get() * 2).min(LONGEST_STRIDE_SWITCHES));
        }
        self.until_look.set(self.stride.get());
    }

    /// Whether the last look after a poll tells that poll's time.
    pub(crate) fn timed_alone(&self) -> bool {
        self.timed_alone.get()
    }

    /// Looks after each poll again, until polls turn out to be short.
    pub(crate) fn time_each_switch(&self) {
        self.stride.set(1);
        self.until_look.set(1);
    }

    /// Raises the tasks that have been ready for too long, in order, each by one level.
    ///
    /// When the next one can be due at the earliest is known from the last time: who is ready now was so then, or has become
    /// so since and can wait its whole time from now. Until then nothing is searched.
    #[inline(always)]
    pub(crate) fn promote_overdue(&self) {
        let since = self.now_micros.get().wrapping_sub(self.promoted_at.get());
        if since >= self.no_promotion_for.get() {
            self.promote_all_overdue();
        }
    }

    #[cold]
    fn promote_all_overdue(&self) {
        for level in [Priority::Normal, Priority::Idle] {
            if self.ready.any_at(level) {
                self.promote_from(level);
            }
        }
        if self.ready.any_with_deadline(Priority::Immediate) {
            self.promote_from(Priority::Immediate);
        }
        let limit = self.figures.upgrade_after_micros;
        let longest = Priority::ALL.iter().filter_map(|&level| self.longest_waiting(level));
        let waited = longest.map(|(waited, _)| waited).max().unwrap_or(0);
        self.promoted_at.set(self.now_micros.get());
        self.no_promotion_for.set(u64::from(limit).saturating_sub(waited) as u32);
    }

    pub(super) fn promote_from(&self, level: Priority) {
        // Above Immediate there is nothing; but there those without a deadline may wait for those with one.
        let above = level.above().unwrap_or(level);
        let now = self.now_micros.get();
        for _ in 0..PROMOTIONS_PER_LOOK {
            let Some((index, slot)) = self.overdue(level) else { return };
            let ready_since = self.risen.borrow().get(&index).copied().unwrap_or(slot.since.get());
            self.unlink(index, slot);
            self.risen.borrow_mut().insert(index, ready_since);
            // It has paid with its waiting: else debts of tasks that run by promotion only would grow without end.
            slot.used.set(0);
            slot.since.set(now);
            self.ready.push_back(&self.slots, index, slot, above, queue::Kind::Promoted);
            self.counters.promoted(slot.class.get());
            self.note(Kind::Promoted, index, slot);
        }
    }

    /// The task of `level` that has waited longest, if it has waited too long.
    fn overdue(&self, level: Priority) -> Option<(u32, &Slot)> {
        let (_, index) = self
            .longest_waiting(level)
            .filter(|&(waited, _)| waited >= u64::from(self.figures.upgrade_after_micros))?;
        Some((index, self.slots.at(index)))
    }

    /// For how long, and who.
    fn longest_waiting(&self, level: Priority) -> Option<(u64, u32)> {
        let listed = self.ready.longest_waiting(&self.slots, level, self.now_micros.get());
        let listed = listed.map(|(waited, index)| (u64::from(waited), index));
        let straggler = self
            .stragglers
            .oldest(level)
            .map(|(index, since)| ((self.now.get() / 1000).saturating_sub(since), index));
        // On a tie the one in the lists comes first.
        match (listed, straggler) {
            (Some(listed), Some(straggler)) => Some(if straggler.0 > listed.0 { straggler } else { listed }),
            (listed, straggler) => listed.or(straggler),
        }
    }
}
