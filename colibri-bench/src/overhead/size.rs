//! `overhead --size`: how much machine code a kernel is, plain and cooperative.
//!
//! `nm` lists this program's own symbols with their sizes. The plain kernels are never inlined. What carries a cooperative
//! one in its name is the function that makes the future, the future's `poll`, and the pieces that the attribute keeps
//! apart from it; the futures' destructors are not counted.

use std::process::{Command, Stdio};

use super::instructions::is_there;
use super::result::geometric_mean;
use super::table::{command, of_ratio};
use crate::cli::OverheadChoice;
use crate::failure::Failure;
use crate::kernels::Kernel;
use crate::report::{Report, Row, count};

/// Kernels above this size should not grow by more than [`RATIO_MOST`]: the fixed part of a check outweighs shorter ones.
const SMALL_BYTES: u64 = 150;
/// The most that a kernel may grow.
const RATIO_MOST: f64 = 5.0;

/// Measures them.
pub(super) fn run(kernels: &[&'static Kernel], choice: &OverheadChoice) -> Result<Report, Failure> {
    let mut report = Report::new("overhead-size", command(choice, " --size"));
    if !is_there("nm") {
        report.say("Sizes are not measured: nm is missing. Install it (`apt-get install binutils`).");
        return Ok(report);
    }
    let symbols = symbols()?;
    let sizes: Vec<_> = kernels
        .iter()
        .map(|kernel| {
            (
                kernel.name,
                size_of(&symbols, kernel.name, "plain"),
                size_of(&symbols, kernel.name, "cooperative"),
            )
        })
        .filter(|&(_, plain, own)| plain > 0 && own > 0)
        .collect();
    if sizes.len() < kernels.len() {
        report
            .say(&format!("{} have no symbols of their own and are left out.", kernels.len() - sizes.len()));
    }
    report.say(&format!(
        "Machine code of each kernel, bytes. Kernels above {SMALL_BYTES} bytes should grow by at most {RATIO_MOST} times."
    ));
    let ratio = |plain: u64, own: u64| own as f64 / plain as f64;
    let mut rows: Vec<_> = sizes
        .iter()
        .map(|&(name, plain, own)| {
            let above = plain > SMALL_BYTES && ratio(plain, own) > RATIO_MOST;
            let note = if above { "above" } else { "" };
            [name.to_owned(), count(plain), count(own), of_ratio(ratio(plain, own)), note.to_owned()]
        })
        .collect();
    if let Some(mean) = geometric_mean(sizes.iter().map(|&(_, plain, own)| ratio(plain, own))) {
        rows.push(["geometric mean".to_owned(), String::new(), String::new(), of_ratio(mean), String::new()]);
    }
    report.table(["kernel", "plain", "cooperative", "ratio", ""], rows);
    for (name, plain, own) in sizes {
        report.row(Row::of_figures(name, "machine code, plain", "B", &[plain as f64]));
        report.row(Row::of_figures(name, "ratio of machine code, cooperative", "1", &[ratio(plain, own)]));
    }
    Ok(report)
}

/// A function's size and its name as the linker knows it.
type Symbol = (u64, String);

fn symbols() -> Result<Vec<Symbol>, Failure> {
    let refuse = |error: std::io::Error| Failure::Run(format!("nm does not list this program: {error}"));
    let program = std::env::current_exe().map_err(refuse)?;
    let output = Command::new("nm")
        .args(["--print-size", "--defined-only"])
        .arg(program)
        .stdin(Stdio::null())
        .output()
        .map_err(refuse)?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(symbol).collect())
}

/// Of a line `address size type name`; data has none.
fn symbol(line: &str) -> Option<Symbol> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    let size = u64::from_str_radix(fields.next()?, 16).ok()?;
    let kind = fields.next()?;
    "tTwW".contains(kind).then(|| (size, fields.next().unwrap_or_default().to_owned()))
}

/// Both of rustc's manglings write a path as the parts' lengths and names. Destructors begin with another path.
fn size_of(symbols: &[Symbol], kernel: &str, function: &str) -> u64 {
    let path = format!("{}{kernel}{}{function}", kernel.len(), function.len());
    let own = symbols.iter().filter(|(_, name)| name.contains(&path) && !name.contains("drop_in_place"));
    own.map(|(size, _)| size).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_nm_is_read() {
        assert_eq!(
            symbol("0000000000012340 00000000000000a4 t _ZN3gcd5plainE"),
            Some((0xa4, "_ZN3gcd5plainE".to_owned()))
        );
        assert_eq!(symbol("0000000000012340 00000000000000a4 d TABLE"), None);
        assert_eq!(symbol("0000000000012340 T _start"), None);
    }

    #[test]
    fn sizes_are_summed_by_path() {
        let symbols: Vec<Symbol> = [
            (10, "_ZN7kernels3gcd5plain17h00E"),
            (20, "_ZN7kernels3gcd11cooperative28E"),
            (5, "_ZN7kernels3gcd11cooperative29E"),
        ]
        .map(|(size, name)| (size, name.to_owned()))
        .into();
        assert_eq!((size_of(&symbols, "gcd", "plain"), size_of(&symbols, "gcd", "cooperative")), (10, 25));
        assert_eq!(size_of(&symbols, "cd", "plain"), 0);
    }
}
