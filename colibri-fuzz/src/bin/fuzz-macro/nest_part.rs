//! The parts of a nest that are no loops themselves, or only place one.

use crate::generator::Generator;
use crate::kind::{Int, Kind};
use crate::nest::Nest;
use crate::scope::{Id, State};

impl Generator {
    /// A loop in a branch, an arm or a block: it is not always run, and something follows it.
    pub(crate) fn placed_loop(&mut self) -> String {
        self.forms.note("nest placed loop");
        let (before, first) = self.scoped(|this| (this.statements(0, 1), this.nest_loop()));
        match self.random.below(5) {
            0 => {
                let (condition, after) = (self.boolean(1), self.scoped(|this| this.statements(0, 1)));
                format!("if {condition} {{\n{before}{first}}} else {{\n{after}}}\n")
            }
            1 => {
                let (condition, second) = (self.boolean(1), self.scoped(Self::nest_loop));
                format!("if {condition} {{\n{before}{first}}} else {{\n{second}}}\n")
            }
            2 => {
                let (number, second) =
                    (self.without_blocks(|this| this.i32(1)), self.scoped(Self::nest_loop));
                let third = self.scoped(|this| this.statements(0, 1));
                format!(
                    "match {number} & 3 {{\n0 | 1 => {{\n{before}{first}}}\n2 => {{\n{second}}}\n_ => {{\n{third}}}\n}}\n"
                )
            }
            3 => {
                let (condition, hidden) = (self.boolean(1), self.unique("g"));
                let number = self.without_blocks(|this| this.i32(0));
                format!(
                    "if {condition} {{\nlet {hidden} = Loud({number} & 63);\n{before}{first}note({hidden}.value());\n}}\n"
                )
            }
            _ => format!("{{\n{before}{first}}}\n"),
        }
    }

    /// Arithmetic on one of the outer numbers: it may overflow, divide by zero, or be out of bounds.
    pub(crate) fn number_change(&mut self) -> String {
        let kinds = [Int::U64, Int::I32, Int::Usize, Int::U64, Int::I32, Int::U8, Int::I64, Int::U32];
        let first = self.random.below(kinds.len());
        let found = (0..kinds.len()).find_map(|step| {
            let int = kinds[(first + step) % kinds.len()];
            Some((int, self.writable(Kind::Int(int))?))
        });
        let Some((int, id)) = found else { return self.told() };
        let value = self.without_blocks(|this| this.expression(Kind::Int(int), 2));
        let loose = self.scopes.get(id).is_loose;
        let name = self.scopes.write(id);
        match self.random.below(12) {
            0 => {
                self.forms.note("panic overflow");
                format!("{name} += {value};\n")
            }
            1 => {
                self.forms.note("panic overflow");
                format!("{name} -= {value} & 1;\n")
            }
            2 => {
                self.forms.note("panic overflow");
                format!("{name} = {value} / {name};\n")
            }
            3..5 => format!("{name} ^= {value};\n"),
            5 => format!("{name} = {value};\n"),
            6 => {
                let condition = self.boolean(1);
                format!("if {condition} {{ {name} = {value}; }}\n")
            }
            _ if loose => format!("{name} |= {value};\n"),
            7 | 8 => format!("{name} = {name}.wrapping_mul(3).wrapping_add({value});\n"),
            9 => format!("{name} = {name}.max({value});\n"),
            _ => format!("{name} = {name}.wrapping_add({value});\n"),
        }
    }

    /// A local of the body: it is alive at the checks of the loops after it.
    pub(crate) fn nest_local(&mut self) -> String {
        const PLAIN: [Kind; 8] = [
            Kind::I32,
            Kind::USIZE,
            Kind::Int(Int::U64),
            Kind::Bool,
            Kind::Float,
            Kind::Array,
            Kind::Pair,
            Kind::Dot,
        ];
        const RICH: [Kind; 7] =
            [Kind::Text, Kind::Ints, Kind::Loud, Kind::Louds, Kind::Big, Kind::MaybeLoud, Kind::MaybeInt];
        let is_rich = self.nest != Some(Nest::Plain) && self.random.chance(40);
        let kind = if is_rich { *self.random.pick(&RICH) } else { *self.random.pick(&PLAIN) };
        let value = self.without_blocks(|this| this.expression(kind, 2));
        let (name, is_mut) = (self.name(), self.random.chance(60));
        self.scopes.declare(&name, kind, is_mut);
        format!("let {}{name}: {} = {value};\n", if is_mut { "mut " } else { "" }, kind.name())
    }

    /// The same name for something new, of the old type or of another one.
    pub(crate) fn shadowed(&mut self) -> String {
        let kinds = [Kind::I32, Kind::USIZE, Kind::Int(Int::U64)];
        let kind = *self.random.pick(&kinds);
        let Some(id) = self.readable(kind) else { return self.nest_local() };
        let name = self.scopes.read(id);
        if name.contains('.') || !self.loose.is_empty() && self.scopes.get(id).is_loose {
            return self.nest_local();
        }
        self.forms.note("shadow");
        let other = *self.random.pick(&kinds);
        let is_mut = self.random.chance(50);
        self.scopes.declare(&name, other, is_mut);
        let (mutability, ty) = (if is_mut { "mut " } else { "" }, other.name());
        format!("let {mutability}{name}: {ty} = ({name} as {ty}).wrapping_add({});\n", self.random.below(5))
    }

    /// A local that gets its value after its declaration, before or inside a loop.
    pub(crate) fn late_local(&mut self) -> String {
        self.forms.note("late init");
        let (name, condition) = (self.unique("late"), self.boolean(1));
        let kind = *self.random.pick(if self.nest == Some(Nest::Plain) {
            &[Kind::I32, Kind::USIZE]
        } else {
            &[Kind::I32, Kind::Loud, Kind::Text, Kind::Big]
        });
        // Written first, since it may move what the value would use.
        let between = self.scoped(|this| this.statements(0, 1));
        let (yes, no) = (
            self.without_blocks(|this| this.expression(kind, 1)),
            self.without_blocks(|this| this.expression(kind, 0)),
        );
        self.scopes.declare(&name, kind, false);
        let ty = kind.name();
        format!(
            "let {name}: {ty};\nif {condition} {{\n{{\n{between}}}\n{name} = {yes};\n}} else {{\n{name} = {no};\n}}\n"
        )
    }

    /// Copies with arithmetic.
    pub(crate) fn dot_change(&mut self) -> String {
        let Some(id) = self.writable(Kind::Dot) else { return self.number_change() };
        let value = self.without_blocks(|this| this.expression(Kind::Dot, 1));
        let number = self.without_blocks(|this| this.i32(1));
        let name = self.scopes.write(id);
        match self.random.below(4) {
            0 => format!("{name} = {name} + {value};\n"),
            1 => format!("{name} += {value};\n"),
            2 => format!("{name}.x = {number};\n"),
            _ => format!("{name} = Dot {{ y: {number}, ..{name} }};\n"),
        }
    }

    /// Vectors that change places, are taken away or replaced.
    pub(crate) fn exchanged(&mut self) -> String {
        let Some(first) = self.writable(Kind::Ints) else { return self.number_change() };
        let others = self
            .scopes
            .all(|variable| variable.kind == Kind::Ints && variable.state == State::Free && variable.is_mut);
        let second = others.into_iter().find(|&id| id != first);
        let a = self.scopes.write(first);
        match (self.random.below(6), second) {
            (0..3, Some(second)) => {
                let b = self.scopes.write(second);
                format!("std::mem::swap(&mut {a}, &mut {b});\n")
            }
            (3, _) => format!("{a} = std::mem::take(&mut {a}).into_iter().rev().collect();\n"),
            (4, _) => format!("{a}.truncate({});\n", self.random.below(4)),
            _ => {
                let value =
                    self.while_held(first, State::Taken, |this| this.without_blocks(|this| this.ints(0)));
                format!("{a} = {value};\n")
            }
        }
    }

    /// Uses of the variables whose types are not known yet.
    pub(crate) fn loosely(&mut self) -> String {
        if self.loose.is_empty() || self.is_in_closure() {
            return self.number_change();
        }
        let pattern = self.random.pick(&self.loose).clone();
        let value = match self.receiver(Kind::I32) {
            Some(id) => self.scopes.read(id),
            None => "3i32".to_owned(),
        };
        pattern.replace("{}", &value)
    }

    /// Numbers that are moved: `acc = acc + x.clone()`.
    pub(crate) fn big_change(&mut self) -> String {
        self.forms.note("nest big");
        let Some(id) = self.writable(Kind::Big) else { return self.nest_local() };
        let value = self.while_held(id, State::Taken, |this| this.without_blocks(|this| this.big(1)));
        let number = self.without_blocks(|this| this.i32(1));
        let name = self.scopes.write(id);
        match self.random.below(5) {
            0 => format!("{name} = {name} + {value};\n"),
            1 => format!("{name} = {name} * &{value};\n"),
            2 => format!("{name} += {number};\n"),
            3 => {
                let before = self.unique("before");
                format!("let {before} = {name};\n{name} = {before}.clone() + {value};\n")
            }
            _ => format!("{name} = {value};\n"),
        }
    }

    /// An outer value is moved away, and the loop that it was declared outside of is left.
    pub(crate) fn moved_out(&mut self) -> String {
        let (depth, closures) = self.scopes.depth;
        let fitting = self.scopes.all(|variable| {
            matches!(variable.kind, Kind::Loud | Kind::Big | Kind::Ints | Kind::Text | Kind::Louds)
                && variable.state == State::Free
                && variable.depth.1 == closures
                && variable.depth.0 < depth
                && !variable.name.contains('.')
        });
        if fitting.is_empty() {
            return self.exit();
        }
        let id = *self.random.pick(&fitting);
        let Some(jump) = self.jump_for_good(id) else { return self.exit() };
        self.forms.note("nest move out");
        let condition = self.boolean(1);
        let before = self.scoped(|this| this.statements(0, 1));
        if self.scopes.get(id).state != State::Free {
            return before;
        }
        let name = self.scopes.take(id);
        format!("if {condition} {{\n{{\n{before}}}\ndrop({name});\n{jump};\n}}\n")
    }

    /// A jump after which no iteration of a loop that is inside the scope of `id` runs again.
    fn jump_for_good(&mut self, id: Id) -> Option<String> {
        let outside = self.scopes.get(id).depth.0;
        let loops = self.targets.iter().filter(|target| target.is_loop).cloned().collect::<Vec<_>>();
        // In a closure the outer loops are no targets; a condition is like a body, but no target.
        if loops.len() != self.scopes.depth.0 {
            return None;
        }
        let first = loops.get(outside)?.clone();
        if self.random.chance(25) && self.returns == Kind::Unit && !self.is_in_closure() {
            return Some("return".to_owned());
        }
        match (&first.label, first.value) {
            (_, Some(_)) => None,
            (Some(label), None) => Some(format!("break {label}")),
            (None, None) if loops.len() == outside + 1 && self.targets.last()?.is_loop => {
                Some("break".to_owned())
            }
            _ => None,
        }
    }

    /// A number that is moved.
    pub(crate) fn big(&mut self, depth: usize) -> String {
        if let Some(id) = self.movable(Kind::Big)
            && self.random.chance(25)
        {
            return self.scopes.take(id);
        }
        let number = self.without_blocks(|this| this.int(Int::I32, depth.min(1)));
        match self.readable(Kind::Big) {
            Some(id) if self.random.chance(50) => {
                let name = self.scopes.read(id);
                if self.random.chance(50) {
                    format!("({name}.clone() + Big::of({number}))")
                } else {
                    format!("{name}.clone()")
                }
            }
            _ => format!("Big::of({number})"),
        }
    }
}
