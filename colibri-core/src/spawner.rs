//! Spawning from other threads, and asking for the scheduler's.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use core::future::Future;

use crate::priority::Priority;
use crate::remote::{Message, Remote};
use crate::task::SpawnError;

/// Spawns tasks on a scheduler from any thread, wakes its host, and asks for its thread.
///
/// While one exists, [`Scheduler::run`](crate::Scheduler::run) does not return by itself.
pub struct Spawner {
    remote: Arc<Remote>,
}

impl Spawner {
    pub(crate) fn new(remote: Arc<Remote>) -> Self {
        remote.add_spawner();
        Spawner { remote }
    }

    /// Sends a task to the scheduler, which starts it at its next turn. It is detached: let it send its result home
    /// through a channel.
    ///
    /// # Errors
    ///
    /// [`SpawnError`] if the scheduler has no room, counting what was sent and not started yet, or is shut down. The
    /// future is dropped then. What was accepted is started, or dropped by the scheduler's end.
    pub fn spawn<F>(&self, priority: Priority, future: F) -> Result<(), SpawnError>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.remote.send(Message::Spawn(Box::new(move |engine| {
            if let Err((_, refused)) = engine.admit_promised(Box::pin(future), priority) {
                engine.dispose(Some(refused));
            }
        })))
    }

    /// Asks for the scheduler's thread from another one, as [`Scheduler::request_yield`](crate::Scheduler::request_yield)
    /// does from the scheduler's own: the running task gives way at its next look (about 20 µs) and the slice ends. Outside
    /// of a slice, the next one ends before it begins.
    ///
    /// It is one store: it takes no lock, wakes nobody and asks no host for a turn, and after the scheduler's end it does
    /// nothing.
    ///
    /// ```
    /// use colibri_core::{Priority, Scheduler, checkpoint};
    ///
    /// let scheduler = Scheduler::new();
    /// let input = scheduler.spawner();
    /// let computes = scheduler.spawn(Priority::Idle, async move {
    ///     // A key was pressed, which another thread sees first.
    ///     std::thread::spawn(move || input.request_yield()).join().unwrap();
    ///     loop {
    ///         checkpoint().await;
    ///     }
    /// });
    /// assert!(scheduler.run_slice().work_left, "the host has the thread long before the slice is over");
    /// drop(computes.cancel_on_drop());
    /// ```
    pub fn request_yield(&self) {
        self.remote.request_yield();
    }
}

impl Clone for Spawner {
    fn clone(&self) -> Self {
        Spawner::new(self.remote.clone())
    }
}

impl Drop for Spawner {
    fn drop(&mut self) {
        self.remote.remove_spawner();
    }
}

impl fmt::Debug for Spawner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawner").finish_non_exhaustive()
    }
}
