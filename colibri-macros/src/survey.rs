//! A walk over the body in the order in which it runs: first to learn how each variable is used, then once per loop
//! to find what is certainly alive at its check.
//!
//! A variable is certainly alive at a check if some path from there reads it before assigning it. It is then also
//! certainly initialised and not moved, or the plain function would not compile: no types are needed to know that.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{
    Block, Expr, ExprForLoop, ExprMatch, FnArg, Item, Label, Lifetime, Lit, Local, Macro, Pat, Signature,
    Stmt, Token,
};

use crate::binding::{self, Binding, Bindings, Class, Declared, Uses};
use crate::divergence;
use crate::length;
use crate::number;
use crate::sources;

/// How an expression's value is used by what is around it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// As a value that goes elsewhere.
    Passed,
    /// As an operand of arithmetic.
    Calculated,
    /// Looked at and forgotten: compared, or printed.
    Looked,
    /// Under `&`.
    Borrowed,
    /// Under `&mut`.
    BorrowedMut,
    /// Under `&mut`, by `mem::swap`.
    Exchanged,
    /// As the receiver of a method; whether the result is surely no reference into it.
    Receiver { is_forgotten: bool },
    /// As the receiver of a method that ends its statement.
    Told,
    /// Matched; whether a pattern binds anything.
    Matched { binds: bool },
    /// Assigned to.
    Assigned,
    /// Assigned to by `+=` and its like.
    Updated,
}

/// A loop's check, as the walk found it.
#[derive(Debug, Default)]
pub(crate) struct Check {
    /// What a read follows on some path.
    pub(crate) alive: BTreeSet<Binding>,
    /// What is in scope and can be named.
    pub(crate) visible: BTreeSet<Binding>,
    /// What is in scope behind another variable of its name.
    pub(crate) shadowed: BTreeSet<Binding>,
    /// Whether operands of an unfinished expression are alive there.
    pub(crate) in_operand: bool,
    /// The `for` loops around it, itself included.
    pub(crate) iterators: Vec<usize>,
}

/// How a variable is used inside a loop.
#[derive(Debug, Default)]
pub(crate) struct Inside {
    pub(crate) uses: Uses,
    /// The methods of which it is the receiver.
    pub(crate) methods: BTreeSet<String>,
    /// Whether it is used by value where the loop may end for certain: it may be moved there.
    pub(crate) may_move: bool,
    /// Whether anything but an assignment names it.
    pub(crate) is_read: bool,
}

/// A loop with all that is in it.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    number: usize,
    /// By variable, of the loop's own and of what is around it.
    pub(crate) inside: BTreeMap<Binding, Inside>,
    /// What is in scope around it.
    pub(crate) outer: BTreeSet<Binding>,
}

/// The walk.
pub(crate) struct Survey {
    pub(crate) bindings: Bindings,
    /// In the first walk: uses are noted.
    notes_uses: bool,
    /// In the others: the loop whose check is looked at.
    target: Option<usize>,
    check: Check,
    was_reached: bool,
    /// The loop whose contents are looked at, and how deep in it the walk is.
    contents: Option<Contents>,
    depth_inside: usize,
    /// How many statements around end the way of control for certain.
    ends: usize,
    /// Of these, the ones around the loop whose contents are looked at.
    ends_outside: usize,
    /// The method whose receiver is walked.
    method: Option<String>,
    /// `self`, at a place of its own.
    receiver: Box<Ident>,
    /// Variables for which a path from the check to here assigns nothing; empty where no path leads.
    open: BTreeSet<Binding>,
    /// Loops and labelled blocks around: their label, and what is open where they are left.
    exits: Vec<(Option<Lifetime>, bool, BTreeSet<Binding>)>,
    /// How deep in operands of unfinished expressions.
    operands: usize,
    /// How deep in closures, whose variables are captured.
    closures: usize,
    iterators: Vec<usize>,
    /// From what the items of each `for` may borrow.
    items: BTreeMap<usize, BTreeSet<Binding>>,
    /// The statements around the walk, and around each loop: a way there that leaves out what stands before.
    statements: Vec<*const Stmt>,
    around: BTreeMap<usize, Vec<*const Stmt>>,
    /// Whether the loop whose contents are looked at has been passed.
    is_after_contents: bool,
    /// What was found before, by loop.
    checks: BTreeMap<usize, Rc<Check>>,
    /// The loops with a check, by number.
    pub(crate) loops: BTreeSet<usize>,
    /// The `for` loops over a variable that is a reference, whose iterator is small whatever is behind it.
    pub(crate) over_references: BTreeSet<usize>,
}

impl Survey {
    /// Learns how the variables of a function are used.
    pub(crate) fn of(signature: &Signature, body: &Block) -> Survey {
        let mut survey = Survey {
            bindings: Bindings::default(),
            notes_uses: true,
            target: None,
            check: Check::default(),
            was_reached: false,
            contents: None,
            depth_inside: 0,
            ends: 0,
            ends_outside: 0,
            method: None,
            receiver: Box::new(Ident::new("self", proc_macro2::Span::call_site())),
            open: BTreeSet::new(),
            exits: Vec::new(),
            operands: 0,
            closures: 0,
            iterators: Vec::new(),
            items: BTreeMap::new(),
            statements: Vec::new(),
            around: BTreeMap::new(),
            is_after_contents: false,
            checks: BTreeMap::new(),
            loops: BTreeSet::new(),
            over_references: BTreeSet::new(),
        };
        survey.function(signature, body);
        survey.notes_uses = false;
        survey
    }

    /// Finds what is alive at the check of the loop with that number.
    pub(crate) fn check_of(&mut self, number: usize, signature: &Signature, body: &Block) -> Rc<Check> {
        if let Some(check) = self.checks.get(&number) {
            return Rc::clone(check);
        }
        self.target = Some(number);
        self.was_reached = false;
        self.open.clear();
        self.function(signature, body);
        self.target = None;
        let check = Rc::new(std::mem::take(&mut self.check));
        self.checks.insert(number, Rc::clone(&check));
        check
    }

    /// Finds how variables are used in the loop with that number.
    pub(crate) fn contents_of(&mut self, number: usize, signature: &Signature, body: &Block) -> Contents {
        self.contents = Some(Contents { number, ..Contents::default() });
        self.is_after_contents = false;
        self.function(signature, body);
        self.is_after_contents = false;
        self.contents.take().unwrap_or_default()
    }

    /// From what the items of the loop with that number may borrow.
    pub(crate) fn sources_of_items(&self, number: usize) -> BTreeSet<Binding> {
        self.items.get(&number).cloned().unwrap_or_default()
    }

    fn function(&mut self, signature: &Signature, body: &Block) {
        let scope = self.bindings.open();
        for input in &signature.inputs {
            if let FnArg::Receiver(receiver) = input {
                *self.receiver = Ident::new("self", receiver.self_token.span);
                // Never assigned, so never saved.
                self.bindings.declare(&self.receiver, false, Class::Unknown, Declared::Elsewhere);
            }
            if let FnArg::Typed(typed) = input {
                let declared = if typed.attrs.is_empty() { Declared::Argument } else { Declared::Elsewhere };
                self.typed(&typed.pat, &typed.ty, declared);
            }
        }
        self.block(body);
        self.bindings.close(scope);
    }

    fn scoped<R>(&mut self, walk: impl FnOnce(&mut Self) -> R) -> R {
        let scope = self.bindings.open();
        let result = walk(self);
        self.bindings.close(scope);
        result
    }

    fn operand(&mut self, expression: &Expr, used: Use) {
        self.operands += 1;
        self.expression(expression, used);
        self.operands -= 1;
    }

    /// Control does not get here.
    fn diverge(&mut self) {
        self.open.clear();
    }

    // Variables.

    fn variable(&mut self, ident: &Ident, used: Use, is_projected: bool) {
        let Some(binding) = self.bindings.find(ident) else { return };
        let (captured, method) = (self.closures > 0, self.method.take());
        if self.notes_uses {
            let variable = &mut self.bindings.variables[binding];
            note(&mut variable.uses, used, is_projected, captured);
            if !is_projected {
                variable.methods.extend(method.clone());
            }
        }
        if self.depth_inside > 0
            && let Some(contents) = &mut self.contents
        {
            let inside = contents.inside.entry(binding).or_default();
            note(&mut inside.uses, used, is_projected, captured);
            let by_value = matches!(
                used,
                Use::Passed | Use::Calculated | Use::Matched { .. } | Use::Receiver { .. } | Use::Told
            );
            inside.may_move |= by_value && self.ends > self.ends_outside;
            inside.is_read |= used != Use::Assigned || is_projected;
            if !is_projected {
                inside.methods.extend(method);
            }
        }
        if used == Use::Assigned && !is_projected {
            self.open.remove(&binding);
        } else if self.open.contains(&binding) {
            self.check.alive.insert(binding);
        }
    }

    fn hide(&mut self, name: &str) {
        if self.depth_inside > 0 {
            for binding in self.bindings.spelled(name) {
                if let Some(contents) = &mut self.contents {
                    contents.inside.entry(binding).or_default().uses.hidden = true;
                }
            }
        }
        if self.notes_uses {
            for binding in self.bindings.spelled(name) {
                self.bindings.variables[binding].uses.hidden = true;
            }
        }
    }

    /// Declares what a pattern of a written type binds.
    fn typed(&mut self, pattern: &Pat, ty: &syn::Type, declared: Declared) {
        self.pattern(pattern, binding::class_of_type(ty), declared);
        if let Pat::Ident(node) = pattern
            && let Some(binding) = self.bindings.find(&node.ident)
        {
            self.bindings.variables[binding].element = binding::class_of_elements(ty);
            self.bindings.variables[binding].sequence = binding::sequence_of_type(ty);
        }
    }

    /// Notes that whatever the pattern binds may borrow from what the expression names.
    fn derive(&mut self, pattern: &Pat, expression: &Expr) {
        if !self.notes_uses {
            return;
        }
        let found = sources::of(expression, &mut self.bindings);
        if found.is_empty() {
            return;
        }
        if sources::binds_by_reference(pattern) {
            for binding in &found {
                self.bindings.variables[*binding].uses.borrowed = true;
            }
        }
        for ident in sources::bound_by(pattern) {
            if let Some(binding) = self.bindings.find(ident) {
                self.bindings.variables[binding].sources.extend(&found);
            }
        }
    }

    /// Declares what a pattern binds.
    fn pattern(&mut self, pattern: &Pat, class: Class, declared: Declared) {
        match pattern {
            Pat::Ident(node) if node.by_ref.is_none() && node.subpat.is_none() => {
                // A name with a capital is a constant or a variant.
                let starts_large = node.ident.to_string().starts_with(char::is_uppercase);
                if starts_large && node.mutability.is_none() {
                    return;
                }
                let declared = if node.attrs.is_empty() { declared } else { Declared::Elsewhere };
                let binding = self.bindings.declare(&node.ident, node.mutability.is_some(), class, declared);
                self.open.remove(&binding);
            }
            Pat::Ident(node) => {
                let binding = self.bindings.declare(&node.ident, false, Class::Unknown, Declared::Elsewhere);
                self.open.remove(&binding);
                if let Some((_, inner)) = &node.subpat {
                    self.pattern(inner, Class::Unknown, Declared::Elsewhere);
                }
            }
            Pat::Type(node) => self.typed(&node.pat, &node.ty, declared),
            Pat::Paren(node) => self.pattern(&node.pat, class, Declared::Elsewhere),
            // Only what is `Copy` can be moved out of a reference.
            Pat::Reference(node) => self.pattern(&node.pat, Class::Copied, Declared::Elsewhere),
            Pat::Tuple(node) => self.patterns(&node.elems),
            Pat::TupleStruct(node) => self.patterns(&node.elems),
            Pat::Slice(node) => self.patterns(&node.elems),
            Pat::Or(node) => self.patterns(&node.cases),
            Pat::Struct(node) => {
                for field in &node.fields {
                    self.pattern(&field.pat, Class::Unknown, Declared::Elsewhere);
                }
            }
            Pat::Macro(node) => self.tokens(&node.mac.tokens),
            _ => {}
        }
    }

    fn patterns<P>(&mut self, patterns: &Punctuated<Pat, P>) {
        for pattern in patterns {
            self.pattern(pattern, Class::Unknown, Declared::Elsewhere);
        }
    }

    // Statements.

    fn block(&mut self, block: &Block) {
        self.scoped(|this| {
            for statement in &block.stmts {
                if let Stmt::Item(item) = statement {
                    this.item(item);
                }
            }
            let last_end = match this.contents {
                Some(_) => block.stmts.iter().rposition(divergence::ends),
                None => None,
            };
            for (index, statement) in block.stmts.iter().enumerate() {
                if this.is_before_target(statement) {
                    if let Stmt::Local(local) = statement {
                        this.pattern(&local.pat, Class::Unknown, Declared::Elsewhere);
                    }
                    continue;
                }
                if this.is_after_contents {
                    break;
                }
                if this.notes_uses {
                    this.statements.push(std::ptr::from_ref(statement));
                }
                let ends = usize::from(last_end.is_some_and(|last| index <= last));
                this.ends += ends;
                match statement {
                    Stmt::Local(local) => this.local(local),
                    Stmt::Item(_) => {}
                    Stmt::Expr(expression, semicolon) => this.statement(expression, semicolon.is_some()),
                    Stmt::Macro(statement) => this.call_of_macro(&statement.mac),
                }
                this.ends -= ends;
                if this.notes_uses {
                    this.statements.pop();
                }
            }
        });
    }

    /// Whether the walk is on its way to a loop that is not in this statement.
    fn is_before_target(&self, statement: &Stmt) -> bool {
        let number = match (&self.contents, self.target) {
            (Some(contents), _) if self.depth_inside == 0 && !self.is_after_contents => contents.number,
            (None, Some(target)) if !self.was_reached => target,
            _ => return false,
        };
        let around = self.around.get(&number);
        !around.is_some_and(|around| around.contains(&std::ptr::from_ref(statement)))
    }

    /// An item hides variables of its name.
    fn item(&mut self, item: &Item) {
        match item {
            Item::Const(item) => self.hide(&item.ident.to_string()),
            Item::Static(item) => self.hide(&item.ident.to_string()),
            Item::Fn(item) => self.hide(&item.sig.ident.to_string()),
            Item::Use(item) => self.tokens(&quote::ToTokens::to_token_stream(item)),
            _ => {}
        }
    }

    fn local(&mut self, local: &Local) {
        let Some(init) = &local.init else {
            self.pattern(&local.pat, Class::Unknown, Declared::Late);
            return;
        };
        let class = self.bindings.class_of(&init.expr);
        let is_simple = matches!(&local.pat, Pat::Ident(_) | Pat::Type(_));
        let used = if is_simple { Use::Passed } else { Use::Matched { binds: true } };
        self.expression(&init.expr, used);
        if let Some((_, diverge)) = &init.diverge {
            let after = self.open.clone();
            self.expression(diverge, Use::Passed);
            self.open = after;
        }
        let (attributes, number) = number::split(&local.attrs);
        let declared = match number {
            Some(number) if is_simple && attributes == 0 && init.diverge.is_none() => Declared::Let(number),
            _ => Declared::Elsewhere,
        };
        match (&local.pat, strip(&init.expr)) {
            (Pat::Tuple(pattern), Expr::Tuple(values)) if pattern.elems.len() == values.elems.len() => {
                let classes: Vec<Class> =
                    values.elems.iter().map(|value| self.bindings.class_of(value)).collect();
                for (pattern, class) in pattern.elems.iter().zip(classes) {
                    self.pattern(pattern, class, Declared::Elsewhere);
                }
            }
            _ => self.pattern(&local.pat, class, declared),
        }
        self.derive(&local.pat, &init.expr);
        if let Pat::Ident(node) = &local.pat
            && self.notes_uses
            && let Some(binding) = self.bindings.find(&node.ident)
        {
            let length = length::of(&init.expr, &mut self.bindings);
            let variable = &mut self.bindings.variables[binding];
            variable.sequence = binding::sequence_of(&init.expr);
            if let Some((length, of)) = length {
                (variable.length, variable.length_of) = (Some(length), of);
            }
        }
    }

    fn statement(&mut self, expression: &Expr, has_semicolon: bool) {
        match expression {
            // The result is dropped at once: no reference into the receiver lives on.
            Expr::MethodCall(call) if has_semicolon => {
                self.receiver(call, Use::Told);
                for argument in &call.args {
                    self.operand(argument, Use::Passed);
                }
            }
            _ => self.expression(expression, Use::Passed),
        }
    }

    // `mem::swap(&mut one, &mut other)`
    fn exchange(&mut self, one: &Ident, other: &Ident) {
        for (ident, with) in [(one, other), (other, one)] {
            self.variable(ident, Use::Exchanged, false);
            if let (true, Some(binding), Some(with)) =
                (self.notes_uses, self.bindings.find(ident), self.bindings.find(with))
            {
                self.bindings.variables[binding].exchanged.insert(with);
                let sources = self.bindings.variables[with].sources.clone();
                self.bindings.variables[binding].sources.extend(sources);
            }
        }
    }

    /// What a function gets by `&mut` may keep whatever else it gets.
    fn give(&mut self, arguments: &Punctuated<Expr, Token![,]>) {
        if !self.notes_uses {
            return;
        }
        for argument in arguments {
            let Expr::Reference(reference) = argument else { continue };
            let Some(ident) = binding::base_of(&reference.expr) else { continue };
            let Some(binding) = self.bindings.find(ident) else { continue };
            if reference.mutability.is_some() {
                for other in arguments {
                    let mut found = sources::of(other, &mut self.bindings);
                    found.remove(&binding);
                    self.bindings.variables[binding].sources.extend(found);
                }
            }
        }
    }

    fn receiver(&mut self, call: &syn::ExprMethodCall, used: Use) {
        if self.notes_uses
            && let Some(binding) =
                binding::base_of(&call.receiver).and_then(|ident| self.bindings.find(ident))
        {
            // It may keep what it is given.
            for argument in &call.args {
                let found = sources::of(argument, &mut self.bindings);
                self.bindings.variables[binding].sources.extend(found);
            }
        }
        let is_variable = matches!(strip(&call.receiver), Expr::Path(_));
        self.method = is_variable.then(|| call.method.to_string());
        self.operand(&call.receiver, used);
        self.method = None;
    }

    // Expressions.

    fn expression(&mut self, expression: &Expr, used: Use) {
        match expression {
            Expr::Path(path) => {
                if let Some(ident) = path.path.get_ident() {
                    self.variable(ident, used, false);
                }
            }
            Expr::Paren(node) => self.expression(&node.expr, used),
            Expr::Group(node) => self.expression(&node.expr, used),
            Expr::Index(node) => {
                self.place(&node.expr, used);
                self.operand(&node.index, Use::Calculated);
            }
            Expr::Field(node) => self.place(&node.base, used),
            Expr::Unary(node) => match node.op {
                syn::UnOp::Deref(_) => self.dereference(&node.expr, used),
                _ => self.operand(&node.expr, Use::Calculated),
            },
            Expr::Reference(node) => {
                let used = if node.mutability.is_some() { Use::BorrowedMut } else { Use::Borrowed };
                self.operand(&node.expr, used);
            }
            Expr::RawAddr(node) => self.operand(&node.expr, Use::BorrowedMut),
            Expr::Binary(node) => self.binary(node),
            Expr::Assign(node) => {
                self.expression(&node.right, Use::Passed);
                self.assigned(&node.left);
                if self.notes_uses
                    && let Expr::Path(path) = strip(&node.left)
                    && let Some(binding) = path.path.get_ident().and_then(|ident| self.bindings.find(ident))
                {
                    let found = sources::of(&node.right, &mut self.bindings);
                    self.bindings.variables[binding].sources.extend(found);
                }
            }
            Expr::Call(node) => {
                match &*node.func {
                    Expr::Path(path) => {
                        if let Some(ident) = path.path.get_ident() {
                            self.hide(&ident.to_string());
                            self.variable(ident, Use::Looked, false);
                        }
                    }
                    func => self.operand(func, Use::Borrowed),
                }
                if let Some((one, other)) = exchanged(node) {
                    self.exchange(one, other);
                    return;
                }
                if !exchanges(&node.func) {
                    self.give(&node.args);
                }
                node.args.iter().for_each(|argument| self.operand(argument, Use::Passed));
                if never_returns(&node.func) {
                    self.diverge();
                }
            }
            Expr::MethodCall(node) => {
                // Names that everywhere mean a number or a truth about the receiver.
                let is_forgotten =
                    node.args.is_empty() && (node.method == "len" || node.method == "is_empty");
                let is_of_part = !matches!(strip(&node.receiver), Expr::Path(_));
                if binding::is_numeric(&node.method) {
                    self.operand(&node.receiver, if is_of_part { Use::Calculated } else { Use::Passed });
                } else {
                    self.receiver(node, Use::Receiver { is_forgotten });
                }
                node.args.iter().for_each(|argument| self.operand(argument, Use::Passed));
            }
            Expr::Cast(node) => self.expression(&node.expr, Use::Calculated),
            Expr::Range(node) => {
                for bound in [&node.start, &node.end].into_iter().flatten() {
                    self.operand(bound, Use::Calculated);
                }
            }
            Expr::Array(node) => node.elems.iter().for_each(|element| self.operand(element, Use::Passed)),
            Expr::Tuple(node) => node.elems.iter().for_each(|element| self.operand(element, Use::Passed)),
            Expr::Repeat(node) => self.operand(&node.expr, Use::Passed),
            Expr::Struct(node) => {
                node.fields.iter().for_each(|field| self.operand(&field.expr, Use::Passed));
                if let Some(rest) = &node.rest {
                    self.operand(rest, Use::Matched { binds: true });
                }
            }
            Expr::Let(node) => {
                self.expression(&node.expr, Use::Matched { binds: binds(&node.pat) });
                self.pattern(&node.pat, Class::Unknown, Declared::Elsewhere);
                self.derive(&node.pat, &node.expr);
            }
            Expr::If(node) => self.conditional(node),
            Expr::Match(node) => self.matching(node),
            Expr::Block(node) => match &node.label {
                None => self.block(&node.block),
                Some(label) => {
                    self.exits.push((Some(label.name.clone()), false, BTreeSet::new()));
                    self.block(&node.block);
                    self.leave();
                }
            },
            Expr::Unsafe(node) => self.block(&node.block),
            Expr::Const(_) | Expr::Lit(_) | Expr::Infer(_) => {}
            Expr::Await(node) => self.operand(&node.base, Use::Passed),
            Expr::Try(node) => self.operand(&node.expr, Use::Passed),
            Expr::Return(node) => {
                node.expr.iter().for_each(|value| self.expression(value, Use::Passed));
                self.diverge();
            }
            Expr::Break(node) => {
                node.expr.iter().for_each(|value| self.expression(value, Use::Passed));
                self.exit(node.label.as_ref());
            }
            Expr::Continue(_) => self.diverge(),
            Expr::Closure(node) => self.capture(|this| {
                for input in &node.inputs {
                    this.pattern(input, Class::Unknown, Declared::Elsewhere);
                }
                this.expression(&node.body, Use::Passed);
            }),
            Expr::Async(node) => self.capture(|this| this.block(&node.block)),
            Expr::Macro(node) => self.call_of_macro(&node.mac),
            Expr::ForLoop(node) => self.for_loop(node),
            Expr::While(node) => self.looping(&node.attrs, &node.label, Some(&node.cond), &node.body),
            Expr::Loop(node) => self.looping(&node.attrs, &node.label, None, &node.body),
            // Whatever this is: its variables stay where they are.
            other => self.tokens(&quote::ToTokens::to_token_stream(other)),
        }
    }

    /// The base of an index, a field or a dereference.
    fn place(&mut self, base: &Expr, used: Use) {
        match base {
            Expr::Path(path) => {
                if let Some(ident) = path.path.get_ident() {
                    self.variable(ident, used, true);
                }
            }
            Expr::Paren(node) => self.place(&node.expr, used),
            Expr::Index(node) => {
                self.place(&node.expr, used);
                self.operand(&node.index, Use::Calculated);
            }
            Expr::Field(node) => self.place(&node.base, used),
            Expr::Unary(node) if matches!(node.op, syn::UnOp::Deref(_)) => self.dereference(&node.expr, used),
            base => self.operand(base, used),
        }
    }

    fn dereference(&mut self, base: &Expr, used: Use) {
        if let Expr::Path(path) = strip(base)
            && let Some(binding) = path.path.get_ident().and_then(|ident| self.bindings.find(ident))
        {
            self.bindings.variables[binding].uses.dereferenced = true;
        }
        self.place(base, used);
    }

    fn binary(&mut self, node: &syn::ExprBinary) {
        use syn::BinOp;
        match &node.op {
            BinOp::And(_) | BinOp::Or(_) => {
                // A `let` in a chain stays in scope, so no scope is opened here.
                self.expression(&node.left, Use::Looked);
                let without_right = self.open.clone();
                self.expression(&node.right, Use::Looked);
                self.open.extend(without_right);
            }
            operator if binding::is_comparison(operator) => {
                self.operand(&node.left, Use::Looked);
                self.operand(&node.right, Use::Looked);
            }
            BinOp::Add(_)
            | BinOp::Sub(_)
            | BinOp::Mul(_)
            | BinOp::Div(_)
            | BinOp::Rem(_)
            | BinOp::BitXor(_)
            | BinOp::BitAnd(_)
            | BinOp::BitOr(_)
            | BinOp::Shl(_)
            | BinOp::Shr(_) => {
                self.operand(&node.left, Use::Calculated);
                self.operand(&node.right, Use::Calculated);
            }
            _ => {
                self.operand(&node.right, Use::Calculated);
                self.operand(&node.left, Use::Updated);
            }
        }
    }

    fn assigned(&mut self, left: &Expr) {
        match left {
            Expr::Tuple(node) => node.elems.iter().for_each(|element| self.assigned(element)),
            Expr::Array(node) => node.elems.iter().for_each(|element| self.assigned(element)),
            Expr::Call(node) => node.args.iter().for_each(|element| self.assigned(element)),
            Expr::Struct(node) => node.fields.iter().for_each(|field| self.assigned(&field.expr)),
            left => self.expression(left, Use::Assigned),
        }
    }

    fn conditional(&mut self, node: &syn::ExprIf) {
        let scope = self.bindings.open();
        self.expression(&node.cond, Use::Looked);
        let otherwise = self.open.clone();
        self.block(&node.then_branch);
        self.bindings.close(scope);
        let then = std::mem::replace(&mut self.open, otherwise);
        if let Some((_, otherwise)) = &node.else_branch {
            self.expression(otherwise, Use::Passed);
        }
        self.open.extend(then);
    }

    fn matching(&mut self, node: &ExprMatch) {
        let binds = node.arms.iter().any(|arm| binds(&arm.pat));
        self.expression(&node.expr, Use::Matched { binds });
        let before = self.open.clone();
        let mut after = BTreeSet::new();
        for arm in &node.arms {
            self.open = before.clone();
            self.scoped(|this| {
                this.pattern(&arm.pat, Class::Unknown, Declared::Elsewhere);
                this.derive(&arm.pat, &node.expr);
                if let Pat::Guard(guarded) = &arm.pat {
                    this.pattern(&guarded.pat, Class::Unknown, Declared::Elsewhere);
                    this.expression(&guarded.guard, Use::Looked);
                }
                this.expression(&arm.body, Use::Passed);
            });
            after.append(&mut self.open);
        }
        self.open = after;
    }

    fn capture(&mut self, walk: impl FnOnce(&mut Self)) {
        self.closures += 1;
        let (open, exits) = (self.open.clone(), std::mem::take(&mut self.exits));
        self.scoped(walk);
        (self.open, self.exits) = (open, exits);
        self.closures -= 1;
    }

    // Loops.

    fn for_loop(&mut self, node: &ExprForLoop) {
        let class = self.class_of_items(&node.expr);
        self.expression(&node.expr, Use::Passed);
        let (attributes, number) = number::split(&node.attrs);
        if let Expr::Path(path) = strip(&node.expr)
            && let Some(binding) = path.path.get_ident().and_then(|ident| self.bindings.find(ident))
            && matches!(self.bindings.variables[binding].class, Class::Shared | Class::Exclusive)
        {
            self.over_references.extend(number);
        }
        if let Some(number) = number
            && self.notes_uses
            && !matches!(strip(&node.expr), Expr::Range(_))
        {
            let found = sources::of(&node.expr, &mut self.bindings);
            self.items.insert(number, found);
        }
        let inside = self.enter(number);
        self.iterators.extend(number);
        self.exits.push((node.label.as_ref().map(|label| label.name.clone()), true, BTreeSet::new()));
        for round in 0..2 {
            let was_reached = self.was_reached;
            self.arrive(number);
            let header = self.open.clone();
            self.exits.last_mut().expect("pushed above").2.extend(header);
            self.scoped(|this| {
                let declared = match number {
                    Some(number) if attributes == 0 => Declared::For(number),
                    _ => Declared::Elsewhere,
                };
                this.pattern(&node.pat, class, declared);
                if !matches!(strip(&node.expr), Expr::Range(_)) {
                    this.derive(&node.pat, &node.expr);
                }
                this.block(&node.body);
            });
            if round == 0 && was_reached == self.was_reached {
                break;
            }
        }
        self.leave();
        self.depart(inside);
        if number.is_some() {
            self.iterators.pop();
        }
    }

    fn depart(&mut self, inside: usize) {
        self.depth_inside -= inside;
        self.is_after_contents |= inside > 0 && self.depth_inside == 0;
    }

    /// Enters a loop: 1 if it, or one around it, is the one whose contents are looked at.
    fn enter(&mut self, number: Option<usize>) -> usize {
        let Some(contents) = &mut self.contents else { return 0 };
        let is_target = number == Some(contents.number);
        if is_target {
            contents.outer = self.bindings.visible();
            self.ends_outside = self.ends;
        }
        let inside = usize::from(is_target || self.depth_inside > 0);
        self.depth_inside += inside;
        inside
    }

    /// What is known of the items that a `for` goes through.
    fn class_of_items(&mut self, head: &Expr) -> Class {
        match strip(head) {
            // Only numbers and `char` can be counted through.
            Expr::Range(_) => Class::Scalar,
            // References to the elements.
            Expr::Path(path) => match path.path.get_ident().and_then(|ident| self.bindings.find(ident)) {
                Some(binding) => {
                    let variable = &self.bindings.variables[binding];
                    let is_slice = variable.class == Class::Shared && variable.element != Class::Unknown;
                    if is_slice { Class::Shared } else { Class::Unknown }
                }
                None => Class::Unknown,
            },
            _ => Class::Unknown,
        }
    }

    fn looping(
        &mut self,
        attributes: &[syn::Attribute],
        label: &Option<Label>,
        condition: Option<&Expr>,
        body: &Block,
    ) {
        let (_, number) = number::split(attributes);
        let inside = self.enter(number);
        self.exits.push((label.as_ref().map(|label| label.name.clone()), true, BTreeSet::new()));
        for round in 0..2 {
            let was_reached = self.was_reached;
            self.arrive(number);
            self.scoped(|this| {
                if let Some(condition) = condition {
                    this.expression(condition, Use::Looked);
                    let left = this.open.clone();
                    this.exits.last_mut().expect("pushed above").2.extend(left);
                }
                this.block(body);
            });
            if round == 0 && was_reached == self.was_reached {
                break;
            }
        }
        self.leave();
        self.depart(inside);
    }

    /// At the check of a loop. If it is the one that is looked at, all paths start here.
    fn arrive(&mut self, number: Option<usize>) {
        let Some(number) = number else { return };
        if self.closures > 0 {
            return;
        }
        self.loops.insert(number);
        if self.notes_uses {
            self.around.entry(number).or_insert_with(|| self.statements.clone());
        }
        if self.target == Some(number) && !self.was_reached {
            self.was_reached = true;
            self.check.visible = self.bindings.visible();
            self.open = self.bindings.in_scope();
            self.check.shadowed = self.open.difference(&self.check.visible).copied().collect();
            self.check.in_operand = self.operands > 0;
            self.check.iterators = self.iterators.clone();
        }
    }

    fn exit(&mut self, label: Option<&Lifetime>) {
        let open = std::mem::take(&mut self.open);
        let target = self.exits.iter_mut().rev().find(|(name, is_loop, _)| match label {
            Some(label) => name.as_ref().is_some_and(|name| name.ident == label.ident),
            None => *is_loop,
        });
        if let Some((.., exit)) = target {
            exit.extend(open);
        }
    }

    /// After a loop or a labelled block.
    fn leave(&mut self) {
        if let Some((_, is_loop, exit)) = self.exits.pop() {
            if is_loop {
                self.open = exit;
            } else {
                self.open.extend(exit);
            }
        }
    }

    // Macros.

    fn call_of_macro(&mut self, node: &Macro) {
        let name = node.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        match name.as_str() {
            "assert" | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq" | "debug_assert_ne"
            | "eprint" | "eprintln" | "format" | "print" | "println" | "write" | "writeln" => {
                self.known_macro(node, Use::Looked)
            }
            "panic" | "todo" | "unimplemented" | "unreachable" => {
                self.known_macro(node, Use::Looked);
                self.diverge();
            }
            "vec" => self.known_macro(node, Use::Passed),
            _ => {
                self.tokens(&node.tokens);
                // It may never get further.
                self.diverge();
            }
        }
    }

    /// A macro of the standard library: its arguments are expressions, and a format string may name variables.
    fn known_macro(&mut self, node: &Macro, used: Use) {
        match node.parse_body_with(arguments) {
            Ok(arguments) => {
                let was_temporary = std::mem::replace(&mut self.bindings.is_temporary, true);
                // A macro may evaluate its arguments only sometimes, and only the first of them for certain.
                for (index, argument) in arguments.iter().enumerate() {
                    let before = self.open.clone();
                    match argument {
                        Expr::Lit(literal) => {
                            if let Lit::Str(text) = &literal.lit {
                                self.format_string(&text.value());
                            }
                        }
                        Expr::Assign(named) => self.operand(&named.right, used),
                        argument => self.operand(argument, used),
                    }
                    if index > 0 {
                        self.open = before;
                    }
                }
                self.bindings.is_temporary = was_temporary;
            }
            Err(_) => self.tokens(&node.tokens),
        }
    }

    /// `"{x} {y:?}"` looks at `x` and `y`.
    fn format_string(&mut self, text: &str) {
        for name in names_in(text) {
            for binding in self.bindings.spelled(&name) {
                if self.notes_uses && self.closures > 0 {
                    self.bindings.variables[binding].uses.captured = true;
                }
            }
        }
    }

    /// Tokens of which nobody knows what becomes of them.
    fn tokens(&mut self, tokens: &TokenStream) {
        for token in tokens.clone() {
            match token {
                TokenTree::Ident(ident) => self.hide(&ident.to_string()),
                TokenTree::Group(group) => self.tokens(&group.stream()),
                TokenTree::Literal(literal) => {
                    for name in names_in(&literal.to_string()) {
                        self.hide(&name);
                    }
                }
                TokenTree::Punct(_) => {}
            }
        }
    }
}

fn note(uses: &mut Uses, used: Use, is_projected: bool, captured: bool) {
    uses.captured |= captured;
    uses.projected |= is_projected;
    match used {
        Use::Passed => uses.passed |= !is_projected,
        Use::Calculated => {
            uses.calculated |= !is_projected;
            uses.operand |= !is_projected;
        }
        Use::Looked => {}
        Use::Borrowed | Use::BorrowedMut => {
            if is_projected {
                uses.lent = true;
            } else {
                uses.borrowed = true;
            }
            uses.changed |= used == Use::BorrowedMut;
            uses.written |= used == Use::BorrowedMut;
        }
        Use::Exchanged => {
            uses.exchanged = true;
            uses.changed = true;
            uses.written = true;
        }
        Use::Receiver { is_forgotten } => {
            uses.receiver |= !is_projected;
            uses.lent |= !is_forgotten;
            uses.changed = true;
            uses.written |= is_projected;
        }
        Use::Told => {
            uses.receiver |= !is_projected;
            uses.changed = true;
            uses.written |= is_projected;
        }
        Use::Matched { binds } => {
            uses.matched |= binds && !is_projected;
            uses.lent |= binds && is_projected;
            uses.changed |= binds;
            uses.written |= binds;
        }
        Use::Assigned | Use::Updated => {
            uses.assigned |= !is_projected;
            uses.replaced |= used == Use::Assigned && !is_projected;
            uses.changed = true;
            uses.written = true;
            uses.calculated |= used == Use::Updated && !is_projected;
        }
    }
}

/// The arguments of a macro: `a, b`, or the `value; count` of `vec!`.
fn arguments(input: ParseStream<'_>) -> syn::Result<Vec<Expr>> {
    let mut arguments = Vec::new();
    while !input.is_empty() {
        arguments.push(input.parse()?);
        if input.peek(Token![;]) {
            input.parse::<Token![;]>()?;
        } else if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(arguments)
}

/// Names in braces.
fn names_in(text: &str) -> Vec<String> {
    text.split('{')
        .skip(1)
        .map(|rest| {
            rest.chars()
                .take_while(|character| character.is_alphanumeric() || *character == '_')
                .collect::<String>()
        })
        .filter(|name| name.starts_with(|first: char| first.is_alphabetic() || first == '_'))
        .collect()
}

/// The variables of a `mem::swap(&mut one, &mut other)`.
fn exchanged(node: &syn::ExprCall) -> Option<(&Ident, &Ident)> {
    let Expr::Path(path) = &*node.func else { return None };
    if !exchanges(&node.func) || path.path.segments.last()?.ident != "swap" {
        return None;
    }
    let variable = |index: usize| match node.args.get(index)? {
        Expr::Reference(reference) if reference.mutability.is_some() => match &*reference.expr {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        },
        _ => None,
    };
    Some((variable(0)?, variable(1)?))
}

/// `mem::swap` and its like: whoever gets a reference there does not keep it.
fn exchanges(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    let mut segments = path.path.segments.iter().rev();
    segments.next().is_some_and(|last| ["swap", "replace", "take"].iter().any(|name| last.ident == name))
        && segments.next().is_some_and(|module| module.ident == "mem")
}

/// The functions of the standard library that do not return.
fn never_returns(function: &Expr) -> bool {
    let Expr::Path(path) = function else { return false };
    path.path.segments.last().is_some_and(|segment| {
        ["exit", "abort", "panic_any", "resume_unwind", "unreachable_unchecked", "handle_alloc_error"]
            .iter()
            .any(|name| segment.ident == name)
    })
}

fn strip(expression: &Expr) -> &Expr {
    match expression {
        Expr::Paren(node) => strip(&node.expr),
        expression => expression,
    }
}

/// Whether a pattern binds anything, as far as can be seen.
fn binds(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(_) | Pat::Macro(_) | Pat::Verbatim(_) => true,
        Pat::Lit(_) | Pat::Path(_) | Pat::Range(_) | Pat::Rest(_) | Pat::Wild(_) => false,
        Pat::Or(node) => node.cases.iter().any(binds),
        Pat::Tuple(node) => node.elems.iter().any(binds),
        _ => true,
    }
}
