//! What tasks take of the heap, counted by the allocator.

use std::alloc::System;
use std::future::poll_fn;
use std::task::{Poll, Waker};

use cap::Cap;
use colibri_core::{Priority, Scheduler};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

const TASKS: usize = 512 * 256;

/// What is asked of the heap for each of many tasks, by what `each` does to one. The tables grow by whole leaves, which are full.
fn bytes_a_task(each: impl Fn(&Scheduler)) -> usize {
    let scheduler = Scheduler::new();
    let before = ALLOCATOR.allocated();
    (0..TASKS).for_each(|_| each(&scheduler));
    while scheduler.run_slice().work_left {}
    assert_eq!(scheduler.live_tasks(), TASKS);
    // What the whole scheduler has besides, headers and timers' tree included.
    (ALLOCATOR.allocated() - before) / TASKS
}

/// A future of 48 bytes that waits for ever, with a waker of its own in it if it `keeps` one.
fn parked(keeps: bool) -> impl Future<Output = ()> {
    let (mut waker, load) = (None::<Waker>, [1_u64; 3]);
    let future = poll_fn(move |context| {
        if keeps {
            waker.get_or_insert_with(|| context.waker().clone());
        }
        std::hint::black_box(load);
        Poll::Pending
    });
    assert_eq!(size_of_val(&future), 48);
    future
}

/// (One test in this file: what others took meanwhile would count.)
#[test]
fn a_task_takes_its_future_and_a_place_and_more_only_for_what_it_uses() {
    let plain = bytes_a_task(|scheduler| drop(scheduler.spawn(Priority::Normal, parked(false))));
    assert_eq!(plain, 96, "the future and 48 bytes");
    let woken = bytes_a_task(|scheduler| drop(scheduler.spawn(Priority::Normal, parked(true))));
    assert!((97..=160).contains(&woken), "{woken} bytes with a waker");
    let named =
        bytes_a_task(|scheduler| drop(scheduler.task(parked(false)).name("a name of 19 bytes").spawn()));
    assert!((97..=360).contains(&named), "{named} bytes with a name");
}
