//! The scheduler's inside: every transition of a task's life, each in one place.
//!
//! All fields are cells and all state is changed before user code runs; what is to be dropped or woken is collected
//! and handed out. So whatever user code calls, it meets a consistent scheduler.

mod account;
mod extras;
mod handle;
mod leftovers;
mod life;
mod lift;
mod news;
mod poll;
mod time;
mod watch;

pub(crate) use self::extras::Extras;
use self::extras::ExtrasTable;
use self::leftovers::Leftovers;
pub(crate) use self::poll::{Polls, Root};
use self::time::SteppedBack;

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::rc::Rc;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::cell::{Cell, OnceCell, RefCell};
use core::task::Waker;
use core::time::Duration;

use crate::activity::Activity;
use crate::clock::Clock;
use crate::coarse::CoarseClock;
use crate::event::{Events, Kind, TaskEvent};
use crate::instant::{Instant, nanos};
use crate::meter::{Meter, UNLIMITED};
use crate::priority::Priority;
use crate::queue::{self, ReadyLists};
use crate::remote::{Hook, Message, Remote};
use crate::slot::{HIDDEN, NIL, Object, Slot, State};
use crate::stats::{Counters, Stats};
use crate::stragglers::Stragglers;
use crate::summary::Summaries;
use crate::table::Table;
use crate::task::TaskId;
use crate::timer::Timers;
use crate::unwind::Containment;
use crate::waker::Entry;

/// The figures a scheduler is built with, in nanoseconds and microseconds.
#[derive(Clone, Copy)]
pub(crate) struct Figures {
    pub(crate) quantum: u64,
    pub(crate) upgrade_after_micros: u32,
    pub(crate) max_tasks: usize,
    /// Each task has an account.
    pub(crate) task_stats: bool,
    /// Test mode: every check gives way.
    pub(crate) always_yield: bool,
    /// Test mode: who is next among equals is drawn from this seed, which is not zero.
    pub(crate) shuffle: Option<u64>,
}

/// The wakers of those who await a handle, beside the slots since few tasks are awaited while they run.
#[derive(Default)]
struct Joiners {
    wakers: Vec<Option<Waker>>,
    free: Vec<u32>,
}

pub(crate) struct Engine {
    slots: Table<Slot>,
    free: Cell<u32>,
    ready: ReadyLists,
    stragglers: Stragglers,
    /// Since when promoted tasks are ready, by task; their slots say since when they stand at their new level.
    risen: RefCell<BTreeMap<u32, u32>>,
    /// What the running task was lent as a waker; its own once it keeps a clone.
    spare: Cell<u32>,
    running: Cell<u32>,
    running_level: Cell<Priority>,
    /// The last look at the clock, in nanoseconds and in microseconds.
    now: Cell<u64>,
    /// The latest reading of the clock, and what is added to readings since it stepped back.
    latest: Cell<u64>,
    offset: Cell<u64>,
    stepped_back: Cell<SteppedBack>,
    now_micros: Cell<u32>,
    /// When the running task's poll began, if it has an account.
    poll_began: Cell<u64>,
    /// A look happened since the last switch.
    pub(crate) looked: Cell<bool>,
    /// Polls to the next look, and between looks.
    until_look: Cell<u32>,
    stride: Cell<u32>,
    /// The time that passed before the last look after a poll was, as far as it matters for the slice's end, that poll's alone.
    timed_alone: Cell<bool>,
    next_due: Cell<u64>,
    /// When overdue tasks were searched last, and for how long none can be from then on, in µs.
    promoted_at: Cell<u32>,
    no_promotion_for: Cell<u32>,
    pub(crate) slice_end: Cell<u64>,
    pub(crate) in_slice: Cell<bool>,
    pub(crate) every_check: bool,
    /// The mode of the meter in polls.
    meter_mode: u8,
    closed: Cell<bool>,
    pub(crate) figures: Figures,
    /// A slice's length, in nanoseconds, and what it follows.
    pub(crate) slice: Cell<u64>,
    pub(crate) slice_policy: Box<dyn Fn(Activity) -> Duration>,
    pub(crate) remote: Arc<Remote>,
    pub(crate) events: Events,
    #[cfg(feature = "std")]
    watch: OnceCell<Arc<crate::stall::Watch>>,
    pub(crate) summaries: OnceCell<Summaries>,
    clock: Box<dyn Clock>,
    pub(crate) coarse: CoarseClock,
    headers: Table<OnceCell<Entry>>,
    /// Headers whose task has ended while somebody may still hold a waker.
    limbo: RefCell<VecDeque<u32>>,
    /// How many of them may be looked at for one that is free, besides what each demand may.
    looks_into_limbo: Cell<u32>,
    joiners: RefCell<Joiners>,
    extras: RefCell<ExtrasTable>,
    timers: RefCell<Timers>,
    /// Who awaits whose handle, by waiter and by target.
    waits: RefCell<BTreeMap<(u32, u32), lift::Wait>>,
    waiters: RefCell<BTreeMap<u32, u32>>,
    /// Numbers the looks at which waits a poll renewed, so that those which it did not are known.
    renewals: Cell<u64>,
    /// Numbers tasks with a deadline in the order of their coming.
    came: Cell<u64>,
    /// The first of the wakes that were drained and not taken in yet.
    drained: Cell<u32>,
    /// Messages that were received and not carried out yet.
    mail: RefCell<VecDeque<Message>>,
    /// How many disposals are under way, one in the other, and what waits for the outermost.
    disposing: Cell<u32>,
    undisposed: RefCell<Vec<Object>>,
    live: Cell<usize>,
    paused: Cell<usize>,
    pub(crate) counters: Counters,
}

/// How deep destructors may end tasks whose destructors end tasks. Each level takes some 300 bytes of stack.
const DEEPEST_DISPOSAL: u32 = 64;

impl Engine {
    pub(crate) fn new(
        figures: Figures,
        slice_policy: Box<dyn Fn(Activity) -> Duration>,
        clock: Box<dyn Clock>,
        events: Events,
        hook: Option<Hook>,
    ) -> Self {
        let now = clock.now().as_nanos();
        Engine {
            slots: Table::new(),
            free: Cell::new(NIL),
            ready: ReadyLists::new(figures.shuffle),
            stragglers: Stragglers::default(),
            risen: RefCell::default(),
            spare: Cell::new(NIL),
            running: Cell::new(NIL),
            running_level: Cell::new(Priority::Idle),
            now: Cell::new(now),
            latest: Cell::new(now),
            offset: Cell::new(0),
            stepped_back: Cell::new(SteppedBack::never(now)),
            now_micros: Cell::new((now / 1000) as u32),
            poll_began: Cell::new(now),
            looked: Cell::new(false),
            until_look: Cell::new(1),
            stride: Cell::new(1),
            timed_alone: Cell::new(true),
            next_due: Cell::new(UNLIMITED),
            promoted_at: Cell::new(0),
            no_promotion_for: Cell::new(0),
            slice_end: Cell::new(0),
            in_slice: Cell::new(false),
            every_check: clock.every_check(),
            meter_mode: Meter::scheduled_mode(clock.every_check()),
            closed: Cell::new(false),
            figures,
            slice: Cell::new(nanos(slice_policy(Activity::default()))),
            slice_policy,
            remote: Arc::new(Remote::new(figures.max_tasks, hook)),
            events,
            #[cfg(feature = "std")]
            watch: OnceCell::new(),
            summaries: OnceCell::new(),
            clock,
            coarse: CoarseClock::default(),
            headers: Table::new(),
            limbo: RefCell::default(),
            looks_into_limbo: Cell::new(0),
            joiners: RefCell::default(),
            extras: RefCell::default(),
            timers: RefCell::new(Timers::new()),
            waits: RefCell::default(),
            waiters: RefCell::default(),
            renewals: Cell::new(0),
            came: Cell::new(0),
            drained: Cell::new(NIL),
            mail: RefCell::default(),
            disposing: Cell::new(0),
            undisposed: RefCell::default(),
            live: Cell::new(0),
            paused: Cell::new(0),
            counters: Counters::default(),
        }
    }

    /// What a waker compares to know that it is at home.
    pub(crate) fn address(&self) -> *const () {
        Arc::as_ptr(&self.remote).cast()
    }

    #[inline(always)]
    pub(super) fn note(&self, kind: Kind, index: u32, slot: &Slot) {
        if self.events.wanted() {
            let level = match slot.state.get() {
                State::Ready => queue::level_of(slot.place.get()),
                _ => slot.class.get(),
            };
            self.note_at(kind, index, slot, level);
        }
    }

    #[cold]
    pub(super) fn note_at(&self, kind: Kind, index: u32, slot: &Slot, level: Priority) {
        if !slot.is(HIDDEN) {
            let id = id_of(index, slot);
            let at = Instant::from_nanos(self.now.get());
            let priority = self.own_class(index, slot);
            self.events.note(kind, TaskEvent { id, priority, level, at });
        }
    }

    /// Tells the observer what happened. Called where user code may run.
    #[inline(always)]
    pub(crate) fn tell(&self) {
        if self.events.wanted() {
            self.events.tell(self.contained());
        }
    }

    /// What swallows the panics of destructors, wakers, observers and hooks.
    pub(crate) fn contained(&self) -> &Containment {
        &self.remote.contained
    }

    pub(crate) fn stats(&self) -> Stats {
        self.counters.stats(self.contained().panics(), |priority| self.ready_at(priority))
    }

    /// Whom to tell every so often, from now on.
    pub(crate) fn set_summaries(&self, summaries: Summaries) {
        summaries.begin(self.now.get());
        let _ = self.summaries.set(summaries);
    }

    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    pub(crate) fn ready_at(&self, level: Priority) -> usize {
        self.ready.length(level)
    }

    /// Tasks that are not finished.
    pub(crate) fn live(&self) -> usize {
        self.live.get()
    }

    /// Whether any task could run again without a call from this thread: all are gone or hover.
    #[cfg(feature = "std")]
    pub(crate) fn all_stopped(&self) -> bool {
        self.live.get() == self.paused.get()
    }

    pub(crate) fn timer_count(&self) -> usize {
        self.timers.borrow().len()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.get()
    }

    /// Asks the host for a turn, if there is something to do and it is not at it.
    pub(crate) fn ask_host(&self) {
        if !self.in_slice.get() && (self.has_ready() || self.has_news()) {
            self.remote.ask_host_from_home();
        }
    }

    /// Asks the host for its last turn.
    pub(crate) fn ask_host_to_part(&self) {
        if !self.in_slice.get() && !self.is_closed() {
            self.remote.ask_host_from_home();
        }
    }

    /// Whether nothing came from other threads and nobody asked for the thread: what a glance looks at.
    pub(crate) fn is_quiet(&self) -> bool {
        !self.has_news() && !self.remote.is_yield_requested() && !self.is_watched()
    }

    /// Drops what a task consisted of, if it is there.
    #[inline(always)]
    pub(crate) fn dispose(&self, object: Option<Object>) {
        if let Some(object) = object {
            self.dispose_of(object);
        }
    }

    /// A destructor that ends further tasks comes here again: beyond some depth they wait for the outermost call, so that a
    /// long chain of owners does not overflow the stack.
    fn dispose_of(&self, object: Object) {
        let depth = self.disposing.get();
        if depth >= DEEPEST_DISPOSAL {
            self.undisposed.borrow_mut().push(object);
            return;
        }
        self.disposing.set(depth + 1);
        self.contained().contain(|| drop(object));
        if depth == 0 {
            self.dispose_of_waiting();
        }
        self.disposing.set(depth);
    }

    fn dispose_of_waiting(&self) {
        loop {
            let next = self.undisposed.borrow_mut().pop();
            let Some(object) = next else { return };
            self.contained().contain(|| drop(object));
        }
    }

    /// Drops and wakes what a transition left: drops first, so that who sees the end sees everything gone. Each may panic
    /// without harm to the others.
    #[inline(always)]
    pub(crate) fn settle(&self, leftovers: Leftovers) {
        let Leftovers { object, joiner, extras } = leftovers;
        self.dispose(object);
        if extras.is_some() {
            self.contained().contain(|| drop(extras));
        }
        if let Some(waker) = joiner {
            self.contained().contain(|| waker.wake());
        }
    }

    /// Cancels every task and takes no more. Destructors may call in; what they spawn is dropped.
    pub(crate) fn shutdown(&self) {
        self.closed.set(true);
        self.end_watch();
        let (unread, hook) = self.remote.close();
        let received = core::mem::take(&mut *self.mail.borrow_mut());
        for message in received.into_iter().chain(unread) {
            self.contained().contain(move || {
                let _message = message;
            });
        }
        self.contained().contain(|| drop(hook));
        for index in 0..self.slots.length() {
            let slot = self.slots.at(index);
            if matches!(slot.state.get(), State::Idle | State::Ready | State::Running) {
                self.cancel(id_of(index, slot));
            }
        }
        let timers = self.timers.borrow_mut().take();
        self.next_due.set(UNLIMITED);
        for target in timers.into_values() {
            self.contained().contain(|| drop(target));
        }
    }
}

fn id_of(index: u32, slot: &Slot) -> TaskId {
    TaskId::new(index, slot.generation.get())
}

/// A name for the type of `Rc<Engine>`'s owner count: dropped by the last user handle.
pub(crate) struct Owner {
    pub(crate) engine: Rc<Engine>,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.engine.shutdown();
    }
}
