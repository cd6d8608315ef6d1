//! Two of each function: the twin, and the wrapper that drives it.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::visit::{self, Visit};
use syn::{
    Attribute, Block, GenericParam, ImplItem, ImplItemFn, ItemFn, ItemImpl, ItemTrait, Path, Signature,
    TraitItemFn, Type,
};

use crate::find::{self, Loops};
use crate::signature::{self, Parameters, place, text};
use crate::text::Edited;

/// A function with loops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    /// One for each function of the crate.
    pub(crate) number: u32,
    /// `src/parse.rs:17 number`
    pub(crate) id: String,
    /// Why it stays plain, if it has to.
    pub(crate) obstacle: Option<String>,
}

/// What the twins are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Twins {
    /// Plain functions: this tries the tool itself.
    Plain,
    Cooperative,
    /// The same, on a runtime of the driver's that is wrong on purpose.
    Faulty(&'static str),
}

impl Twins {
    /// What stands before a twin.
    fn attribute(self) -> String {
        match self {
            Twins::Plain => String::new(),
            Twins::Cooperative => "#[::colibri_core::cooperative] ".to_owned(),
            Twins::Faulty(runtime) => {
                format!("#[::colibri_core::cooperative(crate = ::convert_driver::faulty::{runtime})] ")
            }
        }
    }
}

/// Which functions become which twins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan<'a> {
    pub(crate) twins: Twins,
    /// Functions that stay plain.
    pub(crate) stay: &'a BTreeSet<u32>,
    /// Convert only functions whose id contains this.
    pub(crate) only: Option<&'a str>,
}

/// The text of the file `name` with its functions converted. The numbers of functions begin with `first`, and are the
/// same whatever the plan says.
pub(crate) fn convert(
    name: &str,
    original: &str,
    first: u32,
    plan: Plan<'_>,
) -> Result<(String, Vec<Function>), String> {
    if original.starts_with('\u{feff}') || original.starts_with("#!/") {
        return Err("begins with a byte order mark or a shebang".to_owned());
    }
    let file = syn::parse_file(original).map_err(|error| error.to_string())?;
    let mut converter = Converter {
        name,
        plan,
        edited: Edited::new(original),
        functions: Vec::new(),
        next: first,
        around: Vec::new(),
    };
    converter.visit_file(&file);
    Ok((converter.edited.finish(), converter.functions))
}

/// The marks around what was made of a function: comments, since these change nothing.
pub(crate) fn marks(number: u32) -> (String, String) {
    (format!("/*<{number}*/"), format!("/*{number}>*/"))
}

/// The `impl` or `trait` around a function.
struct Around<'ast> {
    attributes: &'ast [Attribute],
    parameters: Parameters,
    kind: Kind<'ast>,
    /// What is to follow it.
    after: String,
}

enum Kind<'ast> {
    Inherent,
    /// Of a type that is known to be this crate's, if `is_own`.
    Of {
        path: &'ast Path,
        ty: &'ast Type,
        is_own: bool,
        types: Vec<String>,
    },
    Trait(&'ast ItemTrait),
}

struct Converter<'a, 'ast> {
    name: &'a str,
    plan: Plan<'a>,
    edited: Edited<'a>,
    functions: Vec<Function>,
    next: u32,
    around: Vec<Around<'ast>>,
}

impl<'ast> Visit<'ast> for Converter<'_, 'ast> {
    fn visit_item_fn(&mut self, node: &'ast ItemFn) {
        visit::visit_item_fn(self, node);
        self.function(&node.attrs, &node.sig, &node.block, node, false);
    }

    fn visit_impl_item_fn(&mut self, node: &'ast ImplItemFn) {
        visit::visit_impl_item_fn(self, node);
        self.function(&node.attrs, &node.sig, &node.block, node, true);
    }

    fn visit_trait_item_fn(&mut self, node: &'ast TraitItemFn) {
        visit::visit_trait_item_fn(self, node);
        if let Some(body) = &node.default {
            self.function(&node.attrs, &node.sig, body, node, true);
        }
    }

    fn visit_item_impl(&mut self, node: &'ast ItemImpl) {
        let kind = match &node.trait_ {
            None => Kind::Inherent,
            Some((path, _)) => {
                let types = node.items.iter().filter_map(|item| match item {
                    ImplItem::Type(ty) => Some(ty.ident.to_string()),
                    _ => None,
                });
                let ty = &*node.self_ty;
                Kind::Of { path, ty, is_own: is_own(node), types: types.collect() }
            }
        };
        self.around.push(Around {
            attributes: &node.attrs,
            parameters: Parameters::of(&node.generics),
            kind,
            after: String::new(),
        });
        visit::visit_item_impl(self, node);
        self.leave(place(node).end);
    }

    fn visit_item_trait(&mut self, node: &'ast ItemTrait) {
        self.around.push(Around {
            attributes: &node.attrs,
            parameters: Parameters::of(&node.generics),
            kind: Kind::Trait(node),
            after: String::new(),
        });
        visit::visit_item_trait(self, node);
        self.leave(place(node).end);
    }
}

impl Converter<'_, '_> {
    fn leave(&mut self, end: usize) {
        let after = self.around.pop().map_or(String::new(), |around| around.after);
        if !after.is_empty() {
            self.edited.replace(end..end, after);
        }
    }

    fn function(
        &mut self,
        attributes: &[Attribute],
        signature: &Signature,
        body: &Block,
        item: &impl quote::ToTokens,
        is_method: bool,
    ) {
        let loops = find::loops(body);
        if loops == Loops::None {
            return;
        }
        let number = self.next;
        self.next += 1;
        let line = signature.ident.span().start().line;
        let id = format!("{}:{line} {}", self.name, signature.ident);
        let obstacle = find::obstacle(attributes, signature, loops);
        let is_chosen =
            self.plan.only.is_none_or(|only| id.contains(only)) && !self.plan.stay.contains(&number);
        if obstacle.is_none() && is_chosen {
            self.split(number, attributes, signature, body, item, is_method);
        }
        self.functions.push(Function { number, id, obstacle });
    }

    /// Puts a wrapper and a twin in place of the function.
    fn split(
        &mut self,
        number: u32,
        attributes: &[Attribute],
        signature: &Signature,
        body: &Block,
        item: &impl quote::ToTokens,
        is_method: bool,
    ) {
        let whole = place(item);
        let name = signature.ident.to_string();
        let twin = format!("{}__twin_{number}", name.trim_start_matches("r#"));
        let unsafety = signature::unsafety(signature);
        let arguments = signature::arguments(signature);
        let after_name = place(&signature.ident).end;
        let body_start = place(body).start;

        let mut header = Edited::new(self.edited.original(0..body_start));
        for (pattern, new) in &arguments.patterns {
            header.replace(pattern.clone(), new.clone());
        }
        let declaration = header.take(after_name..body_start);
        let head = self.edited.original(whole.start..after_name);

        let attribute = self.plan.twins.attribute();
        let conditions = conditions(attributes);
        let around = if is_method { self.around.last() } else { None };
        if let Some(Around { kind: Kind::Of { path, is_own: true, types, .. }, .. }) = around {
            name_types(&mut self.edited, item.to_token_stream(), &text(path), types);
            // Of what `DoubleEndedIterator` and the like inherit.
            if path.segments.last().is_some_and(|last| last.ident.to_string().ends_with("Iterator")) {
                let inherited = ["Item".to_owned()];
                name_types(&mut self.edited, item.to_token_stream(), "::core::iter::Iterator", &inherited);
            }
        }
        let rest = self.edited.take(after_name..whole.end);
        let twin_item = format!("{conditions}{attribute}{unsafety}fn {twin}{rest}");
        let (open, close) = marks(number);

        // What names the twin, what follows the wrapper, and what follows the `impl` or `trait` around both.
        let (caller, beside, after) = match around {
            None => (String::new(), twin_item, String::new()),
            Some(around) => {
                let Parameters { declared, named, condition } = &around.parameters;
                let outer = self::conditions(around.attributes);
                let declared_twin = format!("{conditions}{attribute}{unsafety}fn {twin}{declaration};");
                let extension = format!("Twin{number}");
                let caller = format!("<Self as {extension}{named}>::");
                match &around.kind {
                    Kind::Inherent => ("Self::".to_owned(), twin_item, String::new()),
                    Kind::Of { ty, is_own: true, .. } => {
                        let after =
                            format!("{outer}impl<{declared}> {} {condition} {{ {twin_item} }}", text(ty));
                        ("Self::".to_owned(), String::new(), after)
                    }
                    Kind::Of { path, ty, .. } => {
                        let above = if signature::has_hidden_lifetime(path) {
                            String::new()
                        } else {
                            format!(": {}", text(path))
                        };
                        let after = format!(
                            "{outer}trait {extension}<{declared}>{above} {condition} {{ {declared_twin} }} \
                             {outer}impl<{declared}> {extension}{named} for {} {condition} {{ {twin_item} }}",
                            text(ty)
                        );
                        (caller, String::new(), after)
                    }
                    Kind::Trait(item) => {
                        let above = format!("{}{named}", item.ident);
                        let comma = if declared.is_empty() || declared.ends_with(',') { "" } else { "," };
                        let after = format!(
                            "{outer}trait {extension}<{declared}>: {above} {condition} {{ {twin_item} }} \
                             {outer}impl<{declared}{comma} Self_: {above} + ?Sized> {extension}{named} for Self_ {condition} {{}}"
                        );
                        (caller, String::new(), after)
                    }
                }
            }
        };

        let call = format!(
            "{caller}{twin}{}({})",
            signature::turbofish(&signature.generics),
            arguments.names.join(", ")
        );
        let call = if unsafety.is_empty() { call } else { format!("unsafe {{ {call} }}") };
        let call = match self.plan.twins {
            Twins::Plain => call,
            Twins::Cooperative | Twins::Faulty(_) => format!("::convert_driver::drive({number}, {call})"),
        };
        self.edited.replace(whole, format!("{open}{head}{declaration}{{ {call} }} {beside}{close}"));
        if let (false, Some(around)) = (after.is_empty(), self.around.last_mut()) {
            around.after.push_str(&format!("\n{open}{after}{close}"));
        }
    }
}

/// The attributes without which an item may not exist.
fn conditions(attributes: &[Attribute]) -> String {
    let conditions = attributes.iter().filter(|attribute| attribute.path().is_ident("cfg"));
    conditions.map(|attribute| format!("{} ", text(attribute))).collect()
}

/// Whether the type of a trait's implementation is surely this crate's, so that it can have methods of its own: these
/// know what the type implies about its parameters, as a trait of our own would not.
fn is_own(node: &ItemImpl) -> bool {
    const OTHERS: [&str; 34] = [
        "Arc",
        "BTreeMap",
        "BTreeSet",
        "BinaryHeap",
        "Box",
        "Cow",
        "HashMap",
        "HashSet",
        "Option",
        "Range",
        "RangeInclusive",
        "Rc",
        "Result",
        "String",
        "Vec",
        "VecDeque",
        "bool",
        "char",
        "f32",
        "f64",
        "i128",
        "i16",
        "i32",
        "i64",
        "i8",
        "isize",
        "str",
        "u128",
        "u16",
        "u32",
        "u64",
        "u8",
        "usize",
        "Wrapping",
    ];
    let Type::Path(path) = &*node.self_ty else { return false };
    let Some(last) = path.path.segments.last() else { return false };
    let is_parameter = |parameter: &GenericParam| matches!(parameter, GenericParam::Type(parameter) if parameter.ident == last.ident);
    path.qself.is_none()
        && !OTHERS.contains(&last.ident.to_string().as_str())
        && !node.generics.params.iter().any(is_parameter)
        && signature::are_all_mentioned(&node.generics, &node.self_ty.to_token_stream())
}

// Input:  `Self::Item`, in an implementation of `Iterator`
// Output: `<Self as Iterator>::Item`, which means the same outside of it
fn name_types(edited: &mut Edited<'_>, tokens: TokenStream, path: &str, types: &[String]) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        match (token, tokens.get(index + 1..index + 4)) {
            (TokenTree::Group(group), _) => name_types(edited, group.stream(), path, types),
            (
                TokenTree::Ident(own),
                Some([TokenTree::Punct(_), TokenTree::Punct(colon), TokenTree::Ident(ty)]),
            ) if own == "Self" && colon.as_char() == ':' && types.iter().any(|name| ty == name) => {
                let place = own.span().byte_range();
                if edited.is_free(&place) {
                    edited.replace(place, format!("<Self as {path}>"));
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(original: &str) -> String {
        let plan = Plan { twins: Twins::Cooperative, stay: &BTreeSet::new(), only: None };
        let (text, _) = convert("lib.rs", original, 0, plan).expect("it parses");
        syn::parse_file(&text).expect("it still parses");
        text
    }

    #[test]
    fn a_function_becomes_a_wrapper_and_a_twin() {
        assert_eq!(
            converted("// first\n#[inline]\npub fn f<T>(mut a: T,  b: u8) -> T { loop {} } // last\n"),
            "// first\n/*<0*/#[inline]\npub fn f<T>(a: T,  b: u8) -> T { ::convert_driver::drive(0, f__twin_0::<T>(a, b)) } \
             #[::colibri_core::cooperative] fn f__twin_0<T>(mut a: T,  b: u8) -> T { loop {} }/*0>*/ // last\n"
        );
    }

    #[test]
    fn a_canary_names_its_runtime() {
        let plan = Plan { twins: Twins::Faulty("lost_item"), stay: &BTreeSet::new(), only: None };
        let (text, _) = convert("lib.rs", "fn f() { loop {} }", 0, plan).expect("it parses");
        assert!(text.contains("cooperative(crate = ::convert_driver::faulty::lost_item)]"), "{text}");
    }

    #[test]
    fn what_has_no_loop_stays_byte_for_byte() {
        let text = "fn f( ) {g  (|| 1) }\nmacro_rules! m { () => { fn h() { loop {} } } }\n";
        assert_eq!(converted(text), text);
    }

    #[test]
    fn the_twin_of_a_trait_method_leaves_the_implementation() {
        let text = converted(
            "impl Iterator for Own { type Item = u8; fn next(&mut self) -> Option<Self::Item> { loop {} } }",
        );
        let (inside, after) = text.split_once("\n/*<0*/").expect("something follows");
        assert!(inside.contains("drive(0, Self::next__twin_0(self))"), "{text}");
        assert!(after.starts_with("impl<> Own"), "{text}");
        assert!(after.contains("-> Option<<Self as Iterator>::Item>"), "{text}");
        let back = converted(
            "impl DoubleEndedIterator for Own { fn next_back(&mut self) -> Option<Self::Item> { loop {} } }",
        );
        assert!(back.contains("-> Option<<Self as ::core::iter::Iterator>::Item> { loop"), "{back}");
        let foreign = converted("impl<T: Copy> Mine for Vec<T> { fn f(&self) { loop {} } }");
        assert!(foreign.contains("trait Twin0<T : Copy>: Mine"), "{foreign}");
        assert!(foreign.contains("<Self as Twin0< T >>::f__twin_0(self)"), "{foreign}");
    }

    #[test]
    fn nested_functions_are_converted_inside_of_the_twin() {
        let text = converted("fn f() { fn g() { loop {} } loop { g() } }");
        let twin = text.split("fn f__twin_1").nth(1).expect("the twin");
        assert!(twin.contains("fn g__twin_0() { loop {} }"), "{text}");
        assert_eq!(text.matches("loop { g() }").count(), 1, "{text}");
    }

    #[test]
    fn numbers_stay_the_same_whatever_is_left_plain() {
        let stay = BTreeSet::from([0]);
        let plan = Plan { twins: Twins::Plain, stay: &stay, only: None };
        let (text, functions) =
            convert("lib.rs", "fn f() { loop {} }\nfn g() { loop {} }", 0, plan).expect("it parses");
        assert_eq!(functions.iter().map(|function| function.number).collect::<Vec<_>>(), [0, 1]);
        assert!(text.starts_with("fn f() { loop {} }\n") && text.contains("g__twin_1()"), "{text}");
    }
}
