//! A task's place in the table: what the scheduler knows of it.
//!
//! ```text
//!            (1) spawn                 (3) pick
//!  Vacant ───────────────► Ready ───────────────────► Running
//!    ▲                     ▲   ▲                      │  │  │
//!    │                     │   └──── (4) gave way ────┘  │  │
//!    │            (6) wake │                             │  │
//!    │                   Idle ◄──────── (5) waits ───────┘  │
//!    │                     │ (8) end (also from Ready)      │ (7) finished, panicked, cancelled
//!    │     (9) release     ▼                                │
//!    └─────────────────── Done ◄────────────────────────────┘
//!
//!  (1) Engine::admit  (2) delayed start: admit leaves it Idle until its timer wakes it  (3) Engine::pick
//!  (4, 5) Engine::settle_pending  (6) Engine::wake  (7) Engine::settle_ended, by Engine::finish
//!  (8) Engine::end, by Engine::finish: a handle's Engine::cancel, a timer's Engine::time_out, Engine::shutdown.
//!      Of a Running task it only sets CANCELLED, and (7) follows when the poll is over
//!  (9) Engine::release: the output is taken, or its handle dropped (Engine::take, Engine::let_go)
//! ```
//!
//! A Ready task stays Ready while it changes its list: Engine::move_to_class (a handle's Engine::set_priority, a lift by
//! Engine::relift), and Engine::promote_from of one that has waited too long.
//!
//! Nobody would release a detached task (`DETACHED`): its (7) or (8) is at once (9), inside of `Engine::finish`, which leaves
//! it Vacant, from Running too.
//!
//! Pausing is a flag beside the state, `PAUSED`: `Engine::pause` makes a Ready task Idle, and remembers in `WOKEN` that it
//! was ready, as (6) does with each wake while the flag is set; `Engine::resume` clears it, and (6) follows if there was a wake.
//! A task that is paused while it runs stays Running until its poll is over, and then is Idle: (4) becomes (5).

use alloc::boxed::Box;
use core::any::Any;
use core::cell::Cell;
use core::future::Future;
use core::ops::Deref;
use core::pin::Pin;
use core::task::{Context, Poll};

use crate::policy::Link;
/// No index: the end of a list, no header, no joiner.
pub(crate) use crate::policy::NIL;
pub(crate) use crate::policy::State;
use crate::task::TaskError;
use crate::word;

/// What a task's slot holds: its future, and later the value that the future left.
pub(crate) type Object = Pin<Box<dyn Body>>;

/// A future of any output, or what is left of it.
pub(crate) trait Body {
    /// Polls the future. `true`: it is done, and its value is in `left`, unless `DETACHED` is among the `flags` of its slot.
    /// (A `bool` and an out parameter, since a wide return value is reloaded right after it was stored in parts, which stalls:
    /// 7 ns.)
    fn step(self: Pin<&mut Self>, context: &mut Context<'_>, flags: u8, left: &mut Left) -> bool;

    /// Moves what is left into `out`, an `Option` of the output's type, or says how the task failed.
    fn take(self: Pin<Box<Self>>, _out: &mut dyn Any) -> Option<TaskError> {
        None
    }
}

impl<F: Future> Body for F
where
    F::Output: 'static,
{
    fn step(self: Pin<&mut Self>, context: &mut Context<'_>, flags: u8, left: &mut Left) -> bool {
        match self.poll(context) {
            Poll::Pending => false,
            Poll::Ready(value) => {
                if flags & DETACHED == 0 {
                    *left = Left::of(value);
                }
                true
            }
        }
    }
}

/// What a task that has ended leaves for its handle.
#[derive(Default)]
pub(crate) enum Left {
    /// It was cancelled, or nobody wants it.
    #[default]
    Nothing,
    Word(u64),
    Object(Object),
}

impl Left {
    #[inline(always)]
    fn of<T: 'static>(value: T) -> Self {
        match word::pack(value) {
            Ok(word) => Left::Word(word),
            Err(value) => Left::Object(Box::pin(Value(value))),
        }
    }

    pub(crate) fn failure(error: TaskError) -> Self {
        Left::Object(Box::pin(Failure(error)))
    }

    /// What there is to be dropped.
    #[inline(always)]
    pub(crate) fn into_object(self) -> Option<Object> {
        match self {
            Left::Nothing | Left::Word(_) => None,
            Left::Object(object) => Some(object),
        }
    }
}

/// A finished future's value that is no word. One of a zero-sized type takes no allocation.
struct Value<T>(T);

impl<T> Unpin for Value<T> {}

impl<T: 'static> Body for Value<T> {
    fn step(self: Pin<&mut Self>, _: &mut Context<'_>, _: u8, _: &mut Left) -> bool {
        true
    }

    fn take(self: Pin<Box<Self>>, out: &mut dyn Any) -> Option<TaskError> {
        if let Some(out) = out.downcast_mut() {
            *out = Some(Pin::into_inner(self).0);
        }
        None
    }
}

/// What a task that failed leaves.
struct Failure(TaskError);

impl Body for Failure {
    fn step(self: Pin<&mut Self>, _: &mut Context<'_>, _: u8, _: &mut Left) -> bool {
        true
    }

    fn take(self: Pin<Box<Self>>, _: &mut dyn Any) -> Option<TaskError> {
        Some(Pin::into_inner(self).0)
    }
}

/// The `place` of an ended task that has left no word, and of one that has.
const NO_WORD: u8 = 0;
const WORD: u8 = 1;

/// The handle is gone: nobody wants the value.
pub(crate) const DETACHED: u8 = 1;
/// Cancelled while it ran: its end drops it.
pub(crate) const CANCELLED: u8 = 2;
/// Hovers, or will when its poll is over.
pub(crate) const PAUSED: u8 = 4;
/// Woken while it ran or hovered.
pub(crate) const WOKEN: u8 = 8;
/// Has an entry in the side table, `Extras`: a name, a weight, timers, a deadline, a class of its own while it is lifted,
/// progress, or an account; of the last also after its end.
pub(crate) const EXTRAS: u8 = 16;
/// Stands for the future of `block_on`: no event, and not counted as a task.
pub(crate) const HIDDEN: u8 = 32;

/// Awaits handles of other tasks.
pub(crate) const WAITS: u8 = 64;

/// Has waited longer than its place in its list says; see [`crate::stragglers`].
pub(crate) const STRAGGLER: u8 = 128;

/// 48 bytes. What few tasks need is in side tables.
pub(crate) struct Slot {
    pub(crate) body: Cell<Option<Object>>,
    pub(crate) generation: Cell<u32>,
    pub(crate) header: Cell<u32>,
    pub(crate) joiner: Cell<u32>,
    /// What the ready lists look at. `used` is in nanoseconds (4.29 s at most: a debt beyond that is forgiven); `since` wraps after
    /// 71 minutes; `place` also says whether the task has left a word, when it has ended.
    link: Link,
}

/// A slot's link reads as its own fields.
impl Deref for Slot {
    type Target = Link;

    #[inline(always)]
    fn deref(&self) -> &Link {
        &self.link
    }
}

impl AsRef<Link> for Slot {
    #[inline(always)]
    fn as_ref(&self) -> &Link {
        &self.link
    }
}

impl Slot {
    pub(crate) fn vacant() -> Self {
        Slot {
            body: Cell::new(None),
            generation: Cell::new(0),
            header: Cell::new(NIL),
            joiner: Cell::new(NIL),
            link: Link::new(),
        }
    }

    #[inline(always)]
    pub(crate) fn is(&self, flag: u8) -> bool {
        self.flags.get() & flag != 0
    }

    #[inline(always)]
    pub(crate) fn set(&self, flag: u8) {
        self.flags.set(self.flags.get() | flag);
    }

    #[inline(always)]
    pub(crate) fn clear(&self, flag: u8) {
        self.flags.set(self.flags.get() & !flag);
    }

    /// The task has ended and left this. A word is kept where the neighbours in a ready list were.
    #[inline(always)]
    pub(crate) fn end(&self, left: Left) {
        self.state.set(State::Done);
        self.place.set(NO_WORD);
        match left {
            Left::Nothing => {}
            Left::Word(word) => {
                self.place.set(WORD);
                self.next.set(word as u32);
                self.previous.set((word >> 32) as u32);
            }
            Left::Object(object) => self.body.set(Some(object)),
        }
    }

    /// The word that an ended task has left.
    #[inline(always)]
    pub(crate) fn word(&self) -> Option<u64> {
        let word = || u64::from(self.previous.get()) << 32 | u64::from(self.next.get());
        (self.place.get() == WORD).then(word)
    }

    #[inline(always)]
    pub(crate) fn flags(&self) -> u8 {
        self.flags.get()
    }

    pub(crate) fn set_flags(&self, flags: u8) {
        self.flags.set(flags);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_takes_48_bytes() {
        assert_eq!(size_of::<Slot>(), 48);
    }
}
