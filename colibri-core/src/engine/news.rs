//! What comes from outside the running task: wakes, messages, timers.

use core::cell::OnceCell;

use super::{Engine, id_of};
use crate::fault::{self, Fault};
use crate::meter::{LOOK_INTERVAL_NANOS, UNLIMITED};
use crate::slot::{HIDDEN, NIL};
use crate::sync::Ordering;
use crate::task::TaskId;
use crate::timer::{Key, Target};
use crate::waker::{self, Entry};

/// Messages carried out between two polls. One takes about a µs, so that a flood of them delays the slice's end, and who
/// is ready already, by no more than a checkpoint's gap does.
const MESSAGES_AT_ONCE: u32 = 64;

/// Headers in limbo that each demand for one may look at, whatever it finds: those whose wakers leaked cost their memory and
/// next to no time.
const LOOKS_A_DEMAND: u32 = 2;

/// Further looks that each find pays for. Where more than one in six is free, finds pay for all looks, and headers do not
/// become more; with two looks and no more, they would for ever, if ever more slowly (with the cube root of the demands).
const LOOKS_A_FIND: u32 = 4;

/// Looks that are saved up at most: enough that a streak of headers in use, where a quarter is free, makes a new one in one
/// of 10⁸ demands.
const MOST_LOOKS: u32 = 64;

/// How long wakes that came together, or timers that are due together, may hold the thread at one look: as long as tasks run
/// between two looks. So a flood of them leaves the thread half of its time, and delays a slice's end and a checkpoint's answer
/// by no more than a look is apart.
const LONGEST_BURST_NANOS: u64 = LOOK_INTERVAL_NANOS;

/// Wakes of tasks between two looks at the clock in a burst: each takes 10 to 100 ns, a look 20 to 40.
const WAKES_PER_LOOK: u32 = 16;

/// Many wakes in a row, for as long as they may take.
struct Burst {
    end: Option<u64>,
    until_look: u32,
}

impl Burst {
    /// The clock is read only if there is more than a few.
    fn new() -> Self {
        Burst { end: None, until_look: WAKES_PER_LOOK }
    }

    /// One that begins with a look at the clock, just now.
    fn since(look: u64) -> Self {
        Burst { end: Some(look.saturating_add(LONGEST_BURST_NANOS)), until_look: WAKES_PER_LOOK }
    }

    /// Whether there is time for one more wake.
    #[inline(always)]
    fn goes_on(&mut self, engine: &Engine) -> bool {
        if self.until_look > 0 {
            self.until_look -= 1;
            return true;
        }
        self.looks(engine)
    }

    fn looks(&mut self, engine: &Engine) -> bool {
        self.until_look = WAKES_PER_LOOK - 1;
        let now = engine.read_clock();
        now < *self.end.get_or_insert(now.saturating_add(LONGEST_BURST_NANOS))
    }

    /// User code ran, which may have taken any time.
    fn look_now(&mut self) {
        self.until_look = 0;
    }
}

impl Engine {
    #[inline(always)]
    pub(super) fn entry(&self, number: u32) -> &Entry {
        self.headers.at(number).get().expect("a header's number is in the table")
    }

    /// The spare header, lent to a task that has none.
    #[inline(always)]
    pub(super) fn lend_spare<'e>(&'e self, index: u32, lent: &mut Option<&'e Entry>) -> &'e Entry {
        let entry = match *lent {
            Some(entry) => entry,
            None => lent.insert(self.spare_entry()),
        };
        entry.header.slot.store(index, Ordering::Relaxed);
        entry
    }

    #[cold]
    fn spare_entry(&self) -> &Entry {
        if self.spare.get() == NIL {
            self.spare.set(self.new_header());
        }
        self.entry(self.spare.get())
    }

    /// A header that nobody knows, used again or new.
    #[cold]
    pub(super) fn new_header(&self) -> u32 {
        if let Some(number) = self.header_out_of_limbo() {
            return number;
        }
        let number = self.headers.grow(OnceCell::new).expect("fewer headers than tasks");
        self.headers.at(number).get_or_init(|| Entry::new(self.remote.clone(), number));
        number
    }

    /// A header whose task has ended and whose wakers are gone, if one is found within the looks there are.
    fn header_out_of_limbo(&self) -> Option<u32> {
        let mut limbo = self.limbo.borrow_mut();
        let mut looks = (self.looks_into_limbo.get() + LOOKS_A_DEMAND).min(MOST_LOOKS);
        let mut found = None;
        for _ in 0..looks.min(limbo.len() as u32) {
            let Some(number) = limbo.pop_front() else { break };
            looks -= 1;
            if self.entry(number).is_unshared() || fault::seeded(Fault::ReusesHeadersInUse) {
                looks += LOOKS_A_FIND;
                found = Some(number);
                break;
            }
            limbo.push_back(number);
        }
        self.looks_into_limbo.set(looks);
        found
    }

    /// The task of this header has ended.
    pub(super) fn drop_header(&self, number: u32) {
        if !fault::seeded(Fault::LeavesHeaderBound) {
            self.entry(number).header.slot.store(NIL, Ordering::Relaxed);
        }
        self.limbo.borrow_mut().push_back(number);
    }

    /// Takes in what came from other threads: wakes first, then messages.
    #[inline(always)]
    pub(crate) fn take_news(&self) {
        if self.has_news() {
            self.take_all_news();
        }
    }

    /// Whether something from another thread is to be taken in.
    #[inline(always)]
    pub(crate) fn has_news(&self) -> bool {
        self.remote.has_news()
    }

    #[cold]
    fn take_all_news(&self) {
        self.take_wakes();
        let messages = self.remote.inbox.receive();
        self.mail.borrow_mut().extend(messages);
        for _ in 0..MESSAGES_AT_ONCE {
            let next = self.mail.borrow_mut().pop_front();
            let Some(message) = next else { break };
            self.contained().contain(|| self.carry_out(message));
        }
        if !self.mail.borrow().is_empty() || self.drained.get() != NIL {
            self.remote.inbox.keep_mail();
        }
    }

    /// Those for which there is no time are taken in at the next turn, before newer ones. A look at the clock is user code, which
    /// may come here again: what is left is noted before each.
    fn take_wakes(&self) {
        if self.drained.get() == NIL {
            self.drained.set(waker::drain(&self.remote.woken, |number| self.entry(number).header.link()));
        }
        let mut burst = Burst::new();
        while self.drained.get() != NIL && burst.goes_on(self) {
            let first = self.drained.get();
            if first == NIL {
                return;
            }
            let header = &self.entry(first).header;
            self.drained.set(header.link().next());
            waker::take_first(first, header.link(), |_| self.wake(header.slot.load(Ordering::Relaxed)));
        }
    }

    pub(crate) fn add_timer(&self, due: u64, target: Target) -> Key {
        let key = self.timers.borrow_mut().add(due, target);
        if due < self.next_due.get() {
            self.next_due.set(due);
            if !self.in_slice.get() {
                // The host sleeps until the timer that was next; its next report says better.
                self.remote.ask_host_from_home();
            }
        }
        key
    }

    pub(crate) fn retarget_timer(&self, key: Key, target: Target) -> Result<Target, Target> {
        self.timers.borrow_mut().set_target(key, target)
    }

    pub(crate) fn remove_timer(&self, key: Key) -> Option<Target> {
        let mut timers = self.timers.borrow_mut();
        let target = timers.remove(key);
        self.next_due.set(timers.next_due().unwrap_or(UNLIMITED));
        target
    }

    /// When the next timer is due.
    pub(crate) fn next_due(&self) -> Option<u64> {
        Some(self.next_due.get()).filter(|&due| due != UNLIMITED)
    }

    /// The running task, as what a timer wakes.
    pub(crate) fn running_task(&self) -> Option<Target> {
        let index = self.running.get();
        (index != NIL).then(|| Target::Task(index, self.slots.at(index).generation.get()))
    }

    /// The running task's id.
    #[cfg(feature = "std")]
    pub(crate) fn running_id(&self) -> Option<TaskId> {
        let index = self.running.get();
        (index != NIL).then(|| id_of(index, self.slots.at(index)))
    }

    /// A task's id, if it is one that users know of.
    pub(crate) fn visible_id(&self, index: u32) -> Option<TaskId> {
        let slot = self.slots.at(index);
        (!slot.is(HIDDEN)).then(|| id_of(index, slot))
    }

    /// Wakes whom the timers due by the last look wake, in order of due time and making.
    #[inline(always)]
    pub(crate) fn fire_timers(&self) {
        if self.has_due_timers() {
            self.fire_due_timers();
        }
    }

    /// Whether a timer is due by the last look. By the clock itself, not by what is estimated between the ticks of a coarse one:
    /// never early.
    #[inline(always)]
    pub(crate) fn has_due_timers(&self) -> bool {
        self.latest.get() >= self.next_due.get()
    }

    /// Those for which there is no time are still due at the next look.
    #[cold]
    fn fire_due_timers(&self) {
        let due = self.latest.get();
        let mut burst = Burst::since(due);
        while burst.goes_on(self) {
            let target = {
                let mut timers = self.timers.borrow_mut();
                let target = timers.pop_due(due);
                self.next_due.set(timers.next_due().unwrap_or(UNLIMITED));
                target
            };
            match target {
                None => return,
                Some(Target::Task(index, generation)) => {
                    if self.slots.at(index).generation.get() == generation {
                        self.wake(index);
                    }
                }
                Some(Target::End(index, generation)) => {
                    self.time_out(index, generation);
                    burst.look_now();
                }
                Some(Target::Waker(waker)) => {
                    self.contained().contain(|| waker.wake());
                    burst.look_now();
                }
            }
        }
    }
}

#[cfg(all(test, feature = "std", not(colibri_loom)))]
mod tests {
    use core::future::poll_fn;
    use core::task::{Poll, Waker};
    use std::cell::RefCell;
    use std::rc::Rc;

    use crate::{Priority, Scheduler};

    /// A thousand wakers of ended tasks are held at any time, each for some ten thousand tasks.
    #[test]
    fn wakers_that_are_held_for_long_do_not_make_the_headers_grow() {
        const HELD: usize = 1000;
        let scheduler = Scheduler::new();
        let held: Rc<RefCell<Vec<Waker>>> = Rc::new(RefCell::new(vec![Waker::noop().clone(); HELD]));
        let mut random = 1_u64;
        for _ in 0..300_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (held, place) = (held.clone(), (random >> 33) as usize % (10 * HELD));
            drop(scheduler.spawn(
                Priority::Normal,
                poll_fn(move |context| {
                    let waker = context.waker().clone();
                    match held.borrow_mut().get_mut(place) {
                        Some(held) => *held = waker,
                        None => drop(waker.clone()),
                    }
                    Poll::Ready(())
                }),
            ));
            scheduler.run_slice();
        }
        let headers = scheduler.engine().headers.length();
        assert!((HELD as u32..2 * HELD as u32).contains(&headers), "{headers} headers");
    }
}
