//! Other people's schedulers as [`Subject`](crate::subject::Subject)s: what they promise, measured by the same yardstick.
//!
//! Each is driven as its documentation says, on the virtual clock. Workloads come without what it does not offer.

#[cfg(feature = "peers")]
mod async_executor;
mod fifo;
#[cfg(feature = "peers")]
mod tokio;

#[cfg(feature = "peers")]
pub use self::async_executor::{AsyncExecutor, Handle};
pub use self::fifo::Fifo;
#[cfg(feature = "peers")]
pub use self::tokio::Tokio;
