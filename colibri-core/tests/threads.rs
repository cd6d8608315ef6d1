//! Real threads with bounded work: wakes, spawns and drops at random. What is asserted are counts.

mod support;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use colibri_core::{Priority, Scheduler, Task, TaskError, checkpoint, yield_now};
use futures::StreamExt;
use futures::channel::{mpsc as channel, oneshot};

use self::support::{Bench, US, until_dropped};

const THREADS: usize = 4;

/// A small generator, so that each run draws the same.
struct Draw(u64);

impl Draw {
    fn new(seed: u64) -> Self {
        Draw(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % limit
    }
}

/// Runs a test that would hang if it failed, on a thread of its own, and gives it a minute.
fn within_a_minute(test: impl FnOnce() + Send + 'static) {
    let (done, wait) = mpsc::channel();
    let thread = thread::spawn(move || {
        test();
        done.send(()).unwrap();
    });
    match wait.recv_timeout(Duration::from_secs(60)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it hangs"),
        _ => thread.join().unwrap(),
    }
}

/// Where one waits for the other: a count, and the waker of whom to tell.
#[derive(Default)]
struct Post {
    count: AtomicUsize,
    waker: Mutex<Option<Waker>>,
}

impl Post {
    fn send(&self, by_value: bool) {
        self.count.fetch_add(1, Ordering::SeqCst);
        let waker = self.waker.lock().unwrap().clone();
        match waker {
            Some(waker) if by_value => waker.wake(),
            Some(waker) => waker.wake_by_ref(),
            None => (),
        }
    }

    async fn reach(&self, target: usize) {
        poll_fn(|context| {
            // First the waker, then the look: a count that comes in between wakes.
            *self.waker.lock().unwrap() = Some(context.waker().clone());
            if self.count.load(Ordering::SeqCst) >= target { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
    }
}

fn posts(count: usize) -> Arc<Vec<Post>> {
    Arc::new((0..count).map(|_| Post::default()).collect())
}

/// Starts threads that each send `count` times to posts at random.
fn senders(posts: &Arc<Vec<Post>>, count: usize) -> Vec<thread::JoinHandle<()>> {
    (0..THREADS)
        .map(|thread| {
            let posts = posts.clone();
            thread::spawn(move || {
                let mut draw = Draw::new(thread as u64 + 1);
                for number in 0..count {
                    posts[draw.below(posts.len())].send(number % 2 == 0);
                }
            })
        })
        .collect()
}

#[test]
fn wakes_from_four_threads_reach_tasks_that_come_and_go() {
    const POSTS: usize = 64;
    const WAKES: usize = 200_000;
    let scheduler = support::builder().build();
    let (posts, alive) = (posts(POSTS), Arc::new(()));
    let (spawned, finished) = (Cell::new(0_u64), Rc::new(Cell::new(0_u64)));
    let mut draw = Draw::new(99);
    let start = |post: usize, ahead: usize| -> (usize, Task<()>) {
        let target = posts[post].count.load(Ordering::SeqCst) + ahead;
        let (posts, alive, finished) = (posts.clone(), alive.clone(), finished.clone());
        spawned.set(spawned.get() + 1);
        let task = scheduler.spawn(Priority::ALL[post % 3], async move {
            let _alive = alive;
            posts[post].reach(target).await;
            checkpoint().await;
            finished.set(finished.get() + 1);
        });
        (target, task)
    };
    let mut tasks: Vec<(usize, Task<()>)> = (0..POSTS).map(|post| start(post, 1 + draw.below(40))).collect();
    let threads = senders(&posts, WAKES);
    let mut cancelled = 0;
    while !threads.iter().all(thread::JoinHandle::is_finished) {
        scheduler.run_for(Duration::from_micros(200));
        let post = draw.below(POSTS);
        match draw.below(4) {
            0 => {
                cancelled += u64::from(!tasks[post].1.is_finished());
                tasks[post].1.cancel();
            }
            1 => tasks[post].1.pause(),
            2 => tasks[post].1.set_priority(Priority::ALL[draw.below(3)]),
            _ => tasks[post].1.resume(),
        }
        for (post, task) in tasks.iter_mut().enumerate() {
            if task.1.is_finished() {
                // The old handle is dropped now and then before, now and then after the new task is there.
                *task = start(post, 1 + draw.below(40));
            }
        }
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let sent: usize = posts.iter().map(|post| post.count.load(Ordering::SeqCst)).sum();
    assert_eq!(sent, THREADS * WAKES);

    // All that were told are done; nobody else is.
    tasks.iter().for_each(|(_, task)| task.resume());
    while scheduler.run_slice().work_left {}
    for (post, (target, task)) in tasks.iter().enumerate() {
        let reached = posts[post].count.load(Ordering::SeqCst) >= *target;
        assert_eq!(task.is_finished(), reached, "a wake was lost, or one came from nowhere");
    }
    // The others are told by four threads at a time.
    let left = Arc::new(tasks.iter().map(|(target, _)| *target).collect::<Vec<_>>());
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let (posts, left) = (posts.clone(), left.clone());
            thread::spawn(move || {
                for (post, &target) in posts.iter().zip(&*left) {
                    while post.count.load(Ordering::SeqCst) < target {
                        post.send(true);
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    while scheduler.run_slice().work_left {}
    let stats = scheduler.stats();
    assert_eq!((scheduler.live_tasks(), finished.get() + cancelled), (0, spawned.get()));
    assert_eq!((stats.spawned, stats.ended), (spawned.get(), spawned.get()));
    drop(tasks);
    assert_eq!(Arc::strong_count(&alive), 1);
}

#[test]
fn a_thousand_tasks_are_woken_and_cancelled_at_random_and_memory_is_used_again() {
    let scheduler = support::builder().build();
    let (posts, mut draw) = (posts(1000), Draw::new(5));
    let threads = senders(&posts, 60_000);
    let mut highest = 0;
    while !threads.iter().all(thread::JoinHandle::is_finished) {
        let tasks: Vec<_> = (0..1000)
            .map(|post| {
                let posts = posts.clone();
                let target = posts[post].count.load(Ordering::SeqCst) + 1;
                scheduler.spawn(Priority::Normal, async move { posts[post].reach(target).await })
            })
            .collect();
        scheduler.run_slice();
        for task in &tasks {
            let id = task.id().to_string();
            highest = highest.max(id.split('.').next().unwrap().parse::<usize>().unwrap());
        }
        for (number, task) in tasks.into_iter().enumerate() {
            match draw.below(3) {
                0 => task.cancel(),
                1 => drop(task.cancel_on_drop()),
                // Dropped while its wakes are on their way.
                _ if number % 2 == 0 => {
                    task.pause();
                    drop(task.cancel_on_drop());
                }
                _ => drop(task.cancel_on_drop()),
            }
        }
        assert_eq!(scheduler.live_tasks(), 0);
    }
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    while scheduler.run_slice().work_left {}
    assert!(highest < 1000, "a thousand tasks at a time need a thousand places, not {highest}");
}

#[test]
fn spawners_of_four_threads_lose_nothing() {
    const EACH: usize = 20_000;
    within_a_minute(|| {
        let scheduler = support::builder().build();
        let ran = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                let (spawner, ran) = (scheduler.spawner(), ran.clone());
                thread::spawn(move || {
                    for task in 0..EACH {
                        let ran = ran.clone();
                        let spawned = spawner.clone().spawn(Priority::ALL[(number + task) % 3], async move {
                            if task % 3 == 0 {
                                yield_now().await;
                            }
                            ran.fetch_add(1, Ordering::SeqCst);
                        });
                        assert!(spawned.is_ok());
                    }
                })
            })
            .collect();
        // It returns when the last spawner is gone and all is done.
        scheduler.run();
        assert_eq!(ran.load(Ordering::SeqCst), THREADS * EACH);
        assert_eq!(scheduler.stats().ended, (THREADS * EACH) as u64);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
    });
}

/// While four threads spawn as fast as they can, and this one does: never more than `max_tasks` at once.
#[test]
fn max_tasks_holds_whoever_spawns() {
    const LIMIT: usize = 50;
    let scheduler = support::builder().max_tasks(LIMIT).build();
    let (over, refused) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let threads: Vec<_> = (0..THREADS)
        .map(|_| {
            let (spawner, over, refused) = (scheduler.spawner(), over.clone(), refused.clone());
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    if spawner.spawn(Priority::Normal, yield_now()).is_err() {
                        refused.fetch_add(1, Ordering::Relaxed);
                    }
                }
            })
        })
        .collect();
    while scheduler.stats().spawned < 20_000 || refused.load(Ordering::Relaxed) == 0 {
        for _ in 0..LIMIT {
            drop(scheduler.spawn(Priority::Normal, yield_now()));
            assert!(scheduler.live_tasks() <= LIMIT, "{} live", scheduler.live_tasks());
        }
        scheduler.run_for(Duration::from_micros(1));
        assert!(scheduler.live_tasks() <= LIMIT, "{} live", scheduler.live_tasks());
    }
    over.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    while scheduler.run_slice().work_left {}
    let stats = scheduler.stats();
    assert_eq!((scheduler.live_tasks(), stats.spawned), (0, stats.ended));
}

#[test]
fn spawns_race_with_shutdown_and_every_future_is_dropped_once() {
    struct Counts(Arc<AtomicUsize>);
    impl Drop for Counts {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    for round in 0..200 {
        let scheduler = support::builder().build();
        let (made, dropped, ran) =
            (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default(), Arc::default());
        let start = Arc::new(Barrier::new(THREADS + 1));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let (spawner, start) = (scheduler.spawner(), start.clone());
                let (made, dropped, ran): (_, _, Arc<AtomicUsize>) =
                    (made.clone(), dropped.clone(), Arc::clone(&ran));
                thread::spawn(move || {
                    start.wait();
                    let mut accepted = 0;
                    for _ in 0..500 {
                        made.fetch_add(1, Ordering::SeqCst);
                        let (counts, ran) = (Counts(dropped.clone()), ran.clone());
                        let spawned = spawner.spawn(Priority::Normal, async move {
                            let _counts = counts;
                            ran.fetch_add(1, Ordering::SeqCst);
                        });
                        match spawned {
                            Ok(()) => accepted += 1,
                            Err(_) => break,
                        }
                    }
                    accepted
                })
            })
            .collect();
        start.wait();
        for _ in 0..round % 7 {
            scheduler.run_for(Duration::from_micros(50));
        }
        if round % 2 == 0 {
            scheduler.shutdown()
        } else {
            drop(scheduler)
        }
        let accepted: usize = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(dropped.load(Ordering::SeqCst), made.load(Ordering::SeqCst));
        assert!((accepted..=accepted + THREADS).contains(&made.load(Ordering::SeqCst)));
        assert!(ran.load(Ordering::SeqCst) <= accepted);
    }
}

#[test]
fn wakes_race_with_the_end_of_the_scheduler() {
    for round in 0..400 {
        let scheduler = support::builder().build();
        let (posts, alive) = (posts(16), Arc::new(()));
        for post in 0..16 {
            let (posts, alive) = (posts.clone(), alive.clone());
            drop(scheduler.spawn(Priority::Normal, async move {
                posts[post].reach(usize::MAX).await;
                drop(alive);
            }));
        }
        scheduler.run_slice();
        let threads = senders(&posts, 200);
        for _ in 0..round % 5 {
            scheduler.run_for(Duration::from_micros(20));
        }
        drop(scheduler);
        // All is dropped, though threads still wake.
        assert_eq!(Arc::strong_count(&alive), 1);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        posts[0].send(true);
    }
}

#[test]
fn a_parked_host_misses_no_wake() {
    const ROUNDS: usize = 20_000;
    within_a_minute(|| {
        let scheduler = support::builder().build();
        let (to_host, mut at_host) = channel::unbounded::<usize>();
        let (to_thread, at_thread) = mpsc::channel::<usize>();
        let thread = thread::spawn(move || {
            for number in at_thread {
                to_host.unbounded_send(number + 1).unwrap();
            }
        });
        // Each answer comes when the host is parked, or about to be.
        let total = scheduler.block_on(async {
            let mut number = 0;
            for _ in 0..ROUNDS {
                to_thread.send(number).unwrap();
                number = at_host.next().await.unwrap();
            }
            number
        });
        assert_eq!(total, ROUNDS);
        drop(to_thread);
        thread.join().unwrap();

        // The same through a task, and `run`.
        let (send, receive) = oneshot::channel();
        let thread = thread::spawn(move || send.send(7).unwrap());
        let task = scheduler.spawn(Priority::Idle, async { receive.await.unwrap() });
        scheduler.run();
        thread.join().unwrap();
        assert!(matches!(scheduler.block_on(task), Ok(7)));
    });
}

#[test]
fn schedulers_of_four_threads_wake_each_others_tasks() {
    const LAPS: usize = 8_000;
    within_a_minute(|| {
        let (senders, receivers): (Vec<_>, Vec<_>) =
            (0..THREADS).map(|_| channel::unbounded::<usize>()).unzip();
        senders[0].unbounded_send(0).unwrap();
        let threads: Vec<_> = receivers
            .into_iter()
            .enumerate()
            .map(|(number, mut receive)| {
                let next = senders[(number + 1) % THREADS].clone();
                thread::spawn(move || {
                    let scheduler = support::builder().build();
                    let passes = scheduler.spawn(Priority::Normal, async move {
                        let mut last = 0;
                        while let Some(ball) = receive.next().await {
                            last = ball;
                            // The last one to have it does not pass it on.
                            if next.unbounded_send(ball + 1).is_err() || ball >= LAPS * THREADS - THREADS {
                                break;
                            }
                        }
                        last
                    });
                    // Beside it, tasks that yield.
                    drop(scheduler.spawn(Priority::Idle, async {
                        for _ in 0..1000 {
                            yield_now().await;
                        }
                    }));
                    scheduler.block_on(passes).unwrap()
                })
            })
            .collect();
        drop(senders);
        let last: Vec<usize> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(last.iter().max(), Some(&(LAPS * THREADS - 1)));
    });
}

#[test]
fn a_host_that_comes_when_it_is_asked_misses_nothing() {
    const EACH: usize = 2_000;
    within_a_minute(|| {
        let scheduler = support::builder().build();
        let (ask, asked) = mpsc::channel();
        let asks = Arc::new(AtomicUsize::new(0));
        let count = asks.clone();
        let ask_hook = Mutex::new(ask.clone());
        scheduler.on_ready(move || {
            count.fetch_add(1, Ordering::SeqCst);
            ask_hook.lock().unwrap().send(true).unwrap();
        });
        let ran = Arc::new(AtomicUsize::new(0));
        let threads: Vec<_> = (0..THREADS)
            .map(|_| {
                let (spawner, ran) = (scheduler.spawner(), ran.clone());
                thread::spawn(move || {
                    for _ in 0..EACH {
                        let ran = ran.clone();
                        let task = async move {
                            ran.fetch_add(1, Ordering::SeqCst);
                        };
                        spawner.spawn(Priority::Normal, task).unwrap();
                    }
                })
            })
            .collect();
        let mut turns = 0;
        while ran.load(Ordering::SeqCst) < THREADS * EACH {
            // Nothing but a request brings the host.
            asked.recv().unwrap();
            while {
                turns += 1;
                scheduler.run_slice().work_left
            } {}
        }
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(asks.load(Ordering::SeqCst) <= turns + 1, "asked once until it comes");
    });
}

#[test]
fn a_wake_from_another_thread_preempts_a_task_of_a_lower_class() {
    within_a_minute(|| {
        // An Idle task computes; an Immediate one is woken from outside, and runs before the other has ended.
        let scheduler = support::builder().build();
        let (send, receive) = oneshot::channel::<()>();
        let stop = Rc::new(Cell::new(false));
        let told = stop.clone();
        let long = scheduler.spawn(Priority::Idle, async move {
            let mut checks = 0_u64;
            while !told.get() {
                checks += 1;
                checkpoint().await;
            }
            checks
        });
        drop(scheduler.spawn(Priority::Immediate, async move {
            receive.await.unwrap();
            stop.set(true);
        }));
        let thread = thread::spawn(move || send.send(()).unwrap());
        assert!(scheduler.block_on(long).is_ok());
        thread.join().unwrap();
    });
}

#[test]
fn a_request_to_yield_from_another_thread_is_met_at_the_next_look() {
    let bench = Bench::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let (hook, spawner) = (asked.clone(), bench.scheduler.spawner());
    bench.scheduler.on_ready(move || {
        hook.fetch_add(1, Ordering::SeqCst);
    });
    let (log, work) = (bench.log.clone(), bench.work("step", 3, US));
    bench.start(Priority::Normal, async move {
        thread::scope(|scope| {
            scope.spawn(|| spawner.request_yield());
        });
        log.say("asked");
        work.await;
    });
    let outside = bench.scheduler.spawner();
    let report = bench.scheduler.run_slice();
    assert_eq!((bench.log.folded().as_str(), report.used, report.work_left), ("asked step", US, true));
    asked.store(0, Ordering::SeqCst);
    outside.request_yield();
    assert_eq!(asked.load(Ordering::SeqCst), 0, "it asks for the thread, not for a turn");
    let report = bench.scheduler.run_slice();
    assert_eq!((report.tasks_run, report.work_left), (0, true));
    // Each request is met once.
    bench.slices(4);
    assert_eq!(bench.log.folded(), "step×2");
    bench.scheduler.shutdown();
    outside.request_yield();
}

#[test]
fn a_scheduler_may_outlive_its_thread_locals() {
    thread_local! {
        static KEPT: RefCell<Option<(Scheduler, Task<()>)>> = const { RefCell::new(None) };
    }
    let (dropped, waker) = (Arc::new(AtomicBool::new(false)), Arc::new(Post::default()));
    let (told, post) = (dropped.clone(), waker.clone());
    thread::spawn(move || {
        let scheduler = support::builder().build();
        let task = scheduler.spawn(Priority::Normal, async move {
            let told = told;
            futures::join!(until_dropped(move || told.store(true, Ordering::SeqCst)), post.reach(usize::MAX));
        });
        scheduler.run_slice();
        KEPT.with(|kept| kept.replace(Some((scheduler, task))));
    })
    .join()
    .unwrap();
    assert!(dropped.load(Ordering::SeqCst));
    // Its wakers are still good for nothing.
    waker.send(true);
}

#[test]
fn a_cancelled_task_and_its_joiner_on_other_threads() {
    within_a_minute(|| {
        // A handle stays on its thread; its result is awaited elsewhere, through a channel.
        for round in 0..200 {
            let (send, receive) = oneshot::channel();
            let (ready, is_ready) = mpsc::channel();
            let host = thread::spawn(move || {
                let scheduler = support::builder().build();
                let task = scheduler.spawn(Priority::Normal, std::future::pending::<()>());
                let canceller = Rc::new(RefCell::new(Some(task)));
                let handle = canceller.clone();
                let (ask, asked) = oneshot::channel::<()>();
                ready.send(ask).unwrap();
                let joined = scheduler.spawn(
                    Priority::Normal,
                    poll_fn(move |context| {
                        std::pin::Pin::new(handle.borrow_mut().as_mut().unwrap()).poll(context)
                    }),
                );
                drop(scheduler.spawn(Priority::Immediate, async move {
                    asked.await.unwrap();
                    canceller.borrow().as_ref().unwrap().cancel();
                }));
                let outcome = scheduler.block_on(joined).unwrap();
                send.send(matches!(outcome, Err(TaskError::Cancelled))).unwrap();
            });
            let ask = is_ready.recv().unwrap();
            if round % 2 == 0 {
                thread::yield_now();
            }
            ask.send(()).unwrap();
            assert_eq!(futures::executor::block_on(receive), Ok(true));
            host.join().unwrap();
        }
    });
}

#[test]
fn a_hook_that_is_set_late_is_asked_for_the_wake_that_came_before() {
    let scheduler = support::builder().build();
    let waker = Rc::new(RefCell::new(None));
    let place = waker.clone();
    let _task = scheduler.spawn(
        Priority::Normal,
        poll_fn(move |context| {
            *place.borrow_mut() = Some(context.waker().clone());
            Poll::<()>::Pending
        }),
    );
    scheduler.run_slice();
    let woken = waker.take().expect("it was polled");
    thread::spawn(move || woken.wake()).join().unwrap();
    let asks = Arc::new(AtomicUsize::new(0));
    let counted = asks.clone();
    scheduler.on_ready(move || {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!(asks.load(Ordering::SeqCst), 1);
    assert_eq!(scheduler.run_slice().tasks_run, 1);
}
