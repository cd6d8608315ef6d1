//! What a transition leaves to be done by user code.

use alloc::boxed::Box;
use core::task::Waker;

use super::Extras;
use crate::slot::Object;

/// What a transition leaves to be dropped and woken, once all state is changed and nothing is borrowed:
/// `Engine::settle` does it.
#[must_use]
#[derive(Default)]
pub(crate) struct Leftovers {
    pub(super) object: Option<Object>,
    pub(super) joiner: Option<Waker>,
    pub(super) extras: Option<Box<Extras>>,
}
