//! Expressions of every kind.

use crate::generator::{Generator, Target};
use crate::kind::{Int, Kind};
use crate::scope::State;

impl Generator {
    /// An expression of `kind`, with at most `depth` more below it.
    pub(crate) fn expression(&mut self, kind: Kind, depth: usize) -> String {
        if depth > 0 && self.has_blocks && self.left > 4 && self.random.chance(9) {
            return self.block_expression(kind);
        }
        match kind {
            Kind::Unit => "()".to_owned(),
            Kind::Int(int) => self.int(int, depth),
            Kind::Bool => self.boolean(depth),
            Kind::Float => self.float(depth),
            Kind::MaybeInt => self.maybe_int(depth),
            Kind::ResultInt => self.result_int(depth),
            Kind::Text => self.text(depth),
            Kind::Ints => self.ints(depth),
            Kind::Loud => self.loud(depth),
            Kind::MaybeLoud => self.maybe_loud(depth),
            Kind::Louds => self.louds(depth),
            Kind::Big => self.big(depth),
            kind => self.rest(kind, depth),
        }
    }

    /// A small `i32`.
    pub(crate) fn i32(&mut self, depth: usize) -> String {
        self.expression(Kind::I32, depth)
    }

    /// A `usize` up to `mask`, which is one less than a power of two.
    pub(crate) fn small(&mut self, mask: usize) -> String {
        if self.random.chance(40) {
            // Never a bare literal: a loop up to it would have no checks.
            return format!("({}usize & {mask})", self.random.between(0, mask));
        }
        let number = self.expression(Kind::USIZE, 1);
        format!("({number} & {mask})")
    }

    pub(crate) fn maybe_int(&mut self, depth: usize) -> String {
        if let Some(id) = self.readable(Kind::MaybeInt)
            && self.random.chance(35)
        {
            return self.scopes.read(id);
        }
        match self.random.below(7) {
            0 => "None::<i32>".to_owned(),
            1 => match self.any_ints() {
                Some(id) => {
                    let ints = self.scopes.read(id);
                    let at = self.while_held(id, State::Shared, |this| this.small(7));
                    format!("{ints}.get({at}).copied()")
                }
                None => "Some(3i32)".to_owned(),
            },
            2 => match self.any_ints() {
                Some(id) => {
                    let end =
                        *self.random.pick(&["first().copied()", "last().copied()", "iter().copied().max()"]);
                    format!("{}.{end}", self.scopes.read(id))
                }
                None => "None::<i32>".to_owned(),
            },
            3 => {
                let (left, right) = (self.literal(Int::I32), self.int(Int::I32, depth.saturating_sub(1)));
                format!("{left}.checked_mul({right})")
            }
            4 => match self.writable(Kind::Ints) {
                Some(id) => format!("{}.pop()", self.scopes.write(id)),
                None => "Some(8i32)".to_owned(),
            },
            5 => self.call(Kind::MaybeInt).unwrap_or_else(|| "Some(1i32)".to_owned()),
            _ => {
                let number = self.int(Int::I32, depth.saturating_sub(1));
                format!("Some({number})")
            }
        }
    }

    pub(crate) fn result_int(&mut self, depth: usize) -> String {
        match self.random.below(5) {
            0 => "Err::<i32, String>(String::from(\"no\"))".to_owned(),
            1 => {
                let option = self.maybe_int(depth.saturating_sub(1));
                format!("{option}.ok_or_else(|| String::from(\"none\"))")
            }
            2 => {
                let text = *self.random.pick(&["12", "x", "-7"]);
                format!("\"{text}\".parse::<i32>().map_err(|error| error.to_string())")
            }
            3 => self.call(Kind::ResultInt).unwrap_or_else(|| "Ok::<i32, String>(4)".to_owned()),
            _ => {
                let number = self.int(Int::I32, depth.saturating_sub(1));
                format!("Ok::<i32, String>({number})")
            }
        }
    }

    pub(crate) fn text(&mut self, depth: usize) -> String {
        self.forms.note("string");
        match self.random.below(4) {
            0 => "String::new()".to_owned(),
            1 => match self.readable(Kind::Text) {
                Some(id) => format!("{}.clone()", self.scopes.read(id)),
                None => "String::from(\"ab\")".to_owned(),
            },
            2 => {
                let number = self.without_blocks(|this| this.int(Int::I32, depth.min(1)));
                format!("format!(\"<{{}}>\", {number})")
            }
            _ => match self.movable(Kind::Text) {
                Some(id) => self.scopes.take(id),
                None => "\"z9\".to_string()".to_owned(),
            },
        }
    }

    pub(crate) fn ints(&mut self, depth: usize) -> String {
        match self.random.below(6) {
            0 => {
                let list =
                    (0..self.random.below(5)).map(|_| self.without_blocks(|this| this.int(Int::I32, 1)));
                let list = list.collect::<Vec<_>>().join(", ");
                if list.is_empty() { "Vec::<i32>::new()".to_owned() } else { format!("vec![{list}]") }
            }
            1 => match self.any_ints() {
                Some(id) => format!("{}.to_vec()", self.scopes.read(id)),
                None => "vec![4i32, 4, 2]".to_owned(),
            },
            2 => {
                let end = self.small(7);
                format!("(0..{end} as i32).map(|q| q * 3).collect::<Vec<i32>>()")
            }
            3 => match self.movable(Kind::Ints) {
                Some(id) => self.scopes.take(id),
                None => "vec![1i32, 2, 3, 4, 5, 6]".to_owned(),
            },
            4 if depth > 0 && self.has_blocks && self.left > 5 => self.block_expression(Kind::Ints),
            _ => {
                let end = self.without_blocks(|this| this.small(7));
                format!("vec![0i32; {end}]")
            }
        }
    }

    pub(crate) fn loud(&mut self, depth: usize) -> String {
        if let Some(id) = self.movable(Kind::Loud)
            && self.random.chance(40)
        {
            return self.scopes.take(id);
        }
        if let Some(id) = self.writable(Kind::Louds)
            && self.random.chance(25)
        {
            let louds = self.scopes.write(id);
            return format!("{louds}.pop().unwrap_or(Loud(1))");
        }
        let number = self.int(Int::I32, depth.min(1));
        format!("Loud({number} & 63)")
    }

    pub(crate) fn maybe_loud(&mut self, depth: usize) -> String {
        match self.random.below(4) {
            0 => "None::<Loud>".to_owned(),
            1 => match self.writable(Kind::MaybeLoud) {
                Some(id) => format!("{}.take()", self.scopes.write(id)),
                None => "None::<Loud>".to_owned(),
            },
            2 => match self.movable(Kind::MaybeLoud) {
                Some(id) => self.scopes.take(id),
                None => "Some(Loud(6))".to_owned(),
            },
            _ => {
                let loud = self.loud(depth);
                format!("Some({loud})")
            }
        }
    }

    pub(crate) fn louds(&mut self, depth: usize) -> String {
        match self.random.below(4) {
            0 => match self.writable(Kind::Louds) {
                Some(id) => format!("std::mem::take(&mut {})", self.scopes.write(id)),
                None => "vec![Loud(10), Loud(11)]".to_owned(),
            },
            1 => match self.movable(Kind::Louds) {
                Some(id) => self.scopes.take(id),
                None => "Vec::<Loud>::new()".to_owned(),
            },
            2 => {
                let (first, second) = (self.without_blocks(|this| this.loud(depth)), self.literal(Int::I32));
                format!("vec![{first}, Loud({second} & 63), Loud(40)]")
            }
            _ => {
                let end = self.small(3);
                format!("(0..{end} as i32).map(Loud).collect::<Vec<Loud>>()")
            }
        }
    }

    pub(crate) fn rest(&mut self, kind: Kind, depth: usize) -> String {
        if kind.is_copy()
            && let Some(id) = self.readable(kind)
            && self.random.chance(50)
        {
            return self.scopes.read(id);
        }
        let less = depth.saturating_sub(1);
        match kind {
            Kind::Pair => {
                let (left, right) = (self.i32(less), self.expression(Kind::Int(Int::U32), less));
                format!("({left}, {right})")
            }
            Kind::Dot => {
                let (x, y) = (self.i32(less), self.i32(less));
                format!("Dot {{ x: {x}, y: {y} }}")
            }
            Kind::Array => {
                let (first, second) = (self.i32(less), self.i32(less));
                format!("[{first}, {second}, 7, -1]")
            }
            Kind::Grid => {
                let (first, second) = (self.int(Int::I32, 0), self.int(Int::I32, 0));
                format!("[[{first}, 1, 2], [3, {second}, 5], [6, 7, 8]]")
            }
            Kind::Map => {
                self.forms.note("map");
                match self.any_ints() {
                    Some(id) => format!("map_of(&{})", self.scopes.read(id)),
                    None => "BTreeMap::<i32, i32>::new()".to_owned(),
                }
            }
            Kind::List => {
                self.forms.note("list");
                match self.any_ints() {
                    Some(id) => format!("list_of(&{})", self.scopes.read(id)),
                    None => "list_of(&[3, 1, 2])".to_owned(),
                }
            }
            Kind::Str => (*self.random.pick(&["\"a1 b2\"", "\"\"", "\"12,345,x\""])).to_owned(),
            Kind::Slice => self.slice_argument(),
            _ => unreachable!("{kind:?} is never asked for"),
        }
    }

    /// A slice that lives for the statement.
    pub(crate) fn slice_argument(&mut self) -> String {
        match self.any_ints() {
            Some(id) => {
                let kind = self.scopes.get(id).kind;
                let ints = self.scopes.read(id);
                match kind {
                    Kind::Slice => ints,
                    Kind::SliceMut | Kind::IntsMut => format!("&{ints}[..]"),
                    _ => format!("&{ints}"),
                }
            }
            None => "&[5i32, 6, 7]".to_owned(),
        }
    }

    /// `'b: { .. break 'b value; .. value }`
    pub(crate) fn labelled_block(&mut self, kind: Kind) -> String {
        self.forms.note("break block");
        let label = self.unique("'b");
        self.targets.push(Target { label: Some(label.clone()), value: Some(kind), is_loop: false });
        let body = self.scoped(|this| {
            let statements = this.statements(1, 3);
            let (condition, early) = (this.boolean(1), this.expression(kind, 1));
            let more = this.statements(0, 1);
            let value = this.expression(kind, 1);
            format!("{statements}if {condition} {{ break {label} {early}; }}\n{more}{value}")
        });
        self.targets.pop();
        format!("({label}: {{\n{body}\n}})")
    }

    /// `{ statements; value }`
    pub(crate) fn block_expression(&mut self, kind: Kind) -> String {
        let body = self.scoped(|this| {
            let statements = this.statements(1, 3);
            let value = if kind == Kind::I32 && this.random.chance(20) {
                this.forms.note("tail temporary");
                let (number, other) = (this.int(Int::I32, 1), this.int(Int::I32, 1));
                format!("Loud({number} & 63).value().wrapping_add({other})")
            } else {
                this.expression(kind, 1)
            };
            format!("{statements}{value}")
        });
        format!("{{\n{body}\n}}")
    }
}
