//! Re-entrance: every public call inside every callback. Nothing panics but for the documented errors, nothing locks
//! up, and the scheduler works on.

#[path = "../support/mod.rs"]
mod support;

mod calls;
mod complete;
mod far;
mod places;
mod told;
mod world;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::mpsc;
use std::task::Waker;
use std::time::Duration;

use colibri_core::{
    Clock, Instant, ManualClock, Observer, Priority, Scheduler, TaskEvent, checkpoint, yield_now,
};

use self::calls::{Allowed, calls};
use self::places::Drive;
use self::support::{OnDrop, US, panic_of, poll, spy};
use self::world::{HOUR, Make, WORLD, World, here, waits_once};

/// Makes a call inside a callback and says what is wrong.
fn reenter(
    (place, drive): &(String, Drive),
    (name, allowed, make): &(String, Allowed, Make),
) -> Result<(), String> {
    let check = |ok: bool, what: &str| if ok { Ok(()) } else { Err(format!("{name}, in {place}: {what}")) };
    let alive = Rc::new(());
    let world = World::new(&alive);
    WORLD.set(Some(world.clone()));

    let driven = panic_of(|| drive(&world, &|| world.armed.set(Some(*make))));
    check(driven.is_none(), &format!("the caller panicked: {driven:?}"))?;
    world.in_turn.set(false);
    let outcome = world.outcome.take();
    check(outcome.is_some(), "the callback was not called")?;
    let (in_turn, panic) = outcome.unwrap();
    match (allowed, in_turn) {
        (Allowed::NotInATurn, true) => {
            let error = panic.unwrap_or_default();
            check(
                error.contains("its own scheduler") || error.contains("the same scheduler"),
                "no error, or another",
            )?;
        }
        (Allowed::InATurn, false) => {
            let error = panic.unwrap_or_default();
            check(error.contains("outside of a colibri scheduler"), "no error, or another")?;
        }
        // A scheduler that is shut down can not be waited for.
        _ if panic.as_ref().is_some_and(|error| name == "block_on" && error.contains("was shut down")) => (),
        _ => check(panic.is_none(), &format!("it panicked: {panic:?}"))?,
    }

    // The scheduler works on, unless it was ended.
    let scheduler = world.scheduler.take().filter(|scheduler| !scheduler.is_shut_down());
    let ends = name.contains("shutdown") || name.contains("drop of the scheduler");
    let ended = ["shutdown", "refused", "unread", "too late", "with its scheduler"]
        .iter()
        .any(|end| place.contains(end));
    check(scheduler.is_some() || ends || ended, "the scheduler was ended")?;
    if let Some(scheduler) = scheduler {
        let done = Rc::new(Cell::new(false));
        let ran = done.clone();
        drop(scheduler.spawn(Priority::Normal, async move {
            yield_now().await;
            ran.set(true);
        }));
        // And it has lost nobody.
        world.other_waits.borrow().wake();
        world.clock.advance(3 * HOUR);
        for _ in 0..50 {
            scheduler.run_slice();
        }
        check(done.get(), "the scheduler does not work any more")?;
        check(world.others_ended.get() == 3, &format!("{} of 3 others ended", world.others_ended.get()))?;
        check(scheduler.live_tasks() <= 12, "tasks are left")?;
        let counted = scheduler.stats();
        let live = scheduler.live_tasks() as u64;
        check(counted.spawned == counted.ended + live, &format!("{counted:?} with {live} live tasks"))?;
        check(scheduler.tasks().len() as u64 == live, "what lives is not what is counted")?;
    }
    // And nothing is left of it.
    for task in &world.tasks {
        task.take();
    }
    world.latest.take();
    world.scope.take();
    WORLD.take();
    check(Rc::strong_count(&world) == 1, "something holds on to the tasks")?;
    check(Rc::strong_count(&alive) == 1, "something holds on to the scheduler")
}

/// How long one pair may take before it counts as hanging. It takes less than a ms.
const LONGEST_PAIR: Duration = Duration::from_secs(60);

#[test]
fn every_call_inside_every_callback() {
    // Some hundred pairs end in a documented error: it need not be printed.
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| here()));
    // On a thread of its own, which tells each pair it begins: one that hangs is named.
    let (tell, told) = mpsc::channel();
    let matrix = std::thread::spawn(move || run_the_matrix(&tell));
    let mut last = String::new();
    loop {
        match told.recv_timeout(LONGEST_PAIR) {
            Ok(pair) => last = pair,
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("it hangs: {last}"),
        }
    }
    let wrong = matrix.join();
    std::panic::set_hook(print);
    let wrong = wrong.unwrap_or_else(|payload| {
        let panic = panic_of(|| std::panic::resume_unwind(payload)).unwrap_or_default();
        Err(format!("the matrix itself panicked after {last}: {panic}"))
    });
    if let Err(wrong) = wrong {
        panic!("{wrong}");
    }
}

fn run_the_matrix(tell: &mpsc::Sender<String>) -> Result<(), String> {
    let (calls, mut places) = (calls(), places::places());
    places.extend(told::places());
    let mut wrong = Vec::new();
    for place in &places {
        for call in &calls {
            if place.0 == "the panic hook" && call.1 == Allowed::NotInATurn {
                // An error by a panic, which in there would end the process.
                continue;
            }
            let pair = format!("{}, in {}", call.0, place.0);
            tell.send(pair.clone()).expect("the test waits");
            let panic = panic_of(|| reenter(place, call).unwrap_or_else(|what| wrong.push(what)));
            // What a pair leaves that went wrong is dropped here.
            for panic in panic.into_iter().chain(panic_of(|| drop(WORLD.take()))) {
                wrong.push(format!("{pair}: the test panicked: {panic}"));
            }
        }
    }
    let all = calls.len() * places.len();
    println!("{} calls, {} places", calls.len(), places.len());
    assert!(all > 25_000, "{all} pairs");
    if wrong.is_empty() {
        return Ok(());
    }
    Err(format!("{} of {all} are wrong:\n{}", wrong.len(), wrong.join("\n")))
}

/// A hook that is replaced is dropped: what its captures' destructors call must not meet a lock that is held.
#[test]
fn a_hooks_destructor_may_call_the_scheduler() {
    // It did: the old hook was dropped under its lock, and a spawn in there asks the host.
    support::in_time(|| {
        thread_local! { static SCHEDULER: Scheduler = support::builder().build(); }
        SCHEDULER.with(|scheduler| {
            let spawns =
                OnDrop(|| SCHEDULER.with(|scheduler| drop(scheduler.spawn(Priority::Normal, async {}))));
            scheduler.on_ready(move || {
                let _owned = &spawns;
            });
            scheduler.run_slice();
            scheduler.on_ready(|| ());
            scheduler.run_slice();
            assert_eq!(scheduler.stats().ended, 1);
        });
    });
}

/// An observer that spawns a task at each event it sees: what it causes is told after it, without recursion.
#[test]
fn an_observer_that_answers_each_event_does_not_recurse() {
    struct Answers(Rc<Cell<u32>>, RefCell<Option<Scheduler>>);
    impl Observer for Answers {
        fn spawned(&self, _: &TaskEvent) {
            self.0.set(self.0.get() + 1);
            if self.0.get() < 10_000 {
                let scheduler = self.1.borrow();
                drop(scheduler.as_ref().unwrap().spawn(Priority::Normal, async {}));
            } else {
                self.1.take();
            }
        }
    }
    let place = Rc::new(Answers(Rc::default(), RefCell::default()));
    struct Shared(Rc<Answers>);
    impl Observer for Shared {
        fn spawned(&self, task: &TaskEvent) {
            self.0.spawned(task);
        }
    }
    let scheduler = support::builder().observer(Shared(place.clone())).build();
    place.1.replace(Some(scheduler.clone()));
    drop(scheduler.spawn(Priority::Normal, async {}));
    while scheduler.run_slice().work_left {}
    assert_eq!((place.0.get(), scheduler.stats().ended), (10_000, 10_000));
}

/// A clock that, while wakes are taken in, brings many more from another thread and passes a checkpoint, which takes them in.
#[test]
fn wakes_that_come_while_wakes_are_taken_in_are_not_lost() {
    for reads_before in 0..60 {
        let (woken, ended) = wakes_come_while_wakes_are_taken_in(reads_before);
        assert_eq!(ended, woken, "by read {reads_before}");
    }
}

/// How many tasks are woken, and how many of them end.
fn wakes_come_while_wakes_are_taken_in(reads_before: u32) -> (u32, u32) {
    const EACH: u32 = 100;
    struct Slow {
        clock: ManualClock,
        reads_before: Cell<Option<u32>>,
        late: RefCell<Vec<Waker>>,
    }
    impl Clock for Slow {
        fn now(&self) -> Instant {
            // So slow that there is not time for all wakes at one look.
            self.clock.advance(5 * US);
            if let Some(before) = self.reads_before.take() {
                self.reads_before.set(before.checked_sub(1));
                if before == 0 {
                    let late = self.late.take();
                    std::thread::spawn(|| late.into_iter().for_each(Waker::wake)).join().unwrap();
                    _ = poll(&mut checkpoint());
                }
            }
            self.clock.now()
        }
        fn every_check(&self) -> bool {
            true
        }
    }
    let clock =
        Rc::new(Slow { clock: ManualClock::new(), reads_before: Cell::new(None), late: RefCell::default() });
    let scheduler = support::builder().clock(clock.clone()).build();
    let ended = Rc::new(Cell::new(0));
    let mut wakers: Vec<Waker> = Vec::new();
    for _ in 0..2 * EACH {
        let (waits, seen) = spy(waits_once(0));
        let ended = ended.clone();
        drop(scheduler.spawn(Priority::Normal, async move {
            waits.await;
            ended.set(ended.get() + 1);
        }));
        scheduler.run_slice();
        wakers.push(seen.waker());
    }
    clock.late.replace(wakers.split_off(EACH as usize));
    let arms = clock.clone();
    drop(scheduler.spawn(Priority::Immediate, async move {
        std::thread::spawn(|| wakers.into_iter().for_each(Waker::wake)).join().unwrap();
        arms.reads_before.set(Some(reads_before));
        checkpoint().await;
    }));
    for _ in 0..100 {
        scheduler.run_slice();
    }
    assert!(clock.late.borrow().is_empty(), "read {reads_before} does not come");
    (2 * EACH, ended.get())
}

/// A public function that comes later is to come into the matrix, too.
#[test]
fn every_public_function_is_called_or_said_to_be_no_call() {
    let calls = include_str!("calls.rs");
    assert_eq!(complete::uncalled(calls), Vec::<String>::new());
}
