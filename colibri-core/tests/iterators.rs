//! Iterators whose consumers give way.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use colibri_core::{Budget, IteratorExt, with_budget};

/// The output, and how many polls it took with so many checks each.
fn polls<F: Future>(checks: u32, future: F) -> (F::Output, u32) {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for polls in 1.. {
        if let Poll::Ready(output) =
            with_budget(Budget::checks(checks), || future.as_mut().poll(&mut context))
        {
            return (output, polls);
        }
    }
    unreachable!()
}

#[test]
fn each_item_is_one_check() {
    // Every third check gives way, and the last one needs no further poll than the look that finds no more items.
    assert_eq!(polls(2, (0..9).cooperative().count()), (9, 4));
    assert_eq!(polls(0, (0..3).cooperative().count()), (3, 5));
    assert_eq!(polls(100, (0..9).cooperative().count()), (9, 1));
}

#[test]
fn consumers_agree_with_the_plain_ones() {
    for checks in [0, 1, 2, 7, 1000] {
        let items = || (0..50_i64).map(|n| (n * 37) % 23 - 5);
        assert_eq!(polls(checks, items().cooperative().sum::<i64>()).0, items().sum::<i64>());
        assert_eq!(polls(checks, (1..10_u64).cooperative().product::<u64>()).0, (1..10_u64).product::<u64>());
        assert_eq!(polls(checks, items().cooperative().min()).0, items().min());
        assert_eq!(polls(checks, items().cooperative().max()).0, items().max());
        assert_eq!(polls(checks, items().cooperative().last()).0, items().next_back());
        assert_eq!(polls(checks, items().cooperative().collect::<Vec<_>>()).0, items().collect::<Vec<_>>());
        assert_eq!(
            polls(checks, items().cooperative().collect::<BTreeSet<_>>()).0,
            items().collect::<BTreeSet<_>>()
        );
        assert_eq!(
            polls(checks, items().cooperative().partition::<Vec<_>>(|n| *n > 3)).0,
            items().partition::<Vec<_>, _>(|n| *n > 3)
        );
        assert!(polls(checks, items().cooperative().any(|n| n == 11)).0);
        assert!(!polls(checks, items().cooperative().all(|n| n < 11)).0);
        assert_eq!(polls(checks, items().cooperative().find(|n| *n > 11)).0, items().find(|n| *n > 11));
        assert_eq!(polls(checks, items().cooperative().position(|n| n == 9)).0, items().position(|n| n == 9));
        let stopped = polls(
            checks,
            items()
                .cooperative()
                .try_for_each(|n| if n > 15 { ControlFlow::Break(n) } else { ControlFlow::Continue(()) }),
        );
        assert_eq!(
            stopped.0,
            items().find(|n| *n > 15).map_or(ControlFlow::Continue(()), ControlFlow::Break)
        );
    }
}

#[test]
fn a_find_takes_no_more_than_it_needs() {
    let mut taken = 0;
    let found = polls(1, (0..100).inspect(|_| taken += 1).cooperative().find(|n| *n == 6)).0;
    assert_eq!((found, taken), (Some(6), 7));
}
