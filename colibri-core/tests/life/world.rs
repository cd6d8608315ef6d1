//! What the parts of a case share, and who acts in it.

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use colibri_core::{
    AbortHandle, ManualClock, Priority, Scheduler, Task, TaskError, TaskId, TaskScope, TaskState, checkpoint,
};

use crate::support::{OnDrop, panic_of, poll};
use crate::table::{Case, Dropping, End, Handle, Outcome, When, Who};

pub(crate) const TIMEOUT: Duration = Duration::from_millis(5);
/// Longer than the timeout, which counts from the spawn.
pub(crate) const DELAY: Duration = Duration::from_millis(10);

/// What the parts of a case share.
pub(crate) struct World {
    pub(crate) case: Case,
    pub(crate) clock: ManualClock,
    pub(crate) scheduler: RefCell<Option<Scheduler>>,
    /// Owns the task, unless that is delayed or has a timeout.
    pub(crate) scope: RefCell<Option<TaskScope>>,
    pub(crate) handle: RefCell<Option<Task<Value>>>,
    pub(crate) abort: RefCell<Option<AbortHandle>>,
    pub(crate) waker: RefCell<Option<Waker>>,
    /// The task's capture.
    pub(crate) capture: Weak<()>,
    pub(crate) polls: Cell<u32>,
    pub(crate) future_drops: Cell<u32>,
    pub(crate) value_drops: Arc<AtomicUsize>,
    pub(crate) values_made: Cell<usize>,
    pub(crate) bystanders_done: Cell<u32>,
    /// What somebody who awaited the handle read.
    pub(crate) awaited: Cell<Option<Outcome>>,
    /// How often somebody acted.
    pub(crate) acts: Cell<u32>,
    pub(crate) complaints: RefCell<Vec<String>>,
}

impl World {
    pub(crate) fn new(case: Case, clock: ManualClock, scheduler: &Scheduler, capture: &Arc<()>) -> Rc<World> {
        Rc::new(World {
            case,
            clock,
            scheduler: RefCell::new(Some(scheduler.clone())),
            scope: RefCell::new(Some(TaskScope::new(scheduler))),
            handle: RefCell::default(),
            abort: RefCell::default(),
            waker: RefCell::default(),
            capture: Arc::downgrade(capture),
            polls: Cell::new(0),
            future_drops: Cell::new(0),
            value_drops: Arc::default(),
            values_made: Cell::new(0),
            bystanders_done: Cell::new(0),
            awaited: Cell::new(None),
            acts: Cell::new(0),
            complaints: RefCell::default(),
        })
    }

    /// Inside of a task an assertion would only be the task's panic.
    pub(crate) fn check(&self, ok: bool, what: &str) {
        if !ok {
            self.complaints.borrow_mut().push(what.to_owned());
        }
    }

    pub(crate) fn scheduler(&self) -> Scheduler {
        self.scheduler.borrow().clone().expect("it is there until the case is over")
    }

    fn id(&self) -> TaskId {
        self.abort.borrow().as_ref().expect("the task is spawned").id()
    }

    /// What the scheduler says that the task is doing.
    pub(crate) fn state(&self) -> TaskState {
        let tasks = self.scheduler().tasks();
        tasks.iter().find(|task| task.id == self.id()).map_or(TaskState::Finished, |task| task.state)
    }

    /// Who is to act does so; the row's claim of what the task is doing just then is checked.
    pub(crate) fn act(&self) {
        let Case { who, when, .. } = self.case;
        self.acts.set(self.acts.get() + 1);
        let state = self.state();
        self.check(state == when.state(), &format!("it is {state:?} when {who:?} acts"));
        let began = !matches!(when, When::New | When::Delayed) && !self.case.is_paused_at_once();
        self.check((self.polls.get() > 0) == began, "polled, or not, when somebody acts");
        let was_running = state == TaskState::Running;
        let drops = self.future_drops.get();
        match who {
            Who::Nobody => {}
            Who::Outside | Who::Task | Who::Destructor | Who::Itself | Who::OwnDestructor => self.cancel(),
            Who::Thread => {
                let abort = self.abort.borrow().clone().expect("the task is spawned");
                std::thread::spawn(move || abort.abort()).join().expect("an abort does not panic");
                self.check(self.future_drops.get() == drops, "dropped by another thread's call");
            }
            Who::Timeout => {
                self.clock.advance(TIMEOUT);
                if was_running {
                    // Else it is found at the next turn.
                    _ = poll(&mut checkpoint());
                }
            }
            Who::Shutdown => self.scheduler().shutdown(),
            Who::CancelOnDrop => {
                let handle = self.handle.take();
                self.check(handle.is_some(), "there is no handle to drop");
                self.check(panic_of(|| drop(handle)).is_none(), "a handle's drop panicked");
            }
        }
        if was_running {
            self.check(self.future_drops.get() == drops, "dropped while it runs, or twice");
        }
    }

    /// By its scope, or by its handle if it has none.
    fn cancel(&self) {
        // Taken out meanwhile: the cancel runs destructors, which may come here as well.
        let (scope, handle) = (self.scope.take(), self.handle.take());
        match (&scope, &handle) {
            (Some(scope), _) if scope.live_tasks() > 0 => scope.cancel(),
            (_, Some(task)) => task.cancel(),
            _ => self.check(self.case.when == When::Ended, "nobody can cancel it"),
        }
        self.scope.replace(scope);
        self.handle.replace(handle);
    }

    fn value(&self) -> Value {
        self.values_made.set(self.values_made.get() + 1);
        Value { drops: self.value_drops.clone(), panics: self.case.output == Dropping::Panicking }
    }
}

/// Lets him act who is to: at once, but for another task that is not the one which calls this.
pub(crate) fn set_off(world: &Rc<World>) {
    match world.case.who {
        Who::Destructor => {
            let acts = OnDrop({
                let world = world.clone();
                move || world.act()
            });
            let other = world.scheduler().spawn(Priority::Idle, async move {
                let _acts = acts;
                std::future::pending::<()>().await;
            });
            other.cancel();
        }
        _ => world.act(),
    }
}

/// An output, or a panic's payload.
pub(crate) struct Value {
    drops: Arc<AtomicUsize>,
    panics: bool,
}

impl Drop for Value {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::SeqCst);
        if self.panics {
            std::panic::resume_unwind(Box::new("the value's destructor"));
        }
    }
}

/// Reads an outcome, and drops its value.
pub(crate) fn read(result: Result<Value, TaskError>) -> Outcome {
    let outcome = match &result {
        Ok(_) => Outcome::Finished,
        Err(TaskError::Cancelled) => Outcome::Cancelled,
        Err(TaskError::TimedOut) => Outcome::TimedOut,
        Err(_) => Outcome::Panicked,
    };
    panic_of(move || drop(result));
    outcome
}

/// The task's future.
pub(crate) struct Subject {
    world: Rc<World>,
    over: bool,
    _capture: Arc<()>,
}

impl Subject {
    pub(crate) fn new(world: &Rc<World>, capture: &Arc<()>) -> Self {
        Subject { world: world.clone(), over: false, _capture: capture.clone() }
    }
}

impl Future for Subject {
    type Output = Value;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Value> {
        let world = self.world.clone();
        world.check(!self.over, "polled after its end");
        world.polls.set(world.polls.get() + 1);
        *world.waker.borrow_mut() = Some(context.waker().clone());
        if world.polls.get() == 1 {
            return Poll::Pending;
        }
        if world.case.handle == Handle::DroppedWhileItRuns {
            let handle = world.handle.take();
            world.check(panic_of(|| drop(handle)).is_none(), "a handle's drop panicked");
        }
        if world.case.when == When::Running && world.acts.get() == 0 {
            set_off(&world);
            // Whatever it says: it is not polled again, but for a cancel that only comes later.
            self.over = !matches!(world.case.who, Who::Nobody | Who::Thread);
        }
        match world.case.end {
            End::Finishes => {
                self.over = true;
                Poll::Ready(world.value())
            }
            End::Panics => {
                self.over = true;
                std::panic::resume_unwind(Box::new(world.value()))
            }
            End::Never => Poll::Pending,
        }
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        let world = self.world.clone();
        world.future_drops.set(world.future_drops.get() + 1);
        if world.case.when == When::Dropping && world.acts.get() == 0 {
            set_off(&world);
        }
        if world.case.future == Dropping::Panicking {
            drop(world);
            std::panic::resume_unwind(Box::new("the future's destructor"));
        }
    }
}

/// Awaits the handle where it lies, so that others reach it meanwhile.
pub(crate) struct Awaits(pub(crate) Rc<World>);

impl Future for Awaits {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let world = &self.0;
        let mut handle = world.handle.take().expect("nobody else takes it");
        match Pin::new(&mut handle).poll(context) {
            Poll::Pending => {
                world.handle.replace(Some(handle));
                Poll::Pending
            }
            Poll::Ready(result) => {
                world.check(world.capture.strong_count() == 1, "joined before the captures are dropped");
                Poll::Ready(read(result))
            }
        }
    }
}

/// Counts its wakes, and sees whether captures are dropped by then.
#[derive(Default)]
pub(crate) struct Joiner {
    wakes: AtomicUsize,
    early: AtomicBool,
    capture: Weak<()>,
}

impl Joiner {
    pub(crate) fn new(capture: &Arc<()>) -> Arc<Self> {
        Arc::new(Joiner { capture: Arc::downgrade(capture), ..Joiner::default() })
    }

    pub(crate) fn wakes(&self) -> usize {
        self.wakes.load(Ordering::SeqCst)
    }

    pub(crate) fn was_woken_early(&self) -> bool {
        self.early.load(Ordering::SeqCst)
    }
}

impl Wake for Joiner {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
        // One is the table's own.
        self.early.fetch_or(self.capture.strong_count() != 1, Ordering::SeqCst);
    }
}
