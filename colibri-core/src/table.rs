//! A table that only grows, leaf by leaf.

use alloc::boxed::Box;
use core::cell::{Cell, OnceCell};

// loom makes a new scheduler for each interleaving: small tables keep that quick.

/// Entries in a leaf: a leaf of slots is 24 KB, allocated in some 50 µs at worst. A vector that doubles would stop
/// the thread for milliseconds at a million tasks.
const LEAF: usize = if cfg!(colibri_loom) { 4 } else { 512 };

/// Leaves in a branch: the first level of the directory, so that an empty table is small.
const BRANCH: usize = if cfg!(colibri_loom) { 4 } else { 256 };

/// Branches in a table: 512 × 256 × 1024 entries, 134 million, is its capacity.
const BRANCHES: usize = if cfg!(colibri_loom) { 4 } else { 1024 };

type Leaf<T> = Box<[T; LEAF]>;
type Branch<T> = Box<[OnceCell<Leaf<T>>; BRANCH]>;

/// References into it last as long as the table: no borrow flags, no copying, no reallocation.
pub(crate) struct Table<T> {
    /// The first branch stands apart: one lookup less, for all who have fewer than 131 072 entries.
    first: Branch<T>,
    others: Box<[OnceCell<Branch<T>>]>,
    length: Cell<u32>,
}

impl<T> Table<T> {
    /// The most entries a table can hold.
    pub(crate) const CAPACITY: u32 = (LEAF * BRANCH * BRANCHES) as u32;

    pub(crate) fn new() -> Self {
        Table {
            first: boxed_array(OnceCell::new),
            others: (1..BRANCHES).map(|_| OnceCell::new()).collect(),
            length: Cell::new(0),
        }
    }

    #[inline(always)]
    pub(crate) fn at(&self, index: u32) -> &T {
        let index = index as usize;
        let leaf = match self.first.get(index / LEAF) {
            Some(leaf) => leaf,
            None => &self.others[index / (LEAF * BRANCH) - 1].get().expect("an index below the length")
                [index / LEAF % BRANCH],
        };
        &leaf.get().expect("an index below the length")[index % LEAF]
    }

    pub(crate) fn length(&self) -> u32 {
        self.length.get()
    }

    /// Adds one entry and returns its index, or `None` when the table is full.
    pub(crate) fn grow(&self, make: impl Fn() -> T) -> Option<u32> {
        let length = self.length.get();
        if length == Self::CAPACITY {
            return None;
        }
        let index = length as usize;
        let branch = match index / (LEAF * BRANCH) {
            0 => &self.first,
            other => self.others[other - 1].get_or_init(|| boxed_array(OnceCell::new)),
        };
        branch[index / LEAF % BRANCH].get_or_init(|| boxed_array(make));
        self.length.set(length + 1);
        Some(length)
    }
}

fn boxed_array<T, const N: usize>(make: impl Fn() -> T) -> Box<[T; N]> {
    let entries: Box<[T]> = (0..N).map(|_| make()).collect();
    match entries.try_into() {
        Ok(array) => array,
        Err(_) => unreachable!("exactly N entries were made"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_where_they_are() {
        let table = Table::new();
        assert_eq!(table.grow(|| Cell::new(0)), Some(0));
        let first = table.at(0);
        for index in 1..(LEAF * BRANCH + 2) as u32 {
            assert_eq!(table.grow(|| Cell::new(0)), Some(index));
        }
        first.set(7);
        assert_eq!(table.at(0).get(), 7);
        assert_eq!(table.length(), (LEAF * BRANCH + 2) as u32);
    }
}
