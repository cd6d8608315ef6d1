//! A scheduler on tokio: who gets the thread, and when the driving ends.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

use colibri_core::{Budget, Priority, Scheduler, SliceReport, cooperative, sleep, with_budget, yield_now};
use colibri_core::{Instant, Observer};
use colibri_tokio::Drive as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime can be built")
}

#[cooperative]
fn count(rounds: u64) -> u64 {
    let mut sum = 0u64;
    for round in 0..rounds {
        sum = sum.wrapping_mul(31).wrapping_add(round);
    }
    sum
}

/// Counts slices.
struct Slices(Rc<Cell<u64>>);

impl Observer for Slices {
    fn slice_ended(&self, _: &SliceReport, _: Instant) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn sockets_are_served_under_full_load() {
    const REQUESTS: u64 = 40;
    // A request takes four looks at the sockets at most, and there is one after each slice. Without, there would be one
    // after 61 slices.
    const MOST_SLICES_PER_REQUEST: u64 = 12;

    let slices = Rc::new(Cell::new(0));
    let scheduler =
        Scheduler::builder().slice(Duration::from_millis(1)).observer(Slices(Rc::clone(&slices))).build();
    // More than there is time for, in each class.
    let endless = Priority::ALL.map(|priority| scheduler.spawn(priority, count(u64::MAX)));
    runtime().block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            for _ in 0..REQUESTS {
                let number = stream.read_u64().await.unwrap();
                stream.write_u64(number + 1).await.unwrap();
            }
        };
        let client = async {
            let mut stream = TcpStream::connect(address).await.unwrap();
            for number in 0..REQUESTS {
                stream.write_u64(number).await.unwrap();
                assert_eq!(stream.read_u64().await.unwrap(), number + 1);
            }
        };
        tokio::select! {
            () = scheduler.drive() => unreachable!("nobody shuts it down"),
            _ = async { tokio::join!(server, client) } => {}
        }
    });
    assert!(endless.iter().all(|task| !task.is_finished()));
    let seen = slices.get();
    assert!(seen >= REQUESTS, "the scheduler had {seen} slices");
    assert!(seen <= REQUESTS * MOST_SLICES_PER_REQUEST, "{seen} slices for {REQUESTS} requests");
}

#[test]
fn an_idle_scheduler_is_woken_by_timers_threads_and_the_runtime() {
    let scheduler = Scheduler::new();
    let log = Rc::new(Cell::new(0u32));
    runtime().block_on(async {
        let work = async {
            let slept = scheduler.spawn(Priority::Normal, async {
                sleep(Duration::from_millis(2)).await;
                1
            });
            assert_eq!(slept.await.unwrap(), 1);

            let spawner = scheduler.spawner();
            let (sender, receiver) = tokio::sync::oneshot::channel();
            let thread = std::thread::spawn(move || {
                spawner.spawn(Priority::Immediate, async move {
                    yield_now().await;
                    sender.send(2).unwrap();
                })
            });
            assert_eq!(receiver.await.unwrap(), 2);
            thread.join().unwrap().unwrap();

            // Nothing is ready; then the runtime's own timer, outside of any slice, spawns.
            tokio::time::sleep(Duration::from_millis(2)).await;
            let noted = Rc::clone(&log);
            scheduler.spawn(Priority::Idle, async move { noted.set(3) }).await.unwrap();

            // A timer that is set while the driver waits for a later one.
            let late = scheduler.spawn(Priority::Idle, sleep(Duration::from_secs(3600)));
            tokio::time::sleep(Duration::from_millis(2)).await;
            scheduler.sleep(Duration::from_millis(1)).await;
            assert!(!late.is_finished());
        };
        tokio::select! {
            () = scheduler.drive() => unreachable!("nobody shuts it down"),
            () = work => {}
        }
    });
    assert_eq!(log.get(), 3);
}

#[test]
fn driving_ends_with_the_scheduler() {
    let scheduler = Scheduler::new();
    let endless = scheduler.spawn(Priority::Idle, count(u64::MAX));
    let stop = scheduler.clone();
    runtime().block_on(async {
        tokio::join!(scheduler.drive(), async {
            tokio::time::sleep(Duration::from_millis(3)).await;
            stop.shutdown();
        });
    });
    assert!(endless.is_finished());
    // Nothing is ready any more when somebody shuts it down.
    let idle = Scheduler::new();
    let stop = idle.clone();
    runtime().block_on(async {
        tokio::join!(idle.drive(), async {
            tokio::time::sleep(Duration::from_millis(3)).await;
            stop.shutdown();
        });
    });
}

#[test]
fn who_drives_next_goes_on() {
    let scheduler = Scheduler::builder().slice(Duration::from_micros(200)).build();
    let task = scheduler.spawn(Priority::Normal, count(3_000_000));
    runtime().block_on(async {
        let _ = tokio::time::timeout(Duration::from_micros(1), scheduler.drive()).await;
    });
    let sum = scheduler.block_on(task).unwrap();
    assert_eq!(sum, scheduler.block_on(count(3_000_000)));
}

#[test]
fn cooperative_futures_run_on_the_multi_thread_runtime() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let expected = with_budget(Budget::UNLIMITED, || futures::executor::block_on(count(400_000)));
    runtime.block_on(async {
        let tasks: Vec<_> = (0..16).map(|_| tokio::spawn(count(400_000))).collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), expected);
        }
    });
}

#[test]
fn a_timeout_ends_an_endless_function_and_select_its_race() {
    runtime().block_on(async {
        assert!(tokio::time::timeout(Duration::from_millis(2), count(u64::MAX)).await.is_err());
        tokio::select! {
            _ = count(u64::MAX) => unreachable!("it does not end"),
            () = tokio::time::sleep(Duration::from_millis(2)) => {}
        }
    });
}

#[test]
fn neighbours_run_between_the_polls_of_an_endless_function() {
    runtime().block_on(async {
        let local = tokio::task::LocalSet::new();
        local
            .run_until(async {
                let hog = tokio::task::spawn_local(count(u64::MAX));
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
                hog.abort();
                assert!(hog.await.unwrap_err().is_cancelled());
            })
            .await;
    });
}
