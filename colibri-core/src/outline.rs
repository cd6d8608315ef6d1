//! What loop nests need that `#[cooperative]` moves into a function of their own.
//!
//! Inside there is no await, so the compiler keeps every local in a register and knows of the references among the
//! parameters that they do not alias. The nest ends in one of three ways ([`Exit`]); where it was stopped in the middle,
//! it is entered there again ([`Entry`]).

use core::ops::ControlFlow;
use core::task::Poll;

use crate::local;
use crate::rt::Site;

/// How an outlined nest ended.
#[derive(Debug)]
pub enum Exit<R> {
    /// At its end.
    Done,
    /// By a `return` or a `?`.
    Return(R),
    /// In the middle, where its [`Entry`] says: the fuel is gone, or another part of its code goes on from there.
    Left,
}

/// Where an outlined nest is entered: at the head of one of its loops, with the locals that are alive there.
#[derive(Debug)]
pub enum Entry<A, B = (), C = (), D = (), E = (), F = ()> {
    /// Before the outermost loop.
    Start,
    /// At the outermost loop.
    At0(A),
    /// At the second in the order of the source, and so on.
    At1(B),
    /// At the third.
    At2(C),
    /// At the fourth.
    At3(D),
    /// At the fifth.
    At4(E),
    /// At the sixth.
    At5(F),
}

impl<A, B, C, D, E, F> Entry<A, B, C, D, E, F> {
    /// Takes it out of its place. It stays in the future between two calls: what is alive at a stop is moved there once.
    #[inline(always)]
    #[must_use]
    pub fn take(place: &mut Self) -> Self {
        core::mem::replace(place, Entry::Start)
    }

    /// The loop at whose head it is, of which `sites` has one each.
    #[inline(always)]
    #[must_use]
    pub fn site<const LOOPS: usize>(&self, sites: &'static [Site; LOOPS]) -> &'static Site {
        let index = match self {
            Entry::Start | Entry::At0(_) => 0,
            Entry::At1(_) => 1,
            Entry::At2(_) => 2,
            Entry::At3(_) => 3,
            Entry::At4(_) => 4,
            Entry::At5(_) => 5,
        };
        &sites[if index < LOOPS { index } else { 0 }]
    }
}

/// How many iterations of a short inner loop may run before the loop around it looks at the fuel: none where every
/// check counts. The call is smaller than what it does.
#[inline(never)]
#[must_use]
pub fn arrears() -> i64 {
    local::with(|local| local.meter.arrears())
}

/// The iterator's upper bound, at most `i64::MAX`.
#[inline(always)]
pub fn upper<I: Iterator>(iterator: &I) -> i64 {
    iterator.size_hint().1.and_then(|upper| i64::try_from(upper).ok()).unwrap_or(i64::MAX)
}

/// Types that the `?` operator works on, in a function that gives `R`.
#[diagnostic::on_unimplemented(
    message = "the `?` operator cannot be applied to type `{Self}` in a function that returns `{R}`",
    label = "cannot use the `?` operator here"
)]
pub trait Branch<R> {
    /// What `?` gives where it does not leave.
    type Value;

    /// The value, or what the function returns.
    fn branch(self) -> ControlFlow<R, Self::Value>;
}

#[diagnostic::do_not_recommend]
impl<T, U> Branch<Option<U>> for Option<T> {
    type Value = T;

    #[inline(always)]
    fn branch(self) -> ControlFlow<Option<U>, T> {
        match self {
            Some(value) => ControlFlow::Continue(value),
            None => ControlFlow::Break(None),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T, E, U, F: From<E>> Branch<Result<U, F>> for Result<T, E> {
    type Value = T;

    #[inline(always)]
    fn branch(self) -> ControlFlow<Result<U, F>, T> {
        match self {
            Ok(value) => ControlFlow::Continue(value),
            Err(error) => ControlFlow::Break(Err(F::from(error))),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<B, C, D> Branch<ControlFlow<B, D>> for ControlFlow<B, C> {
    type Value = C;

    #[inline(always)]
    fn branch(self) -> ControlFlow<ControlFlow<B, D>, C> {
        match self {
            ControlFlow::Continue(value) => ControlFlow::Continue(value),
            ControlFlow::Break(value) => ControlFlow::Break(ControlFlow::Break(value)),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T, E, U, F: From<E>> Branch<Result<U, F>> for Poll<Result<T, E>> {
    type Value = Poll<T>;

    #[inline(always)]
    fn branch(self) -> ControlFlow<Result<U, F>, Poll<T>> {
        match self {
            Poll::Ready(Ok(value)) => ControlFlow::Continue(Poll::Ready(value)),
            Poll::Ready(Err(error)) => ControlFlow::Break(Err(F::from(error))),
            Poll::Pending => ControlFlow::Continue(Poll::Pending),
        }
    }
}

#[diagnostic::do_not_recommend]
impl<T, E, U, F: From<E>> Branch<Poll<Result<U, F>>> for Result<T, E> {
    type Value = T;

    #[inline(always)]
    fn branch(self) -> ControlFlow<Poll<Result<U, F>>, T> {
        match self {
            Ok(value) => ControlFlow::Continue(value),
            Err(error) => ControlFlow::Break(Poll::Ready(Err(F::from(error)))),
        }
    }
}

/// The operand of a `?` in an outlined nest.
#[inline(always)]
pub fn branch<R, Q: Branch<R>>(operand: Q) -> ControlFlow<R, Q::Value> {
    operand.branch()
}
