//! Runs a function twice, as it stands and with the attribute, and compares everything that can be observed.

#![allow(dead_code, unreachable_pub)]

use std::any::Any;
use std::cell::RefCell;
use std::fmt::Debug;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use colibri_core::{Budget, with_budget};

thread_local! {
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Notes a side effect.
pub fn note(event: impl ToString) {
    LOG.with_borrow_mut(|log| log.push(event.to_string()));
}

/// Notes a side effect, and is an expression.
pub fn noted<T: Debug>(value: T) -> T {
    note(format!("{value:?}"));
    value
}

/// A value whose drop can be seen.
#[derive(Debug, PartialEq)]
pub struct Loud(pub &'static str);

impl Drop for Loud {
    fn drop(&mut self) {
        note(format!("drop {}", self.0));
    }
}

impl Loud {
    pub fn items(&self) -> impl Iterator<Item = u32> + use<> {
        0..3
    }

    pub fn borrowed_items(&self) -> std::slice::Iter<'_, u32> {
        note(format!("items of {}", self.0));
        [1, 2, 3].iter()
    }

    pub fn is(&self, answer: bool) -> bool {
        note(format!("ask {}", self.0));
        answer
    }

    pub fn some(&self, value: u32) -> Option<&Loud> {
        (value > 0).then_some(self)
    }
}

/// What can be seen of one run.
#[derive(Debug, PartialEq)]
struct Seen<T> {
    result: Result<T, String>,
    log: Vec<String>,
}

fn watch<T>(run: impl FnOnce() -> T) -> Seen<T> {
    LOG.take();
    let result = catch_unwind(AssertUnwindSafe(run)).map_err(message);
    Seen { result, log: LOG.take() }
}

fn message(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast::<&str>().map_or_else(|_| "?".to_owned(), |text| (*text).to_owned()),
    }
}

/// Polls to the end, with a budget of `checks` for each poll; the result and the number of polls.
pub fn poll_to_end<F: Future>(checks: u32, future: F) -> (F::Output, u64) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for polls in 1.. {
        if let Poll::Ready(output) =
            with_budget(Budget::checks(checks), || future.as_mut().poll(&mut context))
        {
            return (output, polls);
        }
        assert!(polls < 1_000_000, "it never ends");
    }
    unreachable!()
}

/// The result under unlimited checks.
pub fn finish<F: Future>(future: F) -> F::Output {
    poll_to_end(u32::MAX, future).0
}

/// Compares result, side effects, drops and panics of the two, for several budgets; and the number of polls with what
/// the budget allows. Returns how many checks the function has.
#[track_caller]
pub fn same<T: PartialEq + Debug, F: Future<Output = T>>(
    plain: impl Fn() -> T,
    stopping: impl Fn() -> F,
) -> u64 {
    let expected = watch(&plain);
    // What is counted in many checks at once: all that there are, and as many as a look at the clock grants.
    for budget in [Budget::UNLIMITED, Budget::time(Duration::ZERO), Budget::time(Duration::from_micros(30))] {
        let seen = watch(|| {
            let mut future = pin!(stopping());
            let mut context = Context::from_waker(Waker::noop());
            for _ in 0..1_000_000 {
                if let Poll::Ready(output) = with_budget(budget, || future.as_mut().poll(&mut context)) {
                    return output;
                }
            }
            panic!("it never ends");
        });
        assert_eq!(seen, expected, "with {budget:?}");
    }
    let mut checks = 0;
    for budget in [0, 1, 2, 3, 7, 1_000, u32::MAX] {
        let mut polls = 0;
        let seen = watch(|| {
            let mut future = pin!(stopping());
            let mut context = Context::from_waker(Waker::noop());
            loop {
                polls += 1;
                let poll = with_budget(Budget::checks(budget), || future.as_mut().poll(&mut context));
                if let Poll::Ready(output) = poll {
                    return output;
                }
                assert!(polls < 1_000_000, "it never ends");
            }
        });
        assert_eq!(seen, expected, "with a budget of {budget} checks");
        if budget == 0 {
            checks = polls - 1;
        }
        assert_eq!(polls, checks / (u64::from(budget) + 1) + 1, "polls with a budget of {budget} checks");
    }
    checks
}

/// Writes a function down once and makes two of it: `plain` as it stands, `stopping` with the attribute.
#[macro_export]
macro_rules! both {
    ($($(#[$attribute:meta])* fn $name:ident($($arguments:tt)*) $(-> $output:ty)? $body:block)*) => {
        #[allow(dead_code, unused_imports)]
        mod plain { use super::*; $($(#[$attribute])* pub(crate) fn $name($($arguments)*) $(-> $output)? $body)* }
        #[allow(dead_code, unused_imports)]
        mod stopping { use super::*; $(#[colibri_core::cooperative] $(#[$attribute])* pub(crate) fn $name($($arguments)*) $(-> $output)? $body)* }
    };
}

/// Takes the notes of this thread.
pub fn take_log() -> Vec<String> {
    LOG.take()
}
