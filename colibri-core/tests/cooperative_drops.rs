//! Drop order, the lifetimes of temporaries, and what a panic or a dropped future leaves behind.

#![allow(clippy::all, reason = "odd forms are what is tested")]

mod cooperative_support;

use std::cell::RefCell;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use colibri_core::{Budget, cooperative, with_budget};
use cooperative_support::{Loud, note, same};

both! {
    #[allow(unused_variables, unused_assignments)]
    fn arguments(a: Loud, _: Loud, (b, _): (Loud, Loud), _unused: Loud, [_, c @ .., _]: [Loud; 4], mut d: Loud) -> usize {
        let _local = Loud("local");
        for i in 0..2 { let _in_loop = Loud("in loop"); note(i); }
        d = Loud("d again");
        let moved = a;
        note("end");
        c.len()
    }

    fn ref_arguments(ref a: Loud, ref mut b: Loud, whole @ (_, _): (Loud, Loud)) -> &'static str {
        for _ in 0..2 { b.0 = "b changed"; }
        note(a.0);
        whole.1.0
    }

    fn unused_arguments(_: Loud, _a: Loud, (_, _): (Loud, Loud)) { for _ in 0..1 { note("body") } }

    fn iterator_temporaries(n: u32) {
        for i in Loud("head").borrowed_items() { let _x = Loud("x"); note(i); if *i == n { break } }
        note("between");
        for i in Loud("head 2").items().map(|x| { let _in = Loud("closure"); x }) { note(i); }
        for i in RefCell::new(vec![1, 2]).borrow_mut().drain(..) { note(i); }
    }

    fn tail_for(n: u32) {
        let _local = Loud("local");
        for i in Loud("head").borrowed_items() { let _x = Loud("x"); note(i + n); }
    }

    fn tail_for_in_block(n: u32) -> u32 {
        let _local = Loud("local");
        { let _inner = Loud("inner"); for i in Loud("head").borrowed_items() { note(i + n); } }
        note("after");
        let value = { let _inner = Loud("inner 2"); loop { let _l = Loud("l"); if Loud("cond").is(true) { break Loud("value").0.len() as u32 } } };
        value + n
    }

    fn condition_temporaries(n: u32) {
        let mut i = 0;
        while Loud("condition").is(i < n) { let _x = Loud("x"); i += 1; note(i); }
        note("between");
        let mut i = n;
        while let Some(loud) = Loud("scrutinee").some(i) { let _x = Loud("x"); note(loud.0); i -= 1; }
    }

    fn tail_while(n: u32) {
        let _local = Loud("local");
        let mut i = n;
        while let Some(loud) = Loud("scrutinee").some(i) { note(loud.0); i -= 1; if i == 1 { break } }
    }

    fn body_temporaries(n: u32) {
        for _ in 0..n { let _x = Loud("x"); note(Loud("tail").0) }
        for _ in 0..n { let _x = Loud("x"); match Loud("tail").some(1) { Some(_) => note("some"), None => {} } }
        let mut i = 0;
        while i < n { let _x = Loud("x"); i += 1; if Loud("tail").is(true) { note("yes") } }
        loop { let _x = Loud("x"); i += 1; if i > 5 { break } match Loud("tail").is(true) { _ => note("loop") } }
    }

    fn items_half_taken(n: u32) {
        let pairs = vec![(Loud("a1"), Loud("b1")), (Loud("a2"), Loud("b2")), (Loud("a3"), Loud("b3"))];
        let mut seen = 0;
        for (a, _) in pairs { seen += 1; note(a.0); if seen == n { break } note("next"); }
        for _ in vec![Loud("whole")] { note("whole's body"); }
        for ref item in [Loud("r1"), Loud("r2")] { note(item.0); }
    }

    fn leaving(n: u32) -> Option<Loud> {
        let _outer = Loud("outer");
        for i in 0..5 {
            let _each = Loud("each");
            let inner = Loud("inner");
            for _ in Loud("head").borrowed_items() {
                let _deep = Loud("deep");
                if i == n { return Some(inner) }
                if i + 1 == n { None::<u32>?; }
                if i == 4 { return None }
                break
            }
            if i == 2 { continue }
            note("rest");
        }
        None
    }

    fn labelled_drops(n: u32) -> u32 {
        let _a = Loud("a");
        'outer: loop {
            let _b = Loud("b");
            'inner: for i in 0..n {
                let _c = Loud("c");
                let value = 'block: { let _d = Loud("d"); if i == 1 { break 'block 1 } if i == 2 { break 'outer } if i == 0 { continue 'inner } 2 };
                note(value);
            }
            break 'outer
        }
        note("after");
        n
    }

    fn panics_in_body(n: u32) -> u32 {
        let _a = Loud("a");
        for i in Loud("head").borrowed_items() {
            let _b = Loud("b");
            let mut j = 0;
            while j < 3 { let _c = Loud("c"); j += 1; assert!(i + j != n, "at {i} and {j}"); }
        }
        0
    }

    fn panics_in_iterator(n: u32) -> u32 {
        let _a = Loud("a");
        let guard = Loud("captured");
        for i in (0..5).map(move |i| { assert!(i != n, "in next of {}", guard.0); i }) { let _b = Loud("b"); note(i); }
        0
    }

    fn panics_in_condition(n: u32) -> u32 {
        let _a = Loud("a");
        let mut i = 0;
        while { let _c = Loud("c"); assert!(i != n, "in the condition"); i < 4 } { let _b = Loud("b"); i += 1; }
        i
    }

    fn reassigned(n: u32) -> Loud {
        let mut current = Loud("first");
        for i in 0..n { current = if i % 2 == 0 { Loud("even") } else { Loud("odd") }; note("assigned"); }
        let late;
        loop { late = Loud("late"); break }
        note(late.0);
        current
    }

    fn matched(n: u32) -> u32 {
        let slot = RefCell::new(Some(Loud("slot")));
        match slot.borrow_mut().take() { Some(loud) => { for i in 0..n { note(i); } note(loud.0); } None => {} }
        if let Some(loud) = slot.replace(Some(Loud("second"))).as_ref() { for _ in 0..n { note(loud.0); } } else { while slot.borrow().is_none() {} note("none"); }
        let _ = Loud("dropped at once");
        let _ = { for i in 0..n { note(i) } Loud("block") };
        n
    }
}

fn louds() -> (Loud, Loud) {
    (Loud("left"), Loud("right"))
}

#[test]
fn arguments_are_dropped_as_in_the_plain_function() {
    let four = || [Loud("c0"), Loud("c1"), Loud("c2"), Loud("c3")];
    same(
        || plain::arguments(Loud("a"), Loud("_"), louds(), Loud("unused"), four(), Loud("d")),
        || stopping::arguments(Loud("a"), Loud("_"), louds(), Loud("unused"), four(), Loud("d")),
    );
    same(
        || plain::ref_arguments(Loud("a"), Loud("b"), louds()),
        || stopping::ref_arguments(Loud("a"), Loud("b"), louds()),
    );
    same(
        || plain::unused_arguments(Loud("a"), Loud("b"), louds()),
        || stopping::unused_arguments(Loud("a"), Loud("b"), louds()),
    );
}

macro_rules! compare {
    ($($name:ident)*) => {
        $(#[test] fn $name() { for n in 0..6 { same(|| plain::$name(n), || stopping::$name(n)); } })*
    };
}

compare! {
    iterator_temporaries tail_for tail_for_in_block condition_temporaries tail_while body_temporaries items_half_taken
    leaving labelled_drops panics_in_body panics_in_iterator panics_in_condition reassigned matched
}

struct Owner {
    first: Loud,
    second: Loud,
}

#[cfg_attr(any(), allow(dead_code))]
impl Owner {
    fn new() -> Self {
        Owner { first: Loud("first"), second: Loud("second") }
    }

    fn plain_consumed(self, _other: Loud) -> usize {
        let _local = Loud("local");
        for i in 0..2 {
            note(i);
        }
        note(self.second.0);
        self.first.0.len()
    }

    #[cooperative]
    fn consumed(self, _other: Loud) -> usize {
        let _local = Loud("local");
        for i in 0..2 {
            note(i);
        }
        note(self.second.0);
        self.first.0.len()
    }

    fn plain_unused(self, _other: Loud) {
        let _local = Loud("local");
        for i in 0..2 {
            note(i);
        }
    }

    #[cooperative]
    fn unused(self, _other: Loud) {
        let _local = Loud("local");
        for i in 0..2 {
            note(i);
        }
    }

    fn plain_half_moved(mut self, _other: Loud) -> Loud {
        for i in 0..2 {
            note(i);
            self.first = Loud("changed");
        }
        self.second
    }

    #[cooperative]
    fn half_moved(mut self, _other: Loud) -> Loud {
        for i in 0..2 {
            note(i);
            self.first = Loud("changed");
        }
        self.second
    }

    fn plain_panics(self, _other: Loud) {
        let _local = Loud("local");
        for i in 0..2 {
            assert!(i < 1, "it is {}", self.first.0);
        }
    }

    #[cooperative]
    fn panics(self, _other: Loud) {
        let _local = Loud("local");
        for i in 0..2 {
            assert!(i < 1, "it is {}", self.first.0);
        }
    }
}

#[test]
fn self_is_dropped_last() {
    same(|| Owner::new().plain_consumed(Loud("other")), || Owner::new().consumed(Loud("other")));
    same(|| Owner::new().plain_unused(Loud("other")), || Owner::new().unused(Loud("other")));
    same(|| Owner::new().plain_half_moved(Loud("other")), || Owner::new().half_moved(Loud("other")));
    same(|| Owner::new().plain_panics(Loud("other")), || Owner::new().panics(Loud("other")));
}

#[cooperative]
fn holds(argument: Loud, n: u32) -> u32 {
    let _local = Loud("local");
    for i in Loud("head").borrowed_items() {
        let _each = Loud("each");
        for j in 0..n {
            note(i + j);
        }
    }
    note(argument.0);
    n
}

#[test]
fn a_dropped_future_drops_what_it_holds_once() {
    assert_eq!(log_of_dropped(0), ["drop argument"]);
    for polls in 1..12 {
        let mut log = log_of_dropped(polls);
        log.retain(|event| event.starts_with("drop"));
        for name in ["drop argument", "drop local", "drop head"] {
            assert_eq!(
                log.iter().filter(|event| *event == name).count(),
                1,
                "{name} after {polls} polls: {log:?}"
            );
        }
        assert_eq!(log.last().unwrap(), "drop argument", "after {polls} polls: {log:?}");
    }
}

fn log_of_dropped(polls: u32) -> Vec<String> {
    cooperative_support::take_log();
    let mut future = pin!(Some(holds(Loud("argument"), 3)));
    for _ in 0..polls {
        let mut context = Context::from_waker(Waker::noop());
        let future = future.as_mut().as_pin_mut().unwrap();
        assert!(with_budget(Budget::checks(0), || future.poll(&mut context)).is_pending());
    }
    future.set(None);
    cooperative_support::take_log()
}
