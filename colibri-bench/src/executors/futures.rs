//! The `LocalPool` of futures.

use std::cell::RefCell;
use std::rc::Rc;

use futures::executor::{LocalPool, LocalSpawner};
use futures::future::RemoteHandle;
use futures::task::LocalSpawnExt;

use super::{Class, Executor};

#[derive(Debug, Clone)]
pub(crate) struct Pool {
    pool: Rc<RefCell<LocalPool>>,
    spawner: LocalSpawner,
}

impl Executor for Pool {
    type Handle<T: 'static> = RemoteHandle<T>;

    fn new() -> Self {
        let pool = LocalPool::new();
        Self { spawner: pool.spawner(), pool: Rc::new(RefCell::new(pool)) }
    }

    fn spawn_as<T: 'static>(&self, _: Class, future: impl Future<Output = T> + 'static) -> RemoteHandle<T> {
        self.spawner.spawn_local_with_handle(future).expect("the pool is there")
    }

    fn detach<T: 'static>(handle: RemoteHandle<T>) {
        handle.forget();
    }

    fn cancel<T: 'static>(handle: RemoteHandle<T>) {
        drop(handle);
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        self.pool.borrow_mut().run_until(future)
    }
}
