//! A scheduler on async-io's reactor: who gets the thread, and when the driving ends.

use std::cell::Cell;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::rc::Rc;
use std::time::Duration;

use async_executor::{Executor, LocalExecutor};
use async_io::{Async, Timer, block_on};
use colibri_core::{Instant, Observer, Priority, Scheduler, SliceReport, cooperative, sleep};
use colibri_smol::Drive as _;
use futures::future::{Either, join, select};
use futures::stream::{FuturesUnordered, StreamExt as _};

#[cooperative]
fn count(rounds: u64) -> u64 {
    let mut sum = 0u64;
    for round in 0..rounds {
        sum = sum.wrapping_mul(31).wrapping_add(round);
    }
    sum
}

/// Runs `work` beside the driven scheduler.
fn beside<T>(scheduler: &Scheduler, work: impl Future<Output = T>) -> T {
    let drive = std::pin::pin!(scheduler.drive());
    let work = std::pin::pin!(work);
    block_on(async {
        match select(drive, work).await {
            Either::Left(_) => unreachable!("nobody shuts it down"),
            Either::Right((output, _)) => output,
        }
    })
}

/// Counts slices.
struct Slices(Rc<Cell<u64>>);

impl Observer for Slices {
    fn slice_ended(&self, _: &SliceReport, _: Instant) {
        self.0.set(self.0.get() + 1);
    }
}

async fn send(stream: &Async<TcpStream>, number: u64) -> io::Result<()> {
    let bytes = number.to_le_bytes();
    let sent = stream.write_with(|mut stream| io::Write::write(&mut stream, &bytes)).await?;
    assert_eq!(sent, bytes.len());
    Ok(())
}

async fn receive(stream: &Async<TcpStream>) -> io::Result<u64> {
    let mut bytes = [0; 8];
    let received = stream.read_with(|mut stream| io::Read::read(&mut stream, &mut bytes)).await?;
    assert_eq!(received, bytes.len());
    Ok(u64::from_le_bytes(bytes))
}

#[test]
fn sockets_are_served_under_full_load() {
    const REQUESTS: u64 = 40;
    // A request takes four looks at the sockets at most, and there is one after each slice.
    const MOST_SLICES_PER_REQUEST: u64 = 12;

    let slices = Rc::new(Cell::new(0));
    let scheduler =
        Scheduler::builder().slice(Duration::from_millis(1)).observer(Slices(Rc::clone(&slices))).build();
    let endless = Priority::ALL.map(|priority| scheduler.spawn(priority, count(u64::MAX)));
    beside(&scheduler, async {
        let listener = Async::<TcpListener>::bind(([127, 0, 0, 1], 0)).unwrap();
        let address = listener.get_ref().local_addr().unwrap();
        let server = async {
            let (stream, _) = listener.accept().await.unwrap();
            for _ in 0..REQUESTS {
                let number = receive(&stream).await.unwrap();
                send(&stream, number + 1).await.unwrap();
            }
        };
        let client = async {
            let stream = Async::<TcpStream>::connect(address).await.unwrap();
            for number in 0..REQUESTS {
                send(&stream, number).await.unwrap();
                assert_eq!(receive(&stream).await.unwrap(), number + 1);
            }
        };
        join(server, client).await;
    });
    assert!(endless.iter().all(|task| !task.is_finished()));
    let seen = slices.get();
    assert!(seen <= REQUESTS * MOST_SLICES_PER_REQUEST, "{seen} slices for {REQUESTS} requests");
}

#[test]
fn an_idle_scheduler_is_woken_by_timers_and_the_executor() {
    let scheduler = Scheduler::new();
    beside(&scheduler, async {
        let slept = scheduler.spawn(Priority::Normal, async {
            sleep(Duration::from_millis(2)).await;
            1
        });
        assert_eq!(slept.await.unwrap(), 1);
        Timer::after(Duration::from_millis(2)).await;
        assert_eq!(scheduler.spawn(Priority::Idle, async { 2 }).await.unwrap(), 2);
    });
}

#[test]
fn driving_ends_with_the_scheduler() {
    let scheduler = Scheduler::new();
    let stop = scheduler.clone();
    block_on(join(scheduler.drive(), async {
        Timer::after(Duration::from_millis(3)).await;
        stop.shutdown();
    }));
}

#[test]
fn cooperative_futures_run_under_other_executors_and_combinators() {
    let executor = LocalExecutor::new();
    let expected = block_on(count(300_000));
    let tasks: Vec<_> = (0..8).map(|_| executor.spawn(count(300_000))).collect();
    block_on(executor.run(async {
        for task in tasks {
            assert_eq!(task.await, expected);
        }
        let mut all: FuturesUnordered<_> = (0..8).map(|_| count(300_000)).collect();
        while let Some(sum) = all.next().await {
            assert_eq!(sum, expected);
        }
        let endless = std::pin::pin!(count(u64::MAX));
        let race = select(endless, Timer::after(Duration::from_millis(2))).await;
        assert!(matches!(race, Either::Right(_)));
    }));
}

#[test]
fn cooperative_futures_run_on_an_executor_of_several_threads() {
    let executor = Executor::new();
    let expected = block_on(count(300_000));
    let tasks: Vec<_> = (0..16).map(|_| executor.spawn(count(300_000))).collect();
    let all = async {
        for task in tasks {
            assert_eq!(task.await, expected);
        }
    };
    // One thread waits for them and works, the other works till they are done.
    let (done, is_done) = futures::channel::oneshot::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(|| block_on(executor.run(is_done)));
        block_on(executor.run(all));
        drop(done);
    });
}
