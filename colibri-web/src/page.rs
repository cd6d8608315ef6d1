//! The page that a program in wasm32 runs in, by wasm-bindgen: a browser's, a worker's, or Node.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use colibri_core::{Activity, Clock, Instant, Scheduler};
use wasm_bindgen::prelude::*;

use crate::host::{Host, Page};

#[wasm_bindgen]
extern "C" {
    type Global;
    #[wasm_bindgen(thread_local_v2, js_name = globalThis)]
    static GLOBAL: Global;
    #[wasm_bindgen(method, getter)]
    fn document(this: &Global) -> Option<Document>;
    #[wasm_bindgen(method, getter, js_name = setImmediate)]
    fn set_immediate(this: &Global) -> JsValue;
    #[wasm_bindgen(method, getter, js_name = MessageChannel)]
    fn message_channel(this: &Global) -> JsValue;

    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn performance_now() -> f64;
    #[wasm_bindgen(js_name = setImmediate)]
    fn call_immediate(call: &JsValue);
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(call: &JsValue, delay_millis: f64) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);

    type Document;
    #[wasm_bindgen(method, getter)]
    fn hidden(this: &Document) -> bool;
    #[wasm_bindgen(method, js_name = addEventListener)]
    fn add_event_listener(this: &Document, name: &str, call: &JsValue, capture: bool);

    type MessageChannel;
    #[wasm_bindgen(constructor)]
    fn new() -> MessageChannel;
    #[wasm_bindgen(method, getter)]
    fn port1(this: &MessageChannel) -> MessagePort;
    #[wasm_bindgen(method, getter)]
    fn port2(this: &MessageChannel) -> MessagePort;

    #[derive(Clone)]
    type MessagePort;
    #[wasm_bindgen(method, setter)]
    fn set_onmessage(this: &MessagePort, call: &JsValue);
    #[wasm_bindgen(method, js_name = postMessage)]
    fn post_message(this: &MessagePort, message: &JsValue);
}

/// The page's clock, `performance.now()`. Where it is coarse, as some browsers make it, the scheduler counts checks between its steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageClock;

impl Clock for PageClock {
    fn now(&self) -> Instant {
        // Of 53 bits: exact for 104 days, in nanoseconds.
        Instant::from_nanos((performance_now() * 1e6) as u64)
    }
}

/// How long after input the user still counts as interacting: 250 ms, more than there is between two keys of a fast typist.
const INTERACTION_MILLIS: f64 = 250.0;

/// The longest that a timer of the page can wait, in ms; then it is set again.
const LONGEST_TIMEOUT_MILLIS: f64 = 2_147_483_647.0;

const INPUT: [&str; 4] = ["scroll", "pointermove", "pointerdown", "keydown"];

/// By what turns are asked for. A message comes after the page's own events, and is not held back as timers are; on Node it would
/// come before them.
enum Asking {
    Immediate,
    Message(MessagePort),
    Timeout,
}

/// The page of this thread.
pub struct BrowserPage {
    document: Option<Document>,
    last_input: Rc<Cell<f64>>,
    asking: Asking,
    timer: RefCell<Option<JsValue>>,
    /// What the page calls for a turn.
    turn: JsValue,
}

impl Page for BrowserPage {
    fn ask(&self) {
        match &self.asking {
            Asking::Immediate => call_immediate(&self.turn),
            Asking::Message(port) => port.post_message(&JsValue::NULL),
            Asking::Timeout => drop(set_timeout(&self.turn, 0.0)),
        }
    }

    fn ask_after(&self, delay: Option<Duration>) {
        if let Some(timer) = self.timer.take() {
            clear_timeout(&timer);
        }
        if let Some(delay) = delay {
            // Whole milliseconds, and none too few: they would be cut.
            let millis = (delay.as_secs_f64() * 1e3).ceil().min(LONGEST_TIMEOUT_MILLIS);
            self.timer.replace(Some(set_timeout(&self.turn, millis)));
        }
    }

    fn activity(&self) -> Activity {
        if self.document.as_ref().is_some_and(Document::hidden) {
            Activity::Background
        } else if performance_now() - self.last_input.get() < INTERACTION_MILLIS {
            Activity::Interacting
        } else {
            Activity::Foreground
        }
    }
}

impl BrowserPage {
    /// The page, which calls `turn` when it has one.
    fn new(turn: JsValue) -> Self {
        let document = GLOBAL.with(Global::document);
        let last_input = Rc::new(Cell::new(f64::NEG_INFINITY));
        if let Some(document) = &document {
            let input = last_input.clone();
            let note = Closure::<dyn Fn()>::new(move || input.set(performance_now())).into_js_value();
            INPUT.iter().for_each(|name| document.add_event_listener(name, &note, true));
        }
        let asking = if GLOBAL.with(Global::set_immediate).is_function() {
            Asking::Immediate
        } else if GLOBAL.with(Global::message_channel).is_function() {
            let channel = MessageChannel::new();
            channel.port1().set_onmessage(&turn);
            Asking::Message(channel.port2())
        } else {
            Asking::Timeout
        };
        BrowserPage { document, last_input, asking, timer: RefCell::default(), turn }
    }
}

impl fmt::Debug for BrowserPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrowserPage").field("activity", &self.activity()).finish_non_exhaustive()
    }
}

thread_local! {
    static HOST: Host<BrowserPage> = start();
}

fn start() -> Host<BrowserPage> {
    let turn = Closure::<dyn Fn()>::new(|| HOST.with(Host::turn)).into_js_value();
    Host::new(Scheduler::builder().clock(PageClock).build(), BrowserPage::new(turn))
}

/// The page's scheduler. It lives as long as the page, and runs in its turns.
#[must_use]
pub fn scheduler() -> Scheduler {
    HOST.with(|host| host.scheduler().clone())
}
