//! Who gets the last place below `max_tasks`: a task of the scheduler's own thread or one from outside.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, Ordering};
use loom::thread;

use super::bench::{builder, two_turns};
use super::{explore, explore_bounded};
use crate::fault::Fault;
use crate::remote::{Message, Remote};
use crate::{Priority, local, yield_now};

#[test]
fn model_promise_against_a_place_taken() {
    explore("the last place, promised against taken", Fault::TakesPlacesUnlocked, || {
        let remote = Arc::new(Remote::new(1, None));
        let other = {
            let remote = remote.clone();
            thread::spawn(move || remote.send(Message::Spawn(Box::new(|_| ()))).is_ok())
        };
        let taken = remote.take_place(0, 1);
        let promised = other.join().unwrap();
        assert!(taken != promised, "one place, one task");
        taken
    });
}

/// How many live, and the most that ever did.
#[derive(Default)]
struct Living([AtomicU32; 2]);

impl Living {
    /// Lives for two more turns than the one in which it starts, so that who starts meanwhile is polled before it ends.
    async fn one_more(living: Arc<Self>) {
        let [now, most] = &living.0;
        most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        for _ in 0..2 {
            local::with_current(|engine| engine.remote.request_yield());
            yield_now().await;
        }
        now.fetch_sub(1, Ordering::Relaxed);
    }
}

fn spawn_against_the_start_of_what_was_promised() -> bool {
    let scheduler = builder().max_tasks(1).build();
    let living = Arc::new(Living::default());
    let spawner = scheduler.spawner();
    spawner.spawn(Priority::Normal, Living::one_more(living.clone())).unwrap();
    let other = {
        let living = living.clone();
        thread::spawn(move || spawner.spawn(Priority::Normal, Living::one_more(living)).is_ok())
    };
    scheduler.run_slice();
    scheduler.run_slice();
    let accepted = two_turns(&scheduler, other);
    while scheduler.run_slice().work_left {}
    assert_eq!(scheduler.stats().ended, 1 + u64::from(accepted));
    assert_eq!(living.0[1].load(Ordering::Relaxed), 1, "two tasks lived where there is room for one");
    accepted
}

#[test]
fn model_spawn_against_the_start_of_what_was_promised() {
    explore_bounded(
        "a spawn against the start of the one that has the last place",
        Fault::CountsTheLivingFirst,
        spawn_against_the_start_of_what_was_promised,
    );
}
