//! What the generated functions call, and how their twins are compared. Written by `cargo xtask fuzz-macro`.
#![allow(dead_code)]

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use colibri_core::{Budget, with_budget};

use crate::short::{self, Grant};

/// Iterations that unbounded loops and recursion have, all together: after that they panic, in both twins alike.
const PATIENCE: u64 = 600;
/// Iterations of the plain twin beyond which an input is left out: the cooperative one would give way as often, under each
/// budget.
const MOST_ITERATIONS: u64 = 10_000;
/// Polls after which a function is said never to end.
const MOST_POLLS: u64 = 300_000;
/// Events that are kept of a run; the rest is only counted.
const LONGEST_LOG: usize = 4_000;
/// The check budgets.
const CHECKS: [u32; 7] = [0, 1, 2, 3, 5, 17, 1000];
/// The grants of the short runtime.
const GRANTS: [Grant; 7] = [
    Grant { checks: 1, over_every: 1, arrears: 0 },
    Grant { checks: 2, over_every: 1, arrears: 0 },
    Grant { checks: 3, over_every: 1, arrears: 2 },
    Grant { checks: 4, over_every: 2, arrears: 0 },
    Grant { checks: 5, over_every: 1, arrears: 1 },
    Grant { checks: 9, over_every: 3, arrears: 4 },
    Grant { checks: 17, over_every: 1, arrears: 8 },
];

thread_local! {
    static LOG: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static PATIENT: Cell<u64> = const { Cell::new(0) };
    static COUNTED: Cell<Counted> = const { Cell::new(Counted { iterations: 0, constant: 0, calls: 0, is_partial: false, is_inexact: false }) };
}

/// What the plain twin counts.
#[derive(Clone, Copy, Default)]
struct Counted {
    /// Iterations of loops that have checks.
    iterations: u64,
    /// Iterations of loops with literal bounds, which may have none.
    constant: u64,
    /// Calls of the function to itself.
    calls: u64,
    /// Whether some were in a closure, where nothing gives way.
    is_partial: bool,
    /// Whether some were in the head of a `while`, which looks at its fuel before it: some checks fall together.
    is_inexact: bool,
}

/// Notes a side effect.
pub fn note(event: impl std::fmt::Debug) {
    LOG.with_borrow_mut(|log| {
        if log.len() < LONGEST_LOG {
            log.push(format!("{event:?}"));
        }
    });
}

/// Notes a side effect, and is an expression.
pub fn noted<T: std::fmt::Debug>(value: T) -> T {
    note(&value);
    value
}

/// Ends what would go on for too long.
pub fn guard() {
    let patient = PATIENT.get() + 1;
    PATIENT.set(patient);
    assert!(patient < PATIENCE, "out of patience");
}

/// An iteration of a loop that might never end.
pub fn tick() {
    soft_tick();
    guard();
}

/// An iteration of a loop that surely ends: only in the plain twin.
pub fn soft_tick() {
    count(|counted| counted.iterations += 1);
}

/// An iteration of a loop with literal bounds: only in the plain twin.
pub fn constant_tick() {
    count(|counted| counted.constant += 1);
}

/// An iteration of a loop in the head of a `while`: only in the plain twin.
pub fn condition_tick() {
    count(|counted| counted.constant += 1);
    waits_in_condition();
}

/// A `while` begins in whose head something has checks, if only one at its end: only in the plain twin.
pub fn waits_in_condition() {
    count(|counted| counted.is_inexact = true);
}

/// A function that calls itself begins.
pub fn call_tick() {
    count(|counted| counted.calls += 1);
    guard();
}

/// The function calls itself where nothing can be awaited.
pub fn uncounted() {
    count(|counted| counted.is_partial = true);
}

fn count(add: impl FnOnce(&mut Counted)) {
    let mut counted = COUNTED.get();
    add(&mut counted);
    COUNTED.set(counted);
    // Whoever comes here is not compared, and shall not be waited for either.
    assert!(counted.iterations + counted.constant <= 10 * MOST_ITERATIONS, "too long");
}

/// A value whose drop can be seen.
#[derive(Debug, PartialEq)]
pub struct Loud(pub i32);

impl Drop for Loud {
    fn drop(&mut self) {
        note(format_args!("drop {}", self.0));
    }
}

impl Loud {
    pub fn is(&self, answer: bool) -> bool {
        note(format_args!("ask {}", self.0));
        answer
    }

    pub fn items(&self) -> std::slice::Iter<'_, i32> {
        note(format_args!("items of {}", self.0));
        [1, 5, 3, 8][..(self.0 & 3) as usize].iter()
    }

    pub fn some(&self, present: bool) -> Option<&Loud> {
        present.then_some(self)
    }

    pub fn value(&self) -> i32 {
        self.0
    }

    pub fn smaller(self) -> Option<Loud> {
        let left = (self.0 & 7) - 1;
        (left > 0).then_some(Loud(left))
    }
}

/// A number that is moved, not copied, by each operation; too large a one ends in a panic.
#[derive(Clone, Debug, PartialEq)]
pub struct Big(pub Vec<u32>);

impl Big {
    pub fn of(value: i32) -> Big {
        Big(vec![value.unsigned_abs() & 0xffff])
    }

    pub fn low(&self) -> i32 {
        self.0[0] as i32
    }
}

impl std::ops::Add for Big {
    type Output = Big;

    fn add(mut self, other: Big) -> Big {
        note(format_args!("{} + {}", self.0[0], other.0[0]));
        self.0[0] = self.0[0].checked_add(other.0[0]).filter(|sum| *sum < 900_000).expect("small enough");
        self
    }
}

impl std::ops::Mul<&Big> for Big {
    type Output = Big;

    fn mul(mut self, other: &Big) -> Big {
        self.0[0] = self.0[0].wrapping_mul(other.0[0] | 1) & 0xffff;
        self
    }
}

impl std::ops::AddAssign<i32> for Big {
    fn add_assign(&mut self, other: i32) {
        self.0[0] = (self.0[0] + other.unsigned_abs() % 9) & 0xffff;
    }
}

impl Drop for Big {
    fn drop(&mut self) {
        note(format_args!("end of {:?}", self.0));
    }
}

/// A small thing that is copied, with arithmetic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dot {
    pub x: i32,
    pub y: i32,
}

impl std::ops::Add for Dot {
    type Output = Dot;

    fn add(self, other: Dot) -> Dot {
        Dot { x: self.x.wrapping_add(other.x), y: self.y.wrapping_sub(other.y) }
    }
}

impl std::ops::AddAssign for Dot {
    fn add_assign(&mut self, other: Dot) {
        *self = *self + other;
    }
}

/// Two values that can be moved out of one by one.
#[derive(Debug)]
pub struct Both {
    pub left: Loud,
    pub right: Loud,
}

/// A linked list.
#[derive(Debug, Clone)]
pub struct Node {
    pub value: i32,
    pub next: Option<Box<Node>>,
}

pub type List = Option<Box<Node>>;

pub fn list_of(values: &[i32]) -> List {
    values.iter().rev().fold(None, |next, &value| Some(Box::new(Node { value, next })))
}

/// Arguments: `input` is the number of the input, `place` that of the argument.
fn draw(input: u64, place: u64) -> u64 {
    let mut word =
        input.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (place + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 32)
}

pub fn an_int(input: u64, place: u64) -> i64 {
    let word = draw(input, place);
    match word % 8 {
        0 => 0,
        1 => 1,
        2 => -1,
        3 => i64::from(word as i32),
        _ => (word >> 8) as i64 % 12,
    }
}

pub fn ints(input: u64, place: u64) -> Vec<i32> {
    let length = match input {
        0 => 0,
        1 => 1,
        _ => draw(input, place) % 9,
    };
    (0..length).map(|at| an_int(input, place * 64 + at) as i32 % 1000).collect()
}

pub fn louds(input: u64, place: u64) -> Vec<Loud> {
    ints(input, place).into_iter().take(5).map(|value| Loud(value & 63)).collect()
}

pub fn map_of(values: &[i32]) -> BTreeMap<i32, i32> {
    values.iter().map(|&value| (value & 7, value)).collect()
}

pub fn text(input: u64, place: u64) -> String {
    ints(input, place).into_iter().map(|value| char::from(b"ab,\"1 \nz"[(value & 7) as usize])).collect()
}

/// A function under test.
pub struct Case {
    pub name: &'static str,
    pub plain: fn(u64) -> String,
    pub cooperative: fn(u64) -> Pin<Box<dyn Future<Output = String>>>,
    /// Whether it is on the short runtime.
    pub is_short: bool,
}

/// What can be seen of one run.
#[derive(Debug, PartialEq)]
struct Seen {
    result: Result<String, String>,
    log: Vec<String>,
}

fn watch(run: impl FnOnce() -> String) -> Seen {
    LOG.take();
    PATIENT.set(0);
    COUNTED.set(Counted::default());
    let result = catch_unwind(AssertUnwindSafe(run)).map_err(message);
    Seen { result, log: LOG.take() }
}

fn message(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast::<&str>().map_or_else(|_| "?".to_owned(), |text| (*text).to_owned()),
    }
}

/// What a poll may use.
#[derive(Clone, Copy, Debug)]
enum Mode {
    Unlimited,
    Foreign,
    Time,
    Checks(u32),
    Short(Grant),
}

/// Polls to the end; how often is told through `polls`, on a panic too.
fn poll_to_end(mode: Mode, mut future: Pin<Box<dyn Future<Output = String>>>, polls: &Cell<u64>) -> String {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        polls.set(polls.get() + 1);
        let mut poll = || future.as_mut().poll(&mut context);
        let polled = match mode {
            Mode::Foreign | Mode::Short(_) => poll(),
            Mode::Unlimited => with_budget(Budget::UNLIMITED, poll),
            Mode::Time => with_budget(Budget::time(Duration::from_micros(1)), poll),
            Mode::Checks(checks) => with_budget(Budget::checks(checks), poll),
        };
        if let Poll::Ready(output) = polled {
            return output;
        }
        assert!(polls.get() < MOST_POLLS, "it never ends");
    }
}

/// Compares the twins of one case: how many runs and comparisons there were, or the kind of the first difference and
/// what it is.
fn judge(case: &Case, inputs: u64) -> Result<(u64, u64), (&'static str, String)> {
    let (mut runs, mut comparisons) = (0, 0);
    for input in 0..inputs {
        let expected = watch(|| (case.plain)(input));
        let counted = COUNTED.get();
        runs += 1;
        if counted.iterations + counted.constant > MOST_ITERATIONS {
            continue;
        }
        let mut checks = 0;
        let modes = CHECKS.map(Mode::Checks).into_iter().chain([Mode::Unlimited, Mode::Foreign, Mode::Time]);
        let grants = GRANTS.iter().copied().filter(|_| case.is_short).map(Mode::Short);
        for mode in modes.chain(grants) {
            let polls = Cell::new(0);
            short::set(if let Mode::Short(grant) = mode { Some(grant) } else { None });
            let seen = watch(|| poll_to_end(mode, (case.cooperative)(input), &polls));
            short::set(None);
            runs += 1;
            comparisons += 3;
            let place = format!("input {input}, budget {mode:?}");
            if seen.result != expected.result {
                let kind = if seen.result.is_err() || expected.result.is_err() { "panic" } else { "result" };
                return Err((kind, format!("{place}: {:?} instead of {:?}", seen.result, expected.result)));
            }
            if seen.log != expected.log {
                let at = seen.log.iter().zip(&expected.log).position(|(left, right)| left != right);
                let at = at.unwrap_or(seen.log.len().min(expected.log.len()));
                let around = |log: &[String]| log[at.saturating_sub(2)..log.len().min(at + 4)].join(", ");
                let difference = format!(
                    "{place}: event {at} differs: .. {} .. instead of .. {} ..",
                    around(&seen.log),
                    around(&expected.log)
                );
                return Err(("log", difference));
            }
            if let Mode::Short(grant) = mode {
                comparisons += 1;
                let gave_way = polls.get() - 1;
                // With grants of one each check gives way. With longer ones it must happen now and then; loops that were
                // charged for rounds they did not run may give way where they otherwise would not.
                let is_exact = grant.checks == 1 && grant.over_every == 1 && !counted.is_inexact;
                let most = if is_exact { checks } else { 2 * checks + 16 };
                if gave_way > most || (is_exact && gave_way < checks) || (gave_way == 0 && checks > 500) {
                    let difference = format!("{place}: gave way {gave_way} times, for {checks} checks");
                    return Err(("polls", difference));
                }
            }
            if let Mode::Checks(budget) = mode {
                comparisons += 1;
                let gave_way = polls.get() - 1;
                if budget == 0 {
                    checks = gave_way;
                    let Counted { iterations, constant, calls, is_partial, is_inexact } = counted;
                    if checks < iterations && !is_partial && !is_inexact {
                        let difference =
                            format!("{place}: gave way {checks} times in {iterations} iterations");
                        return Err(("too-few-checks", difference));
                    }
                    // One more: the check at which the last loop ends.
                    if checks > iterations + constant + calls + 1 && !is_inexact {
                        let difference = format!(
                            "{place}: gave way {checks} times in {iterations} iterations, {constant} of constant \
                             loops, {calls} calls"
                        );
                        return Err(("too-many-checks", difference));
                    }
                }
                let expected = checks / (u64::from(budget) + 1);
                if gave_way != expected && !counted.is_inexact {
                    let difference = format!(
                        "{place}: gave way {gave_way} times instead of {expected}, for {checks} checks"
                    );
                    return Err(("polls", difference));
                }
            }
        }
    }
    Ok((runs, comparisons))
}

/// Judges the cases from `first` on, and tells of each in one line.
pub fn run(cases: &[Case]) {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse().unwrap_or(0));
    let first: u64 = arguments.next().unwrap_or(0);
    let inputs: u64 = arguments.next().unwrap_or(4);
    std::panic::set_hook(Box::new(|_| {}));
    for (at, case) in cases.iter().enumerate().skip(first as usize) {
        println!("begin {at} {}", case.name);
        match judge(case, inputs) {
            Ok((runs, comparisons)) => println!("agree {} {runs} {comparisons}", case.name),
            Err((kind, difference)) => println!("differ {} {kind} {difference:?}", case.name),
        }
    }
}
