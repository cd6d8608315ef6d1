//! The kernels of `overhead`: small loops of the kinds that real programs spend their time in.
//!
//! A kernel's body is written once, as a macro. [`ways`] makes four functions of it: the plain one, the one with the
//! attribute, and two as their author would write them by hand for tokio, with a yield (`$tick`) in the hot loop.

mod adversarial;
mod dynamic;
mod encoders;
mod floats;
mod graphs;
mod integers;
mod scanners;
mod signals;
mod sorts;
mod tables;

use std::fmt;
use std::pin::Pin;

use crate::overhead::Subject;

/// Items between two yields where tokio's `yield_now` stands in the loop.
pub(crate) const HAND_YIELD_ITEMS: u32 = 64;

/// Makes a module `$kernel` with the four functions of the macro `$kernel`.
///
/// The macro gets what stands before the function's name, the name, what comes first in its body, and what comes in each
/// round of its hot loop.
macro_rules! ways {
    ($kernel:ident) => {
        pub(crate) mod $kernel {
            #[allow(unused_imports, reason = "most kernels need nothing from outside")]
            use super::*;

            $kernel! { [#[inline(never)] pub(crate) fn plain] {} {} }
            $kernel! { [#[colibri_core::cooperative] pub(crate) fn cooperative] {} {} }
            $kernel! { [pub(crate) async fn consuming] {} { tokio::task::consume_budget().await; } }
            $kernel! { [pub(crate) async fn yielding]
                { let mut passed = 0_u32; }
                {
                    passed += 1;
                    if passed == $crate::kernels::HAND_YIELD_ITEMS {
                        passed = 0;
                        tokio::task::yield_now().await;
                    }
                }
            }
        }
    };
}
use ways;

/// Describes the kernel `$name`, which works on a `$work`; `$argument` are the function's arguments, taken from it.
macro_rules! kernel {
    ($name:ident, $work:ty, $about:literal, |$on:ident| [$($argument:expr),* $(,)?]) => {
        $crate::kernels::Kernel {
            name: stringify!($name),
            about: $about,
            start: |size| {
                Box::new($crate::kernels::Started {
                    work: Some(<$work as $crate::kernels::Work>::new(size)),
                    ways: $crate::kernels::Ways {
                        plain: |$on| $name::plain($($argument),*),
                        cooperative: |$on| Box::pin($name::cooperative($($argument),*)),
                        consuming: |$on| Box::pin($name::consuming($($argument),*)),
                        yielding: |$on| Box::pin($name::yielding($($argument),*)),
                    },
                })
            },
        }
    };
}
use kernel;

/// A kernel that can be asked for by name.
#[derive(Debug)]
pub(crate) struct Kernel {
    /// Its name.
    pub(crate) name: &'static str,
    /// What loop it stands for, in a few words.
    pub(crate) about: &'static str,
    /// Makes what it works on.
    pub(crate) start: fn(Size) -> Box<dyn Subject>,
}

/// How much a kernel has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// Hundreds to thousands of iterations, for tests.
    #[cfg_attr(not(test), expect(dead_code, reason = "the small ones are for tests"))]
    Small,
    /// About 20 ms: more than two budgets of 8 ms, so that a part runs before the first suspension and a part after it.
    Full,
}

impl Size {
    /// A figure for each size.
    fn of<T>(self, small: T, full: T) -> T {
        match self {
            Size::Small => small,
            Size::Full => full,
        }
    }
}

/// What a kernel works on.
pub(crate) trait Work: 'static {
    /// Makes it.
    fn new(size: Size) -> Self;

    /// Makes it as it was, where a run changes it.
    fn reset(&mut self) {}

    /// What a run left in it besides its result.
    fn trace(&self) -> u64 {
        0
    }
}

/// What a kernel returns.
pub(crate) trait Outcome: 'static {
    /// It as a figure: equal outcomes have equal ones.
    fn bits(&self) -> u64;
}

impl Outcome for () {
    fn bits(&self) -> u64 {
        0
    }
}

impl Outcome for u64 {
    fn bits(&self) -> u64 {
        *self
    }
}

impl Outcome for f64 {
    fn bits(&self) -> u64 {
        self.to_bits()
    }
}

impl<T: Outcome, E: 'static> Outcome for Result<T, E> {
    fn bits(&self) -> u64 {
        self.as_ref().map_or(u64::MAX, T::bits)
    }
}

impl Outcome for Vec<u8> {
    fn bits(&self) -> u64 {
        fingerprint(self.iter().map(|&byte| u64::from(byte)))
    }
}

/// A future in a box, as an executor has it: nothing of it is inlined into who polls it.
pub(crate) type Boxed<'w, R> = Pin<Box<dyn Future<Output = R> + 'w>>;

/// The four functions of a kernel.
pub(crate) struct Ways<W, R> {
    pub(crate) plain: fn(&mut W) -> R,
    pub(crate) cooperative: for<'w> fn(&'w mut W) -> Boxed<'w, R>,
    pub(crate) consuming: for<'w> fn(&'w mut W) -> Boxed<'w, R>,
    pub(crate) yielding: for<'w> fn(&'w mut W) -> Boxed<'w, R>,
}

/// A kernel with what it works on.
pub(crate) struct Started<W, R> {
    /// Away while an executor's task has it.
    pub(crate) work: Option<W>,
    pub(crate) ways: Ways<W, R>,
}

impl<W, R> fmt::Debug for Started<W, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Started").finish_non_exhaustive()
    }
}

/// All kernels, by kind.
pub(crate) fn all() -> impl Iterator<Item = &'static Kernel> {
    [
        floats::KERNELS,
        signals::KERNELS,
        dynamic::KERNELS,
        scanners::KERNELS,
        sorts::KERNELS,
        tables::KERNELS,
        graphs::KERNELS,
        encoders::KERNELS,
        integers::KERNELS,
        adversarial::KERNELS,
    ]
    .into_iter()
    .flatten()
}

/// The kernel of this name.
pub(crate) fn find(name: &str) -> Option<&'static Kernel> {
    all().find(|kernel| kernel.name == name)
}

/// Single iterations of these take long by intent: no check can be on time there.
pub(crate) fn is_abrupt(kernel: &Kernel) -> bool {
    ["cost_jump", "slow_iteration"].contains(&kernel.name)
}

/// A figure that depends on every value and on their order.
fn fingerprint(values: impl IntoIterator<Item = u64>) -> u64 {
    values.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, value| {
        (hash ^ value).wrapping_mul(0x0100_0000_01b3).rotate_left(29)
    })
}
