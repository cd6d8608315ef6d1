//! Loops with a condition, and those without any.

use crate::generator::{Generator, Target};
use crate::kind::Kind;
use crate::looping::Tick;
use crate::scope::State;

impl Generator {
    pub(crate) fn int_argument(&mut self) -> String {
        self.expression(Kind::I32, 1)
    }

    /// Something in the head of a `while`: it runs as often as the body, and no jump without a label may stand in it.
    pub(crate) fn condition(&mut self, write: impl FnOnce(&mut Self) -> String) -> String {
        self.scopes.depth.0 += 1;
        self.targets.push(Target { label: None, value: None, is_loop: false });
        let before = std::mem::replace(&mut self.is_in_condition, true);
        let condition = self.scoped(write);
        self.is_in_condition = before;
        self.targets.pop();
        self.scopes.depth.0 -= 1;
        condition
    }

    pub(crate) fn while_loop(&mut self) -> String {
        match self.random.below(9) {
            0 => {
                self.forms.note("while");
                let condition = self.condition(|this| this.boolean(2));
                self.looped(&format!("while {condition}"), Tick::Hard, |_| {})
            }
            1 => {
                self.forms.note("while block condition");
                let condition = self.condition(|this| {
                    let statements = this.statements(1, 2);
                    format!("{{\n{statements}{}\n}}", this.boolean(1))
                });
                self.looped(&format!("while {condition}"), Tick::Hard, |_| {})
            }
            2 | 6..=8 => {
                self.forms.note("while temporary");
                let number = self.condition(Self::int_argument);
                let condition = self.condition(|this| this.boolean(1));
                // So that one sees whether the temporary ended before.
                self.looped_with(
                    &format!("while Loud({number} & 63).is({condition})"),
                    Tick::Hard,
                    |_| {},
                    |_| "note(7u8);\n".to_owned(),
                )
            }
            3 => {
                let (name, end) = (self.unique("w"), self.small(7));
                self.forms.note("while empty");
                let tick = self.tick(Tick::Soft);
                // The condition does all the work.
                format!("let mut {name} = 0..{end};\nwhile {name}.next().is_some() {{\n{tick}}}\n")
            }
            _ => {
                self.forms.note("while counter");
                let (name, start) = (self.unique("n"), self.small(7));
                let id = self.scopes.declare(&name, Kind::USIZE, true);
                let is_first = self.random.chance(50);
                let head = format!("while {name} > 0");
                let body = self.looped_with(
                    &head,
                    Tick::Hard,
                    |_| {},
                    |this| {
                        if is_first {
                            return format!("{name} -= 1;\n");
                        }
                        let (condition, more) = (this.boolean(1), this.scoped(|this| this.statements(0, 2)));
                        format!("{name} = {name}.wrapping_sub(1);\nif {condition} {{\n{more}}}\n")
                    },
                );
                self.scopes.make_loose(id);
                format!("let mut {name} = {start};\n{body}")
            }
        }
    }

    pub(crate) fn while_let_loop(&mut self) -> String {
        let name = self.name();
        match self.random.below(8) {
            0 => {
                self.forms.note("while let pop");
                let (first, id) = self.provide(Kind::Ints);
                let items = self.scopes.write(id);
                let head = format!("while let Some({name}) = {items}.pop()");
                let body = self.looped(&head, Tick::Hard, |this| {
                    this.scopes.declare(&name, Kind::I32, false);
                });
                format!("{first}{body}")
            }
            1 => {
                self.forms.note("while let pop");
                let (first, id) = self.provide(Kind::Louds);
                let items = self.scopes.write(id);
                let head = format!("while let Some({name}) = {items}.pop()");
                let body = self.looped(&head, Tick::Hard, |this| {
                    this.scopes.declare(&name, Kind::Loud, false);
                });
                format!("{first}{body}")
            }
            2 => {
                self.forms.note("while let next");
                let (iterator, items) = (self.unique("it"), self.expression(Kind::Ints, 1));
                let condition = if self.has_chains && self.random.chance(40) {
                    self.forms.note("while let chain");
                    let inner = self.condition(|this| this.boolean(1));
                    format!(" && {inner}")
                } else {
                    String::new()
                };
                let head = format!("while let Some({name}) = {iterator}.next(){condition}");
                let body = self.looped(&head, Tick::Soft, |this| {
                    this.scopes.declare(&name, Kind::I32, false);
                });
                format!("let mut {iterator}: std::vec::IntoIter<i32> = {items}.into_iter();\n{body}")
            }
            3 => {
                self.forms.note("while let take");
                let (first, id) = self.provide(Kind::MaybeLoud);
                let slot = self.scopes.write(id);
                let head = format!("while let Some({name}) = {slot}.take()");
                let body = self.looped(&head, Tick::Hard, |this| {
                    this.scopes.declare(&name, Kind::Loud, false);
                });
                format!("{first}{body}")
            }
            4 => {
                self.forms.note("while let temporary");
                let number = self.condition(Self::int_argument);
                let condition = self.condition(|this| this.boolean(1));
                let head = format!("while let Some({name}) = Loud({number} & 63).some({condition})");
                self.looped_with(&head, Tick::Hard, |_| {}, |_| format!("note({name}.value());\n"))
            }
            5 => {
                self.forms.note("while moved condition");
                let (slot, start) = (self.unique("slot"), self.loud(1));
                let part = self.unique("part");
                let head = format!("while let Some({part}) = {slot}");
                let body = self.looped_with(
                    &head,
                    Tick::Hard,
                    |_| {},
                    |this| {
                        let statements = this.statements(0, 2);
                        // An exit between the move and the return of the value would be refused where the slot is used after.
                        format!("{slot} = {part}.smaller();\n{statements}")
                    },
                );
                format!("let mut {slot} = Some({start});\n{body}")
            }
            6 => {
                self.forms.note("while let slice");
                let (rest, items) = (self.unique("rest"), self.slice_argument());
                let held = self
                    .scopes
                    .all(|variable| matches!(variable.kind, Kind::Ints | Kind::IntsMut | Kind::SliceMut));
                let before = held.iter().map(|&id| self.scopes.raise(id, State::Shared)).collect::<Vec<_>>();
                let head = format!("while let [{name}, tail @ ..] = {rest}");
                let body = self.looped_with(
                    &head,
                    Tick::Soft,
                    |this| {
                        this.scopes.declare(&name, Kind::I32, false);
                    },
                    |_| format!("let {name} = *{name};\n{rest} = tail;\n"),
                );
                for (id, state) in held.into_iter().zip(before) {
                    self.scopes.restore(id, state);
                }
                format!("let mut {rest}: &[i32] = {items};\n{body}")
            }
            _ => self.list_loop(),
        }
    }

    pub(crate) fn list_loop(&mut self) -> String {
        let (current, node) = (self.unique("cur"), self.unique("node"));
        if self.random.chance(45) {
            let (first, id) = self.provide(Kind::List);
            self.forms.note("while let list mut");
            let list = self.scopes.write(id);
            return self.while_held(id, State::Taken, |this| {
                let head = format!("while let Some({node}) = {current}");
                let body = this.looped_with(&head, Tick::Soft, |_| {}, |this| {
                    let number = this.expression(Kind::I32, 1);
                    format!(
                        "{node}.value = {node}.value.wrapping_mul(3).wrapping_add({number});\n{current} = {node}.next.as_deref_mut();\n"
                    )
                });
                format!("{first}let mut {current} = {list}.as_deref_mut();\n{body}")
            });
        }
        let lists = self.scopes.all(|variable| {
            matches!(variable.kind, Kind::List | Kind::ListRef) && variable.state <= State::Shared
        });
        let (first, id) = match lists.first() {
            Some(&id) => (String::new(), id),
            None => self.provide(Kind::List),
        };
        self.forms.note("while let list");
        let list = self.scopes.read(id);
        let name = self.name();
        self.while_held(id, State::Shared, |this| {
            let head = format!("while let Some({node}) = {current}");
            let body = this.looped_with(
                &head,
                Tick::Soft,
                |this| {
                    this.scopes.declare(&name, Kind::I32, false);
                },
                |_| format!("let {name} = {node}.value;\n{current} = {node}.next.as_deref();\n"),
            );
            format!("{first}let mut {current} = {list}.as_deref();\n{body}")
        })
    }

    pub(crate) fn endless_loop(&mut self) -> String {
        self.forms.note("loop");
        let bound = self.random.chance(70).then(|| self.unique("turn"));
        let Some(turn) = bound else {
            return self.looped_with(
                "loop",
                Tick::Hard,
                |_| {},
                |this| {
                    let condition = this.boolean(2);
                    format!("if {condition} {{ break; }}\n")
                },
            );
        };
        let end = self.small(7);
        let body = self.looped_with(
            "loop",
            Tick::Hard,
            |_| {},
            |_| format!("{turn} += 1;\nif {turn} > limit_{turn} {{ break; }}\n"),
        );
        format!("let mut {turn} = 0;\nlet limit_{turn} = {end};\n{body}")
    }
}
