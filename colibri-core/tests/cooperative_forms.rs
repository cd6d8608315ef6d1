//! Every form of function, of signature and of recursion.

#![allow(clippy::all, reason = "odd forms are what is tested")]

mod cooperative_support;

use std::fmt;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use colibri_core::cooperative;
use cooperative_support::{finish, note, poll_to_end, same};

fn is_send<T: Send>(_: T) {}

// Free functions.

/// Docs are kept.
#[cooperative]
#[must_use]
#[inline]
fn documented(n: u32) -> u32 {
    #![allow(unused_variables)]
    let unused = 1;
    let mut sum = 0;
    for i in 0..n {
        sum += i;
    }
    sum
}

#[cooperative]
fn without_loops(text: &str) -> usize {
    text.len()
}

#[cooperative]
fn nothing() {}

#[cooperative]
async fn asynchronous(n: u32) -> u32 {
    let mut sum = 0;
    for i in 0..n {
        sum += documented(i).await;
        sum += async { 1 }.await;
    }
    Box::pin(std::future::ready(sum)).await
}

#[cooperative]
async fn asynchronous_without_loops(n: u32) -> u32 {
    documented(n).await + documented(n).await
}

/// A plain `fn` may await as well: its body is one of a future.
#[cooperative]
fn awaiting(n: u32) -> Result<u32, fmt::Error> {
    async fn fail(n: u32) -> Result<u32, fmt::Error> {
        if n > 3 { Err(fmt::Error) } else { Ok(n) }
    }
    let mut sum = 0;
    for i in 0..n {
        sum += fail(i).await?;
    }
    Ok(sum)
}

#[cooperative]
fn never(limit: u32) -> ! {
    let mut i = 0;
    loop {
        i += 1;
        assert!(i < limit, "the end");
    }
}

#[cooperative]
fn elided(text: &str, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for word in words {
        while let Some(at) = text.find(word) {
            found.push(text[at..].to_owned());
            break;
        }
    }
    found
}

#[cooperative]
fn elided_result(text: &str) -> &str {
    let mut end = text.len();
    while end > 2 {
        end -= 1;
    }
    &text[..end]
}

#[cooperative]
fn named<'a, 'b: 'a>(left: &'a str, right: &'b str, n: usize) -> &'a str {
    for _ in 0..n {
        note("turn");
    }
    if left.len() > right.len() { left } else { right }
}

#[cooperative]
fn hidden_lifetime(f: &mut fmt::Formatter, items: &[u32]) -> fmt::Result {
    for item in items {
        write!(f, "{item};")?;
    }
    Ok(())
}

struct Shown<'a>(&'a [u32]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        finish(hidden_lifetime(f, self.0))
    }
}

#[cooperative]
fn generic<T, I, const N: usize>(items: I, array: [T; N]) -> Vec<T>
where
    T: Clone + PartialEq,
    I: IntoIterator<Item = T>,
{
    let mut out = Vec::new();
    for item in items {
        for other in &array {
            if *other != item {
                out.push(item.clone());
            }
        }
    }
    out
}

#[cooperative]
fn impl_arguments(items: impl Iterator<Item = u32>, f: &mut impl FnMut(u32), g: &dyn Fn(u32) -> u32) {
    for item in items {
        f(g(item));
    }
}

#[cooperative]
fn impl_result<'a>(items: &'a [u32], n: usize) -> impl Iterator<Item = u32> + 'a {
    let mut skip = 0;
    while skip < n {
        skip += 1;
    }
    items.iter().skip(skip).copied()
}

#[cooperative]
fn closure(n: u32) -> impl Fn(&u32) -> u32 + Send {
    for i in 0..n {
        if i == 90 {
            return closure_of(|x| *x);
        }
    }
    closure_of(move |x| x.pow(1) + n)
}

fn closure_of<F: Fn(&u32) -> u32 + Send + 'static>(f: F) -> Box<dyn Fn(&u32) -> u32 + Send> {
    Box::new(f)
}

#[cooperative]
fn bare_closure(n: u32) -> impl Fn(&u32) -> u32 {
    let mut sum = 0;
    while sum < n {
        sum += 3;
    }
    move |x| x.pow(2) + sum
}

#[cooperative]
fn bare_closure_without_loops(n: u32) -> impl FnMut(u32) -> u32 {
    let mut sum = n;
    move |x| {
        sum += x.pow(1);
        sum
    }
}

#[cooperative]
fn impl_in_result(n: u32) -> Result<impl fmt::Display, Box<dyn std::error::Error>> {
    for i in 0..n {
        if i == 5 {
            return Err(Box::new(fmt::Error));
        }
        if i == 7 {
            "x".parse::<u32>()?;
        }
    }
    Ok(n)
}

#[cooperative]
fn coerced(n: u32) -> Box<dyn Fn(u32) -> u32> {
    for i in 0..n {
        if i == 3 {
            return Box::new(|x| x + 3);
        }
    }
    Box::new(move |x| x * n)
}

#[cooperative]
fn coerced_slice(n: usize) -> &'static [u32] {
    for i in 0..n {
        if i == 2 {
            return &[1, 2];
        }
    }
    &[1, 2, 3]
}

#[cooperative]
fn tuple(n: u32) -> (u32, Option<Vec<u32>>) {
    let mut out = vec![];
    for i in 0..n {
        out.push(i);
    }
    (n, if n > 3 { Some(out) } else { None })
}

#[cooperative]
fn controlled(n: u32) -> ControlFlow<u32, ()> {
    for i in 0..n {
        if i == 4 {
            ControlFlow::Break(i)?;
        }
    }
    ControlFlow::Continue(())
}

#[cooperative]
fn large_arguments(data: [u64; 64], mut more: Vec<u64>, factor: u64) -> u64 {
    for x in data {
        more.push(x * factor);
    }
    let mut sum = 0;
    for x in &more {
        sum += x;
    }
    sum
}

#[test]
fn free_functions() {
    // Whether the last look finds that there is no further iteration depends on the kind of loop.
    assert!((10..=11).contains(&same(|| 45, || documented(10))));
    assert_eq!(same(|| 5, || without_loops("hello")), 0);
    assert_eq!(same(|| (), nothing), 0);
    same(|| 10 + 5, || asynchronous(5));
    same(|| 20, || asynchronous_without_loops(5));
    for n in [2, 6] {
        same(|| if n > 4 { Err(fmt::Error) } else { Ok((0..n).sum()) }, || awaiting(n));
    }
    same(|| -> u32 { panic!("the end") }, || async { never(5).await });
    same(|| vec!["cd".to_owned()], || elided("abcd", &["x", "cd"]));
    same(|| "ab", || elided_result("abcdef"));
    same(
        || {
            (0..2).for_each(|_| note("turn"));
            "right"
        },
        || named("left", "right", 2),
    );
    assert_eq!(Shown(&[1, 2]).to_string(), "1;2;");
    same(|| vec![1, 1, 1, 2], || generic([1, 2], [2, 3, 1].map(|x| if x == 1 { 2 } else { x })));
}

#[test]
fn signatures() {
    same(
        || (0..3).for_each(|x| note(x * 2)),
        || async { impl_arguments(0..3, &mut |x| note(x), &|x| x * 2).await },
    );
    same(|| vec![3, 4], || async { impl_result(&[1, 2, 3, 4], 2).await.collect::<Vec<_>>() });
    same(|| 4 + 5, || async { closure(5).await(&4) });
    same(|| 16 + 6, || async { bare_closure(5).await(&4) });
    same(|| 9, || async { bare_closure_without_loops(5).await(4) });
    for n in [2, 6, 9] {
        same(
            || if n > 5 { fmt::Error.to_string() } else { n.to_string() },
            || async move {
                impl_in_result(n).await.map_or_else(|error| error.to_string(), |value| value.to_string())
            },
        );
        same(|| if n > 3 { 8 } else { 5 * n }, || async move { coerced(n).await(5) });
        same(|| if n > 2 { 2 } else { 3 }, || async move { coerced_slice(n as usize).await.len() });
        same(|| (n, (n > 3).then(|| (0..n).collect())), || tuple(n));
        same(|| if n > 4 { ControlFlow::Break(4) } else { ControlFlow::Continue(()) }, || controlled(n));
    }
    same(|| 64 * 2 + 3, || large_arguments([1; 64], vec![1, 2], 2));
}

// Methods, with every form of `self`.

#[derive(Clone, Debug, PartialEq)]
struct Counter {
    value: u32,
}

type Shared<T> = Arc<T>;

impl Counter {
    const STEP: u32 = 2;

    #[cooperative]
    fn associated(n: u32) -> Self {
        let mut value = 0;
        for _ in 0..n {
            value += Self::STEP;
        }
        Self { value }
    }

    #[cooperative]
    fn by_reference(&self, n: u32) -> u32 {
        let mut sum = 0;
        for _ in 0..n {
            sum += self.value;
        }
        sum
    }

    #[cooperative]
    fn by_mutable_reference(&mut self, n: u32) -> &mut u32 {
        for i in 0..n {
            self.value += i;
        }
        &mut self.value
    }

    #[cooperative]
    fn by_named_reference<'a>(&'a self, other: &'a Self) -> &'a u32 {
        for i in 0..3 {
            if self.value == i {
                return &self.value;
            }
        }
        &other.value
    }

    #[cooperative]
    fn by_value(mut self) -> u32 {
        while self.value < 10 {
            self.value += 3;
        }
        self.value
    }

    #[cooperative]
    fn by_typed_reference(self: &Self) -> u32 {
        let mut sum = 0;
        for i in 0..self.value {
            sum += i;
        }
        sum
    }

    #[cooperative]
    fn by_box(self: Box<Self>) -> Box<Self> {
        for i in 0..self.value {
            note(i);
        }
        self
    }

    #[cooperative]
    fn by_mutable_box(mut self: Box<Self>) -> u32 {
        for i in 0..3 {
            self.value += i;
        }
        self.value
    }

    #[cooperative]
    fn by_rc(self: Rc<Self>) -> u32 {
        let mut sum = 0;
        for i in 0..self.value {
            sum += i;
        }
        sum
    }

    #[cooperative]
    fn by_alias(self: &Shared<Self>) -> u32 {
        let mut sum = 0;
        for i in 0..self.value {
            sum += i;
        }
        sum
    }

    #[cooperative]
    fn by_pin(self: Pin<&mut Self>) -> u32 {
        let this = self.get_mut();
        loop {
            this.value += 1;
            if this.value > 9 {
                break this.value;
            }
        }
    }

    #[cooperative]
    fn closures_take_self(&mut self, n: u32) -> u32 {
        for i in 0..n {
            let mut add = || self.value += i;
            add();
        }
        self.value
    }
}

#[test]
fn methods() {
    let counter = Counter { value: 4 };
    same(|| Counter { value: 6 }, || Counter::associated(3));
    same(|| 12, || counter.by_reference(3));
    same(|| 7, || async { *Counter { value: 4 }.by_mutable_reference(3).await });
    same(|| 5, || async { *Counter { value: 4 }.by_named_reference(&Counter { value: 5 }).await });
    same(|| 10, || counter.clone().by_value());
    same(|| 6, || counter.by_typed_reference());
    same(
        || {
            (0..4).for_each(note);
            Box::new(Counter { value: 4 })
        },
        || Box::new(counter.clone()).by_box(),
    );
    same(|| 7, || Box::new(counter.clone()).by_mutable_box());
    same(|| 6, || Rc::new(counter.clone()).by_rc());
    same(|| 6, || async { Arc::new(Counter { value: 4 }).by_alias().await });
    same(|| 10, || async { Pin::new(&mut Counter { value: 4 }).by_pin().await });
    same(|| 7, || async { Counter { value: 4 }.closures_take_self(3).await });
}

// Traits.

trait Summing {
    const START: u32;

    #[cooperative]
    fn required(&self, items: &[u32]) -> u32;

    #[cooperative]
    fn with_default(&self, n: u32) -> u32 {
        let mut sum = Self::START;
        for i in 0..n {
            sum += self.required(&[i]).await;
        }
        sum
    }

    #[cooperative]
    fn only_when_sized(self, n: u32) -> Vec<Self>
    where
        Self: Sized + Clone,
    {
        let mut all = vec![];
        for _ in 0..n {
            all.push(self.clone());
        }
        all
    }
}

impl Summing for Counter {
    const START: u32 = 100;

    #[cooperative]
    fn required(&self, items: &[u32]) -> u32 {
        let mut sum = self.value;
        for item in items {
            sum += item;
        }
        sum
    }
}

#[cooperative]
fn through_trait<T: Summing + ?Sized>(summing: &T, n: u32) -> u32 {
    let mut sum = 0;
    for i in 0..n {
        sum += summing.with_default(i).await;
    }
    sum
}

#[test]
fn traits() {
    let counter = Counter { value: 4 };
    same(|| 7, || counter.required(&[1, 2]));
    same(|| 100 + 3 + 12, || counter.with_default(3));
    same(|| 3, || async { Counter { value: 4 }.only_when_sized(3).await.len() });
    same(|| 100 + (100 + 4), || through_trait(&counter, 2));
}

// Recursion.

#[cooperative]
fn fibonacci(n: u64) -> u64 {
    if n < 2 { n } else { fibonacci(n - 1) + fibonacci(n - 2) }
}

#[cooperative]
fn quicksort<T: Ord + Copy>(items: &mut [T]) {
    if items.len() < 2 {
        return;
    }
    let last = items.len() - 1;
    let mut store = 0;
    for i in 0..last {
        if items[i] < items[last] {
            items.swap(i, store);
            store += 1;
        }
    }
    items.swap(store, last);
    let (left, right) = items.split_at_mut(store);
    quicksort(left);
    quicksort(&mut right[1..]);
}

#[cooperative]
fn ackermann(m: u64, n: u64) -> u64 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

#[cooperative]
fn fallible(n: u32) -> Result<u32, String> {
    if n == 0 {
        return Err("zero".to_owned());
    }
    let mut sum = 0;
    for i in 0..n {
        if i == 1 {
            sum += fallible(i + 1 - n.min(2))?;
        }
    }
    assert_eq!(fallible(0).is_err(), true, "of {}", n);
    Ok(sum + n)
}

#[cooperative]
async fn asynchronous_recursion(n: u32) -> u32 {
    if n == 0 {
        0
    } else {
        asynchronous_recursion(n - 1).await + Box::pin(asynchronous_recursion(n - 1)).await + 1
    }
}

#[cooperative]
fn in_closures_and_blocks(n: u32) -> u32 {
    if n == 0 {
        return 1;
    }
    fn helper(n: u32) -> u32 {
        in_closures_and_blocks(n) + 1
    }
    let mut sum = 0;
    for i in 0..n {
        sum += Some(i).map(|i| in_closures_and_blocks(i)).unwrap_or(0);
    }
    sum + helper(n - 1) + async { in_closures_and_blocks(n - 1) }.await
}

#[cooperative]
fn hidden_by_a_closure(n: u32) -> u32 {
    let hidden_by_a_closure = |n: u32| n + 1;
    let mut sum = 0;
    for i in 0..n {
        sum += hidden_by_a_closure(i);
    }
    sum
}

#[cooperative]
fn hidden_by_an_argument(hidden_by_an_argument: impl Fn(u32) -> u32, n: u32) -> u32 {
    let mut sum = 0;
    for i in 0..n {
        sum += hidden_by_an_argument(i);
    }
    sum
}

#[cooperative]
fn hidden_in_part(n: u32) -> u32 {
    if n == 0 {
        return 5;
    }
    let inner = {
        fn hidden_in_part(n: u32) -> u32 {
            n * 100
        }
        hidden_in_part(n)
    };
    let by_match = match |n: u32| n + 7 {
        hidden_in_part => hidden_in_part(n),
    };
    inner + by_match + hidden_in_part(n - 1)
}

struct Tree {
    value: u32,
    children: Vec<Tree>,
}

impl Tree {
    fn of_depth(depth: u32) -> Self {
        Tree { value: depth, children: (0..depth).map(Tree::of_depth).collect() }
    }

    fn plain_sum(&self) -> u32 {
        self.value + self.children.iter().map(Tree::plain_sum).sum::<u32>()
    }

    #[cooperative]
    fn sum(tree: &Self) -> u32 {
        let mut sum = tree.value;
        for child in &tree.children {
            sum += Self::sum(child);
        }
        sum
    }

    #[cooperative]
    fn count_down(&mut self, n: u32) -> u32 {
        if n == 0 {
            self.value
        } else {
            self.value += 1;
            self.count_down(n - 1) + <Self>::count_down(self, 0)
        }
    }

    /// The same name as a free function's, which it calls.
    #[cooperative]
    fn fibonacci_of(&self, n: u64) -> u64 {
        let mut sum = 0;
        for i in 0..n {
            sum += fibonacci_of(i) + u64::from(self.value);
        }
        sum
    }
}

fn fibonacci_of(n: u64) -> u64 {
    n
}

#[cooperative]
fn depth_of(tree: &Tree) -> usize {
    let mut deepest = 0;
    for child in &tree.children {
        deepest = deepest.max(depth_of(child));
    }
    deepest + 1
}

#[test]
fn recursion() {
    assert!(same(|| 55, || fibonacci(10)) > 50);
    let unsorted = [5, 3, 9, 1, 8, 2, 7, 7, 0];
    let mut sorted = unsorted;
    sorted.sort_unstable();
    same(
        || sorted,
        || async {
            let mut items = unsorted;
            quicksort(&mut items).await;
            items
        },
    );
    same(|| 9, || ackermann(2, 3));
    same(|| Err("zero".to_owned()), || fallible(0));
    same(|| Ok(1), || fallible(1));
    same(|| Err("zero".to_owned()), || fallible(2));
    same(|| 7, || asynchronous_recursion(3));
    fn plain(n: u32) -> u32 {
        if n == 0 { 1 } else { (0..n).map(plain).sum::<u32>() + plain(n - 1) + 1 + plain(n - 1) }
    }
    same(|| plain(4), || in_closures_and_blocks(4));
    same(|| 6, || hidden_by_a_closure(3));
    same(|| 6, || hidden_by_an_argument(|n| n * 2, 3));
    same(|| 5 + 108 + 209, || hidden_in_part(2));
    let tree = Tree::of_depth(5);
    same(|| tree.plain_sum(), || Tree::sum(&tree));
    same(|| 6, || depth_of(&tree));
    same(|| 7 * 4, || async { Tree { value: 4, children: vec![] }.count_down(3).await });
    same(|| 3 + 15, || tree.fibonacci_of(3));
}

// `boxed`.

#[cooperative(boxed)]
fn is_even(n: u32) -> bool {
    for _ in 0..1 {}
    if n == 0 { true } else { is_odd(n - 1).await }
}

#[cooperative(boxed)]
async fn is_odd(n: u32) -> bool {
    if n == 0 { false } else { is_even(n - 1).await }
}

trait Dynamic {
    #[cooperative(boxed)]
    fn sum(&self, items: &[u32]) -> u32;

    #[cooperative(boxed)]
    fn named<'a>(&'a mut self, items: &'a [u32], n: &usize) -> &'a u32;
}

impl Dynamic for Counter {
    #[cooperative(boxed)]
    fn sum(&self, items: &[u32]) -> u32 {
        let mut sum = self.value;
        for item in items {
            sum += item;
        }
        sum
    }

    #[cooperative(boxed)]
    fn named<'a>(&'a mut self, items: &'a [u32], n: &usize) -> &'a u32 {
        for _ in 0..*n {
            self.value += 1;
        }
        if self.value > 5 { &self.value } else { &items[0] }
    }
}

#[test]
fn boxed_futures() {
    same(|| false, || is_even(7));
    let mut all: Vec<Box<dyn Dynamic>> = vec![Box::new(Counter { value: 4 })];
    assert_eq!(finish(all[0].sum(&[1, 2])), 7);
    assert!(poll_to_end(0, all[0].sum(&[1, 2])).1 >= 3);
    assert_eq!(*finish(all[0].named(&[9], &3)), 7);
}

#[test]
fn send_is_kept() {
    is_send(documented(1));
    is_send(asynchronous(1));
    is_send(elided("", &[]));
    is_send(named("", "", 0));
    is_send(generic(vec![1], [2]));
    is_send(impl_in_result(1));
    is_send(fibonacci(1));
    is_send(quicksort(&mut [1]));
    is_send(asynchronous_recursion(1));
    is_send(in_closures_and_blocks(1));
    is_send(depth_of(&Tree::of_depth(1)));
    is_send(is_even(1));
    is_send(not_send_between_loops(1));
    is_send(Counter { value: 1 }.by_reference(1));
    is_send(Counter { value: 1 }.by_mutable_reference(1));
    is_send(through_trait_send());
}

fn through_trait_send() -> impl Future<Output = u32> + Send {
    async { Counter { value: 4 }.required(&[1]).await }
}

/// An `Rc` that no check crosses.
#[cooperative]
fn not_send_between_loops(n: u32) -> u32 {
    let mut sum = 0;
    for i in 0..n {
        let rc = Rc::new(i);
        sum += *rc;
        drop(rc);
    }
    for rc in (0..n).map(Rc::new) {
        sum += *rc;
    }
    while let Some(rc) = Some(Rc::new(sum)).filter(|rc| **rc < 100) {
        sum += **&rc + 1;
    }
    sum
}

#[test]
fn options_are_accepted() {
    #[cooperative(budget = 128, slice = "4ms", name = "all of them", crate = ::colibri_core, strict)]
    fn with_options(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            sum += i;
        }
        sum
    }
    mod renamed {
        pub(super) use colibri_core::*;
    }
    #[cooperative(crate = renamed)]
    fn with_path(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            sum += i;
        }
        sum
    }
    assert_eq!(finish(with_options(4)), 6);
    same(|| 6, || with_path(4));
}

#[test]
fn a_deep_recursion_gives_way() {
    #[cooperative]
    fn down(n: u32) -> u32 {
        if n == 0 { 0 } else { down(n - 1) + 1 }
    }
    let (depth, polls) = poll_to_end(99, down(1_000));
    assert_eq!(depth, 1_000);
    assert_eq!(polls, 11);
    // Each level takes stack, as in any recursion: some 400 bytes, or some kilobytes where nothing is optimised.
    let walk = std::thread::Builder::new().stack_size(64 << 20).spawn(|| poll_to_end(999, down(10_000)));
    assert_eq!(walk.unwrap().join().unwrap(), (10_000, 11));
}
