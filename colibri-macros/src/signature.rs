//! The signature: the same function, returning a future; and its arguments' way into that future.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{
    Attribute, FnArg, GenericParam, Pat, PatIdent, PathArguments, Receiver, ReturnType, Signature, Type,
    TypeInfer, TypeParamBound,
};

use crate::name::{self, Runtime};
use crate::plan::Plan;

/// What a function gives, in three spellings.
pub(crate) struct Output {
    /// As the user wrote it.
    pub(crate) ty: TokenStream,
    /// As an annotation: `impl Trait` cannot be named, so `_` stands for it.
    pub(crate) annotation: TokenStream,
    /// Whether it is `!`, which may only be written as the result of a function.
    pub(crate) is_never: bool,
    /// Whether nothing but `_` is left of the annotation.
    pub(crate) is_opaque: bool,
    /// Of an `impl Fn(A) -> B`: the bounds, from which the compiler learns the types of a closure's arguments. Only if
    /// they mention nothing that a function inside this one could not name.
    pub(crate) closure_bounds: Option<TokenStream>,
}

impl Output {
    pub(crate) fn of(signature: &Signature) -> Output {
        let ReturnType::Type(_, ty) = &signature.output else {
            let unit = quote_spanned!(Span::mixed_site()=> ());
            return Output {
                ty: unit.clone(),
                annotation: unit,
                is_never: false,
                is_opaque: false,
                closure_bounds: None,
            };
        };
        let is_never = matches!(**ty, Type::Never(_));
        let mut annotation = (**ty).clone();
        EraseImplTrait.visit_type_mut(&mut annotation);
        let is_opaque = matches!(annotation, Type::Infer(_));
        let annotation = if is_never { quote!(_) } else { annotation.to_token_stream() };
        Output {
            ty: ty.to_token_stream(),
            annotation,
            is_never,
            is_opaque,
            closure_bounds: closure_bounds(ty, signature),
        }
    }
}

fn closure_bounds(ty: &Type, signature: &Signature) -> Option<TokenStream> {
    let Type::ImplTrait(opaque) = ty else { return None };
    let is_closure = opaque.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => bound
            .path
            .segments
            .last()
            .is_some_and(|segment| matches!(segment.arguments, PathArguments::Parenthesized(_))),
        _ => false,
    });
    let bounds = opaque.bounds.to_token_stream();
    let mut foreign: Vec<String> =
        vec!["Self".to_owned(), "impl".to_owned(), "_".to_owned(), "use".to_owned()];
    for parameter in &signature.generics.params {
        match parameter {
            GenericParam::Type(parameter) => foreign.push(parameter.ident.to_string()),
            GenericParam::Const(parameter) => foreign.push(parameter.ident.to_string()),
            GenericParam::Lifetime(parameter) => foreign.push(parameter.lifetime.ident.to_string()),
        }
    }
    (is_closure && !mentions(bounds.clone(), &foreign)).then_some(bounds)
}

fn mentions(tokens: TokenStream, names: &[String]) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => names.contains(&ident.to_string()),
        TokenTree::Group(group) => mentions(group.stream(), names),
        _ => false,
    })
}

// Input:  `Result<impl Iterator<Item = u32>, Error>`
// Output: `Result<_, Error>`
struct EraseImplTrait;

impl VisitMut for EraseImplTrait {
    fn visit_type_mut(&mut self, node: &mut Type) {
        if let Type::ImplTrait(opaque) = node {
            let underscore_token = syn::Token![_](opaque.impl_token.span);
            *node = Type::Infer(TypeInfer { attrs: Vec::new(), underscore_token });
            return;
        }
        visit_mut::visit_type_mut(self, node);
    }
}

// Input:  `async fn f(a: A) -> T`
// Output: `fn f(a: A) -> impl Future<Output = T>`
// The tokens `impl Future` are of this crate's edition, 2024, in which the future captures every lifetime of the
// signature, hidden ones in paths included. `-> !` cannot be written as an associated type, so it stays an `async fn`.
pub(crate) fn returning_future(signature: &mut Signature, output: &Output, runtime: &Runtime) {
    let runtime = runtime.outside();
    let ty = &output.ty;
    if output.is_never {
        signature.asyncness = Some(syn::Token![async](Span::mixed_site()));
        return;
    }
    signature.asyncness = None;
    set_output(signature, quote_spanned!(Span::mixed_site()=> impl #runtime::Future<Output = #ty>));
}

/// Sets what the function returns. The last token stands where the user's signature ends: a function that ends in code of
/// a macro's is none of which the compiler says that nobody uses it.
pub(crate) fn set_output(signature: &mut Signature, ty: TokenStream) {
    let end = match &signature.output {
        ReturnType::Default => signature.paren_token.span.close(),
        ReturnType::Type(_, ty) => {
            let last = ty.to_token_stream().into_iter().last();
            last.map_or_else(Span::call_site, |token| match token {
                TokenTree::Group(group) => group.span_close(),
                token => token.span(),
            })
        }
    };
    let mut tokens: Vec<TokenTree> = ty.into_iter().collect();
    if let Some(last) = tokens.last_mut() {
        last.set_span(end);
    }
    let ty = Type::Verbatim(tokens.into_iter().collect());
    signature.output = ReturnType::Type(syn::Token![->](Span::mixed_site()), Box::new(ty));
}

// Input:  `(mut self, a: A, mut b: B, (c, _): (C, D), _: E)`
// Output: `(mut self, a: A, b: B, argument_2: (C, D), argument_3: E)`, and
//         `let _ = &self; let a = a; let mut b = b; let argument_2 = argument_2; let (c, _) = argument_2; let argument_3 = argument_3;`
// So all are captured, whether used or not, and dropped in the order of the plain function: the last one first, and
// of each what its pattern bound before what it did not.
pub(crate) fn move_arguments(signature: &mut Signature, plan: &Plan) -> TokenStream {
    let mut moves = TokenStream::new();
    for (index, input) in signature.inputs.iter_mut().enumerate() {
        match input {
            FnArg::Receiver(receiver) => moves.extend(capture_receiver(receiver)),
            FnArg::Typed(typed) => {
                let attributes = take_attributes_of_binding(&mut typed.attrs);
                let whole = match &mut *typed.pat {
                    Pat::Ident(PatIdent { attrs, by_ref: None, mutability, ident, subpat: None })
                        if attrs.is_empty() =>
                    {
                        let mutability = match mutability.take() {
                            None if plan.is_saved_argument(ident) => {
                                quote_spanned!(Span::mixed_site()=> #[allow(unused_mut)] let mut)
                            }
                            mutability => quote_spanned!(Span::mixed_site()=> let #mutability),
                        };
                        moves.extend(
                            quote_spanned!(Span::mixed_site()=> #attributes #mutability #ident = #ident;),
                        );
                        continue;
                    }
                    _ => name::argument(index),
                };
                let pattern = std::mem::replace(&mut *typed.pat, Pat::Verbatim(quote!(#whole)));
                moves.extend(quote_spanned!(Span::mixed_site()=> #attributes #[allow(unused_mut)] let mut #whole = #whole;));
                if !matches!(pattern, Pat::Wild(_)) {
                    moves.extend(quote_spanned!(Span::mixed_site()=> #attributes let #pattern = #whole;));
                }
            }
        }
    }
    moves
}

/// A receiver keeps its name, since nothing else can be called `self`. It is the first argument, so that it may be
/// dropped with the future's captures, after all locals. Mentioning it captures it even if nobody uses it, and all of
/// it where only a field is used.
fn capture_receiver(receiver: &Receiver) -> TokenStream {
    let self_token = receiver.self_token;
    quote_spanned!(Span::mixed_site()=> let _ = &#self_token;)
}

/// Attributes of an argument that its binding needs as well: `cfg`, and lint levels. An `expect` moves there, since
/// it is there that the lint fires.
fn take_attributes_of_binding(attributes: &mut Vec<Attribute>) -> TokenStream {
    let mut binding = TokenStream::new();
    attributes.retain(|attribute| {
        let path = attribute.path();
        if ["cfg", "allow", "warn", "deny", "forbid"].iter().any(|name| path.is_ident(name)) {
            binding.extend(attribute.to_token_stream());
        } else if path.is_ident("expect") {
            binding.extend(attribute.to_token_stream());
            return false;
        }
        true
    });
    binding
}
