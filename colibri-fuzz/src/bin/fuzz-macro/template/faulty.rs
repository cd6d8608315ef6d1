//! Runtimes that are wrong on purpose: each must be found out. Written by `cargo xtask fuzz-macro`.
#![allow(dead_code)]

/// `step` drops every fifth item.
pub mod lost_item {
    pub mod __private {
        pub use colibri_core::__private::*;
        use std::cell::Cell;
        thread_local!(static STEPS: Cell<u32> = const { Cell::new(0) });
        pub fn step<I: Iterator>(mut iterator: I) -> (Option<I::Item>, I) {
            STEPS.set(STEPS.get() + 1);
            if STEPS.get() % 5 == 0 {
                let _ = iterator.next();
            }
            let item = iterator.next();
            (item, iterator)
        }
    }
}

/// `refill` gives fuel that never ends: the counter has wrapped.
pub mod endless_fuel {
    pub mod __private {
        pub use colibri_core::__private::*;
        pub async fn refill<P: Polls>(polls: P, fuel: i64, site: &'static Site) -> i64 {
            colibri_core::__private::refill(polls, fuel, site).await;
            i64::MAX / 2
        }
    }
}

/// `put` forgets the fuel, so that it has to be asked for again.
pub mod lost_fuel {
    pub mod __private {
        pub use colibri_core::__private::*;
        pub fn put(_: i64) {}
    }
}

/// `take` leaves the fuel where it is, so that it is used twice.
pub mod doubled_fuel {
    pub mod __private {
        pub use colibri_core::__private::*;
        pub fn take() -> i64 {
            let fuel = colibri_core::__private::take();
            fuel + 1
        }
    }
}

/// `refill` gives way twice.
pub mod double_refill {
    pub mod __private {
        pub use colibri_core::__private::*;
        pub async fn refill<P: Polls>(polls: P, fuel: i64, site: &'static Site) -> i64 {
            let fuel = colibri_core::__private::refill(polls, fuel, site).await;
            if fuel > 1 {
                return fuel;
            }
            colibri_core::yield_now().await;
            fuel
        }
    }
}
