//! The reference: a small, slow scheduler that follows the [`rules`](crate::rules) with plain lists, searched from
//! the front. Its trace must equal the real one's, event by event.
//!
//! It shares no code with colibri-core but the clock. What it does is meant to be checked by reading, not to be fast.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use colibri_core::ManualClock;

use crate::rules::{Choice, End, Right, Rules, Situation};
use crate::span::nanos;
use crate::subject::{Subject, Turn};
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
    slice: u64,
    quantum: u64,
    upgrade_after_micros: u64,
    tasks: RefCell<BTreeMap<u32, Task>>,
    /// All that are ready, by level: in the order in which they would be picked if there were no other rules.
    own: RefCell<[VecDeque<u32>; 3]>,
    guests: RefCell<[VecDeque<u32>; 3]>,
    guest_before: Cell<[bool; 3]>,
    timers: RefCell<Vec<Timer>>,
    made: Cell<u64>,
    /// Wakes that came while the host had the thread, in order.
    news: RefCell<VecDeque<u32>>,
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

struct Task {
    body: Option<Body>,
    waker: Waker,
    joiner: Option<Waker>,
    class: Class,
    state: State,
    /// The turn was cut: it stands at the head and goes on.
    goes_on: bool,
    paused: bool,
    woken: bool,
    cancelled: bool,
    /// Nanoseconds used of the present turn, with what was carried over.
    used: u64,
    /// Since when it waits, in microseconds.
    since: u64,
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

// Who runs.
impl<R: Rules> Inner<R> {
    fn now(&self) -> u64 {
        self.clock.now().as_nanos()
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
        !self.own.borrow()[class as usize].is_empty() || !self.guests.borrow()[class as usize].is_empty()
    }

    /// Whether something is ready in a class that is served before `level`.
    fn is_outranked(&self, level: Class) -> bool {
        self.rules.classes().into_iter().take_while(|class| *class != level).any(|class| self.is_ready_at(class))
    }

    fn run_slice(self: &Rc<Self>, length: u64) -> Turn {
        self.in_slice.set(true);
        self.slice_end.set(self.now() + length);
        loop {
            let Some(task) = self.news.borrow_mut().pop_front() else { break };
            self.wake(task);
        }
        self.fire_timers();
        self.promote();
        while !self.rules.slice_is_over(self.now(), self.slice_end.get()) && !self.host_asks.get() {
            let Some((task, level)) = self.pick() else { break };
            self.poll(task, level);
            self.fire_timers();
            self.promote();
        }
        self.in_slice.set(false);
        self.host_asks.set(false);
        let first = self.timers.borrow().iter().map(|timer| timer.deadline).min();
        Turn { work_left: self.rules.tells_of_work(self.something_is_ready()), next_timer: first }
    }

    /// The next task, and the level at which it runs.
    fn pick(&self) -> Option<(u32, Class)> {
        loop {
            let level = self.rules.classes().into_iter().find(|class| self.is_ready_at(*class))?;
            let guest = self.choose_guest(level);
            let queue = if guest { &self.guests } else { &self.own };
            let task = queue.borrow_mut()[level as usize].pop_front()?;
            let alone = !self.is_ready_at(level);
            let owes_a_turn = self.with(task, |task| task.used >= self.quantum);
            if owes_a_turn && !guest && !alone {
                // Passed over: this round pays off one quantum.
                self.with(task, |task| task.used -= self.quantum);
                self.own.borrow_mut()[level as usize].push_back(task);
                continue;
            }
            if owes_a_turn && !guest {
                // Nobody is there to whom it could be owed.
                self.with(task, |task| task.used = 0);
            }
            let mut before = self.guest_before.get();
            before[level as usize] = guest;
            self.guest_before.set(before);
            return Some((task, level));
        }
    }

    fn choose_guest(&self, level: Class) -> bool {
        let first = |queue: &RefCell<[VecDeque<u32>; 3]>| queue.borrow()[level as usize].front().copied();
        let Some(guest) = first(&self.guests) else { return false };
        let own = first(&self.own);
        self.rules.takes_guest(&Choice {
            guest_came: self.with(guest, |task| task.since),
            own_came: own.map(|own| self.with(own, |task| task.since)),
            own_goes_on: own.is_some_and(|own| self.with(own, |task| task.goes_on)),
            guest_before: self.guest_before.get()[level as usize],
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
        self.end(task, match polled {
            Err(_) => What::Panicked,
            Ok(_) if self.with(task, |task| task.cancelled) => What::Cancelled,
            Ok(_) => What::Finished,
        });
    }

    fn put_back(&self, task: u32, reason: Option<Why>, level: Class) {
        let again = reason.is_some() || self.with(task, |task| task.woken && self.rules.keeps_wake_while_running());
        let why = reason.unwrap_or(Why::Own);
        let end = self.rules.goes_to(why);
        let paused = self.with(task, |task| {
            task.state = State::Waiting;
            if !again || end == End::Tail {
                task.used = self.rules.carries_over(task.used, self.quantum);
            }
            task.woken = false;
            task.paused
        });
        if !again || paused {
            self.with(task, |task| task.woken = again && self.rules.keeps_wake_while_paused());
            return self.note(task, What::Suspended);
        }
        self.note(task, What::Yielded(why));
        let class = self.with(task, |task| {
            task.state = State::Ready;
            task.since = self.now() / 1_000;
            task.goes_on = end == End::Head;
            task.class
        });
        if !self.rules.guest_goes_home() && level != class {
            return self.guests.borrow_mut()[level as usize].push_back(task);
        }
        let queue = &mut self.own.borrow_mut()[class as usize];
        match end {
            End::Head => queue.push_front(task),
            End::Tail => queue.push_back(task),
        }
    }

    /// The task is over: its future is gone. Whoever awaits it is woken last.
    fn end(&self, task: u32, how: What) {
        self.note(task, how);
        let joiner = self.with(task, |task| {
            task.state = State::Ended;
            task.joiner.take()
        });
        if let Some(waker) = joiner.filter(|_| self.rules.wakes_joiner()) {
            waker.wake();
        }
    }

    /// Charges what passed since the last time to the running task.
    fn charge(&self) {
        let now = self.now();
        let passed = now - self.charged.replace(now);
        if let Some(task) = self.running.get() {
            self.with(task, |task| task.used += passed);
        }
    }

    /// Each level's tasks that have waited too long rise by one, those that waited longest first.
    fn promote(&self) {
        let now = self.now() / 1_000;
        for (level, above) in [(Class::Normal, Class::Immediate), (Class::Idle, Class::Normal)] {
            while let Some(task) = self.overdue(level, now) {
                self.unqueue(task);
                self.with(task, |task| {
                    task.since = now;
                    task.goes_on = false;
                });
                self.guests.borrow_mut()[above as usize].push_back(task);
                self.note(task, What::Promoted(above));
            }
        }
    }

    /// Who has waited longest at this level, if too long.
    fn overdue(&self, level: Class, now: u64) -> Option<u32> {
        let (own, guests) = (self.own.borrow(), self.guests.borrow());
        let (cut, ready) = own[level as usize].iter().partition::<Vec<_>, _>(|task| self.with(**task, |task| task.goes_on));
        // Of those who came in the same microsecond: the round robin, then guests, then cut turns, the oldest first.
        let all = ready.into_iter().chain(&guests[level as usize]).chain(cut.into_iter().rev());
        let longest = all.min_by_key(|task| self.with(**task, |task| task.since)).copied()?;
        let waited = now - self.with(longest, |task| task.since);
        self.rules.rises(waited, self.upgrade_after_micros).then_some(longest)
    }

    fn unqueue(&self, task: u32) {
        for queue in self.own.borrow_mut().iter_mut().chain(self.guests.borrow_mut().iter_mut()) {
            queue.retain(|other| *other != task);
        }
    }
}

// What comes from outside and from tasks.
impl<R: Rules> Inner<R> {
    /// A wake through a waker. While the host has the thread it waits for the next slice.
    fn hear(&self, task: u32) {
        if self.in_slice.get() {
            return self.wake(task);
        }
        let mut news = self.news.borrow_mut();
        if !news.contains(&task) {
            news.push_back(task);
        }
    }

    fn wake(&self, task: u32) {
        let ready = self.with(task, |task| match task.state {
            State::Waiting if !task.paused => true,
            State::Waiting => {
                task.woken = self.rules.keeps_wake_while_paused();
                false
            }
            State::Running => {
                task.woken = true;
                false
            }
            State::Ready => !self.rules.queues_once(),
            State::Ended => false,
        });
        if ready {
            self.enqueue(task);
            self.note(task, What::Woken);
        }
    }

    /// To the tail of its class.
    fn enqueue(&self, task: u32) {
        let class = self.with(task, |task| {
            task.state = State::Ready;
            task.since = self.now() / 1_000;
            task.goes_on = false;
            task.class
        });
        self.own.borrow_mut()[class as usize].push_back(task);
    }

    fn fire_timers(&self) {
        if !self.rules.looks_at_timers(self.something_is_ready()) {
            return;
        }
        loop {
            let timer = {
                let mut timers = self.timers.borrow_mut();
                timers.sort_by(|one, other| {
                    self.rules.timer_order((one.deadline, one.made), (other.deadline, other.made))
                });
                match timers.first() {
                    Some(first) if self.rules.is_due(first.deadline, self.now()) => timers.remove(0),
                    _ => return,
                }
            };
            timer.waker.wake();
        }
    }

    /// At a checkpoint: must the running task give way?
    fn check(&self) -> Option<Why> {
        self.charge();
        self.fire_timers();
        let task = self.running.get()?;
        let (stopped, used) = self.with(task, |task| (task.cancelled || task.paused, task.used));
        self.rules.gives_way(&Situation {
            stopped,
            used,
            quantum: self.quantum,
            host_asks: self.host_asks.get(),
            now: self.now(),
            slice_end: self.slice_end.get(),
            outranked: self.is_outranked(self.running_level.get()),
        })
    }

    fn cancel(&self, task: u32) {
        let state = self.with(task, |task| task.state);
        match state {
            State::Ended => return,
            State::Running => return self.with(task, |task| task.cancelled = true),
            State::Ready if self.rules.cancel_stops() => self.unqueue(task),
            State::Ready | State::Waiting => {}
        }
        if !self.rules.cancel_stops() {
            return self.note(task, What::Cancelled);
        }
        let body = if self.rules.cancel_drops() { self.with(task, |task| task.body.take()) } else { None };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(body)));
        self.end(task, What::Cancelled);
    }

    fn pause(&self, task: u32) {
        let (state, paused) = self.with(task, |task| (task.state, task.paused));
        if state == State::Ended || paused {
            return;
        }
        if state == State::Ready && self.rules.pause_stops() {
            self.unqueue(task);
            self.with(task, |task| {
                task.state = State::Waiting;
                task.woken = self.rules.keeps_wake_while_paused();
            });
        }
        self.with(task, |task| task.paused = true);
        self.note(task, What::Paused);
    }

    fn resume(&self, task: u32) {
        let (state, paused) = self.with(task, |task| (task.state, std::mem::replace(&mut task.paused, false)));
        if state == State::Ended || !paused {
            return;
        }
        self.note(task, What::Resumed);
        if state == State::Waiting && self.with(task, |task| std::mem::replace(&mut task.woken, false)) {
            self.wake(task);
        }
    }

    fn set_class(&self, task: u32, class: Class) {
        let (state, before) = self.with(task, |task| (task.state, task.class));
        if state == State::Ended || before == class {
            return;
        }
        self.with(task, |task| task.class = class);
        match state {
            State::Ready => {
                self.unqueue(task);
                self.enqueue(task);
            }
            State::Running => self.running_level.set(class),
            State::Waiting | State::Ended => {}
        }
    }
}

impl<R: Rules> Subject for Model<R> {
    type Task = u32;

    fn new(settings: &Settings, clock: &ManualClock, recorder: &Recorder) -> Self {
        Model(Rc::new(Inner {
            rules: R::default(),
            clock: clock.clone(),
            recorder: recorder.clone(),
            slice: nanos(settings.slice),
            quantum: nanos(settings.quantum).max(1),
            upgrade_after_micros: nanos(settings.upgrade_after) / 1_000,
            tasks: RefCell::default(),
            own: RefCell::default(),
            guests: RefCell::default(),
            guest_before: Cell::default(),
            timers: RefCell::default(),
            made: Cell::default(),
            news: RefCell::default(),
            running: Cell::default(),
            running_level: Cell::new(Class::Idle),
            charged: Cell::default(),
            reason: Cell::default(),
            in_slice: Cell::default(),
            slice_end: Cell::default(),
            host_asks: Cell::default(),
        }))
    }

    fn spawn<F>(&self, number: u32, class: Class, future: F) -> u32
    where
        F: Future<Output = ()> + 'static,
    {
        let task = Task {
            body: Some(Box::pin(future)),
            waker: bell(&self.0, number),
            joiner: None,
            class,
            state: State::Waiting,
            goes_on: false,
            paused: false,
            woken: false,
            cancelled: false,
            used: 0,
            since: 0,
        };
        self.0.tasks.borrow_mut().insert(number, task);
        self.0.enqueue(number);
        number
    }

    fn run_slice(&self, length: Option<Duration>) -> Turn {
        self.0.run_slice(length.map_or(self.0.slice, nanos))
    }

    async fn checkpoint(&self) {
        let mut gave_way = false;
        poll_fn(|_| {
            if std::mem::replace(&mut gave_way, true) {
                return Poll::Ready(());
            }
            match self.0.check() {
                None => Poll::Ready(()),
                why => {
                    self.0.reason.set(why);
                    Poll::Pending
                }
            }
        })
        .await;
    }

    async fn yield_now(&self) {
        let mut gave_way = false;
        poll_fn(|_| {
            if std::mem::replace(&mut gave_way, true) {
                return Poll::Ready(());
            }
            self.0.reason.set(Some(Why::Own));
            Poll::Pending
        })
        .await;
    }

    async fn sleep(&self, span: Duration) {
        let inner = &self.0;
        let deadline = inner.now().saturating_add(nanos(span));
        let mut key = Registered { inner, made: None };
        poll_fn(|context| {
            if inner.rules.is_due(deadline, inner.now()) {
                return Poll::Ready(());
            }
            let mut timers = inner.timers.borrow_mut();
            if !timers.iter().any(|timer| Some(timer.made) == key.made) {
                inner.made.set(inner.made.get() + 1);
                key.made = Some(inner.made.get());
                timers.push(Timer { deadline, made: inner.made.get(), waker: context.waker().clone() });
            }
            Poll::Pending
        })
        .await;
    }

    fn poll_join(&self, task: &mut u32, context: &mut Context<'_>) -> Poll<()> {
        self.0.with(*task, |task| {
            if task.state == State::Ended {
                return Poll::Ready(());
            }
            task.joiner = Some(context.waker().clone());
            Poll::Pending
        })
    }

    fn cancel(&self, task: &u32) {
        self.0.cancel(*task);
    }

    fn pause(&self, task: &u32) {
        self.0.pause(*task);
    }

    fn resume(&self, task: &u32) {
        self.0.resume(*task);
    }

    fn set_class(&self, task: &u32, class: Class) {
        self.0.set_class(*task, class);
    }

    fn request_yield(&self) {
        self.0.host_asks.set(true);
    }

    fn shutdown(&self) {
        let numbers = self.0.tasks.borrow().keys().copied().collect::<Vec<_>>();
        for number in numbers {
            let body = self.0.with(number, |task| {
                task.state = State::Ended;
                task.body.take()
            });
            let _ = catch_unwind(AssertUnwindSafe(|| drop(body)));
        }
    }
}

/// A timer that is taken out again when its sleep is dropped.
struct Registered<'a, R: Rules> {
    inner: &'a Inner<R>,
    made: Option<u64>,
}

impl<R: Rules> Drop for Registered<'_, R> {
    fn drop(&mut self) {
        self.inner.timers.borrow_mut().retain(|timer| Some(timer.made) != self.made);
    }
}

/// A task's waker: it may be sent anywhere, but finds its model only on the thread where that lives.
struct Bell {
    model: u64,
    task: u32,
}

/// Something that hears bells.
trait Ear {
    fn hear(&self, task: u32);
}

impl<R: Rules> Ear for Inner<R> {
    fn hear(&self, task: u32) {
        Inner::hear(self, task);
    }
}

static BELLS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static EARS: RefCell<BTreeMap<u64, Weak<dyn Ear>>> = const { RefCell::new(BTreeMap::new()) };
}

fn bell<R: Rules>(inner: &Rc<Inner<R>>, task: u32) -> Waker {
    let ear: Rc<dyn Ear> = inner.clone();
    let model = BELLS.fetch_add(1, Ordering::Relaxed);
    EARS.with(|ears| ears.borrow_mut().insert(model, Rc::downgrade(&ear)));
    Waker::from(Arc::new(Bell { model, task }))
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let ear = EARS.with(|ears| ears.borrow().get(&self.model).and_then(Weak::upgrade));
        if let Some(ear) = ear {
            ear.hear(self.task);
        }
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        // The map may be gone when a thread ends; then there is nothing to take out.
        let _ = EARS.try_with(|ears| ears.borrow_mut().remove(&self.model));
    }
}
