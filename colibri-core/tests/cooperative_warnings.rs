//! The attribute adds no warning to clean code, and keeps those that should fire.

#![deny(warnings)]
#![allow(clippy::all, reason = "odd forms are what is tested")]
#![warn(
    ambiguous_negative_literals,
    closure_returning_async_block,
    deprecated_safe_2024,
    edition_2024_expr_fragment_specifier,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    future_incompatible,
    if_let_rescope,
    impl_trait_overcaptures,
    impl_trait_redundant_captures,
    keyword_idents,
    let_underscore_drop,
    macro_use_extern_crate,
    meta_variable_misuse,
    missing_copy_implementations,
    missing_debug_implementations,
    non_ascii_idents,
    nonstandard_style,
    redundant_imports,
    redundant_lifetimes,
    rust_2018_idioms,
    rust_2021_compatibility,
    rust_2024_compatibility,
    single_use_lifetimes,
    tail_expr_drop_order,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unnameable_types,
    unreachable_pub,
    unsafe_op_in_unsafe_fn,
    unused,
    unused_import_braces,
    unused_lifetimes,
    unused_macro_rules,
    unused_qualifications,
    unused_results,
    variant_size_differences
)]

use colibri_core::cooperative;

#[cooperative]
fn loops(items: &[u32], mut count: u32) -> u32 {
    let mut sum = 0;
    for item in items {
        sum += item;
    }
    'outer: while count > 0 {
        count -= 1;
        for i in 0..count {
            if i == 3 {
                continue 'outer;
            }
        }
        let mut stack = vec![1];
        while let Some(top) = stack.pop() {
            sum += top;
        }
    }
    loop {
        sum += 1;
        if sum > 100 {
            break;
        }
    }
    let found = loop {
        sum += 1;
        if sum.is_multiple_of(7) {
            break sum;
        }
    };
    found
}

#[cooperative]
fn one_expression(n: u32) -> (u32, u32) {
    (n, n)
}

#[cooperative]
fn one_call(n: u32) -> u32 {
    one_call(n)
}

#[cooperative]
fn one_opaque(n: u32) -> impl Iterator<Item = u32> {
    0..n
}

#[cooperative]
fn one_value(n: u32) -> u32 {
    loop {
        break n;
    }
}

#[cooperative]
fn saves(items: &[u32], values: &mut [u32], limit: u32) -> u32 {
    let half = limit / 2;
    let offset = items.len();
    let mut sum = 0;
    for (i, item) in items.iter().enumerate() {
        let scaled = item * 3;
        let mut j = 0;
        while j < scaled {
            j += 1;
            sum += j + half;
        }
        for k in 0..limit {
            let mut rest = k;
            while rest > 0 {
                rest -= 1;
            }
        }
        for value in values.iter_mut() {
            *value += sum;
        }
        for i in 0..values.len() {
            values[i] += half;
        }
        values[(i + offset) % 2] = scaled;
    }
    sum
}

#[cooperative]
fn endless(limit: u32) -> u32 {
    let mut i = 0;
    loop {
        i += 1;
        if i > limit {
            return i;
        }
    }
}

#[cooperative]
fn diverging(limit: u32) -> u32 {
    for i in 0..limit {
        if i > 3 {
            panic!("too far");
        }
    }
    unreachable!("at {limit}")
}

#[cooperative]
fn question(text: &str) -> Result<u32, std::num::ParseIntError> {
    let mut sum = 0;
    for part in text.split(',') {
        sum += part.parse::<u32>()?;
    }
    Ok(sum)
}

#[cooperative]
fn early(n: u32) {
    for i in 0..n {
        if i == 2 {
            return;
        }
    }
}

#[cooperative]
fn recursion(n: u32) -> u32 {
    if n == 0 { 0 } else { recursion(n - 1) + 1 }
}

#[cooperative]
async fn awaiting(n: u32) -> u32 {
    let mut sum = 0;
    for i in 0..n {
        sum += endless(i).await;
    }
    sum
}

#[cooperative]
fn arguments((a, _): (u32, u32), _: u32, [b, ..]: [u32; 3], _unused: u32) -> u32 {
    for _ in 0..a {}
    a + b
}

#[cooperative]
fn borrowed<'a>(text: &'a str, other: &str) -> &'a str {
    for _ in other.chars() {}
    text
}

#[cooperative(boxed)]
fn boxed(n: u32) -> u32 {
    for _ in 0..n {}
    n
}

#[derive(Clone, Copy, Debug)]
struct Counter {
    value: u32,
}

trait Counting {
    #[cooperative(boxed)]
    fn dynamic(&self, n: &u32) -> u32;

    #[cooperative]
    fn by_reference(&self, n: u32) -> u32;

    #[cooperative]
    fn with_default(&self, n: u32) -> u32 {
        for _ in 0..n {}
        n
    }
}

impl Counting for Counter {
    #[cooperative(boxed)]
    fn dynamic(&self, n: &u32) -> u32 {
        for _ in 0..*n {}
        self.value
    }

    #[cooperative]
    fn by_reference(&self, n: u32) -> u32 {
        for _ in 0..n {}
        self.value
    }
}

impl Counter {
    #[cooperative]
    fn by_value(self, n: u32) -> u32 {
        for _ in 0..n {}
        self.value
    }

    #[cooperative]
    fn by_mutable_value(mut self, n: u32) -> u32 {
        for i in 0..n {
            self.value += i;
        }
        self.value
    }
}

#[test]
fn clean_code_stays_clean() {
    fn unused<F: Future>(_future: F) {}
    unused(loops(&[], 0));
    unused(one_expression(0));
    unused(one_call(0));
    unused(one_opaque(0));
    unused(one_value(0));
    unused(saves(&[], &mut [], 0));
    unused(endless(0));
    unused(diverging(0));
    unused(question(""));
    unused(early(0));
    unused(recursion(0));
    unused(awaiting(0));
    unused(arguments((0, 0), 0, [0; 3], 0));
    unused(borrowed("", ""));
    unused(boxed(0));
    let counter = Counter { value: 0 };
    unused(counter.dynamic(&0));
    unused(counter.by_reference(0));
    unused(counter.with_default(0));
    unused(counter.by_value(0));
    unused(counter.by_mutable_value(0));
}

#[cooperative]
#[expect(dead_code, unused_variables, unused_mut, unused_assignments, unused_labels, unreachable_code)]
fn what_should_fire_fires(argument: u32, mut mutable: u32) -> u32 {
    let local = 1;
    let mut unchanged = 2;
    let mut overwritten = 3;
    overwritten = unchanged;
    'label: for item in 0..argument {
        mutable = 4;
    }
    return overwritten;
    0
}

macro_rules! fires {
    ($($name:ident: $($lint:ident)+, ($($argument:tt)*) $body:block)*) => {
        $(
            #[cooperative]
            $(#[expect($lint)])+
            #[allow(dead_code)]
            fn $name($($argument)*) $body
        )*
    };
}

fires! {
    unused_argument: unused_variables, (argument: u32) { for _ in 0..3 {} }
    unused_item: unused_variables, (n: u32) { for item in 0..n {} }
    unused_in_pattern: unused_variables, (n: u32) { for (a, b) in [(n, n)] { early(a).await; } }
    unused_mut_argument: unused_mut, (mut n: u32) { for _ in 0..n {} }
    unused_mut_item: unused_mut, (n: u32) { for mut item in 0..n { early(item).await; } }
    unused_label: unused_labels, (n: u32) { 'label: for _ in 0..n {} }
    unused_label_of_while: unused_labels, (n: u32) { 'label: while n > 3 {} }
    unused_label_of_loop: unused_labels, (n: u32) { 'label: loop { if n > 0 { break } } }
    dead_assignment: unused_assignments, (n: u32) { let mut x = 0; for i in 0..n { x = i; } x = 1; early(x).await; }
    after_endless: unreachable_code, (n: u32) { loop { early(n).await; } early(n).await; }
    infinite_while: while_true, (n: u32) { while true { early(n).await; } }
    parentheses_of_while: unused_parens, (n: u32) { while (n > 3) {} }
    parentheses_of_for: unused_parens, (n: u32) { for _ in (0..n) {} }
    irrefutable: irrefutable_let_patterns, (n: u32) { while let x = n { if x > 0 { break } } }
    needless_mut: unused_mut, (n: u32) { let mut x = n * 2; for i in 0..n { let mut k = i; while k > x { k -= 1; } } }
    unused_in_copy: unused_variables, (n: u32) { let mut i = 0; while i < n { let unused = i; i += 1; } }
    unused_in_counted: unused_variables, (n: u32) { for i in 0..n { let unused = i; } }
    needless_mut_of_a_view: unused_mut, (v: &[u32]) { let mut w = v; for i in 0..w.len() { early(w[i]).await; } }
    needless_mut_of_an_outlined_view: unused_mut, (v: &[u32]) { let mut w = v; for i in 0..w.len() { let _ = w[i]; } }
    infinite_while_in_a_nest: while_true, (n: u32) { let mut s = 0; while true { s += 1; if s > n { break; } } }
    unused_owner_in_a_nest: unused_variables, (v: Vec<String>, n: u32) { let mut s = 0; for item in v { for i in 0..n { s += i; } } early(s).await; }
    unused_local_in_a_nest: unused_variables, (n: u32) { let mut s = 0; for i in 0..n { let guard = String::new(); for j in i..n { s += j; } } early(s).await; }
    dead_assignment_in_a_nest: unused_assignments, (n: u32) { let mut s = 0; for i in 0..n { let mut x = 0; for j in i..n { s += j; } x = s; s += x; } early(s).await; }
    only_updated: unused_variables unused_assignments, (n: u32) { let mut count = 0; for i in 0..n { early(i).await; count += 1; } }
    only_updated_in_a_nest: unused_variables unused_assignments, (n: u32) { let mut count = 0; for _ in 0..n { count += 1; } }
    only_updated_inside_a_nest: unused_variables unused_assignments, (n: u32) { for i in 0..n { let mut count = 0; for _ in i..n { count += 1; } } }
    only_updated_argument: unused_variables unused_assignments, (mut n: u32) { for _ in 0..3u8 { n += 1; early(3).await; } }
    needless_mut_of_a_reference: unused_mut, (mut n: &mut u32) { for i in 0..*n { early(i).await; *n = 1; } }
    must_use: unused_must_use, (n: u32) { for _ in 0..n { early(n); } }
}

mod never_used {
    use colibri_core::cooperative;

    #[cooperative]
    #[expect(dead_code)]
    fn function(n: u32) -> u32 {
        let mut sum = 0;
        for i in 0..n {
            sum += i;
        }
        sum
    }

    #[cooperative]
    #[expect(dead_code)]
    fn without_a_result() {}

    #[cooperative(boxed)]
    #[expect(dead_code)]
    fn boxed() -> (u32, u32) {
        (1, 2)
    }

    #[allow(dead_code, reason = "the compiler speaks of the method alone")]
    struct Never;

    impl Never {
        #[cooperative]
        #[expect(dead_code)]
        fn method(&self, n: u32) {
            for _ in 0..n {}
        }
    }
}
