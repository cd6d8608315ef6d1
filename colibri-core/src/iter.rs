//! Iterator chains that give way: they have no loop that the attribute could rewrite.

use core::fmt;
use core::iter::{Product, Sum};
use core::ops::ControlFlow;

use crate::rt::{Function, Own, Site, put, refill, take};

/// Gives every iterator [`cooperative`](IteratorExt::cooperative).
pub trait IteratorExt: Iterator + Sized {
    /// The same items, consumed by methods that are futures and give way as a `#[cooperative]` loop does: each item is
    /// one check.
    ///
    /// ```
    /// use colibri_core::{IteratorExt, Priority, Scheduler};
    ///
    /// let scheduler = Scheduler::new();
    /// let task = scheduler.spawn(Priority::Idle, (1..=1_000_u64).filter(|n| n % 3 == 0).cooperative().sum::<u64>());
    /// assert_eq!(scheduler.block_on(task).unwrap(), 166_833);
    /// ```
    fn cooperative(self) -> Cooperative<Self> {
        Cooperative { iterator: self }
    }
}

impl<I: Iterator> IteratorExt for I {}

/// An iterator whose consumers are futures; see [`IteratorExt::cooperative`].
///
/// A panic in a closure or in the iterator is a panic of the future, as in the plain method. Adaptors (`map`, `filter`,
/// …) go before `cooperative()`.
#[derive(Clone)]
#[must_use = "it does nothing before one of its methods is awaited"]
pub struct Cooperative<I> {
    iterator: I,
}

/// How a run over some items ended.
enum Run<A, R> {
    /// The fuel is gone.
    More(A),
    /// The items are.
    Ended(A),
    /// The closure said so.
    Broke(R),
}

/// Folds as many items as there is fuel.
#[inline]
fn run<I: Iterator, A, R>(
    iterator: &mut I,
    mut state: A,
    fuel: &mut i64,
    fold: &mut impl FnMut(A, I::Item) -> ControlFlow<R, A>,
) -> Run<A, R> {
    while *fuel > 0 {
        let Some(item) = iterator.next() else { return Run::Ended(state) };
        *fuel -= 1;
        match fold(state, item) {
            ControlFlow::Continue(next) => state = next,
            ControlFlow::Break(result) => return Run::Broke(result),
        }
    }
    Run::More(state)
}

impl<I: Iterator> Cooperative<I> {
    /// Folds until the closure breaks or the items end.
    async fn fold_until<A, R>(
        self,
        first: A,
        mut fold: impl FnMut(A, I::Item) -> ControlFlow<R, A>,
    ) -> ControlFlow<R, A> {
        const FUNCTION: &Function = &Function::new("iterator.cooperative()", file!(), line!());
        const SITE: &Site = &Site::new("iterator.cooperative()", file!(), line!());
        let mut polls = Own::begun(FUNCTION);
        let mut iterator = self.iterator;
        let mut state = first;
        let mut fuel = take();
        let flow = loop {
            if fuel <= 0 {
                fuel = refill(polls.lend(), fuel, SITE).await;
            }
            match run(&mut iterator, state, &mut fuel, &mut fold) {
                Run::More(more) => state = more,
                Run::Ended(last) => break ControlFlow::Continue(last),
                Run::Broke(result) => break ControlFlow::Break(result),
            }
        };
        put(fuel);
        flow
    }

    /// As [`Iterator::fold`].
    pub async fn fold<A>(self, first: A, mut fold: impl FnMut(A, I::Item) -> A) -> A {
        let folded =
            self.fold_until(first, |state, item| ControlFlow::<Never, A>::Continue(fold(state, item))).await;
        match folded {
            ControlFlow::Continue(last) => last,
            ControlFlow::Break(never) => match never {},
        }
    }

    /// As [`Iterator::try_for_each`], with [`ControlFlow`].
    pub async fn try_for_each<R>(self, mut each: impl FnMut(I::Item) -> ControlFlow<R>) -> ControlFlow<R> {
        self.fold_until((), |(), item| each(item)).await
    }

    /// As [`Iterator::for_each`].
    pub async fn for_each(self, mut each: impl FnMut(I::Item)) {
        self.fold((), |(), item| each(item)).await;
    }

    /// As [`Iterator::reduce`].
    pub async fn reduce(self, mut reduce: impl FnMut(I::Item, I::Item) -> I::Item) -> Option<I::Item> {
        self.fold(None, |state, item| {
            Some(match state {
                Some(state) => reduce(state, item),
                None => item,
            })
        })
        .await
    }

    /// As [`Iterator::sum`]: the sum of no items, to which each is added.
    pub async fn sum<S>(self) -> S
    where
        S: Sum<I::Item> + Sum<S>,
    {
        let none: S = core::iter::empty::<I::Item>().sum();
        self.fold(none, |sum, item| [sum, core::iter::once(item).sum()].into_iter().sum()).await
    }

    /// As [`Iterator::product`].
    pub async fn product<P>(self) -> P
    where
        P: Product<I::Item> + Product<P>,
    {
        let none: P = core::iter::empty::<I::Item>().product();
        self.fold(none, |product, item| [product, core::iter::once(item).product()].into_iter().product())
            .await
    }

    /// As [`Iterator::count`].
    pub async fn count(self) -> usize {
        self.fold(0, |count, _| count + 1).await
    }

    /// As [`Iterator::last`].
    pub async fn last(self) -> Option<I::Item> {
        self.reduce(|_, item| item).await
    }

    /// As [`Iterator::min`]: the first of the smallest.
    pub async fn min(self) -> Option<I::Item>
    where
        I::Item: Ord,
    {
        self.reduce(|least, item| if item < least { item } else { least }).await
    }

    /// As [`Iterator::max`]: the last of the largest.
    pub async fn max(self) -> Option<I::Item>
    where
        I::Item: Ord,
    {
        self.reduce(|most, item| if item >= most { item } else { most }).await
    }

    /// As [`Iterator::collect`], into what can be extended.
    pub async fn collect<C>(self) -> C
    where
        C: Default + Extend<I::Item>,
    {
        self.fold(C::default(), |mut all, item| {
            all.extend(Some(item));
            all
        })
        .await
    }

    /// As [`Iterator::partition`].
    pub async fn partition<C>(self, mut is_left: impl FnMut(&I::Item) -> bool) -> (C, C)
    where
        C: Default + Extend<I::Item>,
    {
        self.fold((C::default(), C::default()), |(mut left, mut right), item| {
            let side = if is_left(&item) { &mut left } else { &mut right };
            side.extend(Some(item));
            (left, right)
        })
        .await
    }

    /// As [`Iterator::any`].
    pub async fn any(self, mut is: impl FnMut(I::Item) -> bool) -> bool {
        self.try_for_each(|item| if is(item) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
            .await
            .is_break()
    }

    /// As [`Iterator::all`].
    pub async fn all(self, mut is: impl FnMut(I::Item) -> bool) -> bool {
        !self.any(|item| !is(item)).await
    }

    /// As [`Iterator::find`].
    pub async fn find(self, mut is: impl FnMut(&I::Item) -> bool) -> Option<I::Item> {
        self.find_map(|item| is(&item).then_some(item)).await
    }

    /// As [`Iterator::find_map`].
    pub async fn find_map<T>(self, mut find: impl FnMut(I::Item) -> Option<T>) -> Option<T> {
        self.try_for_each(|item| match find(item) {
            Some(found) => ControlFlow::Break(found),
            None => ControlFlow::Continue(()),
        })
        .await
        .break_value()
    }

    /// As [`Iterator::position`].
    pub async fn position(self, mut is: impl FnMut(I::Item) -> bool) -> Option<usize> {
        self.fold_until(0, |place, item| {
            if is(item) { ControlFlow::Break(place) } else { ControlFlow::Continue(place + 1) }
        })
        .await
        .break_value()
    }
}

/// What cannot be.
enum Never {}

impl<I> fmt::Debug for Cooperative<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cooperative").finish_non_exhaustive()
    }
}
