//! Statements that keep something borrowed, or end it.

use crate::generator::Generator;
use crate::kind::Kind;
use crate::scope::State;

impl Generator {
    /// A closure, which keeps what it captures borrowed.
    pub(crate) fn closure(&mut self) -> String {
        if self.is_in_closure() {
            return self.told();
        }
        let (name, argument) = (self.unique("c"), self.unique("q"));
        let targets = std::mem::take(&mut self.targets);
        self.scopes.begin_capture();
        self.scopes.depth.1 += 1;
        let loops = std::mem::replace(&mut self.scopes.depth.0, 1);
        let has_loop = self.random.chance(50);
        let body = self.scoped(|this| {
            this.scopes.declare(&argument, Kind::I32, false);
            let looping = if has_loop {
                this.forms.note("closure loop");
                this.any_loop()
            } else {
                String::new()
            };
            let (statements, value) = (this.statements(0, 2), this.i32(2));
            format!("{looping}{statements}{value}")
        });
        self.scopes.depth.0 = loops;
        self.scopes.depth.1 -= 1;
        let capture = self.scopes.end_capture();
        self.targets = targets;
        if !capture.read.is_empty() || !capture.written.is_empty() {
            self.forms.note("closure capture");
        }
        for id in capture.read {
            self.scopes.lock(id, State::Shared);
        }
        for id in capture.written {
            self.scopes.lock(id, State::Taken);
        }
        self.scopes.declare(&name, Kind::Closure, true);
        format!("let mut {name} = |{argument}: i32| -> i32 {{\n{body}\n}};\n")
    }

    /// A reference that stays for the rest of the block, or for some statements.
    pub(crate) fn borrow(&mut self) -> String {
        let name = self.unique("r");
        let (id, kind, value, state) = match self.random.below(5) {
            0 => {
                let Some(id) = self.any_ints() else { return self.told() };
                let ints = self.scopes.read(id);
                let value =
                    if self.scopes.get(id).kind == Kind::Slice { ints } else { format!("&{ints}[..]") };
                (id, Kind::Slice, value, State::Shared)
            }
            1 => match self.writable(Kind::Ints) {
                Some(id) => (id, Kind::IntsMut, format!("&mut {}", self.scopes.write(id)), State::Taken),
                None => return self.told(),
            },
            2 => match self.writable(Kind::IntsMut) {
                Some(id) => (id, Kind::IntsMut, format!("&mut *{}", self.scopes.write(id)), State::Taken),
                None => return self.told(),
            },
            3 => match self.writable(Kind::I32) {
                Some(id) => (id, Kind::IntMut, format!("&mut {}", self.scopes.write(id)), State::Taken),
                None => return self.told(),
            },
            _ => match self.writable(Kind::Array) {
                Some(id) => {
                    (id, Kind::SliceMut, format!("&mut {}[1..]", self.scopes.write(id)), State::Taken)
                }
                None => return self.told(),
            },
        };
        self.forms.note(if state == State::Shared { "borrow" } else { "borrow mut" });
        self.scopes.lock(id, state);
        let reference = self.scopes.declare(&name, kind, false);
        let mut text = format!("let {name}: {} = {value};\n", kind.name());
        if self.random.chance(50) {
            // It ends here, and what it borrowed can be used again.
            if self.scopes.depth.0 < 3 && self.left > 2 {
                self.forms.note("borrow across loop");
                text.push_str(&self.scoped(Self::any_loop));
            }
            text.push_str(&self.statements(0, 2));
            let last = match kind {
                Kind::IntMut => format!("note(*{name});\n"),
                _ => format!("note({name}.len());\n"),
            };
            text.push_str(&last);
            self.scopes.retire(reference);
            self.scopes.unlock(id);
        }
        text
    }

    /// The explicit end of a value.
    pub(crate) fn ending(&mut self) -> String {
        let kind = *self.random.pick(&[Kind::Loud, Kind::MaybeLoud, Kind::Louds]);
        let Some(id) = self.movable(kind) else { return self.told() };
        self.forms.note("drop explicit");
        let name = self.scopes.take(id);
        if self.random.chance(40) {
            self.forms.note("move conditional");
            let condition = self.boolean(1);
            return format!("if {condition} {{ drop({name}); }}\n");
        }
        format!("drop({name});\n")
    }
}
