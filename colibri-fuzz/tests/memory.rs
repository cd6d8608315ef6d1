//! What cancelled tasks and timers leave of the memory that they took: nothing but the table of places, which is used again.

use std::alloc::System;
use std::time::Duration;

use cap::Cap;
use colibri_core::{Priority, Scheduler};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// socketry/io-event PR #180: 500 000 cancelled timeouts stayed in the heap until they were due. (One test in this file: what
/// others took meanwhile would count.)
#[test]
fn a_mass_cancel_gives_the_memory_back() {
    const TIMERS: usize = 500_000;
    const HOUR: Duration = Duration::from_secs(3600);
    let scheduler = Scheduler::new();
    let mass = || {
        let before = ALLOCATOR.allocated();
        let mut tasks = Vec::with_capacity(TIMERS);
        tasks.extend((0..TIMERS).map(|_| {
            scheduler.task(std::future::pending::<()>()).priority(Priority::Idle).timeout(HOUR).spawn()
        }));
        let most = ALLOCATOR.allocated() - before;
        assert_eq!(scheduler.pending_timers(), TIMERS);
        drop(tasks.into_iter().map(|task| task.cancel_on_drop()).collect::<Vec<_>>());
        assert_eq!((scheduler.pending_timers(), scheduler.live_tasks()), (0, 0));
        (most, ALLOCATOR.allocated().saturating_sub(before))
    };
    let (most, places) = mass();
    // The tables stay: 48 bytes a place, and 8 where the task had what few have, here a timeout.
    assert!(most > TIMERS * 150 && places < TIMERS * 58, "{places} of {most} bytes are left");
    let (_, more) = mass();
    assert!(more < 1000, "{more} bytes are left by those that came into the places of others");
}
