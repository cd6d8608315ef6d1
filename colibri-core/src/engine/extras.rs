//! What few tasks have, beside the slots: who has none of it pays with a flag that is at hand anyway.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::priority::Priority;
use crate::stats::TaskStats;
use crate::timer::Key;

/// Places in a leaf: a leaf takes 4 KB, once one of its tasks has extras.
const LEAF: usize = 512;

#[derive(Default)]
pub(crate) struct Extras {
    pub(crate) name: Option<String>,
    pub(crate) weight: Option<u32>,
    /// Not ready before its timer says so.
    pub(crate) delayed: bool,
    /// Orders it among its class.
    pub(crate) deadline: Option<u64>,
    /// Keeps equal deadlines in the order of coming.
    pub(crate) came: u64,
    /// The timer of a delayed start.
    pub(crate) start: Option<Key>,
    /// The timer that ends it, and whether that has happened while it ran.
    pub(crate) timeout: Option<Key>,
    pub(crate) timed_out: bool,
    /// Its own class, while it is lifted to its waiter's.
    pub(crate) own_class: Option<Priority>,
    /// How far it says it is.
    pub(crate) progress: Option<(u64, u64)>,
    /// What it used, if somebody wants to know.
    pub(crate) account: Option<TaskStats>,
}

type Leaf = Box<[Option<Box<Extras>>]>;

/// Extras by the number of their task: found by two steps, however many tasks have some. A tree, in which each step is a miss
/// of the cache, took 2 µs at a million named tasks.
#[derive(Default)]
pub(super) struct ExtrasTable(Vec<Option<Leaf>>);

impl ExtrasTable {
    pub(super) fn get(&self, index: u32) -> Option<&Extras> {
        let (leaf, place) = place(index);
        self.0.get(leaf)?.as_ref()?[place].as_deref()
    }

    pub(super) fn get_mut(&mut self, index: u32) -> Option<&mut Extras> {
        let (leaf, place) = place(index);
        self.0.get_mut(leaf)?.as_mut()?[place].as_deref_mut()
    }

    pub(super) fn get_or_default(&mut self, index: u32) -> &mut Extras {
        self.entry(index).get_or_insert_default()
    }

    pub(super) fn insert(&mut self, index: u32, extras: Box<Extras>) {
        *self.entry(index) = Some(extras);
    }

    /// The leaf stays: the next task of this place is likely to have some, too.
    pub(super) fn remove(&mut self, index: u32) -> Option<Box<Extras>> {
        let (leaf, place) = place(index);
        self.0.get_mut(leaf)?.as_mut()?[place].take()
    }

    fn entry(&mut self, index: u32) -> &mut Option<Box<Extras>> {
        let (leaf, place) = place(index);
        if leaf >= self.0.len() {
            self.0.resize_with(leaf + 1, || None);
        }
        &mut self.0[leaf].get_or_insert_with(|| (0..LEAF).map(|_| None).collect())[place]
    }
}

fn place(index: u32) -> (usize, usize) {
    (index as usize / LEAF, index as usize % LEAF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extras_are_found_where_they_were_put_and_nowhere_else() {
        let mut table = ExtrasTable::default();
        let last = (3 * LEAF) as u32;
        assert!(table.get(last).is_none() && table.remove(last).is_none());
        table.insert(last, Box::new(Extras { came: 7, ..Extras::default() }));
        table.get_or_default(1).came = 8;
        assert_eq!(table.get(last).map(|extras| extras.came), Some(7));
        assert_eq!(table.get_or_default(last).came, 7);
        assert!([0, 2, last - 1, last + 1].iter().all(|&other| table.get(other).is_none()));
        assert_eq!(table.remove(1).map(|extras| extras.came), Some(8));
        assert!(table.get(1).is_none() && table.get_mut(1).is_none());
    }
}
