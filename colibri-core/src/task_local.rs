//! Data that belongs to a task.

use core::cell::RefCell;
use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::pin;
use std::thread::LocalKey;

/// Declares data that belongs to a task: `task_local! { static NAME: Type; }`; see [`TaskLocal`].
#[macro_export]
macro_rules! task_local {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty);+ $(;)?) => {
        $($(#[$attribute])* $visibility static $name: $crate::TaskLocal<$type> = {
            ::std::thread_local! {
                static VALUE: ::core::cell::RefCell<::core::option::Option<$type>> =
                    const { ::core::cell::RefCell::new(::core::option::Option::None) };
            }
            $crate::TaskLocal::new(&VALUE)
        };)+
    };
}

/// A value that is there while a future is polled, and only there: on this executor or any other.
///
/// ```
/// use colibri_core::{Priority, Scheduler, task_local};
///
/// task_local! { static REQUEST: u32; }
///
/// let scheduler = Scheduler::new();
/// let task = scheduler.spawn(Priority::Normal, REQUEST.scope(7, async { REQUEST.with(|id| *id) }));
/// assert_eq!(scheduler.block_on(task).unwrap(), 7);
/// assert_eq!(REQUEST.try_with(|id| *id), None);
/// ```
pub struct TaskLocal<T: 'static> {
    value: &'static LocalKey<RefCell<Option<T>>>,
}

impl<T: 'static> TaskLocal<T> {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(value: &'static LocalKey<RefCell<Option<T>>>) -> Self {
        TaskLocal { value }
    }

    /// Runs `future` with `value` in place. Scopes nest; the inner value hides the outer.
    pub async fn scope<F: Future>(&'static self, value: T, future: F) -> F::Output {
        let mut future = pin!(future);
        let mut value = Some(value);
        poll_fn(move |context| {
            let _swapped = Swapped::new(self.value, &mut value);
            future.as_mut().poll(context)
        })
        .await
    }

    /// Calls `f` on the value.
    ///
    /// # Panics
    ///
    /// When there is none: outside of [`scope`](TaskLocal::scope). A future in a scope of this local must not be polled in
    /// `f`, which has the value: that panics, too.
    pub fn with<R>(&'static self, f: impl FnOnce(&T) -> R) -> R {
        self.try_with(f).expect("the task-local value is read outside of a `scope` that sets it")
    }

    /// Calls `f` on the value, if there is one; see [`with`](TaskLocal::with) for what `f` must not do.
    pub fn try_with<R>(&'static self, f: impl FnOnce(&T) -> R) -> Option<R> {
        self.value.try_with(|value| value.borrow().as_ref().map(f)).ok().flatten()
    }
}

impl<T: 'static> fmt::Debug for TaskLocal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskLocal").finish_non_exhaustive()
    }
}

/// The value is in place; dropping this puts back what was there, on a panic too.
struct Swapped<'v, T: 'static> {
    place: &'static LocalKey<RefCell<Option<T>>>,
    value: &'v mut Option<T>,
}

impl<'v, T> Swapped<'v, T> {
    fn new(place: &'static LocalKey<RefCell<Option<T>>>, value: &'v mut Option<T>) -> Self {
        place.with(|place| {
            let Ok(mut place) = place.try_borrow_mut() else {
                panic!("a future in a task-local's scope is polled inside of the same local's `with`: await it outside")
            };
            core::mem::swap(&mut *place, value);
        });
        Swapped { place, value }
    }
}

impl<T> Drop for Swapped<'_, T> {
    fn drop(&mut self) {
        self.place.with(|place| core::mem::swap(&mut *place.borrow_mut(), self.value));
    }
}
