//! A function's polls begin and end where they should, whichever future has its frame: what was outside is put back.

#![cfg(feature = "std")]

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use colibri_core::{Budget, cooperative, should_yield, with_budget, yield_now};

fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[cooperative]
fn count(passed: &Cell<u32>) {
    while passed.get() < 1_000 {
        passed.set(passed.get() + 1);
    }
}

/// How many checks the budget that is open has left; it is used up then.
fn left() -> u32 {
    let passed = Cell::new(0);
    let _ = poll(pin!(count(&passed)));
    passed.get()
}

/// Waits nowhere but at its checks.
#[cooperative(budget = 2)]
fn alone(n: u32) -> u32 {
    let mut sum = 0;
    for i in 0..n {
        assert!(i < 100, "too many");
        sum += i;
    }
    sum
}

/// Waits for another as well.
#[cooperative(budget = 2)]
fn waiting(n: u32) -> u32 {
    let mut sum = 0;
    for i in 0..n {
        yield_now().await;
        sum += i;
    }
    sum
}

macro_rules! hidden {
    ($future:expr) => {
        $future.await
    };
}

/// The same, where the attribute cannot see it.
#[cooperative(budget = 2)]
fn hiding(n: u32) -> u32 {
    let mut sum = 0;
    for i in 0..n {
        hidden!(yield_now());
        sum += i;
    }
    sum
}

#[test]
fn a_poll_ends_where_the_function_gives_way() {
    with_budget(Budget::checks(10), || {
        let mut future = pin!(alone(1_000));
        assert!(poll(future.as_mut()).is_pending());
        // Its own budget is over, not the one outside, in which its two checks count.
        assert!(!should_yield());
        assert!(poll(future.as_mut()).is_pending());
        assert!(!should_yield());
        assert_eq!(left(), 10 - 2 * 2);
    });
    assert!(!should_yield());
}

#[test]
fn a_poll_ends_where_the_function_waits_for_another() {
    with_budget(Budget::checks(10), || {
        let (mut seen, mut unseen) = (pin!(waiting(5)), pin!(hiding(5)));
        assert!(poll(seen.as_mut()).is_pending());
        assert!(poll(unseen.as_mut()).is_pending());
        assert!(!should_yield());
        assert_eq!(left(), 10 - 2);
    });
    assert!(!should_yield());
}

#[test]
fn a_poll_ends_with_a_panic() {
    with_budget(Budget::checks(500), || {
        let mut future = pin!(alone(1_000));
        let mut polls = 0;
        let panicked = loop {
            polls += 1;
            match catch_unwind(AssertUnwindSafe(|| poll(future.as_mut()))) {
                Ok(Poll::Pending) => {}
                Ok(Poll::Ready(sum)) => break Ok(sum),
                Err(panic) => break Err(panic),
            }
        };
        assert!(panicked.is_err());
        // Two iterations in the first poll, and in each that follows the one at which it stopped as well.
        assert!((34..=51).contains(&polls), "{polls}");
        assert!(!should_yield());
    });
    assert!(!should_yield());
    assert_eq!(with_budget(Budget::checks(7), left), 7);
}

#[test]
fn a_future_that_was_left_in_the_middle_puts_nothing_back() {
    with_budget(Budget::checks(10), || {
        {
            let mut future = pin!(alone(1_000));
            assert!(poll(future.as_mut()).is_pending());
        }
        assert_eq!(left(), 10 - 2);
    });
    // Its drop happens where another budget is open.
    let mut future = Box::pin(alone(1_000));
    assert!(with_budget(Budget::checks(10), || poll(future.as_mut())).is_pending());
    assert_eq!(
        with_budget(Budget::checks(5), || {
            drop(future);
            left()
        }),
        5
    );
}

#[test]
fn futures_may_move_to_another_thread_between_polls() {
    fn moves<T: Send>(value: T) -> T {
        value
    }
    let mut future = moves(Box::pin(alone(90)));
    for _ in 0..3 {
        assert!(with_budget(Budget::checks(10), || poll(future.as_mut())).is_pending());
        future = std::thread::spawn(move || {
            assert!(with_budget(Budget::checks(4), || poll(future.as_mut())).is_pending());
            assert_eq!(with_budget(Budget::checks(3), left), 3);
            future
        })
        .join()
        .unwrap();
    }
    assert_eq!(with_budget(Budget::checks(6), left), 6);
    let mut sum = None;
    while sum.is_none() {
        if let Poll::Ready(value) = poll(future.as_mut()) {
            sum = Some(value);
        }
    }
    assert_eq!(sum, Some((0..90).sum()));
}
