//! colibri: the bulk job as an idle task, each query as an immediate one.

use std::rc::Rc;
use std::sync::Arc;

use colibri_core::{Priority, Scheduler, Task};

use super::{Load, Round};
use crate::arrivals::{Arrivals, answer};
use crate::failure::Failure;
use crate::index::{self, Index};

/// The bulk job with the attribute and nothing else.
pub(super) fn round(load: &Load) -> Result<Round, Failure> {
    let scheduler = Scheduler::new();
    let index = Index::shared();
    let (arrivals, queue) = Arrivals::prepare(&load.plan);
    let arrivals = Rc::new(arrivals);

    let queries = scheduler.spawn(
        Priority::Immediate,
        answer(queue, Rc::clone(&index), |query| colibri_core::spawn(Priority::Immediate, query)),
    );
    let bulk = scheduler.spawn(Priority::Idle, {
        let job = index::build_cooperatively(Arc::clone(&load.corpus), Rc::clone(&index));
        let arrivals = Rc::clone(&arrivals);
        async move { super::bulk(job, &arrivals).await }
    });
    scheduler.run();
    let bulk = result(bulk)?;
    let waits = result(queries)?;

    let arrivals = Rc::into_inner(arrivals).expect("the bulk job has ended");
    Ok(Round::of(bulk, waits, arrivals, &index))
}

/// What a task came to, after the scheduler has run all of them.
fn result<T: 'static>(mut task: Task<T>) -> Result<T, Failure> {
    match task.try_take() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(Failure::Run(format!("a task on colibri failed: {error}"))),
        None => Err(Failure::Run("a task on colibri did not end. Please report this.".to_owned())),
    }
}
