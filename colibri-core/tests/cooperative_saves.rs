//! Code that the optimiser could break: locals that are moved, borrowed, not initialised, or of unknown types at a check.

#![allow(clippy::all, reason = "odd forms are what is tested")]
#![allow(non_upper_case_globals)]

mod cooperative_support;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::ops::{Add, AddAssign, Mul};

use cooperative_support::{Loud, note, same};

/// Calculates, but is neither `Copy` nor free of side effects.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
struct Big(Vec<u64>);

impl Add for Big {
    type Output = Big;
    fn add(self, other: Big) -> Big {
        note("add");
        Big(self.0.iter().zip(&other.0).map(|(a, b)| a + b).collect())
    }
}

impl Mul<u64> for &Big {
    type Output = Big;
    fn mul(self, factor: u64) -> Big {
        Big(self.0.iter().map(|a| a * factor).collect())
    }
}

impl AddAssign<u64> for Big {
    fn add_assign(&mut self, other: u64) {
        self.0.iter_mut().for_each(|a| *a += other);
    }
}

macro_rules! bail {
    () => {
        return None
    };
}

macro_rules! bump {
    ($x:ident) => {
        $x += 1
    };
}

fn change(x: &mut u32) -> &mut u32 {
    *x += 1;
    x
}

trait Borrowing {
    fn borrowed(&mut self) -> &mut Self {
        self
    }
}

impl Borrowing for u32 {}

both! {
    fn big_numbers(n: u64) -> Big {
        let mut total = Big(vec![1, 2]);
        let step = Big(vec![3, 4]);
        for i in 0..n {
            let scaled = &step * i;
            let mut j = 0;
            while j < i { total += j; j += 1; }
            total = total + scaled;
        }
        let last = total + step;
        let mut i = 0;
        while i < n { i += 1; }
        last
    }

    fn moved_in_a_condition(n: u32) -> Vec<String> {
        let mut current = Some(String::from("x"));
        let mut out = vec![];
        let mut i = 0;
        while let Some(text) = current { i += 1; out.push(text.clone()); current = if i < n { Some(text + "y") } else { None }; for _ in 0..i {} }
        out
    }

    fn conditionally_moved(n: u32) -> u32 {
        let text = String::from("text");
        let mut taken = None;
        let mut i = 0;
        loop {
            if i == n { taken = Some(text); break }
            i += 1;
            if i > 3 { break }
        }
        for _ in 0..n {}
        i + taken.map_or(0, |text| text.len() as u32)
    }

    fn moved_and_assigned_again(n: u32) -> Vec<u32> {
        let mut buffer = vec![0];
        let mut all = vec![];
        for i in 0..n {
            buffer.push(i);
            if i % 2 == 0 { all.extend(buffer); buffer = vec![i * 10]; let mut j = 0; while j < i { j += 1; } }
            for _ in 0..i {}
        }
        all
    }

    fn late(n: u32) -> Option<u32> {
        let x;
        let mut y;
        let z: u32;
        for _ in 0..n {}
        if n > 2 { x = 1; y = 2; } else { bail!() }
        for _ in 0..n {}
        y += x;
        loop { if y > 10 { z = y; break } y += 3; }
        for _ in 0..n {}
        Some(z + y)
    }

    fn late_and_diverging(n: u32) -> Option<u32> {
        let mut x: u32;
        for i in 0..n { if i == 2 { x = i; } else if i == 5 { panic!("five") } else { continue } for _ in 0..2 {} x += 1; note(x); }
        for _ in 0..2 {}
        if n == 0 { bail!() } else { x = n; }
        x += 1;
        Some(x)
    }

    fn borrowed_mutably(n: u32) -> u32 {
        let mut x = 1u32;
        let r = &mut x;
        let mut i = 0;
        loop { *r += i; i += 1; if i > n { break } }
        while i > 0 { i -= 1; x += i; }
        let s = change(&mut x);
        for i in 0..n { *s += i; }
        let t = x.borrowed();
        for i in 0..n { *t += i; }
        x
    }

    fn borrowed_until_some_exit(n: u32) -> u32 {
        let mut x = 1u32;
        let r = &mut x;
        let mut i = 0;
        loop { if i == n { note(x); break } *r += 1; i += 1; }
        x
    }

    fn exclusive(v: &mut [u32], n: usize) -> u32 {
        let mut sum = 0;
        for i in 0..n.min(v.len()) { v[i] += 1; let mut j = i; while j > 0 { v[j - 1] += v[j]; j -= 1; } }
        let (left, right) = v.split_at_mut(1);
        for i in 0..right.len() { left[0] += right[i]; }
        let first = &mut v[0];
        for i in 0..n { *first += i as u32; let mut k = 0; while k < 2 { *first += 1; k += 1; } }
        for x in v.iter_mut() { *x += 1; let mut k = 0; while k < 2 { *x += 1; k += 1; } }
        if let Some(last) = v.last_mut() { for _ in 0..n { *last += 1 } }
        let w: &mut [u32] = v;
        for i in 0..w.len() { sum += w[i]; let mut k = 0; while k < 1 { w[i] = 0; k += 1; } }
        for i in 0..v.len() { sum += v[i]; }
        sum
    }

    fn exclusive_passed_on(v: &mut Vec<u32>, n: u32) -> usize {
        fn push(v: &mut Vec<u32>, x: u32) -> &mut u32 { v.push(x); v.last_mut().unwrap() }
        for i in 0..n { v.push(i); for _ in 0..i { v.push(1); } }
        let last = push(v, 3);
        for i in 0..n { *last += i; for _ in 0..1 {} }
        let r = &mut *v;
        let mut i = 0;
        while i < n { r.push(i); i += 1; }
        for x in v.iter().copied().collect::<Vec<_>>() { v.push(x); let mut j = 0; while j < 1 { j += 1; } }
        for x in v { *x += 1; for _ in 0..1 {} }
        0
    }

    fn shared(text: &str, words: &[&str]) -> Vec<(usize, String)> {
        let mut out = vec![];
        let mut best = words[0];
        let mut rest = text;
        for word in words {
            let mut count = 0;
            rest = text;
            while let Some(at) = rest.find(word) { count += 1; rest = &rest[at + word.len()..]; for _ in 0..1 {} }
            if count > 0 && word.len() >= best.len() { best = word; }
            out.push((count, best.to_owned()));
        }
        out.push((rest.len(), String::new()));
        out
    }

    fn list(n: u32) -> Vec<u32> {
        let mut head: Option<Box<Node>> = None;
        let mut i = 0;
        while i < n { head = Some(Box::new(Node { value: i, next: head })); i += 1; }
        // Reversed in place.
        let mut reversed = None;
        while let Some(mut node) = head { head = node.next.take(); node.next = reversed; reversed = Some(node); }
        let mut out = vec![];
        let mut cursor = reversed.as_ref();
        while let Some(node) = cursor { out.push(node.value); cursor = node.next.as_ref(); for _ in 0..1 {} }
        let mut cursor = reversed.as_mut();
        while let Some(node) = cursor { node.value *= 2; for _ in 0..1 {} cursor = node.next.as_mut(); }
        let mut tail = &mut reversed;
        while tail.is_some() { tail = &mut tail.as_mut().unwrap().next; }
        *tail = Some(Box::new(Node { value: 99, next: None }));
        let mut node = &reversed;
        while let Some(inner) = node { out.push(inner.value); node = &inner.next; }
        out
    }

    fn iterators(n: u32) -> u32 {
        let mut data: Vec<u32> = (0..n).collect();
        let mut sum = 0;
        let mut all = data.iter();
        while let Some(x) = all.next() { if *x == 2 { for y in all.by_ref() { sum += y; break } } sum += x; }
        for x in all { sum += x; }
        let mut peekable = data.iter().peekable();
        while let Some(x) = peekable.next() { while peekable.next_if(|next| **next == x + 1).is_some() { sum += 1; } }
        let mut drained = data.drain(..);
        for x in &mut drained { if x == 3 { break } sum += x; }
        for x in drained { sum += x; for _ in 0..x {} }
        for array in [[1u32; 600]; 3] { sum += array[n as usize]; let mut k = 0; while k < 2 { sum += array[k]; k += 1; } }
        for x in (0..n).map(|x| { note(x); x * 2 }).filter(|x| x % 3 != 0).chain(5..7) { sum += x; for _ in 0..1 { sum += 1 } }
        sum
    }

    fn guards(n: u32) -> u32 {
        let cell = RefCell::new(0u32);
        let mut guard = cell.borrow_mut();
        for i in 0..n { *guard += i; for _ in 0..1 {} }
        drop(guard);
        let guard = cell.borrow();
        let mut i = *guard;
        while i > 3 { i -= *guard / 2; if i < 2 { break } }
        let _loud = Loud("guard");
        let first = Loud("first");
        let second = Loud("second");
        for _ in 0..n { note(first.0); }
        drop(first);
        for _ in 0..n { note(second.0); }
        i
    }

    fn captured(n: u32) -> u32 {
        let mut total = 0;
        let offset = n * 2;
        let mut add = |x: u32| { total += x + offset; total };
        let mut i = 0;
        while i < n { add(i); i += 1; }
        let get = || total + i;
        for _ in 0..n { note(get()); }
        let f: Box<dyn Fn(u32) -> u32> = Box::new(move |x| x + i);
        i = 5;
        for x in 0..n { i += f(x); }
        total + i
    }

    fn in_macros(n: u32) -> u32 {
        let mut x = 0;
        let mut y = 0;
        while y < n { bump!(x); y += 1; let mut k = 0; while k < x { bump!(k); } }
        let z = x + y;
        for i in 0..n { note(format!("{x} {y:?} {z} {i}")); assert!(x + i < 100, "{x}"); }
        x + y + z
    }

    fn shadowed(n: u32) -> u32 {
        let x = n;
        let mut sum = 0;
        for x in 0..x { let x = x + 1; { let x = x * 2; let mut k = 0; while k < x { k += 1; sum += x; } } let mut k = x; while k > 0 { k -= 1; sum += x; } }
        let x = x + sum;
        for _ in 0..n { let sum = x; let mut k = 0; while k < 2 { k += 1; note(sum); } }
        x + sum
    }

    fn items_of_the_same_name(n: u32) -> u32 {
        let limit = n;
        let mut sum = 0;
        { const limit_: u32 = 3; static LIMIT: u32 = 2; for i in 0..limit_ + LIMIT { sum += i; } }
        for i in 0..limit { const limit: u32 = 2; let mut k = 0; while k < limit { k += 1; sum += i; } }
        sum + limit
    }

    fn through_patterns(n: u32) -> u32 {
        let pairs = [(1u32, 'a'), (2, 'b'), (3, 'c')];
        let (mut low, mut high) = (n, n + 3);
        let mut sum = 0;
        while low < high { low += 1; high -= 1; for &(number, letter) in &pairs { if letter == 'b' { continue } let mut k = number; while k > 0 { k -= 1; sum += low; } } }
        for (i, &(number, _)) in pairs.iter().enumerate() { let mut k = 0; while k < i { k += 1; sum += number; } }
        match (low, high) { (a, b) if a > b => { for _ in 0..a { sum += b } } (mut a, _) => { while a > 0 { a -= 1; sum += 1; } } }
        if let Some(mut k) = Some(n) { while k > 0 { k -= 1; sum += k; } }
        sum
    }

    fn operands(n: u32) -> u32 {
        let mut v = vec![0u32; 4];
        let w = &mut v;
        let mut i = 0u32;
        w[0] = loop { i += 1; if i > n { break i } };
        w.push(loop { i += 2; if i > n * 2 { break i } });
        w[1] += { let mut k = 0; while k < n { k += 1; } k };
        let j = i + { while i < 20 { i += 7; } i } * i;
        let array = [i, { for k in 0..n { i += k; } i }, i];
        let s = (i, loop { i += 1; break i }, i);
        array[0] + array[1] + array[2] + s.0 + s.1 + s.2 + j + w.iter().sum::<u32>()
    }

    fn numbers(n: usize) -> (u8, i64, f64, bool, char) {
        let mut byte = 250u8;
        let mut wide = -5;
        let mut float = 0.5;
        let mut flag = false;
        let mut letter = 'a';
        let letters = ['x', 'y', 'z'];
        let mut i = 0;
        while i < n {
            byte = byte.wrapping_add(3);
            wide += i as i64 * -2;
            float = float * 1.5 + wide as f64;
            flag ^= float > 10.0;
            if flag { letter = letters[i % 3]; }
            for k in 0..i { wide -= k as i64; float -= 1.0; }
            i += 1;
        }
        (byte, wide, float, flag, letter)
    }

    fn maps(n: u64) -> Vec<(u64, usize)> {
        let mut counts = HashMap::new();
        let mut order = BTreeMap::new();
        for i in 0..n { *counts.entry(i % 4).or_insert(0usize) += 1; order.insert(i, i * 2); }
        let mut all: Vec<_> = vec![];
        for (key, count) in &counts { all.push((*key, *count)); }
        while let Some((key, value)) = order.pop_first() { all.push((key, value as usize)); for _ in 0..2 {} }
        all.sort_unstable();
        all
    }

    fn breaks_out_of_copies(n: u32) -> (u32, Option<u32>) {
        let mut i = 0;
        let found = 'outer: loop {
            let value = 'search: loop {
                i += 1;
                if i % 5 == 0 { break i * 2 }
                if i % 7 == 0 { break 'search i * 3 }
                if i > n { break 'outer None }
                if i == 3 { continue }
                if i == 4 { continue 'search }
                for k in 0..3 { if k == i { break } }
            };
            note(value);
            if value > 60 { break Some(value) }
            let mut k = value;
            'down: while k > 0 { k -= 1; if k == 11 { break } if k == 12 { break 'down } if k == 30 { continue 'outer } if k == 40 { continue } }
            for x in [1, 2, 3].iter() { if *x == i { break } if *x == 9 { break 'outer Some(9) } }
        };
        (i, found)
    }

    fn questions_in_copies(n: u32) -> Option<u32> {
        let mut i = 0u32;
        loop {
            i += 1;
            let part = (match i.checked_rem(4) { Some(0) => break, Some(rest) => Some(rest), None => None })?;
            if part == 9 { return None }
        }
        let mut v = vec![1u32, 2, 3, n];
        while let Some(x) = v.pop() { i += x.checked_sub(1)?; if i > 50 { return Some(i) } }
        Some(i)
    }

    fn generic_numbers(n: u32) -> (u32, f32) { (sum_of(&[n, n, 1]), sum_of(&[0.5, n as f32])) }
}

fn sum_of<T: Copy + Add<Output = T> + PartialOrd>(items: &[T]) -> T {
    let mut sum = items[0];
    let mut i = 1;
    while i < items.len() {
        sum = sum + items[i];
        i += 1;
    }
    sum
}

#[colibri_core::cooperative]
fn generic<T: Clone + Add<Output = T> + PartialOrd>(items: &[T], first: T) -> T {
    let mut sum = first;
    for item in items {
        let mut k = 0;
        while k < 2 {
            k += 1;
            sum = sum + item.clone();
        }
        if sum > *item {
            continue;
        }
    }
    sum
}

struct Node {
    value: u32,
    next: Option<Box<Node>>,
}

macro_rules! compare {
    ($($name:ident: $($n:expr),*;)*) => {
        $(#[test] fn $name() { $(same(|| plain::$name($n), || stopping::$name($n));)* })*
    };
}

compare! {
    big_numbers: 0, 1, 4;
    moved_in_a_condition: 0, 1, 4;
    conditionally_moved: 0, 2, 9;
    moved_and_assigned_again: 0, 1, 6;
    late: 0, 3, 5;
    late_and_diverging: 0, 3, 5, 6;
    borrowed_mutably: 0, 1, 4;
    borrowed_until_some_exit: 0, 1, 4;
    list: 0, 1, 5;
    iterators: 0, 1, 6;
    guards: 0, 1, 4;
    captured: 0, 1, 4;
    in_macros: 0, 1, 4;
    shadowed: 0, 1, 4;
    items_of_the_same_name: 0, 4;
    through_patterns: 0, 1, 4;
    operands: 0, 1, 5;
    numbers: 0, 1, 9;
    maps: 0, 1, 9;
    breaks_out_of_copies: 0, 2, 100;
    questions_in_copies: 0, 1, 4, 90;
    generic_numbers: 0, 3;
}

#[test]
fn references() {
    same(
        || {
            let mut v = [1, 2, 3, 4];
            (plain::exclusive(&mut v, 3), v)
        },
        || async {
            let mut v = [1, 2, 3, 4];
            (stopping::exclusive(&mut v, 3).await, v)
        },
    );
    same(
        || {
            let mut v = vec![1];
            (plain::exclusive_passed_on(&mut v, 3), v)
        },
        || async {
            let mut v = vec![1];
            (stopping::exclusive_passed_on(&mut v, 3).await, v)
        },
    );
    let words = ["a", "an", "ana"];
    same(|| plain::shared("banana", &words), || stopping::shared("banana", &words));
    same(|| 2 + 12, || generic(&[1, 2, 3], 2));
    same(|| 20.5, || generic(&[10.0], 0.5));
}
