//! A task of a simulation: its life, its polls, its steps.

use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::{Post, World};
use crate::span::nanos;
use crate::subject::{Skill, Subject, race};
use crate::trace::{What, Why};
use crate::workload::{Action, Number, Step};

/// A task's presence in the world; it notes when its future is dropped.
pub(super) struct Alive<S: Subject> {
    pub(super) world: Rc<World<S>>,
    pub(super) task: u32,
}

impl<S: Subject> Drop for Alive<S> {
    fn drop(&mut self) {
        let Alive { world, task } = self;
        world.note(*task, What::Dropped);
        world.posts[*task as usize].dropped.set(true);
        world.posts[*task as usize].seen.is_gone();
        // A panic in a destructor that runs because of a panic would end the program, whoever calls it.
        if world.workload.tasks[*task as usize].bad_drop && !std::thread::panicking() {
            world.note(*task, What::Panics);
            resume_unwind(Box::new("a planned panic in a destructor"));
        }
    }
}

/// A task: its steps, with each poll noted.
pub(super) async fn life<S: Subject>(alive: Alive<S>) {
    let mut steps = pin!(steps(&alive));
    poll_fn(|context| {
        let poll = Polling::begin(&alive);
        if alive.world.is_cut_short() {
            return poll.end(Poll::Ready(()));
        }
        let post = alive.post();
        let done = if S::OBSERVED {
            if alive.world.nudges {
                *post.last.borrow_mut() = Some(context.waker().clone());
            }
            steps.as_mut().poll(context)
        } else {
            let bell = post.seen.begin(context.waker());
            if alive.world.nudges {
                *post.last.borrow_mut() = Some(bell.clone());
            }
            steps.as_mut().poll(&mut Context::from_waker(&bell))
        };
        poll.end(done)
    })
    .await;
}

/// Wakes, and then panics, as careless code may.
struct BadWaker(Waker);

impl Wake for BadWaker {
    fn wake(self: Arc<Self>) {
        self.0.wake_by_ref();
        resume_unwind(Box::new("a planned panic in a waker"));
    }
}

/// Who does not wait any more is not woken for it.
struct Waits<'a, S: Subject>(&'a Post<S>);

impl<S: Subject> Drop for Waits<'_, S> {
    fn drop(&mut self) {
        let waker = self.0.waiting.borrow_mut().take();
        drop(waker);
    }
}

/// One poll of one task. Dropping it ends the poll, so that a panic does too.
struct Polling<'a, S: Subject> {
    alive: &'a Alive<S>,
    outer: Option<u32>,
    ended: bool,
}

impl<'a, S: Subject> Polling<'a, S> {
    fn begin(alive: &'a Alive<S>) -> Self {
        let Alive { world, task } = alive;
        world.steps.set(world.steps.get() + 1);
        let outer = world.running.replace(Some(*task));
        world.posts[*task as usize].gap.set(0);
        if !S::OBSERVED {
            world.note(*task, What::Started(world.workload.tasks[*task as usize].class));
        }
        if outer.is_some() || world.recorder.running() != Some(*task) {
            world.note(*task, What::Impostor);
        }
        Polling { alive, outer, ended: false }
    }

    fn end(mut self, poll: Poll<()>) -> Poll<()> {
        self.ended = true;
        if !S::OBSERVED {
            let what = if poll.is_ready() { What::Finished } else { self.alive.post().seen.end() };
            self.alive.note(what);
        }
        poll
    }
}

impl<S: Subject> Drop for Polling<'_, S> {
    fn drop(&mut self) {
        self.alive.world.running.set(self.outer);
        if !S::OBSERVED && !self.ended {
            self.alive.note(What::Panicked);
        }
    }
}

async fn steps<S: Subject>(alive: &Alive<S>) {
    let plan = &alive.world.workload.tasks[alive.task as usize];
    for _ in 0..plan.rounds {
        for step in &plan.steps {
            alive.step(step).await;
        }
    }
}

impl<S: Subject> Alive<S> {
    fn post(&self) -> &Post<S> {
        &self.world.posts[self.task as usize]
    }

    fn note(&self, what: What) {
        self.world.note(self.task, what);
    }

    async fn step(&self, step: &Step) {
        let world = &self.world;
        match step {
            Step::Work { total, gap } => self.work(nanos(*total), nanos(*gap).max(1)).await,
            Step::Hold(total) => self.compute(nanos(*total)),
            Step::Yield => self.give_way(Why::Own, world.subject.yield_now()).await,
            Step::Sleep(span) => {
                self.note(What::Sleeps(world.now().saturating_add(nanos(*span))));
                self.sleep(*span).await;
                self.note(What::Slept);
            }
            Step::Within { limit, step } => self.within(*limit, step).await,
            Step::Wait => self.wait(None).await,
            Step::WaitDoing(action) => self.wait(Some(*action)).await,
            Step::Join(of) => self.join(*of).await,
            Step::Do(action) => world.act(*action),
            Step::Panic => {
                self.note(What::Panics);
                // No message on the terminal: resuming does not call the panic hook.
                resume_unwind(Box::new("a planned panic"))
            }
        }
    }

    async fn work(&self, mut left: u64, gap: u64) {
        loop {
            let piece = left.min(gap);
            self.compute(piece);
            left -= piece;
            self.world.steps.set(self.world.steps.get() + 1);
            self.give_way(Why::Checkpoint, self.world.subject.checkpoint()).await;
            self.post().gap.set(0);
            if left == 0 || self.world.is_cut_short() {
                return;
            }
        }
    }

    fn compute(&self, span: u64) {
        // By the scheduler's own time, which may jump.
        let before = self.world.now();
        self.world.advance(span);
        let gap = &self.post().gap;
        gap.set(gap.get() + (self.world.now() - before));
        self.world.recorder.gap(self.task, gap.get());
    }

    /// A point at which the scheduler may stop this task, though it could go on.
    async fn give_way(&self, why: Why, point: impl Future<Output = ()>) {
        let mut point = pin!(point);
        poll_fn(|context| {
            let poll = point.as_mut().poll(context);
            if !S::OBSERVED && poll.is_pending() {
                self.post().seen.gives_way(why);
            }
            poll
        })
        .await;
    }

    async fn sleep(&self, span: Duration) {
        let world = &self.world;
        if S::SKILLS.contains(&Skill::Timers) {
            let mut sleep = pin!(world.subject.sleep(span));
            return poll_fn(|context| self.poll_with_its_waker(sleep.as_mut(), context)).await;
        }
        let end = world.now().saturating_add(nanos(span));
        let mut alarm = None;
        poll_fn(|context| {
            if world.now() >= end {
                return Poll::Ready(());
            }
            alarm.get_or_insert_with(|| world.time.alarm(end, context.waker().clone()));
            Poll::Pending
        })
        .await;
    }

    fn poll_with_its_waker(
        &self,
        future: Pin<&mut impl Future<Output = ()>>,
        context: &Context<'_>,
    ) -> Poll<()> {
        future.poll(&mut Context::from_waker(&self.its_waker(context)))
    }

    /// The waker with which it sleeps and awaits others' ends.
    fn its_waker(&self, context: &Context<'_>) -> Waker {
        let waker = context.waker().clone();
        let bad = self.world.workload.tasks[self.task as usize].bad_waker;
        if bad { Arc::new(BadWaker(waker)).into() } else { waker }
    }

    async fn within(&self, limit: Duration, step: &Step) {
        if let Step::Join(_) | Step::Within { .. } = step {
            return;
        }
        self.note(What::Limits(self.world.now().saturating_add(nanos(limit))));
        let step = async {
            // Boxed, since a step may hold a step.
            let step: Pin<Box<dyn Future<Output = ()> + '_>> = Box::pin(self.step(step));
            step.await;
        };
        let done = if S::SKILLS.contains(&Skill::Timers) {
            self.world.subject.within(limit, step).await
        } else {
            race(self.sleep(limit), step).await
        };
        self.note(if done { What::InTime } else { What::TimedOut });
    }

    async fn wait(&self, mut meanwhile: Option<Action>) {
        let post = self.post();
        self.note(What::Waits);
        let _waits = Waits(post);
        poll_fn(|context| match post.mail.get().checked_sub(1) {
            Some(rest) => {
                post.mail.set(rest);
                Poll::Ready(())
            }
            None => {
                // The old one is dropped after the borrow: that may run foreign code.
                let old = post.waiting.borrow_mut().replace(context.waker().clone());
                drop(old);
                if let Some(action) = meanwhile.take() {
                    self.world.act(action);
                }
                Poll::Pending
            }
        })
        .await;
        self.note(What::Received);
    }

    async fn join(&self, of: Number) {
        let (other, post) = self.world.post(of);
        // A handle can be awaited by one only, and nobody waits for itself, by whatever way round.
        if self.waits_for_me(other) || post.handle.borrow().is_none() || post.claimed.replace(true) {
            return;
        }
        self.post().joins.set(Some(other));
        self.note(What::Joins(other));
        poll_fn(|context| match post.handle.borrow_mut().as_mut() {
            Some(handle) => {
                let waker = self.its_waker(context);
                self.world.subject.poll_join(handle, &mut Context::from_waker(&waker))
            }
            None => Poll::Ready(()),
        })
        .await;
        self.post().joins.set(None);
        self.note(What::Joined(other));
    }

    fn waits_for_me(&self, other: u32) -> bool {
        let mut next = Some(other);
        while let Some(task) = next.filter(|task| *task != self.task) {
            next = self.world.posts[task as usize].joins.get();
        }
        next.is_some()
    }
}
