//! The meter: how many more checks may pass before somebody must look at the clock.
//!
//! A running function counts its checks down in a register ("fuel"). Only when the fuel is gone does it come here,
//! about every 20 µs: the clock is read, the next grant is fitted to what the last one took, and the budget and the
//! scheduler are asked whether the task may go on. Where somebody counts, because of `Budget::checks` or a clock
//! that wants each check, every grant is one.

mod blind;
mod nest;

pub(crate) use self::nest::{Outer, Saved};
use crate::engine::Engine;
use crate::local::word::{I64, Place, U8, U32, U64};
use crate::local::{self, Local};
use crate::rt::Site;

/// The time between two looks at the clock that the grants aim at, in nanoseconds.
///
/// A look costs 20 to 40 ns, so that 20 µs keep its share at 0.2 %, and a budget is overdrawn by half of it on
/// average: far below the shortest latency target (16 ms) and below the cost of waking a thread (50 µs).
pub(crate) const LOOK_INTERVAL_NANOS: u64 = 20_000;

/// In how many portions a grant is spent. Between two looks at the clock a portion's end only glances at what came from
/// other threads and from the host, which costs some 3 ns: so a wake from outside is seen after about 2.5 µs.
const PORTIONS: u32 = 8;

/// The first grant of a function, in checks: at 300 ns an iteration it fits [`LOOK_INTERVAL_NANOS`], and a lighter
/// loop doubles its way up within a few looks. Of one that begins in a poll of a scheduler's, the first look grants one check, so
/// that the next look knows a heavy loop.
pub(crate) const FIRST_GRANT_CHECKS: u32 = 64;

/// The smallest and largest grant, in checks. Sixteen iterations that each take longer than a µs are seldom; 2^20
/// of the shortest (0.3 ns) take 0.3 ms, the most that a loop which turns heavy without warning can hide.
pub(crate) const GRANT_RANGE_CHECKS: (u32, u32) = (1, 1 << 20);

/// So many iterations of a short loop run in arrears if a whole grant has as many: as the first one has.
const LEAST_ARREARS_CHECKS: i64 = FIRST_GRANT_CHECKS as i64;

/// How long a function runs per poll on an executor that sets no budget, in nanoseconds: 0.5 ms, as Seastar's
/// task quota.
pub(crate) const FOREIGN_BUDGET_NANOS: u64 = 500_000;

/// No limit: of a deadline, or of the number of checks.
pub(crate) const UNLIMITED: u64 = u64::MAX;

/// A budget is open.
const OPEN: u8 = 1;
/// The poll belongs to a scheduler on this thread, which must be asked.
const SCHEDULED: u8 = 2;
/// The clock wants every check.
const EVERY_CHECK: u8 = 4;
/// Inside `uninterrupted`: nothing gives way.
const UNINTERRUPTED: u8 = 8;
/// The budget is over, and stays so until the next poll.
const OVER: u8 = 16;
/// The deadline starts at the first look (`quota` after it): a poll that never checks then reads no clock.
const LAZY: u8 = 32;

/// No check was made in the poll yet: all else is as `open_scheduled` left it.
const FRESH: u8 = 64;

/// One thread's meter. All of it is saved and put back when budgets nest.
pub(crate) struct Meter {
    /// Checks that may pass before the next look. A running function takes it out and puts the rest back.
    pub(crate) fuel: I64,
    /// What the last look granted.
    granted: I64,
    /// Used since the last look that found the clock moved: on a coarse one several looks see the same time.
    unmeasured: I64,
    /// Portions of the grant that are left.
    portions: U32,
    /// When the last look was.
    last: U64,
    /// When the budget's own time ends. A scheduler's slice and quantum are not in here: it is asked at each look.
    deadline: U64,
    /// Checks left in the budget.
    checks: U64,
    /// With `LAZY`: the length of the budget's time.
    quota: U64,
    /// The learned grant: the running function's, or what `checkpoint` calls on this thread have learned.
    pub(crate) grant: U32,
    /// Where nobody can be asked: checks granted in this poll.
    passed: U32,
    /// Counts looks, so that a scope can tell whether one happened inside it.
    looks: U32,
    mode: U8,
    /// The loop at which the last look happened.
    pub(crate) site: Place,
}

impl Meter {
    pub(crate) const fn new() -> Self {
        Meter {
            fuel: I64::new(0),
            granted: I64::new(0),
            unmeasured: I64::new(0),
            portions: U32::new(0),
            last: U64::new(0),
            deadline: U64::new(UNLIMITED),
            checks: U64::new(UNLIMITED),
            quota: U64::new(UNLIMITED),
            grant: U32::new(FIRST_GRANT_CHECKS),
            passed: U32::new(0),
            looks: U32::new(0),
            mode: U8::new(0),
            site: Place::new(None),
        }
    }

    /// Opens the budget of one poll by a scheduler, which says at each look whether the task may go on. There is no
    /// fuel yet, so that the first check looks.
    #[inline(always)]
    pub(crate) fn open_scheduled(&self, now: u64, mode: u8, checks: impl FnOnce() -> u64) {
        self.last.set(now);
        // The poll before made no check: short polls are the ones for which this counts.
        if self.mode.get() != mode {
            self.open_scheduled_anew(mode, checks());
        }
    }

    /// The mode of a scheduler's polls.
    pub(crate) fn scheduled_mode(every_check: bool) -> u8 {
        OPEN | SCHEDULED | FRESH | if every_check { EVERY_CHECK } else { 0 }
    }

    fn open_scheduled_anew(&self, mode: u8, checks: u64) {
        self.fuel.set(0);
        self.granted.set(0);
        self.portions.set(0);
        self.passed.set(0);
        self.deadline.set(UNLIMITED);
        self.checks.set(checks);
        self.site.set(None);
        self.mode.set(mode);
    }

    /// The loop that looked last in this poll: its function, file and line.
    pub(crate) fn last_checkpoint(&self) -> Option<(&'static str, &'static str, u32)> {
        if self.mode.get() & FRESH != 0 { None } else { self.site.get().map(Site::place) }
    }

    /// A scheduler begins a slice: what is left of another one's polls is not its own.
    pub(crate) fn forget(&self) {
        self.mode.set(0);
    }

    /// The poll is not fresh any more.
    fn touch(&self) -> u8 {
        let mode = self.mode.get() & !FRESH;
        self.mode.set(mode);
        mode
    }

    /// Whether no check was made in this poll of a scheduler's yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.mode.get() & FRESH != 0
    }

    /// Of a grant that is a guess (a function's first, or what `checkpoint` calls on this thread have learned, perhaps in another
    /// task) the first check in a poll takes one: then the next one looks, and what one step takes here is known. A grant of 64,
    /// learned on steps of 0.3 µs, would let as many of 0.5 ms pass.
    pub(crate) fn probe(&self, fuel: i64) -> i64 {
        if !local::KNOWS_SCHEDULER || self.mode.get() & UNINTERRUPTED != 0 {
            return fuel;
        }
        self.portions.set(0);
        self.granted.set(1);
        1
    }

    #[inline(always)]
    pub(crate) fn is_open(&self) -> bool {
        self.mode.get() & OPEN != 0
    }

    /// Sets whether nothing gives way, and returns what was set before.
    pub(crate) fn set_uninterrupted(&self, on: bool) -> bool {
        let mode = self.mode.get();
        self.mode.set(if on { mode | UNINTERRUPTED } else { mode & !UNINTERRUPTED });
        mode & UNINTERRUPTED != 0
    }

    /// Whether the budget is over, without changing it.
    pub(crate) fn is_over(&self) -> bool {
        let mode = self.mode.get();
        if mode & OPEN == 0 || mode & UNINTERRUPTED != 0 {
            return false;
        }
        if mode & OVER != 0 || self.checks.get() == 0 {
            return true;
        }
        if mode & SCHEDULED != 0 {
            let Some(engine) = local::current() else { return false };
            let now = engine.read_clock();
            return now >= self.deadline.get() || engine.reason_to_give_way(now).is_some();
        }
        mode & LAZY == 0 && self.deadline.get() != UNLIMITED && self.read_clock(mode) >= self.deadline.get()
    }

    /// The fuel is gone: may the task go on? New fuel, or `None` if it must give way. `fuel` is what is left, which is
    /// below zero where more was used than there was.
    #[cold]
    #[inline(never)]
    pub(crate) fn check(&self, local: &Local, fuel: i64, site: Option<&'static Site>) -> Option<i64> {
        let is_guess = self.is_fresh() && self.grant.get() == FIRST_GRANT_CHECKS;
        self.fuel.set(fuel.min(0));
        let granted = self.check_with_debt(local, site);
        self.fuel.set(0);
        if is_guess { granted.map(|fuel| self.probe(fuel)) } else { granted }
    }

    fn check_with_debt(&self, local: &Local, site: Option<&'static Site>) -> Option<i64> {
        let mode = self.touch();
        if site.is_some() {
            self.site.set(site);
        }
        if mode & UNINTERRUPTED != 0 {
            return Some(self.look(mode, self.read_clock(mode)));
        }
        if mode & OVER != 0 {
            return None;
        }
        let checks = self.checks.get();
        if checks != UNLIMITED {
            if checks == 0 {
                self.mode.set(mode | OVER);
                return None;
            }
            self.checks.set(checks.saturating_sub(1 + self.debt() as u64));
        }
        if !local::KNOWS_SCHEDULER
            && let Some(limit) = self.blind_limit(mode)
        {
            return self.check_blindly(local, mode, limit);
        }
        if mode & OPEN == 0 {
            return self.check_without_budget();
        }
        if mode & SCHEDULED != 0 {
            return self.check_scheduled(local, mode);
        }
        if mode & LAZY == 0 && self.deadline.get() == UNLIMITED {
            // Only checks are limited, or nothing is: no clock is needed.
            return Some(self.grant_of(if checks == UNLIMITED {
                i64::from(GRANT_RANGE_CHECKS.1)
            } else {
                1
            }));
        }
        let now = self.read_clock(mode);
        if mode & LAZY != 0 {
            self.deadline.set(now.saturating_add(self.quota.get()));
            self.last.set(now);
            self.mode.set(mode & !LAZY);
        } else if now >= self.deadline.get() {
            self.mode.set(mode | OVER);
            self.fit_to_look(mode, now);
            return None;
        }
        Some(self.look(mode, now))
    }

    fn check_scheduled(&self, local: &Local, mode: u8) -> Option<i64> {
        if !self.counts(mode)
            && self.portions.get() > 0
            && local::with_current(|engine| engine.is_quiet()) == Some(true)
            && let Some(fuel) = self.portions_for(self.debt() + 1)
        {
            self.looks.set(self.looks.get().wrapping_add(1));
            return Some(fuel - self.debt());
        }
        let engine = local::current()?;
        if engine.is_watched() {
            engine.show_check(self.site.get());
        }
        let now = self.read_clock_between_ticks(&engine, mode);
        let reason = engine.verdict(now);
        // A budget inside the task's own poll may end before the scheduler's time does.
        if reason.is_some() || now >= self.deadline.get() {
            local.reason.set(reason);
            self.mode.set(mode | OVER);
            self.fit_to_look(mode, now);
            return None;
        }
        Some(self.look(mode, now))
    }

    /// Reads the scheduler's clock; on a coarse one the time between its ticks is estimated from what was counted.
    fn read_clock_between_ticks(&self, engine: &Engine, mode: u8) -> u64 {
        if mode & EVERY_CHECK != 0 {
            return engine.read_clock();
        }
        let reading = engine.reading();
        let now = engine.coarse.look(reading, self.used().max(0) as u64);
        now.max(engine.now())
    }

    /// `checkpoint()` in a hand-written future on an executor without budgets: nobody tells when a poll ends, so the
    /// thread's time is cut in stretches of [`FOREIGN_BUDGET_NANOS`]. The worst is one needless turn of the executor.
    fn check_without_budget(&self) -> Option<i64> {
        let now = self.read_clock(0);
        if now >= self.deadline.get() {
            self.deadline.set(UNLIMITED);
            self.fit_to_look(0, now);
            return None;
        }
        if self.deadline.get() == UNLIMITED {
            self.deadline.set(now.saturating_add(FOREIGN_BUDGET_NANOS));
            self.last.set(now);
            self.granted.set(0);
        }
        Some(self.look(0, now))
    }

    /// The task was polled again after it gave way at a check: it gets past that check whatever the budget says, so
    /// that every budget makes progress.
    #[cold]
    #[inline(never)]
    pub(crate) fn resume(&self) -> i64 {
        let mode = self.touch();
        if self.counts(mode) || mode & OVER != 0 || !local::KNOWS_SCHEDULER {
            return self.grant_of(1);
        }
        let now = self.read_clock(mode);
        if mode & LAZY != 0 {
            self.deadline.set(now.saturating_add(self.quota.get()));
            self.mode.set(mode & !LAZY);
        } else if mode & OPEN == 0 {
            self.deadline.set(now.saturating_add(FOREIGN_BUDGET_NANOS));
        }
        self.last.set(now);
        self.new_grant(mode)
    }

    /// Notes a look at the clock and fits the grant to what the last one took.
    fn look(&self, mode: u8, now: u64) -> i64 {
        self.fit_to_look(mode, now);
        if self.counts(mode) { self.grant_of(1) } else { self.new_grant(mode) }
    }

    /// Fits the grant to what the last one took. When the task gives way, too: where each grant takes longer than a turn, there is
    /// no other look.
    fn fit_to_look(&self, mode: u8, now: u64) {
        let elapsed = now.saturating_sub(self.last.replace(now));
        if self.counts(mode) {
            return;
        }
        let used = self.used() + self.unmeasured.get();
        if elapsed == 0 {
            // A clock that has not moved says nothing of the rate yet.
            self.unmeasured.set(used);
        } else if used > 0 {
            self.unmeasured.set(0);
            let fitting = (used as u64).saturating_mul(LOOK_INTERVAL_NANOS) / elapsed;
            if used == 1 && self.grant.get() > 1 {
                // A probe: it says that the grant is too large, or nothing.
                self.grant.set(u64::from(self.grant.get()).min(fitting.max(1)) as u32);
            } else {
                self.fit(fitting);
            }
        }
    }

    /// What was used of the last grant.
    fn used(&self) -> i64 {
        self.granted.get() + self.debt()
    }

    /// What was used beyond the fuel there was.
    fn debt(&self) -> i64 {
        -self.fuel.get().min(0)
    }

    /// Moves the grant towards the `fitting` one: at most doubled, so that one quick stretch does not hide a slow one; cut
    /// to an eighth at once.
    fn fit(&self, fitting: u64) {
        let old = self.grant.get();
        let (smallest, largest) = GRANT_RANGE_CHECKS;
        let grant = fitting.clamp(u64::from(old / 8), u64::from(old) * 2);
        self.grant.set((grant as u32).clamp(smallest, largest));
    }

    /// Gives the first portion of a new grant, or all of it where there is nothing to glance at.
    fn new_grant(&self, mode: u8) -> i64 {
        let grant = self.grant.get();
        if mode & SCHEDULED == 0 || grant < PORTIONS {
            return self.grant_of(i64::from(grant));
        }
        self.portions.set(PORTIONS - 1);
        self.grant_of(i64::from(grant / PORTIONS))
    }

    /// Gives as many of the grant's portions as `fuel` takes, if there are so many.
    pub(crate) fn portions_for(&self, fuel: i64) -> Option<i64> {
        let portion = i64::from((self.grant.get() / PORTIONS).max(1));
        let needed = fuel.checked_add(portion - 1)? / portion;
        let left = self.portions.get().checked_sub(u32::try_from(needed).ok()?)?;
        self.portions.set(left);
        self.granted.set(self.granted.get() + needed * portion);
        Some(needed * portion)
    }

    /// How many iterations of an inner loop may run before the loop around it looks at the fuel: half of a grant, so
    /// that a budget is overdrawn by 10 µs more at most.
    pub(crate) fn arrears(&self) -> i64 {
        if self.counts(self.mode.get()) {
            return 0;
        }
        // Where no clock limits anything, more was granted than was ever learned.
        let grant = i64::from(self.grant.get()).max(self.granted.get());
        (grant / 2).max(grant.min(LEAST_ARREARS_CHECKS))
    }

    fn grant_of(&self, fuel: i64) -> i64 {
        self.looks.set(self.looks.get().wrapping_add(1));
        self.granted.set(fuel);
        fuel
    }

    /// Whether every grant is one.
    fn counts(&self, mode: u8) -> bool {
        mode & EVERY_CHECK != 0 || self.checks.get() != UNLIMITED
    }

    fn read_clock(&self, mode: u8) -> u64 {
        if mode & SCHEDULED != 0
            && let Some(engine) = local::current()
        {
            return engine.read_clock();
        }
        crate::clock::system_now().as_nanos()
    }
}
