//! What the state of a machine without threads is made of: atomics of at most 32 bits, which any such machine has, used with
//! plain loads and stores. Nothing is ordered or exchanged: whoever polls futures in an interrupt is on its own.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, Ordering::Relaxed};

use crate::event::YieldReason;
use crate::rt::Site;

/// The methods of a cell, for a wrapper of an atomic.
macro_rules! like_a_cell {
    ($name:ident($atomic:ty): $type:ty) => {
        pub(crate) struct $name($atomic);

        impl $name {
            pub(crate) const fn new(value: $type) -> Self {
                Self(<$atomic>::new(value))
            }

            #[inline(always)]
            pub(crate) fn get(&self) -> $type {
                self.0.load(Relaxed)
            }

            #[inline(always)]
            pub(crate) fn set(&self, value: $type) {
                self.0.store(value, Relaxed);
            }

            replace!($type);
        }
    };
}

macro_rules! replace {
    ($type:ty) => {
        #[inline(always)]
        #[allow(dead_code)] // Not every kind is replaced somewhere.
        pub(crate) fn replace(&self, value: $type) -> $type {
            let before = self.get();
            self.set(value);
            before
        }
    };
}

like_a_cell!(U8(AtomicU8): u8);
like_a_cell!(U32(AtomicU32): u32);
like_a_cell!(Bool(AtomicBool): bool);

/// Two halves.
pub(crate) struct U64([AtomicU32; 2]);

impl U64 {
    pub(crate) const fn new(value: u64) -> Self {
        U64([AtomicU32::new(value as u32), AtomicU32::new((value >> 32) as u32)])
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        u64::from(self.0[1].load(Relaxed)) << 32 | u64::from(self.0[0].load(Relaxed))
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: u64) {
        self.0[0].store(value as u32, Relaxed);
        self.0[1].store((value >> 32) as u32, Relaxed);
    }

    replace!(u64);
}

pub(crate) struct I64(U64);

impl I64 {
    pub(crate) const fn new(value: i64) -> Self {
        I64(U64::new(value as u64))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> i64 {
        self.0.get() as i64
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: i64) {
        self.0.set(value as u64);
    }

    replace!(i64);
}

/// An address to compare, never to follow.
pub(crate) struct Pointer(AtomicPtr<()>);

impl Pointer {
    pub(crate) const fn new(value: *const ()) -> Self {
        Pointer(AtomicPtr::new(value.cast_mut()))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> *const () {
        self.0.load(Relaxed).cast_const()
    }

    #[inline(always)]
    pub(crate) fn set(&self, value: *const ()) {
        self.0.store(value.cast_mut(), Relaxed);
    }

    replace!(*const ());
}

const REASONS: [YieldReason; 6] = [
    YieldReason::Own,
    YieldReason::Quantum,
    YieldReason::Slice,
    YieldReason::Preempted,
    YieldReason::Host,
    YieldReason::Look,
];

/// The place of a reason in `REASONS`, from 1 on; 0 for none.
pub(crate) struct Reason(U8);

impl Reason {
    pub(crate) const fn new(_none: Option<YieldReason>) -> Self {
        Reason(U8::new(0))
    }

    pub(crate) fn get(&self) -> Option<YieldReason> {
        REASONS.get(usize::from(self.0.get()).wrapping_sub(1)).copied()
    }

    pub(crate) fn set(&self, value: Option<YieldReason>) {
        let place = REASONS.iter().position(|&reason| Some(reason) == value);
        self.0.set(place.map_or(0, |place| place as u8 + 1));
    }

    replace!(Option<YieldReason>);
}

/// A reference cannot be kept in a number: places are not known here.
pub(crate) struct Place;

impl Place {
    pub(crate) const fn new(_none: Option<&'static Site>) -> Self {
        Place
    }

    pub(crate) fn get(&self) -> Option<&'static Site> {
        None
    }

    pub(crate) fn set(&self, _value: Option<&'static Site>) {}
}
