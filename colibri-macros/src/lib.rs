//! The attribute `#[cooperative]` of [colibri](https://docs.rs/colibri-core).
//!
//! Users name it as `colibri_core::cooperative`. The crate reads as the attribute works:
//!
//! 1. `options`: what stands in the attribute's parentheses.
//! 2. `function`: the item it stands on.
//! 3. `group`: what `macro_rules` left in the tokens, made plain.
//! 4. `check`: what the attribute cannot do, with one message each.
//! 5. `signature`: a function that returns a future, and how its arguments get into it; `boxed`: that future in a box.
//! 6. `plan`: which locals each check saves, from what `survey` learns of the `binding`s, and which loops take another
//!    form, from their `shape`, their `head` and whether they are `constant`, over numbers or an `array`; `number` names the loops.
//! 7. `nest`: loop nests whose form allows them to move into a function of their own; `movable`, which of their variables go
//!    how, from `sources` (who may borrow from whom), `divergence` (where a value may be moved for good), `length` (how
//!    long a vector is), `method` and `mention` (what names it).
//! 8. `rewrite`: the body, with `looping` for loops that stay and `recursion` for calls of the function to itself;
//!    `outline` for nests that move, with `rest` and `jumps` for what is entered in the middle of an iteration.
//! 9. `expand`: all of it put together.
//!
//! # What it makes
//!
//! A loop that awaits keeps its place in the future:
//!
//! ```text
//! #[cooperative]                      fn sum(data: &[u64]) -> impl Future<Output = u64> {
//! fn sum(data: &[u64]) -> u64 {           async move {
//!     let mut sum = 0;                        // per future: who it is, the grant it has learned, and the poll that goes on
//!     for x in data {                         let mut polls = Own::begun(&Function::new("sum", file, line));
//!         sum += x;                           let data = data;
//!     }                                       let mut fuel = take();
//!     sum                                     let value: u64 = {
//! }                                               let mut sum = 0;
//!                                                 { match IntoIterator::into_iter(data) { mut iterator => loop {
//!                                                     if fuel <= 0 { fuel = refill(polls.lend(), fuel, site).await; continue }
//!                                                     match Iterator::next(&mut iterator) {
//!                                                         None => break,
//!                                                         Some(x) => { fuel -= 1; sum += x; }
//!                                                     }
//!                                                 } }; }
//!                                                 sum
//!                                             };
//!                                             put(fuel);
//!                                             value
//!                                         }
//!                                     }
//! ```
//!
//! Where the function also waits for others, nobody would notice at those awaits that a poll ends. Then all of this is the
//! body of a second future, which the first polls inside a scope: `poll_fn(|context| { let _scope = enter(&mut frame);
//! body.poll(context) }).await`.
//!
//! A nest without an await moves out of the future. It comes back when the fuel is gone, and is entered again where it was
//! stopped, until the iteration that was interrupted there ends:
//!
//! ```text
//! for i in 1..v.len() {               let mut place = Entry::At0((iterator_0,));
//!     let key = v[i];                 loop {
//!     let mut j = i;                      (fuel, exit) = nest(&mut *v, fuel, &mut place, |v, mut fuel, place| {
//!     while v[j - 1] > key {                  let exit = 'nest: { match Entry::take(place) {
//!         v[j] = v[j - 1];                        Entry::At0((mut iterator_0,)) => {
//!         j -= 1;                                     // the nest as written, with checks:
//!     }                                               //     if fuel <= 0 {
//!     v[j] = key;                                     //         *place = Entry::At0((iterator_0,));
//! }                                                   //         break 'nest Exit::Left;
//!                                                     //     }
//!                                                     break 'nest Exit::Done;
//!                                                 }
//!                                                 Entry::At1((mut iterator_0, mut key, mut j,)) => {
//!                                                     // the inner loop from its head on, and what follows it
//!                                                     *place = Entry::At0((iterator_0,));
//!                                                     break 'nest Exit::Left;
//!                                                 }
//!                                             } };
//!                                             (fuel, exit)
//!                                         });
//!                                         match exit { Exit::Done => break, Exit::Left => {} .. }
//!                                         if fuel <= 0 { let saved = (v,); fuel = refill(..).await; (v,) = saved; }
//!                                     }
//! ```
//!
//! Only a short `while` inside, which is unrolled, looks at the budget in place (`if fuel <= 0 && spent(&mut fuel, site)`) and
//! comes back when the budget is over: unrolled it stands in the nest as written alone.

mod options;

mod function;

mod group;

mod check;

mod signature;

mod boxed;

mod number;

mod array;
mod binding;

mod survey;

mod shape;

mod plan;

mod rewrite;

mod constant;
mod divergence;
mod head;
mod jumps;
mod kind;
mod length;
mod looping;
mod mention;
mod method;
mod movable;
mod nest;
mod outline;
mod rest;
mod sources;
mod standard;

mod recursion;

mod expand;

mod name;

mod report;

#[cfg(test)]
mod snapshot;

use proc_macro::TokenStream;

/// Turns a function into one that returns a future which can stop at any iteration of its loops.
///
/// It goes on a `fn`, an `async fn`, a method, and a method of a trait or of its implementation.
///
/// | option | meaning |
/// | --- | --- |
/// | `budget = 128` | at most so many iterations per poll |
/// | `slice = "4ms"` | on an executor other than colibri's: how long one poll may take |
/// | `name = "index"` | what reports call the function |
/// | `boxed` | it returns a boxed future: for mutual recursion, and for traits used as `dyn` |
/// | `crate = path` | where colibri-core is found, if not at `::colibri_core` |
/// | `strict` | a loop that cannot stop (in a closure, a nested item, an `async` block, a macro call) is an error |
///
/// On a loop of the function, `#[cooperative(skip)]` leaves that loop, and the loops inside it, as they are.
///
/// A call of the function to itself (`f(..)`, `Self::f(..)`, `self.f(..)`) is awaited, in a box. Where nothing can be
/// awaited, in a closure or a nested function, it runs to its end at once.
///
/// Loops in closures, nested items, `async` blocks and macro calls, in `const` blocks and array lengths are not loops
/// of the function, and stay as they are.
#[proc_macro_attribute]
pub fn cooperative(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::cooperative(options.into(), item.into()).into()
}
