//! What the scheduler's tests share: a scheduler on a clock of ours, the log its tasks write, and quiet ways to panic.

// Each test file uses a part of it.
#![allow(dead_code)]

use std::cell::{Cell, RefCell};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use colibri_core::{Builder, Clock, Instant, ManualClock, Priority, Scheduler, Task, checkpoint};

pub(crate) const MS: Duration = Duration::from_millis(1);
pub(crate) const US: Duration = Duration::from_micros(1);

/// A future of any kind, where a test tries several.
pub(crate) type Boxed<T = ()> = Pin<Box<dyn Future<Output = T>>>;

/// In which test mode the whole suite runs, if in one: `always-yield`, or `shuffle` with a seed, as `shuffle=7`.
const MODE: &str = "COLIBRI_TEST_MODE";

/// What each scheduler of the tests begins with.
pub(crate) fn builder() -> Builder {
    let Ok(mode) = std::env::var(MODE) else { return Scheduler::builder() };
    match (mode.as_str(), mode.strip_prefix("shuffle=").map(str::parse)) {
        ("always-yield", _) => Scheduler::builder().always_yield(true),
        (_, Some(Ok(seed))) => Scheduler::builder().shuffle(seed),
        _ => panic!("{MODE} is `always-yield` or `shuffle=SEED`, not `{mode}`"),
    }
}

/// Whether tasks run in turn and by quantum, in no mode that changes it: what speaks of just that is asserted only then.
pub(crate) fn in_turn() -> bool {
    std::env::var_os(MODE).is_none()
}

/// Whether a test has nothing at all to say in the mode that the suite runs in; it tells why.
pub(crate) fn says_nothing_in_this_mode(why: &str) -> bool {
    if !in_turn() {
        println!("says nothing in this mode: {why}");
    }
    !in_turn()
}

/// Whether each check gives way, whatever the time.
pub(crate) fn always_yields() -> bool {
    std::env::var_os(MODE).is_some_and(|mode| mode == "always-yield")
}

/// A scheduler on a clock of ours, and the log its tasks write.
pub(crate) struct Bench {
    pub(crate) clock: ManualClock,
    pub(crate) scheduler: Scheduler,
    pub(crate) log: Log,
}

/// What happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Rc<RefCell<Vec<String>>>);

impl Log {
    pub(crate) fn say(&self, what: impl Into<String>) {
        self.0.borrow_mut().push(what.into());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        self.0.borrow_mut().split_off(0)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.borrow().len()
    }

    /// How often `what` is in it.
    pub(crate) fn count(&self, what: &str) -> usize {
        self.0.borrow().iter().filter(|entry| *entry == what).count()
    }

    /// Asserts what is in the log, which is empty afterwards: what [`folded`](Log::folded) shows, in parts divided by `|`.
    ///
    /// In turn it is that to the letter. In a mode that changes turns the parts follow one another all the same, and each has
    /// the same entries, in whatever order.
    #[track_caller]
    pub(crate) fn told(&self, expected: &str) {
        self.told_in(expected, "");
    }

    /// The same in one of several cases.
    #[track_caller]
    pub(crate) fn told_in(&self, expected: &str, case: &str) {
        if in_turn() {
            let in_one: Vec<&str> = expected.split(" | ").collect();
            return assert_eq!(self.folded(), in_one.join(" "), "{case}");
        }
        let mut entries = self.take().into_iter();
        for part in expected.split(" | ") {
            let mut expected: Vec<String> = part.split_whitespace().flat_map(unfold).collect();
            let mut told: Vec<String> = entries.by_ref().take(expected.len()).collect();
            expected.sort();
            told.sort();
            assert_eq!(told, expected, "{case}: `{part}`, in some order");
        }
        assert_eq!(entries.next(), None, "{case}: more than was expected");
    }

    /// The log with runs of equal entries folded: `a×3`. It is empty afterwards.
    pub(crate) fn folded(&self) -> String {
        let mut folded: Vec<(String, usize)> = Vec::new();
        for entry in self.take() {
            match folded.last_mut() {
                Some((last, count)) if *last == entry => *count += 1,
                _ => folded.push((entry, 1)),
            }
        }
        let words: Vec<String> = folded
            .into_iter()
            .map(|(entry, count)| if count == 1 { entry } else { format!("{entry}×{count}") })
            .collect();
        words.join(" ")
    }
}

/// Three entries of `a×3`.
fn unfold(word: &str) -> impl Iterator<Item = String> + use<> {
    let (entry, count) = word.split_once('×').unwrap_or((word, "1"));
    std::iter::repeat_n(entry.to_owned(), count.parse().expect("a count behind the sign"))
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(|builder| builder)
    }

    /// With other figures.
    pub(crate) fn with(set: impl FnOnce(Builder) -> Builder) -> Self {
        let clock = ManualClock::new();
        let scheduler = set(builder().clock(clock.clone())).build();
        Bench { clock, scheduler, log: Log::default() }
    }

    /// On a clock that is made from ours: one that is looked at seldom, for example.
    pub(crate) fn on<C: Clock>(clock: impl FnOnce(ManualClock) -> C) -> Self {
        let ours = ManualClock::new();
        let scheduler = builder().clock(clock(ours.clone())).build();
        Bench { clock: ours, scheduler, log: Log::default() }
    }

    /// A task's work: `steps` steps of `step` each, with a checkpoint after each.
    pub(crate) fn work(
        &self,
        name: &'static str,
        steps: u32,
        step: Duration,
    ) -> impl Future<Output = ()> + 'static + use<> {
        let (clock, log) = (self.clock.clone(), self.log.clone());
        async move {
            for _ in 0..steps {
                clock.advance(step);
                log.say(name);
                checkpoint().await;
            }
        }
    }

    /// Says one thing.
    pub(crate) fn say(&self, what: &'static str) -> impl Future<Output = ()> + 'static + use<> {
        let log = self.log.clone();
        async move { log.say(what) }
    }

    /// Spawns and detaches.
    pub(crate) fn start(&self, priority: Priority, future: impl Future<Output = ()> + 'static) {
        drop(self.scheduler.spawn(priority, future));
    }

    /// The time on the clock, in ms.
    pub(crate) fn ms(&self) -> u128 {
        (self.clock.now() - Instant::ZERO).as_millis()
    }

    /// Asserts of steps of a ms each that there are so many, in whatever mode, and that the task `name`, which was to rise after
    /// so many ms, had its first one soon after that.
    #[track_caller]
    pub(crate) fn rises_in_time(&self, name: &str, steps: usize, rises_after: usize) {
        assert_eq!(self.log.len(), steps);
        let first = self.log.0.borrow().iter().position(|entry| entry == name).expect("it has a turn");
        assert!((rises_after..rises_after + 20).contains(&first), "its first turn is after {first} ms");
    }

    /// Runs slices until nothing is ready, at most `most` of them.
    pub(crate) fn slices(&self, most: u32) {
        for _ in 0..most {
            if !self.scheduler.run_slice().work_left {
                return;
            }
        }
    }
}

/// A clock like the system's: looked at every 20 µs, not at each check.
pub(crate) struct Lazy(pub(crate) ManualClock);

impl Clock for Lazy {
    fn now(&self) -> Instant {
        self.0.now()
    }
}

/// A clock that shows multiples of a step only, and is looked at seldom.
pub(crate) struct Coarse(pub(crate) ManualClock, pub(crate) Duration);

impl Clock for Coarse {
    fn now(&self) -> Instant {
        let step = self.1.as_nanos() as u64;
        Instant::from_nanos(self.0.now().as_nanos() / step * step)
    }
}

/// A waker that counts.
#[derive(Default)]
pub(crate) struct Wakes(AtomicUsize);

impl Wakes {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Polls once with a waker.
pub(crate) fn poll_with<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// Polls once, for nobody.
pub(crate) fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_with(future, Waker::noop())
}

/// Counts how often a future is polled, and hands out its waker. It panics when polled after it is ready.
pub(crate) struct Spy<F> {
    inner: Pin<Box<F>>,
    done: bool,
    seen: Seen,
}

/// What a [`Spy`] saw.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    polls: Rc<Cell<u32>>,
    waker: Rc<RefCell<Option<Waker>>>,
}

impl Seen {
    pub(crate) fn polls(&self) -> u32 {
        self.polls.get()
    }

    /// The waker of the last poll.
    pub(crate) fn waker(&self) -> Waker {
        self.waker.borrow().clone().expect("it was not polled yet")
    }

    pub(crate) fn wake(&self) {
        let waker = self.waker.borrow().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Watches a future.
pub(crate) fn spy<F: Future>(inner: F) -> (Spy<F>, Seen) {
    let seen = Seen::default();
    (Spy { inner: Box::pin(inner), done: false, seen: seen.clone() }, seen)
}

/// A future that never ends, and what is seen of it.
pub(crate) fn idle() -> (Spy<std::future::Pending<()>>, Seen) {
    spy(std::future::pending())
}

impl<F: Future> Future for Spy<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        assert!(!self.done, "polled after it was ready");
        self.seen.polls.set(self.seen.polls.get() + 1);
        *self.seen.waker.borrow_mut() = Some(context.waker().clone());
        let polled = self.inner.as_mut().poll(context);
        self.done = polled.is_ready();
        polled
    }
}

/// Runs a closure when dropped.
pub(crate) struct OnDrop<F: FnMut()>(pub(crate) F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Waits for ever, and runs `on_drop` when it is dropped.
pub(crate) async fn until_dropped(on_drop: impl FnMut()) {
    let _on_drop = OnDrop(on_drop);
    std::future::pending::<()>().await;
}

/// Panics without a message on the terminal.
pub(crate) fn quiet_panic(message: &'static str) -> ! {
    std::panic::resume_unwind(Box::new(message))
}

/// Runs `f` and returns what its panic said, or `None` if it did not panic. Real panics print as ever.
pub(crate) fn panic_of<R>(f: impl FnOnce() -> R) -> Option<String> {
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).err()?;
    let text = payload.downcast_ref::<&str>().map(|text| text.to_string());
    Some(text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default())
}

/// Runs a test that may hang on a thread of its own, and fails if it takes a minute.
pub(crate) fn in_time(body: impl FnOnce() + Send + 'static) {
    let (done, wait) = std::sync::mpsc::channel();
    let body = std::thread::spawn(move || {
        body();
        // Nobody listens to who comes too late.
        _ = done.send(());
    });
    if wait.recv_timeout(Duration::from_secs(60)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
        panic!("it hangs");
    }
    if let Err(payload) = body.join() {
        std::panic::resume_unwind(payload);
    }
}

/// A handle in a place that several tasks reach.
pub(crate) type Shared<T = ()> = Rc<RefCell<Option<Task<T>>>>;

/// Runs the test `name` in a process of its own, where it may abort or overflow its stack and take no other test along.
pub(crate) fn in_a_process_of_its_own(name: &str, body: impl FnOnce()) {
    const ALONE: &str = "COLIBRI_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let program = std::env::current_exe().expect("a test knows its program");
    let output = std::process::Command::new(program)
        .args(["--exact", name, "--test-threads=1", "--nocapture"])
        .env(ALONE, "1")
        .output()
        .expect("a test can start itself");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "alone: {}\n{said}", output.status);
}
