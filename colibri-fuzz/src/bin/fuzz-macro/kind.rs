//! The types that generated functions use.

/// Integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Int {
    I32,
    U32,
    I64,
    U64,
    Usize,
    U8,
}

impl Int {
    pub(crate) const ALL: [Int; 6] = [Int::I32, Int::U32, Int::I64, Int::U64, Int::Usize, Int::U8];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Int::I32 => "i32",
            Int::U32 => "u32",
            Int::I64 => "i64",
            Int::U64 => "u64",
            Int::Usize => "usize",
            Int::U8 => "u8",
        }
    }
}

/// A type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Unit,
    Int(Int),
    Bool,
    Float,
    Pair,
    Array,
    Grid,
    MaybeInt,
    ResultInt,
    Text,
    Str,
    Ints,
    Slice,
    SliceMut,
    IntsMut,
    IntMut,
    Map,
    Loud,
    MaybeLoud,
    Louds,
    /// A number that is moved.
    Big,
    /// A struct that is copied.
    Dot,
    List,
    ListRef,
    /// An iterator of `i32` that is passed as an argument.
    Items,
    /// A closure from `i32` to `i32`.
    Closure,
}

impl Kind {
    pub(crate) const I32: Kind = Kind::Int(Int::I32);
    pub(crate) const USIZE: Kind = Kind::Int(Int::Usize);

    /// Its type, as it is written in a signature.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Unit => "()",
            Kind::Int(int) => int.name(),
            Kind::Bool => "bool",
            Kind::Float => "f64",
            Kind::Pair => "(i32, u32)",
            Kind::Array => "[i32; 4]",
            Kind::Grid => "[[i32; 3]; 3]",
            Kind::MaybeInt => "Option<i32>",
            Kind::ResultInt => "Result<i32, String>",
            Kind::Text => "String",
            Kind::Str => "&str",
            Kind::Ints => "Vec<i32>",
            Kind::Slice => "&[i32]",
            Kind::SliceMut => "&mut [i32]",
            Kind::IntsMut => "&mut Vec<i32>",
            Kind::IntMut => "&mut i32",
            Kind::Map => "BTreeMap<i32, i32>",
            Kind::Loud => "Loud",
            Kind::MaybeLoud => "Option<Loud>",
            Kind::Louds => "Vec<Loud>",
            Kind::Big => "Big",
            Kind::Dot => "Dot",
            Kind::List => "List",
            Kind::ListRef => "&List",
            Kind::Items => "impl Iterator<Item = i32>",
            Kind::Closure => "impl FnMut(i32) -> i32",
        }
    }

    /// Values that are copied: reading one leaves it where it is.
    pub(crate) fn is_copy(self) -> bool {
        matches!(
            self,
            Kind::Unit
                | Kind::Int(_)
                | Kind::Bool
                | Kind::Float
                | Kind::Pair
                | Kind::Dot
                | Kind::Array
                | Kind::Grid
                | Kind::MaybeInt
                | Kind::Str
                | Kind::Slice
                | Kind::ListRef
        )
    }

    /// What an entry function may take.
    pub(crate) const ARGUMENTS: [Kind; 22] = [
        Kind::I32,
        Kind::Int(Int::U32),
        Kind::Int(Int::I64),
        Kind::Int(Int::U64),
        Kind::USIZE,
        Kind::Int(Int::U8),
        Kind::Bool,
        Kind::Float,
        Kind::Pair,
        Kind::Array,
        Kind::MaybeInt,
        Kind::Str,
        Kind::Ints,
        Kind::Slice,
        Kind::SliceMut,
        Kind::IntsMut,
        Kind::IntMut,
        Kind::Louds,
        Kind::ListRef,
        Kind::Items,
        Kind::Big,
        Kind::Dot,
    ];

    /// The kind of an argument whose type is written so.
    pub(crate) fn of_argument(written: &str) -> Option<Kind> {
        let plain: String = written.replace("'a ", "").split_whitespace().collect();
        let rest = [Kind::Map, Kind::Loud, Kind::MaybeLoud, Kind::List, Kind::Text, Kind::Grid];
        let squeezed = |kind: &Kind| kind.name().split_whitespace().collect::<String>() == plain;
        Kind::ARGUMENTS.into_iter().chain(rest).find(squeezed)
    }

    /// How the wrapper makes an argument: the owner's value, what is passed, and whether the owner is looked at after.
    pub(crate) fn argument(self, place: usize) -> Argument {
        let owner = match self {
            Kind::Int(int) => format!("an_int(input, {place}) as {}", int.name()),
            Kind::Bool => format!("an_int(input, {place}) & 1 == 1"),
            Kind::Float => format!("an_int(input, {place}) as f64 / 8.0"),
            Kind::Pair => format!("(an_int(input, {place}) as i32, an_int(input, {place} + 50) as u32)"),
            Kind::Array => format!("{{ let v = an_int(input, {place}) as i32; [v, 7, v & 15, -3] }}"),
            Kind::Grid => format!(
                "{{ let v = an_int(input, {place}) as i32 & 255; [[v, 1, 2], [3, v, 4], [5, 6, v]] }}"
            ),
            Kind::MaybeInt => format!("Some(an_int(input, {place}) as i32).filter(|v| v & 3 != 1)"),
            Kind::Str | Kind::Text => format!("text(input, {place})"),
            Kind::Ints | Kind::Slice | Kind::SliceMut | Kind::IntsMut => format!("ints(input, {place})"),
            Kind::IntMut => format!("an_int(input, {place}) as i32"),
            Kind::Louds => format!("louds(input, {place})"),
            Kind::Loud => format!("Loud(an_int(input, {place}) as i32 & 63)"),
            Kind::MaybeLoud => format!("louds(input, {place}).pop()"),
            Kind::Big => format!("Big::of(an_int(input, {place}) as i32)"),
            Kind::Dot => format!("Dot {{ x: an_int(input, {place}) as i32, y: {place} }}"),
            Kind::Map => format!("map_of(&ints(input, {place}))"),
            Kind::List | Kind::ListRef => format!("list_of(&ints(input, {place}))"),
            Kind::Items => format!("ints(input, {place})"),
            Kind::Unit | Kind::ResultInt | Kind::Closure => "()".to_owned(),
        };
        let name = format!("a{place}");
        let passed = match self {
            Kind::Str | Kind::Slice | Kind::ListRef => format!("&{name}"),
            Kind::SliceMut => format!("&mut {name}[..]"),
            Kind::IntsMut | Kind::IntMut => format!("&mut {name}"),
            Kind::Items => format!("{name}.into_iter()"),
            _ => name,
        };
        let is_looked_at = matches!(self, Kind::SliceMut | Kind::IntsMut | Kind::IntMut);
        Argument { owner, passed, is_looked_at }
    }
}

/// An argument, as the wrapper makes it.
#[derive(Debug)]
pub(crate) struct Argument {
    pub(crate) owner: String,
    pub(crate) passed: String,
    pub(crate) is_looked_at: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_argument_is_known_by_its_type() {
        for kind in Kind::ARGUMENTS {
            assert_eq!(Kind::of_argument(kind.name()), Some(kind));
        }
        assert_eq!(Kind::of_argument("&'a [ i32 ]"), Some(Kind::Slice));
        assert_eq!(Kind::of_argument("&'static mut dyn Any"), None);
    }
}
