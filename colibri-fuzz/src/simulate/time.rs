//! The time of a simulation: what has passed, what the clock shows of it, and what comes when.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::task::Waker;
use std::time::Duration;

use colibri_core::ManualClock;

use crate::span::nanos;
use crate::workload::{Action, ClockStep, Workload};

/// Time, with everything that happens at a time of its own.
#[derive(Debug)]
pub(super) struct Time {
    /// What schedulers are shown.
    pub(super) clock: ManualClock,
    /// Nanoseconds that have really passed.
    elapsed: Cell<u64>,
    /// By how much the clock is ahead of that: by its steps so far.
    ahead: Cell<i64>,
    /// It shows multiples of this: 1 unless it is coarse.
    grain: u64,
    script: Vec<(u64, Entry)>,
    /// How far the script is done.
    place: Cell<usize>,
    /// Who is to be woken when, for schedulers without timers: in order of time, then of making.
    alarms: RefCell<BTreeMap<(u64, u64), Waker>>,
    made: Cell<u64>,
}

#[derive(Clone, Copy, Debug)]
enum Entry {
    Action(Action),
    Clock(i64),
}

/// A wake that is still to come, or has come.
pub(super) struct Alarm<'t> {
    time: &'t Time,
    key: (u64, u64),
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        let waker = self.time.alarms.borrow_mut().remove(&self.key);
        drop(waker);
    }
}

/// What comes next.
pub(super) enum Next {
    Action(Action),
    Alarm(Waker),
}

impl Time {
    pub(super) fn new(clock: ManualClock, workload: &Workload) -> Self {
        Time {
            clock,
            elapsed: Cell::new(0),
            ahead: Cell::new(0),
            grain: workload.clock.coarse.map_or(1, nanos).max(1),
            script: script(workload),
            place: Cell::new(0),
            alarms: RefCell::default(),
            made: Cell::new(0),
        }
    }

    pub(super) fn elapsed(&self) -> u64 {
        self.elapsed.get()
    }

    /// How long it is until something comes from outside.
    pub(super) fn until_next(&self) -> Option<u64> {
        let (at, _) = self.script.get(self.place.get())?;
        Some(at.saturating_sub(self.elapsed.get()))
    }

    /// How long it is until a coarse clock shows more than now; nothing if it is not coarse.
    pub(super) fn until_tick(&self) -> u64 {
        match self.grain {
            1 => 0,
            grain => grain - self.elapsed.get().saturating_add_signed(self.ahead.get()) % grain,
        }
    }

    pub(super) fn next_alarm(&self) -> Option<u64> {
        self.alarms.borrow().first_key_value().map(|((at, _), _)| *at)
    }

    /// Wakes at that time. Dropping the alarm takes it back.
    pub(super) fn alarm(&self, at: u64, waker: Waker) -> Alarm<'_> {
        self.made.set(self.made.get() + 1);
        let key = (at, self.made.get());
        self.alarms.borrow_mut().insert(key, waker);
        Alarm { time: self, key }
    }

    /// Goes on to what comes next, if that is before `end`, or to `end`.
    #[inline]
    pub(super) fn next_until(&self, end: u64) -> Option<Next> {
        loop {
            let scripted = self.script.get(self.place.get()).filter(|(at, _)| *at <= end);
            let alarm = self.next_alarm().filter(|at| *at <= end);
            match (scripted, alarm) {
                (None, None) => {
                    self.go_to(end);
                    return None;
                }
                (Some((at, entry)), alarm) if alarm.is_none_or(|alarm| *at <= alarm) => {
                    self.place.set(self.place.get() + 1);
                    self.go_to((*at).max(self.elapsed.get()));
                    match entry {
                        Entry::Action(action) => return Some(Next::Action(*action)),
                        Entry::Clock(by) => {
                            // No clock goes back to before it began.
                            let back = (*by).max(-(self.clock.now().as_nanos() as i64));
                            self.ahead.set(self.ahead.get() + back);
                            self.show();
                        }
                    }
                }
                (_, alarm) => {
                    self.go_to(alarm.unwrap_or(end).max(self.elapsed.get()));
                    let first = self.alarms.borrow_mut().pop_first();
                    return first.map(|(_, waker)| Next::Alarm(waker));
                }
            }
        }
    }

    fn go_to(&self, elapsed: u64) {
        self.elapsed.set(elapsed);
        self.show();
    }

    fn show(&self) {
        let shown = self.elapsed.get().saturating_add_signed(self.ahead.get()) / self.grain * self.grain;
        let before = self.clock.now().as_nanos();
        if shown > before {
            self.clock.advance(Duration::from_nanos(shown - before));
        } else if shown < before {
            self.clock.step_back(Duration::from_nanos(before - shown));
        }
    }
}

/// Everything that happens from outside, by time: arrivals first, then the clock's steps, then the rest in its order.
fn script(workload: &Workload) -> Vec<(u64, Entry)> {
    let arrivals = workload.tasks.iter().enumerate();
    let arrivals = arrivals.filter_map(|(number, plan)| {
        plan.arrives.map(|at| (nanos(at), Entry::Action(Action::Spawn(number))))
    });
    let steps = workload.clock.steps.iter().map(|step| match step {
        ClockStep::Ahead(at, by) => (nanos(*at), Entry::Clock(nanos(*by) as i64)),
        ClockStep::Back(at, by) => (nanos(*at), Entry::Clock(-(nanos(*by) as i64))),
    });
    let outside = workload.outside.iter().map(|outside| (nanos(outside.at), Entry::Action(outside.action)));
    let mut script = arrivals.chain(steps).chain(outside).collect::<Vec<_>>();
    script.sort_by_key(|(at, _)| *at);
    script
}
