//! A task of a simulation: its life, its polls, its steps.

use std::future::{Future, poll_fn};
use std::panic::resume_unwind;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;

use super::{Post, World};
use crate::span::nanos;
use crate::subject::Subject;
use crate::trace::What;
use crate::workload::{Action, Number, Step};

/// A task's presence in the world; it notes when its future is dropped.
pub(super) struct Alive<S: Subject> {
    pub(super) world: Rc<World<S>>,
    pub(super) task: u32,
}

impl<S: Subject> Drop for Alive<S> {
    fn drop(&mut self) {
        self.world.note(self.task, What::Dropped);
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
        if alive.world.nudges {
            *alive.world.posts[alive.task as usize].last.borrow_mut() = Some(context.waker().clone());
        }
        let done = steps.as_mut().poll(context);
        poll.end(done)
    })
    .await;
}

/// One poll of one task. Dropping it ends the poll, so that a panic does too.
struct Polling<'a, S: Subject> {
    alive: &'a Alive<S>,
    outer: Option<u32>,
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
        Polling { alive, outer }
    }

    fn end(self, poll: Poll<()>) -> Poll<()> {
        if !S::OBSERVED {
            self.alive
                .world
                .note(self.alive.task, if poll.is_ready() { What::Finished } else { What::Suspended });
        }
        poll
    }
}

impl<S: Subject> Drop for Polling<'_, S> {
    fn drop(&mut self) {
        self.alive.world.running.set(self.outer);
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
            Step::Yield => world.subject.yield_now().await,
            Step::Sleep(span) => {
                self.note(What::Sleeps(world.now().saturating_add(nanos(*span))));
                world.subject.sleep(*span).await;
                self.note(What::Slept);
            }
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
            self.world.subject.checkpoint().await;
            self.post().gap.set(0);
            if left == 0 || self.world.is_cut_short() {
                return;
            }
        }
    }

    fn compute(&self, span: u64) {
        self.world.advance(span);
        let gap = &self.post().gap;
        gap.set(gap.get() + span);
        self.world.recorder.gap(self.task, gap.get());
    }

    async fn wait(&self, mut meanwhile: Option<Action>) {
        let post = self.post();
        self.note(What::Waits);
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
            Some(handle) => self.world.subject.poll_join(handle, context),
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
