//! The reference: a small, slow scheduler that follows the [`rules`](crate::rules) with plain lists, searched from
//! the front. Its trace must equal the real one's, event by event.
//!
//! It shares no code with colibri-core but the clock. What it does is meant to be checked by reading, not to be fast.

mod act;
mod subject;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use colibri_core::ManualClock;

use crate::rules::{Choice, End, Right, Rules, Time};
use crate::subject::{Spec, Turn};
use crate::trace::{Recorder, What, Why};
use crate::workload::{Class, Settings};

/// A scheduler that follows these rules. [`Right`] makes it the reference.
#[derive(Debug)]
pub struct Model<R: Rules = Right>(Rc<Inner<R>>);

impl<R: Rules> Clone for Model<R> {
    fn clone(&self) -> Self {
        Model(self.0.clone())
    }
}

#[derive(Debug)]
struct Inner<R> {
    rules: R,
    clock: ManualClock,
    recorder: Recorder,
    slices: Settings,
    /// What the host is doing.
    activity: Cell<usize>,
    time: Cell<Time>,
    /// The host was asked for a turn and has not come yet; how often it was asked.
    asked: Cell<bool>,
    asks: Cell<u64>,
    quantum: u64,
    upgrade_after_micros: u64,
    tasks: RefCell<BTreeMap<u32, Task>>,
    /// All that are ready, by level: in the order in which they would be picked if there were no other rules.
    own: RefCell<[VecDeque<u32>; 3]>,
    /// Those of them that have a deadline, in the order of their coming. They go before the rest, but not before a turn that
    /// was cut.
    due: RefCell<[VecDeque<u32>; 3]>,
    guests: RefCell<[VecDeque<u32>; 3]>,
    guest_before: Cell<bool>,
    timers: RefCell<Vec<Timer>>,
    made: Cell<u64>,
    stragglers: Cell<u64>,
    /// Wakes that came while the host had the thread, in order.
    news: RefCell<VecDeque<u32>>,
    /// Tasks that other threads have sent, in order.
    mail: RefCell<VecDeque<Letter>>,
    running: Cell<Option<u32>>,
    running_level: Cell<Class>,
    /// When the running poll was last charged for.
    charged: Cell<u64>,
    /// Why the running task was told to give way.
    reason: Cell<Option<Why>>,
    in_slice: Cell<bool>,
    slice_end: Cell<u64>,
    host_asks: Cell<bool>,
}

/// A future that is being polled is taken out of its task.
type Body = Pin<Box<dyn Future<Output = ()>>>;

/// A task that another thread has sent.
struct Letter {
    spec: Spec,
    body: Body,
}

impl std::fmt::Debug for Letter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Letter").field("spec", &self.spec).finish_non_exhaustive()
    }
}

struct Task {
    body: Option<Body>,
    waker: Waker,
    joiner: Option<Waker>,
    /// Who awaits its end, and whose end it awaits.
    awaited_by: Option<u32>,
    awaits: Option<u32>,
    /// The class it was given.
    given: Class,
    /// That, or its waiter's, if that is higher.
    class: Class,
    state: State,
    /// The turn was cut: it stands at the head and goes on.
    goes_on: bool,
    paused: bool,
    woken: bool,
    cancelled: bool,
    /// Whoever awaited it knows of its end: it is forgotten.
    taken: bool,
    /// By when it should be done, in nanoseconds.
    deadline: Option<u64>,
    /// How long its turn lasts: the quantum times its weight, in nanoseconds.
    turn: u64,
    /// Since when it waits for a wake, in nanoseconds, and how much longer its turn is for that.
    slept_from: u64,
    bonus: u64,
    /// Nanoseconds used of the present turn, with what was carried over.
    used: u64,
    /// Since when it waits at its level, and since when it is ready at all, in microseconds.
    since: u64,
    ready_since: u64,
    /// How many were passed over or moved before it was, since it is ready: on a tie it rises in that order.
    came: Option<u64>,
}

impl Task {
    fn becomes_ready(&mut self, now_micros: u64) {
        (self.since, self.ready_since, self.came) = (now_micros, now_micros, None);
    }
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").field("class", &self.class).field("state", &self.state).finish_non_exhaustive()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Ready,
    Running,
    Ended,
}

#[derive(Debug)]
struct Timer {
    deadline: u64,
    made: u64,
    waker: Waker,
}

// Who runs. What is done to tasks is in `act`, what they await in `subject`.
impl<R: Rules> Inner<R> {
    fn now(&self) -> u64 {
        let time = self.rules.goes_by(self.clock.now().as_nanos(), self.time.get());
        self.time.set(time);
        time.now
    }

    /// Asks the host for a turn, once until it comes.
    fn ask_host(&self) {
        if self.rules.asks_host(self.asked.replace(true)) {
            self.asks.set(self.asks.get() + 1);
        }
    }

    fn note(&self, task: u32, what: What) {
        self.recorder.note(self.now(), task, what);
    }

    fn with<T>(&self, task: u32, f: impl FnOnce(&mut Task) -> T) -> T {
        f(self.tasks.borrow_mut().get_mut(&task).expect("a task that was spawned"))
    }

    fn something_is_ready(&self) -> bool {
        Class::ALL.iter().any(|class| self.is_ready_at(*class))
    }

    fn is_ready_at(&self, class: Class) -> bool {
        self.has_own(class) || !self.guests.borrow()[class as usize].is_empty()
    }

    fn has_own(&self, class: Class) -> bool {
        !self.own.borrow()[class as usize].is_empty() || !self.due.borrow()[class as usize].is_empty()
    }

    /// Whether the first of the level's own goes on with a turn that was cut.
    fn goes_on(&self, level: Class) -> bool {
        let first = self.own.borrow()[level as usize].front().copied();
        first.is_some_and(|first| self.with(first, |task| task.goes_on))
    }

    /// Takes out the next of the level's own: who goes on with a turn, else the one with the first deadline, else the first.
    fn next_own(&self, level: Class) -> Option<u32> {
        let due = self.due.borrow()[level as usize].iter().copied().enumerate().collect::<Vec<_>>();
        let deadline = |(place, task): &(usize, u32)| (self.with(*task, |task| task.deadline), *place);
        let urgent =
            due.into_iter().min_by(|one, other| self.rules.due_order(deadline(one), deadline(other)));
        match urgent.filter(|_| !self.goes_on(level)) {
            Some((place, _)) => self.due.borrow_mut()[level as usize].remove(place),
            None => self.own.borrow_mut()[level as usize].pop_front(),
        }
    }

    /// Whether something is ready that the task which runs at `level` must give way to.
    fn is_outranked(&self, level: Class) -> bool {
        let mut above = self.rules.classes().into_iter().take_while(|class| *class != level);
        above.any(
            |class| if self.rules.guests_outrank() { self.is_ready_at(class) } else { self.has_own(class) },
        )
    }

    fn run_slice(self: &Rc<Self>, length: u64) -> Turn {
        self.in_slice.set(true);
        self.asked.set(false);
        self.slice_end.set(self.now() + length);
        self.take_news();
        self.fire_timers();
        self.promote();
        while !self.rules.slice_is_over(self.now(), self.slice_end.get()) && !self.host_asks.get() {
            let Some((task, level)) = self.pick() else { break };
            self.poll(task, level);
            self.fire_timers();
            self.promote();
            self.take_news();
        }
        self.in_slice.set(false);
        self.host_asks.set(false);
        let first = self.timers.borrow().iter().map(|timer| timer.deadline).min();
        Turn { work_left: self.rules.tells_of_work(self.something_is_ready()), next_timer: first }
    }

    fn take_news(self: &Rc<Self>) {
        loop {
            let Some(task) = self.news.borrow_mut().pop_front() else { break };
            self.wake(task);
        }
        for _ in 0..self.rules.admissions_at_once() {
            let Some(Letter { spec, body }) = self.mail.borrow_mut().pop_front() else { return };
            self.charge();
            self.admit(spec, body);
            self.note(spec.number, What::Admitted(spec.class));
        }
    }

    /// The next task, and the level at which it runs.
    fn pick(&self) -> Option<(u32, Class)> {
        loop {
            let classes = self.rules.classes().into_iter();
            let must_be_own = self.rules.must_be_own(self.guest_before.get());
            let own = classes.clone().find(|class| must_be_own && self.has_own(*class));
            let (level, guest) = match own {
                Some(level) => (level, false),
                None => {
                    let level = classes.clone().find(|class| self.is_ready_at(*class))?;
                    (level, self.choose_guest(level))
                }
            };
            let task = if guest {
                self.guests.borrow_mut()[level as usize].pop_front()?
            } else {
                self.next_own(level)?
            };
            // Who was overtaken by deadlines at its own level stands among the guests, and is none.
            let guest = guest && self.with(task, |task| task.class != level);
            let alone = !self.is_ready_at(level);
            let owes_a_turn = self.with(task, |task| task.used >= task.turn);
            if owes_a_turn && !guest && !alone {
                // Passed over: this round pays off one turn.
                self.with(task, |task| task.used -= task.turn);
                self.note_straggler(task);
                self.own.borrow_mut()[level as usize].push_back(task);
                continue;
            }
            if owes_a_turn && !guest {
                // Nobody is there to whom it could be owed.
                self.with(task, |task| task.used = 0);
            }
            self.guest_before.set(guest);
            return Some((task, level));
        }
    }

    fn choose_guest(&self, level: Class) -> bool {
        let first = |queue: &RefCell<[VecDeque<u32>; 3]>| queue.borrow()[level as usize].front().copied();
        let Some(guest) = first(&self.guests) else { return false };
        let goes_on = self.goes_on(level);
        let own = first(&self.due).filter(|_| !goes_on).or(first(&self.own));
        self.rules.takes_guest(&Choice {
            guest_came: self.with(guest, |task| task.since),
            own_came: own.map(|own| self.with(own, |task| task.since)),
            own_goes_on: goes_on,
        })
    }

    fn poll(self: &Rc<Self>, task: u32, level: Class) {
        let Some((mut body, waker)) = self.with(task, |task| {
            task.state = State::Running;
            task.woken = false;
            task.goes_on = false;
            task.body.take().map(|body| (body, task.waker.clone()))
        }) else {
            return;
        };
        self.running.set(Some(task));
        self.running_level.set(level);
        self.charged.set(self.now());
        self.note(task, What::Started(level));
        let polled = catch_unwind(AssertUnwindSafe(|| body.as_mut().poll(&mut Context::from_waker(&waker))));
        let reason = self.reason.take();
        self.charge();
        if matches!(polled, Ok(Poll::Pending)) && !self.with(task, |task| task.cancelled) {
            self.with(task, |task| task.body = Some(body));
            self.running.set(None);
            return self.put_back(task, reason, level);
        }
        let _ = catch_unwind(AssertUnwindSafe(|| drop(body)));
        self.running.set(None);
        self.end(
            task,
            match polled {
                Err(_) => What::Panicked,
                Ok(_) if self.with(task, |task| task.cancelled) => What::Cancelled,
                Ok(_) => What::Finished,
            },
        );
    }

    fn put_back(&self, task: u32, reason: Option<Why>, level: Class) {
        let again =
            reason.is_some() || self.with(task, |task| task.woken && self.rules.keeps_wake_while_running());
        let why = reason.unwrap_or(Why::Own);
        let end = self.rules.goes_to(why);
        let paused = self.with(task, |task| {
            task.state = State::Waiting;
            if !again || end == End::Tail {
                task.bonus = 0;
                let guest = self.running_level.get() != task.class;
                task.used = self.rules.carries_over(task.used, task.turn, guest);
            }
            task.woken = false;
            task.paused
        });
        if !again || paused {
            let now = self.now();
            self.with(task, |task| task.slept_from = now);
            self.with(task, |task| task.woken = again && self.rules.keeps_wake_while_paused());
            return self.note(task, What::Suspended);
        }
        self.note(task, What::Yielded(why));
        let class = self.with(task, |task| {
            task.state = State::Ready;
            task.becomes_ready(self.now() / 1_000);
            task.goes_on = end == End::Head;
            task.class
        });
        if !self.rules.guest_goes_home() && level != class {
            return self.guests.borrow_mut()[level as usize].push_back(task);
        }
        match end {
            End::Head => self.own.borrow_mut()[class as usize].push_front(task),
            End::Tail => self.line_up(task, class, End::Tail),
        }
    }

    /// Into the order of deadlines, if it has one, else to this end of the others.
    fn line_up(&self, task: u32, class: Class, end: End) {
        let due = self.with(task, |task| task.deadline.is_some());
        let queue = &mut if due { &self.due } else { &self.own }.borrow_mut()[class as usize];
        match end {
            End::Head => queue.push_front(task),
            End::Tail => queue.push_back(task),
        }
    }

    /// It goes to the tail, but keeps its wait.
    fn note_straggler(&self, task: u32) {
        let came = self.stragglers.get();
        self.stragglers.set(came + 1);
        self.with(task, |task| task.came = task.came.or(Some(came)));
    }

    /// The task is over: its future is gone. Whoever awaits it is woken last.
    fn end(&self, task: u32, how: What) {
        self.note(task, how);
        let (joiner, waiter, awaits) = self.with(task, |task| {
            task.state = State::Ended;
            (task.joiner.take(), task.awaited_by.take(), task.awaits.take())
        });
        if let Some(waiter) = waiter {
            self.with(waiter, |waiter| waiter.awaits = None);
        }
        if let Some(other) = awaits {
            self.with(other, |other| other.awaited_by = None);
            self.settle_class(other);
        }
        if let Some(waker) = joiner.filter(|_| self.rules.wakes_joiner()) {
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
    }

    /// Charges what passed since the last time to the running task.
    fn charge(&self) {
        let now = self.now();
        let passed = now.saturating_sub(self.charged.replace(now));
        if let Some(task) = self.running.get() {
            self.with(task, |task| task.used += self.rules.charges(passed, task.turn));
        }
    }

    /// Each level's tasks that have waited too long rise by one, those that waited longest first. Above Immediate there is
    /// nothing; but there who is overtaken by deadlines takes its turn beside them.
    fn promote(&self) {
        let now = self.now() / 1_000;
        let rises = [
            (Class::Normal, Class::Immediate),
            (Class::Idle, Class::Normal),
            (Class::Immediate, Class::Immediate),
        ];
        for (level, above) in rises {
            if level == above && self.due.borrow()[level as usize].is_empty() {
                continue;
            }
            for _ in 0..self.rules.promotions_at_once() {
                let Some(task) = self.overdue(level, now) else { break };
                self.unqueue(task);
                self.with(task, |task| {
                    task.since = now;
                    task.goes_on = false;
                    task.came = None;
                    if self.rules.promotion_forgives() {
                        task.used = 0;
                    }
                });
                self.guests.borrow_mut()[above as usize].push_back(task);
                self.note(task, What::Promoted(above));
            }
        }
    }

    /// Who has waited longest at this level, if too long. Of those that came in the same microsecond: the first of the
    /// round robin, the first guest, the first that has a deadline, the one whose turn was cut first, then those that were passed
    /// over or moved, in order. At the highest level guests have risen already, and a cut turn goes on at once.
    fn overdue(&self, level: Class, now: u64) -> Option<u32> {
        let (own, due, guests) = (self.own.borrow(), self.due.borrow(), self.guests.borrow());
        let (own, due) = (&own[level as usize], &due[level as usize]);
        let may_rise = level != Class::Immediate;
        let guests = guests[level as usize].iter().filter(|_| may_rise);
        let since = |task: &u32| self.with(*task, |task| task.since);
        let is_cut = |task: &&u32| self.with(**task, |task| task.goes_on);
        let cut = own.iter().filter(is_cut).filter(|_| may_rise);
        let uncut = own.iter().filter(|task| !is_cut(task));
        let heads = [uncut.clone().next(), guests.clone().next(), due.front(), cut.clone().next_back()];
        let first = heads.into_iter().flatten().min_by_key(|task| since(task)).copied()?;
        let all = cut.chain(uncut).chain(due).chain(guests).copied();
        let longest = all.min_by_key(|task| (since(task), self.with(*task, |task| task.came)))?;
        let longest = if since(&longest) < since(&first) { longest } else { first };
        self.rules.rises(now.saturating_sub(since(&longest)), self.upgrade_after_micros).then_some(longest)
    }

    fn unqueue(&self, task: u32) {
        for queues in [&self.own, &self.due, &self.guests] {
            queues.borrow_mut().iter_mut().for_each(|queue| queue.retain(|other| *other != task));
        }
    }
}
