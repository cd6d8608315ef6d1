//! Ready-made observers. Each is one for [`Builder::observer`](crate::Builder::observer); a pair of observers is one, too.

#[cfg(feature = "histogram")]
mod histograms;
mod pair;
#[cfg(feature = "tracing")]
mod spans;

#[cfg(feature = "histogram")]
pub use histograms::Histograms;
#[cfg(feature = "tracing")]
pub use spans::Spans;
