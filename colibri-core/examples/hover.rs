//! An index that is built in the background: it tells how far it is, hovers while somebody reads, goes on where it
//! stopped, and a second one is cancelled for good.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use colibri_core::{Priority, Scheduler, TaskError, TaskState, cooperative, set_progress, yield_now};

type Index = BTreeMap<String, Vec<usize>>;

#[cooperative]
async fn build(lines: Vec<String>) -> Index {
    let mut index = Index::new();
    for (number, line) in lines.iter().enumerate() {
        for word in line.split_whitespace() {
            index.entry(word.to_lowercase()).or_default().push(number);
        }
        if number % 1000 == 0 {
            set_progress(number as u64, lines.len() as u64);
            yield_now().await;
        }
    }
    index
}

/// Tells when it is dropped.
struct Guard(Rc<Cell<bool>>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.set(true);
    }
}

pub(crate) fn main() {
    let lines: Vec<String> = (0..20_000).map(|number| format!("line {number} of the Text")).collect();
    let scheduler = Scheduler::new();
    let task = scheduler.task(build(lines.clone())).priority(Priority::Idle).name("index").spawn();

    while task.progress().is_none_or(|(done, _)| done < 5000) {
        scheduler.run_slice();
    }
    let (done, total) = task.progress().unwrap();
    println!("{done} of {total} lines; it hovers");

    // It keeps all it has, and costs nothing.
    task.pause();
    assert!(!scheduler.run_slice().work_left);
    assert_eq!(task.state(), TaskState::Paused);
    assert_eq!(task.progress(), Some((done, total)));

    task.resume();
    let index = scheduler.block_on(task).unwrap();
    println!("{} words, `of` in {} lines", index.len(), index["of"].len());
    assert_eq!(index["of"].len(), lines.len());

    // Cancelled: what it held is dropped before `cancel` returns.
    let dropped = Rc::new(Cell::new(false));
    let guard = Guard(Rc::clone(&dropped));
    let second = scheduler.spawn(Priority::Idle, async move {
        let _guard = guard;
        build(lines).await
    });
    scheduler.run_slice();
    second.cancel();
    assert!(dropped.get());
    assert!(matches!(scheduler.block_on(second), Err(TaskError::Cancelled)));
    println!("the second one was cancelled");
}
