//! A program in Rust on a page: it counts primes for seconds, and the page never notices.

use std::cell::RefCell;
use std::time::Duration;

use colibri_core::{Priority, Task, cooperative, sleep};
use wasm_bindgen::prelude::*;

#[cooperative]
fn primes_below(limit: u32) -> u32 {
    let mut found = 0;
    for n in 2..limit {
        let mut d = 2;
        while d * d <= n && n % d != 0 {
            d += 1;
        }
        if d * d > n {
            found += 1;
        }
    }
    found
}

thread_local! {
    static COUNTING: RefCell<Option<Task<()>>> = const { RefCell::new(None) };
}

#[wasm_bindgen]
extern "C" {
    /// Where the page takes in a result.
    pub type Inbox;
    #[wasm_bindgen(method, js_name = call)]
    fn tell(this: &Inbox, receiver: &JsValue, found: u32);
}

/// Counts the primes below `limit`, and tells `inbox`, a function, how many there are.
#[wasm_bindgen]
pub fn count(limit: u32, inbox: Inbox) {
    let scheduler = colibri_web::scheduler();
    let counting = scheduler.spawn(Priority::Idle, async move {
        let found = primes_below(limit).await;
        inbox.tell(&JsValue::NULL, found);
    });
    // The latest counts: the one before is cancelled.
    let before = COUNTING.replace(Some(counting));
    if let Some(before) = before {
        before.cancel();
    }
}

/// Cancels the count that is under way.
#[wasm_bindgen]
pub fn cancel() {
    if let Some(counting) = COUNTING.take() {
        counting.cancel();
    }
}

/// Keeps the count from going on; its state is kept.
#[wasm_bindgen]
pub fn pause() {
    COUNTING.with_borrow(|counting| counting.as_ref().map(Task::pause));
}

/// Lets it go on.
#[wasm_bindgen]
pub fn resume() {
    COUNTING.with_borrow(|counting| counting.as_ref().map(Task::resume));
}

/// Tells `inbox` after `millis`, before whatever is counted.
#[wasm_bindgen]
pub fn remind(millis: u32, inbox: Inbox) {
    let reminder = async move {
        sleep(Duration::from_millis(millis.into())).await;
        inbox.tell(&JsValue::NULL, millis);
    };
    drop(colibri_web::scheduler().spawn(Priority::Immediate, reminder));
}

/// Tasks that have not ended.
#[wasm_bindgen]
pub fn live_tasks() -> usize {
    colibri_web::scheduler().live_tasks()
}
