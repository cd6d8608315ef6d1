//! Statements.

use crate::generator::Generator;
use crate::kind::{Int, Kind};
use crate::scope::State;

/// What plain `let`s declare.
const LETS: [Kind; 18] = [
    Kind::I32,
    Kind::I32,
    Kind::I32,
    Kind::Int(Int::U32),
    Kind::Int(Int::I64),
    Kind::Int(Int::U64),
    Kind::USIZE,
    Kind::Int(Int::U8),
    Kind::Bool,
    Kind::Float,
    Kind::Pair,
    Kind::Array,
    Kind::Grid,
    Kind::MaybeInt,
    Kind::Text,
    Kind::Ints,
    Kind::Map,
    Kind::List,
];

/// What writes a statement.
type Writer = fn(&mut Generator) -> String;

impl Generator {
    /// From `least` to `most` statements, if so many may still be written.
    pub(crate) fn statements(&mut self, least: usize, most: usize) -> String {
        let mut text = String::new();
        if self.nest.is_some() && self.owes_loops() {
            return self.nest_body();
        }
        for _ in 0..self.random.between(least, most) {
            if self.left <= 0 {
                break;
            }
            self.left -= 1;
            text.push_str(&if self.nest.is_some() { self.nest_statement() } else { self.statement() });
        }
        text
    }

    pub(crate) fn statement(&mut self) -> String {
        let exits = if self.is_in_loop() { 9 } else { 3 };
        let loops = if self.scopes.depth.0 < 4 && self.left > 2 { 17 } else { 0 };
        let nests = if self.nest.is_none() && self.scopes.depth.0 < 2 { 4 } else { 0 };
        let choices: [(usize, Writer); 15] = [
            (nests, Self::nest),
            (12, Self::declaration),
            (12, Self::assignment),
            (8, Self::told),
            (7, Self::branch),
            (loops, Self::any_loop),
            (exits, Self::exit),
            (7, Self::mutation),
            (16, Self::idiom),
            (4, Self::guard_value),
            (3, Self::block),
            (4, Self::match_statement),
            (5, Self::closure),
            (5, Self::borrow),
            (3, Self::ending),
        ];
        let mut at = self.random.below(choices.iter().map(|(weight, _)| weight).sum());
        for (weight, write) in choices {
            if at < weight {
                return write(self);
            }
            at -= weight;
        }
        unreachable!("a choice below the sum of the weights")
    }

    pub(crate) fn declaration(&mut self) -> String {
        let kind = *self.random.pick(&LETS);
        let is_mut = self.random.chance(65);
        let mutability = if is_mut { "mut " } else { "" };
        if kind == Kind::I32 && self.random.chance(25) {
            // Its type is left to inference.
            let (name, number) = (self.name(), self.random.below(9));
            let id = self.scopes.declare(&name, kind, is_mut);
            self.scopes.make_loose(id);
            return format!("let {mutability}{name} = {number};\n");
        }
        if self.random.chance(10)
            && let Some(id) = self.readable(kind).filter(|_| kind.is_copy())
        {
            self.forms.note("shadow");
            let name = self.scopes.read(id);
            if !name.contains('.') {
                let value = self.expression(kind, 2);
                self.scopes.declare(&name, kind, is_mut);
                return format!("let {mutability}{name}: {} = {value};\n", kind.name());
            }
        }
        let value = self.expression(kind, 3);
        let name = self.name();
        let is_bare = value.chars().all(|character| character.is_alphanumeric() || "_#".contains(character));
        self.scopes.declare(&name, kind, is_mut);
        if is_bare || self.random.chance(60) {
            return format!("let {mutability}{name}: {} = {value};\n", kind.name());
        }
        format!("let {mutability}{name} = {value};\n")
    }

    pub(crate) fn assignment(&mut self) -> String {
        let kind = *self.random.pick(&[
            Kind::I32,
            Kind::I32,
            Kind::USIZE,
            Kind::Int(Int::U64),
            Kind::Bool,
            Kind::MaybeInt,
        ]);
        if kind == Kind::I32
            && self.random.chance(30)
            && let Some(id) = self.writable(Kind::IntMut)
        {
            let value = self.i32(2);
            let name = self.scopes.write(id);
            return format!("*{name} = {value};\n");
        }
        let Some(id) = self.writable(kind) else { return self.told() };
        if let Kind::Int(_) = kind
            && self.random.chance(45)
        {
            let operator = *self.random.pick(&["^=", "|=", "&=", "+=", "-="]);
            let value = self.expression(kind, 2);
            let name = self.scopes.write(id);
            if matches!(operator, "+=" | "-=") {
                self.forms.note("panic overflow");
                return format!("{name} {operator} {value} & 3;\n");
            }
            return format!("{name} {operator} {value};\n");
        }
        let value = self.expression(kind, 3);
        let name = self.scopes.write(id);
        format!("{name} = {value};\n")
    }

    /// A side effect that can be seen.
    pub(crate) fn told(&mut self) -> String {
        let kind = *self.random.pick(&[
            Kind::I32,
            Kind::I32,
            Kind::USIZE,
            Kind::Bool,
            Kind::Int(Int::U64),
            Kind::Float,
        ]);
        let value = self.expression(kind, 2);
        format!("note({value});\n")
    }

    pub(crate) fn branch(&mut self) -> String {
        let is_pattern = self.random.chance(35);
        let name = self.name();
        let head = if is_pattern {
            self.forms.note("if let");
            let option = self.expression(Kind::MaybeInt, 2);
            let chain = if self.has_chains && self.random.chance(40) {
                format!(" && {}", self.boolean(1))
            } else {
                String::new()
            };
            format!("if let Some({name}) = {option}{chain}")
        } else {
            format!("if {}", self.boolean(2))
        };
        let yes = self.scoped(|this| {
            if is_pattern {
                this.scopes.declare(&name, Kind::I32, false);
            }
            this.statements(1, 3)
        });
        if self.random.chance(50) {
            return format!("{head} {{\n{yes}}}\n");
        }
        let no = self.scoped(|this| this.statements(1, 2));
        format!("{head} {{\n{yes}}} else {{\n{no}}}\n")
    }

    /// A jump out of something, under a condition.
    pub(crate) fn exit(&mut self) -> String {
        let condition = self.boolean(2);
        let before = if self.random.chance(25) { self.told() } else { String::new() };
        let Some(jump) = self.jump() else { return self.told() };
        format!("if {condition} {{\n{before}{jump};\n}}\n")
    }

    /// What leaves: `break`, `continue`, `return`, `?`, a panic. The value of a `break` is the one that is wanted.
    pub(crate) fn jump(&mut self) -> Option<String> {
        let inner = self.targets.last().cloned();
        match self.random.below(12) {
            0..3 => {
                let target = inner.filter(|target| target.is_loop)?;
                self.forms.note("break");
                self.breaking(String::new(), target.value)
            }
            3..5 => {
                inner.filter(|target| target.is_loop)?;
                self.forms.note("continue");
                Some("continue".to_owned())
            }
            5..7 => {
                let target = self.labelled(|_| true)?;
                self.forms.note("break label");
                self.breaking(format!(" {}", target.0), target.1)
            }
            7..9 => {
                let target = self.labelled(|is_loop| is_loop)?;
                self.forms.note("continue label");
                Some(format!("continue {}", target.0))
            }
            9 | 10 => Some(self.returning()),
            _ => {
                self.forms.note("panic");
                let number = self.without_blocks(|this| this.i32(1));
                Some(format!("panic!(\"wrong {{}}\", {number})"))
            }
        }
    }

    pub(crate) fn labelled(&mut self, fits: impl Fn(bool) -> bool) -> Option<(String, Option<Kind>)> {
        let fitting = self.targets.iter().filter(|target| fits(target.is_loop));
        let labels =
            fitting.filter_map(|target| Some((target.label.clone()?, target.value))).collect::<Vec<_>>();
        if labels.is_empty() { None } else { Some(self.random.pick(&labels).clone()) }
    }

    pub(crate) fn breaking(&mut self, label: String, value: Option<Kind>) -> Option<String> {
        let Some(kind) = value else { return Some(format!("break{label}")) };
        self.forms.note("break value");
        let value = self.without_blocks(|this| this.expression(kind, 1));
        Some(format!("break{label} {value}"))
    }

    pub(crate) fn returning(&mut self) -> String {
        self.forms.note(if self.is_in_loop() { "return in loop" } else { "return" });
        if self.is_in_closure() {
            let value = self.without_blocks(|this| this.i32(1));
            return format!("return {value}");
        }
        let value = self.returned(1);
        format!("return {value}")
    }

    /// What the function gives.
    pub(crate) fn returned(&mut self, depth: usize) -> String {
        match self.returns {
            Kind::Items => {
                let ints = self.without_blocks(|this| this.expression(Kind::Ints, 0));
                format!("{ints}.into_iter()")
            }
            Kind::Slice => {
                // Only an argument lives long enough; its name is its own.
                format!("&slice_in[slice_in.len() / {}..]", self.random.between(1, 4))
            }
            kind => self.expression(kind, depth),
        }
    }

    /// A change to something that is not a plain number.
    pub(crate) fn mutation(&mut self) -> String {
        match self.random.below(8) {
            0 | 1 => {
                let kind = if self.random.chance(70) { Kind::Ints } else { Kind::IntsMut };
                let Some(id) = self.writable(kind) else { return self.assignment() };
                let ints = self.scopes.write(id);
                let value = self.while_held(id, State::Shared, |this| this.i32(2));
                format!("{ints}.push({value});\n")
            }
            2 => {
                let kinds = [Kind::Ints, Kind::SliceMut, Kind::IntsMut];
                let Some(id) = kinds.into_iter().find_map(|kind| self.writable(kind)) else {
                    return self.assignment();
                };
                let value = self.i32(2);
                let ints = self.scopes.write(id);
                let (at, length) = (self.small(7), self.random.chance(80));
                if length {
                    return format!(
                        "if !{ints}.is_empty() {{ let at = {at} % {ints}.len(); {ints}[at] = {value}; }}\n"
                    );
                }
                self.forms.note("panic index");
                format!("{ints}[{at}] ^= {value};\n")
            }
            3 => {
                let Some(id) = self.writable(Kind::Array) else { return self.assignment() };
                let value = self.i32(2);
                let array = self.scopes.write(id);
                let at = self.small(3);
                format!("{array}[{at}] = {value};\n")
            }
            4 => {
                let Some(id) = self.writable(Kind::Map) else { return self.assignment() };
                self.forms.note("map");
                let map = self.scopes.write(id);
                let (key, value) = self.while_held(id, State::Taken, |this| (this.i32(1), this.i32(1)));
                if self.random.chance(50) {
                    return format!("*{map}.entry({key} & 7).or_insert(0) ^= {value};\n");
                }
                format!("note({map}.insert({key} & 7, {value}));\n")
            }
            5 => {
                let Some(id) = self.writable(Kind::Text) else { return self.assignment() };
                let text = self.scopes.write(id);
                let number = self.while_held(id, State::Taken, |this| this.i32(1));
                format!("{text}.push_str(&({number} & 31).to_string());\n")
            }
            6 => {
                let Some(id) = self.writable(Kind::Louds) else { return self.assignment() };
                let louds = self.scopes.write(id);
                let loud = self.while_held(id, State::Taken, |this| this.loud(1));
                format!("{louds}.push({loud});\n")
            }
            _ => {
                let Some(id) = self.writable(Kind::MaybeLoud) else { return self.assignment() };
                let value = self.while_held(id, State::Taken, |this| this.expression(Kind::MaybeLoud, 1));
                let slot = self.scopes.write(id);
                format!("{slot} = {value};\n")
            }
        }
    }

    /// Something whose drop is seen.
    pub(crate) fn guard_value(&mut self) -> String {
        self.forms.note("drop guard");
        let kind = *self.random.pick(&[Kind::Loud, Kind::Loud, Kind::MaybeLoud, Kind::Louds]);
        let value = self.expression(kind, 1);
        if self.random.chance(15) {
            return format!("let _ = {value};\n");
        }
        let name = self.name();
        let is_mut = self.random.chance(50);
        self.scopes.declare(&name, kind, is_mut);
        format!("let {}{name}: {} = {value};\n", if is_mut { "mut " } else { "" }, kind.name())
    }

    pub(crate) fn block(&mut self) -> String {
        let body = self.scoped(|this| this.statements(1, 3));
        format!("{{\n{body}}}\n")
    }

    pub(crate) fn match_statement(&mut self) -> String {
        let value = self.i32(2);
        let arm = |this: &mut Self| this.scoped(|this| this.statements(1, 2));
        let (first, second, third) = (arm(self), arm(self), arm(self));
        let guard = self.boolean(1);
        self.forms.note("match guard");
        format!(
            "match {value} & 3 {{\n0 => {{\n{first}}}\n1 if {guard} => {{\n{second}}}\n_ => {{\n{third}}}\n}}\n"
        )
    }
}
