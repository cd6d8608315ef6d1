//! How long arrays are, where the function says so: what goes through a short one is no long loop.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};
use syn::{Block, Expr, FnArg, Ident, ItemConst, Lit, Local, Pat, PatIdent, Signature, Type};

/// The lengths of an array, of its elements, and so on.
type Lengths = Vec<u64>;

/// The arrays of a function, by name. A name that is declared twice is none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrays {
    lengths: BTreeMap<String, Lengths>,
    declared: BTreeMap<String, usize>,
}

impl Arrays {
    /// Of a function.
    pub(crate) fn of(signature: &Signature, body: &Block) -> Arrays {
        let mut arrays = Arrays::default();
        for input in &signature.inputs {
            if let FnArg::Typed(typed) = input {
                arrays.visit_pat(&typed.pat);
                if let Pat::Ident(node) = &*typed.pat {
                    arrays.add(&node.ident, of_type(&typed.ty));
                }
            }
        }
        arrays.visit_block(body);
        let declared = std::mem::take(&mut arrays.declared);
        arrays.lengths.retain(|name, _| declared.get(name) == Some(&1));
        arrays.declared = declared;
        arrays
    }

    fn add(&mut self, ident: &Ident, lengths: Lengths) {
        if !lengths.is_empty() {
            self.lengths.insert(ident.to_string(), lengths);
        }
    }

    fn declare(&mut self, ident: &Ident) {
        *self.declared.entry(ident.to_string()).or_default() += 1;
    }

    /// These, and the variable of a loop that goes through one of them.
    pub(crate) fn inside(&self, head: &Expr, pattern: &Pat) -> Arrays {
        let mut inside = self.clone();
        let lengths = self.of_items(head);
        if let Some(ident) = element(head, pattern)
            && lengths.len() > 1
            && self.declared.get(&ident.to_string()) == Some(&1)
        {
            inside.add(ident, lengths[1..].to_vec());
        }
        inside
    }

    /// How often a loop with that head goes round, at most.
    pub(crate) fn rounds(&self, head: &Expr) -> Option<u64> {
        self.of_items(head).first().copied()
    }

    /// The lengths of what a loop with that head goes through.
    fn of_items(&self, head: &Expr) -> Lengths {
        const PASSING: [&str; 11] = [
            "cloned",
            "copied",
            "enumerate",
            "into_iter",
            "iter",
            "iter_mut",
            "rev",
            "skip",
            "step_by",
            "take",
            "zip",
        ];
        match head {
            Expr::MethodCall(call) if PASSING.iter().any(|name| call.method == name) => {
                self.of_items(&call.receiver)
            }
            head => self.of_place(head),
        }
    }

    fn of_place(&self, place: &Expr) -> Lengths {
        match place {
            Expr::Paren(node) => self.of_items(&node.expr),
            Expr::Reference(node) => self.of_place(&node.expr),
            Expr::Path(path) => {
                let name = path.path.get_ident().map(Ident::to_string);
                name.and_then(|name| self.lengths.get(&name)).cloned().unwrap_or_default()
            }
            // By a number: what a range gives is no array.
            Expr::Index(node) if !matches!(*node.index, Expr::Range(_)) => {
                self.of_place(&node.expr).into_iter().skip(1).collect()
            }
            place => of_value(place),
        }
    }
}

impl<'ast> Visit<'ast> for Arrays {
    fn visit_pat_ident(&mut self, node: &'ast PatIdent) {
        self.declare(&node.ident);
        visit::visit_pat_ident(self, node);
    }

    fn visit_item_const(&mut self, node: &'ast ItemConst) {
        self.declare(&node.ident);
        self.add(&node.ident, of_type(&node.ty));
    }

    fn visit_local(&mut self, node: &'ast Local) {
        visit::visit_local(self, node);
        match &node.pat {
            Pat::Ident(pattern) => {
                if let Some(init) = &node.init {
                    self.add(&pattern.ident, of_value(&init.expr));
                }
            }
            Pat::Type(typed) => {
                if let Pat::Ident(pattern) = &*typed.pat {
                    self.add(&pattern.ident, of_type(&typed.ty));
                }
            }
            _ => {}
        }
    }
}

/// The part of a loop's pattern that is an element.
fn element<'a>(head: &Expr, pattern: &'a Pat) -> Option<&'a Ident> {
    match (head, pattern) {
        (_, Pat::Ident(node)) => match head {
            Expr::MethodCall(call) if call.method == "enumerate" || call.method == "zip" => None,
            _ => Some(&node.ident),
        },
        (_, Pat::Reference(node)) => element(head, &node.pat),
        (Expr::MethodCall(call), Pat::Tuple(node)) if call.method == "enumerate" && node.elems.len() == 2 => {
            element(&call.receiver, &node.elems[1])
        }
        _ => None,
    }
}

fn of_type(ty: &Type) -> Lengths {
    match ty {
        Type::Paren(inner) => of_type(&inner.elem),
        Type::Reference(inner) => of_type(&inner.elem),
        Type::Array(array) => match literal(&array.len) {
            Some(length) => [vec![length], of_type(&array.elem)].concat(),
            None => Lengths::new(),
        },
        _ => Lengths::new(),
    }
}

fn of_value(value: &Expr) -> Lengths {
    match value {
        Expr::Paren(inner) => of_value(&inner.expr),
        Expr::Reference(inner) => of_value(&inner.expr),
        Expr::Array(array) => {
            let of_elements = array.elems.first().map(of_value).unwrap_or_default();
            [vec![array.elems.len() as u64], of_elements].concat()
        }
        Expr::Repeat(array) => match literal(&array.len) {
            Some(length) => [vec![length], of_value(&array.expr)].concat(),
            None => Lengths::new(),
        },
        _ => Lengths::new(),
    }
}

/// A number that is written down.
pub(crate) fn literal(expression: &Expr) -> Option<u64> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) => number.base10_parse().ok(),
            _ => None,
        },
        _ => None,
    }
}
