//! The comparison: which of the promises other schedulers keep, on the same workloads.

use std::panic::{AssertUnwindSafe, catch_unwind};

use comfy_table::{Cell, Table, presets};
use serde::Serialize;

use crate::case::Case;
use crate::property::{Breach, PROMISES, Promise};
use crate::simulate::simulate;
use crate::subject::{Skill, Subject};

/// One scheduler's column.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// The scheduler.
    pub name: &'static str,
    /// How many cases it ran.
    pub cases: u64,
    /// How it did by each of [`PROMISES`].
    pub verdicts: Vec<Verdict>,
}

/// How a scheduler did by one promise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No case broke it.
    Kept,
    /// It offers no such thing.
    Lacks(&'static str),
    /// Some cases broke it.
    Broken {
        /// How many.
        cases: u64,
        /// The first of them.
        first: u64,
        /// What was seen in it.
        seen: String,
    },
}

/// Runs `cases` cases of `seed` on a scheduler of kind `S` and judges it by each promise for itself.
pub fn column<S: Subject>(seed: u64, cases: u64) -> Column {
    let mut verdicts = PROMISES.iter().map(|promise| at_first(promise, S::SKILLS)).collect::<Vec<_>>();
    for number in 0..cases {
        let workload = Case { seed, number }.workload();
        let breaches = match catch_unwind(AssertUnwindSafe(|| simulate::<S>(&workload))) {
            Ok(trace) => PROMISES.iter().map(|promise| promise.check_named(&trace).err()).collect::<Vec<_>>(),
            Err(_) => PROMISES
                .iter()
                .map(|promise| {
                    let text = "a panic got out of the scheduler".to_owned();
                    let stray = promise.name == "no stray panic";
                    stray.then_some(Breach { promise: promise.name, place: 0, text })
                })
                .collect(),
        };
        for (verdict, breach) in verdicts.iter_mut().zip(breaches) {
            match (verdict, breach) {
                (Verdict::Broken { cases, .. }, Some(_)) => *cases += 1,
                (verdict @ Verdict::Kept, Some(breach)) => {
                    *verdict = Verdict::Broken { cases: 1, first: number, seen: breach.text };
                }
                _ => {}
            }
        }
    }
    Column { name: S::NAME, cases, verdicts }
}

fn at_first(promise: &Promise, skills: &[Skill]) -> Verdict {
    match promise.needs {
        Some(skill) if !skills.contains(&skill) => Verdict::Lacks(skill.noun()),
        _ => Verdict::Kept,
    }
}

/// All schedulers that this build knows, colibri first.
pub fn columns(seed: u64, cases: u64) -> Vec<Column> {
    let columns: &[fn(u64, u64) -> Column] = &[
        column::<crate::colibri::Colibri>,
        #[cfg(feature = "peers")]
        column::<crate::peer::Tokio>,
        #[cfg(feature = "peers")]
        column::<crate::peer::AsyncExecutor>,
        column::<crate::peer::Fifo>,
    ];
    // One thread each: the longest of them is what it takes.
    std::thread::scope(|scope| {
        let threads = columns.iter().map(|column| scope.spawn(|| column(seed, cases))).collect::<Vec<_>>();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Column>| thread.join();
        threads
            .into_iter()
            .map(|thread| join(thread).unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

/// The columns beside each other, and what was seen first where a promise broke.
pub fn table(columns: &[Column]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["promise"].into_iter().chain(columns.iter().map(|column| column.name)));
    for (place, promise) in PROMISES.iter().enumerate() {
        let cells = columns.iter().map(|column| Cell::new(column.verdicts[place].short(column.cases)));
        table.add_row([Cell::new(promise.name)].into_iter().chain(cells));
    }
    let mut text = format!("{table}\n\nWhat was seen first:\n");
    for column in columns {
        for (promise, verdict) in PROMISES.iter().zip(&column.verdicts) {
            if let Verdict::Broken { first, seen, .. } = verdict {
                text += &format!("  {}, {}, case {first}: {seen}\n", column.name, promise.name);
            }
        }
    }
    text
}

impl Verdict {
    /// In a word or two, out of so many cases.
    pub fn short(&self, of: u64) -> String {
        match self {
            Verdict::Kept => "kept".to_owned(),
            Verdict::Lacks(noun) => format!("no {noun}"),
            // A single case of thousands must not look like none.
            Verdict::Broken { cases, .. } if cases * 1_000 < of => "broken in < 0.1 %".to_owned(),
            Verdict::Broken { cases, .. } => format!("broken in {:.1} %", *cases as f64 * 100.0 / of as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colibri_keeps_all_and_a_plain_queue_does_not() {
        let columns = [column::<crate::colibri::Colibri>(1, 60), column::<crate::peer::Fifo>(1, 60)];
        assert!(columns[0].verdicts.iter().all(|verdict| *verdict == Verdict::Kept), "{columns:?}");
        let of = |name| {
            let place = PROMISES.iter().position(|promise| promise.name == name).unwrap();
            columns[1].verdicts[place].clone()
        };
        assert_eq!(of("class order"), Verdict::Lacks("classes"));
        assert_eq!(of("no lost task"), Verdict::Kept);
        assert!(matches!(of("lag"), Verdict::Broken { .. }), "long steps get more than short ones");
        let text = table(&columns);
        assert!(text.contains("no classes") && text.contains("broken in"), "{text}");
    }

    #[cfg(feature = "peers")]
    #[test]
    fn the_peers_lose_no_task() {
        let place = PROMISES.iter().position(|promise| promise.name == "no lost task").unwrap();
        for column in [column::<crate::peer::Tokio>(1, 60), column::<crate::peer::AsyncExecutor>(1, 60)] {
            assert_eq!(column.verdicts[place], Verdict::Kept, "{}", column.name);
        }
    }
}
