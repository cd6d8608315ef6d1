//! Callbacks on other threads, a stall detector's and the hook, and the calls that can be made there.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::{Duration, Instant};

use colibri_core::{
    AbortHandle, Priority, Spawner, StallAction, StallDetector, Task, checkpoint, current, set_progress,
    should_yield, yield_now,
};

use crate::support::{self, Boxed, Seen, panic_of, poll, spy};
use crate::world::waits_once;

/// What a callback on another thread has: of a task that holds the thread, of one that waits, and of one that has ended.
struct Far {
    spawner: Spawner,
    aborts: [AbortHandle; 3],
    wakers: [Waker; 3],
}

type Call = fn(Far);

const CALLS: [(&str, Call); 13] = [
    ("a spawner's spawn", |far| far.spawner.spawn(Priority::Immediate, yield_now()).unwrap()),
    ("a spawner's request_yield", |far| far.spawner.request_yield()),
    ("a spawner's clone and drop", |far| drop(far.spawner.clone())),
    ("the last spawner's drop", |far| drop(far.spawner)),
    ("aborts", |far| far.aborts.iter().for_each(AbortHandle::abort)),
    ("wakes", |far| far.wakers.into_iter().for_each(Waker::wake)),
    ("wakes by reference, twice", |far| {
        for waker in far.wakers.iter().chain(&far.wakers) {
            waker.wake_by_ref();
        }
    }),
    ("clones and drops of wakers", |far| drop(far.wakers.clone())),
    ("drops of wakers", |far| drop(far.wakers)),
    ("what asks for the running task", |_| {
        set_progress(1, 2);
        assert!(current().is_none());
    }),
    ("checks", |_| {
        _ = should_yield();
        _ = poll(&mut checkpoint());
    }),
    ("another scheduler's block_on", |_| support::builder().build().block_on(yield_now())),
    ("everything, and a panic", |far| {
        far.spawner.spawn(Priority::Idle, yield_now()).unwrap();
        far.aborts.iter().for_each(AbortHandle::abort);
        far.wakers.into_iter().for_each(Waker::wake);
        support::quiet_panic("a callback");
    }),
];

/// Where a callback finds what it is to do, once.
type Armed = Arc<Mutex<Option<(Call, Far)>>>;

fn here(armed: &Armed, made: &AtomicBool) {
    struct Made<'m>(&'m AtomicBool);
    impl Drop for Made<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let call = armed.lock().unwrap().take();
    if let Some((call, far)) = call {
        let _made = Made(made);
        call(far);
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Report,
    Policy,
    Hook,
}

/// Makes a call in a callback on another thread, while the scheduler's own is held until it is made.
fn reenter(place: Place, call: Call) {
    let (armed, made) = (Armed::default(), Arc::new(AtomicBool::new(false)));
    let calls = |at: Place| {
        let (armed, made) = (armed.clone(), made.clone());
        move || {
            if place == at {
                here(&armed, &made);
            }
        }
    };
    let (report, policy) = (calls(Place::Report), calls(Place::Policy));
    let detector =
        StallDetector::new(Duration::from_millis(1)).on_report(move |_| report()).on_stall(move |_| {
            policy();
            StallAction::None
        });
    let scheduler = support::builder().stall_detector(detector).on_ready(calls(Place::Hook)).build();

    let (waits, waits_seen) = spy(waits_once(1));
    let (ends, ends_seen) = spy(async {});
    let is_made = made.clone();
    let (holds, holds_seen) = spy(async move {
        waits_once(0).await;
        // Without a check until then: a stall.
        let began = Instant::now();
        while !is_made.load(Ordering::SeqCst) && began.elapsed() < Duration::from_secs(30) {
            std::thread::yield_now();
        }
    });
    let futures: [Boxed; 3] = [Box::pin(holds), Box::pin(waits), Box::pin(ends)];
    let tasks = futures.map(|future| scheduler.spawn(Priority::Normal, future));
    scheduler.run_slice();
    let aborts = tasks.each_ref().map(Task::abort_handle);
    let wakers = [&holds_seen, &waits_seen, &ends_seen].map(Seen::waker);
    let wakes = wakers[0].clone();
    armed.lock().unwrap().replace((call, Far { spawner: scheduler.spawner(), aborts, wakers }));
    if place == Place::Hook {
        std::thread::spawn(|| wakes.wake()).join().expect("a wake does not panic");
    } else {
        wakes.wake();
        scheduler.run_slice();
    }
    assert!(made.load(Ordering::SeqCst), "the callback was not called");

    // Nothing is lost: whoever waits ends when it is woken, and so does whoever came from afar.
    for seen in [&holds_seen, &waits_seen] {
        seen.wake();
    }
    for _ in 0..20 {
        scheduler.run_slice();
    }
    let stats = scheduler.stats();
    assert_eq!((scheduler.live_tasks(), stats.ended), (0, stats.spawned));
    drop(tasks);
}

#[test]
fn every_call_from_afar_inside_callbacks_on_other_threads() {
    support::in_time(|| {
        for place in [Place::Report, Place::Policy, Place::Hook] {
            for (name, call) in CALLS {
                let panic = panic_of(|| reenter(place, call));
                assert_eq!(panic, None, "{name}, in {place:?}");
            }
        }
    });
}
