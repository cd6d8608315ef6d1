//! Generative fairness tests for colibri's scheduler, and for yours.
//!
//! A scheduler must not show a bias that nobody foresaw, under any load. Examples cannot show that; thousands of
//! random workloads can. The road of one case:
//!
//! 1. [`generate`] draws a [`workload`]: plain data that says what tasks do, when they arrive, how the host behaves.
//! 2. [`simulate`] runs a scheduler (a [`subject`]) through it on a virtual clock and writes down a [`trace`].
//! 3. [`property`] checks the promises over the trace. Its list of them is the contract of a fair scheduler.
//! 4. If one is broken, [`mod@shrink`] looks for the smallest workload that breaks it, [`report`] tells it, and
//!    [`regression`] keeps it.
//!
//! ```
//! use colibri_fuzz::{colibri::Colibri, property::check_all, simulate::simulate, workload::Workload};
//!
//! let workload: Workload = serde_json::from_str(
//!     r#"{"tasks": [
//!         {"class": "idle", "arrives": "0s", "steps": [{"work": {"total": "50ms", "gap": "100us"}}]},
//!         {"class": "immediate", "arrives": "7ms", "steps": [{"work": {"total": "1ms", "gap": "100us"}}]}
//!     ]}"#,
//! )
//! .unwrap();
//! let trace = simulate::<Colibri>(&workload);
//! assert_eq!(check_all(&trace), Ok(()));
//! println!("{}", trace.timeline(0, 20));
//! ```
//!
//! Around it: [`canary`] are broken schedulers that must be caught, [`metamorphic`] holds runs against runs, [`latency`]
//! measures waits beside queueing theory, [`compare`] judges the schedulers in [`peer`] by the same promises, [`page`] draws
//! it all.
//!
//! For code of your own, [`own`] has a function each: is my task's longest gap between two checkpoints short enough, is my
//! slice policy fair, is my scheduler? A scheduler is five methods of [`Subject`](subject::Subject);
//! `examples/own.rs` tests all three.

mod bell;
pub mod canary;
pub mod case;
pub mod chart;
pub mod colibri;
pub mod compare;
pub mod draw;
pub mod generate;
pub mod latency;
mod ledger;
pub mod metamorphic;
pub mod model;
pub mod own;
pub mod page;
pub mod peer;
pub mod portrait;
pub mod property;
pub mod regression;
pub mod report;
pub mod rules;
pub mod run;
pub mod shrink;
pub mod simulate;
pub mod span;
pub mod subject;
pub mod table;
pub mod tally;
pub mod trace;
pub mod workload;
