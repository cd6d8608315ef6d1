//! Nests as real code has them, with what the generator's own types cannot say: generics, `impl Trait`, numbers that are
//! moved, errors that are converted, tables, heaps, fields. Jumps are put in at random.

use crate::generator::{Callee, Generator};
use crate::kind::Kind;

/// A function with `JUMP(x);` where a jump may stand that depends on `x`, inside a loop that is inside `'outer`.
struct Kernel {
    call: &'static str,
    arguments: &'static [Kind],
    returns: Kind,
    text: &'static str,
    /// What a `return` may give here.
    early: &'static str,
}

const KERNELS: [Kernel; 9] = [
    Kernel {
        call: "product::<i32>",
        arguments: &[Kind::Slice, Kind::Slice, Kind::USIZE],
        returns: Kind::Ints,
        early: "c",
        text: "#[cooperative]
pub fn product<T: Copy + Default + std::ops::Add<Output = T> + std::ops::BitXor<Output = T>>(a: &[T], b: &[T], size: usize) -> Vec<T> {
let n = size & 3;
let mut c = vec![T::default(); n * n];
'outer: for i in 0..n {
soft_tick();
for k in 0..n {
soft_tick();
let x = a[(i * n + k) % a.len()];
JUMP(k);
for j in 0..n {
soft_tick();
c[i * n + j] = c[i * n + j] + (x ^ b[(k * n + j) % b.len()]);
}
}
}
c
}
",
    },
    Kernel {
        call: "raised",
        arguments: &[Kind::Big, Kind::USIZE],
        returns: Kind::Big,
        early: "acc",
        text: "#[cooperative]
pub fn raised(mut base: Big, mut exponent: usize) -> Big {
let mut acc = Big::of(1);
exponent &= 31;
'outer: while exponent > 0 {
tick();
if exponent & 1 == 1 { acc = acc * &base; }
let square = base.clone() * &base;
base = square;
exponent >>= 1;
for i in 0..(exponent & 3) {
soft_tick();
acc = acc + Big::of(i as i32);
if acc.low() > 50_000 { return acc; }
JUMP(i);
acc += 1;
}
}
acc
}
",
    },
    Kernel {
        call: "paired",
        arguments: &[Kind::Items, Kind::Items],
        returns: Kind::I32,
        early: "sum",
        text: "#[cooperative]
pub fn paired(left: impl Iterator<Item = i32>, right: impl IntoIterator<Item = i32> + Clone) -> i32 {
let mut sum = 0i32;
let mut last = None;
'outer: for x in left {
soft_tick();
let mut row = 0;
for y in right.clone() {
soft_tick();
row = y.wrapping_sub(row) ^ x;
JUMP(y);
if last == Some(row) { break 'outer; }
last = Some(row);
}
sum = sum.wrapping_mul(31).wrapping_add(row);
}
sum
}
",
    },
    Kernel {
        call: "parsed",
        arguments: &[Kind::Str],
        returns: Kind::ResultInt,
        early: "Ok(total)",
        text: "#[cooperative]
pub fn parsed(text: &str) -> Result<i32, String> {
let mut total = 0i32;
'outer: for line in text.split('\\n') {
soft_tick();
let guard = Loud(line.len() as i32 & 63);
let mut value = 0i32;
for (at, c) in line.bytes().enumerate() {
soft_tick();
let digit = match c {
b'0'..=b'9' => Ok(i32::from(c - b'0')),
b'z' if at > 2 => Err(\"a z\"),
b' ' => continue,
b'\"' => break,
_ => Ok(at as i32),
}?;
JUMP(at);
value = value.checked_mul(7).and_then(|q| q.checked_add(digit)).ok_or(\"too large\")?;
}
total ^= value + guard.value();
}
Ok(total)
}
",
    },
    Kernel {
        call: "distance",
        arguments: &[Kind::Slice, Kind::Slice],
        returns: Kind::USIZE,
        early: "row[0]",
        text: "#[cooperative]
pub fn distance(a: &[i32], b: &[i32]) -> usize {
let mut before = (0..=b.len()).collect::<Vec<usize>>();
let mut row = vec![0; b.len() + 1];
'outer: for (i, x) in a.iter().enumerate() {
soft_tick();
row[0] = i + 1;
for (j, y) in b.iter().enumerate() {
soft_tick();
let cost = usize::from(x != y);
row[j + 1] = (row[j] + 1).min(before[j + 1] + 1).min(before[j] + cost);
JUMP(j);
}
std::mem::swap(&mut before, &mut row);
}
before[b.len()]
}
",
    },
    Kernel {
        call: "shortest",
        arguments: &[Kind::Slice, Kind::USIZE],
        returns: Kind::MaybeInt,
        early: "None",
        text: "#[cooperative]
pub fn shortest(weights: &[i32], size: usize) -> Option<i32> {
let n = (size & 7) + 1;
let mut best = vec![i32::MAX; n];
let mut heap = std::collections::BinaryHeap::new();
heap.push((0i32, 0usize));
best[0] = 0;
'outer: while let Some((far, at)) = heap.pop() {
tick();
if -far > best[at] { continue; }
for step in 1..3usize {
constant_tick();
let next = (at * 2 + step) % n;
let weight = *weights.get(at + step)? & 15;
let new = weight - far;
JUMP(next);
if new < best[next] {
best[next] = new;
heap.push((-new, next));
}
}
}
best.iter().rev().copied().find(|far| *far < i32::MAX)
}
",
    },
    Kernel {
        call: "encoded",
        arguments: &[Kind::Slice],
        returns: Kind::Ints,
        early: "out",
        text: "#[cooperative]
pub fn encoded(items: &[i32]) -> Vec<i32> {
let mut out = Vec::new();
let mut i = 0;
'outer: while i < items.len() {
soft_tick();
let first = items[i];
let mut run = 1;
i += 1;
while i < items.len() && items[i] & 3 == first & 3 {
soft_tick();
i += 1;
run += 1;
JUMP(run);
}
out.push(run);
let mut rest = first.unsigned_abs();
loop {
tick();
let byte = (rest & 15) as i32;
rest >>= 4;
out.push(byte);
if rest == 0 { break; }
}
}
out
}
",
    },
    Kernel {
        call: "counted",
        arguments: &[Kind::Str, Kind::USIZE],
        returns: Kind::MaybeInt,
        early: "Some(7)",
        text: "#[cooperative]
pub fn counted(text: &str, most: usize) -> Option<i32> {
let mut counts = BTreeMap::new();
let mut words: Vec<String> = Vec::new();
'outer: for word in text.split([' ', ',', '\\n']) {
soft_tick();
let mut own = String::new();
for c in word.chars() {
soft_tick();
if c.is_ascii_digit() {
*counts.entry(c).or_insert(0) += own.len();
JUMP(own.len());
}
own.push(c);
}
if own.len() > (most & 3) { words.push(own); }
}
let mut found = 0;
for (c, count) in &counts {
soft_tick();
for word in &words {
soft_tick();
if word.contains(*c) { found += *count as i32 + 1; }
}
}
words.first().map(|word| word.len() as i32 + found)
}
",
    },
    Kernel {
        call: "walked",
        arguments: &[Kind::I32],
        returns: Kind::I32,
        early: "shelf.sum",
        text: "#[derive(Debug)]
pub struct Shelf<'s> {
pub sum: i32,
pub rows: Vec<Vec<i32>>,
pub name: &'s str,
}

impl<'s> Shelf<'s> {
#[cooperative]
pub fn walk(&mut self, mask: i32) -> Option<&'s str> {
'outer: for at in 0..self.rows.len() {
soft_tick();
let mut x = self.rows[at].first().copied()? & 31;
while x > 0 {
tick();
self.sum = self.sum.wrapping_add(x & mask);
x >>= 1;
if self.sum == 77 { continue 'outer; }
}
for y in &mut self.rows[at] {
soft_tick();
*y ^= x + self.sum;
if *y == 3 { break 'outer; }
}
let end = self.rows[at].len();
for item in self.rows.iter().flatten().take(end) {
soft_tick();
self.sum ^= item;
}
}
Some(self.name)
}
}

#[cooperative]
pub fn walked(mask: i32) -> i32 {
let mut shelf = Shelf { sum: mask & 63, rows: vec![vec![1, 2], vec![mask, 9, 4], vec![7]], name: \"shelf\" };
'outer: for round in 0..(mask & 3) {
soft_tick();
note(shelf.walk(round).await);
for row in shelf.rows.iter_mut() {
soft_tick();
row.rotate_left(1);
JUMP(round);
}
if shelf.sum > 100 { shelf.rows.pop(); }
}
shelf.sum
}
",
    },
];

impl Generator {
    /// One of them, if it is not there yet.
    pub(crate) fn kernel_function(&mut self, there: &[Callee]) -> Option<(String, Callee)> {
        let kernel = &KERNELS[self.random.below(KERNELS.len())];
        if there.iter().any(|callee| callee.name == kernel.call) {
            return None;
        }
        self.forms.note("nest kernel");
        let mut text = String::new();
        for line in kernel.text.lines() {
            match line.strip_prefix("JUMP(").and_then(|rest| rest.strip_suffix(");")) {
                Some(value) => text.push_str(&self.kernel_jump(value, kernel.early)),
                None => {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        text.push('\n');
        let (name, arguments) = (kernel.call.to_owned(), kernel.arguments.to_vec());
        Some((text, Callee { name, arguments, last: "", returns: kernel.returns }))
    }

    /// Nothing, one jump or two.
    fn kernel_jump(&mut self, value: &str, early: &str) -> String {
        let mut text = String::new();
        while self.random.chance(55) {
            let jump = match self.random.below(6) {
                0 => "continue".to_owned(),
                1 => "break".to_owned(),
                2 => "continue 'outer".to_owned(),
                3 => "break 'outer".to_owned(),
                4 => format!("return {early}"),
                _ => format!("note({value}); continue 'outer"),
            };
            let (mask, bits) = (self.random.between(1, 7), self.random.below(4));
            text.push_str(&format!("if {value} as usize & {mask} == {bits} {{ {jump}; }}\n"));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn every_hole_is_filled() {
        let mut generator = Generator::new(Random::new(1, 1), true);
        let mut there = Vec::new();
        for _ in 0..300 {
            if let Some((text, callee)) = generator.kernel_function(&there) {
                assert!(!text.contains("JUMP") && syn::parse_file(&text).is_ok(), "{text}");
                there.push(callee);
            }
        }
        assert_eq!(there.len(), KERNELS.len());
    }
}
