//! With threads: a locked inbox, a parked host, and a hook that can be set at any time.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::time::Duration;

use super::{Hook, Remote};
use crate::engine::Engine;
use crate::fault::{self, Fault};
use crate::sync::{
    AtomicBool, AtomicU8, AtomicU32, Mutex, Ordering, Thread, current_thread, lock, park, park_timeout,
};
use crate::task::{SpawnError, TaskId};
use crate::unwind::Containment;

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
    /// Puts a task into the next lower class.
    Demote(TaskId),
}

impl Engine {
    pub(crate) fn carry_out(&self, message: Message) {
        match message {
            Message::Spawn(start) => {
                start(self);
                self.remote.inbox.keep_promise();
            }
            // `block_on` has to hand back an output: who waits for it cannot be told of a cancel.
            Message::Cancel(id) if self.is_stand_in(id) => {}
            Message::Cancel(id) => self.cancel(id),
            Message::Demote(id) => self.demote(id),
        }
    }
}

/// What other threads sent.
pub(crate) struct Inbox {
    messages: Mutex<Vec<Message>>,
    /// There are messages. Read at each switch, so that the lock is not.
    has_mail: AtomicBool,
    /// The scheduler takes no more mail. Written and read under the lock.
    closed: AtomicBool,
    /// How many tasks were accepted from other threads and are not started, and how many may live with these.
    promised: AtomicU32,
    max_tasks: usize,
    /// How many [`Spawner`](crate::Spawner)s there are.
    spawners: AtomicU32,
}

impl Inbox {
    pub(super) fn new(max_tasks: usize) -> Self {
        Inbox {
            messages: Mutex::new(Vec::new()),
            has_mail: AtomicBool::new(false),
            closed: AtomicBool::new(false),
            promised: AtomicU32::new(0),
            max_tasks,
            spawners: AtomicU32::new(0),
        }
    }

    #[inline(always)]
    pub(super) fn has_mail(&self) -> bool {
        self.has_mail.load(Ordering::Relaxed)
    }

    fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Relaxed)
    }

    fn promised(&self) -> usize {
        self.promised.load(Ordering::Acquire) as usize
    }

    /// A task that was promised a place has taken it, and counts as living from now on.
    fn keep_promise(&self) {
        self.promised.fetch_sub(1, Ordering::Release);
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
        let mut inbox = lock(&self.messages);
        self.has_mail.store(false, Ordering::Relaxed);
        let messages = core::mem::take(&mut *inbox);
        if fault::seeded(Fault::ForgetsMail) {
            drop(inbox);
            self.has_mail.store(false, Ordering::Relaxed);
        }
        messages
    }

    /// Takes no more messages. Returns those that were not carried out.
    pub(super) fn close(&self) -> Vec<Message> {
        let mut inbox = lock(&self.messages);
        if fault::seeded(Fault::ClosesTooLate) {
            let unread = core::mem::take(&mut *inbox);
            drop(inbox);
            self.closed.store(true, Ordering::Relaxed);
            return unread;
        }
        self.closed.store(true, Ordering::Relaxed);
        self.has_mail.store(false, Ordering::Relaxed);
        core::mem::take(&mut *inbox)
    }
}

/// The host's thread.
pub(crate) struct Host {
    state: AtomicU8,
    thread: Mutex<Option<Thread>>,
}

impl Host {
    pub(super) fn new() -> Self {
        Host { state: AtomicU8::new(AWAKE), thread: Mutex::new(None) }
    }

    /// Says that it is about to park, unless something came since it looked last.
    fn parks(&self) -> bool {
        if fault::seeded(Fault::ParksUnannounced) {
            return self.state.load(Ordering::Acquire) == AWAKE;
        }
        self.state.compare_exchange(AWAKE, PARKED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Unparks it, if it is parked.
    pub(super) fn notify(&self) {
        if self.state.swap(NOTIFIED, Ordering::AcqRel) == PARKED
            && let Some(thread) = &*lock(&self.thread)
        {
            thread.unpark();
        }
    }
}

/// Where the host's hook is.
pub(crate) struct HookPlace(Mutex<Option<Hook>>);

impl HookPlace {
    pub(super) fn new(hook: Option<Hook>) -> Self {
        HookPlace(Mutex::new(hook))
    }

    pub(super) fn call(&self, contained: &Containment) {
        let hook = lock(&self.0).clone();
        if let Some(hook) = hook {
            contained.contain(|| hook());
        }
    }

    pub(super) fn take(&self) -> Option<Hook> {
        lock(&self.0).take()
    }
}

impl Remote {
    pub(crate) fn add_spawner(&self) {
        self.inbox.spawners.fetch_add(1, Ordering::Relaxed);
    }

    /// One less. The last one tells the host, which may be waiting for it.
    pub(crate) fn remove_spawner(&self) {
        if self.inbox.spawners.fetch_sub(1, Ordering::Release) == 1 && !fault::seeded(Fault::LeavesSilently) {
            self.notify();
        }
    }

    fn has_spawners(&self) -> bool {
        self.inbox.spawners.load(Ordering::Acquire) != 0
    }

    /// Whether no other thread has something for the scheduler, nor can have before somebody makes a [`Spawner`] again.
    ///
    /// [`Spawner`]: crate::Spawner
    pub(crate) fn is_alone(&self) -> bool {
        if fault::seeded(Fault::LooksForMailFirst) {
            return !self.has_news() && !self.has_spawners();
        }
        // In this order: who is gone has left its mail before.
        !self.has_spawners() && !self.has_news()
    }

    /// Leaves a message, unless it starts a task for which there is no room.
    pub(crate) fn send(&self, message: Message) -> Result<(), SpawnError> {
        {
            let mut inbox = lock(&self.inbox.messages);
            if self.inbox.is_closed() {
                return Err(SpawnError::ShutDown);
            }
            if let Message::Spawn(_) = message {
                // In this order: who is no more promised lives already.
                let promised = self.inbox.promised();
                let live = self.live.load(Ordering::Relaxed) as usize;
                let promised =
                    if fault::seeded(Fault::CountsTheLivingFirst) { self.inbox.promised() } else { promised };
                if live.saturating_add(promised) >= self.inbox.max_tasks {
                    return Err(SpawnError::Full);
                }
                self.inbox.promised.fetch_add(1, Ordering::Relaxed);
            }
            inbox.push(message);
            self.inbox.has_mail.store(true, Ordering::Release);
        }
        self.notify();
        Ok(())
    }

    /// Whether one more task may live beside `live` of them and those that were promised a place; if so, it counts as living
    /// from now on.
    pub(crate) fn take_place(&self, live: usize, max_tasks: usize) -> bool {
        // Else another thread may be promised the place meanwhile.
        let _inbox = (!fault::seeded(Fault::TakesPlacesUnlocked)).then(|| lock(&self.inbox.messages));
        let free = live.saturating_add(self.inbox.promised()) < max_tasks;
        if free {
            self.set_live(live + 1);
        }
        free
    }

    pub(crate) fn set_hook(&self, hook: Hook) {
        if self.inbox.is_closed() {
            return;
        }
        if fault::seeded(Fault::AsksBeforeTheHookIsThere) {
            self.host_came();
            lock(&self.hook.0).replace(hook);
            return;
        }
        let before = lock(&self.hook.0).replace(hook);
        self.contained.contain(|| drop(before));
        // Whoever asked before asked nobody.
        self.host_came();
    }

    /// Parks this thread until the host is notified or `timeout` is over. Returns at once if it was notified since
    /// the last call.
    pub(crate) fn park(&self, timeout: Option<Duration>) {
        *lock(&self.host.thread) = Some(current_thread());
        if self.host.parks() {
            // A token left by somebody else ends the park early; the caller looks again and comes back.
            match timeout {
                Some(timeout) => park_timeout(timeout),
                None => park(),
            }
        }
        // A swap, since what a waker that notified meanwhile has pushed must be seen by the look that follows.
        self.host.state.swap(AWAKE, Ordering::AcqRel);
    }
}
