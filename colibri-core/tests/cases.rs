//! Public reports of what goes wrong in schedulers of this kind: each has a test here, of the kind of fault rather than
//! of the one input. The comment of each names the report.

mod support;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use colibri_core::{
    Instant, ManualClock, MissedTick, Observer, Priority, Step, TaskError, TaskEvent, TaskState, checkpoint,
    interval, sleep, spawn, timeout, uninterrupted, yield_now,
};
use futures::channel::{mpsc, oneshot};
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};

use self::support::{
    Bench, Boxed, Lazy, MS, OnDrop, Seen, Shared, US, Wakes, idle, poll_with, quiet_panic, spy, until_dropped,
};

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3600);

/// facebook/react PR #19845: an overdue task that kept asking to continue was run back to back, and the host never had
/// a turn.
#[test]
fn case_01_a_slice_ends_on_time_whoever_is_overdue() {
    let bench = Bench::new();
    let spinner = {
        let (clock, log) = (bench.clock.clone(), bench.log.clone());
        async move {
            loop {
                clock.advance(MS);
                log.say("yields");
                yield_now().await;
            }
        }
    };
    let overdue = bench.work("overdue", 9999, MS);
    drop(bench.scheduler.task(overdue).priority(Priority::Immediate).deadline(Duration::ZERO).spawn());
    bench.start(Priority::Normal, spinner);
    bench.start(Priority::Idle, bench.work("promoted", 9999, MS));
    for _ in 0..500 {
        let report = bench.scheduler.run_slice();
        assert_eq!((report.used, report.overrun, report.work_left), (8 * MS, Duration::ZERO, true));
    }
    // All three were at it: the overdue, the one that yields, and the one that was promoted twice.
    assert!(
        bench.log.count("overdue") > 0 && bench.log.count("yields") > 0 && bench.log.count("promoted") > 0
    );
}

/// tokio PR #5223, HaxeFoundation/hxcoro #39: tasks that only yield kept the ready queue non-empty, and timers never
/// fired.
#[test]
fn case_02_timers_fire_on_time_while_others_yield() {
    for own_class in [Priority::Immediate, Priority::Normal] {
        let bench = Bench::new();
        let fired = |what: &'static str| {
            let (clock, log) = (bench.clock.clone(), bench.log.clone());
            move || log.say(format!("{what} {}", (clock.now() - Instant::ZERO).as_millis()))
        };
        for _ in 0..3 {
            let clock = bench.clock.clone();
            bench.start(Priority::Normal, async move {
                loop {
                    clock.advance(MS);
                    yield_now().await;
                }
            });
        }
        let (slept, late, ended) = (fired("slept"), fired("started"), fired("ended"));
        bench.start(own_class, async move {
            sleep(500 * MS).await;
            slept();
        });
        drop(bench.scheduler.task(async move { late() }).priority(own_class).after(500 * MS).spawn());
        let guarded = until_dropped(ended);
        drop(bench.scheduler.task(guarded).priority(own_class).timeout(500 * MS).spawn());
        bench.scheduler.run_for(600 * MS);
        let expected = match own_class {
            // At once: they are above those that yield. The timeout needs no turn of anybody.
            Priority::Immediate => "ended 500 started 500 slept 500",
            // Woken in time (the sleeper's time began at its first turn, at 3 ms), each has its turn after the three
            // equals that were ready before.
            _ => "ended 500 started 503 slept 506",
        };
        if support::in_turn() {
            assert_eq!(bench.log.folded(), expected);
            continue;
        }
        let log = bench.log.take();
        let times: Vec<u64> =
            log.iter().map(|entry| entry.split(' ').next_back().unwrap().parse().unwrap()).collect();
        let latest = if own_class == Priority::Immediate { 500 } else { 600 };
        assert!(times.len() == 3 && times.iter().all(|time| (500..=latest).contains(time)), "{log:?}");
    }
}

/// The same, on a clock that is not looked at after each poll.
#[test]
fn case_02_a_timer_is_late_by_one_look_at_most() {
    let bench = Bench::on(Lazy);
    for _ in 0..3 {
        let clock = bench.clock.clone();
        bench.start(Priority::Normal, async move {
            loop {
                clock.advance(US);
                yield_now().await;
            }
        });
    }
    let (clock, woke) = (bench.clock.clone(), Rc::new(Cell::new(Duration::ZERO)));
    let when = woke.clone();
    bench.start(Priority::Immediate, async move {
        sleep(10 * MS).await;
        when.set(clock.now() - Instant::ZERO);
    });
    bench.scheduler.run_for(20 * MS);
    assert!((10 * MS..=10 * MS + 20 * US).contains(&woke.get()), "{:?}", woke.get());
}

/// tokio #4323, PR #5712: two tasks that wake each other were run next for ever, and a third one starved.
#[test]
fn case_03_pairs_that_wake_each_other_starve_nobody() {
    const PAIRS: u32 = 100;
    let bench = Bench::new();
    let picks = Rc::new(Cell::new(0));
    let player = |mut ball: mpsc::UnboundedReceiver<()>, other: mpsc::UnboundedSender<()>| {
        let (clock, picks) = (bench.clock.clone(), picks.clone());
        async move {
            while ball.next().await.is_some() {
                clock.advance(US);
                picks.set(picks.get() + 1);
                other.unbounded_send(()).unwrap();
            }
        }
    };
    for _ in 0..PAIRS {
        let ((to_left, left), (to_right, right)) = (mpsc::unbounded(), mpsc::unbounded());
        to_left.unbounded_send(()).unwrap();
        bench.start(Priority::Normal, player(left, to_right));
        bench.start(Priority::Normal, player(right, to_left));
    }
    let ended_after = Rc::new(Cell::new(None));
    let (ended, seen) = (ended_after.clone(), picks.clone());
    bench.start(Priority::Normal, async move {
        for _ in 0..5 {
            yield_now().await;
        }
        ended.set(Some(seen.get()));
    });
    bench.scheduler.run_for(SECOND / 10);
    // Each of its six turns comes after at most one turn of each other task.
    let picks = ended_after.get().expect("the third task has ended");
    assert!(picks <= 6 * 2 * PAIRS, "after {picks} picks");
}

/// userver #65: after a yield the same worker took the same task again at once.
#[test]
fn case_04_an_equal_runs_before_the_one_that_gave_way() {
    type GiveWay = fn() -> Boxed;
    let ways: [(&str, GiveWay); 5] = [
        ("yield_now", || Box::pin(yield_now())),
        ("wakes itself", || {
            let mut woken = false;
            Box::pin(futures::future::poll_fn(move |context| {
                context.waker().wake_by_ref();
                if std::mem::replace(&mut woken, true) { Poll::Ready(()) } else { Poll::Pending }
            }))
        }),
        ("yields inside of a set", || {
            Box::pin(async {
                FuturesUnordered::from_iter([yield_now()]).collect::<Vec<()>>().await;
            })
        }),
        ("yields inside of select", || {
            Box::pin(async {
                futures::select! { () = yield_now().fuse() => (), () = futures::future::pending().fuse() => () }
            })
        }),
        ("hand-made chunks", || Box::pin(async { checkpoint_after_quantum().await })),
    ];
    for (way, give_way) in ways {
        for priority in Priority::ALL {
            let bench = Bench::with(|builder| builder.quantum(MS / 8));
            for name in ["a", "b"] {
                let (clock, log) = (bench.clock.clone(), bench.log.clone());
                bench.start(priority, async move {
                    for _ in 0..4 {
                        clock.advance(MS / 8);
                        log.say(name);
                        give_way().await;
                    }
                });
            }
            bench.slices(10);
            bench.log.told_in("a b a b a b a b", &format!("{way}, {priority}"));
        }
    }
}

/// A quantum is over when this is awaited: a plain checkpoint gives way.
async fn checkpoint_after_quantum() {
    checkpoint().await;
}

/// Erlang/OTP, delayed low-priority system tasks: a test for "is there low work" used the level's number where its bit
/// was meant.
#[test]
fn case_05_lower_work_runs_within_the_bound_below_every_level() {
    let mixes: [(&[Priority], Priority); 5] = [
        (&[Priority::Immediate], Priority::Normal),
        (&[Priority::Immediate], Priority::Idle),
        (&[Priority::Normal], Priority::Idle),
        (&[Priority::Immediate, Priority::Normal], Priority::Idle),
        (&[Priority::Immediate, Priority::Immediate, Priority::Immediate], Priority::Normal),
    ];
    for (busy, low) in mixes {
        let bench = Bench::new();
        for &class in busy {
            bench.start(class, bench.work("busy", u32::MAX, MS));
        }
        let (clock, last, worst) =
            (bench.clock.clone(), Cell::new(Instant::ZERO), Rc::new(Cell::new(Duration::ZERO)));
        let longest = worst.clone();
        let task = bench.scheduler.spawn(low, async move {
            for _ in 0..10 {
                longest.set(longest.get().max(clock.now() - last.get()));
                clock.advance(MS);
                last.set(clock.now());
                yield_now().await;
            }
        });
        for _ in 0..1500 {
            bench.scheduler.run_slice();
        }
        assert!(task.is_finished(), "{low} below {busy:?}");
        // 2 (A + q + d) + 2 N (q + d + c), with A 500 ms, q 2 ms, d 1 ms, c 0.
        let bound = 2 * 503 * MS + 2 * (busy.len() as u32 + 1) * 3 * MS;
        assert!(worst.get() <= bound, "{low} below {busy:?} waited {:?} of {bound:?}", worst.get());
    }
}

/// RIOT-OS #7365: a middle task kept a low one from running while a high one waited for the low one. Whatever way the
/// high one waits in, the low one has its class.
#[test]
fn case_06_a_middle_task_holds_up_nobody_whom_a_high_one_awaits() {
    type Await = fn(colibri_core::Task<()>) -> Boxed;
    let ways: [(&str, Await); 7] = [
        ("alone", |low| Box::pin(low.map(drop))),
        ("in join!", |low| Box::pin(async { drop(futures::join!(low, async {})) })),
        ("in select!", |low| {
            Box::pin(async { drop(futures::future::select(low, futures::future::pending::<()>()).await) })
        }),
        ("in timeout", |low| Box::pin(async { drop(timeout(SECOND, low).await) })),
        ("in a task between", |low| Box::pin(async { drop(spawn(Priority::Idle, low).await) })),
        // Under another waker than the task's own: once not lifted.
        ("in FuturesUnordered", |low| Box::pin(FuturesUnordered::from_iter([low]).map(drop).collect::<()>())),
        ("in a large join_all", |low| {
            let others = (0..40).map(|_| Box::pin(async {}) as Boxed);
            Box::pin(futures::future::join_all(others.chain([Box::pin(low.map(drop)) as Boxed])).map(drop))
        }),
    ];
    let mut held_up = Vec::new();
    for (way, wait) in ways {
        let bench = Bench::new();
        let low = bench.scheduler.spawn(Priority::Idle, bench.work("low", 4, MS));
        let say = bench.say("high");
        bench.start(Priority::Immediate, async move {
            wait(low).await;
            say.await;
        });
        bench.start(Priority::Normal, bench.work("middle", 4, MS));
        bench.slices(10);
        if bench.log.folded() != "low×4 high middle×4" {
            held_up.push(way);
        }
    }
    assert!(held_up.is_empty(), "held up: {held_up:?}");
}

/// The same for `block_on`, whose future runs as an Immediate task does.
#[test]
fn case_06_block_on_lifts_whom_it_awaits() {
    let bench = Bench::new();
    let low = bench.scheduler.spawn(Priority::Idle, bench.work("low", 4, MS));
    bench.start(Priority::Normal, bench.work("middle", 4, MS));
    bench.scheduler.block_on(low).unwrap();
    assert_eq!(bench.log.folded(), "low×4");
}

/// The same report: lifted only while it is awaited.
#[test]
fn case_06_a_lift_ends_with_the_wait() {
    type StopWaiting = fn(colibri_core::Task<()>) -> Boxed;
    let ways: [(&str, StopWaiting); 4] = [
        ("the handle is dropped", |low| Box::pin(async { drop(timeout(MS, low).await) })),
        ("the waiter ends", |low| {
            Box::pin(async { futures::future::select(low, yield_now()).map(drop).await })
        }),
        ("the waiter panics", |low| {
            Box::pin(async {
                futures::future::select(low, yield_now()).map(drop).await;
                quiet_panic("waiter");
            })
        }),
        // The handle lives on, but nobody awaits it. That is known when the waiter is polled for the next time and does
        // not poll it again: hence one yield before the sleep.
        ("the waiter goes on to other work", |mut low| {
            Box::pin(async move {
                drop(futures::future::select(&mut low, yield_now()).await);
                yield_now().await;
                sleep(HOUR).await;
                drop(low);
            })
        }),
    ];
    let mut lifted = Vec::new();
    for (way, stop) in ways {
        let bench = Bench::new();
        let low = bench.scheduler.spawn(Priority::Idle, bench.work("low", 9, MS));
        bench.start(Priority::Immediate, stop(low));
        bench.start(Priority::Normal, bench.work("middle", 2, MS));
        bench.scheduler.run_for(20 * MS);
        if !support::in_turn() {
            // How long it is lifted is a matter of how often its waiter is drawn.
            bench.log.told_in("low×9 middle×2", way);
            continue;
        }
        // It runs for a quantum beside each yield of its waiter; then the middle one is before it.
        let log = bench.log.folded();
        let ended = ["low×2 middle×2 low×7", "low×4 middle×2 low×5"].contains(&log.as_str());
        if !ended {
            lifted.push((way, log));
        }
    }
    assert!(lifted.is_empty(), "still lifted: {lifted:?}");
}

/// The same report: the handle is handed from one waiter to another, and later tasks take their places in the table.
// Once the first wait was never forgotten, and a later task in the same place was not lifted.
#[test]
fn case_06_a_handle_that_wanders_leaves_no_wait_behind() {
    if support::says_nothing_in_this_mode(
        "who looks at the handle last is its waiter, so that it says who looks first",
    ) {
        return;
    }
    let bench = Bench::new();
    let low = bench.scheduler.spawn(Priority::Idle, bench.work("low", 4, MS));
    let wanders = Rc::new(RefCell::new(low));
    let first = wanders.clone();
    // It looks at the handle once, and leaves it to the second.
    let first = bench.scheduler.spawn(Priority::Immediate, async move {
        futures::future::poll_fn(|context| {
            drop(first.borrow_mut().poll_unpin(context));
            Poll::Ready(())
        })
        .await;
        std::future::pending::<()>().await;
    });
    let (say, second) = (bench.say("high"), wanders.clone());
    bench.start(Priority::Immediate, async move {
        futures::future::poll_fn(|context| second.borrow_mut().poll_unpin(context)).await.unwrap();
        say.await;
    });
    bench.start(Priority::Normal, bench.work("middle", 4, MS));
    bench.slices(10);
    assert_eq!(bench.log.folded(), "low×4 high middle×4");
    first.cancel();
    drop(first);
    drop(wanders);
    // Later tasks take their places: a waiter that of the first, and one of those whom it awaits that of the low one.
    for others in 0..4 {
        let others: Vec<_> = (0..others).map(|_| bench.scheduler.spawn(Priority::Idle, async {})).collect();
        let (lows, say) = (Rc::<RefCell<Vec<colibri_core::Task<()>>>>::default(), bench.say("high"));
        let awaited = lows.clone();
        bench.start(Priority::Immediate, async move {
            for low in awaited.take() {
                low.await.unwrap();
            }
            say.await;
        });
        lows.borrow_mut()
            .extend((0..3).map(|_| bench.scheduler.spawn(Priority::Idle, bench.work("low", 1, MS))));
        bench.start(Priority::Normal, bench.work("middle", 4, MS));
        bench.slices(10);
        assert_eq!(bench.log.folded(), "low×3 high middle×4", "after {} others", others.len());
    }
}

/// tokio #4291, PR #4314: a timeout around a loop over an always-ready future never fired.
#[test]
fn case_07_a_timeout_fires_around_whatever_loops() {
    type Loop = fn(ManualClock) -> Boxed;
    let loops: [(&str, Loop); 6] = [
        ("checkpoint", |clock| {
            Box::pin(async move {
                loop {
                    clock.advance(MS);
                    std::future::ready(()).await;
                    checkpoint().await;
                }
            })
        }),
        ("yield_now", |clock| {
            Box::pin(async move {
                loop {
                    clock.advance(MS);
                    yield_now().await;
                }
            })
        }),
        ("the attribute", |clock| Box::pin(endless(clock))),
        ("a set of loops", |clock| {
            let loops = (0..3).map(|_| {
                let clock = clock.clone();
                async move {
                    loop {
                        clock.advance(MS);
                        checkpoint().await;
                    }
                }
            });
            Box::pin(FuturesUnordered::from_iter(loops.collect::<Vec<_>>()).collect::<()>())
        }),
        ("short sleeps", |clock| {
            Box::pin(async move {
                loop {
                    clock.advance(MS);
                    sleep(Duration::ZERO).await;
                    checkpoint().await;
                }
            })
        }),
        ("a timeout that is too long", |clock| {
            Box::pin(async move {
                let inner = endless(clock);
                drop(timeout(HOUR, inner).await);
            })
        }),
    ];
    for (what, endless) in loops {
        let bench = Bench::new();
        let inner = endless(bench.clock.clone());
        let task = bench.scheduler.spawn(Priority::Normal, timeout(10 * MS, inner));
        let builder = bench.scheduler.task(endless(bench.clock.clone())).timeout(20 * MS).spawn();
        let outcome = bench.scheduler.block_on(task).unwrap();
        assert!(matches!(outcome, Err(TaskError::TimedOut)), "{what}");
        // It runs beside the other one in turns of 2 ms, and is late by turns, not for ever.
        assert!((10..=14).contains(&bench.ms()), "{what}: {} ms", bench.ms());
        assert!(matches!(bench.scheduler.block_on(builder), Err(TaskError::TimedOut)), "{what}");
        assert!((20..=22).contains(&bench.ms()), "{what}: {} ms", bench.ms());
        assert_eq!((bench.scheduler.live_tasks(), bench.scheduler.pending_timers()), (0, 0), "{what}");
    }
}

#[colibri_core::cooperative]
fn endless(clock: ManualClock) {
    loop {
        clock.advance(MS);
    }
}

/// tokio #2390, futures-rs #2047: a set of futures inside one task polled its ready members again for ever once the
/// budget was gone.
#[test]
fn case_08_a_set_of_futures_gives_way_with_its_task() {
    const STEPS: u32 = 100;
    type Set = fn(Vec<Boxed>) -> Boxed;
    let sets: [(&str, u32, Set); 5] = [
        ("FuturesUnordered", 50, |members| Box::pin(FuturesUnordered::from_iter(members).collect::<()>())),
        ("join_all of many", 50, |members| Box::pin(futures::future::join_all(members).map(drop))),
        ("join_all of few", 5, |members| Box::pin(futures::future::join_all(members).map(drop))),
        ("join!", 2, |members| {
            Box::pin(async {
                let [a, b] = members.try_into().ok().expect("two");
                futures::join!(a, b);
            })
        }),
        ("select!", 2, |members| {
            Box::pin(async {
                let [a, b] = members.try_into().ok().expect("two");
                let (mut a, mut b) = (a.fuse(), b.fuse());
                loop {
                    futures::select! { () = a => (), () = b => (), complete => break }
                }
            })
        }),
    ];
    for (what, size, set) in sets {
        let bench = Bench::new();
        let progress: Rc<Vec<Cell<u32>>> = Rc::new((0..size).map(|_| Cell::new(0)).collect());
        let mut seen = Vec::new();
        let members = (0..size as usize).map(|member| {
            let (clock, progress) = (bench.clock.clone(), progress.clone());
            let (member, saw) = spy(async move {
                for _ in 0..STEPS {
                    clock.advance(100 * US);
                    progress[member].set(progress[member].get() + 1);
                    checkpoint().await;
                }
            });
            seen.push(saw);
            Box::pin(member) as Boxed
        });
        let (task, turns) = spy(set(members.collect()));
        let task = bench.scheduler.spawn(Priority::Normal, task);
        bench.start(Priority::Normal, bench.work("other", u32::MAX, MS));
        while !task.is_finished() {
            let before: u32 = progress.iter().map(Cell::get).sum();
            let turns_before = turns.polls();
            bench.scheduler.run_slice();
            let (steps, turns) =
                (progress.iter().map(Cell::get).sum::<u32>() - before, turns.polls() - turns_before);
            // A turn is 20 steps; then each member may get past one check, before the set lets go.
            assert!(steps <= turns * (20 + 2 * size), "{what}: {steps} steps in {turns} turns");
        }
        // The other has as many turns, so that the task did give way, once a turn.
        let other = bench.log.len() as u32;
        let own = size * STEPS / 10;
        assert!(!support::in_turn() || other + 20 >= own, "{what}: {other} ms beside {own} ms");
        // Each poll of a member does at least one step.
        for (member, saw) in seen.iter().enumerate() {
            assert!(saw.polls() <= STEPS + 1, "{what}: member {member} was polled {} times", saw.polls());
        }
    }
}

/// The same report: no member is left behind while others use up the budget.
#[test]
fn case_08_all_members_of_a_set_make_progress() {
    let bench = Bench::new();
    let progress: Rc<Vec<Cell<u32>>> = Rc::new((0..10).map(|_| Cell::new(0)).collect());
    let members = (0..10).map(|member| {
        let (clock, progress) = (bench.clock.clone(), progress.clone());
        async move {
            loop {
                clock.advance(MS);
                progress[member].set(progress[member].get() + 1);
                checkpoint().await;
            }
        }
    });
    let set = FuturesUnordered::from_iter(members.collect::<Vec<_>>());
    bench.start(Priority::Normal, set.collect::<()>());
    bench.scheduler.run_for(SECOND);
    let (least, most) =
        (progress.iter().map(Cell::get).min().unwrap(), progress.iter().map(Cell::get).max().unwrap());
    assert!(least * 3 >= most && least > 20, "between {least} and {most} steps");
}

/// futures-rs #1006: a wake between push and first poll was lost. One poll follows; not none, not two.
#[test]
fn case_09_each_wake_is_followed_by_one_poll() {
    let bench = Bench::new();
    let (task, seen) = idle();
    bench.start(Priority::Normal, task);
    bench.slices(2);
    assert_eq!(seen.polls(), 1, "the first poll");

    seen.wake();
    bench.slices(2);
    assert_eq!(seen.polls(), 2, "a wake");

    (0..3).for_each(|_| seen.wake());
    bench.slices(2);
    assert_eq!(seen.polls(), 3, "three wakes before its turn");

    let waker = seen.waker();
    std::thread::scope(|scope| {
        (0..3).for_each(|_| drop(scope.spawn(|| waker.wake_by_ref())));
    });
    seen.wake();
    bench.slices(2);
    assert_eq!(seen.polls(), 4, "three wakes of other threads, and one from here");
}

/// The same report: what came before the first poll, and what comes while it is polled.
#[test]
fn case_09_a_wake_before_the_first_poll_or_during_a_poll_is_not_lost() {
    let bench = Bench::new();
    let (send, receive) = oneshot::channel::<()>();
    let (task, seen) = spy(receive);
    let task = bench.scheduler.spawn(Priority::Normal, task);
    send.send(()).unwrap();
    bench.slices(2);
    assert!(task.is_finished());
    assert_eq!(seen.polls(), 1, "it was ready at its first poll");

    let mut wakes_left = 3;
    let (task, seen) = spy(futures::future::poll_fn(move |context| {
        if wakes_left == 0 {
            return Poll::<()>::Pending;
        }
        wakes_left -= 1;
        // Twice, by value and by reference, and from another thread: one poll.
        context.waker().wake_by_ref();
        let by_value = context.waker().clone();
        by_value.wake();
        let waker = context.waker().clone();
        std::thread::spawn(move || waker.wake()).join().unwrap();
        Poll::Pending
    }));
    bench.start(Priority::Normal, task);
    bench.slices(9);
    assert_eq!(seen.polls(), 4);

    // Pushed into a set inside a task, woken before the set polls it.
    let polls = Seen::default();
    let watch = polls.clone();
    let task = bench.scheduler.spawn(Priority::Normal, async move {
        let (send, receive) = oneshot::channel::<()>();
        let mut set = FuturesUnordered::new();
        set.push(async move {
            let (receive, seen) = spy(receive);
            receive.await.unwrap();
            assert_eq!(seen.polls(), 1);
            drop(watch);
        });
        send.send(()).unwrap();
        yield_now().await;
        set.next().await.unwrap();
    });
    bench.slices(3);
    bench.scheduler.block_on(task).unwrap();
}

/// tokio #3964: `abort()` and dropping the handle at once, and the future lived on for long.
#[test]
fn case_10_cancelled_and_forgotten_is_dropped_by_the_next_turn() {
    type Forget = fn(colibri_core::Task<()>);
    let ways: [(&str, Forget); 3] = [
        ("cancel, drop", |task| task.cancel()),
        ("cancel_on_drop", |task| drop(task.cancel_on_drop())),
        ("a panic drops it", |task| {
            let task = task.cancel_on_drop();
            let _panicked = support::panic_of(move || {
                let _task = task;
                quiet_panic("holder");
            });
        }),
    ];
    for (way, forget) in ways {
        for state in [TaskState::Ready, TaskState::Waiting, TaskState::Paused] {
            let bench = Bench::new();
            let alive = Rc::new(());
            let held = alive.clone();
            let task = bench.scheduler.spawn(Priority::Idle, async move {
                let _held = held;
                std::future::pending::<()>().await;
            });
            if state != TaskState::Ready {
                bench.scheduler.run_slice();
            }
            if state == TaskState::Paused {
                task.pause();
            }
            assert_eq!(task.state(), state);
            forget(task);
            assert_eq!(Rc::strong_count(&alive), 1, "{way}, {state:?}");
            assert_eq!(bench.scheduler.live_tasks(), 0, "{way}, {state:?}");
        }
        // Delayed, and by another task.
        let bench = Bench::new();
        let alive = Rc::new(());
        let held = alive.clone();
        let task = bench.scheduler.task(async move { drop(held) }).after(HOUR).spawn();
        bench.start(Priority::Normal, async move { forget(task) });
        bench.scheduler.run_slice();
        assert_eq!((Rc::strong_count(&alive), bench.scheduler.pending_timers()), (1, 0), "{way}, delayed");
        // Running: it forgets itself, and is gone when its poll ends.
        let (alive, own) = (Rc::new(()), Shared::default());
        let (held, me) = (alive.clone(), own.clone());
        let task = bench.scheduler.spawn(Priority::Normal, async move {
            let _held = held;
            forget(me.take().unwrap());
            std::future::pending::<()>().await;
        });
        own.replace(Some(task));
        bench.scheduler.run_slice();
        assert_eq!((Rc::strong_count(&alive), bench.scheduler.live_tasks()), (1, 0), "{way}, running");
    }
}

/// An output whose destructor panics, unless it is defused.
#[derive(Debug)]
struct Mine(Rc<Cell<u32>>);

impl Drop for Mine {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
        if !std::thread::panicking() {
            quiet_panic("an output's destructor");
        }
    }
}

/// tokio #4412: a result whose destructor panics, dropped with the handle, hit an innocent owner.
#[test]
fn case_11_an_output_that_panics_when_dropped_hits_nobody() {
    let bench = Bench::new();
    let dropped = Rc::new(Cell::new(0));
    let mine = || {
        let dropped = dropped.clone();
        async move { Mine(dropped) }
    };
    // The handle is dropped before the end, after it, and inside of another task.
    drop(bench.scheduler.spawn(Priority::Normal, mine()));
    let kept = bench.scheduler.spawn(Priority::Normal, mine());
    let given = bench.scheduler.spawn(Priority::Normal, mine());
    let say = bench.say("innocent");
    let innocent = bench.scheduler.spawn(Priority::Normal, async move {
        drop(given);
        say.await;
        7
    });
    bench.slices(3);
    assert!(support::panic_of(|| drop(kept)).is_none(), "the handle's owner");
    // Replaced by another.
    let place = RefCell::new(bench.scheduler.spawn(Priority::Normal, mine()));
    bench.slices(1);
    drop(place.replace(bench.scheduler.spawn(Priority::Normal, mine())));
    bench.slices(1);
    drop(place);
    assert_eq!(bench.scheduler.block_on(innocent).unwrap(), 7);
    assert_eq!((bench.log.folded(), dropped.get(), bench.scheduler.live_tasks()), ("innocent".into(), 5, 0));
    assert_eq!(bench.scheduler.stats().contained_panics, 5);
}

/// The same for all other code that is called where nobody could be told of its panic.
#[test]
fn case_11_panics_of_wakers_observers_hooks_and_payloads_are_contained_and_counted() {
    struct Panics;
    impl std::task::Wake for Panics {
        fn wake(self: Arc<Self>) {
            quiet_panic("a waker");
        }
    }
    impl Observer for Panics {
        fn suspended(&self, _: &TaskEvent) {
            quiet_panic("an observer");
        }
    }
    let bench = Bench::with(|builder| builder.observer(Panics));
    let contained = || bench.scheduler.stats().contained_panics;
    // A task's own panic is told by its handle, and not among them.
    let mut panics =
        bench.scheduler.spawn::<Boxed>(Priority::Normal, Box::pin(async { quiet_panic("a task") }));
    bench.slices(1);
    assert!(matches!(panics.try_take(), Some(Err(TaskError::Panicked(_)))));
    assert_eq!(contained(), 0);

    let waits = bench.scheduler.spawn(Priority::Normal, std::future::pending::<()>());
    bench.slices(1);
    assert_eq!(contained(), 1, "the observer");

    let mut joined = bench.scheduler.spawn(Priority::Normal, async {});
    assert!(poll_with(&mut joined, &Arc::new(Panics).into()).is_pending());
    bench.slices(1);
    assert_eq!(contained(), 2, "the joiner's waker");

    let payload = async { std::panic::resume_unwind(Box::new(OnDrop(|| quiet_panic("a payload")))) };
    drop(bench.scheduler.spawn::<Boxed>(Priority::Normal, Box::pin(payload)));
    bench.slices(1);
    assert_eq!(contained(), 4, "a detached task's panic, and that of the payload's drop");

    bench.scheduler.on_ready(|| quiet_panic("the host's hook"));
    let spawner = bench.scheduler.spawner();
    std::thread::spawn(move || spawner.spawn(Priority::Normal, async {})).join().unwrap().unwrap();
    assert_eq!(contained(), 5, "the hook, on another thread");

    bench.slices(1);
    assert!(!waits.is_finished() && joined.is_finished());
    assert_eq!((bench.scheduler.live_tasks(), contained()), (1, 5));
}

/// tokio PR #7825: is the future dropped before its join returns? Yes: on finish, cancel, panic and timeout.
#[test]
fn case_12_a_future_is_dropped_before_its_join_returns() {
    for end in ["finish", "cancel", "panic", "timeout", "both at once"] {
        for join in ["block_on", "try_take", "another task"] {
            let bench = Bench::new();
            let dropped = Rc::new(Cell::new(false));
            let (gone, clock, handle) = (dropped.clone(), bench.clock.clone(), Shared::default());
            let own = handle.clone();
            let task = bench.scheduler.task(async move {
                let _on_drop = OnDrop(|| gone.set(true));
                yield_now().await;
                match end {
                    "finish" => return,
                    "panic" => quiet_panic("end"),
                    "both at once" => own.borrow().as_ref().unwrap().cancel(),
                    _ => (),
                }
                loop {
                    clock.advance(MS);
                    checkpoint().await;
                }
            });
            let mut task = task.timeout(if end == "timeout" { 5 * MS } else { HOUR }).spawn();
            let canceller = bench.scheduler.spawn(Priority::Normal, {
                let handle = handle.clone();
                async move {
                    yield_now().await;
                    if end == "cancel" {
                        handle.borrow().as_ref().unwrap().cancel();
                    }
                }
            });
            let seen = dropped.clone();
            let ok = match join {
                "block_on" => {
                    handle.replace(Some(task));
                    // The handle is polled in its place, so that others can cancel it.
                    let joined = futures::future::poll_fn(|context| {
                        handle.borrow_mut().as_mut().unwrap().poll_unpin(context)
                    });
                    let outcome = bench.scheduler.block_on(async {
                        let outcome = joined.await;
                        assert!(seen.get(), "{end}, {join}");
                        outcome
                    });
                    outcome.is_ok()
                }
                "try_take" => {
                    if end == "cancel" {
                        bench.scheduler.run_for(MS);
                        task.cancel();
                    }
                    if end == "both at once" {
                        continue;
                    }
                    loop {
                        if let Some(outcome) = task.try_take() {
                            assert!(seen.get(), "{end}, {join}");
                            break outcome.is_ok();
                        }
                        bench.scheduler.run_slice();
                    }
                }
                _ => {
                    handle.replace(Some(task));
                    let joiner = bench.scheduler.spawn(Priority::Immediate, async move {
                        let joined = futures::future::poll_fn(|context| {
                            handle.borrow_mut().as_mut().unwrap().poll_unpin(context)
                        });
                        let outcome = joined.await;
                        assert!(seen.get(), "{end}, {join}");
                        outcome.is_ok()
                    });
                    bench.scheduler.block_on(joiner).unwrap()
                }
            };
            assert_eq!(ok, end == "finish", "{end}, {join}");
            drop(canceller);
        }
    }
}

/// async-executor #163: a waker fired on another thread while the executor was dropped.
#[test]
fn case_13_a_waker_may_fire_while_the_scheduler_is_dropped() {
    for _ in 0..200 {
        let scheduler = support::builder().build();
        let (task, seen) = idle();
        drop(scheduler.spawn(Priority::Normal, task));
        scheduler.run_slice();
        let waker = seen.waker();
        let start = Arc::new(std::sync::Barrier::new(2));
        let there = start.clone();
        let thread = std::thread::spawn(move || {
            there.wait();
            (0..20).for_each(|_| waker.wake_by_ref());
            drop(waker);
        });
        start.wait();
        drop(scheduler);
        thread.join().unwrap();
        seen.wake();
        assert_eq!(seen.polls(), 1);
    }
}

/// rxjs #6672, PR #6674: a running action scheduled and cancelled others and itself, and the flush ran an undefined
/// entry or ran new work in the same pass.
#[test]
fn case_14_a_task_may_spawn_and_cancel_others_and_itself() {
    let bench = Bench::new();
    let handles: Rc<RefCell<Vec<colibri_core::Task<()>>>> = Rc::default();
    let (all, log, later) = (handles.clone(), bench.log.clone(), bench.work("later", 1, MS));
    let first = bench.scheduler.spawn(Priority::Immediate, async move {
        log.say("first");
        drop(spawn(Priority::Normal, later));
        // Of those behind it: the next one, one in the middle, and the last. And itself.
        for index in [1, 3, 5, 0] {
            all.borrow()[index].cancel();
        }
        log.say("goes_on");
        std::future::pending::<()>().await;
    });
    handles.borrow_mut().push(first);
    for name in ["1", "2", "3", "4", "5"] {
        let task = bench.scheduler.spawn(Priority::Normal, bench.work(name, 1, MS));
        handles.borrow_mut().push(task);
    }
    let report = bench.scheduler.run_slice();
    bench.log.told("first | goes_on | 2 4 later");
    // Four of them ran and ended, the new one included, in the turn's own time.
    assert_eq!((report.finished, report.used), (4, 3 * MS));
    assert!(report.tasks_run == 4 || !support::in_turn());
    assert_eq!(bench.scheduler.live_tasks(), 0);
}

/// facebook/react PR #16407, rxjs #6854: cancelling the only pending work left "the loop is running" set, and later work
/// never started.
#[test]
fn case_15_new_work_asks_the_host_for_a_turn_once() {
    let bench = Bench::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let hook = asked.clone();
    bench.scheduler.on_ready(move || {
        hook.fetch_add(1, Ordering::SeqCst);
    });
    let asked = || asked.swap(0, Ordering::SeqCst);
    assert_eq!(asked(), 0, "nothing to do");

    type Stop = fn(colibri_core::Task<()>) -> Option<colibri_core::Task<()>>;
    let ways: [(&str, Stop); 4] = [
        ("cancelled", |task| {
            task.cancel();
            Some(task)
        }),
        ("cancelled and dropped", |task| {
            task.cancel();
            None
        }),
        ("dropped", |task| {
            drop(task.cancel_on_drop());
            None
        }),
        ("paused", |task| {
            task.pause();
            Some(task)
        }),
    ];
    for (way, stop) in ways {
        // The only work is stopped before the host comes. It was asked, and once is enough until it has come.
        let stopped = stop(bench.scheduler.spawn(Priority::Normal, bench.say("stopped")));
        drop(bench.scheduler.spawn(Priority::Normal, bench.say("early")));
        assert_eq!(asked(), 1, "{way}: the host was asked and has not come");
        bench.scheduler.run_slice();
        assert_eq!(bench.log.folded(), "early", "{way}");
        // It has come.
        drop(bench.scheduler.spawn(Priority::Normal, bench.say("new")));
        drop(bench.scheduler.spawn(Priority::Normal, bench.say("new")));
        assert_eq!(asked(), 1, "{way}: new work");
        bench.scheduler.run_slice();
        assert_eq!(bench.log.folded(), "new×2", "{way}");
        // The only work is stopped, and the host comes to find nothing.
        let again = stop(bench.scheduler.spawn(Priority::Normal, bench.say("stopped")));
        assert_eq!(asked(), 1, "{way}");
        bench.scheduler.run_slice();
        drop(bench.scheduler.spawn(Priority::Normal, bench.say("after")));
        assert_eq!(asked(), 1, "{way}: work after a turn that found nothing");
        bench.scheduler.run_slice();
        assert_eq!(bench.log.folded(), "after", "{way}");
        drop((stopped, again));
    }
}

/// The same report: whatever makes work ready outside of a slice asks.
#[test]
fn case_15_all_that_becomes_ready_asks_the_host() {
    let bench = Bench::new();
    let count = Arc::new(AtomicUsize::new(0));
    let hook = count.clone();
    bench.scheduler.on_ready(move || {
        hook.fetch_add(1, Ordering::SeqCst);
    });
    let asked = || count.swap(0, Ordering::SeqCst);

    let (task, seen) = idle();
    let task = bench.scheduler.spawn(Priority::Normal, task);
    assert_eq!(asked(), 1, "a spawn");
    bench.scheduler.run_slice();
    seen.wake();
    seen.wake();
    assert_eq!(asked(), 1, "a wake");
    bench.scheduler.run_slice();
    let waker = seen.waker();
    std::thread::spawn(move || waker.wake()).join().unwrap();
    assert_eq!(asked(), 1, "a wake of another thread");
    bench.scheduler.run_slice();
    seen.wake();
    asked();
    bench.scheduler.run_slice();
    assert_eq!(asked(), 0, "a turn asks for nothing");
    task.pause();
    task.resume();
    assert_eq!(asked(), 0, "nothing is ready");
    task.pause();
    seen.wake();
    bench.scheduler.run_slice();
    asked();
    task.resume();
    assert_eq!(asked(), 1, "a resume of what was woken");
    bench.scheduler.run_slice();
    let spawner = bench.scheduler.spawner();
    std::thread::spawn(move || spawner.spawn(Priority::Normal, async {}).unwrap()).join().unwrap();
    assert_eq!(asked(), 1, "a spawn of another thread");
    bench.scheduler.run_slice();
    assert_eq!(seen.polls(), 5);
}

/// The same report: the hook comes when there is work already.
// Once what was spawned before counted as asked for, and the hook was never called.
#[test]
fn case_15_a_hook_that_comes_after_the_work_is_called() {
    let bench = Bench::new();
    bench.start(Priority::Normal, bench.say("work"));
    let asked = Arc::new(AtomicUsize::new(0));
    let hook = asked.clone();
    bench.scheduler.on_ready(move || {
        hook.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

/// The same report: a host that sleeps until `next_timer` must hear of an earlier timer that is set meanwhile.
#[test]
fn case_15_an_earlier_timer_asks_the_host() {
    let bench = Bench::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let hook = asked.clone();
    bench.scheduler.on_ready(move || {
        hook.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!(bench.scheduler.run_slice().next_timer, None, "the host may sleep for ever");
    drop(bench.scheduler.task(bench.say("delayed")).after(10 * MS).spawn());
    assert_eq!(asked.swap(0, Ordering::SeqCst), 1, "the host has a timer to set");
    let report = bench.scheduler.run_slice();
    assert_eq!(report.next_timer, Some(Instant::ZERO + 10 * MS));
    drop(bench.scheduler.task(bench.say("later")).after(20 * MS).spawn());
    assert_eq!(asked.load(Ordering::SeqCst), 0, "the host's timer is early enough");
}

/// rust-lang/rust #82606, tokio PR #4044, bevy #609: a monotonic clock went back a little, and a subtraction panicked.
#[test]
fn case_16_a_clock_that_goes_back_breaks_nothing() {
    for back in [Duration::from_nanos(1), US, 3 * MS, 40 * MS, HOUR] {
        for when in ["between slices", "in a slice", "in a sleep", "at the origin"] {
            let bench = Bench::new();
            if when != "at the origin" {
                bench.clock.advance(2 * HOUR);
            }
            let (clock, log) = (bench.clock.clone(), bench.log.clone());
            let steps = Rc::new(Cell::new(0));
            let worked = steps.clone();
            bench.start(Priority::Normal, async move {
                // Bounded, should a slice be endless.
                for step in 0..2000 {
                    clock.advance(MS);
                    worked.set(worked.get() + 1);
                    if when == "in a slice" && step % 50 == 3 {
                        clock.step_back(back);
                    }
                    checkpoint().await;
                }
            });
            let slept = Rc::new(Cell::new(None));
            let (woke, watch) = (slept.clone(), steps.clone());
            bench.start(Priority::Immediate, async move {
                sleep(20 * MS).await;
                woke.set(Some(watch.get()));
                log.say("slept");
            });
            for slice in 0..20 {
                if when == "between slices" || (when == "in a sleep" && slice == 1) || when == "at the origin"
                {
                    bench.clock.step_back(back);
                }
                let before = steps.get();
                let report = bench.scheduler.run_slice();
                let ran = steps.get() - before;
                // Once time stood still until the clock had caught up, and a slice lasted as long as that.
                assert!((1..=64).contains(&ran), "{when}, by {back:?}: a slice of {ran} ms");
                assert!(report.used <= 64 * MS, "{when}, by {back:?}: {:?}", report.used);
            }
            let woke = slept.get().expect("it woke");
            assert!(woke >= 20, "{when}, by {back:?}: it slept {woke} ms");
        }
    }
}

/// socketry/io-event PR #180: 500 000 cancelled timeouts stayed in the heap until they were due.
#[test]
fn case_17_cancelled_timers_leave_nothing_behind() {
    const TIMERS: usize = 500_000;
    let bench = Bench::new();
    bench.start(Priority::Normal, async {
        for _ in 0..TIMERS {
            let mut sleep = sleep(HOUR);
            assert!(futures::poll!(&mut sleep).is_pending());
        }
    });
    bench.slices(1);
    assert_eq!((bench.scheduler.live_tasks(), bench.scheduler.pending_timers()), (0, 0));

    // Alive at the same time, and cancelled in each way.
    let tasks: Vec<_> = (0..20_000)
        .map(|index| match index % 4 {
            0 => bench.scheduler.task(sleep(HOUR)).timeout(2 * HOUR).spawn(),
            1 => bench.scheduler.task(async {}).after(HOUR).spawn(),
            2 => bench.scheduler.task(std::future::pending()).timeout(HOUR).spawn(),
            _ => {
                bench.scheduler.spawn(Priority::Normal, timeout(HOUR, std::future::pending::<()>()).map(drop))
            }
        })
        .collect();
    bench.slices(1);
    assert_eq!(bench.scheduler.pending_timers(), 25_000);
    assert_eq!(bench.scheduler.run_slice().next_timer, Some(Instant::ZERO + HOUR));
    for (index, task) in tasks.into_iter().enumerate() {
        if index % 2 == 0 { task.cancel() } else { drop(task.cancel_on_drop()) }
    }
    let report = bench.scheduler.run_slice();
    assert_eq!((bench.scheduler.live_tasks(), bench.scheduler.pending_timers()), (0, 0));
    assert_eq!(report.next_timer, None);
}

/// tokio #3574, #6029: a late periodic task fired in a burst, or drifted.
#[test]
fn case_18_a_late_interval_keeps_the_rule_that_was_chosen() {
    let expected = [
        // The third tick's work takes 35 ms. Burst: the missed ones come at once, in phase again at 60.
        (MissedTick::Burst, [0, 10, 20, 55, 55, 55, 60]),
        // Delay: the late one comes at once, the next a period later; the phase has shifted.
        (MissedTick::Delay, [0, 10, 20, 55, 65, 75, 85]),
        // Skip: the late one comes at once, the next at a multiple of ten: no drift.
        (MissedTick::Skip, [0, 10, 20, 55, 60, 70, 80]),
    ];
    for (rule, expected) in expected {
        let bench = Bench::new();
        let (clock, ticks) = (bench.clock.clone(), Rc::new(RefCell::new(Vec::new())));
        let at = ticks.clone();
        let task = bench.scheduler.spawn(Priority::Normal, async move {
            let mut interval = interval(10 * MS).missed_tick(rule);
            for tick in 0..7 {
                interval.tick().await;
                at.borrow_mut().push((clock.now() - Instant::ZERO).as_millis());
                if tick == 2 {
                    clock.advance(35 * MS);
                }
            }
        });
        while !task.is_finished() {
            bench.scheduler.run_slice();
            bench.clock.advance(MS);
        }
        assert_eq!(*ticks.borrow(), expected, "{rule:?}");
    }
}

/// tokio #6996, #7210: a yield polled by a foreign executor was never woken.
#[test]
fn case_19_outside_of_colibri_a_yield_wakes_itself_at_once() {
    // By hand: pending once, with one wake; then ready.
    let wakes = Wakes::new();
    let waker = wakes.clone().into();
    let mut give_way = yield_now();
    assert!(poll_with(&mut give_way, &waker).is_pending());
    assert_eq!(wakes.count(), 1);
    assert!(poll_with(&mut give_way, &waker).is_ready());

    // A checkpoint whose budget is over.
    let wakes = Wakes::new();
    let waker = wakes.clone().into();
    let mut over = checkpoint();
    let polled = colibri_core::with_budget(colibri_core::Budget::checks(0), || poll_with(&mut over, &waker));
    assert!(polled.is_pending());
    assert_eq!(wakes.count(), 1);
    assert!(poll_with(&mut over, &waker).is_ready());

    // Foreign executors, alone and inside of a colibri task.
    let foreign = || {
        futures::executor::block_on(async {
            for _ in 0..100 {
                yield_now().await;
                checkpoint().await;
            }
        });
        let mut pool = futures::executor::LocalPool::new();
        pool.run_until(async { futures::join!(yield_now(), yield_now(), uninterrupted(yield_now())) });
    };
    foreign();
    let scheduler = support::builder().build();
    let task = scheduler.spawn_fn(Priority::Normal, foreign);
    scheduler.block_on(task).unwrap();
    // Under a waker that is not the task's own, inside of a task.
    let task = scheduler.spawn(Priority::Normal, async {
        let set = FuturesUnordered::from_iter((0..100).map(|_| yield_now()));
        set.collect::<Vec<()>>().await.len()
    });
    assert_eq!(scheduler.block_on(task).unwrap(), 100);
}

/// tokio #3108, #3709, reactor-core #1251: a virtual clock moved by itself, or stood still on an empty queue.
#[test]
fn case_20_a_manual_clock_moves_when_it_is_told_to() {
    let bench = Bench::new();
    for (name, due) in [("c", 30), ("a", 10), ("b", 20), ("b_too", 20)] {
        let log = bench.log.clone();
        bench.start(Priority::Normal, async move {
            sleep(due * MS).await;
            log.say(name);
        });
    }
    // Nothing else moves it: no slice, idle or not, no timer, no `block_on`, no `run`.
    bench.slices(5);
    assert_eq!(bench.scheduler.block_on(async { 1 }), 1);
    assert_eq!(bench.clock.now(), Instant::ZERO);
    // It moves by exactly that much, on an empty queue too.
    bench.clock.advance(10 * MS - Duration::from_nanos(1));
    bench.slices(1);
    assert_eq!(bench.log.folded(), "");
    bench.clock.advance(Duration::from_nanos(1));
    assert_eq!(bench.clock.now(), Instant::ZERO + 10 * MS);
    assert_eq!(bench.scheduler.run_slice().next_timer, Some(Instant::ZERO + 20 * MS));
    bench.log.told("a");
    bench.clock.advance(HOUR);
    bench.slices(1);
    bench.log.told("b b_too c");
    bench.scheduler.run();
    assert_eq!(bench.clock.now(), Instant::ZERO + 10 * MS + HOUR);
    assert_eq!(bench.scheduler.now(), bench.clock.now());
}

/// futures-concurrency #135: a finished child was polled again. (A spy panics then.)
#[test]
fn case_21_nothing_is_polled_after_it_is_ready() {
    let bench = Bench::new();
    // A task that wakes itself and finishes in the same poll, and is woken afterwards.
    let (task, seen) = spy(futures::future::poll_fn(|context| {
        context.waker().wake_by_ref();
        Poll::Ready(1)
    }));
    let task = bench.scheduler.spawn(Priority::Normal, task);
    bench.slices(2);
    seen.wake();
    bench.slices(2);
    assert_eq!((bench.scheduler.block_on(task).unwrap(), seen.polls()), (1, 1));

    // The future of `block_on`, of `timeout` and of a section, woken more often than needed.
    for _ in 0..3 {
        let (inner, seen) = spy(async {
            yield_now().await;
            2
        });
        let task = bench.scheduler.spawn(Priority::Normal, async move {
            let watched = uninterrupted(timeout(HOUR, inner));
            futures::join!(watched, yield_now(), async {
                for _ in 0..5 {
                    yield_now().await;
                }
            })
            .0
        });
        assert_eq!(bench.scheduler.block_on(task).unwrap().unwrap(), 2);
        assert_eq!(seen.polls(), 2);
        let (joined, seen) = spy(async { 3 });
        assert_eq!((bench.scheduler.block_on(joined), seen.polls()), (3, 1));
    }
    // Steps after the last.
    let mut calls = 0;
    let steps = bench.scheduler.spawn_steps(Priority::Normal, move || {
        calls += 1;
        assert!(calls <= 3);
        if calls == 3 { Step::Done(calls) } else { Step::More }
    });
    assert_eq!(bench.scheduler.block_on(steps).unwrap(), 3);
}

/// tokio #3662: cancel from another thread panicked. At any time: before the first poll, while the task waits, hovers, is
/// ready or runs, after its end, after the scheduler's.
#[test]
fn case_22_another_thread_may_cancel_at_any_time() {
    for state in ["new", "idle", "paused", "delayed", "finished", "shut down", "gone"] {
        let scheduler = support::builder().build();
        let dropped = Rc::new(Cell::new(false));
        let noted = dropped.clone();
        let capture = OnDrop(move || noted.set(true));
        let future = async move {
            let _capture = capture;
            std::future::pending::<()>().await;
        };
        let task = match state {
            "delayed" => scheduler.task(future).after(HOUR).spawn(),
            "finished" => scheduler.spawn(Priority::Normal, async move { drop(future) }),
            _ => scheduler.spawn(Priority::Normal, future),
        };
        if state != "new" {
            scheduler.run_slice();
        }
        let abort = task.abort_handle();
        let kept = match state {
            "paused" => {
                task.pause();
                Some(scheduler)
            }
            "shut down" => {
                scheduler.shutdown();
                Some(scheduler)
            }
            "gone" => {
                drop(scheduler);
                None
            }
            _ => Some(scheduler),
        };
        std::thread::spawn(move || abort.abort()).join().unwrap();
        if let Some(scheduler) = &kept {
            scheduler.run_slice();
            assert_eq!(scheduler.live_tasks(), 0, "{state}");
        }
        assert!(dropped.get() && task.is_finished(), "{state}");
    }
}

/// The same while the task runs, however the two race.
#[test]
fn case_22_another_thread_may_cancel_a_task_that_runs() {
    for round in 0..50 {
        let scheduler = support::builder().build();
        let task = scheduler.spawn(Priority::Idle, async {
            loop {
                yield_now().await;
            }
        });
        let abort = task.abort_handle();
        let thread = std::thread::spawn(move || abort.abort());
        if round % 2 == 0 {
            thread.join().unwrap();
            scheduler.run();
        } else {
            scheduler.run();
            thread.join().unwrap();
        }
        assert!(task.is_finished());
    }
}

/// wasm-bindgen #2847, #2761: a task spawned by a task ran in the same turn without end, and frames were dropped.
#[test]
fn case_23_tasks_that_spawn_tasks_leave_the_host_its_turns() {
    fn link(clock: ManualClock, log: support::Log) -> Boxed {
        Box::pin(async move {
            clock.advance(MS);
            log.say("link");
            drop(spawn(Priority::Immediate, link(clock.clone(), log.clone())));
        })
    }
    let bench = Bench::new();
    bench.start(Priority::Immediate, link(bench.clock.clone(), bench.log.clone()));
    for _ in 0..10 {
        let report = bench.scheduler.run_slice();
        assert_eq!((report.used, report.tasks_run, report.finished, report.work_left), (8 * MS, 8, 8, true));
    }
    // On the system's clock, where each link takes next to nothing: the slice ends.
    fn quick() -> Boxed {
        Box::pin(async { drop(spawn(Priority::Immediate, quick())) })
    }
    let scheduler = support::builder().build();
    drop(scheduler.spawn(Priority::Immediate, quick()));
    assert!(scheduler.run_slice().work_left);
}

/// DataDog/glommio PR #539: fair for each quantum, yet a group of many tasks took more than its share. Here shares are of
/// tasks, not of groups: ten equals have a tenth each, whoever spawned them.
#[test]
fn case_24_shares_are_of_tasks() {
    let bench = Bench::new();
    bench.start(Priority::Normal, bench.work("alone", u32::MAX, MS));
    let members: Vec<_> = (0..9).map(|_| bench.work("group", u32::MAX, MS)).collect();
    bench.start(Priority::Normal, async move {
        for member in members {
            drop(spawn(Priority::Normal, member));
        }
    });
    for _ in 0..1000 {
        bench.scheduler.run_slice();
    }
    let (alone, group) = (bench.log.count("alone"), bench.log.count("group"));
    assert_eq!(alone + group, 8000);
    // Not off by more than a quantum for each.
    assert!(!support::in_turn() || alone.abs_diff(800) <= 4, "{alone} ms of {}", alone + group);
}

/// embassy #3197, UniTask PR #258: users ask to pause and resume one task. In any number and order of calls: every
/// sequence of up to six of them, against a model of four lines.
#[test]
fn case_25_pause_and_resume_in_any_order() {
    const CALLS: [&str; 4] = ["pause", "resume", "wake", "turn"];
    for length in 1..=6 {
        for number in 0..4_usize.pow(length) {
            let sequence: Vec<&str> = (0..length).map(|at| CALLS[number / 4_usize.pow(at) % 4]).collect();
            let bench = Bench::new();
            let (task, seen) = idle();
            let task = bench.scheduler.spawn(Priority::Normal, task);
            let (mut paused, mut ready, mut polls) = (false, true, 0);
            for &call in &sequence {
                match call {
                    "pause" => {
                        task.pause();
                        paused = true;
                    }
                    "resume" => {
                        task.resume();
                        paused = false;
                    }
                    // Before its first poll nobody knows its waker.
                    "wake" => {
                        seen.wake();
                        ready |= polls > 0;
                    }
                    _ => {
                        let report = bench.scheduler.run_slice();
                        let runs = ready && !paused;
                        polls += u32::from(runs);
                        ready &= !runs;
                        assert_eq!(report.tasks_run, u64::from(runs), "{sequence:?}");
                    }
                }
                assert_eq!(seen.polls(), polls, "{sequence:?}");
                assert_eq!(task.state() == TaskState::Paused, paused, "{sequence:?}");
            }
        }
    }
}

/// The same report: what comes while it hovers is kept, whichever it is, and its state with it.
#[test]
fn case_25_what_comes_while_a_task_hovers_is_kept() {
    let bench = Bench::new();
    let (send, mut receive) = mpsc::unbounded();
    let log = bench.log.clone();
    let task = bench.scheduler.spawn(Priority::Normal, async move {
        let mut sum = 0;
        while let Some(number) = receive.next().await {
            sum += number;
            log.say(format!("sum {sum}"));
        }
        sleep(10 * MS).await;
        log.say("slept");
        sum
    });
    send.unbounded_send(1).unwrap();
    bench.slices(1);
    task.pause();
    send.unbounded_send(2).unwrap();
    send.unbounded_send(3).unwrap();
    bench.slices(1);
    assert_eq!(bench.log.folded(), "sum 1");
    task.resume();
    bench.slices(1);
    assert_eq!(bench.log.folded(), "sum 3 sum 6");
    drop(send);
    bench.slices(1);
    task.pause();
    bench.clock.advance(HOUR);
    bench.slices(1);
    assert_eq!(bench.log.folded(), "");
    task.resume();
    bench.slices(1);
    assert_eq!(bench.log.folded(), "slept");
    assert_eq!(bench.scheduler.block_on(task).unwrap(), 6);
}
