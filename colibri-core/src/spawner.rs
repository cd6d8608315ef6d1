//! Spawning from other threads.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use core::future::Future;

use crate::priority::Priority;
use crate::remote::Remote;
use crate::slot::DETACHED;

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
    /// The future comes back if the scheduler is gone or shut down.
    pub fn spawn<F>(&self, priority: Priority, future: F) -> Result<(), SpawnError>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let sent = self.remote.send(Box::new(move |engine| {
            if let Err(refused) = engine.admit(Box::pin(future), priority, DETACHED, None) {
                crate::unwind::contain(|| drop(refused));
            }
        }));
        if sent { Ok(()) } else { Err(SpawnError { _private: () }) }
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

/// The scheduler is gone or shut down.
#[derive(Debug)]
pub struct SpawnError {
    _private: (),
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the scheduler is shut down and takes no more tasks")
    }
}

impl core::error::Error for SpawnError {}
