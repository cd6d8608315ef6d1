//! Strips: the next items of an iterator as an iterator of its own, so that a loop over it needs no check inside.

/// An iterator on its way into [`OpenFast`] or [`OpenAny`]: which of them takes it is decided by the number of `&mut`.
#[derive(Debug)]
pub struct Probe<I>(pub Option<I>);

impl<I> Probe<I> {
    #[inline(always)]
    fn take(&mut self) -> I {
        match self.0.take() {
            Some(iterator) => iterator,
            None => unreachable!("a probe holds an iterator until it is opened"),
        }
    }
}

/// The next items of an iterator, and the rest of it.
#[derive(Debug)]
pub struct Strip<I> {
    head: I,
    rest: I,
    fuel: i64,
    is_last: bool,
}

impl<I: Iterator> Iterator for Strip<I> {
    type Item = I::Item;

    #[inline(always)]
    fn next(&mut self) -> Option<I::Item> {
        self.head.next()
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.head.size_hint()
    }
}

impl<I> Strip<I> {
    /// The fuel that is left, the rest of the iterator, and whether it is empty.
    #[inline(always)]
    pub fn close(self) -> (i64, I, bool) {
        (self.fuel, self.rest, self.is_last)
    }
}

/// Iterators that can be cut in two of their own kind: a loop over the first is the plain loop, vectorised or not.
pub trait Cut: Iterator + Sized {
    /// How many items there are, or `usize::MAX` if they are more.
    fn items(&self) -> usize;

    /// Cuts off the first `count` items, of which there are at least so many.
    fn cut(self, count: usize) -> (Self, Self);
}

macro_rules! cut_ranges {
    ($($integer:ty)*) => {
        $(
            impl Cut for core::ops::Range<$integer> {
                #[inline(always)]
                fn items(&self) -> usize {
                    if self.start < self.end {
                        usize::try_from(self.end.abs_diff(self.start)).unwrap_or(usize::MAX)
                    } else {
                        0
                    }
                }

                #[inline(always)]
                fn cut(self, count: usize) -> (Self, Self) {
                    // The distance of two integers fits in the unsigned type of their width.
                    let middle = self.start.wrapping_add(count as $integer);
                    (self.start..middle, middle..self.end)
                }
            }
        )*
    };
}

cut_ranges! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }

impl<T> Cut for core::slice::Iter<'_, T> {
    #[inline(always)]
    fn items(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn cut(self, count: usize) -> (Self, Self) {
        let (head, rest) = self.as_slice().split_at(count);
        (head.iter(), rest.iter())
    }
}

impl<T> Cut for core::slice::IterMut<'_, T> {
    #[inline(always)]
    fn items(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn cut(self, count: usize) -> (Self, Self) {
        let (head, rest) = self.into_slice().split_at_mut(count);
        (head.iter_mut(), rest.iter_mut())
    }
}

macro_rules! cut_by_skipping {
    ($(<$($generic:tt),+> $iterator:ty;)*) => {
        $(
            impl<$($generic),+> Cut for $iterator
            where
                Self: Clone + DoubleEndedIterator + ExactSizeIterator,
            {
                #[inline(always)]
                fn items(&self) -> usize {
                    self.len()
                }

                #[inline(always)]
                fn cut(self, count: usize) -> (Self, Self) {
                    let (mut head, mut rest) = (self.clone(), self);
                    let after = rest.len() - count;
                    if after > 0 {
                        head.nth_back(after - 1);
                    }
                    if count > 0 {
                        rest.nth(count - 1);
                    }
                    (head, rest)
                }
            }
        )*
    };
}

// Each of these skips any number of items, from both ends, in one step.
cut_by_skipping! {
    <'a, T> core::slice::Chunks<'a, T>;
    <'a, T> core::slice::ChunksExact<'a, T>;
    <'a, T> core::slice::Windows<'a, T>;
    <'a, T> core::iter::Copied<core::slice::Iter<'a, T>>;
    <'a, T> core::iter::Enumerate<core::slice::Iter<'a, T>>;
    <'a, T> core::iter::Enumerate<core::slice::ChunksExact<'a, T>>;
    <'a, T> core::iter::Rev<core::slice::Iter<'a, T>>;
    <I> core::iter::Rev<core::ops::Range<I>>;
}

/// Opens a strip of an iterator that can be cut.
pub trait OpenFast {
    /// The iterator.
    type Iter: Cut;

    /// A strip of at most `fuel` items.
    fn open(self, fuel: i64) -> Strip<Self::Iter>;
}

impl<I: Cut> OpenFast for &mut &mut Probe<I> {
    type Iter = I;

    #[inline(always)]
    fn open(self, fuel: i64) -> Strip<I> {
        let iterator = self.take();
        let (items, most) = (iterator.items(), usize::try_from(fuel).unwrap_or(usize::MAX));
        let is_last = items <= most;
        let count = if is_last { items } else { most };
        let (head, rest) = iterator.cut(count);
        Strip { head, rest, fuel: fuel - count as i64, is_last }
    }
}

/// Opens a strip of any iterator: it counts.
pub trait OpenAny {
    /// The iterator.
    type Iter: Iterator;

    /// A strip of at most `fuel` items.
    fn open(self, fuel: i64) -> Counted<Self::Iter>;
}

impl<I: Iterator> OpenAny for &mut Probe<I> {
    type Iter = I;

    #[inline(always)]
    fn open(self, fuel: i64) -> Counted<I> {
        let iterator = self.take();
        let most = usize::try_from(fuel).unwrap_or(usize::MAX);
        // With both bounds in one, the compiler can see that none of these items is missing.
        let left = iterator.size_hint().1.map_or(most, |upper| upper.min(most));
        Counted { iterator, left, fuel: fuel - left as i64, is_last: false }
    }
}

/// At most so many items of an iterator.
#[derive(Debug)]
pub struct Counted<I> {
    iterator: I,
    left: usize,
    fuel: i64,
    is_last: bool,
}

impl<I: Iterator> Iterator for Counted<I> {
    type Item = I::Item;

    #[inline(always)]
    fn next(&mut self) -> Option<I::Item> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let item = self.iterator.next();
        self.is_last |= item.is_none();
        item
    }
}

impl<I: Iterator> Counted<I> {
    /// The fuel that is left, the rest of the iterator, and whether it is empty.
    #[inline(always)]
    pub fn close(self) -> (i64, I, bool) {
        let is_last = self.is_last || self.iterator.size_hint().1 == Some(0);
        (self.fuel + self.left as i64, self.iterator, is_last)
    }
}
