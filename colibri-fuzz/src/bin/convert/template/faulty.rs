//! Runtimes that are wrong on purpose: some test of a crate must find each out. Written by `cargo xtask convert`.

/// A `for` loses its last item, where the iterator knows that it is the last.
pub mod lost_item {
    pub mod __private {
        pub use colibri_core::__private::*;

        pub trait IntoIterator {
            type Items: Iterator;

            fn into_iter(self) -> Self::Items;
        }

        impl<I: core::iter::IntoIterator> IntoIterator for I {
            type Items = Short<I::IntoIter>;

            fn into_iter(self) -> Short<I::IntoIter> {
                Short(core::iter::IntoIterator::into_iter(self))
            }
        }

        pub struct Short<I>(I);

        impl<I: Iterator> Iterator for Short<I> {
            type Item = I::Item;

            fn next(&mut self) -> Option<I::Item> {
                let item = self.0.next()?;
                if self.0.size_hint().1 == Some(0) { None } else { Some(item) }
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (0, self.0.size_hint().1)
            }
        }
    }
}

/// The fuel never ends.
pub mod endless_fuel {
    pub mod __private {
        pub use colibri_core::__private::*;

        pub fn take() -> i64 {
            i64::MAX / 2
        }
    }
}
