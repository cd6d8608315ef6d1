//! A walk over the body in the order in which it runs: first to learn how each variable is used, then once per loop
//! to find what is certainly alive at its check.
//!
//! A variable is certainly alive at a check if some path from there reads it before assigning it. It is then also
//! certainly initialised and not moved, or the plain function would not compile: no types are needed to know that.

mod expression;
mod loops;
mod macros;
mod statement;
mod variable;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::rc::Rc;

use proc_macro2::Ident;
use syn::{Block, Expr, FnArg, Lifetime, Signature, Stmt};

use crate::binding::{Binding, Bindings, Declared, Uses};
use crate::kind::Class;

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

/// What the first walk found in a statement.
#[derive(Debug)]
struct Extent {
    /// The numbers of the places where it names a variable.
    mentions: Range<usize>,
    /// Whether control may leave it but at its end.
    jumps: bool,
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
    /// The first variable that is declared inside each `for`: its iterator is there before.
    pub(crate) first_inside: BTreeMap<usize, Binding>,
    /// The statements around the walk, and around each loop: a way there that leaves out what stands before.
    statements: Vec<*const Stmt>,
    around: BTreeMap<usize, Vec<*const Stmt>>,
    /// What is in each statement: most need not be walked again for most loops.
    extents: HashMap<*const Stmt, Extent>,
    /// How many variables were named, and how many jumps there were, in the first walk so far.
    mentions: usize,
    jumps: usize,
    /// How many variables had been named before each loop.
    pub(crate) named_before: BTreeMap<usize, usize>,
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
            first_inside: BTreeMap::new(),
            statements: Vec::new(),
            around: BTreeMap::new(),
            extents: HashMap::new(),
            mentions: 0,
            jumps: 0,
            named_before: BTreeMap::new(),
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
        self.jumps += 1;
        self.open.clear();
    }
}

fn strip(expression: &Expr) -> &Expr {
    match expression {
        Expr::Paren(node) => strip(&node.expr),
        expression => expression,
    }
}
