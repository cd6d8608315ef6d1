//! How a kernel is run each way.

use std::task::{Context, Poll, Waker};

use colibri_core::{Budget, Priority, Scheduler, with_budget};
use tokio::runtime::{Builder, LocalOptions, LocalRuntime};

use super::{BUDGET, Done, Subject, Way};
use crate::failure::Failure;
use crate::kernels::{Boxed, Outcome, Started, Work};
use crate::measure::{Used, Watch};

/// Who runs the tasks.
#[derive(Debug)]
pub(crate) struct Hosts {
    scheduler: Scheduler,
    tokio: LocalRuntime,
}

impl Default for Hosts {
    fn default() -> Self {
        let tokio = Builder::new_current_thread()
            .build_local(LocalOptions::default())
            .expect("a runtime without drivers needs nothing of the system");
        Self { scheduler: Scheduler::new(), tokio }
    }
}

impl<W: Work, R: Outcome> Started<W, R> {
    /// The work as it was at first.
    fn fresh(&mut self) -> &mut W {
        let work = self.work.as_mut().expect("a task that had it has given it back");
        work.reset();
        work
    }

    fn done(&self, used: Used, result: &R) -> Done {
        Done { used, outcome: self.outcome(result) }
    }

    fn outcome(&self, result: &R) -> u64 {
        let trace = self.work.as_ref().expect("a task that had it has given it back").trace();
        result.bits().rotate_left(17) ^ trace
    }

    /// The work in a task of its own, which hands it back.
    fn task(&mut self, way: for<'w> fn(&'w mut W) -> Boxed<'w, R>) -> impl Future<Output = (R, W)> + 'static {
        self.fresh();
        let mut work = self.work.take().expect("it was there just now");
        async move {
            let result = way(&mut work).await;
            (result, work)
        }
    }

    fn run_plain(&mut self) -> (Used, R) {
        let plain = self.ways.plain;
        let work = self.fresh();
        let watch = Watch::start();
        let result = plain(work);
        (watch.stop(), result)
    }

    fn run_polled(&mut self) -> (Used, R) {
        let cooperative = self.ways.cooperative;
        let work = self.fresh();
        let watch = Watch::start();
        let result = poll_in_slices(cooperative(work), Budget::time(BUDGET), |poll| poll());
        (watch.stop(), result)
    }

    fn run_scheduled(&mut self, scheduler: &Scheduler) -> Result<(Used, R), Failure> {
        let task = self.task(self.ways.cooperative);
        let watch = Watch::start();
        let mut task = scheduler.spawn(Priority::Normal, task);
        scheduler.run();
        let used = watch.stop();
        match task.try_take() {
            Some(Ok((result, work))) => {
                self.work = Some(work);
                Ok((used, result))
            }
            Some(Err(error)) => Err(Failure::Run(format!("a task on colibri failed: {error}"))),
            None => Err(Failure::Run("a task on colibri did not end. Please report this.".to_owned())),
        }
    }

    fn run_on_tokio(
        &mut self,
        way: for<'w> fn(&'w mut W) -> Boxed<'w, R>,
        tokio: &LocalRuntime,
    ) -> Result<(Used, R), Failure> {
        let task = self.task(way);
        let watch = Watch::start();
        let ended = tokio.block_on(tokio.spawn_local(task));
        let used = watch.stop();
        let (result, work) =
            ended.map_err(|error| Failure::Run(format!("a task on tokio failed: {error}")))?;
        self.work = Some(work);
        Ok((used, result))
    }
}

impl<W: Work, R: Outcome> Subject for Started<W, R> {
    fn run(&mut self, way: Way, hosts: &Hosts) -> Result<Done, Failure> {
        let (used, result) = match way {
            Way::Plain => self.run_plain(),
            Way::Cooperative => self.run_polled(),
            Way::Scheduled => self.run_scheduled(&hosts.scheduler)?,
            Way::Consuming => self.run_on_tokio(self.ways.consuming, &hosts.tokio)?,
            Way::Yielding => self.run_on_tokio(self.ways.yielding, &hosts.tokio)?,
        };
        Ok(self.done(used, &result))
    }

    fn run_in_slices(&mut self, budget: Budget, slice: &mut dyn FnMut(Used)) -> u64 {
        let cooperative = self.ways.cooperative;
        let future = cooperative(self.fresh());
        let result = poll_in_slices(future, budget, |poll| {
            let watch = Watch::start();
            let polled = poll();
            let used = watch.stop();
            if polled.is_pending() {
                slice(used);
            }
            polled
        });
        self.outcome(&result)
    }
}

/// Polls `future` to its end, `budget` for each poll; `around` stands around each.
fn poll_in_slices<R>(
    mut future: Boxed<'_, R>,
    budget: Budget,
    mut around: impl FnMut(&mut dyn FnMut() -> Poll<R>) -> Poll<R>,
) -> R {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        let polled = around(&mut || with_budget(budget, || future.as_mut().poll(&mut context)));
        if let Poll::Ready(result) = polled {
            return result;
        }
    }
}
