//! Loop nests that can move into a function of their own: what they are made of, as far as syntax shows it.

use std::collections::BTreeSet;

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, Expr, ExprAsync, ExprAwait, ExprBreak, ExprCall, ExprClosure, ExprContinue,
    ExprForLoop, ExprLoop, ExprMethodCall, ExprReturn, ExprTry, ExprWhile, Item, Lifetime, Macro, Pat, Stmt,
};

use crate::function::is_cooperative;
use crate::head;
use crate::number;
use crate::rest;
use crate::shape;
use crate::standard::Standard;

/// The most loops in one nest: as many as `Entry` has variants.
const MOST_LOOPS: usize = 6;

/// The deepest nest: each loop's body is written down once more for each loop around it that is entered.
const DEEPEST: usize = 3;

/// Tokens of a nest beyond which its copies grow too large.
const MOST_TOKENS: usize = 700;

/// A loop of a nest.
#[derive(Clone, Debug)]
pub(crate) struct NestLoop {
    pub(crate) number: usize,
    /// The place of the loop around it among the nest's loops; none for the outermost.
    pub(crate) parent: Option<usize>,
    /// Whether it has an iterator.
    pub(crate) is_for: bool,
    /// Whether it goes through a variable, or what its `iter` gives.
    pub(crate) is_over_variable: bool,
    /// Whether that is a slice, or a reference to a sequence.
    pub(crate) is_over_slice: bool,
}

/// A nest whose form allows that it moves.
#[derive(Debug)]
pub(crate) struct Structure {
    /// In the order of the source, the outermost first.
    pub(crate) loops: Vec<NestLoop>,
    /// Whether it leaves the function.
    pub(crate) returns: bool,
}

impl Structure {
    /// What the nest under `root` is made of, if it can move. `constant` are the loops that count as straight code,
    /// `function` is the name of the function.
    pub(crate) fn of(root: &Expr, constant: &BTreeSet<usize>, function: &Ident) -> Option<Structure> {
        if shape::tokens_in(quote::ToTokens::to_token_stream(root)) > MOST_TOKENS {
            return None;
        }
        let mut walk = Walk {
            structure: Structure { loops: Vec::new(), returns: false },
            can_move: true,
            has_closure: false,
            labels: Vec::new(),
            blocks: Vec::new(),
            depth: 0,
            constant,
            function,
        };
        walk.nested(root, None);
        let has_payload = walk.structure.loops.len() > 1;
        // Two copies of a closure have two types, of which a payload can have one.
        let can_move = walk.can_move && !(walk.has_closure && has_payload);
        can_move.then_some(walk.structure)
    }

    /// The loops around the one at `index`, itself last.
    pub(crate) fn chain(&self, index: usize) -> Vec<usize> {
        let mut chain = vec![index];
        while let Some(parent) = self.loops[chain[chain.len() - 1]].parent {
            chain.push(parent);
        }
        chain.reverse();
        chain
    }

    /// Whether no other loop of the nest is in the one at `index`.
    pub(crate) fn is_leaf(&self, index: usize) -> bool {
        self.loops.iter().all(|inner| inner.parent != Some(index))
    }

    /// The place of the loop with that number.
    pub(crate) fn find(&self, number: Option<usize>) -> Option<usize> {
        self.loops.iter().position(|node| Some(node.number) == number)
    }
}

struct Walk<'a> {
    structure: Structure,
    can_move: bool,
    has_closure: bool,
    /// Labels of the loops around, and of the labelled blocks around.
    labels: Vec<Lifetime>,
    blocks: Vec<Lifetime>,
    depth: usize,
    constant: &'a BTreeSet<usize>,
    function: &'a Ident,
}

impl Walk<'_> {
    /// The number of a loop that gets a check.
    fn number_of(&self, node: &Expr) -> Option<usize> {
        let attributes = rest::attributes_of(node)?;
        let (_, number) = number::split(attributes);
        number.filter(|number| !self.constant.contains(number) && !attributes.iter().any(is_cooperative))
    }

    /// A loop where a statement is.
    fn nested(&mut self, node: &Expr, parent: Option<usize>) {
        let (Some(attributes), Some((label, body))) = (rest::attributes_of(node), rest::parts_of(node))
        else {
            return;
        };
        let (others, number) = number::split(attributes);
        let Some(number) = number else {
            self.can_move = false;
            return;
        };
        let index = self.structure.loops.len();
        if let Expr::ForLoop(node) = node
            && parent.is_some()
        {
            self.visit_expr(&node.expr);
            self.can_move &= head::is_plain(&node.expr);
        }
        let is_for = matches!(node, Expr::ForLoop(_));
        let is_over_variable = matches!(node, Expr::ForLoop(node) if is_variable(&node.expr));
        self.structure.loops.push(NestLoop {
            number,
            parent,
            is_for,
            is_over_variable,
            is_over_slice: false,
        });
        self.depth += 1;
        self.can_move &= self.structure.loops.len() <= MOST_LOOPS && self.depth <= DEEPEST;
        self.can_move &= others == 0 || parent.is_none();
        self.labels.extend(label.iter().map(|label| label.name.clone()));
        if let Expr::While(node) = node {
            self.visit_expr(&node.cond);
            self.statements(body, index);
            if self.structure.loops.len() > index + 1 {
                self.can_move &= keeps_no_temporary(&node.cond);
            }
        } else {
            self.statements(body, index);
        }
        if let Expr::ForLoop(node) = node
            && self.structure.loops.len() > index + 1
        {
            // What no name holds, a stop inside could not carry: it would be dropped there.
            self.can_move &= binds_all(&node.pat) || head::gives_no_owners(&node.expr);
        }
        if label.is_some() {
            self.labels.pop();
        }
        self.depth -= 1;
    }

    fn statements(&mut self, block: &Block, parent: usize) {
        for statement in &block.stmts {
            match statement {
                Stmt::Expr(expression, _) => self.statement(expression, parent),
                statement => self.visit_stmt(statement),
            }
        }
    }

    fn statement(&mut self, expression: &Expr, parent: usize) {
        if self.number_of(expression).is_some() {
            self.nested(expression, Some(parent));
            return;
        }
        let before = self.structure.loops.len();
        let scrutinee = match expression {
            Expr::If(node) if node.attrs.is_empty() => {
                self.visit_expr(&node.cond);
                self.statements(&node.then_branch, parent);
                if let Some((_, otherwise)) = &node.else_branch {
                    self.statement(otherwise, parent);
                }
                &node.cond
            }
            Expr::Match(node) if node.attrs.is_empty() => {
                self.visit_expr(&node.expr);
                for arm in &node.arms {
                    self.visit_pat(&arm.pat);
                    self.statement(&arm.body, parent);
                }
                self.can_move &= self.structure.loops.len() == before || is_place(&node.expr);
                return;
            }
            Expr::Block(node) if node.attrs.is_empty() && node.label.is_none() => {
                return self.statements(&node.block, parent);
            }
            Expr::Unsafe(node) if node.attrs.is_empty() => return self.statements(&node.block, parent),
            expression => return self.visit_expr(expression),
        };
        if self.structure.loops.len() > before {
            self.can_move &= keeps_no_temporary(scrutinee);
        }
    }
}

/// Code without loops of the nest.
impl<'ast> Visit<'ast> for Walk<'_> {
    fn visit_expr(&mut self, node: &'ast Expr) {
        self.can_move &= self.number_of(node).is_none();
        self.can_move &= !matches!(node, Expr::Verbatim(_) | Expr::Yield(_) | Expr::TryBlock(_));
        match node {
            Expr::Block(block) if block.label.is_some() => {
                self.blocks.extend(block.label.iter().map(|label| label.name.clone()));
                visit::visit_expr(self, node);
                self.blocks.pop();
            }
            node => visit::visit_expr(self, node),
        }
    }

    // What is wrong with it, or what it skips, is said where the loop stays.
    fn visit_attribute(&mut self, node: &'ast Attribute) {
        self.can_move &= !is_cooperative(node);
    }

    fn visit_expr_await(&mut self, _: &'ast ExprAwait) {
        self.can_move = false;
    }

    fn visit_expr_async(&mut self, _: &'ast ExprAsync) {
        self.can_move = false;
    }

    // What leaves a closure does not leave the nest.
    fn visit_expr_closure(&mut self, node: &'ast ExprClosure) {
        self.has_closure = true;
        let outer = self.structure.returns;
        visit::visit_expr_closure(self, node);
        self.structure.returns = outer;
    }

    fn visit_item(&mut self, _: &'ast Item) {
        self.can_move = false;
    }

    fn visit_expr_call(&mut self, node: &'ast ExprCall) {
        if let Expr::Path(path) = &*node.func {
            let calls_itself = path.path.segments.last().is_some_and(|last| last.ident == *self.function);
            self.can_move &= !calls_itself;
        }
        visit::visit_expr_call(self, node);
    }

    fn visit_expr_method_call(&mut self, node: &'ast ExprMethodCall) {
        self.can_move &= node.method != *self.function;
        visit::visit_expr_method_call(self, node);
    }

    fn visit_expr_return(&mut self, node: &'ast ExprReturn) {
        self.structure.returns = true;
        visit::visit_expr_return(self, node);
    }

    fn visit_expr_try(&mut self, node: &'ast ExprTry) {
        self.structure.returns = true;
        visit::visit_expr_try(self, node);
    }

    fn visit_expr_break(&mut self, node: &'ast ExprBreak) {
        let is_of_block = node.label.as_ref().is_some_and(|label| self.blocks.contains(label));
        let is_known = node.label.as_ref().is_none_or(|label| self.labels.contains(label));
        self.can_move &= is_of_block || is_known && node.expr.is_none();
        visit::visit_expr_break(self, node);
    }

    fn visit_expr_continue(&mut self, node: &'ast ExprContinue) {
        self.can_move &= node.label.as_ref().is_none_or(|label| self.labels.contains(label));
    }

    // Skipped loops and constant ones: what leaves them is theirs.
    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        self.inner(node.label.as_ref(), |this| visit::visit_expr_for_loop(this, node));
    }

    fn visit_expr_while(&mut self, node: &'ast ExprWhile) {
        self.inner(node.label.as_ref(), |this| visit::visit_expr_while(this, node));
    }

    fn visit_expr_loop(&mut self, node: &'ast ExprLoop) {
        self.inner(node.label.as_ref(), |this| visit::visit_expr_loop(this, node));
    }

    fn visit_macro(&mut self, node: &'ast Macro) {
        let is_known = Standard::of(node).is_some_and(|known| known != Standard::Passing);
        let text = node.tokens.to_string();
        // What jumps in there would go unseen, and so would a call of the function to itself.
        let jumps = ["break", "continue", "return", "await", "?", &self.function.to_string()]
            .iter()
            .any(|sign| text.contains(sign));
        self.can_move &= is_known && !jumps;
        self.has_closure |= text.contains('|');
    }

    fn visit_pat(&mut self, node: &'ast Pat) {
        self.can_move &= !matches!(node, Pat::Macro(_) | Pat::Verbatim(_));
        visit::visit_pat(self, node);
    }
}

impl Walk<'_> {
    fn inner(&mut self, label: Option<&syn::Label>, visit: impl FnOnce(&mut Self)) {
        self.labels.extend(label.map(|label| label.name.clone()));
        visit(self);
        if label.is_some() {
            self.labels.pop();
        }
    }
}

/// Whether names hold all that the pattern is given.
fn binds_all(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(node) => node.subpat.is_none(),
        Pat::Paren(node) => binds_all(&node.pat),
        Pat::Tuple(node) => node.elems.iter().all(binds_all),
        Pat::Type(node) => binds_all(&node.pat),
        // Of a reference nothing is dropped.
        Pat::Reference(_) => true,
        _ => false,
    }
}

/// `v`, or `v.iter()`
fn is_variable(head: &Expr) -> bool {
    match head {
        Expr::Path(path) => path.path.get_ident().is_some(),
        Expr::MethodCall(call) => {
            call.method == "iter" && call.args.is_empty() && matches!(*call.receiver, Expr::Path(_))
        }
        _ => false,
    }
}

/// Whether an expression only names a place or a copy of it: it makes no temporary that lives on.
fn is_place(expression: &Expr) -> bool {
    match expression {
        Expr::Path(_) | Expr::Lit(_) => true,
        Expr::Paren(node) => is_place(&node.expr),
        Expr::Field(node) => is_place(&node.base),
        Expr::Index(node) => is_place(&node.expr) && is_place(&node.index),
        Expr::Unary(node) => is_place(&node.expr),
        Expr::Reference(node) => is_place(&node.expr),
        Expr::Binary(node) => is_place(&node.left) && is_place(&node.right),
        Expr::Tuple(node) => node.elems.iter().all(is_place),
        Expr::Cast(node) => is_place(&node.expr),
        _ => false,
    }
}

/// Whether a condition keeps no temporary while its block runs: those of a `let` live as long.
fn keeps_no_temporary(condition: &Expr) -> bool {
    match condition {
        Expr::Let(node) => match &*node.expr {
            // `stack.pop()`: what it gives is taken apart.
            Expr::MethodCall(call) => is_place(&call.receiver) && call.args.iter().all(is_place),
            scrutinee => is_place(scrutinee),
        },
        Expr::Binary(node) if matches!(node.op, syn::BinOp::And(_)) => {
            keeps_no_temporary(&node.left) && keeps_no_temporary(&node.right)
        }
        Expr::Paren(node) => keeps_no_temporary(&node.expr),
        _ => true,
    }
}
