//! Little programs with holes: what lowerings are known to get wrong, and what real code is full of.

use crate::generator::Generator;
use crate::kind::{Int, Kind};
use crate::looping::Tick;
use crate::scope::State;

impl Generator {
    pub(crate) fn idiom(&mut self) -> String {
        let choices: [fn(&mut Self) -> String; 24] = [
            Self::call_statement,
            Self::call_statement,
            Self::late_init,
            Self::late_init_in_loop,
            Self::best_reference,
            Self::move_in_loop,
            Self::move_across_iterations,
            Self::partial_move,
            Self::conditional_drop,
            Self::let_else,
            Self::scrutinee,
            Self::swapped_buffers,
            Self::insertion,
            Self::queue,
            Self::scanner,
            Self::held_cell,
            Self::split_halves,
            Self::kernel,
            Self::sieve,
            Self::tail_loop,
            Self::in_argument,
            Self::escape_time,
            Self::call_statement,
            Self::reduction,
        ];
        if self.scopes.depth.0 > 2 {
            return self.let_else();
        }
        let write = *self.random.pick(&choices);
        write(self)
    }

    fn late_init(&mut self) -> String {
        self.forms.note("late init");
        let (name, condition) = (self.unique("late"), self.boolean(2));
        let between = self.scoped(|this| this.statements(0, 1));
        let (yes, no) = (self.i32(2), self.i32(1));
        self.scopes.declare(&name, Kind::I32, false);
        format!(
            "let {name}: i32;\nif {condition} {{ {{\n{between}}}\n{name} = {yes}; }} else {{ {name} = {no}; }}\n"
        )
    }

    fn late_init_in_loop(&mut self) -> String {
        self.forms.note("late init in loop");
        let (late, turn, end) = (self.unique("late"), self.unique("turn"), self.small(7));
        let tick = self.tick(Tick::Hard);
        let value = self.without_blocks(|this| this.i32(1));
        let loud = self.random.chance(50);
        let value = if loud { format!("Loud({value} & 63)") } else { value };
        let inner = self.small_loop(&turn);
        self.scopes.declare(&late, if loud { Kind::Loud } else { Kind::I32 }, false);
        format!(
            "let {late};\nlet mut {turn} = 0usize;\nloop {{\n{tick}{turn} += 1;\n{inner}if {turn} > {end} {{ {late} = {value}; break; }}\n}}\n"
        )
    }

    /// A loop of a few rounds, for between.
    fn small_loop(&mut self, bound: &str) -> String {
        let soft = self.tick(Tick::Soft);
        let name = self.unique("s");
        format!("for {name} in 0..({bound} & 3) {{\n{soft}note({name});\n}}\n")
    }

    pub(crate) fn best_reference(&mut self) -> String {
        let Some(id) = self.any_ints() else { return self.let_else() };
        self.forms.note("best reference");
        let (best, item, ints) = (self.unique("best"), self.unique("x"), self.scopes.read(id));
        let soft = self.tick(Tick::Soft);
        let condition =
            self.while_held(id, State::Shared, |this| this.without_blocks(|this| this.boolean(1)));
        let result = self.unique("v");
        self.scopes.declare(&result, Kind::I32, false);
        format!(
            "let zero = 0i32;\nlet mut {best} = &zero;\nfor {item} in {ints}.iter() {{\n{soft}if *{item} > *{best} || {condition} {{ {best} = {item}; }}\n}}\nlet {result} = *{best};\n"
        )
    }

    /// Moved out in the iteration that is the last.
    fn move_in_loop(&mut self) -> String {
        self.forms.note("move in loop");
        let (own, turn) = (self.unique("own"), self.unique("turn"));
        let (loud, end, tick) =
            (self.loud(1), self.without_blocks(|this| this.small(3)), self.tick(Tick::Hard));
        let condition = self.without_blocks(|this| this.boolean(1));
        let inner = self.small_loop(&turn);
        let exit = if self.is_in_closure() || self.returns != Kind::Unit { "break" } else { "return" };
        format!(
            "let {own} = {loud};\nlet mut {turn} = 0usize;\nwhile {turn} <= {end} {{\n{tick}{turn} += 1;\nnote({own}.value());\nif {condition} {{ drop({own}); {exit}; }}\n{inner}}}\n"
        )
    }

    fn move_across_iterations(&mut self) -> String {
        self.forms.note("move across iterations");
        let (own, end, soft) = (self.unique("own"), self.small(7), self.tick(Tick::Soft));
        let start = self.expression(Kind::Ints, 1);
        let (number, name) = (self.without_blocks(|this| this.i32(1)), self.unique("i"));
        let inner = self.small_loop(&name);
        self.scopes.declare(&own, Kind::Ints, true);
        format!(
            "let mut {own} = {start};\nfor {name} in 0..{end} {{\n{soft}let mut moved = {own};\nmoved.push({number});\n{inner}{own} = moved;\n}}\n"
        )
    }

    fn partial_move(&mut self) -> String {
        self.forms.note("drop partial");
        let (both, number, end) = (self.unique("both"), self.i32(1), self.small(3));
        let (soft, name) = (self.tick(Tick::Soft), self.unique("i"));
        let last = match self.random.below(3) {
            0 => format!("drop({both}.right);\n"),
            1 => format!("note({both}.right.value());\n"),
            _ => String::new(),
        };
        format!(
            "let {both} = Both {{ left: Loud({number} & 63), right: Loud(62) }};\ndrop({both}.left);\nfor {name} in 0..{end} {{\n{soft}note({both}.right.value() + {name} as i32);\n}}\n{last}"
        )
    }

    /// A drop flag that lives across a loop.
    fn conditional_drop(&mut self) -> String {
        self.forms.note("drop conditional");
        let (slot, condition, end) = (self.unique("maybe"), self.boolean(2), self.small(3));
        let (soft, name, number) = (self.tick(Tick::Soft), self.unique("i"), self.i32(1));
        let kept = self.unique("kept");
        if self.random.chance(50) {
            return format!(
                "let {slot};\nif {condition} {{ {slot} = Loud({number} & 63); note({slot}.value()); }}\nfor {name} in 0..{end} {{\n{soft}note({name});\n}}\n"
            );
        }
        format!(
            "let {slot} = Loud({number} & 63);\nlet {kept} = if {condition} {{ Some({slot}) }} else {{ None }};\nfor {name} in 0..{end} {{\n{soft}note({kept}.is_some() as usize + {name});\n}}\n"
        )
    }

    fn let_else(&mut self) -> String {
        self.forms.note("let else");
        let (name, option) = (self.name(), self.without_blocks(|this| this.expression(Kind::MaybeInt, 2)));
        let exit = match self.targets.last() {
            Some(target) if target.is_loop && self.random.chance(60) => {
                if target.value.is_none() && self.random.chance(50) {
                    "break".to_owned()
                } else {
                    "continue".to_owned()
                }
            }
            _ if self.is_in_closure() => "return 77".to_owned(),
            _ => format!("return {}", self.without_blocks(|this| this.returned(1))),
        };
        self.scopes.declare(&name, Kind::I32, false);
        format!("let Some({name}) = {option} else {{\n{exit};\n}};\n")
    }

    /// The scrutinee's temporaries live as long as the `match`.
    fn scrutinee(&mut self) -> String {
        self.forms.note("scrutinee temporary");
        let (number, condition) = (self.i32(1), self.boolean(1));
        let name = self.unique("l");
        let (some, none) =
            (self.scoped(|this| this.statements(1, 2)), self.scoped(|this| this.statements(1, 1)));
        if self.random.chance(50) {
            return format!(
                "if let Some({name}) = Loud({number} & 63).some({condition}) {{\nnote({name}.value());\n{some}}} else {{\n{none}}}\n"
            );
        }
        format!(
            "match Loud({number} & 63).some({condition}) {{\nSome({name}) => {{\n{some}note({name}.value());\n}}\nNone => {{\n{none}}}\n}}\n"
        )
    }

    fn swapped_buffers(&mut self) -> String {
        let (old, new, end) = (self.unique("old"), self.unique("new"), self.small(7));
        let (i, j) = (self.unique("i"), self.unique("j"));
        let soft = self.tick(Tick::Soft);
        let number = self.without_blocks(|this| this.i32(1));
        self.scopes.declare(&old, Kind::Ints, true);
        format!(
            "let mut {old} = vec![0i32; 5];\nlet mut {new} = vec![1i32; 5];\nfor {i} in 0..{end} {{\n{soft}for {j} in 1..{old}.len() {{\n{soft}{new}[{j}] = {old}[{j} - 1].wrapping_add({old}[{j}]).wrapping_add({number}) ^ {i} as i32;\n}}\nstd::mem::swap(&mut {old}, &mut {new});\n}}\n"
        )
    }

    fn insertion(&mut self) -> String {
        let Some(id) =
            [Kind::Ints, Kind::IntsMut, Kind::SliceMut].into_iter().find_map(|kind| self.writable(kind))
        else {
            return self.kernel();
        };
        let (ints, i, j, key) =
            (self.scopes.write(id), self.unique("i"), self.unique("j"), self.unique("key"));
        let (soft, hard) = (self.tick(Tick::Soft), self.tick(Tick::Hard));
        format!(
            "for {i} in 1..{ints}.len() {{\n{soft}let {key} = {ints}[{i}];\nlet mut {j} = {i};\nwhile {j} > 0 && {ints}[{j} - 1] > {key} {{\n{hard}{ints}[{j}] = {ints}[{j} - 1];\n{j} -= 1;\n}}\n{ints}[{j}] = {key};\n}}\n"
        )
    }

    fn queue(&mut self) -> String {
        let (queue, seen, at, next) =
            (self.unique("queue"), self.unique("seen"), self.unique("at"), self.unique("n"));
        let (hard, constant, end) = (self.tick(Tick::Hard), self.tick(Tick::Constant), self.small(15));
        let limit = self.unique("limit");
        self.scopes.declare(&seen, Kind::Ints, true);
        format!(
            "let {limit} = {end} + 1;\nlet mut {seen} = vec![-1i32; {limit}];\nlet mut {queue} = std::collections::VecDeque::from([0usize]);\n{seen}[0] = 0;\nwhile let Some({at}) = {queue}.pop_front() {{\n{hard}for {next} in [{at} * 2 + 1, {at} + 3] {{\n{constant}if {next} >= {limit} || {seen}[{next}] >= 0 {{ continue; }}\n{seen}[{next}] = {seen}[{at}] + 1;\n{queue}.push_back({next});\n}}\n}}\n"
        )
    }

    fn scanner(&mut self) -> String {
        self.forms.note("string");
        self.forms.note("continue label");
        let (bytes, i, words, sum) =
            (self.unique("bytes"), self.unique("i"), self.unique("words"), self.unique("sum"));
        let (label, hard, text) = (self.unique("'scan"), self.tick(Tick::Hard), self.scanned());
        self.scopes.declare(&words, Kind::USIZE, true);
        self.scopes.declare(&sum, Kind::Int(Int::U64), true);
        format!(
            "let {bytes} = {text}.as_bytes();\nlet mut {i} = 0;\nlet mut {words} = 0usize;\nlet mut {sum} = 0u64;\n{label}: while {i} < {bytes}.len() {{\n{hard}let c = {bytes}[{i}];\n{i} += 1;\nif c.is_ascii_digit() {{\nlet mut n = (c - b'0') as u64;\nwhile {i} < {bytes}.len() && {bytes}[{i}].is_ascii_digit() {{\n{hard}n = n * 10 + ({bytes}[{i}] - b'0') as u64;\n{i} += 1;\n}}\n{sum} += n;\n}} else if c == b'\"' {{\nloop {{\n{hard}if {i} == {bytes}.len() {{ break {label}; }}\nif {bytes}[{i}] == b'\"' {{ {i} += 1; continue {label}; }}\n{i} += 1;\n}}\n}} else {{\n{words} += 1;\n}}\n}}\n"
        )
    }

    /// A text with words, numbers and quotes, or one from elsewhere.
    fn scanned(&mut self) -> String {
        if self.random.chance(30) {
            return self.expression(Kind::Str, 0);
        }
        let texts = ["\"a \\\"q 7\\\" 12,x\"", "\"\\\"\\\"5 5\\\"b\\\"c\"", "\"1 \\\"2\""];
        (*self.random.pick(&texts)).to_owned()
    }

    /// A guard of a `RefCell` that is held in a loop, or by the iterator's expression.
    fn held_cell(&mut self) -> String {
        let (cell, name, soft) = (self.unique("cell"), self.unique("x"), self.tick(Tick::Soft));
        let (ints, number) = (self.expression(Kind::Ints, 1), self.without_blocks(|this| this.i32(1)));
        self.forms.note("borrow across loop");
        let ints = format!("({ints} as Vec<i32>)");
        if self.random.chance(50) {
            return format!(
                "let {cell} = std::cell::RefCell::new({ints});\nfor {name} in {cell}.borrow_mut().iter_mut() {{\n{soft}*{name} ^= {number};\nnote({cell}.try_borrow().is_err());\n}}\nnote({cell}.try_borrow().is_ok());\n"
            );
        }
        let guard = self.unique("guard");
        format!(
            "let {cell} = std::cell::RefCell::new({ints});\n{{\nlet mut {guard} = {cell}.borrow_mut();\nfor {name} in 0..{guard}.len() {{\n{soft}{guard}[{name}] = {guard}[{name}].wrapping_sub({number});\n}}\n}}\nnote({cell}.into_inner());\n"
        )
    }

    fn split_halves(&mut self) -> String {
        let Some(id) = [Kind::Ints, Kind::SliceMut].into_iter().find_map(|kind| self.writable(kind)) else {
            return self.partial_move();
        };
        self.forms.note("for split_at_mut");
        let (ints, left, right) = (self.scopes.write(id), self.unique("left"), self.unique("right"));
        let (soft, x, y) = (self.tick(Tick::Soft), self.unique("x"), self.unique("y"));
        format!(
            "let middle = {ints}.len() / 2;\nlet ({left}, {right}) = {ints}.split_at_mut(middle);\nfor ({x}, {y}) in {left}.iter_mut().zip({right}.iter_mut().rev()) {{\n{soft}std::mem::swap({x}, {y});\n*{x} = {x}.wrapping_add(1);\n}}\n"
        )
    }

    /// Floats over arrays of arrays, in constant loops inside a real one.
    fn kernel(&mut self) -> String {
        self.forms.note("array of arrays");
        self.forms.note("float");
        let (at, speed, i, j, k) =
            (self.unique("at"), self.unique("speed"), self.unique("i"), self.unique("j"), self.unique("k"));
        let (soft, constant, end) = (self.tick(Tick::Soft), self.tick(Tick::Constant), self.small(7));
        let result = self.unique("v");
        self.scopes.declare(&result, Kind::Float, false);
        format!(
            "let mut {at} = [[0.5f64, 1.0, -1.0], [2.0, 0.25, 0.0], [1.0, 1.0, 3.0]];\nlet mut {speed} = [[0.0f64; 3]; 3];\nfor _ in 0..{end} {{\n{soft}for {i} in 0..3 {{\n{constant}for {j} in ({i} + 1)..3 {{\n{soft}for {k} in 0..3 {{\n{constant}let d = {at}[{i}][{k}] - {at}[{j}][{k}];\n{speed}[{i}][{k}] -= d * 0.125;\n{speed}[{j}][{k}] += d * 0.125;\n}}\n}}\n}}\nfor {i} in 0..3 {{\n{constant}for {k} in 0..3 {{\n{constant}{at}[{i}][{k}] += {speed}[{i}][{k}];\n}}\n}}\n}}\nlet {result} = {at}[0][1] + {speed}[2][0];\n"
        )
    }

    fn sieve(&mut self) -> String {
        let (flags, count, i, j) =
            (self.unique("flags"), self.unique("count"), self.unique("i"), self.unique("j"));
        let (soft, hard, end) =
            (self.tick(Tick::Soft), self.tick(Tick::Hard), self.without_blocks(|this| this.small(31)));
        self.scopes.declare(&count, Kind::USIZE, true);
        format!(
            "let mut {flags} = vec![true; {end} + 2];\nlet mut {count} = 0usize;\nfor {i} in 2..{flags}.len() {{\n{soft}if {flags}[{i}] {{\n{count} += 1;\nlet mut {j} = {i} * 2;\nwhile {j} < {flags}.len() {{\n{hard}{flags}[{j}] = false;\n{j} += {i};\n}}\n}}\n}}\n"
        )
    }

    /// A loop that is the last expression of a block, with temporaries that end after it.
    fn tail_loop(&mut self) -> String {
        self.forms.note("loop at tail");
        let (name, number, soft) = (self.unique("x"), self.i32(1), self.tick(Tick::Soft));
        let guard = self.unique("g");
        let before = self.scoped(|this| this.statements(0, 1));
        format!(
            "{{\nlet {guard} = Loud(61);\n{{\n{before}}}\nfor {name} in Loud({number} & 63).items() {{\n{soft}note({name} + {guard}.value());\n}}\n}}\n"
        )
    }

    fn in_argument(&mut self) -> String {
        self.forms.note("loop in argument");
        let (first, second) = (self.loop_value(Kind::I32), self.loop_value(Kind::Bool));
        format!("note(({first}, {second}));\n")
    }

    fn escape_time(&mut self) -> String {
        self.forms.note("float");
        let (x, y, count, i) = (self.unique("x"), self.unique("y"), self.unique("count"), self.unique("i"));
        let (soft, hard, end) = (self.tick(Tick::Soft), self.tick(Tick::Hard), self.small(7));
        let start = self.expression(Kind::Float, 1);
        self.scopes.declare(&count, Kind::I32, true);
        format!(
            "let mut {count} = 0i32;\nfor {i} in 0..{end} {{\n{soft}let (mut {x}, mut {y}) = ({start}, {i} as f64 / 4.0);\nlet mut rounds = 0;\nwhile {x} * {x} + {y} * {y} <= 4.0 && rounds < 9 {{\n{hard}let new = {x} * {x} - {y} * {y} + 0.25;\n{y} = 2.0 * {x} * {y};\n{x} = new;\nrounds += 1;\n}}\n{count} += rounds;\n}}\n"
        )
    }

    /// A reduction whose types are found out late.
    fn reduction(&mut self) -> String {
        let Some(id) = self.any_ints() else { return self.kernel() };
        let (ints, sum, most, i) =
            (self.scopes.read(id), self.unique("sum"), self.unique("most"), self.unique("i"));
        let (soft, result) = (self.tick(Tick::Soft), self.unique("v"));
        let (odd, kept) = (self.unique("odd"), self.unique("kept"));
        self.scopes.declare(&result, Kind::Int(Int::I64), false);
        format!(
            "let mut {sum} = 0;\nlet mut {most} = None;\nlet mut {kept} = Vec::new();\nfor {i} in 0..{ints}.len() {{\n{soft}let {odd} = {ints}[{i}] & 1 == 1;\n{sum} += {ints}[{i}] as i64;\nif {most} < Some({ints}[{i}]) {{ {most} = Some({ints}[{i}]); }}\nif {odd} {{ {kept}.push({i}); }}\n}}\nlet {result} = {sum} + {most}.unwrap_or(0) as i64 + {kept}.len() as i64;\n"
        )
    }
}
