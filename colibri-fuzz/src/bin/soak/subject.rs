//! The tasks: what they do until they end.

use std::sync::Arc;
use std::time::Duration;

use colibri_core::{Priority, Scheduler, Task, checkpoint, sleep, spawn, timeout, yield_now};

use crate::post::Post;
use crate::random::Random;
use crate::tally::{Life, Tally};

/// Where a task waits.
struct Place {
    posts: Arc<Vec<Post>>,
    number: usize,
    target: usize,
    life: Life,
}

impl Place {
    async fn reach(&self) {
        self.posts[self.number].reach(self.target).await;
    }
}

/// Spawns a task of a kind that is drawn; each ends by itself, by what other threads send to its post, or by its timeout.
/// `None`: there was no room.
pub(crate) fn start(
    scheduler: &Scheduler,
    random: &mut Random,
    posts: &Arc<Vec<Post>>,
    number: usize,
    tally: &Arc<Tally>,
) -> Option<Task<usize>> {
    let class = Priority::ALL[random.below(3)];
    let target = posts[number].count() + 1 + random.below(3);
    let place = Place { posts: posts.clone(), number, target, life: Life::new(tally) };
    let times = random.below(20);
    let short = Duration::from_micros(random.below(2000) as u64);
    match random.below(100) {
        0..50 => scheduler.try_spawn(class, async move {
            place.reach().await;
            ends(&place)
        }),
        50..65 => scheduler.try_spawn(class, async move {
            for _ in 0..times {
                yield_now().await;
                checkpoint().await;
            }
            place.reach().await;
            ends(&place)
        }),
        65..72 => scheduler.try_spawn(class, async move {
            sleep(short).await;
            ends(&place)
        }),
        72..76 => scheduler.try_spawn(class, async move {
            place.reach().await;
            place.life.panic();
            // Without a message on the terminal.
            std::panic::resume_unwind(Box::new(place.number))
        }),
        76..80 => {
            let tally = tally.clone();
            scheduler.try_spawn(class, async move {
                let life = Life::new(&tally);
                let child = spawn(Priority::Idle, async move {
                    yield_now().await;
                    life.finish();
                });
                place.reach().await;
                drop(child.await);
                ends(&place)
            })
        }
        80..84 => scheduler.try_spawn(class, async move {
            let reached = timeout(short, place.reach()).await;
            drop(reached);
            ends(&place)
        }),
        84..92 => {
            // Its timer ends it, if nobody else does before.
            let never = async move {
                std::future::pending::<()>().await;
                place.number
            };
            return Some(scheduler.task(never).priority(class).name("never").timeout(short * 10).spawn());
        }
        _ => {
            let late = async move {
                place.reach().await;
                ends(&place)
            };
            let task = scheduler.task(late).priority(class).after(short);
            return Some(task.deadline(short).weight(1 + times as u32).spawn());
        }
    }
    .ok()
}

fn ends(place: &Place) -> usize {
    place.life.finish();
    place.number
}
