//! What other threads see of a scheduler: the stack of wakes, the inbox, and how to reach the host.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::time::Duration;

use crate::engine::Engine;
use crate::fault::{self, Fault};
use crate::slot::NIL;
use crate::spawner::SpawnError;
use crate::sync::{
    AtomicBool, AtomicU8, AtomicU32, Mutex, Ordering, Thread, current_thread, lock, park, park_timeout,
};
use crate::task::TaskId;
use crate::unwind;

/// The host runs, or will look before it parks.
const AWAKE: u8 = 0;
/// The host's thread is parked, or is about to be.
const PARKED: u8 = 1;
/// Something came since the host looked last.
const NOTIFIED: u8 = 2;

/// What another thread wants, carried out at the scheduler's next turn.
pub(crate) enum Message {
    /// Starts a task.
    Spawn(Box<dyn FnOnce(&Engine) + Send>),
    /// Cancels a task, if that has not ended by then.
    Cancel(TaskId),
}

/// Asks the host for a turn.
pub(crate) type Hook = Arc<dyn Fn() + Send + Sync>;

pub(crate) struct Remote {
    /// The newest of the woken headers' numbers; see [`crate::waker`].
    pub(crate) woken: AtomicU32,
    inbox: Mutex<Vec<Message>>,
    /// The inbox is not empty. Read at each switch, so that the lock is not.
    has_mail: AtomicBool,
    /// The scheduler takes no more mail. Written and read under the inbox's lock.
    closed: AtomicBool,
    /// How many tasks live, how many more were accepted from other threads and are not started, and how many may be.
    live: AtomicU32,
    promised: AtomicU32,
    max_tasks: usize,
    /// How many [`Spawner`](crate::Spawner)s there are.
    spawners: AtomicU32,
    host: AtomicU8,
    thread: Mutex<Option<Thread>>,
    hook: Mutex<Option<Hook>>,
    /// The hook was called and the host has not come yet: it is asked at most once.
    asked: AtomicBool,
    /// Somebody asked for the thread, on input for example: the running task gives way at its next look.
    yield_requested: AtomicBool,
}

impl Remote {
    pub(crate) fn new(max_tasks: usize) -> Self {
        Remote {
            woken: AtomicU32::new(NIL),
            inbox: Mutex::new(Vec::new()),
            has_mail: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            live: AtomicU32::new(0),
            promised: AtomicU32::new(0),
            max_tasks,
            spawners: AtomicU32::new(0),
            host: AtomicU8::new(AWAKE),
            thread: Mutex::new(None),
            hook: Mutex::new(None),
            asked: AtomicBool::new(false),
            yield_requested: AtomicBool::new(false),
        }
    }

    pub(crate) fn add_spawner(&self) {
        self.spawners.fetch_add(1, Ordering::Relaxed);
    }

    /// One less. The last one tells the host, which may be waiting for it.
    pub(crate) fn remove_spawner(&self) {
        if self.spawners.fetch_sub(1, Ordering::Release) == 1 {
            self.notify();
        }
    }

    pub(crate) fn has_spawners(&self) -> bool {
        self.spawners.load(Ordering::Acquire) != 0
    }

    /// Whether another thread has something for the scheduler.
    #[inline(always)]
    pub(crate) fn has_news(&self) -> bool {
        self.woken.load(Ordering::Relaxed) != NIL || self.has_mail.load(Ordering::Relaxed)
    }

    /// Leaves a message, unless it starts a task for which there is no room.
    pub(crate) fn send(&self, message: Message) -> Result<(), SpawnError> {
        {
            let mut inbox = lock(&self.inbox);
            if self.closed.load(Ordering::Relaxed) {
                return Err(SpawnError::ShutDown);
            }
            if let Message::Spawn(_) = message {
                // In this order: who is no more promised lives already.
                let promised = self.promised.load(Ordering::Acquire) as usize;
                let live = self.live.load(Ordering::Relaxed) as usize;
                if live.saturating_add(promised) >= self.max_tasks {
                    return Err(SpawnError::Full);
                }
                self.promised.fetch_add(1, Ordering::Relaxed);
            }
            inbox.push(message);
            self.has_mail.store(true, Ordering::Release);
        }
        self.notify();
        Ok(())
    }

    /// A task that was promised a place has taken it, and counts as living from now on.
    pub(crate) fn keep_promise(&self) {
        self.promised.fetch_sub(1, Ordering::Release);
    }

    /// Notes how many tasks live.
    #[inline(always)]
    pub(crate) fn set_live(&self, live: usize) {
        // The table holds fewer tasks than a u32 counts.
        self.live.store(live as u32, Ordering::Relaxed);
    }

    /// Not all that was received is carried out: there is mail again at the next turn.
    pub(crate) fn keep_mail(&self) {
        self.has_mail.store(true, Ordering::Relaxed);
    }

    /// Takes all messages, the oldest first.
    pub(crate) fn receive(&self) -> Vec<Message> {
        if !self.has_mail.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut inbox = lock(&self.inbox);
        self.has_mail.store(false, Ordering::Relaxed);
        let messages = core::mem::take(&mut *inbox);
        if fault::seeded(Fault::ForgetsMail) {
            drop(inbox);
            self.has_mail.store(false, Ordering::Relaxed);
        }
        messages
    }

    /// Takes no more messages and asks no more host. Returns the messages that were not carried out, and the hook, to be
    /// dropped.
    pub(crate) fn close(&self) -> (Vec<Message>, Option<Hook>) {
        let unread = {
            let mut inbox = lock(&self.inbox);
            self.closed.store(true, Ordering::Relaxed);
            self.has_mail.store(false, Ordering::Relaxed);
            core::mem::take(&mut *inbox)
        };
        (unread, lock(&self.hook).take())
    }

    /// Tells the host that there is something to do: unparks it if it is parked, calls its hook if it has one.
    pub(crate) fn notify(&self) {
        if self.host.swap(NOTIFIED, Ordering::AcqRel) == PARKED
            && let Some(thread) = &*lock(&self.thread)
        {
            thread.unpark();
        }
        self.ask_host();
    }

    /// Calls the hook, once until the host's next turn.
    pub(crate) fn ask_host(&self) {
        if self.asked.swap(true, Ordering::AcqRel) {
            return;
        }
        let hook = lock(&self.hook).clone();
        if let Some(hook) = hook {
            unwind::contain(|| hook());
        }
    }

    /// The host has come: it can be asked again.
    pub(crate) fn host_came(&self) {
        self.asked.store(false, Ordering::Release);
    }

    pub(crate) fn set_hook(&self, hook: Hook) {
        if self.closed.load(Ordering::Relaxed) {
            return;
        }
        let before = lock(&self.hook).replace(hook);
        unwind::contain(|| drop(before));
        // Whoever asked before asked nobody.
        self.asked.store(false, Ordering::Release);
    }

    pub(crate) fn request_yield(&self) {
        self.yield_requested.store(true, Ordering::Release);
    }

    #[inline(always)]
    pub(crate) fn is_yield_requested(&self) -> bool {
        self.yield_requested.load(Ordering::Relaxed)
    }

    pub(crate) fn clear_yield_request(&self) {
        self.yield_requested.store(false, Ordering::Relaxed);
    }

    /// Parks this thread until the host is notified or `timeout` is over. Returns at once if it was notified since
    /// the last call.
    pub(crate) fn park(&self, timeout: Option<Duration>) {
        *lock(&self.thread) = Some(current_thread());
        if self.host.compare_exchange(AWAKE, PARKED, Ordering::AcqRel, Ordering::Acquire).is_ok() {
            // A token left by somebody else ends the park early; the caller looks again and comes back.
            match timeout {
                Some(timeout) => park_timeout(timeout),
                None => park(),
            }
        }
        // A swap, since what a waker that notified meanwhile has pushed must be seen by the look that follows.
        self.host.swap(AWAKE, Ordering::AcqRel);
    }
}
