//! A runtime that gives way far more often than the real one: grants of a few checks, each of them the last of its
//! poll. So copies of loops that cannot stop are left after each iteration, and entered again, which the real runtime does
//! only every 20 µs. Without a grant it is the real one. Written by `cargo xtask fuzz-macro`.
#![allow(dead_code)]

use std::cell::Cell;

/// How it gives fuel.
#[derive(Clone, Copy, Debug)]
pub struct Grant {
    /// Checks.
    pub checks: i64,
    /// Of so many looks in the midst of a loop one finds the budget over, the others get more checks in place.
    pub over_every: u64,
    /// What may be in arrears.
    pub arrears: i64,
}

thread_local! {
    static GRANT: Cell<Option<Grant>> = const { Cell::new(None) };
    static FUEL: Cell<i64> = const { Cell::new(0) };
    static LOOKS: Cell<u64> = const { Cell::new(0) };
    static DEPTH: Cell<u32> = const { Cell::new(0) };
}

/// From now on fuel is granted so; by the real runtime if `None`.
pub fn set(grant: Option<Grant>) {
    GRANT.set(grant);
    FUEL.set(0);
    LOOKS.set(0);
    DEPTH.set(0);
}

pub mod __private {
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::{DEPTH, FUEL, GRANT, LOOKS};
    pub use colibri_core::__private::*;

    pub fn take() -> i64 {
        if GRANT.get().is_some() { FUEL.replace(0) } else { colibri_core::__private::take() }
    }

    pub fn put(fuel: i64) {
        if GRANT.get().is_some() { FUEL.set(fuel) } else { colibri_core::__private::put(fuel) }
    }

    pub async fn refill<P: Polls>(mut polls: P, fuel: i64, site: &'static Site) -> i64 {
        let Some(grant) = GRANT.get() else {
            return colibri_core::__private::refill(polls, fuel, site).await;
        };
        if DEPTH.get() == 0 {
            let mut gave_way = false;
            polls.end();
            poll_fn(|_| if std::mem::replace(&mut gave_way, true) { Poll::Ready(()) } else { Poll::Pending }).await;
            polls.begin();
        }
        grant.checks
    }

    pub fn spent(fuel: &mut i64, site: &'static Site) -> bool {
        let Some(grant) = GRANT.get() else { return colibri_core::__private::spent(fuel, site) };
        let looks = LOOKS.get() + 1;
        LOOKS.set(looks);
        let is_over = DEPTH.get() == 0 && looks % grant.over_every == 0;
        *fuel = if is_over { 0 } else { grant.checks };
        is_over
    }

    pub fn leave<Q: Question>(operand: Q, fuel: i64) -> Q {
        if operand.leaves() {
            put(fuel);
        }
        operand
    }

    pub fn arrears() -> i64 {
        match GRANT.get() {
            Some(grant) => grant.arrears,
            None => colibri_core::__private::arrears(),
        }
    }

    pub fn charge(items: i64, fuel: i64) -> (bool, i64) {
        match GRANT.get() {
            Some(_) => if items <= fuel { (true, fuel - items) } else { (false, fuel) },
            None => colibri_core::__private::charge(items, fuel),
        }
    }

    pub fn run<F: Future>(future: F) -> F::Output {
        if GRANT.get().is_none() {
            return colibri_core::__private::run(future);
        }
        // Nothing gives way in here; also not after a panic that somebody catches.
        struct Inside;
        impl Drop for Inside {
            fn drop(&mut self) {
                DEPTH.set(DEPTH.get() - 1);
            }
        }
        DEPTH.set(DEPTH.get() + 1);
        let _inside = Inside;
        match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => output,
            Poll::Pending => panic!("it gave way where it cannot"),
        }
    }
}
