//! Worker threads that hand their results to the one thread that may touch the user interface.

use std::cell::RefCell;
use std::rc::Rc;
use std::thread;

use colibri_core::{Priority, Scheduler};

thread_local! {
    /// Stands for a window: it belongs to this thread alone.
    static WINDOW: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

pub(crate) fn main() {
    let scheduler = Scheduler::new();
    let workers: Vec<_> = (0..4u64)
        .map(|worker| {
            // A spawner may go to any thread; tasks that come through it are `Send`, and run here.
            let spawner = scheduler.spawner();
            thread::spawn(move || {
                for part in 0..3 {
                    let sum: u64 = (0..10_000 * (worker + 1)).sum();
                    let line = format!("worker {worker}, part {part}: {sum}");
                    let shown = async move { WINDOW.with_borrow_mut(|window| window.push(line)) };
                    spawner.spawn(Priority::Normal, shown).expect("the window is open");
                }
            })
        })
        .collect();
    // Returns when every task has ended and every spawner is gone.
    scheduler.run();
    for worker in workers {
        worker.join().expect("no worker panics");
    }
    let lines = Rc::new(WINDOW.take());
    println!("{}", lines.join("\n"));
    assert_eq!(lines.len(), 12);
    // The parts of one worker come in order.
    let first: Vec<&str> =
        lines.iter().filter(|line| line.starts_with("worker 0")).map(|line| &line[..16]).collect();
    assert_eq!(first, ["worker 0, part 0", "worker 0, part 1", "worker 0, part 2"]);
}
