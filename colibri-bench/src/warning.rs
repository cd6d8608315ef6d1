//! What may be wrong with the figures: what was seen, why it matters, what to do.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::measure::DISTURBED_SHARE;
use crate::report::{count, duration, percent};

/// A share of disturbed runs above this says that the machine is busy.
const RUNS_DISTURBED_SHARE: f64 = 0.1;
/// Rounds of one subject that lie further apart than this, as a share of their median, are noise.
const SPREAD_SHARE: f64 = 0.05;
/// With fewer rounds than this, nobody can tell noise from a difference.
const ROUNDS_LEAST: usize = 3;
/// A sender that is later than this at its 99th percentile shows in the waits.
const SENDER_LATE: Duration = Duration::from_micros(50);
/// A bulk job shorter than this cannot make anybody wait long.
const BULK_SHORT: Duration = Duration::from_millis(200);

/// One thing that the reader has to know before trusting the figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Warning {
    seen: String,
    matters: String,
    cure: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.seen, self.matters, self.cure)
    }
}

impl Warning {
    fn new(seen: impl Into<String>, matters: &str, cure: &str) -> Self {
        Self { seen: seen.into(), matters: matters.into(), cure: cure.into() }
    }

    /// If this is a debug build.
    pub(crate) fn debug_build() -> Option<Self> {
        cfg!(debug_assertions).then(|| {
            Self::new(
                "This is a debug build.",
                "Its figures say nothing about the code that users run.",
                "Use `cargo xtask bench`, which builds with --release.",
            )
        })
    }

    /// If the thread was kept off the CPU: each subject with the share of its worst round.
    pub(crate) fn off_cpu(worst_shares: &[(&str, f64)]) -> Option<Self> {
        let disturbed = listed(worst_shares, DISTURBED_SHARE);
        (!disturbed.is_empty()).then(|| {
            Self::new(
                format!("Other programs had the CPU for a part of some rounds, at most {disturbed}."),
                "Waits (p99.9 and max above all) and throughput are worse than they would be alone.",
                "Close what else runs and measure again, or take more --rounds and read the best ones.",
            )
        })
    }

    /// If other programs disturbed a share of many short runs.
    pub(crate) fn runs_disturbed(share: f64) -> Option<Self> {
        (share > RUNS_DISTURBED_SHARE).then(|| {
            Self::new(
                format!("Other programs had the CPU for a part of {} of the runs.", percent(share)),
                "Their interruptions are not in the figures; but what runs beside also slows caches and memory.",
                "Close what else runs and measure again, or trust the best rounds more, and for `overhead` --instructions.",
            )
        })
    }

    /// If other programs disturbed a share of many stretches of work that count by the clock; `what` they are.
    pub(crate) fn slices_disturbed(what: &str, share: f64) -> Option<Self> {
        (share > RUNS_DISTURBED_SHARE).then(|| {
            Self::new(
                format!("Other programs had the CPU for a part of {} of the {what}.", percent(share)),
                "Waits, holds and totals go by the clock, so that these interruptions are in them.",
                "Close what else runs and measure again, or read the best rounds and what is told in the thread's own time.",
            )
        })
    }

    /// If the system does not tell how long the thread was kept off the CPU.
    pub(crate) fn off_cpu_unknown(known: bool) -> Option<Self> {
        (!known).then(|| {
            Self::new(
                "This system does not tell how long the thread was kept off the CPU.",
                "Rounds that other programs disturbed cannot be told from the others.",
                "Compare the rounds' spread, and measure on Linux if you need to be sure.",
            )
        })
    }

    /// If the rounds of a subject lie far apart: each subject with the spread of its throughput.
    pub(crate) fn spread(spreads: &[(&str, f64)]) -> Option<Self> {
        let noisy = listed(spreads, SPREAD_SHARE);
        (!noisy.is_empty()).then(|| {
            Self::new(
                format!("The throughput differs from round to round: {noisy}."),
                "Differences between subjects that are smaller than this are noise.",
                "Take more --rounds, turn off frequency scaling, or measure on a machine with less to do.",
            )
        })
    }

    /// If there were so few rounds of a subject that they say nothing about the noise.
    pub(crate) fn few_rounds(rounds: usize) -> Option<Self> {
        let (seen, verb) = if rounds == 1 { ("round", "was") } else { ("rounds", "were") };
        (rounds < ROUNDS_LEAST).then(|| {
            Self::new(
                format!("There {verb} only {} {seen} of a subject.", count(rounds as u64)),
                "Best and median then say nothing about how much the machine's noise moves them.",
                "Take more with --rounds; a quick run on a slow machine has no time for them.",
            )
        })
    }

    /// If the queries were sent late.
    pub(crate) fn sender_late(p99_nanos: u64) -> Option<Self> {
        (Duration::from_nanos(p99_nanos) > SENDER_LATE).then(|| {
            Self::new(
                format!(
                    "One query in a hundred was sent {} or more after its planned time.",
                    duration(p99_nanos)
                ),
                "That delay is part of every subject's waits, and the largest part of the short ones.",
                "Leave the second core free while measuring, or lower --rate.",
            )
        })
    }

    /// If the plan was over before the bulk job was.
    pub(crate) fn plan_exhausted(subject: &str, exhausted: bool) -> Option<Self> {
        exhausted.then(|| {
            Self::new(
                format!("\"{subject}\" was so slow that the planned queries ended before its bulk job."),
                "The rest of its round had no load, so its waits look better than they are.",
                "Measure again with less else to do, or lower --rate.",
            )
        })
    }

    /// If the bulk job is too short to hold the thread for long.
    pub(crate) fn bulk_short(bulk: Duration) -> Option<Self> {
        (bulk < BULK_SHORT).then(|| {
            Self::new(
                format!("Without yields the bulk job only takes {}.", duration(bulk.as_nanos() as u64)),
                "Nobody can wait longer than that, so the ways cannot differ by much.",
                "Name a folder with more text with --input DIR, or raise --input-limit.",
            )
        })
    }
}

/// Each subject whose share is above `limit`, with it.
fn listed(shares: &[(&str, f64)], limit: f64) -> String {
    let above = shares.iter().filter(|(_, share)| *share > limit);
    above.map(|(subject, share)| format!("{} ({subject})", percent(*share))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_fine_gives_no_warning() {
        assert_eq!(Warning::off_cpu(&[("a", 0.001), ("b", 0.0)]), None);
        assert_eq!(Warning::off_cpu_unknown(true), None);
        assert_eq!(Warning::runs_disturbed(0.09), None);
        assert_eq!(Warning::slices_disturbed("slices", 0.09), None);
        assert_eq!(Warning::spread(&[("a", 0.01)]), None);
        assert_eq!(Warning::few_rounds(3), None);
        assert_eq!(Warning::sender_late(4_000), None);
        assert_eq!(Warning::plan_exhausted("a", false), None);
        assert_eq!(Warning::bulk_short(Duration::from_secs(1)), None);
    }

    #[test]
    fn a_warning_says_what_was_seen_why_it_matters_and_what_to_do() {
        assert_eq!(
            Warning::spread(&[("plain", 0.01), ("tokio", 0.2), ("colibri", 0.061)]).unwrap().to_string(),
            "The throughput differs from round to round: 20.0 % (tokio), 6.1 % (colibri). Differences between subjects \
             that are smaller than this are noise. Take more --rounds, turn off frequency scaling, or measure on a \
             machine with less to do."
        );
        assert!(Warning::off_cpu(&[("a", 0.07)]).unwrap().to_string().contains("7.0 % (a)"));
        assert!(Warning::runs_disturbed(0.25).unwrap().to_string().contains("a part of 25.0 % of the runs"));
        let slices = Warning::slices_disturbed("slices", 0.5).unwrap().to_string();
        assert!(
            slices.starts_with("Other programs had the CPU for a part of 50.0 % of the slices. Waits"),
            "{slices}"
        );
        assert!(Warning::few_rounds(1).unwrap().to_string().starts_with("There was only 1 round of"));
        assert!(Warning::few_rounds(2).unwrap().to_string().starts_with("There were only 2 rounds of"));
        assert!(Warning::sender_late(120_000).unwrap().to_string().contains("120 µs"));
        assert!(Warning::bulk_short(Duration::from_millis(12)).unwrap().to_string().contains("12.0 ms"));
    }
}
