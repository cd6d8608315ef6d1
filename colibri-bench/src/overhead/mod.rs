//! The scenario `overhead`: what it costs a loop that it can stop anywhere, and how late it stops.
//!
//! Each kernel is run plain, with the attribute, and as its author would write it for tokio, in turns. The figure is the
//! ratio to the plain function, which stands in the same process, works on the same data and was run just before.

mod instructions;
mod result;
mod size;
mod table;
mod ways;

use std::time::Duration;

use colibri_core::Budget;

use crate::allowance::Allowance;
use crate::cli::{Options, OverheadChoice};
use crate::failure::Failure;
use crate::kernels::{self, Kernel, Size};
use crate::measure::Used;
use crate::progress::Progress;
use crate::report::Report;

use self::result::Measured;
use self::ways::Hosts;

/// What the scenario measures, in one line.
pub(crate) const ABOUT: &str =
    "kernels plain, cooperative and written for tokio: ratios, and how late a yield is";

/// The budget of one poll, where a kernel is polled in a loop: the scheduler's own slice, half a frame.
const BUDGET: Duration = Duration::from_millis(8);
/// The budget of one poll where the overshoot is measured: short, so that there are many ends.
const SLICE: Duration = Duration::from_millis(1);
/// How many ends of slices to see per kernel.
const SLICES: u64 = 400;
/// And in a quick run.
const SLICES_QUICK: u64 = 60;
/// tokio's ways take part in every so manieth round: their ratios are far from 1, and they take most of the time.
const TOKIO_EVERY: u32 = 4;

/// A way to run a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Way {
    /// The plain function.
    Plain,
    /// With the attribute, in a box, polled in a loop under a budget.
    Cooperative,
    /// With the attribute, as a task of colibri's scheduler.
    Scheduled,
    /// With `tokio::task::consume_budget().await` in each round of its hot loop, as a task of tokio's.
    Consuming,
    /// With `tokio::task::yield_now().await` in every 64th, as a task of tokio's.
    Yielding,
}

impl Way {
    /// What is compared with the plain function.
    const COMPARED: [Way; 4] = [Way::Cooperative, Way::Scheduled, Way::Consuming, Way::Yielding];

    /// Its name in tables and files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Way::Plain => "plain",
            Way::Cooperative => "cooperative",
            Way::Scheduled => "scheduler",
            Way::Consuming => "consume_budget",
            Way::Yielding => "yield_now/64",
        }
    }
}

/// A kernel with what it works on.
pub(crate) trait Subject {
    /// Runs it once, from the start. Making it as it was before is not measured.
    fn run(&mut self, way: Way, hosts: &Hosts) -> Result<Done, Failure>;

    /// Runs it cooperatively, `budget` for each poll, and tells how long each poll that did not finish it took. Returns
    /// the outcome's figure.
    fn run_in_slices(&mut self, budget: Budget, slice: &mut dyn FnMut(Used)) -> u64;
}

/// What a run took and came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done {
    used: Used,
    /// A figure of the outcome: result and what was changed.
    outcome: u64,
}

/// Measures it.
pub(crate) fn run(options: &Options, choice: &OverheadChoice) -> Result<Report, Failure> {
    let kernels: Vec<&'static Kernel> = match choice.kernel {
        Some(kernel) => vec![kernel],
        None => kernels::all().collect(),
    };
    if choice.instructions {
        return instructions::run(&kernels, choice);
    }
    if choice.size {
        return size::run(&kernels, choice);
    }
    let measured = measure(&kernels, options)?;
    Ok(table::report(&measured, options.overhead_rounds(), choice))
}

/// Runs `kernel` one way, `repeats` times, without looking at any clock: what `--instructions` counts.
pub(crate) fn repeat(kernel: &Kernel, way: Way, repeats: u32) {
    let mut subject = (kernel.start)(Size::Full);
    for _ in 0..repeats {
        match way {
            Way::Cooperative => _ = subject.run_in_slices(Budget::UNLIMITED, &mut |_| {}),
            way => _ = subject.run(way, &Hosts::default()),
        }
    }
}

fn measure(kernels: &[&'static Kernel], options: &Options) -> Result<Vec<Measured>, Failure> {
    let allowance = Allowance::of(options);
    let rounds = options.overhead_rounds();
    let progress = Progress::new("overhead", (u64::from(rounds) + 1) * kernels.len() as u64);
    let hosts = Hosts::default();
    let mut subjects: Vec<_> = kernels.iter().map(|kernel| (kernel.start)(Size::Full)).collect();
    let mut measured: Vec<_> = kernels.iter().map(|kernel| Measured::of(kernel)).collect();

    // One round of all kernels after the other: a disturbance of seconds then falls on some rounds of each, not on all
    // rounds of one.
    for round in allowance.rounds(rounds) {
        for (subject, measured) in subjects.iter_mut().zip(&mut measured) {
            progress.begin(format!("round {round} of {rounds}: {}", measured.kernel.name));
            measured.begin_round();
            for way in turn(round - 1) {
                measured.add(way, subject.run(way, &hosts)?)?;
            }
            progress.step();
        }
    }
    let slices = if options.quick { SLICES_QUICK } else { SLICES };
    for (subject, measured) in subjects.iter_mut().zip(&mut measured) {
        progress.begin(format!("overshoot: {}", measured.kernel.name));
        while measured.slices() < slices {
            let before = measured.slices();
            let outcome =
                subject.run_in_slices(Budget::time(SLICE), &mut |used| measured.add_slice(used, SLICE));
            measured.check(Way::Cooperative, outcome)?;
            if measured.slices() == before {
                break; // it is shorter than a slice
            }
        }
        progress.step();
    }
    Ok(measured)
}

/// The ways that a round runs, in its order: who is first finds the caches cold, so everybody is in turn.
fn turn(round: u32) -> impl Iterator<Item = Way> {
    const OURS: [Way; 3] = [Way::Plain, Way::Cooperative, Way::Scheduled];
    const TOKIOS: [Way; 2] = [Way::Consuming, Way::Yielding];
    let ours = OURS.into_iter().cycle().skip(round as usize % OURS.len()).take(OURS.len());
    ours.chain(TOKIOS.into_iter().filter(move |_| round.is_multiple_of(TOKIO_EVERY)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_runs_plain_and_every_fourth_runs_all() {
        let ways: Vec<Way> = turn(0).collect();
        assert_eq!(ways[0], Way::Plain);
        assert!(Way::COMPARED.iter().all(|way| ways.contains(way)));
        let ways: Vec<Way> = turn(1).collect();
        assert_eq!(ways, [Way::Cooperative, Way::Scheduled, Way::Plain]);
    }

    /// A kernel's outcome each way, and under budgets down to one iteration a poll.
    #[test]
    fn all_ways_come_to_the_same() {
        let hosts = Hosts::default();
        for kernel in kernels::all() {
            let mut subject = (kernel.start)(Size::Small);
            let expected = subject.run(Way::Plain, &hosts).unwrap().outcome;
            for way in Way::COMPARED {
                assert_eq!(subject.run(way, &hosts).unwrap().outcome, expected, "{} {way:?}", kernel.name);
            }
            let nanosecond = Budget::time(Duration::from_nanos(1));
            for budget in
                [Budget::checks(0), Budget::checks(1), Budget::checks(7), nanosecond, Budget::UNLIMITED]
            {
                let mut polls = 0_u32;
                let outcome = subject.run_in_slices(budget, &mut |_| polls += 1);
                assert_eq!(outcome, expected, "{} {budget:?}", kernel.name);
                assert_eq!(polls == 0, budget == Budget::UNLIMITED, "{} {budget:?}", kernel.name);
            }
        }
    }

    #[test]
    fn names_differ() {
        let names: std::collections::BTreeSet<_> = kernels::all().map(|kernel| kernel.name).collect();
        assert_eq!(names.len(), kernels::all().count());
        assert!(names.len() >= 23, "20 and the three that a meter can be wrong about");
        assert_eq!(kernels::all().filter(|kernel| kernels::is_abrupt(kernel)).count(), 2);
    }
}
