//! Executors of one thread, as `ops` and `scale` need them: each with what it does best, and nothing that it has not.

mod async_executor;
mod async_task;
mod colibri;
mod futures;
mod tokio;

use std::cell::{Cell, RefCell};
use std::fmt::Debug;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};
use std::time::Duration;

pub(crate) use self::async_executor::LocalExecutor;
pub(crate) use self::async_task::Deque;
pub(crate) use self::colibri::{Colibri, priority};
pub(crate) use self::futures::Pool;
pub(crate) use self::tokio::{CurrentThread, LocalSet};

/// An executor of one thread; clones stand for the same one.
pub(crate) trait Executor: Clone + Debug + 'static {
    /// A task's output, some time.
    type Handle<T: 'static>: Future<Output = T> + 'static;

    /// Whether wakes may come from other threads.
    const HAS_REMOTE_WAKES: bool = true;
    /// Whether it has timers of its own.
    const HAS_TIMERS: bool = false;
    /// Whether a task can be paused, and moved to another class.
    const HAS_PAUSE: bool = false;
    /// Whether a task can have an [`Extra`].
    const HAS_EXTRAS: bool = false;

    /// One without tasks.
    fn new() -> Self;

    /// The same without timers, where it is quicker without.
    fn without_timers() -> Self {
        Self::new()
    }

    /// Starts a task.
    fn spawn<T: 'static>(&self, future: impl Future<Output = T> + 'static) -> Self::Handle<T> {
        self.spawn_as(Class::Normal, future)
    }

    /// Starts a task of this class, where there are classes.
    fn spawn_as<T: 'static>(
        &self,
        class: Class,
        future: impl Future<Output = T> + 'static,
    ) -> Self::Handle<T>;

    /// With [`HAS_EXTRAS`](Executor::HAS_EXTRAS): starts a task that has one.
    fn spawn_with(&self, _extra: Extra, future: impl Future<Output = ()> + 'static) -> Self::Handle<()> {
        self.spawn(future)
    }

    /// Gives the handle up; the task runs on.
    fn detach<T: 'static>(handle: Self::Handle<T>) {
        drop(handle);
    }

    /// Ends the task; its future is dropped at once or when the executor next runs.
    fn cancel<T: 'static>(handle: Self::Handle<T>);

    /// Runs `future`, and the tasks beside it, until it is done.
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T;

    /// Gives way once, as its own users do.
    fn yield_now() -> impl Future<Output = ()> + 'static {
        let mut gave_way = false;
        poll_fn(move |context| {
            if std::mem::replace(&mut gave_way, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
    }

    /// With [`HAS_TIMERS`](Executor::HAS_TIMERS): a timer.
    fn sleep(_duration: Duration) -> impl Future<Output = ()> + 'static {
        std::future::pending()
    }

    /// With [`HAS_PAUSE`](Executor::HAS_PAUSE): stops a task and lets it go on.
    fn pause_and_resume<T: 'static>(_handle: &Self::Handle<T>) {}

    /// With [`HAS_PAUSE`](Executor::HAS_PAUSE): moves a task to another class and back.
    fn move_and_return<T: 'static>(_handle: &Self::Handle<T>) {}
}

/// What a task may have that most have not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extra {
    /// A name.
    Name,
    /// A weight.
    Weight,
    /// A deadline.
    Deadline,
    /// An account of what it uses.
    Account,
}

impl Extra {
    /// What it is called in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Extra::Name => "a name",
            Extra::Weight => "a weight",
            Extra::Deadline => "a deadline",
            Extra::Account => "an account",
        }
    }
}

/// How urgent a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Somebody waits for it.
    Immediate,
    /// Like others.
    Normal,
    /// When nothing else is to be done.
    Idle,
}

impl Class {
    /// All, the most urgent first.
    pub(crate) const ALL: [Class; 3] = [Class::Immediate, Class::Normal, Class::Idle];

    /// Its name in tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Class::Immediate => "Immediate",
            Class::Normal => "Normal",
            Class::Idle => "Idle",
        }
    }
}

/// Opens when it was counted down so often.
#[derive(Debug, Clone)]
pub(crate) struct Latch(Rc<LatchInner>);

#[derive(Debug)]
struct LatchInner {
    left: Cell<usize>,
    waiter: RefCell<Option<Waker>>,
}

impl Latch {
    /// One that opens after `count`.
    pub(crate) fn new(count: usize) -> Self {
        Self(Rc::new(LatchInner { left: Cell::new(count), waiter: RefCell::new(None) }))
    }

    /// Closes it again, for `count` more.
    pub(crate) fn set(&self, count: usize) {
        self.0.left.set(count);
    }

    /// Opens after `count` more.
    pub(crate) fn add(&self, count: usize) {
        self.0.left.update(|left| left + count);
    }

    /// Counts one.
    pub(crate) fn count_down(&self) {
        let left = self.0.left.get() - 1;
        self.0.left.set(left);
        if left == 0
            && let Some(waiter) = self.0.waiter.take()
        {
            waiter.wake();
        }
    }

    /// Whether it is.
    pub(crate) fn is_open(&self) -> bool {
        self.0.left.get() == 0
    }

    /// Waits until it is open.
    pub(crate) fn opened(&self) -> impl Future<Output = ()> + 'static {
        let Latch(inner) = self.clone();
        poll_fn(move |context| {
            if inner.left.get() == 0 {
                return Poll::Ready(());
            }
            inner.waiter.replace(Some(context.waker().clone()));
            Poll::Pending
        })
    }
}

/// Calls a generic function for each executor, in the order of the tables: `each_executor!(function)` is an array of
/// names and functions.
macro_rules! each_executor {
    ($function:ident) => {{
        use $crate::executors::{Colibri, CurrentThread, Deque, LocalExecutor, LocalSet, Pool};
        [
            ("colibri", $function::<Colibri> as fn(_) -> _),
            ("tokio current_thread", $function::<CurrentThread>),
            ("tokio LocalSet", $function::<LocalSet>),
            ("async-executor", $function::<LocalExecutor>),
            ("async-task + VecDeque", $function::<Deque>),
            ("futures LocalPool", $function::<Pool>),
        ]
    }};
}
pub(crate) use each_executor;

#[cfg(test)]
mod tests {
    use super::*;

    /// What every executor does: tasks run beside the root, in turns, hand back their outputs, and end when cancelled.
    fn is_an_executor<E: Executor>((): ()) {
        let executor = E::new();
        let order = Rc::new(RefCell::new(Vec::new()));
        let tasks: Vec<_> = (0..3)
            .map(|number| {
                let order = Rc::clone(&order);
                executor.spawn(async move {
                    order.borrow_mut().push(number);
                    E::yield_now().await;
                    order.borrow_mut().push(number + 10);
                    number
                })
            })
            .collect();
        let sum = executor.block_on(async {
            let mut sum = 0;
            for task in tasks {
                sum += task.await;
            }
            sum
        });
        assert_eq!(sum, 3);
        // Not the same order everywhere: colibri lifts the task that is awaited.
        let order = order.take();
        let place = |number| order.iter().position(|&at| at == number);
        assert!(
            (0..3).all(|number| place(number).is_some() && place(number) < place(number + 10)),
            "{order:?}"
        );

        let latch = Latch::new(2);
        struct CountsItsEnd(Latch);
        impl Drop for CountsItsEnd {
            fn drop(&mut self) {
                self.0.count_down();
            }
        }
        let tasks: [_; 2] = std::array::from_fn(|_| {
            let end = CountsItsEnd(latch.clone());
            executor.spawn(async move {
                std::future::pending::<()>().await;
                drop(end);
            })
        });
        executor.block_on(E::yield_now());
        tasks.into_iter().for_each(E::cancel);
        executor.block_on(latch.opened());

        if E::HAS_TIMERS {
            executor.block_on(executor.spawn(async { E::sleep(Duration::from_millis(1)).await }));
        }
    }

    #[test]
    fn they_are_executors() {
        for (name, check) in each_executor!(is_an_executor) {
            println!("{name}");
            check(());
        }
    }
}
