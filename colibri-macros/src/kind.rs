//! What syntax says about a value: whether it is a number, a reference, a sequence.

use proc_macro2::Ident;
use syn::{Expr, GenericArgument, PathArguments, Type};

/// What syntax says about a variable's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A primitive number, `bool` or `char`.
    Scalar,
    /// A shared reference or a raw pointer: `Copy`, and what is borrowed through it does not borrow the variable.
    Shared,
    /// `Copy`, of whatever type: a borrow of a part of it borrows the variable.
    Copied,
    /// Written `&mut T`.
    Exclusive,
    /// Anything.
    Unknown,
}

/// A sequence whose elements lie in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Sequence {
    /// A `Vec`.
    Vector,
    /// `[T]`.
    Slice,
    /// `[T; N]`.
    Array,
    /// Nothing of the kind, as far as anyone can see.
    #[default]
    Unknown,
}

/// What a written type says about the elements.
pub(crate) fn class_of_elements(ty: &Type) -> Class {
    let element = match ty {
        Type::Reference(reference) => return class_of_elements(&reference.elem),
        Type::Paren(inner) => return class_of_elements(&inner.elem),
        Type::Slice(slice) => &*slice.elem,
        Type::Array(array) => &*array.elem,
        Type::Path(path) => match path.path.segments.last() {
            Some(segment) if segment.ident == "Vec" => match &segment.arguments {
                PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
                    Some(GenericArgument::Type(element)) => element,
                    _ => return Class::Unknown,
                },
                _ => return Class::Unknown,
            },
            _ => return Class::Unknown,
        },
        _ => return Class::Unknown,
    };
    match class_of_type(element) {
        class @ (Class::Scalar | Class::Shared) => class,
        _ => Class::Unknown,
    }
}

/// What a written type says.
pub(crate) fn class_of_type(ty: &Type) -> Class {
    match ty {
        Type::Path(path) => {
            if path.path.get_ident().is_some_and(is_scalar) {
                Class::Scalar
            } else {
                Class::Unknown
            }
        }
        Type::Reference(reference) if reference.mutability.is_some() => Class::Exclusive,
        Type::Reference(_) | Type::Ptr(_) => Class::Shared,
        Type::Paren(inner) => class_of_type(&inner.elem),
        _ => Class::Unknown,
    }
}

/// Whether it is the name of a primitive type that is copied.
pub(crate) fn is_scalar(ident: &Ident) -> bool {
    const SCALARS: [&str; 16] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize", "f32", "f64",
        "bool", "char",
    ];
    SCALARS.iter().any(|scalar| ident == scalar)
}

/// What kind of sequence a written type is, or refers to.
pub(crate) fn sequence_of_type(ty: &Type) -> Sequence {
    match ty {
        Type::Reference(reference) => match sequence_of_type(&reference.elem) {
            // Of references to references nobody can say what an index borrows.
            _ if matches!(*reference.elem, Type::Reference(_)) => Sequence::Unknown,
            sequence => sequence,
        },
        Type::Paren(inner) => sequence_of_type(&inner.elem),
        Type::Slice(_) => Sequence::Slice,
        Type::Array(_) => Sequence::Array,
        Type::Path(path) if is_vector(path.path.segments.last()) => Sequence::Vector,
        _ => Sequence::Unknown,
    }
}

fn is_vector(segment: Option<&syn::PathSegment>) -> bool {
    segment.is_some_and(|segment| segment.ident == "Vec")
}

/// What kind of sequence an initialiser makes, and what is known of its elements.
pub(crate) fn sequence_of(expression: &Expr) -> Sequence {
    match expression {
        Expr::Paren(inner) => sequence_of(&inner.expr),
        Expr::Array(_) | Expr::Repeat(_) => Sequence::Array,
        Expr::Macro(call) if call.mac.path.is_ident("vec") => Sequence::Vector,
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => {
                let segments = &path.path.segments;
                let is_constructor = segments.last().is_some_and(|last| {
                    last.ident == "new" || last.ident == "with_capacity" || last.ident == "from"
                });
                if is_constructor && is_vector(segments.iter().rev().nth(1)) {
                    Sequence::Vector
                } else {
                    Sequence::Unknown
                }
            }
            _ => Sequence::Unknown,
        },
        Expr::MethodCall(call) if call.method == "to_vec" && call.args.is_empty() => Sequence::Vector,
        _ => Sequence::Unknown,
    }
}
