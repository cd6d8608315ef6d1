//! Loop nests: what an optimising lowering moves, copies, leaves in the middle and enters again. So they are dense with
//! inner loops, jumps between all depths, and locals of every type that are alive at the checks.

use crate::generator::Generator;
use crate::kind::{Int, Kind};
use crate::looping::Tick;
use crate::scope::State;

/// What is declared in front of a nest and used in it.
const OUTER: [Kind; 21] = [
    Kind::I32,
    Kind::I32,
    Kind::Int(Int::U64),
    Kind::Int(Int::U64),
    Kind::USIZE,
    Kind::USIZE,
    Kind::Int(Int::U8),
    Kind::Float,
    Kind::Bool,
    Kind::Ints,
    Kind::Ints,
    Kind::Ints,
    Kind::Array,
    Kind::Text,
    Kind::Loud,
    Kind::Louds,
    Kind::MaybeLoud,
    Kind::Big,
    Kind::Big,
    Kind::Dot,
    Kind::Pair,
];

/// How a nest is written; `None` elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nest {
    /// Numbers and vectors only.
    Plain,
    /// All types, no calls of cooperative functions.
    Rich,
    /// Everything.
    Wild,
}

/// What writes a part of a nest.
type Writer = fn(&mut Generator) -> String;

impl Generator {
    /// A nest of two or three loops, with what it works on before it and a look at that after it.
    pub(crate) fn nest(&mut self) -> String {
        if self.nest.is_some() || self.scopes.depth.0 > 1 {
            return self.any_loop();
        }
        self.forms.note("nest");
        let nest = *self.random.pick(&[Nest::Plain, Nest::Rich, Nest::Rich, Nest::Wild]);
        let (helpers, own) = if nest == Nest::Wild {
            (self.helpers.clone(), self.own.clone())
        } else {
            (std::mem::take(&mut self.helpers), self.own.take())
        };
        let (mut text, mut outer) = (String::new(), Vec::new());
        for _ in 0..self.random.between(2, 5) {
            let kind = *self.random.pick(&OUTER);
            if nest == Nest::Plain && !kind.is_copy() && kind != Kind::Ints {
                continue;
            }
            let value = self.without_blocks(|this| this.expression(kind, 1));
            let name = self.unique("o");
            outer.push(self.scopes.declare(&name, kind, true));
            text.push_str(&format!("let mut {name}: {} = {value};\n", kind.name()));
        }
        self.is_tight = nest != Nest::Wild && self.random.chance(70);
        let late = self.late_types();
        text.push_str(&late.0);
        let before = std::mem::replace(&mut self.left, self.random.between(5, 14) as i32);
        self.nest = Some(nest);
        self.around = self.scopes.depth.0;
        let blocks = std::mem::replace(&mut self.has_blocks, !self.is_tight);
        text.push_str(&self.nest_loop());
        (self.nest, self.is_tight, self.has_blocks) = (None, false, blocks);
        self.left = before.min(self.left + before);
        (self.helpers, self.own) = (helpers, own);
        self.loose.clear();
        text.push_str(&late.1);
        for id in outer {
            let variable = self.scopes.get(id);
            if variable.state == State::Free && self.random.chance(70) {
                let sign = if variable.kind.is_copy() { "" } else { "&" };
                text.push_str(&format!("note({sign}{});\n", variable.name));
            }
        }
        text
    }

    /// Whether the body that is about to be written must have loops: it is the outermost one's, or now and then the next.
    pub(crate) fn owes_loops(&mut self) -> bool {
        let is_body = self.targets.last().is_some_and(|target| target.is_loop);
        match self.scopes.depth.0.saturating_sub(self.around) {
            1 => is_body && self.left > 0,
            2 => is_body && self.left > 3 && self.random.chance(35),
            _ => false,
        }
    }

    /// Locals, then loops with something before, between and after them.
    pub(crate) fn nest_body(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.random.below(3) {
            text.push_str(&if self.random.chance(80) { self.nest_local() } else { self.late_local() });
        }
        for _ in 0..self.random.between(1, 2) {
            self.left -= 2;
            if self.random.chance(50) {
                text.push_str(&self.nest_statement());
            }
            text.push_str(&if self.random.chance(65) { self.nest_loop() } else { self.placed_loop() });
        }
        for _ in 0..self.random.below(3) {
            self.left -= 1;
            text.push_str(&self.nest_statement());
        }
        text
    }

    /// Variables whose types are found out inside the nest, or after it; and what uses them at last.
    fn late_types(&mut self) -> (String, String) {
        match self.random.below(if self.is_tight { 12 } else { 4 }) {
            0 => {
                let name = self.unique("found");
                self.loose.push(format!("{name} = Some({{}});\n"));
                self.loose.push(format!("if {name} < Some({{}}) {{ {name} = Some({{}}); }}\n"));
                (format!("let mut {name} = None;\n"), format!("note({name}.map_or(0i32, |q| q));\n"))
            }
            1 => {
                let name = self.unique("out");
                self.loose.push(format!("{name}.push({{}});\n"));
                self.loose.push(format!("{name}.push({{}} ^ 1);\n"));
                (
                    format!("let mut {name} = Vec::new();\n"),
                    format!("{name}.push(0i32);\nnote({name}.iter().copied().max());\n"),
                )
            }
            2 => {
                let name = self.unique("most");
                self.loose.push(format!("{name} = {{}}.max({name});\n"));
                (format!("let mut {name} = 0;\n"), format!("note({name});\n"))
            }
            _ => (String::new(), String::new()),
        }
    }

    /// A loop whose type decides how it is lowered, with a body that is a nest's.
    pub(crate) fn nest_loop(&mut self) -> String {
        self.forms.note("nest loop");
        if self.is_tight && self.random.chance(85) {
            self.forms.note("nest tight");
            return match self.random.below(12) {
                0..5 => self.range_loop(),
                5..7 => self.collection_loop(),
                7..10 => self.counted_while(),
                10 => self.stack_loop(),
                _ => self.euclid(),
            };
        }
        match self.random.below(20) {
            0..4 => self.range_loop(),
            4..7 => self.collection_loop(),
            7..10 => self.counted_while(),
            10 | 11 => self.stack_loop(),
            12 => self.euclid(),
            13 => self.consuming_loop(),
            14 => self.adapter_loop(),
            15 => self.while_let_loop(),
            16 => self.endless_loop(),
            17 => self.while_loop(),
            18 => self.guarded_loop(),
            _ if self.nest == Some(Nest::Plain) => self.constant_loop(),
            _ => self.temporary_loop(),
        }
    }

    /// `while i < end && .. { i += 1; .. }`: it surely ends, whatever the body does.
    fn counted_while(&mut self) -> String {
        self.forms.note("while counter");
        let (name, most) = (self.unique("i"), if self.scopes.depth.0 > 1 { 3 } else { 7 });
        let end = self.condition(|this| this.small(most));
        let int = *self.random.pick(&[Int::Usize, Int::I32, Int::U64, Int::U8]);
        let condition =
            if self.random.chance(30) { format!(" && {}", self.boolean(1)) } else { String::new() };
        let step = self.random.between(1, 2);
        let ty = int.name();
        let head = format!("while {name} < {end} as {ty}{condition}");
        let body = self.looped_with(
            &head,
            Tick::Soft,
            |this| {
                this.scopes.declare(&name, Kind::Int(int), false);
            },
            |_| format!("{name} += {step};\n"),
        );
        let id = self.scopes.declare(&name, Kind::Int(int), false);
        self.scopes.make_loose(id);
        format!("let mut {name}: {ty} = {};\n{body}", self.random.below(2))
    }

    /// A walk with a stack that grows meanwhile.
    fn stack_loop(&mut self) -> String {
        self.forms.note("while let pop");
        let (stack, top, hard) = (self.unique("stack"), self.unique("top"), self.tick(Tick::Hard));
        let (start, push) = (self.without_blocks(|this| this.i32(1)), self.unique("half"));
        let body = self.looped_with(
            &format!("while let Some({top}) = {stack}.pop()"),
            Tick::Soft,
            |this| {
                this.scopes.declare(&top, Kind::I32, false);
            },
            |_| {
                format!(
                    "{hard}if {top} > 1 {{\nlet {push} = {top} / 2;\n{stack}.push({push});\n{stack}.push({push} - 1);\n}}\n"
                )
            },
        );
        // The tick of the loop is the one inside.
        let body = body.replacen("soft_tick();\n", "", 1);
        format!("let mut {stack} = vec![{start} & 15];\n{body}")
    }

    /// A loop without calls: only numbers, until one of them is zero.
    fn euclid(&mut self) -> String {
        let (a, b, rest, soft) =
            (self.unique("a"), self.unique("b"), self.unique("rest"), self.tick(Tick::Soft));
        let (first, second) = (
            self.without_blocks(|this| this.expression(Kind::Int(Int::U32), 1)),
            self.without_blocks(|this| this.expression(Kind::Int(Int::U32), 1)),
        );
        self.scopes.declare(&a, Kind::Int(Int::U32), true);
        format!(
            "let (mut {a}, mut {b}): (u32, u32) = ({first}, {second});\nwhile {b} != 0 {{\n{soft}let {rest} = {a} % {b};\n{a} = {b};\n{b} = {rest};\n}}\n"
        )
    }

    /// A loop in the arm of something whose scrutinee holds a guard.
    pub(crate) fn guarded_loop(&mut self) -> String {
        self.forms.note("nest guard");
        let (cell, name, at) = (self.unique("cell"), self.unique("x"), self.small(3));
        let start = self.without_blocks(|this| this.expression(Kind::Ints, 1));
        let start = format!("({start} as Vec<i32>)");
        let head = match self.random.below(4) {
            0 => format!("if let Some(&{name}) = {cell}.borrow().get({at})"),
            1 => format!("while let Some({name}) = {cell}.borrow_mut().pop()"),
            2 => format!("for {name} in {cell}.borrow().iter().copied()"),
            _ => format!(
                "if let Some({name}) = Loud({at} as i32).some({}).map(|l| l.value())",
                self.boolean(1)
            ),
        };
        if head.starts_with("if") {
            let (inner, other) = (
                self.scoped(|this| {
                    this.scopes.declare(&name, Kind::I32, false);
                    this.nest_loop()
                }),
                self.scoped(|this| this.statements(0, 2)),
            );
            // As the last expression of a block in edition 2021 the guard would live longer than the cell.
            let end = if self.has_chains { String::new() } else { format!("note({cell}.borrow().len());\n") };
            return format!(
                "let {cell} = std::cell::RefCell::new({start});\n{head} {{\n{inner}note(({name}, {cell}.try_borrow_mut().is_ok()));\n}} else {{\n{other}}}\n{end}"
            );
        }
        let body = self.looped_with(
            &head,
            Tick::Soft,
            |this| {
                this.scopes.declare(&name, Kind::I32, false);
            },
            |_| format!("note({cell}.try_borrow_mut().is_ok());\n"),
        );
        format!("let {cell} = std::cell::RefCell::new({start});\n{body}")
    }

    /// A statement of a nest.
    pub(crate) fn nest_statement(&mut self) -> String {
        let depth = self.scopes.depth.0;
        let deep = if self.is_tight { [0, 20, 8, 0] } else { [0, 26, 16, 5] };
        let loops = if depth < 4 && self.left > 1 { deep[depth.min(3)] } else { 0 };
        // What keeps a nest where it is, or makes it move in another way, is seldom where it should move.
        let odd = if self.is_tight { 1 } else { 4 };
        let (rich, wild) = match self.nest {
            Some(Nest::Wild) => (1, 8),
            Some(Nest::Rich) => (1, 0),
            _ => (0, 0),
        };
        let choices: [(usize, Writer); 17] = [
            (loops, Self::nest_loop),
            (loops / 2, Self::placed_loop),
            (20, Self::number_change),
            (9, Self::mutation),
            (14, Self::exit),
            (9, Self::nest_local),
            (4, Self::shadowed),
            (4, Self::late_local),
            (6, Self::told),
            (5, Self::dot_change),
            (odd, Self::exchanged),
            (odd, Self::loosely),
            (2 * odd * rich, Self::big_change),
            (odd * rich, Self::moved_out),
            (odd * rich, Self::guard_value),
            (odd * rich, Self::borrow),
            (wild, Self::statement),
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
}
