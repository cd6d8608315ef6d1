//! Calls of other cooperative functions, and of the function itself.

use crate::generator::Generator;
use crate::kind::Kind;
use crate::scope::State;

impl Generator {
    /// A call for its effect.
    pub(crate) fn call_statement(&mut self) -> String {
        let mut kinds = self.helpers.iter().map(|helper| helper.returns).collect::<Vec<_>>();
        kinds.push(self.returns);
        let kind = *self.random.pick(&kinds);
        match self.call(kind) {
            Some(call) if kind == Kind::Items => format!("note({call}.count());\n"),
            Some(call) => format!("note({call});\n"),
            None => self.best_reference(),
        }
    }

    /// A call of another function, or of the function itself, if there is one of that kind.
    pub(crate) fn call(&mut self, kind: Kind) -> Option<String> {
        if let Some(own) = self.own.clone()
            && own.returns == kind
            && kind != Kind::Slice
            && kind != Kind::Items
            && self.random.chance(50)
            && self
                .scopes
                .all(|variable| variable.name.contains('.') && variable.state != State::Free)
                .is_empty()
        {
            let is_in_closure = self.is_in_closure();
            if is_in_closure && own.name.contains('.') {
                return None;
            }
            self.forms.note(match (is_in_closure, self.is_in_loop()) {
                (true, _) => "recursion in closure",
                (false, true) => "recursion in loop",
                _ => "recursion",
            });
            let arguments = self.arguments(&own.arguments, &own.name);
            let other = self.without_blocks(|this| this.expression(kind, 0));
            let uncounted = if is_in_closure { "uncounted(); " } else { "" };
            let call = format!("{}({arguments}{})", own.name, own.last);
            return Some(format!("(if depth_left > 0 {{ {uncounted}{call} }} else {{ {other} }})"));
        }
        if self.is_in_closure() {
            return None;
        }
        let fitting =
            self.helpers.iter().filter(|helper| helper.returns == kind).cloned().collect::<Vec<_>>();
        if fitting.is_empty() {
            return None;
        }
        let helper = self.random.pick(&fitting).clone();
        self.forms.note(if helper.name.contains("::<") { "helper generic" } else { "helper call" });
        // The counter is borrowed while the arguments of one of its methods are made.
        let all = self.helpers.clone();
        self.helpers.retain(|other| !(helper.name.contains('.') && other.name.contains('.')));
        let arguments = self.arguments(&helper.arguments, &helper.name);
        self.helpers = all;
        Some(format!("{}({arguments}{}).await", helper.name, helper.last))
    }

    fn arguments(&mut self, kinds: &[Kind], name: &str) -> String {
        let places = self.scopes.all(|variable| name.contains('.') && variable.name.contains('.'));
        let mut held = places.iter().map(|&id| (id, self.scopes.raise(id, State::Taken))).collect::<Vec<_>>();
        let mut text = String::new();
        for &kind in kinds {
            let argument = self.without_blocks(|this| match kind {
                Kind::SliceMut | Kind::IntsMut => match this.writable(Kind::Ints) {
                    Some(id) => {
                        let written = format!("&mut {}", this.scopes.write(id));
                        held.push((id, this.scopes.raise(id, State::Taken)));
                        written
                    }
                    None => "&mut vec![9, 8]".to_owned(),
                },
                Kind::IntMut => match this.writable(Kind::I32) {
                    Some(id) => {
                        let written = format!("&mut {}", this.scopes.write(id));
                        held.push((id, this.scopes.raise(id, State::Taken)));
                        written
                    }
                    None => "&mut 5".to_owned(),
                },
                Kind::Slice => match this.any_ints() {
                    Some(id) => {
                        let written = format!("&{}[..]", this.scopes.read(id));
                        held.push((id, this.scopes.raise(id, State::Shared)));
                        written
                    }
                    None => "&[5i32, 6, 7]".to_owned(),
                },
                Kind::ListRef => "&None".to_owned(),
                Kind::Items => "vec![3, 2, 1].into_iter()".to_owned(),
                kind => this.expression(kind, 1),
            });
            text.push_str(&argument);
            text.push_str(", ");
        }
        for (id, state) in held.into_iter().rev() {
            self.scopes.restore(id, state);
        }
        text
    }
}
