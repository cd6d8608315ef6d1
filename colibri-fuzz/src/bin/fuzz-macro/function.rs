//! A whole case: the entry function, and what it calls.

use crate::form::Forms;
use crate::generator::{Callee, Generator};
use crate::indent::indented;
use crate::kind::{Int, Kind};
use crate::random::Random;

/// The text of case `number` of the run `seed`, as the cooperative twin has it, and what it is made of.
pub(crate) fn generate(seed: u64, number: u64, has_chains: bool) -> (String, Forms) {
    let mut generator = Generator::new(Random::new(seed, number), has_chains);
    let mut text = String::new();
    let mut helpers = Vec::new();
    let mut ready_made = vec![largest(), diagonal(), sort()];
    while generator.random.chance(20) && !ready_made.is_empty() {
        let at = generator.random.below(ready_made.len());
        let (written, callee) = ready_made.swap_remove(at);
        text.push_str(written);
        helpers.push(callee);
    }
    while generator.random.chance(25) {
        if let Some((written, callee)) = generator.kernel_function(&helpers) {
            text.push_str(&written);
            helpers.push(callee);
        }
    }
    for number in 0..generator.random.below(4) / 2 {
        let (written, callee) = generator.helper(&format!("helper{number}"));
        text.push_str(&written);
        helpers.push(callee);
    }
    let counter = generator.random.chance(12).then(|| generator.counter());
    if let Some((written, callees)) = &counter {
        text.push_str(written);
        helpers.extend(callees.iter().cloned());
    }
    generator.helpers = helpers;
    text.push_str(&generator.entry(counter.is_some()));
    (indented(&text), generator.forms)
}

const RETURNS: [Kind; 14] = [
    Kind::I32,
    Kind::I32,
    Kind::Int(Int::U64),
    Kind::USIZE,
    Kind::Unit,
    Kind::Unit,
    Kind::MaybeInt,
    Kind::MaybeInt,
    Kind::ResultInt,
    Kind::ResultInt,
    Kind::Ints,
    Kind::Items,
    Kind::Slice,
    Kind::Loud,
];

impl Generator {
    fn entry(&mut self, has_counter: bool) -> String {
        self.returns = *self.random.pick(&RETURNS);
        let mut kinds =
            (0..self.random.between(1, 4)).map(|_| *self.random.pick(&Kind::ARGUMENTS)).collect::<Vec<_>>();
        let is_async = self.random.chance(6);
        let is_recursive = !is_async && self.random.chance(35);
        if is_recursive {
            // Else its type would contain itself.
            kinds.retain(|&kind| kind != Kind::Items);
        }
        let attribute = if !is_async && self.random.chance(8) {
            self.forms.note("boxed");
            kinds.retain(|&kind| kind != Kind::Items);
            if self.returns == Kind::Items {
                self.returns = Kind::I32;
            }
            "#[cooperative(boxed)]"
        } else {
            "#[cooperative]"
        };
        if self.returns == Kind::Items {
            self.forms.note("impl iterator out");
        }
        let asyncness = if is_async { "async " } else { "" };
        if is_async {
            self.forms.note("async fn");
        }
        let left = self.random.between(2, 10) as i32;
        let own = is_recursive.then(|| Callee {
            name: "entry".to_owned(),
            arguments: kinds.clone(),
            last: "depth_left - 1",
            returns: self.returns,
        });
        let (generics, first) =
            if self.returns == Kind::Slice { ("<'a>", "slice_in: &'a [i32], ") } else { ("", "") };
        let own = own.filter(|_| self.returns != Kind::Slice);
        let start = if has_counter {
            format!("let mut counter = Counter::of({});\n", self.random.below(90))
        } else {
            String::new()
        };
        let end = if has_counter { "note(counter.finish(3).await);\n" } else { "" };
        let (arguments, body) = self.function(&kinds, own, left, &start, end);
        let output = if self.returns == Kind::Slice { "&'a [i32]" } else { self.returns.name() };
        let output = if self.returns == Kind::Unit { String::new() } else { format!(" -> {output}") };
        format!("{attribute}\npub {asyncness}fn entry{generics}({first}{arguments}){output} {{\n{body}}}\n")
    }

    /// A function that the entry calls.
    fn helper(&mut self, name: &str) -> (String, Callee) {
        const KINDS: [Kind; 7] =
            [Kind::I32, Kind::USIZE, Kind::Slice, Kind::IntsMut, Kind::IntMut, Kind::Loud, Kind::MaybeInt];
        let kinds = (0..self.random.below(3)).map(|_| *self.random.pick(&KINDS)).collect::<Vec<_>>();
        self.returns = *self.random.pick(&[Kind::I32, Kind::Unit, Kind::MaybeInt, Kind::ResultInt]);
        let left = self.random.between(1, 4) as i32;
        let (arguments, body) = self.function(&kinds, None, left, "", "");
        let output =
            if self.returns == Kind::Unit { String::new() } else { format!(" -> {}", self.returns.name()) };
        let text = format!("#[cooperative]\npub fn {name}({arguments}){output} {{\n{body}}}\n\n");
        (text, Callee { name: name.to_owned(), arguments: kinds, last: "", returns: self.returns })
    }

    /// Arguments and body of a function.
    fn function(
        &mut self,
        kinds: &[Kind],
        own: Option<Callee>,
        left: i32,
        start: &str,
        end: &str,
    ) -> (String, String) {
        self.left = left;
        self.targets.clear();
        self.scopes.open();
        let mut arguments = Vec::new();
        for &kind in kinds {
            arguments.push(self.argument(kind));
        }
        let mut first = String::new();
        if own.is_some() {
            arguments.push("depth_left: u32".to_owned());
            first.push_str("call_tick();\n");
        }
        self.own = own;
        let body = self.scoped(|this| {
            let most = this.left.max(1) as usize;
            let mut statements = this.statements(most / 2, most);
            if this.random.chance(50) {
                statements.push_str(&this.nest());
            }
            // What comes at the end takes the counter itself.
            this.helpers.retain(|helper| end.is_empty() || !helper.name.starts_with("counter."));
            let value = this.value_at_end();
            format!("{first}{start}{statements}{end}{value}")
        });
        self.own = None;
        self.scopes.close();
        (arguments.join(", "), body)
    }

    fn argument(&mut self, kind: Kind) -> String {
        let name = self.unique("p");
        match kind {
            Kind::Pair if self.random.chance(70) => {
                self.forms.note("argument pattern");
                let other = self.unique("p");
                self.scopes.declare(&name, Kind::I32, false);
                self.scopes.declare(&other, Kind::Int(Int::U32), true);
                format!("({name}, mut {other}): {}", kind.name())
            }
            Kind::Array if self.random.chance(50) => {
                self.forms.note("argument pattern");
                self.scopes.declare(&name, Kind::I32, true);
                format!("[mut {name}, .., _]: {}", kind.name())
            }
            _ => {
                if kind == Kind::Items {
                    self.forms.note("impl iterator in");
                }
                let is_mut = kind == Kind::Items || self.random.chance(50);
                self.scopes.declare(&name, kind, is_mut);
                format!("{}{name}: {}", if is_mut { "mut " } else { "" }, kind.name())
            }
        }
    }

    fn value_at_end(&mut self) -> String {
        match self.returns {
            Kind::Unit if self.random.chance(40) => {
                self.forms.note("loop at tail");
                self.left = 4;
                self.any_loop()
            }
            Kind::Unit => String::new(),
            kind if matches!(kind, Kind::I32 | Kind::MaybeInt | Kind::Ints | Kind::ResultInt)
                && self.random.chance(25) =>
            {
                self.left = 4;
                self.forms.note("loop at tail");
                self.loop_value(kind)
            }
            _ => format!("{}\n", self.returned(2)),
        }
    }

    /// A type with cooperative methods.
    fn counter(&mut self) -> (String, Vec<Callee>) {
        let mut callees = Vec::new();
        let mut methods = String::new();
        let mut in_trait = String::new();
        for (number, form) in ["&mut self", "&self", "self"].into_iter().enumerate() {
            self.forms.note("method");
            let is_last = form == "self";
            let name = if is_last { "finish".to_owned() } else { format!("method{number}") };
            let is_recursive = !is_last && self.random.chance(30);
            self.returns =
                if is_last { Kind::I32 } else { *self.random.pick(&[Kind::I32, Kind::MaybeInt, Kind::Unit]) };
            let own = is_recursive.then(|| Callee {
                name: format!("self.{name}"),
                arguments: vec![Kind::I32],
                last: "depth_left - 1",
                returns: self.returns,
            });
            self.scopes.open();
            self.scopes.declare("self.total", Kind::I32, form != "&self");
            self.scopes.declare("self.log", Kind::Ints, form != "&self");
            let left = self.random.between(1, 4) as i32;
            let (arguments, body) = self.function(&[Kind::I32], own, left, "", "");
            self.scopes.close();
            let form = if is_last {
                self.forms.note("method self");
                "mut self"
            } else {
                form
            };
            let output = if self.returns == Kind::Unit {
                String::new()
            } else {
                format!(" -> {}", self.returns.name())
            };
            let is_in_trait = number == 0 && self.random.chance(30);
            let visibility = if is_in_trait { "" } else { "pub " };
            let method =
                format!("#[cooperative]\n{visibility}fn {name}({form}, {arguments}){output} {{\n{body}}}\n");
            if is_in_trait {
                let declared = arguments.replace("mut ", "");
                in_trait = format!(
                    "pub trait Work {{\n#[cooperative]\nfn {name}({form}, {declared}){output};\n}}\n\nimpl Work for Counter {{\n{method}}}\n\n"
                );
            } else {
                methods.push_str(&method);
            }
            if !is_last {
                callees.push(Callee {
                    name: format!("counter.{name}"),
                    arguments: vec![Kind::I32],
                    last: if is_recursive { "1" } else { "" },
                    returns: self.returns,
                });
            }
        }
        let text = format!(
            "#[derive(Debug)]\npub struct Counter {{\npub total: i32,\npub log: Vec<i32>,\npub held: Loud,\n}}\n\nimpl Counter {{\npub fn of(total: i32) -> Counter {{\nCounter {{ total, log: vec![total & 15, 3], held: Loud(total & 255) }}\n}}\n{methods}}}\n\n{in_trait}"
        );
        (text, callees)
    }
}

fn largest() -> (&'static str, Callee) {
    let text = "#[cooperative]
pub fn largest<T: Copy + PartialOrd>(items: &[T], limit: usize) -> Option<T> {
let mut best: Option<T> = None;
for (at, &item) in items.iter().enumerate() {
soft_tick();
if at >= limit { break; }
match best {
Some(other) if other >= item => continue,
_ => best = Some(item),
}
}
best
}

";
    let arguments = vec![Kind::Slice, Kind::USIZE];
    (text, Callee { name: "largest::<i32>".to_owned(), arguments, last: "", returns: Kind::MaybeInt })
}

fn diagonal() -> (&'static str, Callee) {
    let text = "#[cooperative]
pub fn diagonal<const N: usize>(grid: [[i32; N]; N]) -> i32 {
let mut sum = 0i32;
for row in 0..N {
soft_tick();
for column in 0..N {
soft_tick();
if row == column { sum = sum.wrapping_add(grid[row][column]); continue; }
sum ^= grid[row][column];
}
}
sum
}

";
    (
        text,
        Callee {
            name: "diagonal::<3>".to_owned(),
            arguments: vec![Kind::Grid],
            last: "",
            returns: Kind::I32,
        },
    )
}

fn sort() -> (&'static str, Callee) {
    let text = "#[cooperative]
pub fn sort(items: &mut [i32]) {
call_tick();
let Some(last) = items.len().checked_sub(1) else { return };
let pivot = items[last];
let mut store = 0;
for at in 0..last {
soft_tick();
if items[at] < pivot {
items.swap(at, store);
store += 1;
}
}
items.swap(store, last);
let (left, right) = items.split_at_mut(store);
sort(left);
sort(&mut right[1..]);
}

";
    (text, Callee { name: "sort".to_owned(), arguments: vec![Kind::SliceMut], last: "", returns: Kind::Unit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_generated() {
        let mut forms = Forms::default();
        for number in 0..3000 {
            forms.add(&generate(1, number, true).1);
        }
        assert_eq!(forms.missing(), Vec::<&str>::new());
    }

    #[test]
    fn what_is_generated_is_rust() {
        for number in 0..300 {
            let (text, _) = generate(7, number, number % 2 == 0);
            assert!(syn::parse_file(&text).is_ok(), "{number}:\n{text}");
        }
    }
}
