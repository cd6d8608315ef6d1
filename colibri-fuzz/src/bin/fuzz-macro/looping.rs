//! Loops: every form, with a body of any statements.

use crate::generator::{Generator, Target};
use crate::kind::{Int, Kind};
use crate::scope::State;

/// How the iterations of a loop are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tick {
    /// It might never end: both twins count, and panic in the end.
    Hard,
    /// It surely ends: only the plain twin counts.
    Soft,
    /// Its bounds are literals, or an array's length: it may have no checks.
    Constant,
}

impl Generator {
    /// The statement that counts an iteration here.
    pub(crate) fn tick(&self, tick: Tick) -> &'static str {
        let has_no_checks = self.keeps_loops || self.is_in_closure();
        match tick {
            Tick::Hard if has_no_checks => "guard();\n",
            _ if has_no_checks => "",
            Tick::Hard if self.is_in_condition => "condition_tick();\nguard();\n",
            _ if self.is_in_condition => "condition_tick();\n",
            Tick::Hard => "tick();\n",
            Tick::Soft => "soft_tick();\n",
            Tick::Constant => "constant_tick();\n",
        }
    }

    /// A loop with any head; `bind` declares what the head binds.
    pub(crate) fn looped(&mut self, head: &str, tick: Tick, bind: impl FnOnce(&mut Self)) -> String {
        self.looped_with(head, tick, bind, |_| String::new())
    }

    /// A loop whose body begins with what `first` writes.
    pub(crate) fn looped_with(
        &mut self,
        head: &str,
        tick: Tick,
        bind: impl FnOnce(&mut Self),
        first: impl FnOnce(&mut Self) -> String,
    ) -> String {
        let label = self.random.chance(if self.nest.is_some() { 60 } else { 25 }).then(|| self.unique("'l"));
        if label.is_some() {
            self.forms.note("label");
        }
        let body = self.body(label.clone(), None, |this| {
            bind(this);
            let tick = this.tick(tick);
            let first = first(this);
            let most = if this.scopes.depth.0 > 2 { 2 } else { 4 };
            let statements = this.statements(1, most);
            format!("{tick}{first}{statements}")
        });
        let label = label.map_or(String::new(), |label| format!("{label}: "));
        let begins = if waits_in_condition(head) { "waits_in_condition();\n" } else { "" };
        format!("{begins}{label}{head} {{\n{body}}}\n")
    }

    /// What stands in a loop's braces.
    pub(crate) fn body(
        &mut self,
        label: Option<String>,
        value: Option<Kind>,
        write: impl FnOnce(&mut Self) -> String,
    ) -> String {
        self.scopes.depth.0 += 1;
        match self.scopes.depth.0 {
            2 => self.forms.note("depth 2"),
            3 => self.forms.note("depth 3"),
            4 => self.forms.note("depth 4"),
            _ => {}
        }
        self.targets.push(Target { label, value, is_loop: true });
        let body = self.scoped(write);
        self.targets.pop();
        self.scopes.depth.0 -= 1;
        body
    }

    /// `loop { .. break value .. }`, as an expression.
    pub(crate) fn loop_value(&mut self, kind: Kind) -> String {
        self.forms.note("loop value");
        let label = self.random.chance(50).then(|| self.unique("'v"));
        let inner_label = label.clone();
        let body = self.body(label.clone(), Some(kind), |this| {
            let tick = this.tick(Tick::Hard);
            let before = this.statements(0, 2);
            // They may come to stand in a loop inside, where a jump without a label would mean another one.
            let (condition, value) = this.without_blocks(|this| (this.boolean(1), this.expression(kind, 1)));
            let end = this.small(3);
            let after = this.statements(0, 2);
            match inner_label {
                Some(label) if this.random.chance(60) => {
                    this.forms.note("loop labelled value");
                    let soft = this.tick(Tick::Soft);
                    format!(
                        "{tick}{before}for _ in 0..{end} {{\n{soft}if {condition} {{ break {label} {value}; }}\n}}\n{after}"
                    )
                }
                _ => format!("{tick}{before}if {condition} {{ break {value}; }}\n{after}"),
            }
        });
        match label {
            Some(label) => format!("({label}: loop {{\n{body}}})"),
            None => format!("loop {{\n{body}}}"),
        }
    }

    /// A loop as a statement.
    pub(crate) fn any_loop(&mut self) -> String {
        match self.random.below(40) {
            0..5 => self.range_loop(),
            5..7 => self.constant_loop(),
            7..13 => self.collection_loop(),
            13..16 => self.consuming_loop(),
            16..18 => self.adapter_loop(),
            18..20 => self.temporary_loop(),
            20..25 => self.while_loop(),
            25..31 => self.while_let_loop(),
            31..35 => self.endless_loop(),
            35 if !self.keeps_loops && !self.is_in_closure() => {
                self.forms.note("loop skipped");
                self.keeps_loops = true;
                let skipped = match self.random.below(3) {
                    0 => self.range_loop(),
                    1 => self.constant_loop(),
                    _ => self.temporary_loop(),
                };
                self.keeps_loops = false;
                format!("#[cooperative(skip)]\n{skipped}")
            }
            _ => self.grid_loop(),
        }
    }

    pub(crate) fn range_loop(&mut self) -> String {
        let int = *self.random.pick(&Int::ALL);
        let name = self.name();
        let mask = if self.scopes.depth.0 > 1 { 3 } else { 7 };
        let number = self.expression(Kind::Int(int), 1);
        let end = format!("({number} & {mask})");
        let (form, range) = match self.random.below(6) {
            0 => ("for range inclusive", format!("0..={end}")),
            1 => ("for range rev", format!("(1..{end}).rev()")),
            2 => ("for range step_by", format!("(0..{end}).step_by({})", self.random.between(1, 3))),
            _ => {
                let start =
                    if self.random.chance(70) { "0".to_owned() } else { self.random.below(3).to_string() };
                ("for range", format!("{start}..{end}"))
            }
        };
        self.forms.note(form);
        if self.random.chance(10) {
            return self.looped(&format!("for _ in {range}"), Tick::Soft, |_| {});
        }
        let is_mut = self.random.chance(15);
        let pattern = if is_mut { format!("mut {name}") } else { name.clone() };
        self.looped(&format!("for {pattern} in {range}"), Tick::Soft, |this| {
            this.scopes.declare(&name, Kind::Int(int), is_mut);
        })
    }

    pub(crate) fn constant_loop(&mut self) -> String {
        self.forms.note("for constant");
        let (name, end) = (self.name(), self.random.between(1, 5));
        self.looped(&format!("for {name} in 0..{end}usize"), Tick::Constant, |this| {
            this.scopes.declare(&name, Kind::USIZE, false);
        })
    }

    /// Over something that stays borrowed meanwhile.
    pub(crate) fn collection_loop(&mut self) -> String {
        let (name, at) = (self.name(), self.unique("at"));
        if self.random.chance(30)
            && let Some(id) =
                [Kind::Ints, Kind::IntsMut, Kind::SliceMut].into_iter().find_map(|kind| self.writable(kind))
        {
            self.forms.note("for slice mut");
            let items = self.scopes.write(id);
            let head = if self.scopes.get(id).kind == Kind::Ints && self.random.chance(50) {
                format!("for {name} in &mut {items}")
            } else {
                format!("for {name} in {items}.iter_mut()")
            };
            return self.while_held(id, State::Taken, |this| {
                this.looped(&head, Tick::Soft, |this| {
                    this.scopes.declare(&name, Kind::IntMut, false);
                })
            });
        }
        let Some(id) = self.any_ints() else { return self.range_loop() };
        let items = self.scopes.read(id);
        let (form, head, kind, second) = match self.random.below(5) {
            0 => (
                "for enumerate",
                format!("for ({at}, &{name}) in {items}.iter().enumerate()"),
                Kind::I32,
                true,
            ),
            1 => (
                "for chunks",
                format!("for {name} in {items}.chunks({})", self.random.between(1, 3)),
                Kind::Slice,
                false,
            ),
            2 => ("for windows", format!("for {name} in {items}.windows(2)"), Kind::Slice, false),
            3 => ("for slice", format!("for &{name} in {items}.iter()"), Kind::I32, false),
            _ => ("for slice", format!("for {name} in {items}.iter().copied()"), Kind::I32, false),
        };
        self.forms.note(form);
        self.while_held(id, State::Shared, |this| {
            this.looped(&head, Tick::Soft, |this| {
                this.scopes.declare(&name, kind, false);
                if second {
                    this.scopes.declare(&at, Kind::USIZE, false);
                }
            })
        })
    }

    /// Over something that is moved or emptied.
    pub(crate) fn consuming_loop(&mut self) -> String {
        let name = self.name();
        match self.random.below(5) {
            0 => {
                self.forms.note("for vec into_iter");
                let items = self.expression(Kind::Ints, 1);
                self.looped(&format!("for {name} in {items}.into_iter()"), Tick::Soft, |this| {
                    this.scopes.declare(&name, Kind::I32, false);
                })
            }
            1 => {
                self.forms.note("for array");
                let items = self.without_blocks(|this| this.expression(Kind::Array, 1));
                self.looped(&format!("for {name} in {items}"), Tick::Constant, |this| {
                    this.scopes.declare(&name, Kind::I32, false);
                })
            }
            2 => match self.writable(Kind::Ints) {
                Some(id) => {
                    self.forms.note("for vec drain");
                    let items = self.scopes.write(id);
                    self.while_held(id, State::Taken, |this| {
                        this.looped(&format!("for {name} in {items}.drain(..)"), Tick::Soft, |this| {
                            this.scopes.declare(&name, Kind::I32, false);
                        })
                    })
                }
                None => self.range_loop(),
            },
            _ => {
                self.forms.note("for louds");
                let items = self.expression(Kind::Louds, 1);
                if self.random.chance(15) {
                    return self.looped(&format!("for _ in {items}"), Tick::Soft, |_| {});
                }
                self.looped(&format!("for {name} in {items}"), Tick::Soft, |this| {
                    this.scopes.declare(&name, Kind::Loud, false);
                })
            }
        }
    }

    pub(crate) fn adapter_loop(&mut self) -> String {
        let (name, second) = (self.name(), self.unique("w"));
        let items = self.without_blocks(Self::slice_argument);
        let items = if items.starts_with('&') { format!("({items})") } else { items };
        // The slice is borrowed: by whom does not matter, if nothing may be changed.
        let held =
            self.scopes.all(|variable| matches!(variable.kind, Kind::Ints | Kind::IntsMut | Kind::SliceMut));
        let before = held.iter().map(|&id| self.scopes.raise(id, State::Shared)).collect::<Vec<_>>();
        let written = match self.random.below(5) {
            0 => {
                self.forms.note("for adapters");
                let head = format!("for {name} in {items}.iter().map(|q| q ^ 5).filter(|q| q & 1 == 0)");
                self.looped(&head, Tick::Soft, |this| {
                    this.scopes.declare(&name, Kind::I32, false);
                })
            }
            1 => {
                self.forms.note("for zip");
                let head = format!("for ({name}, {second}) in {items}.iter().copied().zip(1u32..)");
                self.looped(&head, Tick::Constant, |this| {
                    this.scopes.declare(&name, Kind::I32, false);
                    this.scopes.declare(&second, Kind::Int(Int::U32), false);
                })
            }
            2 => {
                self.forms.note("for nested pattern");
                let head = format!(
                    "for ({second}, (&{name}, _)) in {items}.iter().zip({items}.iter().skip(1)).enumerate()"
                );
                self.looped(&head, Tick::Constant, |this| {
                    this.scopes.declare(&name, Kind::I32, false);
                    this.scopes.declare(&second, Kind::USIZE, false);
                })
            }
            3 => {
                self.forms.note("for chars");
                let text = self.expression(Kind::Str, 0);
                self.looped(&format!("for {name} in {text}.bytes()"), Tick::Soft, |this| {
                    this.scopes.declare(&name, Kind::Int(Int::U8), false);
                })
            }
            _ if self.random.chance(50) => {
                self.forms.note("for by_ref");
                let (first, id) = self.provide(Kind::Items);
                let items = self.scopes.write(id);
                let body = self.while_held(id, State::Taken, |this| {
                    this.looped(&format!("for {name} in {items}.by_ref()"), Tick::Soft, |this| {
                        this.scopes.declare(&name, Kind::I32, false);
                    })
                });
                format!("{first}{body}")
            }
            _ => {
                self.forms.note("for map");
                let map = self.expression(Kind::Map, 0);
                self.looped(&format!("for ({name}, {second}) in {map}"), Tick::Soft, |this| {
                    this.scopes.declare(&name, Kind::I32, false);
                    this.scopes.declare(&second, Kind::I32, false);
                })
            }
        };
        for (id, state) in held.into_iter().zip(before) {
            self.scopes.restore(id, state);
        }
        written
    }

    /// Temporaries of the iterator's expression live as long as the loop.
    pub(crate) fn temporary_loop(&mut self) -> String {
        self.forms.note("for temporary");
        let name = self.name();
        let number = self.int_argument();
        self.looped(&format!("for {name} in Loud({number} & 63).items().copied()"), Tick::Soft, |this| {
            this.scopes.declare(&name, Kind::I32, false);
        })
    }

    pub(crate) fn grid_loop(&mut self) -> String {
        if self.random.chance(50) {
            return if self.random.chance(50) { self.range_loop() } else { self.collection_loop() };
        }
        self.forms.note("for grid");
        let (first, id) = self.provide(Kind::Grid);
        let grid = self.scopes.write(id);
        let (row, column) = (self.unique("row"), self.unique("col"));
        if self.random.chance(50) {
            let constant = self.tick(Tick::Constant);
            let value = self.expression(Kind::I32, 1);
            return self.while_held(id, State::Free, |this| {
                let inner = this.looped_with(
                    &format!("for {column} in 0..3usize"),
                    Tick::Constant,
                    |this| {
                        this.scopes.declare(&column, Kind::USIZE, false);
                    },
                    |_| format!("{grid}[{row}][{column}] = {grid}[{column}][{row}].wrapping_add({value});\n"),
                );
                format!("{first}for {row} in 0..3usize {{\n{constant}{inner}}}\n")
            });
        }
        let constant = self.tick(Tick::Constant);
        self.while_held(id, State::Taken, |this| {
            let inner = this.looped(&format!("for {column} in {row}.iter_mut()"), Tick::Constant, |this| {
                this.scopes.declare(&column, Kind::IntMut, false);
            });
            format!("{first}for {row} in &mut {grid} {{\n{constant}{inner}}}\n")
        })
    }
}

/// Whether the head is a condition in which something has checks of its own.
fn waits_in_condition(head: &str) -> bool {
    let waits = [".await", "for ", "while ", "loop "];
    head.strip_prefix("while ").is_some_and(|condition| waits.iter().any(|sign| condition.contains(sign)))
}
