//! Numbers and conditions.

use crate::generator::Generator;
use crate::kind::{Int, Kind};
use crate::scope::State;

impl Generator {
    pub(crate) fn literal(&mut self, int: Int) -> String {
        let number = *self.random.pick(&[0, 1, 2, 3, 5, 7, 8, 13, 100, 255]);
        let name = int.name();
        if matches!(int, Int::I32 | Int::I64) && self.random.chance(25) {
            return format!("(-{number}{name})");
        }
        format!("{number}{name}")
    }

    pub(crate) fn int(&mut self, int: Int, depth: usize) -> String {
        let kind = Kind::Int(int);
        if depth == 0 {
            return match self.readable(kind) {
                Some(id) if self.random.chance(80) => self.scopes.read(id),
                _ => self.literal(int),
            };
        }
        let less = depth - 1;
        match self.random.below(if self.is_tight { 12 } else { 24 }) {
            0..4 => self.int(int, 0),
            4..8 => {
                let left = match self.receiver(kind) {
                    Some(id) if self.random.chance(60) => self.scopes.read(id),
                    _ => self.literal(int),
                };
                let method = *self.random.pick(&[
                    "wrapping_add",
                    "wrapping_sub",
                    "wrapping_mul",
                    "min",
                    "max",
                    "abs_diff",
                ]);
                let right = self.int(int, less);
                if method == "abs_diff" {
                    return format!("({left}.abs_diff({right}) as {})", int.name());
                }
                format!("{left}.{method}({right})")
            }
            8..10 => {
                let operator = *self.random.pick(&["&", "^", "|"]);
                let (left, right) = (self.expression(kind, less), self.expression(kind, less));
                if right.starts_with('{') || left.starts_with('{') {
                    self.forms.note("loop in operand");
                }
                format!("({left} {operator} {right})")
            }
            10 => {
                let left = self.int(int, less);
                format!("({left} {})", self.random.pick(&["% 7", ">> 1", "& 15", "/ 3"]))
            }
            11 if self.random.chance(40) => {
                self.forms.note("panic overflow");
                let (left, right) = (self.int(int, less), self.int(int, less));
                format!("({left} {} {right})", self.random.pick(&["+", "-", "*", "/"]))
            }
            12 => {
                let condition = self.boolean(less);
                let (yes, no) = (self.expression(kind, less), self.expression(kind, less));
                format!("(if {condition} {{ {yes} }} else {{ {no} }})")
            }
            13 => {
                let from = Kind::Int(*self.random.pick(&Int::ALL));
                let inner = self.expression(from, less);
                format!("({inner} as {})", int.name())
            }
            14 => {
                let inner = self.int(int, less);
                format!("noted({inner})")
            }
            15 => self.int_of_others(int, less),
            16 => self.int_of_option(int, less),
            17..19 if self.has_blocks && self.left > 6 => self.loop_value(kind),
            19 if self.has_blocks && self.left > 6 => self.labelled_block(kind),
            20 => self.call(kind).unwrap_or_else(|| self.int(int, less)),
            21 if int == Int::I32 => self.called_closure(less),
            22 if int == Int::I32 => {
                self.forms.note("scrutinee temporary");
                let (number, condition) = (self.int(int, less), self.boolean(less));
                let (yes, no) = (self.int(int, less), self.int(int, less));
                format!(
                    "(match Loud({number} & 63).some({condition}) {{ Some(l) => l.value() ^ {yes}, None => {no} }})"
                )
            }
            _ => self.int(int, less),
        }
    }

    /// A number that is part of something else.
    pub(crate) fn int_of_others(&mut self, int: Int, depth: usize) -> String {
        let name = int.name();
        match self.random.below(7) {
            0 => match self.readable(Kind::IntMut) {
                Some(id) => format!("(*{} as {name})", self.scopes.read(id)),
                None => self.int(int, depth),
            },
            1 => match self.readable(Kind::Pair) {
                Some(id) => format!("({}.0 as {name})", self.scopes.read(id)),
                None => self.int(int, depth),
            },
            2 => match self.readable(Kind::Array) {
                Some(id) => {
                    let array = self.scopes.read(id);
                    let at = self.while_held(id, State::Shared, |this| this.small(3));
                    format!("({array}[{at}] as {name})")
                }
                None => self.int(int, depth),
            },
            3 => match self.readable(Kind::Grid) {
                Some(id) => {
                    self.forms.note("array of arrays");
                    let grid = self.scopes.read(id);
                    format!("({grid}[{}][{}] as {name})", self.random.below(3), self.random.below(3))
                }
                None => self.int(int, depth),
            },
            4 => match self.any_ints() {
                Some(id) => {
                    self.forms.note("panic index");
                    let ints = self.scopes.read(id);
                    let at = self.while_held(id, State::Shared, |this| this.small(7));
                    format!("({ints}[{at}] as {name})")
                }
                None => self.int(int, depth),
            },
            5 => match self.any_ints() {
                Some(id) => format!("({}.len() as {name})", self.scopes.read(id)),
                None => self.int(int, depth),
            },
            _ => match self.any_ints() {
                Some(id) => {
                    let ints = self.scopes.read(id);
                    format!("({ints}.iter().fold(0i32, |q, w| q.wrapping_add(*w)) as {name})")
                }
                None => self.int(int, depth),
            },
        }
    }

    /// A vector or slice of numbers that can be read.
    pub(crate) fn any_ints(&mut self) -> Option<usize> {
        let kinds = [Kind::Ints, Kind::Slice, Kind::SliceMut, Kind::IntsMut];
        let first = self.random.below(kinds.len());
        (0..kinds.len()).find_map(|step| self.readable(kinds[(first + step) % kinds.len()]))
    }

    pub(crate) fn int_of_option(&mut self, int: Int, depth: usize) -> String {
        let name = int.name();
        let option = self.maybe_int(depth);
        let can_return = !self.is_in_closure();
        match self.random.below(6) {
            0 if can_return && matches!(self.returns, Kind::MaybeInt | Kind::MaybeLoud) => {
                self.forms.note("try option");
                format!("({option}? as {name})")
            }
            0 | 1 if can_return && self.returns == Kind::ResultInt => {
                self.forms.note("try result");
                let result = self.result_int(depth);
                format!("({result}? as {name})")
            }
            2 if self.random.chance(30) => {
                self.forms.note("panic unwrap");
                let message = *self.random.pick(&["unwrap()", "expect(\"a number\")"]);
                format!("({option}.{message} as {name})")
            }
            3 => {
                self.forms.note("match guard");
                let bound = self.unique("m");
                let (guard, some, none) = self.scoped(|this| {
                    let none = this.int(int, 1);
                    this.scopes.declare(&bound, Kind::I32, false);
                    (this.boolean(1), this.int(int, 1), none)
                });
                format!("(match {option} {{ Some({bound}) if {guard} => {some}, Some(_) | None => {none} }})")
            }
            _ => {
                let other = self.int(Int::I32, depth);
                format!("({option}.unwrap_or({other}) as {name})")
            }
        }
    }

    pub(crate) fn boolean(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.readable(Kind::Bool) {
                Some(id) => self.scopes.read(id),
                None => {
                    let (number, divisor) = (self.int(Int::I32, 0), self.random.between(2, 4));
                    format!("{number} & {divisor} == 0")
                }
            };
        }
        let less = depth - 1;
        match self.random.below(if self.is_tight { 8 } else { 12 }) {
            0..5 => {
                let int = *self.random.pick(&Int::ALL);
                let operator = *self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
                let left = match self.receiver(Kind::Int(int)) {
                    Some(id) => self.scopes.read(id),
                    None => self.literal(int),
                };
                let right = self.int(int, less);
                format!("({left} {operator} {right})")
            }
            5..7 => {
                let (left, right) = (self.boolean(less), self.boolean(less));
                format!("({left} {} {right})", self.random.pick(&["&&", "||"]))
            }
            7 => {
                let inner = self.boolean(less);
                format!("!({inner})")
            }
            8 => match self.any_ints() {
                Some(id) => format!("{}.is_empty()", self.scopes.read(id)),
                None => self.boolean(less),
            },
            9 => {
                let (number, answer) = (self.int(Int::I32, 0), self.boolean(less));
                format!("Loud({number} & 63).is({answer})")
            }
            10 => {
                let option = self.without_blocks(|this| this.maybe_int(less));
                format!("matches!({option}, Some(q) if q & 1 == 0)")
            }
            _ => match self.readable(Kind::Float) {
                Some(id) => format!("({} < 2.5)", self.scopes.read(id)),
                None => self.boolean(less),
            },
        }
    }

    pub(crate) fn float(&mut self, depth: usize) -> String {
        self.forms.note("float");
        if depth == 0 {
            return match self.readable(Kind::Float) {
                Some(id) if self.random.chance(80) => self.scopes.read(id),
                _ => (*self.random.pick(&["0.0f64", "1.5f64", "0.125f64", "(-2.0f64)", "1e3f64"])).to_owned(),
            };
        }
        let less = depth - 1;
        match self.random.below(5) {
            0 => {
                let (left, right) = (self.float(less), self.float(less));
                format!("({left} {} {right})", self.random.pick(&["+", "-", "*", "/"]))
            }
            1 => {
                let number = self.expression(Kind::I32, less);
                format!("({number} as f64)")
            }
            2 => {
                let inner = self.float(less);
                format!("f64::{}({inner})", self.random.pick(&["abs", "sqrt", "floor"]))
            }
            _ => self.float(less),
        }
    }

    pub(crate) fn called_closure(&mut self, depth: usize) -> String {
        let fitting =
            self.scopes.all(|variable| variable.kind == Kind::Closure && variable.state == State::Free);
        if fitting.is_empty() {
            return self.int(Int::I32, depth);
        }
        let id = *self.random.pick(&fitting);
        let closure = self.scopes.write(id);
        let argument = self.while_held(id, State::Taken, |this| this.int(Int::I32, depth));
        format!("{closure}({argument})")
    }
}
