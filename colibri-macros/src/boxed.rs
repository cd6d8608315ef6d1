//! The option `boxed`: what kind of box, and which lifetimes it holds.
//!
//! A function without a receiver returns `Pin<Box<impl Future>>`: enough for mutual recursion, and still `Send`
//! whenever its future is. A method may belong to a trait used as `dyn`, so its future's type has to go as well.
//! There is no `Send` in `dyn Future` then, since nobody knows whether every implementation could keep it.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{
    FnArg, GenericParam, Lifetime, LifetimeParam, ParenthesizedGenericArguments, ReceiverKind, ReturnType,
    Signature, Token, TypeFnPtr, TypeImplTrait, TypeParamBound, TypeReference,
};

use crate::name::Runtime;
use crate::signature::{self, Output};

/// Makes the signature return a boxed future.
pub(crate) fn returning_boxed(signature: &mut Signature, has_body: bool, output: &Output, runtime: &Runtime) {
    signature.asyncness = None;
    let path = runtime.outside();
    let boxed = if signature.receiver().is_some() || !has_body {
        let (lifetime, ty) = name_lifetimes(signature);
        quote_spanned!(Span::mixed_site()=> dyn #path::core::future::Future<Output = #ty> + #lifetime)
    } else {
        let ty = &output.ty;
        quote_spanned!(Span::mixed_site()=> impl #path::core::future::Future<Output = #ty>)
    };
    let pinned = quote_spanned!(Span::mixed_site()=> #path::core::pin::Pin<#path::alloc::boxed::Box<#boxed>>);
    signature::set_output(signature, pinned);
}

// Input:  `fn f<'a, T>(&self, text: &'a str, item: T, other: impl Tr) -> &str`
// Output: `fn f<'future, 'argument_0, 'a, T>(&'argument_0 self, text: &'a str, item: T, other: impl Tr + 'future)
//          where 'argument_0: 'future, 'a: 'future, T: 'future, Self: 'future`, with `'future` and `&'argument_0 str`
fn name_lifetimes(signature: &mut Signature) -> (Lifetime, TokenStream) {
    let future = lifetime("future");
    let mut inputs = NameElided { named: Vec::new(), only: None, future: Some(future.clone()) };
    let mut of_receiver = None;
    let mut takes_self = false;
    for input in &mut signature.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                takes_self = true;
                match &mut receiver.kind {
                    ReceiverKind::Reference(_, lifetime, _) => {
                        of_receiver = Some(lifetime.get_or_insert_with(|| inputs.next()).clone());
                    }
                    ReceiverKind::Typed(_, ty) => {
                        inputs.visit_type_mut(ty);
                        of_receiver = inputs.named.first().cloned();
                    }
                    _ => {}
                }
            }
            FnArg::Typed(typed) => inputs.visit_type_mut(&mut typed.ty),
        }
    }
    let named = inputs.named;
    let mut bounds: Vec<TokenStream> = named.iter().map(|lifetime| quote!(#lifetime)).collect();
    for parameter in &signature.generics.params {
        match parameter {
            GenericParam::Lifetime(parameter) => bounds.push(parameter.lifetime.to_token_stream()),
            GenericParam::Type(parameter) => bounds.push(parameter.ident.to_token_stream()),
            GenericParam::Const(_) => {}
        }
    }
    if takes_self {
        bounds.push(quote_spanned!(Span::mixed_site()=> Self));
    }
    let only = of_receiver.or_else(|| if let [only] = &named[..] { Some(only.clone()) } else { None });
    let ty = match &mut signature.output {
        ReturnType::Default => quote_spanned!(Span::mixed_site()=> ()),
        ReturnType::Type(_, ty) => {
            NameElided { named: Vec::new(), only, future: None }.visit_type_mut(ty);
            ty.to_token_stream()
        }
    };
    let old = std::mem::take(&mut signature.generics.params);
    let new = std::iter::once(&future).chain(&named).cloned();
    signature.generics.params =
        new.map(|lifetime| GenericParam::Lifetime(LifetimeParam::new(lifetime))).chain(old).collect();
    let clause = signature.generics.make_where_clause();
    for bounded in bounds {
        clause.predicates.push(syn::parse_quote!(#bounded: #future));
    }
    (future, ty)
}

fn lifetime(noun: &str) -> Lifetime {
    Lifetime {
        apostrophe: Span::mixed_site(),
        ident: format_ident!("__colibri_{noun}", span = Span::mixed_site()),
    }
}

/// Names elided lifetimes. It stops at `fn(&T)` and `Fn(&T)`, whose elided lifetimes are their own.
struct NameElided {
    named: Vec<Lifetime>,
    /// In the result: the one that all elided lifetimes mean.
    only: Option<Lifetime>,
    /// In the arguments: what every `impl Trait` has to outlive.
    future: Option<Lifetime>,
}

impl NameElided {
    fn next(&mut self) -> Lifetime {
        if let Some(only) = &self.only {
            return only.clone();
        }
        let next = lifetime(&format!("argument_{}", self.named.len()));
        self.named.push(next.clone());
        next
    }
}

impl VisitMut for NameElided {
    fn visit_type_reference_mut(&mut self, node: &mut TypeReference) {
        if node.lifetime.is_none() {
            node.lifetime = Some(self.next());
        }
        visit_mut::visit_type_reference_mut(self, node);
    }

    fn visit_lifetime_mut(&mut self, node: &mut Lifetime) {
        if node.ident == "_" {
            *node = self.next();
        }
    }

    fn visit_type_impl_trait_mut(&mut self, node: &mut TypeImplTrait) {
        visit_mut::visit_type_impl_trait_mut(self, node);
        if let Some(future) = &self.future {
            let bounds: &mut Punctuated<TypeParamBound, Token![+]> = &mut node.bounds;
            bounds.push(TypeParamBound::Lifetime(future.clone()));
        }
    }

    fn visit_type_fn_ptr_mut(&mut self, _: &mut TypeFnPtr) {}

    fn visit_parenthesized_generic_arguments_mut(&mut self, _: &mut ParenthesizedGenericArguments) {}
}
