//! colibri in the browser, whose main thread has 16.7 ms a frame for everything.
//!
//! **For programs in Rust**, compiled to wasm32: a [`Host`] that runs a [`Scheduler`](colibri_core::Scheduler) in the page's own
//! turns. `#[cooperative]` functions then compute on the main thread while the page scrolls, paints and answers.
//!
//! ```no_run
//! use colibri_core::{Priority, cooperative};
//!
//! #[cooperative]
//! fn count_primes(limit: u64) -> u64 {
//!     let mut found = 0;
//!     for n in 2..limit {
//!         let mut d = 2;
//!         while d * d <= n && n % d != 0 {
//!             d += 1;
//!         }
//!         found += u64::from(d * d > n);
//!     }
//!     found
//! }
//!
//! # #[cfg(target_family = "wasm")]
//! fn start() {
//!     let scheduler = colibri_web::scheduler();
//!     let report = scheduler.spawn(Priority::Idle, count_primes(2_000_000));
//!     scheduler.spawn(Priority::Normal, async move {
//!         let found = report.await.unwrap();
//!         // Show it: the page was never held for longer than a slice.
//!         # let _ = found;
//!     });
//! }
//! ```
//!
//! **For programs in JavaScript** there is a package of 2 KB (`colibri-web/package` in the repository). [`turns`] is what decides in
//! it; nobody needs it in Rust.

#![cfg_attr(not(feature = "host"), no_std)]

#[cfg(feature = "host")]
mod host;
#[cfg(all(feature = "host", target_arch = "wasm32"))]
mod page;
pub mod turns;

#[cfg(feature = "host")]
pub use host::{Host, Page};
#[cfg(all(feature = "host", target_arch = "wasm32"))]
pub use page::{BrowserPage, PageClock, scheduler};
