//! Loop nests that the attribute moves into functions of their own: what they are stopped in, and how they are left.

#![allow(clippy::all, reason = "odd forms are what is tested")]

mod cooperative_support;

use cooperative_support::{Loud, note, same};

#[derive(Debug, PartialEq)]
struct Refused(String);

impl From<std::num::ParseIntError> for Refused {
    fn from(error: std::num::ParseIntError) -> Self {
        Refused(error.to_string())
    }
}

both! {
    // Tables made in the function: their lengths go along, if they keep them.
    fn two_rows(n: usize) -> Vec<u64> {
        let mut before = vec![1u64; n + 1];
        let mut row = vec![0u64; n + 1];
        for i in 0..n {
            for j in 0..n { row[j + 1] = before[j] + row[j] * 3 + i as u64; }
            std::mem::swap(&mut before, &mut row);
        }
        before
    }

    fn rows_of_two_lengths(n: usize) -> (usize, u64) {
        let mut long = vec![1u64; n + 3];
        let mut short = vec![2u64; n + 1];
        let mut sum = 0;
        for _ in 0..n {
            for j in 0..short.len() { sum += short[j]; }
            for j in 0..long.len() { long[j] += 1; }
            std::mem::swap(&mut long, &mut short);
        }
        (long.len(), sum)
    }

    fn three_in_turn(n: usize) -> Vec<usize> {
        let mut a = vec![1usize; n + 1];
        let mut b = vec![2usize; n + 1];
        let mut c = vec![3usize; n + 2];
        for i in 0..n {
            for j in 0..a.len() { a[j] += i; }
            std::mem::swap(&mut a, &mut b);
            std::mem::swap(&mut b, &mut c);
        }
        vec![a.len(), b.len(), c.len(), a.iter().sum()]
    }

    // Each of these is cut in two of its own kind, wherever the fuel ends.
    fn cut_by_skipping(n: usize) -> Vec<usize> {
        let v: Vec<usize> = (0..n).collect();
        let mut out = vec![];
        for c in v.chunks(3) { out.push(c.len() * 100 + c[0]); }
        for c in v.chunks_exact(4) { out.push(c[0] + c[3]); }
        for c in v.windows(2) { out.push(c[0] * c[1]); }
        for x in v.iter().copied() { out.push(x); }
        for (i, x) in v.iter().enumerate() { out.push(i * 1000 + x); }
        for (i, c) in v.chunks_exact(2).enumerate() { out.push(i * 1000 + c[1]); }
        for x in v.iter().rev() { out.push(x + 7); }
        for x in (3..n).rev() { out.push(x + 8); }
        for x in (3..n as u64).rev() { out.push(x as usize + 9); }
        out
    }

    fn the_length_changes(n: usize) -> usize {
        let mut length = n + 1;
        let mut row = vec![1usize; length];
        length += 5;
        let mut sum = 0;
        for i in 0..n { for j in 0..row.len() { sum += row[j] + i; row[j] += length; } }
        sum
    }

    fn the_vector_grows(n: usize) -> usize {
        let mut row = vec![1usize; n];
        for i in 0..n {
            for j in 0..row.len() { row[j] += i; }
            row.push(i);
        }
        row.iter().sum::<usize>() + row.len()
    }

    fn a_shadowed_length(n: usize) -> usize {
        let size = n + 2;
        let mut row = vec![1usize; size];
        let size = 1;
        let mut sum = size;
        for i in 0..n { for j in 0..row.len() { row[j] += i; sum += row[j]; } }
        sum
    }

    // Every jump from every depth to every depth.
    fn jumps(n: u32) -> Vec<u32> {
        let mut seen = Vec::new();
        'a: for a in 0..n {
            let mut count = 0;
            'b: loop {
                count += 1;
                let mut c = 0;
                'c: while c < n {
                    c += 1;
                    match (a * 7 + count * 5 + c * 3) % 11 {
                        0 => continue 'a,
                        1 => continue 'b,
                        2 => continue 'c,
                        3 => break 'b,
                        4 => break 'c,
                        5 if a > 3 => break 'a,
                        rest => seen.push(rest),
                    }
                }
                seen.push(100 + c);
                if count > n { break }
            }
            seen.push(200 + count);
        }
        seen
    }

    // The name of what is outside of the nest means something else where it is stopped.
    fn hidden_at_a_stop(n: usize) -> Vec<usize> {
        let total = n * 2;
        let mut seen = vec![];
        for i in 0..n {
            let next = i + 1;
            {
                let total = [i as u8; 2];
                for j in (0..i).rev() { seen.push(j + next); }
                seen.push(total[0] as usize);
            }
            if next * 3 > total { break }
        }
        seen
    }

    // No name holds the item.
    fn items_without_a_name(n: usize) -> usize {
        let mut sum = 0;
        for _ in (0..n).map(|_| Loud("item")) { for j in 0..n { sum += j; } note(sum); }
        for (i, _) in (0..n).map(|i| (i, Loud("half"))) { for j in 0..i { sum += j; } note(sum); }
        sum
    }

    // No other jump makes room for these.
    fn continues_far_out(n: u32) -> Vec<u32> {
        let mut seen = Vec::new();
        'a: for a in 0..n {
            for b in 0..n {
                let mut c = 0;
                while c < 5 {
                    c += 1;
                    for d in 0..b { if d * a + c == 7 { continue 'a } seen.push(d) }
                    seen.push(c);
                }
                seen.push(b);
            }
            seen.push(a);
        }
        'b: for b in 0..n {
            for c in 0..b { let mut d = c; while d > 0 { d -= 1; seen.push(d); if d == 2 { continue 'b } } }
        }
        seen
    }

    fn siblings(n: u32) -> u32 {
        let mut sum = 0u32;
        'rounds: for i in 0..n {
            let twice = i * 2;
            if i % 3 == 0 {
                for j in 0..twice { sum = sum.wrapping_mul(31) + j; if j == 7 { continue 'rounds } }
                sum += 1;
            } else {
                let mut k = twice;
                while k > 0 { k -= 1; sum ^= k; }
                let text = format!("{k}");
                loop { sum += text.len() as u32; if sum % 5 == 0 { break } if sum % 7 == 1 { break 'rounds } }
            }
            sum += i;
        }
        sum
    }

    fn leaves_by_question(n: u32) -> Option<u32> {
        let mut sum = 0u32;
        for i in 0..n {
            for j in 0..i {
                sum = sum.checked_add(i * j)?;
                if sum > 90 { return Some(sum * 2) }
            }
            i.checked_sub(0)?;
        }
        7u32.checked_sub(n)?;
        Some(sum)
    }

    fn converts_the_error(n: u32) -> Result<u32, Refused> {
        let mut sum = 0;
        for i in 0..n {
            let words = ["1", "2", "x", "4"];
            for word in words.iter().take(i as usize) { sum += word.parse::<u32>()?; }
        }
        Ok(sum)
    }

    // Locals of the iteration that a stop inside must keep alive.
    fn owners(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            let loud = Loud("owner");
            let numbers = vec![i; 3];
            for j in 0..4 { sum += j; note(j); }
            sum += numbers[0];
            note(numbers.len());
            let _ = &loud;
        }
        sum
    }

    fn moved_for_good(n: u32) -> Vec<Loud> {
        let mut kept = Vec::new();
        let mut next = Some(Loud("first"));
        for i in 0..n {
            for j in 0..i { note(j); }
            if i == 2 { if let Some(loud) = next.take() { kept.push(loud); } }
        }
        kept
    }

    fn panics_at_depth(n: usize) -> u32 {
        let table = [1u32, 2, 3, 4];
        let mut sum = 0;
        for i in 0..n { let _guard = Loud("guard"); for j in 0..i { sum += table[i + j]; note(sum); } }
        sum
    }

    // Short loops that are unrolled, and left in the middle.
    fn short_whiles(n: u32) -> Vec<u32> {
        let mut steps = Vec::new();
        for start in 1..n {
            let mut x = start;
            let mut count = 0;
            while x != 1 { x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 }; count += 1; }
            steps.push(count);
        }
        steps
    }

    fn drained(n: u32) -> u32 {
        let mut stack = vec![n];
        let mut sum = 0;
        while let Some(top) = stack.pop() {
            for below in 0..top { if below % 2 == 1 { stack.push(below / 2); } sum += below; }
        }
        sum
    }
}

macro_rules! compare {
    ($($name:ident: $($n:expr),*;)*) => {
        $(#[test] fn $name() { for n in [$($n),*] { same(|| plain::$name(n), || stopping::$name(n)); } })*
    };
}

compare! {
    two_rows: 0, 1, 2, 9, 90;
    rows_of_two_lengths: 0, 1, 2, 9;
    three_in_turn: 0, 1, 2, 9;
    cut_by_skipping: 0, 1, 2, 3, 4, 9, 70, 300;
    the_length_changes: 0, 1, 9;
    the_vector_grows: 0, 1, 9;
    a_shadowed_length: 0, 1, 9;
    jumps: 0, 1, 2, 5, 12;
    items_without_a_name: 0, 1, 2, 3, 9;
    hidden_at_a_stop: 0, 1, 2, 3, 9;
    continues_far_out: 0, 1, 2, 4, 7;
    siblings: 0, 1, 4, 9, 40;
    leaves_by_question: 0, 1, 4, 7, 8, 40;
    converts_the_error: 0, 1, 2, 3, 5;
    owners: 0, 1, 4;
    moved_for_good: 0, 2, 3, 5;
    panics_at_depth: 0, 2, 3, 5;
    short_whiles: 0, 2, 30;
    drained: 0, 1, 6, 30;
}

#[test]
fn a_slice_that_the_caller_holds() {
    same(
        || {
            let mut values = [5, 3, 9, 1, 7, 2];
            plain_sort(&mut values);
            values
        },
        || async {
            let mut values = [5, 3, 9, 1, 7, 2];
            sort(&mut values).await;
            values
        },
    );
}

macro_rules! sorts {
    ($($name:ident $(#[$attribute:meta])*;)*) => {
        $($(#[$attribute])* fn $name(values: &mut [u32]) {
            for i in 1..values.len() {
                let value = values[i];
                let mut j = i;
                while j > 0 && values[j - 1] > value { values[j] = values[j - 1]; j -= 1; }
                values[j] = value;
            }
        })*
    };
}

sorts! {
    plain_sort;
    sort #[colibri_core::cooperative];
}
