//! Bells: wakers that may be sent anywhere, and are heard on the thread where they were hung.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::{Rc, Weak};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Wake, Waker};

/// Something that hears bells.
pub(crate) trait Ear {
    /// The bell of `task` was rung, on this thread.
    fn hear(&self, task: u32);
}

/// A task's waker, heard by this ear for as long as that lives. A ring on another thread is not heard.
pub(crate) fn bell(ear: &Rc<dyn Ear>, task: u32) -> Waker {
    let number = BELLS.fetch_add(1, Ordering::Relaxed);
    EARS.with(|ears| ears.borrow_mut().insert(number, Rc::downgrade(ear)));
    Waker::from(Arc::new(Bell { number, task }))
}

struct Bell {
    number: u64,
    task: u32,
}

static BELLS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static EARS: RefCell<BTreeMap<u64, Weak<dyn Ear>>> = const { RefCell::new(BTreeMap::new()) };
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // The map may be gone when a thread ends.
        let ear = EARS.try_with(|ears| ears.borrow().get(&self.number).and_then(Weak::upgrade));
        if let Ok(Some(ear)) = ear {
            ear.hear(self.task);
        }
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        let _ = EARS.try_with(|ears| ears.borrow_mut().remove(&self.number));
    }
}
