//! Which functions have loops, and which of these have to stay as they are.

use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, Expr, ExprAsync, ExprClosure, ExprConst, ExprForLoop, ExprLoop, ExprWhile, FnArg, Item,
    Signature,
};

/// Attributes that mean the same on a wrapper.
const KNOWN: [&str; 22] = [
    "allow",
    "bench",
    "cfg",
    "cfg_attr",
    "cold",
    "deny",
    "deprecated",
    "doc",
    "expect",
    "forbid",
    "ignore",
    "inline",
    "must_use",
    "no_mangle",
    "rustversion",
    "should_panic",
    "test",
    "track_caller",
    "warn",
    "clippy",
    "rustfmt",
    "doc_cfg",
];

/// Where the loops of a function are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loops {
    None,
    /// Only where the attribute leaves them alone.
    Enclosed,
    Own,
}

/// Where the loops of `body` are. Those of nested items count for these.
pub(crate) fn loops(body: &Block) -> Loops {
    let mut finder = Finder { depth: 0, found: Loops::None };
    finder.visit_block(body);
    finder.found
}

struct Finder {
    /// Closures and the like around.
    depth: usize,
    found: Loops,
}

impl Finder {
    fn a_loop(&mut self) {
        if self.depth == 0 {
            self.found = Loops::Own;
        } else if self.found == Loops::None {
            self.found = Loops::Enclosed;
        }
    }

    fn enclosed(&mut self, visit: impl FnOnce(&mut Self)) {
        self.depth += 1;
        visit(self);
        self.depth -= 1;
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_expr_for_loop(&mut self, node: &'ast ExprForLoop) {
        self.a_loop();
        visit::visit_expr_for_loop(self, node);
    }

    fn visit_expr_while(&mut self, node: &'ast ExprWhile) {
        self.a_loop();
        visit::visit_expr_while(self, node);
    }

    fn visit_expr_loop(&mut self, node: &'ast ExprLoop) {
        self.a_loop();
        visit::visit_expr_loop(self, node);
    }

    fn visit_expr_closure(&mut self, node: &'ast ExprClosure) {
        self.enclosed(|finder| visit::visit_expr_closure(finder, node));
    }

    fn visit_expr_async(&mut self, node: &'ast ExprAsync) {
        self.enclosed(|finder| visit::visit_expr_async(finder, node));
    }

    fn visit_expr_const(&mut self, _: &'ast ExprConst) {}

    fn visit_item(&mut self, _: &'ast Item) {}

    fn visit_type(&mut self, _: &'ast syn::Type) {}

    fn visit_expr(&mut self, node: &'ast Expr) {
        match node {
            // An array's length is no code of the function.
            Expr::Repeat(repeat) => self.visit_expr(&repeat.expr),
            _ => visit::visit_expr(self, node),
        }
    }
}

/// Why a function with loops has to stay, if it has to.
pub(crate) fn obstacle(attributes: &[Attribute], signature: &Signature, loops: Loops) -> Option<String> {
    if signature.constness.is_some() {
        return Some("const fn".to_owned());
    }
    if signature.asyncness.is_some() {
        return Some("async fn".to_owned());
    }
    if signature.abi.is_some() || signature.variadic.is_some() {
        return Some("extern fn".to_owned());
    }
    for attribute in attributes {
        let first = attribute.path().segments.first().map(|segment| segment.ident.to_string());
        let name = first.unwrap_or_default();
        if !KNOWN.contains(&name.as_str()) {
            return Some(format!("#[{name}]"));
        }
    }
    let has_attributes = |input: &FnArg| match input {
        FnArg::Receiver(receiver) => !receiver.attrs.is_empty(),
        FnArg::Typed(typed) => !typed.attrs.is_empty(),
    };
    if signature.inputs.iter().any(has_attributes) {
        return Some("attributes of arguments".to_owned());
    }
    (loops == Loops::Enclosed).then(|| "loops only in closures".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_of_closures_and_items_are_not_the_functions_own() {
        let of = |text: &str| loops(&syn::parse_str(text).expect("a block"));
        assert_eq!(of("{ if a { for x in y {} } }"), Loops::Own);
        assert_eq!(of("{ f(|| loop {}); }"), Loops::Enclosed);
        assert_eq!(of("{ fn g() { loop {} } const { while true {} } }"), Loops::None);
        assert_eq!(of("{ let a = [0; { let mut n = 0; while n < 3 { n += 1; } n }]; }"), Loops::None);
    }

    #[test]
    fn what_cannot_be_cooperative_stays() {
        let of = |text: &str| {
            let function: syn::ItemFn = syn::parse_str(text).expect("a function");
            obstacle(&function.attrs, &function.sig, loops(&function.block))
        };
        assert_eq!(of("#[inline] fn f() { loop {} }"), None);
        assert_eq!(of("const fn f() { loop {} }"), Some("const fn".to_owned()));
        assert_eq!(of("extern \"C\" fn f() { loop {} }"), Some("extern fn".to_owned()));
        assert_eq!(
            of("#[target_feature(enable = \"avx2\")] fn f() { loop {} }"),
            Some("#[target_feature]".to_owned())
        );
    }
}
