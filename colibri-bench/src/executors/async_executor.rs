//! async-executor's `LocalExecutor`, which smol is made of.

use std::rc::Rc;

use super::{Class, Executor};

#[derive(Debug, Clone)]
pub(crate) struct LocalExecutor(Rc<async_executor::LocalExecutor<'static>>);

impl Executor for LocalExecutor {
    type Handle<T: 'static> = async_executor::Task<T>;

    fn new() -> Self {
        Self(Rc::default())
    }

    fn spawn_as<T: 'static>(&self, _: Class, future: impl Future<Output = T> + 'static) -> Self::Handle<T> {
        self.0.spawn(future)
    }

    fn detach<T: 'static>(task: Self::Handle<T>) {
        task.detach();
    }

    fn cancel<T: 'static>(task: Self::Handle<T>) {
        drop(task);
    }

    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        futures::executor::block_on(self.0.run(future))
    }
}
