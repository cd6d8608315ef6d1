//! `overhead --instructions`: ratios of instructions, which no other program can move.
//!
//! This program starts itself under callgrind, with one kernel, one way, once and twice; the difference is one run, without
//! the start of the program and the making of the input. No clock takes part (under valgrind time passes fifty times as
//! fast): the budget has no limit, so that the cooperative function looks up only when its largest grant of fuel is spent. In
//! an ordinary run it looks at the clock every 20 µs for some 50 ns, which is not counted here.

use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::Way;
use super::result::geometric_mean;
use super::table::{command, of_ratio};
use crate::cli::OverheadChoice;
use crate::failure::Failure;
use crate::kernels::Kernel;
use crate::report::{Report, Row, count};

const WAYS: [Way; 2] = [Way::Plain, Way::Cooperative];

/// Counts them.
pub(super) fn run(kernels: &[&'static Kernel], choice: &OverheadChoice) -> Result<Report, Failure> {
    let mut report = Report::new("overhead-instructions", command(choice, " --instructions"));
    if !is_there("valgrind") {
        report.say(
            "Instructions are not counted: valgrind is missing. Install it (`apt-get install valgrind`).",
        );
        return Ok(report);
    }
    report.say(
        "Instructions of each kernel by callgrind: exact, whatever else runs. The budget has no limit, so that no clock is\n\
         read; in an ordinary run that happens every 20 µs. Few instructions more are no time where the processor has\n\
         room for them, and loops of three or four instructions always need one or two more.",
    );
    let counted = count_all(kernels)?;
    let rows = kernels.iter().zip(&counted).map(|(kernel, [plain, own])| {
        [kernel.name.to_owned(), count(*plain), count(*own), of_ratio(ratio(*plain, *own))]
    });
    let mean = geometric_mean(counted.iter().map(|[plain, own]| ratio(*plain, *own).max(1.0))).unwrap_or(1.0);
    let mean = ["geometric mean, below 1 as 1".to_owned(), String::new(), String::new(), of_ratio(mean)];
    report.table(["kernel", "plain", "cooperative", "ratio"], rows.chain([mean]).collect());
    for (kernel, [plain, own]) in kernels.iter().zip(&counted) {
        report.row(Row::of_figures(kernel.name, "instructions, plain", "1", &[*plain as f64]));
        report.row(Row::of_figures(
            kernel.name,
            "ratio of instructions, cooperative",
            "1",
            &[ratio(*plain, *own)],
        ));
    }
    Ok(report)
}

fn ratio(plain: u64, own: u64) -> f64 {
    own as f64 / plain as f64
}

/// On all cores: the counts do not depend on time.
fn count_all(kernels: &[&'static Kernel]) -> Result<Vec<[u64; 2]>, Failure> {
    let counted = Mutex::new(vec![[0; 2]; kernels.len()]);
    let next = AtomicUsize::new(0);
    let work = || -> Result<(), Failure> {
        loop {
            let job = next.fetch_add(1, Ordering::Relaxed);
            let Some(kernel) = kernels.get(job / WAYS.len()) else { return Ok(()) };
            let way = job % WAYS.len();
            let (once, twice) = (instructions(kernel, WAYS[way], 1)?, instructions(kernel, WAYS[way], 2)?);
            counted.lock().expect("nobody panics with it")[job / WAYS.len()][way] =
                twice.saturating_sub(once);
        }
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("it does not panic"))
    })?;
    Ok(counted.into_inner().expect("nobody panics with it"))
}

fn instructions(kernel: &Kernel, way: Way, repeats: u32) -> Result<u64, Failure> {
    let refuse = |why: &str| Failure::Run(format!("valgrind does not count \"{}\": {why}", kernel.name));
    let program = std::env::current_exe().map_err(|error| refuse(&error.to_string()))?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["kernel", kernel.name, way.name(), &repeats.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| refuse(&error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(refuse(said.trim()));
    }
    collected(&said).ok_or_else(|| refuse(&format!("it does not tell a count: {}", said.trim())))
}

/// The count in what callgrind says at its end: `==1234== Collected : 5678`.
fn collected(said: &str) -> Option<u64> {
    let (_, rest) = said.split_once("Collected :")?;
    rest.split_whitespace().next()?.parse().ok()
}

/// Whether `program` starts.
pub(super) fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_what_callgrind_says() {
        let said =
            "==71== Events    : Ir\n==71== Collected : 2345678\n==71== \n==71== I   refs:      2,345,678\n";
        assert_eq!(collected(said), Some(2_345_678));
        assert_eq!(collected("==71== killed"), None);
    }

    #[test]
    fn a_missing_program_is_noticed() {
        assert!(!is_there("no-such-program-at-all"));
    }
}
