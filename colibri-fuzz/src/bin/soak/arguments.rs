//! The command line.

use std::time::Duration;

use clap::Parser;
use colibri_fuzz::span;

/// Runs rounds of a million tasks, woken, cancelled and spawned from four threads at random, and checks after each that
/// nothing is lost and that the memory is what it was.
#[derive(Debug, Parser)]
#[command(
    name = "soak",
    version,
    after_help = "\
Which thread comes first differs from run to run, so that a seed repeats the choices and not the run.

Exit status: 0 nothing lost, no growth, memory back to where it began; 1 otherwise; 2 wrong use."
)]
pub(crate) struct Arguments {
    /// For how long, such as 90s, 10min, 1h (a round that was begun is finished)
    #[arg(long, value_name = "LENGTH", default_value = "5min", value_parser = span::from_text)]
    pub(crate) time: Duration,
    /// Tasks in a round
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = tasks)]
    pub(crate) tasks: usize,
    /// What all choices are drawn from
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
}

impl Arguments {
    /// What repeats the run.
    pub(crate) fn command(&self) -> String {
        format!(
            "cargo xtask soak --time {} --tasks {} --seed {}",
            span::to_text(self.time),
            self.tasks,
            self.seed
        )
    }
}

fn tasks(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(tasks @ 1..=20_000_000) => Ok(tasks),
        _ => Err("from 1 to 20000000: a million of them take about 400 MB".to_owned()),
    }
}
