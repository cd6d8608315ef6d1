//! Workload in, trace out: runs a scheduler on a virtual clock through one workload. It asserts nothing.
//!
//! Tasks simulate work by moving time. What comes from outside comes exactly when it is due, also in the
//! middle of a task's step: whoever moves time carries it out on the way, as another thread would.

mod seen;
mod task;
mod time;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::Waker;

use colibri_core::ManualClock;

use self::seen::Seen;
use self::task::{Alive, life};
use self::time::Time;
use crate::span::nanos;
use crate::subject::{Spec, Subject, Turn};
use crate::trace::{HOST, Recorder, Trace, What};
use crate::workload::{Action, Number, Plan, Punctuality, Step, Workload};

/// A case is cut short after so many polls and passed checkpoints: ten times what the largest drawn case takes.
pub const MOST_STEPS: u64 = 2_000_000;

/// The host gives up after so many turns in a row in which nothing happened: more than any debt of quanta that a
/// task can run up in one step.
const MOST_EMPTY_TURNS: u32 = 10_000;

/// Runs `workload` on a scheduler of kind `S`, without what that does not offer.
pub fn simulate<S: Subject>(workload: &Workload) -> Trace {
    let workload = workload.for_skills(S::SKILLS);
    let clock = ManualClock::new();
    let recorder = Recorder::new(workload.tasks.iter().map(|plan| plan.weight));
    let world = Rc::new_cyclic(|world| World {
        subject: S::new(&workload.settings, &clock, &recorder),
        time: Time::new(clock, &workload),
        recorder,
        posts: workload.tasks.iter().map(|_| Post::default()).collect(),
        submitted: Default::default(),
        running: Cell::new(None),
        steps: Cell::new(0),
        activity: Cell::new(0),
        asked: Cell::new(0),
        nudges: may_nudge(&workload),
        itself: world.clone(),
        workload,
    });
    world.run();
    world.end();
    let mut trace = world.recorder.take(&world.workload.settings);
    trace.true_clock = world.workload.clock.is_none();
    trace
}

/// Whether tasks must keep a waker for those who wake them without a reason.
fn may_nudge(workload: &Workload) -> bool {
    let mut steps = workload.tasks.iter().flat_map(|plan| &plan.steps).map(Step::innermost);
    steps.any(|step| matches!(step, Step::Do(Action::Nudge(_)) | Step::WaitDoing(Action::Nudge(_))))
        || workload.outside.iter().any(|outside| matches!(outside.action, Action::Nudge(_)))
}

/// So many turns in a row in which nothing happens are nothing unusual.
const PATIENT_TURNS: u32 = 16;

/// After that the host comes back after at most 2^20 ns (1 ms) more than it was told of, when nothing happened again and again.
const MOST_PATIENCE_BITS: u32 = 20;

/// A submitted task's number, and its handle if the scheduler does not keep that.
type Submitted<S> = (u32, Option<<S as Subject>::Task>);

struct World<S: Subject> {
    subject: S,
    time: Time,
    recorder: Recorder,
    workload: Workload,
    posts: Vec<Post<S>>,
    /// By class, what was submitted last, and its handle if there is one.
    submitted: [RefCell<Option<Submitted<S>>>; 3],
    /// The task whose poll is on the stack.
    running: Cell<Option<u32>>,
    steps: Cell<u64>,
    /// What the host is doing.
    activity: Cell<usize>,
    /// How often the host was asked for a turn.
    asked: Cell<u64>,
    nudges: bool,
    itself: std::rc::Weak<Self>,
}

/// What the simulation keeps for one task.
struct Post<S: Subject> {
    handle: RefCell<Option<S::Task>>,
    spawned: Cell<bool>,
    /// Its future is gone.
    dropped: Cell<bool>,
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
    /// What can be seen of it from outside, for schedulers that do not tell.
    seen: Seen,
}

impl<S: Subject> Default for Post<S> {
    fn default() -> Self {
        Post {
            handle: RefCell::default(),
            spawned: Cell::default(),
            dropped: Cell::default(),
            claimed: Cell::default(),
            joins: Cell::default(),
            mail: Cell::default(),
            waiting: RefCell::default(),
            last: RefCell::default(),
            gap: Cell::default(),
            seen: Seen::default(),
        }
    }
}

// The host.
impl<S: Subject> World<S> {
    fn run(&self) {
        self.advance(0);
        self.take_turns();
        // What still hovers goes on, so that what it kept meanwhile shows. (It may pause itself again.)
        self.note(HOST, What::LastResumes);
        for number in 0..self.posts.len() {
            self.act(Action::Resume(number));
        }
        self.take_turns();
    }

    fn take_turns(&self) {
        let host = &self.workload.host;
        let (mut turns, mut timers, mut empty, mut early) = (0, 0, 0, false);
        loop {
            let length = pick(&host.turns, turns).copied();
            let before = self.recorder.len();
            let usual = self.workload.settings.slice_while(self.activity.get());
            self.note(HOST, What::SliceStarted(nanos(length.unwrap_or(usual))));
            let Turn { work_left, next_timer } = self.subject.run_slice(length);
            let next_timer = next_timer.or(self.time.next_alarm());
            let work_left =
                if S::OBSERVED { work_left } else { self.posts.iter().any(|post| post.seen.is_ready()) };
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
            let now = self.now();
            // What comes from outside comes after so much time, whatever the clock shows.
            let next = self.time.until_next();
            let Some(timer) =
                next_timer.filter(|timer| next.is_none_or(|next| timer.saturating_sub(now) <= next))
            else {
                match next {
                    Some(next) => self.advance(next),
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
            // On a coarse clock it is too early until the next tick; on one that stands still the host loses its patience.
            let patience = 1u64 << empty.saturating_sub(PATIENT_TURNS).min(MOST_PATIENCE_BITS);
            self.advance(come.saturating_sub(now).max(self.time.until_tick()).max(patience - 1));
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
        for submitted in &self.submitted {
            let submitted = submitted.borrow_mut().take();
            drop(submitted);
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
        self.subject.now(&self.time.clock)
    }

    #[inline]
    fn note(&self, task: u32, what: What) {
        self.recorder.note(self.now(), task, what);
    }

    /// Moves time on by so many nanoseconds and carries out what comes on the way.
    fn advance(&self, by: u64) {
        let end = self.time.elapsed().saturating_add(by);
        while let Some(next) = self.time.next_until(end) {
            match next {
                time::Next::Action(action) => self.act(action),
                time::Next::Alarm(waker) => waker.wake(),
            }
        }
    }

    fn post(&self, number: Number) -> (u32, &Post<S>) {
        let place = self.workload.resolve(number);
        (place as u32, &self.posts[place])
    }

    fn act(&self, action: Action) {
        self.carry_out(action);
        let asked = self.subject.asked();
        for _ in self.asked.replace(asked)..asked {
            self.note(HOST, What::Asked);
        }
    }

    fn carry_out(&self, action: Action) {
        match action {
            Action::Spawn(number) => self.spawn(number),
            Action::SpawnFromAfar(number) => self.spawn_from_afar(number),
            Action::Submit(number) => self.submit(number),
            Action::Wake(number) => {
                if let Some(waker) = self.signal(number) {
                    waker.wake();
                }
            }
            Action::WakeFromAfar(number) => {
                if let Some(waker) = self.signal(number) {
                    // A bell is heard on this thread only.
                    if S::OBSERVED { self.subject.wake_from_afar(waker) } else { waker.wake() }
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
            Action::SetActivity(activity) => {
                self.activity.set(activity);
                self.subject.set_activity(activity);
            }
        }
    }

    /// A wake that is meant for this task: the waker to call, if it waits.
    fn signal(&self, number: Number) -> Option<Waker> {
        let (task, post) = self.post(number);
        post.mail.set(post.mail.get() + 1);
        self.note(task, What::Signalled);
        post.waiting.borrow_mut().take()
    }

    fn with_handle(&self, number: Number, f: impl FnOnce(&Self, u32, &mut S::Task)) {
        let (task, post) = self.post(number);
        if let Some(handle) = post.handle.borrow_mut().as_mut() {
            f(self, task, handle);
        }
    }

    fn spawn(&self, number: Number) {
        let Some((spec, life)) = self.birth(number) else { return };
        let post = &self.posts[spec.number as usize];
        let handle = self.subject.spawn(spec, life);
        if post.dropped.get() {
            return self.note(spec.number, What::Refused);
        }
        *post.handle.borrow_mut() = Some(handle);
    }

    fn spawn_from_afar(&self, number: Number) {
        if !self.is_plain(number) {
            return;
        }
        let Some((spec, life)) = self.conceive(number) else { return };
        self.note(spec.number, What::Sent);
        if !self.subject.spawn_from_afar(spec, life) {
            self.note(spec.number, What::Refused);
        }
    }

    /// Whether it has neither a weight nor a deadline, which only a builder can give it.
    fn is_plain(&self, number: Number) -> bool {
        let Plan { weight, deadline, .. } = self.workload.tasks[self.workload.resolve(number)];
        weight <= 1 && deadline.is_none()
    }

    fn submit(&self, number: Number) {
        if !self.is_plain(number) {
            return;
        }
        let Some((spec, life)) = self.birth(number) else { return };
        let place = &self.submitted[spec.class as usize];
        let before = place.borrow_mut().take();
        let (old, handle) = before.map_or((None, None), |(old, handle)| (Some(old), handle));
        if let Some(old) = old {
            self.note(old, What::CancelCalled);
        }
        let handle = self.subject.submit(spec, life, handle);
        if let Some(old) = old {
            self.note(old, What::CancelReturned);
        }
        let refused = self.posts[spec.number as usize].dropped.get();
        if refused {
            self.note(spec.number, What::Refused);
        }
        *place.borrow_mut() = Some((spec.number, handle.filter(|_| !refused)));
    }

    /// A task that has not been spawned yet, with its life before it.
    fn conceive(&self, number: Number) -> Option<(Spec, impl Future<Output = ()> + use<S>)> {
        let (task, post) = self.post(number);
        if post.spawned.replace(true) || self.is_cut_short() {
            return None;
        }
        let Plan { class, weight, deadline, .. } = self.workload.tasks[task as usize];
        let spec = Spec { number: task, class, weight: weight.max(1), deadline };
        let world = self.itself.upgrade()?;
        if !S::OBSERVED {
            post.seen.hang(world.clone(), task);
        }
        Some((spec, life(Alive { world, task })))
    }

    /// The same, noted as spawned here and now.
    fn birth(&self, number: Number) -> Option<(Spec, impl Future<Output = ()> + use<S>)> {
        let (spec, life) = self.conceive(number)?;
        self.note(spec.number, What::Spawned(spec.class));
        if let Some(deadline) = spec.deadline {
            self.note(spec.number, What::Due(self.now().saturating_add(nanos(deadline))));
        }
        Some((spec, life))
    }
}
