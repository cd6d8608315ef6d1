//! The examples run, and say what they promise.

#![cfg(feature = "std")]

use std::time::Duration;

use colibri_core::{ManualClock, Priority, Scheduler, checkpoint};
use frame_loop::{FRAME, RESERVE};

#[path = "../examples/count_primes.rs"]
mod count_primes;
#[path = "../examples/deep_tree.rs"]
mod deep_tree;
#[path = "../examples/frame_loop.rs"]
mod frame_loop;
#[path = "../examples/hover.rs"]
mod hover;
#[path = "../examples/own_host.rs"]
mod own_host;
#[path = "../examples/worker_threads.rs"]
mod worker_threads;

#[test]
fn a_click_is_answered_before_the_report() {
    count_primes::main();
}

#[test]
fn a_deep_tree_is_walked() {
    deep_tree::main();
}

#[test]
fn an_index_hovers_and_is_cancelled() {
    hover::main();
}

#[test]
fn a_host_of_ones_own() {
    own_host::main();
}

#[test]
fn workers_reach_the_window() {
    worker_threads::main();
}

// The same loop in virtual time: only its own work and the tasks' move the clock.
#[test]
fn every_frame_is_in_time_under_ten_seconds_of_work() {
    const GAP: Duration = Duration::from_micros(50);
    let clock = ManualClock::new();
    let scheduler = Scheduler::builder().clock(clock.clone()).build();
    for _ in 0..1000 {
        let clock = clock.clone();
        drop(scheduler.spawn(Priority::Idle, async move {
            for _ in 0..200 {
                clock.advance(GAP);
                checkpoint().await;
            }
        }));
    }
    let most = FRAME - RESERVE + GAP;
    let play = |frames| {
        let own = || clock.advance(Duration::from_millis(2));
        let took = frame_loop::play(&scheduler, frames, own, |rest| clock.advance(rest));
        assert!(took.iter().all(|took| *took <= most), "a frame took {:?}", took.iter().max());
    };
    // Ten seconds of work, 13.7 ms in each frame.
    play(724);
    assert!(scheduler.stats().ended < 1000);
    play(11);
    assert_eq!(scheduler.stats().ended, 1000);
}

// How long its frames take it prints, and nobody asserts.
#[test]
fn frames_are_drawn_in_real_time() {
    frame_loop::main();
}
