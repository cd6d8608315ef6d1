//! The options in the attribute's parentheses.

use std::time::Duration;

use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Error, Ident, LitInt, LitStr, Path, Token};

use crate::report::Report;

/// What each message about a wrong option ends with.
const LEGAL: &str = "the options are `budget = 128`, `slice = \"4ms\"`, `name = \"...\"`, `boxed`, `crate = path` and `strict`";

/// The options of one attribute, as far as they could be understood.
#[derive(Default)]
pub(crate) struct Options {
    /// Checks that may pass per poll.
    pub(crate) budget: Option<u32>,
    /// How long a poll may take where nobody else says so.
    pub(crate) slice: Option<Duration>,
    /// What reports call the function.
    pub(crate) name: Option<LitStr>,
    /// Whether the function returns a boxed future.
    pub(crate) boxed: bool,
    /// Where colibri-core is found.
    pub(crate) runtime: Option<Path>,
    /// Whether a loop that stays as it is counts as an error.
    pub(crate) strict: bool,
}

impl Options {
    /// Parses what stands in the parentheses. A wrong option is reported and left out, the others count.
    pub(crate) fn parse(tokens: TokenStream, report: &mut Report) -> Options {
        let mut options = Options::default();
        let mut seen: Vec<String> = Vec::new();
        let parser = |input: ParseStream<'_>| {
            while !input.is_empty() {
                if let Err(error) = options.parse_one(input, &mut seen, report) {
                    report.add(error);
                    // Whatever follows the wrong option up to the next comma belongs to it.
                    while !input.is_empty() && !input.peek(Token![,]) {
                        input.parse::<proc_macro2::TokenTree>()?;
                    }
                }
                if !input.is_empty() {
                    input.parse::<Token![,]>()?;
                }
            }
            Ok(())
        };
        if let Err(error) = parser.parse2(tokens) {
            report.add(error);
        }
        options
    }

    fn parse_one(
        &mut self,
        input: ParseStream<'_>,
        seen: &mut Vec<String>,
        report: &mut Report,
    ) -> syn::Result<()> {
        let key = input.call(Ident::parse_any).map_err(|error| {
            Error::new(error.span(), format!("expected an option of `#[cooperative]`: {LEGAL}"))
        })?;
        let option = key.to_string();
        if seen.contains(&option) {
            report.at(key.span(), format!("the option `{option}` is given twice; each may be given once"));
        }
        match option.as_str() {
            "budget" => self.budget = Some(parse_budget(&value(input, &key, "budget = 128")?)?),
            "slice" => self.slice = Some(parse_slice(&value(input, &key, "slice = \"4ms\"")?)?),
            "name" => self.name = Some(value(input, &key, "name = \"index\"")?),
            "crate" => self.runtime = Some(parse_runtime(input, &key)?),
            "boxed" => {
                flag(input, &key)?;
                self.boxed = true;
            }
            "strict" => {
                flag(input, &key)?;
                self.strict = true;
            }
            "skip" => {
                return Err(Error::new(
                    key.span(),
                    "`skip` belongs on a loop inside a cooperative function; a function without the attribute is not cooperative",
                ));
            }
            _ => return Err(Error::new(key.span(), format!("unknown option `{option}`; {LEGAL}"))),
        }
        seen.push(option);
        Ok(())
    }
}

/// Parses `= value`. `example` is what the message shows if it is not there.
fn value<T: syn::parse::Parse>(input: ParseStream<'_>, key: &Ident, example: &str) -> syn::Result<T> {
    if !input.peek(Token![=]) {
        return Err(Error::new(key.span(), format!("the option `{key}` needs a value, as in `{example}`")));
    }
    input.parse::<Token![=]>()?;
    let span = if input.is_empty() { key.span() } else { input.span() };
    input.parse().map_err(|_| Error::new(span, format!("the option `{key}` is written as `{example}`")))
}

/// An option without a value.
fn flag(input: ParseStream<'_>, key: &Ident) -> syn::Result<()> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(());
    }
    Err(Error::new(key.span(), format!("the option `{key}` takes no value; write just `{key}`")))
}

fn parse_budget(literal: &LitInt) -> syn::Result<u32> {
    literal.base10_parse::<u32>().map_err(|_| {
        Error::new(
            literal.span(),
            format!("the budget is a number of checks from 0 to {}, as in `budget = 128`", u32::MAX),
        )
    })
}

fn parse_slice(literal: &LitStr) -> syn::Result<Duration> {
    parse_duration(&literal.value()).ok_or_else(|| {
        Error::new(
            literal.span(),
            "the slice is a time above zero with the unit `ns`, `us`, `ms` or `s`, as in `slice = \"4ms\"` or `slice = \"0.5 ms\"`",
        )
    })
}

/// `4ms`, `1.5 s`, `250us`, `250µs`, `1_000ns`.
fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let unit_at = text.find(|character: char| !character.is_ascii_digit() && !"._".contains(character))?;
    let (number, unit) = text.split_at(unit_at);
    let nanos_per_unit: u64 = match unit.trim() {
        "ns" => 1,
        "us" | "µs" | "μs" => 1_000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        _ => return None,
    };
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    let mut nanos = whole.parse::<u64>().ok()?.checked_mul(nanos_per_unit)?;
    let mut digit_nanos = nanos_per_unit;
    for digit in fraction.chars() {
        digit_nanos /= 10;
        nanos = nanos.checked_add(u64::from(digit.to_digit(10)?) * digit_nanos)?;
    }
    (nanos > 0).then(|| Duration::from_nanos(nanos))
}

/// `crate = path`, or `crate = "path"` as other attributes of the ecosystem write it.
fn parse_runtime(input: ParseStream<'_>, key: &Ident) -> syn::Result<Path> {
    const EXAMPLE: &str = "crate = my_crate::colibri_core";
    if input.peek(Token![=]) && input.peek2(LitStr) {
        let literal: LitStr = value(input, key, EXAMPLE)?;
        return literal.parse_with(Path::parse_mod_style).map_err(|_| {
            Error::new(literal.span(), format!("the option `crate` is written as `{EXAMPLE}`"))
        });
    }
    if !input.peek(Token![=]) {
        return Err(Error::new(key.span(), format!("the option `crate` needs a value, as in `{EXAMPLE}`")));
    }
    input.parse::<Token![=]>()?;
    let span = if input.is_empty() { Span::call_site() } else { input.span() };
    input
        .call(Path::parse_mod_style)
        .map_err(|_| Error::new(span, format!("the option `crate` is written as `{EXAMPLE}`")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn messages(tokens: TokenStream) -> String {
        let mut report = Report::default();
        Options::parse(tokens, &mut report);
        report.into_tokens().to_string()
    }

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(parse_duration("4ms"), Some(Duration::from_millis(4)));
        assert_eq!(parse_duration(" 0.5 ms "), Some(Duration::from_micros(500)));
        assert_eq!(parse_duration("1_000ns"), Some(Duration::from_nanos(1_000)));
        assert_eq!(parse_duration("2s"), Some(Duration::from_secs(2)));
        assert_eq!(parse_duration("250µs"), Some(Duration::from_micros(250)));
        for wrong in ["", "4", "ms", "4 minutes", "-4ms", "0ms", "4..ms", "1.2.3s", "99999999999999999999s"] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_option_is_read() {
        let mut report = Report::default();
        let options = Options::parse(
            quote!(budget = 7, slice = "4ms", name = "n", boxed, crate = a::b, strict),
            &mut report,
        );
        assert!(report.into_tokens().is_empty());
        assert_eq!(options.budget, Some(7));
        assert_eq!(options.slice, Some(Duration::from_millis(4)));
        assert_eq!(options.name.unwrap().value(), "n");
        assert!(options.boxed && options.strict);
        assert_eq!(options.runtime.unwrap().segments.len(), 2);
    }

    #[test]
    fn all_wrong_options_are_reported() {
        let messages = messages(quote!(bugdet = 3, slice = "4", boxed = true, strict, strict, skip));
        for part in
            ["unknown option `bugdet`", "the unit", "takes no value", "given twice", "belongs on a loop"]
        {
            assert!(messages.contains(part), "{part} in {messages}");
        }
    }
}
