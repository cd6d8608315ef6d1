//! The other threads: they send to posts, keep wakers for later, abort tasks, and spawn more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;
use std::thread::{self, JoinHandle};

use colibri_core::{Priority, Spawner, yield_now};

use crate::post::Post;
use crate::random::Random;
use crate::tally::{Life, Tally};

/// How many.
pub(crate) const THREADS: usize = 4;

/// Wakers that a thread keeps at most, to use them when their task has long ended.
const KEPT_WAKERS: usize = 1000;

/// What one thread did.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Deeds {
    pub(crate) wakes: u64,
    pub(crate) aborts: u64,
    pub(crate) spawns: u64,
}

/// What they all know.
#[derive(Clone)]
pub(crate) struct Field {
    pub(crate) posts: Arc<Vec<Post>>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) over: Arc<AtomicBool>,
}

/// Starts them. They go on until the field is over.
pub(crate) fn start(field: &Field, spawner: &Spawner, seed: u64, round: u64) -> Vec<JoinHandle<Deeds>> {
    let rival = |number: usize| {
        let (field, spawner) = (field.clone(), spawner.clone());
        let random = Random::new(seed.wrapping_add(round), 1 + number as u64);
        thread::spawn(move || act(&field, &spawner, random))
    };
    (0..THREADS).map(rival).collect()
}

fn act(field: &Field, spawner: &Spawner, mut random: Random) -> Deeds {
    let mut deeds = Deeds::default();
    let mut kept: Vec<Waker> = Vec::new();
    while !field.over.load(Ordering::Relaxed) {
        let post = &field.posts[random.below(field.posts.len())];
        match random.below(1000) {
            0..600 => {
                deeds.wakes += 1;
                post.send(true).inspect(Waker::wake_by_ref);
            }
            600..850 => {
                deeds.wakes += 1;
                if let Some(waker) = post.send(false) {
                    waker.wake();
                }
            }
            850..930 => {
                let waker = post.owner().waker.clone();
                if kept.len() < KEPT_WAKERS {
                    kept.extend(waker);
                }
            }
            930..990 if !kept.is_empty() => {
                deeds.wakes += 1;
                // Late, and perhaps of a task that is gone.
                let waker = kept.swap_remove(random.below(kept.len()));
                if random.below(2) == 0 { waker.wake() } else { waker.wake_by_ref() }
            }
            990..999 => {
                deeds.aborts += 1;
                let abort = post.owner().abort.clone();
                abort.inspect(|abort| abort.abort());
            }
            999 => {
                let life = Life::new(&field.tally);
                let spawned = spawner.spawn(Priority::ALL[random.below(3)], async move {
                    yield_now().await;
                    life.finish();
                });
                deeds.spawns += u64::from(spawned.is_ok());
            }
            // It has kept no waker yet.
            _ => {}
        }
    }
    deeds
}

/// All of them send to every post what its task may wait for yet.
pub(crate) fn finish(posts: &Arc<Vec<Post>>, sends: usize) {
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let posts = posts.clone();
            thread::spawn(move || {
                for post in posts.iter() {
                    for _ in 0..sends {
                        post.send(true).inspect(Waker::wake_by_ref);
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it only sends"));
}
