//! The function's local variables: which name means which, what is known of their types, and how they are used.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use proc_macro2::Ident;
use syn::{Expr, Lit, Stmt, UnOp};

use crate::kind::{self, Class, Sequence};
use crate::method::{LOOKING, NUMERIC};

/// A local variable of the function, by its place in [`Bindings`].
pub(crate) type Binding = usize;

/// Where a variable is declared, which decides how it can be made assignable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declared {
    /// An argument that is a plain name.
    Argument,
    /// `let x = ..`: the statement with this number.
    Let(usize),
    /// `for x in ..`: the loop with this number.
    For(usize),
    /// Part of a larger pattern: only assignable if the user wrote `mut`.
    Elsewhere,
    /// `let x;`: it may not have a value yet.
    Late,
}

/// How a variable is used, over the whole function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Uses {
    /// `&x`, `&mut x`, `ref`: a borrow may outlive the expression.
    pub(crate) borrowed: bool,
    /// In a closure or an `async` block.
    pub(crate) captured: bool,
    /// Among the tokens of an unknown macro, or called as a function.
    pub(crate) hidden: bool,
    /// As a whole value that goes elsewhere, where a `&mut` could be reborrowed without a sign of it.
    pub(crate) passed: bool,
    /// As an operand of arithmetic, which no `&mut` can be.
    pub(crate) calculated: bool,
    /// The same, by value: not on the left of a `+=`.
    pub(crate) operand: bool,
    /// As the receiver of a method.
    pub(crate) receiver: bool,
    /// Exchanged with another by `mem::swap`.
    pub(crate) exchanged: bool,
    /// Matched against a pattern that binds.
    pub(crate) matched: bool,
    /// Through an index, a field or a dereference.
    pub(crate) projected: bool,
    /// Through a dereference that is written.
    pub(crate) dereferenced: bool,
    /// So that a reference through it may live on: `&x[..]`, or a method whose result is used.
    pub(crate) lent: bool,
    /// Assigned as a whole, or updated.
    pub(crate) assigned: bool,
    /// Assigned as a whole: what it held may have been moved.
    pub(crate) replaced: bool,
    /// Named other than to assign it, or to update it.
    pub(crate) read: bool,
    /// Perhaps changed, by an assignment, a borrow or a method.
    pub(crate) changed: bool,
    /// The same, other than by a method of its own.
    pub(crate) written: bool,
}

impl Uses {
    /// Whether the variable itself may be changed, and not only what it refers to.
    pub(crate) fn changed_as_whole(&self) -> bool {
        self.assigned || self.borrowed || self.captured || self.hidden || self.exchanged || self.matched
    }
}

/// One variable.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) ident: Ident,
    pub(crate) class: Class,
    /// Of a slice, an array or a vector whose type is written: its elements' class.
    pub(crate) element: Class,
    /// What kind of sequence it is, or refers to, as far as that is written.
    pub(crate) sequence: Sequence,
    /// Of a vector made by `vec![value; length]`: the length, if it can be written down again.
    pub(crate) length: Option<Expr>,
    /// The variables that the length is made of.
    pub(crate) length_of: BTreeSet<Binding>,
    /// With which it is exchanged, by `mem::swap`.
    pub(crate) exchanged: BTreeSet<Binding>,
    /// The methods of which it is the receiver, in the whole function.
    pub(crate) methods: BTreeSet<String>,
    /// The variables from which it got its value, if it may hold a borrow of them.
    pub(crate) sources: BTreeSet<Binding>,
    pub(crate) declared: Declared,
    pub(crate) is_mut: bool,
    /// Whether it is part of an item of which nothing has a destructor, as far as the head of its `for` shows.
    pub(crate) owns_nothing: bool,
    pub(crate) uses: Uses,
    /// The numbers of the places where it is named, in order.
    pub(crate) mentions: Vec<usize>,
}

impl Variable {
    /// Whether one of the places where it is named is in the range.
    pub(crate) fn is_mentioned_in(&self, places: &std::ops::Range<usize>) -> bool {
        let first = self.mentions.partition_point(|place| *place < places.start);
        self.mentions.get(first).is_some_and(|place| *place < places.end)
    }

    /// Whether it is assigned, or updated, and nobody reads it: the compiler says so, if the expansion does not read it.
    pub(crate) fn is_assigned_only(&self) -> bool {
        let uses = &self.uses;
        uses.assigned && !(uses.read || uses.captured || uses.hidden)
    }

    /// Whether the variable may be moved into a tuple and back at a check where it is certainly initialised. Else it
    /// stays in the future's memory: correct, but slower.
    pub(crate) fn can_be_saved(&self, in_operand: bool) -> bool {
        let uses = &self.uses;
        if uses.borrowed || uses.captured || uses.hidden || !self.can_be_assigned() {
            return false;
        }
        match self.class {
            // Copies, whatever is borrowed through them.
            Class::Scalar | Class::Shared => true,
            Class::Copied => !(uses.lent || uses.matched),
            // Moved: nothing borrowed through it may be alive.
            Class::Exclusive => !(in_operand || uses.passed || uses.matched || uses.lent),
            Class::Unknown => {
                !(in_operand || uses.receiver || uses.matched || uses.projected || uses.lent)
                    && (uses.calculated || !uses.passed)
            }
        }
    }

    /// Whether the expansion may assign it, without hiding an error or a warning about the user's own code.
    fn can_be_assigned(&self) -> bool {
        if self.declared == Declared::Late {
            return false;
        }
        if self.is_assigned_only() {
            return false;
        }
        if self.is_mut {
            // A `mut` that nobody needs keeps its warning.
            return self.uses.assigned
                || self.class != Class::Exclusive && self.uses.written
                || self.methods.iter().any(|method| !LOOKING.contains(&method.as_str()));
        }
        // An assignment to what is not `mut` is the user's error, or a late initialisation.
        !self.uses.assigned && self.declared != Declared::Elsewhere
    }
}

/// A name and its hygiene: two `x` of different macros are two names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key(String, String);

impl Key {
    pub(crate) fn of(ident: &Ident) -> Key {
        // The only sign of a token's hygiene that the compiler shows: `#4 bytes(12..13)`.
        let span =
            if proc_macro::is_available() { format!("{:?}", ident.span().unwrap()) } else { String::new() };
        let context = span.split_once(' ').map_or("", |(context, _)| context);
        Key(ident.to_string(), context.to_owned())
    }

    pub(crate) fn name(&self) -> &str {
        &self.0
    }
}

/// A [`Key`], by its place in [`Bindings`].
type Symbol = usize;

/// All variables of the function, and the scopes that are open.
#[derive(Debug, Default)]
pub(crate) struct Bindings {
    pub(crate) variables: Vec<Variable>,
    /// By the place of the identifier in the syntax tree, which stays as it is: a pattern that is walked twice
    /// declares the same variable.
    by_place: HashMap<*const Ident, Binding>,
    scopes: Vec<(Symbol, Binding)>,
    keys: Vec<Key>,
    symbols: HashMap<Key, Symbol>,
    /// To ask the compiler for a token's hygiene takes long, and each name is looked up often.
    symbols_by_place: HashMap<*const Ident, Symbol>,
    /// In tokens that were parsed for this walk only: their places will be other names' places.
    pub(crate) is_temporary: bool,
}

impl Bindings {
    /// Opens a scope; [`Bindings::close`] ends it.
    pub(crate) fn open(&self) -> usize {
        self.scopes.len()
    }

    pub(crate) fn close(&mut self, scope: usize) {
        self.scopes.truncate(scope);
    }

    pub(crate) fn declare(
        &mut self,
        ident: &Ident,
        is_mut: bool,
        class: Class,
        declared: Declared,
    ) -> Binding {
        let next = self.variables.len();
        let binding = if self.is_temporary {
            next
        } else {
            *self.by_place.entry(std::ptr::from_ref(ident)).or_insert(next)
        };
        if binding == next {
            let ident = ident.clone();
            self.variables.push(Variable {
                ident,
                class,
                element: Class::Unknown,
                sequence: Sequence::default(),
                length: None,
                length_of: BTreeSet::new(),
                exchanged: BTreeSet::new(),
                methods: BTreeSet::new(),
                sources: BTreeSet::new(),
                declared,
                is_mut,
                owns_nothing: false,
                uses: Uses::default(),
                mentions: Vec::new(),
            });
        }
        let symbol = self.symbol(ident);
        self.scopes.push((symbol, binding));
        binding
    }

    fn symbol(&mut self, ident: &Ident) -> Symbol {
        let place = std::ptr::from_ref(ident);
        if !self.is_temporary
            && let Some(symbol) = self.symbols_by_place.get(&place)
        {
            return *symbol;
        }
        let key = Key::of(ident);
        let next = self.keys.len();
        let symbol = *self.symbols.entry(key.clone()).or_insert(next);
        if symbol == next {
            self.keys.push(key);
        }
        if !self.is_temporary {
            self.symbols_by_place.insert(place, symbol);
        }
        symbol
    }

    pub(crate) fn find(&mut self, ident: &Ident) -> Option<Binding> {
        if self.scopes.is_empty() {
            return None;
        }
        let symbol = self.symbol(ident);
        self.scopes.iter().rev().find(|(name, _)| *name == symbol).map(|(_, binding)| *binding)
    }

    /// All variables of that spelling, whatever their hygiene and scope.
    pub(crate) fn spelled(&self, name: &str) -> Vec<Binding> {
        self.scopes
            .iter()
            .filter(|(symbol, _)| self.keys[*symbol].name() == name)
            .map(|(_, binding)| *binding)
            .collect()
    }

    /// All variables in scope.
    pub(crate) fn in_scope(&self) -> BTreeSet<Binding> {
        self.scopes.iter().map(|(_, binding)| *binding).collect()
    }

    /// What can be named here: of each name, the innermost.
    pub(crate) fn visible(&self) -> BTreeSet<Binding> {
        let mut innermost = BTreeMap::new();
        for (symbol, binding) in &self.scopes {
            innermost.insert(*symbol, *binding);
        }
        innermost.into_values().collect()
    }

    /// What an initialiser says about its variable's type.
    pub(crate) fn class_of(&mut self, expression: &Expr) -> Class {
        match expression {
            Expr::Lit(literal) => match literal.lit {
                Lit::Int(_) | Lit::Float(_) | Lit::Bool(_) | Lit::Char(_) | Lit::Byte(_) => Class::Scalar,
                Lit::Str(_) | Lit::ByteStr(_) | Lit::CStr(_) => Class::Shared,
                _ => Class::Unknown,
            },
            Expr::Paren(inner) => self.class_of(&inner.expr),
            Expr::Reference(reference) if reference.mutability.is_none() => Class::Shared,
            Expr::Call(call) => match &*call.func {
                // `u64::from(x)`
                Expr::Path(path) if path.path.segments.len() == 2 => {
                    let (ty, function) = (&path.path.segments[0].ident, &path.path.segments[1].ident);
                    let makes = ["from", "from_be_bytes", "from_bits", "from_le_bytes", "from_ne_bytes"];
                    let is_number = kind::is_scalar(ty) && makes.iter().any(|name| function == name);
                    if is_number { Class::Scalar } else { Class::Unknown }
                }
                _ => Class::Unknown,
            },
            Expr::MethodCall(call) => {
                // Everywhere a `usize`; and what numbers have.
                let is_length = call.method == "len" && call.args.is_empty();
                let is_number = NUMERIC.iter().any(|name| call.method == name)
                    && self.class_of(&call.receiver) == Class::Scalar;
                if is_length || is_number { Class::Scalar } else { Class::Unknown }
            }
            Expr::If(node) => match (&node.then_branch.stmts[..], &node.else_branch) {
                ([Stmt::Expr(then, None)], Some((_, otherwise))) => {
                    match (self.class_of(then), self.class_of(otherwise)) {
                        (Class::Scalar, Class::Scalar) => Class::Scalar,
                        _ => Class::Unknown,
                    }
                }
                _ => Class::Unknown,
            },
            Expr::Block(node) => match &node.block.stmts[..] {
                [Stmt::Expr(value, None)] => self.class_of(value),
                _ => Class::Unknown,
            },
            Expr::Cast(cast) => kind::class_of_type(&cast.ty),
            Expr::Unary(unary) => match (unary.op, self.class_of(&unary.expr)) {
                (UnOp::Neg(_) | UnOp::Not(_), Class::Scalar) => Class::Scalar,
                _ => Class::Unknown,
            },
            Expr::Binary(binary) if is_comparison(&binary.op) => Class::Scalar,
            Expr::Binary(binary) => match (self.class_of(&binary.left), self.class_of(&binary.right)) {
                (Class::Scalar, Class::Scalar) => Class::Scalar,
                _ => Class::Unknown,
            },
            // By a number; by a range it would be a place that no variable can hold.
            Expr::Index(index) => match &*index.expr {
                Expr::Path(path) => match path.path.get_ident().and_then(|ident| self.find(ident)) {
                    Some(binding) => self.variables[binding].element,
                    None => Class::Unknown,
                },
                _ => Class::Unknown,
            },
            // `u64::MAX`
            Expr::Path(path) if path.path.segments.len() == 2 => {
                let constant = path.path.segments[1].ident.to_string();
                let is_constant =
                    constant.chars().all(|character| character.is_ascii_uppercase() || character == '_');
                if kind::is_scalar(&path.path.segments[0].ident) && is_constant {
                    Class::Scalar
                } else {
                    Class::Unknown
                }
            }
            // `std::f64::consts::PI`
            Expr::Path(path) if path.path.segments.len() > 2 => {
                let names: Vec<String> =
                    path.path.segments.iter().map(|name| name.ident.to_string()).collect();
                match &names[names.len() - 3..] {
                    [float, consts, _] if (float == "f64" || float == "f32") && consts == "consts" => {
                        Class::Scalar
                    }
                    _ => Class::Unknown,
                }
            }
            Expr::Path(path) => match path.path.get_ident().and_then(|ident| self.find(ident)) {
                Some(binding) => match self.variables[binding].class {
                    Class::Exclusive => Class::Unknown,
                    class => class,
                },
                None => Class::Unknown,
            },
            _ => Class::Unknown,
        }
    }
}

/// The variable at the root of a place: `x` in `x.a[i].b`.
pub(crate) fn base_of(expression: &Expr) -> Option<&Ident> {
    match expression {
        Expr::Path(path) => path.path.get_ident(),
        Expr::Paren(node) => base_of(&node.expr),
        Expr::Field(node) => base_of(&node.base),
        Expr::Index(node) => base_of(&node.expr),
        Expr::Unary(node) if matches!(node.op, UnOp::Deref(_)) => base_of(&node.expr),
        _ => None,
    }
}

/// Whether the operator gives a `bool`, whatever its operands are.
pub(crate) fn is_comparison(operator: &syn::BinOp) -> bool {
    use syn::BinOp;
    matches!(
        operator,
        BinOp::Eq(_)
            | BinOp::Ne(_)
            | BinOp::Lt(_)
            | BinOp::Le(_)
            | BinOp::Gt(_)
            | BinOp::Ge(_)
            | BinOp::And(_)
            | BinOp::Or(_)
    )
}
