//! Long computations as good citizens of a thread that must stay responsive.
//!
//! A UI or game loop, a single-threaded server, a firmware loop: each has one thread that must answer at once, and
//! work that takes long. This crate lets such work stop at any loop iteration, and runs it in classes and time slices
//! so that nobody starves.
//!
//! # A function that can stop
//!
//! The attribute [`#[cooperative]`](macro@cooperative) turns an ordinary function with loops into one that returns a
//! future: a state machine that can stop at any iteration.
//!
//! ```
//! use colibri_core::cooperative;
//!
//! #[cooperative]
//! fn sum_of_squares(limit: u64) -> u64 {
//!     let mut sum = 0;
//!     for n in 0..limit {
//!         sum += n * n;
//!     }
//!     sum
//! }
//! # let _ = sum_of_squares(1);
//! ```
//!
//! # A budget that makes it stop
//!
//! Each iteration is a *check* against the [`Budget`] in force: a time, a number of checks, or what a scheduler says.
//! Checks are counted in a register; the clock is read about every 20 µs. The future is an ordinary one, on any
//! executor: where nobody has set a budget it gives way every 0.5 ms.
//!
//! ```
//! # use colibri_core::{Budget, cooperative, with_budget};
//! # use std::{pin::pin, task::{Context, Waker}};
//! # #[cooperative]
//! # fn sum_of_squares(limit: u64) -> u64 { let mut sum = 0; for n in 0..limit { sum += n * n; } sum }
//! let mut future = pin!(sum_of_squares(10));
//! let mut context = Context::from_waker(Waker::noop());
//! // Four iterations pass, the fifth gives way.
//! assert!(with_budget(Budget::checks(4), || future.as_mut().poll(&mut context)).is_pending());
//! assert!(future.as_mut().poll(&mut context).is_ready());
//! ```
//!
//! # A scheduler that decides
//!
//! A [`Scheduler`] runs tasks in three classes ([`Priority`]), each in turns of a quantum, in slices between which the
//! host has its thread. [`Task`] is the handle: a future of the output that can also cancel, pause and resume.
//!
//! ```
//! # use colibri_core::{Priority, Scheduler, cooperative};
//! # #[cooperative]
//! # fn sum_of_squares(limit: u64) -> u64 { let mut sum = 0; for n in 0..limit { sum += n * n; } sum }
//! let scheduler = Scheduler::new();
//! let report = scheduler.spawn(Priority::Idle, sum_of_squares(100_000));
//! loop {
//!     // Here a host handles its input, ...
//!     let slice = scheduler.run_slice();
//!     // ... and here it draws.
//!     if !slice.work_left {
//!         break;
//!     }
//! }
//! assert!(report.is_finished());
//! ```
//!
//! # What it promises
//!
//! Classes are strict. Equals get equal shares, task by task, whoever spawned them: what a task overdraws is taken from its next turn. And nobody starves:
//! with N ready tasks, the longest turn q (the quantum, times the largest weight), the longest gap d between two checkpoints, the cost c of a switch and the time A
//! after which a waiting task rises a class ([`Builder::upgrade_after`]), a ready task waits at most
//!
//! > 2 (A + q + d) + 2 N (q + d + c)
//!
//! while the host gives slices without a break. "Rises after 500 ms" is not "runs after 500 ms". A move to another class
//! ([`Task::set_priority`]) keeps what a task has waited, but puts it at the tail and perhaps one class lower: after a move it waits
//! no longer than A + q + d + 2 N (q + d + c), if that ends later.
//!
//! A slice is overdrawn by at most the longest gap between two checkpoints, plus the 20 µs between two looks at the
//! clock. Polls below 20 µs are timed up to sixteen at a time: where all of such a batch take long at once, a slice is
//! overdrawn by up to sixteen gaps, that once. With an [`Observer`] each poll is timed.
//!
//! # Guide
//!
//! A page for each host, for "which loop holds my thread?", for "how do I choose slice and quantum?", for troubles and their
//! cures, and one that compares: the module `guide` of the documentation that is built with all features.
//!
//! # Features
//!
//! | feature | default | what |
//! | --- | --- | --- |
//! | `std` | yes | the system's clock, threads, panic isolation, and functions that find the running scheduler |
//! | `macros` | yes | the attribute |
//! | `histogram` | no | `observe::Histograms`: waits and runs by class, through hdrhistogram |
//! | `tracing` | no | `observe::Spans`: a span for each task |
//!
//! Without `std` the crate needs `alloc`, one core, atomics of 32 bits with compare-and-swap, and a clock of yours:
//! `Builder::with_clock(clock).on_ready(hook).build()`. Interrupts wake tasks through their wakers; the hook asks for a turn,
//! in which you call [`Scheduler::run_slice`]. A task brings its scheduler's handle where it would call `sleep` or `spawn`
//! elsewhere ([`Scheduler::sleep`]). A check cannot ask the scheduler there: it ends the poll after about 20 µs, and the
//! scheduler polls again at once if nothing else is due.

#![cfg_attr(not(feature = "std"), no_std)]
// Pages that are built with less link to what is not there, `run` and `block_on` for example. With the default features, and with
// all of them, every link is checked.
#![cfg_attr(not(all(feature = "std", feature = "macros")), allow(rustdoc::broken_intra_doc_links))]

extern crate alloc;

// In the order in which work flows: a future meets its budget, becomes a task, is queued, gets its slice, and is
// stopped for the host.
#[doc(hidden)]
#[path = "rt.rs"]
pub mod __private;
mod budget;
mod checkpoint;
mod iter;
mod local;
mod meter;
mod outline;
mod strip;

mod clock;
mod coarse;
mod instant;
#[cfg(feature = "std")]
mod interval;
pub mod policy;
mod priority;
mod queue;
mod remote;
mod slot;
mod stragglers;
mod table;
mod task;
mod timer;
mod waker;
mod word;

#[cfg(feature = "std")]
mod abort;
mod activity;
mod builder;
mod engine;
#[cfg(feature = "std")]
mod host;
mod latest;
mod scheduler;
mod scope;
mod slice;
#[cfg(feature = "std")]
mod spawner;
#[cfg(feature = "std")]
mod task_local;

mod event;
mod fault;
#[cfg(all(test, colibri_loom))]
mod model;
pub mod observe;
#[cfg(feature = "std")]
mod stall;
mod stats;
mod summary;
mod sync;
mod unwind;

use self::__private as rt;

#[cfg(feature = "std")]
pub use abort::AbortHandle;
pub use activity::Activity;
pub use budget::{Budget, should_yield, with_budget};
pub use builder::{Builder, TaskBuilder};
pub use checkpoint::{Checkpoint, YieldNow, checkpoint, uninterrupted, yield_now};
pub use clock::Clock;
#[cfg(target_has_atomic = "64")]
pub use clock::ManualClock;
#[cfg(feature = "std")]
pub use clock::SystemClock;
/// Turns a function with loops into one that returns a future which can stop at any iteration.
#[cfg(feature = "macros")]
pub use colibri_macros::cooperative;
pub use event::{Observer, TaskEvent, YieldReason};
pub use instant::Instant;
#[cfg(feature = "std")]
pub use interval::{Interval, MissedTick, interval};
pub use iter::{Cooperative, IteratorExt};
pub use latest::Latest;
pub use priority::Priority;
pub use scheduler::{Scheduler, Step};
#[cfg(feature = "std")]
pub use scheduler::{TaskInfo, current, set_progress, spawn};
pub use scope::TaskScope;
pub use slice::{DEFAULT_QUANTUM, DEFAULT_SLICE, DEFAULT_UPGRADE_AFTER, SliceReport};
#[cfg(feature = "std")]
pub use spawner::Spawner;
#[cfg(feature = "std")]
pub use stall::{StallAction, StallDetector, StallReport};
pub use stats::{ClassStats, Stats, TaskStats};
pub use summary::Summary;
pub use task::{SpawnError, Task, TaskError, TaskId, TaskSnapshot, TaskState};
#[cfg(feature = "std")]
pub use task_local::TaskLocal;
pub use timer::Sleep;
#[cfg(feature = "std")]
pub use timer::{sleep, sleep_until, timeout};

#[cfg(all(any(doc, doctest), feature = "std", feature = "histogram", feature = "tracing"))]
pub mod guide;

/// The README's programs, run as tests.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../../README.md")]
struct Readme;
