//! A game's loop at 60 frames a second, with ten seconds of work in its queue.
//!
//! Each frame handles its input and draws; what is left of its 16.7 ms goes to the scheduler. The work takes as long
//! as it takes, and no frame is late for it.

use std::time::{Duration, Instant};

use colibri_core::{Priority, Scheduler, cooperative};

/// 60 frames a second.
pub(crate) const FRAME: Duration = Duration::from_nanos(16_666_667);

/// Left over at the end of a frame: one look at the clock (20 µs), and what the system takes.
pub(crate) const RESERVE: Duration = Duration::from_millis(1);

#[cooperative]
fn simulate(rounds: u64) -> u64 {
    let mut state = 1u64;
    for round in 0..rounds {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(round);
    }
    state
}

fn handle_input_and_draw() {
    // Stands for about 2 ms of a game's own.
    let until = Instant::now() + Duration::from_millis(2);
    while Instant::now() < until {
        std::hint::spin_loop();
    }
}

/// The loop: draws so many frames, and returns how long each took. `wait` stands for the display.
pub(crate) fn play(
    scheduler: &Scheduler,
    frames: usize,
    input_and_draw: impl Fn(),
    wait: impl Fn(Duration),
) -> Vec<Duration> {
    let mut took = Vec::new();
    for _ in 0..frames {
        let begin = scheduler.now();
        input_and_draw();
        let left = (FRAME - RESERVE).saturating_sub(scheduler.now() - begin);
        scheduler.run_for(left);
        took.push(scheduler.now() - begin);
        wait(FRAME.saturating_sub(scheduler.now() - begin));
    }
    took
}

pub(crate) fn main() {
    let scheduler = Scheduler::new();
    // Some ten seconds of work in a thousand pieces.
    for _ in 0..1000 {
        // A handle that is dropped leaves its task alone.
        drop(scheduler.spawn(Priority::Idle, simulate(10_000_000)));
    }
    let mut frames = play(&scheduler, 120, handle_input_and_draw, std::thread::sleep);
    frames.sort_unstable();
    let late = frames.iter().filter(|frame| **frame > FRAME).count();
    println!(
        "120 frames: median {:.1?}, longest {:.1?}, {late} over {FRAME:.1?}; {} of 1000 tasks done",
        frames[frames.len() / 2],
        frames[frames.len() - 1],
        scheduler.stats().ended,
    );
}
