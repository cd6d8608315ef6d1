//! Every form of loop, in every place where an expression may stand.

#![allow(clippy::all, reason = "odd forms are what is tested")]

mod cooperative_support;

use cooperative_support::{Loud, note, noted, same};

both! {
    fn each_kind(n: u32) -> Vec<u32> {
        let mut out = Vec::new();
        for i in 0..n { out.push(i); }
        let mut i = n;
        while i > 0 { i -= 1; out.push(i); }
        let mut stack = out.clone();
        while let Some(top) = stack.pop() { out.push(top * 2); }
        loop { i += 1; if i > n { break; } out.push(i); }
        out
    }

    fn nested(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            let mut j = 0;
            while j < i { j += 1; for k in 0..j { sum += k; loop { sum += 1; if sum % 3 == 0 { break } } } }
        }
        sum
    }

    fn labels(n: u32) -> Vec<(u32, u32)> {
        let mut out = Vec::new();
        'outer: for i in 0..n {
            'inner: for j in 0..n {
                if j == i { continue 'outer }
                if i == 3 && j == 1 { continue 'inner }
                if i == 5 { break 'outer }
                if j > 4 { break 'inner }
                if j == 2 { continue }
                out.push((i, j));
            }
            out.push((i, 100));
        }
        out
    }

    fn labelled_while(n: u32) -> u32 {
        let mut i = 0;
        let mut total = 0;
        'a: while i < n {
            i += 1;
            let mut j = 0;
            'b: while let Some(next) = Some(j).filter(|j| *j < i) {
                j = next + 1;
                if j == 3 { continue 'a }
                if i == 7 { break 'a }
                if j == 5 { break 'b }
                total += j;
            }
        }
        total
    }

    fn break_values(n: u32) -> u32 {
        let mut i = 0;
        let found = 'search: loop {
            loop { i += 3; if i % 7 == 0 { break 'search i * 2 } if i > n { break 'search 0 } if i % 2 == 0 { break } }
            i += 1;
        };
        let block = 'block: { for k in 0..n { if k == 4 { break 'block k } } 99 };
        found + block + loop { i += 1; if i % 11 == 0 { break i } }
    }

    fn positions(n: u32) -> Vec<u32> {
        let take = |a: u32, b: u32| a * 100 + b;
        let mut out = vec![take(loop { note("first"); break 1 }, { for i in 0..n { note(i); } 2 })];
        let x = 1 + loop { note("operand"); break 5 } * 2;
        out.push(x);
        let array = [loop { break 7 }, { while out.len() < 4 { out.push(0); } 8 }];
        out.extend(array);
        let index = array[{ let mut i = 0; while i < 1 { i += 1; } i }];
        out.push(index);
        out.push(match loop { break noted(3) } { 3 => { for _ in 0..2 { note("arm"); } 30 } _ => 0 });
        if { let mut any = false; for i in 0..n { any |= i == 2; } any } { out.push(1000); }
        let (a, b) = (loop { break 1 }, loop { break 2 });
        out.push(a + b);
        let Some(y) = (loop { break Some(9) }) else { loop { note("never"); } };
        out.push(y);
        let Some(z) = None::<u32>.or(Some(y)).filter(|_| n > 100) else {
            let mut z = 0;
            while z < 3 { z += 1; }
            out.push(z);
            return out;
        };
        out.push(z);
        out
    }

    fn in_blocks_and_match(n: u32) -> u32 {
        let mut sum = 0;
        { let p = &mut sum; for i in 0..n { *p += i; } }
        match n { 0 => for _ in 0..2 { sum += 1 }, 1..=5 => while sum < 50 { sum += 7 }, _ => loop { sum += 1; if sum > 60 { break } } }
        if n > 3 { for _ in 0..1 { sum += 1 } } else if n > 2 { loop { break } } else { while false {} }
        sum
    }

    fn conditions(n: u32) -> u32 {
        let mut i = 0;
        while { i += 1; note(i); i < n } {}
        while { let mut inner = 0; while inner < 3 { inner += 1; } i += inner; i < 30 } { i += 1; }
        let mut stack = vec![1, 2, 3];
        while let Some(x) = stack.pop() { i += x; }
        'own: while if i > 40 { break 'own } else { true } { i += 3; }
        i
    }

    fn early(n: u32) -> Option<u32> {
        let mut sum = 0u32;
        for i in 0..n {
            let part = sum.checked_add(i)?;
            if part > 20 { return Some(part) }
            sum = part;
        }
        while sum < 5 { sum += 1; if n == 0 { return None } }
        Some(sum)
    }

    fn results(n: u32) -> Result<u32, std::num::TryFromIntError> {
        let mut out = 0;
        for i in 0..n { out += u32::from(u8::try_from(i * 60)?); }
        Ok(out)
    }

    fn patterns(n: usize) -> usize {
        let pairs: Vec<(usize, (usize, Option<usize>))> = (0..n).map(|i| (i, (i * 2, Some(i)))).collect();
        let mut sum = 0;
        for &(a, (b, ref c)) in &pairs { sum += a + b + c.unwrap_or(0); }
        for (_, (mut b, _)) in pairs { b += 1; sum += b; }
        for [a, .., b] in [[1, 2, 3], [4, 5, 6]] { sum += a * b; }
        for whole @ (1 | 2 | _) in 0..3 { sum += whole; }
        for (i, x) in [1usize, 2].iter().enumerate().rev() { sum += i * x; }
        sum
    }

    fn shadowing(n: u32) -> u32 {
        let n = n + 1;
        let mut sum = 0;
        for n in 0..n { let n = n * 2; for n in 0..n { sum += n; } let sum = sum + 1; note(sum); }
        sum + n
    }

    fn late(n: u32) -> u32 {
        let x;
        let mut y;
        loop { x = n; break }
        for i in 0..n { y = i; if y > 3 { break } }
        y = 1;
        while y < 4 { y += 1 }
        x + y
    }

    fn moves(n: u32) -> String {
        let mut current = Some(String::from("a"));
        let mut text = String::new();
        let mut count = 0;
        while let Some(taken) = current {
            text += &taken;
            count += 1;
            current = if count < n { Some(taken + "b") } else { None };
        }
        let owner = text;
        for _ in 0..1 { drop_string(owner); break }
        String::from("end")
    }

    fn list(n: u32) -> u32 {
        let mut head = None;
        for value in 0..n { head = Some(Box::new(Node { value, next: head })); }
        let mut sum = 0;
        let mut cursor = &head;
        while let Some(node) = cursor { sum += node.value; cursor = &node.next; }
        let mut cursor = &mut head;
        while let Some(node) = cursor { node.value += 1; cursor = &mut node.next; }
        *cursor = Some(Box::new(Node { value: 7, next: None }));
        let mut owned = head;
        while let Some(node) = owned { sum += node.value; owned = node.next; }
        sum
    }

    fn borrows(n: usize) -> usize {
        let mut data: Vec<usize> = (0..n).collect();
        let (left, right) = data.split_at_mut(n / 2);
        for (a, b) in left.iter_mut().zip(right.iter()) { *a += *b; }
        let first = &mut data[0];
        while *first < 10 { *first += 3; }
        for x in data.iter_mut() { *x += 1; }
        let total: usize = data.iter().sum();
        for chunk in data.chunks_mut(2) { for x in chunk { *x = total; } }
        data.into_iter().sum()
    }

    fn never_runs(n: u32) -> u32 { for _ in 0..0 { note("no"); } while n > 1_000 { note("no"); } n }

    fn not_its_own_loops(n: u32) -> u32 {
        fn inner(n: u32) -> u32 { let mut sum = 0; for i in 0..n { sum += i } sum }
        let closure = |n: u32| { let mut sum = 0; while sum < n { sum += 2 } return sum };
        const TABLE: [u32; { let mut i = 0; while i < 3 { i += 1 } i }] = [1, 2, 3];
        let array = [0u32; { let mut i = 0; loop { i += 1; if i == 4 { break i } } }];
        let constant = const { let mut i = 0; while i < 5 { i += 1 } i };
        let from_macro = vec![{ let mut s = 0; for i in 0..n { s += i } s }; 1];
        inner(n) + closure(n) + TABLE[1] + array.len() as u32 + constant + from_macro[0] + n.min(3)
    }

    fn attributes(n: u32) -> u32 {
        let mut sum = 0;
        #[allow(clippy::needless_range_loop, unused_variables)]
        for i in 0..n { let unused = 1; sum += 1; }
        #[cfg(any())]
        for i in does_not_exist { }
        #[cfg(all())]
        while sum < 9 { #![allow(unused_variables)] let unused = 1; sum += 1; }
        sum
    }

    fn diverges(n: u32) -> u32 { let mut i = 0; loop { i += 1; if i > n { return i } } }

    fn panics(n: u32) -> u32 {
        let _guard = Loud("guard");
        let mut sum = 0;
        for i in 0..n { let _each = Loud("each"); sum += i; assert!(sum < 10, "too much: {sum}"); }
        sum
    }

    fn index_panics(n: usize) -> usize { let data = [1, 2, 3]; let mut sum = 0; for i in 0..n { sum += data[i]; } sum }

    fn while_true(n: u32) -> u32 { let mut i = 0; #[allow(while_true)] while true { i += 1; if i == n { continue } if i > n { break } } i }

    fn closures_in_loops(n: u32) -> u32 {
        let mut total = 0;
        let mut add = |x: u32| total += x;
        for i in 0..n { add(i); let f = move |y: u32| -> u32 { if y > 2 { return 1 } y + i }; add(f(i)); }
        let made: Vec<Box<dyn Fn() -> u32>> = { let mut made: Vec<Box<dyn Fn() -> u32>> = Vec::new(); for i in 0..n { made.push(Box::new(move || i)); } made };
        for f in &made { total += f(); }
        total
    }
}

#[colibri_core::cooperative]
fn skipped(n: u32) -> u32 {
    let mut sum = 0;
    #[cooperative(skip)]
    for i in 0..n {
        for j in 0..i {
            sum += j
        }
    }
    #[colibri_core::cooperative(skip)]
    'a: loop {
        sum += 1;
        if sum > 10 {
            break 'a;
        }
    }
    sum
}

struct Node {
    value: u32,
    next: Option<Box<Node>>,
}

fn drop_string(text: String) {
    note(text);
}

macro_rules! compare {
    ($($name:ident($($argument:expr),*);)*) => {
        $(#[test] fn $name() { same(|| plain::$name($($argument),*), || stopping::$name($($argument),*)); })*
    };
}

compare! {
    each_kind(5); nested(4); labels(7); labelled_while(9); break_values(60); positions(3); conditions(5);
    patterns(4); shadowing(4); late(6); moves(4); list(5); borrows(9); attributes(4); diverges(5);
    index_panics(5); while_true(5); closures_in_loops(5);
}

#[test]
fn by_argument() {
    for n in [0, 1, 2, 3, 5, 8, 20] {
        same(|| plain::in_blocks_and_match(n), || stopping::in_blocks_and_match(n));
        same(|| plain::early(n), || stopping::early(n));
        same(|| plain::results(n), || stopping::results(n));
        same(|| plain::panics(n), || stopping::panics(n));
        same(|| plain::never_runs(n), || stopping::never_runs(n));
    }
}

#[test]
fn loops_that_stay_have_no_checks() {
    assert_eq!(same(|| 11, || skipped(5)), 0);
    assert_eq!(same(|| plain::not_its_own_loops(5), || stopping::not_its_own_loops(5)), 0);
}

#[test]
fn each_iteration_is_one_check() {
    // The last look of the last loop finds that there is no further iteration.
    assert_eq!(same(|| plain::while_true(5), || stopping::while_true(5)), 6);
    assert_eq!(same(|| plain::diverges(5), || stopping::diverges(5)), 6);
    assert_eq!(same(|| plain::shadowing(2), || stopping::shadowing(2)), 3 + (0 + 2 + 4) + 1);
}
