//! Spawning from other threads.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use core::future::Future;

use crate::priority::Priority;
use crate::remote::{Message, Remote};
use crate::task::SpawnError;

/// Spawns tasks on a scheduler from any thread, and wakes its host.
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
