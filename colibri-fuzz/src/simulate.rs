//! Workload in, trace out: runs a scheduler on a virtual clock through one workload. It asserts nothing.
//!
//! Tasks simulate work by moving the clock. What comes from outside comes exactly when it is due, also in the
//! middle of a task's step: whoever moves the clock carries it out on the way, as another thread would.

mod task;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;
use std::time::Duration;

use colibri_core::ManualClock;

use self::task::{Alive, life};
use crate::span::nanos;
use crate::subject::{Spec, Subject, Turn};
use crate::trace::{HOST, Recorder, Trace, What};
use crate::workload::{Action, Number, Plan, Punctuality, Step, Workload};

/// A case is cut short after so many polls and passed checkpoints: ten times what the largest drawn case takes.
pub const MOST_STEPS: u64 = 2_000_000;

/// The host gives up after so many turns in a row in which nothing happened: more than any debt of quanta that a
/// task can run up in one step.
const MOST_EMPTY_TURNS: u32 = 10_000;

/// Runs `workload` on a scheduler of kind `S`.
pub fn simulate<S: Subject>(workload: &Workload) -> Trace {
    let clock = ManualClock::new();
    let recorder = Recorder::new(workload.tasks.iter().map(|plan| plan.weight));
    let world = Rc::new(World {
        subject: S::new(&workload.settings, &clock, &recorder),
        clock,
        recorder,
        posts: workload.tasks.iter().map(|_| Post::default()).collect(),
        script: script(workload),
        place: Cell::new(0),
        running: Cell::new(None),
        steps: Cell::new(0),
        nudges: may_nudge(workload),
        workload: workload.clone(),
    });
    world.run();
    world.end();
    world.recorder.take(&workload.settings)
}

/// Everything that happens from outside, by time: arrivals first, then the rest in its order.
fn script(workload: &Workload) -> Vec<(u64, Action)> {
    let arrivals = workload.tasks.iter().enumerate();
    let mut script = arrivals
        .filter_map(|(number, plan)| plan.arrives.map(|at| (nanos(at), Action::Spawn(number))))
        .chain(workload.outside.iter().map(|outside| (nanos(outside.at), outside.action)))
        .collect::<Vec<_>>();
    script.sort_by_key(|(at, _)| *at);
    script
}

/// Whether tasks must keep a waker for those who wake them without a reason.
fn may_nudge(workload: &Workload) -> bool {
    let steps = workload.tasks.iter().flat_map(|plan| &plan.steps);
    steps
        .into_iter()
        .any(|step| matches!(step, Step::Do(Action::Nudge(_)) | Step::WaitDoing(Action::Nudge(_))))
        || workload.outside.iter().any(|outside| matches!(outside.action, Action::Nudge(_)))
}

struct World<S: Subject> {
    subject: S,
    clock: ManualClock,
    recorder: Recorder,
    workload: Workload,
    posts: Vec<Post<S>>,
    script: Vec<(u64, Action)>,
    /// How far the script is done.
    place: Cell<usize>,
    /// The task whose poll is on the stack.
    running: Cell<Option<u32>>,
    steps: Cell<u64>,
    nudges: bool,
}

/// What the simulation keeps for one task.
struct Post<S: Subject> {
    handle: RefCell<Option<S::Task>>,
    spawned: Cell<bool>,
    /// Somebody waits for its end already.
    claimed: Cell<bool>,
    /// Whose end it waits for.
    joins: Cell<Option<u32>>,
    /// Wakes that are meant for it and have not let it go on yet.
    mail: Cell<u32>,
    /// Its waker while it waits for one.
    waiting: RefCell<Option<Waker>>,
    /// Its last waker, for those who wake it for no reason.
    last: RefCell<Option<Waker>>,
    /// Time since its last checkpoint, or since its poll began.
    gap: Cell<u64>,
}

impl<S: Subject> Default for Post<S> {
    fn default() -> Self {
        Post {
            handle: RefCell::default(),
            spawned: Cell::default(),
            claimed: Cell::default(),
            joins: Cell::default(),
            mail: Cell::default(),
            waiting: RefCell::default(),
            last: RefCell::default(),
            gap: Cell::default(),
        }
    }
}

// The host.
impl<S: Subject> World<S> {
    fn run(self: &Rc<Self>) {
        self.advance(0);
        self.take_turns();
        // What still hovers goes on, so that what it kept meanwhile shows. (It may pause itself again.)
        for number in 0..self.posts.len() {
            self.act(Action::Resume(number));
        }
        self.take_turns();
    }

    fn take_turns(self: &Rc<Self>) {
        let host = &self.workload.host;
        let (mut turns, mut timers, mut empty, mut early) = (0, 0, 0, false);
        loop {
            let length = pick(&host.turns, turns).copied();
            let before = self.recorder.len();
            self.note(HOST, What::SliceStarted(nanos(length.unwrap_or(self.workload.settings.slice))));
            let Turn { work_left, next_timer } = self.subject.run_slice(length);
            self.note(HOST, What::SliceEnded { work_left, next_timer: next_timer.unwrap_or(u64::MAX) });
            empty = if self.recorder.len() == before + 2 { empty + 1 } else { 0 };
            if empty > MOST_EMPTY_TURNS || self.is_cut_short() {
                self.note(HOST, What::CutShort);
                return;
            }
            turns += 1;
            if work_left {
                self.advance(pick(&host.away, turns - 1).copied().map_or(0, nanos));
                continue;
            }
            let (now, next) = (self.now(), self.script.get(self.place.get()).map(|(at, _)| *at));
            let Some(timer) = next_timer.filter(|timer| next.is_none_or(|next| *timer <= next)) else {
                match next {
                    Some(next) => self.advance(next.saturating_sub(now)),
                    None => return,
                }
                continue;
            };
            let come = match pick(&host.timers, timers) {
                Some(Punctuality::Early(by)) if !early => timer.saturating_sub(nanos(*by)),
                Some(Punctuality::Late(by)) => timer + nanos(*by),
                _ => timer,
            };
            // Coming early is half a visit: the next one is in time, and then the list goes on.
            early = come < timer;
            timers += usize::from(!early);
            self.advance(come.saturating_sub(now));
        }
    }

    /// Shuts down, and lets go of all handles.
    fn end(&self) {
        self.note(HOST, What::ShutDown);
        self.recorder.stop_decisions();
        self.subject.shutdown();
        for post in &self.posts {
            // Taken out first: a drop may look at its neighbours.
            let handle = post.handle.borrow_mut().take();
            drop(handle);
            let wakers = (post.waiting.borrow_mut().take(), post.last.borrow_mut().take());
            drop(wakers);
        }
    }

    fn is_cut_short(&self) -> bool {
        self.steps.get() >= MOST_STEPS
    }
}

/// Lists of a host are gone through again and again.
fn pick<T>(list: &[T], turn: usize) -> Option<&T> {
    list.get(turn % list.len().max(1))
}

// Time and actions.
impl<S: Subject> World<S> {
    #[inline]
    fn now(&self) -> u64 {
        self.clock.now().as_nanos()
    }

    #[inline]
    fn note(&self, task: u32, what: What) {
        self.recorder.note(self.now(), task, what);
    }

    /// Moves the clock on by so many nanoseconds and carries out what comes on the way.
    fn advance(self: &Rc<Self>, by: u64) {
        let end = self.now().saturating_add(by);
        while let Some((at, action)) = self.script.get(self.place.get()).filter(|(at, _)| *at <= end) {
            self.place.set(self.place.get() + 1);
            self.clock.advance(Duration::from_nanos(at.saturating_sub(self.now())));
            self.act(*action);
        }
        self.clock.advance(Duration::from_nanos(end - self.now()));
    }

    fn post(&self, number: Number) -> (u32, &Post<S>) {
        let place = self.workload.resolve(number);
        (place as u32, &self.posts[place])
    }

    fn act(self: &Rc<Self>, action: Action) {
        match action {
            Action::Spawn(number) => self.spawn(number),
            Action::Wake(number) => {
                let (task, post) = self.post(number);
                post.mail.set(post.mail.get() + 1);
                self.note(task, What::Signalled);
                let waker = post.waiting.borrow_mut().take();
                if let Some(waker) = waker {
                    waker.wake();
                }
            }
            Action::Nudge(number) => {
                let (task, post) = self.post(number);
                let waker = post.last.borrow().clone();
                if let Some(waker) = waker {
                    self.note(task, What::Nudged);
                    waker.wake();
                }
            }
            Action::Cancel(number) => self.with_handle(number, |world, task, handle| {
                world.note(task, What::CancelCalled);
                world.subject.cancel(handle);
                world.note(task, What::CancelReturned);
            }),
            Action::Pause(number) => self.with_handle(number, |world, task, handle| {
                world.note(task, What::PauseCalled);
                world.subject.pause(handle);
            }),
            Action::Resume(number) => self.with_handle(number, |world, task, handle| {
                world.note(task, What::ResumeCalled);
                world.subject.resume(handle);
            }),
            Action::SetClass(number, class) => self.with_handle(number, |world, task, handle| {
                world.note(task, What::Moved(class));
                world.subject.set_class(handle, class);
            }),
            Action::RequestYield => {
                self.note(HOST, What::YieldRequested);
                self.subject.request_yield();
            }
        }
    }

    fn with_handle(&self, number: Number, f: impl FnOnce(&Self, u32, &S::Task)) {
        let (task, post) = self.post(number);
        if let Some(handle) = post.handle.borrow().as_ref() {
            f(self, task, handle);
        }
    }

    fn spawn(self: &Rc<Self>, number: Number) {
        let (task, post) = self.post(number);
        if !post.spawned.replace(true) && !self.is_cut_short() {
            let Plan { class, weight, .. } = self.workload.tasks[task as usize];
            let spec = Spec { number: task, class, weight: weight.max(1) };
            self.note(task, What::Spawned(class));
            let future = life(Alive { world: self.clone(), task });
            let handle = self.subject.spawn(spec, future);
            *post.handle.borrow_mut() = Some(handle);
        }
    }
}
