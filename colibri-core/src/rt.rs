//! What the output of `#[cooperative]` calls. Not for users: it changes with the attribute.

pub extern crate alloc;
pub use core;

pub use core::cmp::Ord;
pub use core::future::{Future, IntoFuture};
pub use core::iter::{IntoIterator, Iterator};
pub use core::ops::{ControlFlow, FnOnce};
pub use core::option::Option::{None, Some};
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};

use crate::checkpoint::uninterrupted;
use crate::local;
pub use crate::outline::*;
pub use crate::strip::{Counted, Cut, OpenAny, OpenFast, Probe, Strip};

use crate::meter::{FIRST_GRANT_CHECKS, FOREIGN_BUDGET_NANOS, Outer, Saved, UNLIMITED};

/// A cooperative function, as the attribute saw it.
#[derive(Debug)]
pub struct Function {
    name: &'static str,
    file: &'static str,
    line: u32,
    slice_nanos: u64,
    checks: u64,
}

impl Function {
    /// The function `name` at `file:line`.
    #[must_use]
    pub const fn new(name: &'static str, file: &'static str, line: u32) -> Self {
        Function { name, file, line, slice_nanos: UNLIMITED, checks: UNLIMITED }
    }

    /// How long it may run per poll where no budget is set, in nanoseconds.
    #[must_use]
    pub const fn slice_nanos(self, slice_nanos: u64) -> Self {
        Function { slice_nanos, ..self }
    }

    /// How many checks it may pass per poll, anywhere.
    #[must_use]
    pub const fn checks(self, checks: u32) -> Self {
        Function { checks: checks as u64, ..self }
    }

    /// Its name, file and line.
    #[must_use]
    pub const fn place(&self) -> (&'static str, &'static str, u32) {
        (self.name, self.file, self.line)
    }
}

/// A loop of a cooperative function.
#[derive(Debug)]
pub struct Site {
    function: &'static str,
    file: &'static str,
    line: u32,
}

impl Site {
    /// The loop at `file:line`, in `function`.
    #[must_use]
    pub const fn new(function: &'static str, file: &'static str, line: u32) -> Self {
        Site { function, file, line }
    }

    /// The function's name, the file and the line.
    #[must_use]
    pub const fn place(&self) -> (&'static str, &'static str, u32) {
        (self.function, self.file, self.line)
    }
}

/// What a cooperative future keeps between polls: the grant it has learned.
#[derive(Debug)]
pub struct Frame {
    function: &'static Function,
    grant: u32,
}

/// What the end of a poll puts back.
#[derive(Clone, Copy, Debug)]
struct Begun {
    saved: Option<Saved>,
    outer: Outer,
    grant: u32,
}

impl Frame {
    /// A frame of `function` that has learned nothing yet.
    #[must_use]
    pub const fn new(function: &'static Function) -> Self {
        Frame { function, grant: FIRST_GRANT_CHECKS }
    }

    /// A poll begins: with the function's own grant, and with a budget of its own where there is none or where it asks
    /// for a tighter one.
    fn begin(&self) -> Begun {
        local::with(|local| {
            let meter = &local.meter;
            let function = self.function;
            let saved = if !meter.is_open() {
                let slice = if function.slice_nanos == UNLIMITED {
                    FOREIGN_BUDGET_NANOS
                } else {
                    function.slice_nanos
                };
                Some(meter.open_foreign(slice, function.checks))
            } else if function.checks != UNLIMITED {
                Some(meter.open(None, function.checks))
            } else {
                None
            };
            Begun { saved, outer: meter.enter_function(self.grant), grant: self.grant }
        })
    }

    /// It ends.
    fn end(&mut self, Begun { saved, outer, grant }: Begun) {
        local::with(|local| {
            self.grant = local.meter.leave_function(outer, grant);
            if let Some(saved) = saved {
                local.meter.close(saved, self.function.checks);
            }
        });
    }
}

/// Enters a function that waits for others than its own checks, for one poll. Once per poll: a call is smaller than what
/// it does.
#[inline(never)]
pub fn enter(frame: &mut Frame) -> Scope<'_> {
    let begun = frame.begin();
    Scope { frame, begun }
}

/// One poll of such a function. Dropping it leaves the function, on a panic too.
#[derive(Debug)]
#[must_use]
pub struct Scope<'f> {
    frame: &'f mut Frame,
    begun: Begun,
}

impl Drop for Scope<'_> {
    #[inline(never)]
    fn drop(&mut self) {
        self.frame.end(self.begun);
    }
}

/// What knows where a function's polls begin and end: see [`Around`] and [`Own`].
pub trait Polls: Unpin {
    /// A poll begins.
    fn begin(&mut self);

    /// It ends.
    fn end(&mut self);
}

/// The future around this one has the function's frame, and enters it: nothing to do, and nothing to remember.
#[derive(Clone, Copy, Debug)]
pub struct Around;

impl Around {
    /// For one wait.
    #[inline(always)]
    #[must_use]
    pub fn lend(&mut self) -> Self {
        *self
    }
}

impl Polls for Around {
    fn begin(&mut self) {}

    fn end(&mut self) {}
}

/// The frame of a function that waits nowhere but at its checks: each poll ends there, or with the function. So it needs no
/// other future around its own.
///
/// Dropping it ends the poll, if one has begun.
#[derive(Debug)]
pub struct Own {
    frame: Frame,
    begun: Option<Begun>,
}

impl Own {
    /// In the first poll of `function`.
    #[inline(never)]
    #[must_use]
    pub fn begun(function: &'static Function) -> Self {
        let frame = Frame::new(function);
        let begun = Some(frame.begin());
        Own { frame, begun }
    }

    /// For one wait.
    #[inline(always)]
    pub fn lend(&mut self) -> &mut Self {
        self
    }

    #[inline(never)]
    fn end_poll(&mut self) {
        if let Some(begun) = self.begun.take() {
            self.frame.end(begun);
        }
    }
}

impl Polls for &mut Own {
    fn begin(&mut self) {
        self.begun = Some(self.frame.begin());
    }

    fn end(&mut self) {
        self.end_poll();
    }
}

impl Drop for Own {
    #[inline(always)]
    fn drop(&mut self) {
        self.end_poll();
    }
}

/// Takes the thread's fuel. It leaves none, so that a path which never puts it back only makes the next check look
/// at the clock.
#[inline(always)]
#[must_use]
pub fn take() -> i64 {
    local::with(|local| local.meter.fuel.replace(0))
}

/// Puts fuel back, for whoever runs next in this poll.
#[inline(always)]
pub fn put(fuel: i64) {
    local::with(|local| local.meter.fuel.set(fuel));
}

/// A look at the budget when the fuel is gone: new fuel, after giving way if it must. What was used beyond the fuel is
/// counted.
#[inline(always)]
pub fn refill<P: Polls>(polls: P, fuel: i64, site: &'static Site) -> Refill<P> {
    Refill { polls, site, fuel, gave_way: false }
}

/// The future of [`refill`].
#[derive(Debug)]
#[must_use = "a refill does nothing unless it is awaited"]
pub struct Refill<P> {
    polls: P,
    site: &'static Site,
    fuel: i64,
    gave_way: bool,
}

impl<P: Polls> Future for Refill<P> {
    type Output = i64;

    #[inline(always)]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<i64> {
        match refill_cold(&mut self, context) {
            Some(fuel) => Poll::Ready(fuel),
            None => Poll::Pending,
        }
    }
}

#[cold]
#[inline(never)]
fn refill_cold<P: Polls>(refill: &mut Refill<P>, context: &Context<'_>) -> Option<i64> {
    if refill.gave_way {
        refill.polls.begin();
    }
    let fuel = local::with(|local| {
        if refill.gave_way {
            return Some(local.meter.resume());
        }
        let fuel = local.meter.check(local, refill.fuel, Some(refill.site));
        if fuel.is_none() {
            local.give_way(context.waker());
        }
        fuel
    });
    if fuel.is_none() {
        refill.gave_way = true;
        refill.polls.end();
    }
    fuel
}

/// For code without an await: looks at the budget in place. On `true` the fuel is 0 and the next [`refill`] gives way
/// without another look.
#[inline(always)]
pub fn spent(fuel: &mut i64, site: &'static Site) -> bool {
    let (over, granted) = spent_cold(*fuel, site);
    *fuel = granted;
    over
}

#[cold]
#[inline(never)]
fn spent_cold(fuel: i64, site: &'static Site) -> (bool, i64) {
    local::with(|local| match local.meter.check(local, fuel, Some(site)) {
        Some(fuel) => (false, fuel),
        None => (true, 0),
    })
}

/// `next` by value, so that the iterator is never borrowed inside the coroutine.
#[inline(always)]
pub fn step<I: Iterator>(mut iterator: I) -> (Option<I::Item>, I) {
    let item = iterator.next();
    (item, iterator)
}

/// The iterator's upper bound, at most `i64::MAX`, by value as well.
#[inline(always)]
pub fn hint<I: Iterator>(iterator: I) -> (i64, I) {
    let upper = iterator.size_hint().1.and_then(|upper| i64::try_from(upper).ok()).unwrap_or(i64::MAX);
    (upper, iterator)
}

/// Charges a loop of `items` iterations before it runs, if the fuel is enough for all of them: whether it is, and the fuel
/// that is left.
#[inline(always)]
#[must_use]
pub fn charge(items: i64, fuel: i64) -> (bool, i64) {
    if items <= fuel { (true, fuel - items) } else { charge_cold(items, fuel) }
}

/// The fuel is one portion of a grant; what the whole grant is enough for may run without a glance in between.
#[cold]
#[inline(never)]
fn charge_cold(items: i64, fuel: i64) -> (bool, i64) {
    local::with(|local| match local.meter.portions_for(items - fuel) {
        Some(portions) => (true, fuel + portions - items),
        None => (false, fuel),
    })
}

/// Types that the `?` operator works on, as far as the attribute must know whether it leaves the function.
#[diagnostic::on_unimplemented(
    message = "the `?` operator can only be applied to values that implement `Try`",
    label = "the `?` operator cannot be applied to type `{Self}`"
)]
pub trait Question {
    /// Whether `?` returns from the function.
    fn leaves(&self) -> bool;
}

impl<T> Question for Option<T> {
    #[inline(always)]
    fn leaves(&self) -> bool {
        self.is_none()
    }
}

impl<T, E> Question for Result<T, E> {
    #[inline(always)]
    fn leaves(&self) -> bool {
        self.is_err()
    }
}

impl<B, C> Question for ControlFlow<B, C> {
    #[inline(always)]
    fn leaves(&self) -> bool {
        self.is_break()
    }
}

impl<T, E> Question for Poll<Result<T, E>> {
    #[inline(always)]
    fn leaves(&self) -> bool {
        matches!(self, Poll::Ready(Err(_)))
    }
}

impl<T, E> Question for Poll<Option<Result<T, E>>> {
    #[inline(always)]
    fn leaves(&self) -> bool {
        matches!(self, Poll::Ready(Some(Err(_))))
    }
}

/// The operand of a `?`: gives the fuel back if the function is left here, and only then.
#[inline(always)]
pub fn leave<Q: Question>(operand: Q, fuel: i64) -> Q {
    if operand.leaves() {
        put(fuel);
    }
    operand
}

/// Runs a cooperative future to its end without a resume point: for a call of the function to itself where nothing can
/// be awaited, in a closure for example.
///
/// # Panics
///
/// When the future waits for something.
pub fn run<F: Future>(future: F) -> F::Output {
    let future = pin!(uninterrupted(future));
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!(
            "a #[cooperative] function was called by itself inside a closure, where it cannot be awaited, and waited \
             for something: call it outside of the closure"
        ),
    }
}
