//! One function under test, in its two forms.

use syn::spanned::Spanned as _;

use crate::form::Forms;
use crate::function::generate;
use crate::indent::indented;
use crate::kind::Kind;

/// A function, as it is written for the attribute, and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// A name for files and modules.
    pub(crate) name: String,
    /// The cooperative twin's text. The plain twin is the same without attributes and awaits.
    pub(crate) text: String,
    pub(crate) is_edition_2021: bool,
    /// Runs on `template/short.rs`, and on the real runtime through it; else on the real one alone.
    pub(crate) is_short: bool,
    /// What the generator says about it.
    pub(crate) forms: Forms,
}

/// Of this many cases one is compiled in edition 2021, where temporaries of a block's tail live longer.
const EDITION_2021_EVERY: u64 = 5;
/// Of this many cases one is on the real runtime alone.
const REAL_EVERY: u64 = 4;

impl Case {
    /// Case `number` of the run `seed`.
    pub(crate) fn generated(seed: u64, number: u64) -> Case {
        let is_edition_2021 = number % EDITION_2021_EVERY == EDITION_2021_EVERY - 1;
        let (text, forms) = generate(seed, number, !is_edition_2021);
        let is_short = !number.is_multiple_of(REAL_EVERY);
        Case { name: format!("s{seed}_n{number}"), text, is_edition_2021, is_short, forms }
    }

    /// The same case with another text.
    pub(crate) fn with_text(&self, name: String, text: String) -> Case {
        Case { name, text, forms: Forms::default(), ..*self }
    }

    /// The plain twin. Its lines are those of the cooperative one.
    pub(crate) fn plain(&self) -> String {
        let mut text = self.text.replace(".await", "").replace("async fn", "fn");
        while let Some(start) = text.find("#[cooperative") {
            let end = text[start..].find(']').map_or(text.len(), |end| start + end + 1);
            text.replace_range(start..end, "");
        }
        text
    }

    /// The cooperative twin, on another runtime if it is given.
    pub(crate) fn cooperative(&self, runtime: Option<&str>) -> String {
        let text = ["soft_tick();", "constant_tick();", "condition_tick();", "waits_in_condition();"]
            .iter()
            .fold(self.text.clone(), |text, tick| text.replace(tick, ""));
        match runtime.or(self.is_short.then_some("crate::short")) {
            None => text,
            Some(path) => text
                .replace("#[cooperative]", &format!("#[cooperative(crate = {path})]"))
                .replace("#[cooperative(boxed)]", &format!("#[cooperative(boxed, crate = {path})]")),
        }
    }

    /// The functions that make arguments, call the twins and look at the result; an error if the entry function has
    /// types for which there are none.
    pub(crate) fn wrapper(&self) -> Result<String, String> {
        let file = syn::parse_file(&self.text).map_err(|error| format!("{}: {error}", self.name))?;
        let entry = file.items.iter().find_map(|item| match item {
            syn::Item::Fn(item) if item.sig.ident == "entry" => Some(&item.sig),
            _ => None,
        });
        let entry = entry.ok_or_else(|| format!("{}: there is no `fn entry`", self.name))?;
        let (mut owners, mut passed, mut seen) = (String::new(), Vec::new(), Vec::new());
        for (place, argument) in entry.inputs.iter().enumerate() {
            let syn::FnArg::Typed(argument) = argument else {
                return Err(format!("{}: `entry` is no free function", self.name));
            };
            if self.text[argument.pat.span().byte_range()] == *"depth_left" {
                passed.push("2".to_owned());
                continue;
            }
            let written = &self.text[argument.ty.span().byte_range()];
            let kind = Kind::of_argument(written)
                .ok_or_else(|| format!("{}: no arguments of type `{written}` are made", self.name))?;
            let made = kind.argument(place);
            owners.push_str(&format!("    let mut a{place} = {};\n", made.owner));
            passed.push(made.passed);
            if made.is_looked_at {
                seen.push(format!("a{place}"));
            }
        }
        let returned = match &entry.output {
            syn::ReturnType::Type(_, ty) if matches!(**ty, syn::Type::ImplTrait(_)) => ".collect::<Vec<_>>()",
            _ => "",
        };
        let (passed, seen) = (passed.join(", "), seen.join(", "));
        Ok(format!(
            "#![allow(unused_mut, unused_variables, clippy::all)]\nuse crate::support::*;\n\n\
             pub fn plain(input: u64) -> String {{\n{owners}    let result = super::{name}_plain::entry({passed}){returned};\n    \
             format!(\"{{:?}}\", (result, {seen}))\n}}\n\n\
             pub async fn cooperative(input: u64) -> String {{\n{owners}    \
             let result = super::{name}_cooperative::entry({passed}).await{returned};\n    \
             format!(\"{{:?}}\", (result, {seen}))\n}}\n",
            name = self.name,
        ))
    }
}

/// The text of a file that was kept, without the comments at its head.
pub(crate) fn text_of_kept(file: &str) -> String {
    let lines = file.lines().skip_while(|line| line.starts_with("//") || line.trim().is_empty());
    indented(&lines.collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_twins_have_the_same_lines() {
        for number in 0..50 {
            let case = Case::generated(3, number);
            let (plain, cooperative) = (case.plain(), case.cooperative(None));
            assert_eq!(plain.lines().count(), cooperative.lines().count());
            assert!(!plain.contains("await") && !plain.contains("cooperative"));
            assert!(!cooperative.contains("soft_tick"));
            assert!(case.wrapper().is_ok());
        }
    }
}
