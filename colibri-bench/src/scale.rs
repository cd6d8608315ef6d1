//! The scenario `scale`: from a hundred to a million live tasks. Does a pick cost the same, and how much memory has a task?
//!
//! Time: all tasks yield in turn, in the order in which they were spawned. Memory: this program starts itself once for
//! each figure, and the new process tells by how much its anonymous memory grew, exactly as the system has mapped it. So
//! the allocator's own bytes are in it, and nothing that an earlier measurement left behind.

use std::cell::RefCell;
use std::fs;
use std::hint::black_box;
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::allowance::Allowance;
use crate::cli::Options;
use crate::executors::{Executor, Latch, each_executor};
use crate::failure::Failure;
use crate::ops::operations::yields;
use crate::ops::timings::{Sample, Timings, disturbed};
use crate::progress::Progress;
use crate::report::{Axis, Plot, Point, Report, Row, Series, count, digits, rounds_of};
use crate::warning::Warning;

/// What the scenario measures, in one line.
pub(crate) const ABOUT: &str = "100 to 1 000 000 live tasks: cost of a pick, bytes of a task";

/// Numbers of live tasks.
const TASKS: [usize; 5] = [100, 1_000, 10_000, 100_000, 1_000_000];
/// Below this many tasks, pages of 4 KiB are too coarse to tell a task's memory.
const MEMORY_FROM: usize = 10_000;
/// Picks in a round, at least: some 10 ms.
const PICKS: usize = 200_000;
/// Picks of each task, at least.
const PICKS_EACH: usize = 4;
/// A round with more tasks than this takes a second per executor: fewer of them are enough.
const MANY: usize = 100_000;
/// So few.
const ROUNDS_OF_MANY: u32 = 3;
/// A pick is flat if among a million tasks it takes less than this many times what it takes among a hundred.
const FLAT: f64 = 1.5;

/// Measures it.
pub(crate) fn run(options: &Options) -> Result<Report, Failure> {
    let allowance = Allowance::of(options);
    let rounds = options.rounds();
    let mut report = Report::new("scale", format!("cargo xtask bench scale --rounds {rounds}"));
    say_picks(&mut report, rounds, options.quick, allowance);
    say_memory(&mut report, allowance)?;
    if let Some(warning) = Warning::debug_build() {
        report.warn(warning);
    }
    Ok(report)
}

fn picks<E: Executor>(tasks: usize) -> Sample {
    yields::<E>(tasks, (PICKS / tasks).max(PICKS_EACH))
}

fn say_picks(report: &mut Report, rounds: u32, quick: bool, allowance: Allowance) {
    let executors = each_executor!(picks);
    let rounds_of_tasks = |tasks| match tasks {
        0..=MANY => rounds,
        _ if quick => 1,
        _ => rounds.min(ROUNDS_OF_MANY),
    };
    let steps: u32 = TASKS.iter().map(|&tasks| rounds_of_tasks(tasks)).sum();
    let progress = Progress::new("scale", steps.into());
    // By number of tasks and executor.
    let mut all: Vec<[Timings; 6]> = Vec::new();
    for tasks in TASKS {
        let mut timings: [Timings; 6] = Default::default();
        for _ in allowance.rounds(rounds_of_tasks(tasks)) {
            progress.begin(format!("{} tasks", count(tasks as u64)));
            for ((_, picks), timings) in executors.iter().zip(&mut timings) {
                timings.add(picks(tasks));
            }
            progress.step();
        }
        all.push(timings);
    }
    drop(progress);
    let (few, many) = (all[0][0].nanos.len(), all[TASKS.len() - 1][0].nanos.len());
    report.say(&format!(
        "Time of one pick with its poll in ns, of so many tasks that yield in the order in which they were spawned: best / median\n\
         of {}, with a million tasks of {}, the thread's own time. Flat: a pick of the most tasks takes less\n\
         than {FLAT} times what one of the fewest takes (best to best); what is not in the caches any more is in it. Disturbed:\n\
         rounds in which other programs had over 1 % of the time.",
        rounds_of(few, rounds),
        rounds_of(many, rounds_of_tasks(TASKS[TASKS.len() - 1])),
    ));
    let names = executors.map(|(name, _)| name);
    let mut rows: Vec<[String; 7]> = Vec::new();
    for (tasks, timings) in TASKS.iter().zip(&all) {
        let metric = format!("pick, {} tasks", count(*tasks as u64));
        for (name, timings) in names.iter().zip(timings) {
            report.row(Row::of_figures(name, &metric, "ns", &timings.nanos));
        }
        let [a, b, c, d, e, f] = timings.each_ref().map(Timings::cell);
        rows.push([count(*tasks as u64), a, b, c, d, e, f]);
    }
    let [a, b, c, d, e, f] = std::array::from_fn(|place| flat(&all[0][place], &all[TASKS.len() - 1][place]));
    rows.push(["most / fewest".to_owned(), a, b, c, d, e, f]);
    let (cells, share) = disturbed(report, names, all.iter().map(|timings| &timings[..]));
    let [a, b, c, d, e, f] = cells;
    rows.push(["disturbed rounds".to_owned(), a, b, c, d, e, f]);
    let [a, b, c, d, e, f] = names;
    report.table(["tasks", a, b, c, d, e, f], rows);
    let series = names.iter().enumerate().map(|(place, name)| {
        let point = |(tasks, timings): (&usize, &[Timings; 6])| {
            let best = timings[place].best()?;
            let says = format!("{name}, {} tasks: {} ns", count(*tasks as u64), digits(best));
            Some(Point::of(*tasks as f64, best, says))
        };
        Series::of(name, TASKS.iter().zip(&all).filter_map(point).collect())
    });
    report.plot(Plot::lines(
        "Time of a pick with its poll (best of the rounds)",
        Axis::log("live tasks", |tasks| count(tasks as u64)),
        Axis::durations("time of a pick"),
        series.collect(),
    ));
    let warnings = [Warning::few_rounds(few), share.and_then(Warning::runs_disturbed)];
    warnings.into_iter().flatten().for_each(|warning| report.warn(warning));
}

/// How a pick among the most tasks compares with one among the fewest.
fn flat(fewest: &Timings, most: &Timings) -> String {
    fewest.best().zip(most.best()).map_or(String::new(), |(fewest, most)| {
        let ratio = most / fewest;
        format!("{} ×, {}", digits(ratio), if ratio < FLAT { "flat" } else { "not flat" })
    })
}

fn say_memory(report: &mut Report, allowance: Allowance) -> Result<(), Failure> {
    if anonymous_bytes().is_none() {
        report.say("Memory is not measured: this system has no /proc/self/smaps_rollup.");
        return Ok(());
    }
    let executors = each_executor!(memory);
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    // The largest last: these are left out first if time is short.
    for tasks in TASKS.into_iter().filter(|&tasks| tasks >= MEMORY_FROM) {
        for (waits, words) in [(false, "no waker kept"), (true, "a waker kept")] {
            if allowance.is_over() {
                left_out.push(format!("{}, {words}", count(tasks as u64)));
                continue;
            }
            let mut bytes = [0.0; 6];
            for (place, (name, _)) in executors.iter().enumerate() {
                bytes[place] = memory_elsewhere(place, tasks, waits)?;
                let metric = format!("memory of a task, {words}, {} tasks", count(tasks as u64));
                report.row(Row::of_figures(name, &metric, "B", &[bytes[place]]));
            }
            let [a, b, c, d, e, f] = bytes.map(|bytes| format!("{bytes:.0}"));
            rows.push([format!("{} tasks, {words}", count(tasks as u64)), a, b, c, d, e, f]);
        }
    }
    if rows.is_empty() {
        report.say("The memory of the tasks is not measured: there was no time left. Run `scale` by itself, or without --quick.");
        return Ok(());
    }
    report.say(&format!(
        "Memory of one task in bytes, its future of {} bytes and the allocator's own bytes included: by how much the anonymous\n\
         memory of a new process grew (/proc/self/smaps_rollup), spread over all tasks.",
        size_of::<Parked>()
    ));
    let [a, b, c, d, e, f] = executors.map(|(name, _)| name);
    report.table(["bytes of a task", a, b, c, d, e, f], rows);
    if !left_out.is_empty() {
        report.say(&format!("There was no time for the memory of so many tasks: {}.", left_out.join("; ")));
    }
    Ok(())
}

/// Starts this program to measure the memory of the tasks of the executor with this number.
fn memory_elsewhere(executor: usize, tasks: usize, waits: bool) -> Result<f64, Failure> {
    let refuse = |why: String| Failure::Run(format!("the memory of {tasks} tasks cannot be measured: {why}"));
    let program = std::env::current_exe().map_err(|error| refuse(error.to_string()))?;
    let output = Command::new(program)
        .args(["memory", &executor.to_string(), &tasks.to_string(), &waits.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| refuse(error.to_string()))?;
    let said = String::from_utf8_lossy(&output.stdout);
    said.trim().parse().map_err(|_| refuse(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
}

/// Bytes of each of `tasks` tasks, on the executor with this number. To be called in a process that does nothing else.
pub(crate) fn measure_memory(executor: usize, tasks: usize, waits: bool) -> Option<f64> {
    let (_, memory) = *each_executor!(memory).get(executor)?;
    memory((tasks, waits))
}

fn memory<E: Executor>((tasks, waits): (usize, bool)) -> Option<f64> {
    let executor = E::new();
    let polled = Latch::new(1);
    // Made, and touched, before anything is counted.
    let parking = Rc::new(Parking {
        wakers: RefCell::new((0..tasks + 1).map(|_| Some(Waker::noop().clone())).collect()),
        polled: polled.clone(),
        waits,
    });
    let spawn = |number| {
        E::detach(executor.spawn(Parked { parking: Rc::clone(&parking), number, load: [7; 4] }));
    };
    // What the executor makes once, for its first task.
    spawn(tasks);
    executor.block_on(polled.opened());
    polled.set(tasks);
    let before = anonymous_bytes()?;
    (0..tasks).for_each(spawn);
    executor.block_on(polled.opened());
    let grown = anonymous_bytes()?.saturating_sub(before);
    // The tasks never end, and their wakers may keep them: the process ends with them.
    black_box(&parking);
    std::mem::forget((executor, parking));
    Some(grown as f64 / tasks as f64)
}

/// Where parked tasks leave their wakers.
struct Parking {
    wakers: RefCell<Vec<Option<Waker>>>,
    polled: Latch,
    waits: bool,
}

/// A task's future: 48 bytes, and never ready.
struct Parked {
    parking: Rc<Parking>,
    number: usize,
    load: [u64; 4],
}

impl Future for Parked {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        black_box(self.load);
        if self.parking.waits {
            self.parking.wakers.borrow_mut()[self.number] = Some(context.waker().clone());
        }
        self.parking.polled.count_down();
        Poll::Pending
    }
}

/// The anonymous memory that is mapped into this process now.
fn anonymous_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/smaps_rollup").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Anonymous:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Used;

    #[test]
    fn a_parked_task_has_48_bytes() {
        assert_eq!(size_of::<Parked>(), 48);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn anonymous_memory_grows_with_what_is_touched() {
        let before = anonymous_bytes().unwrap();
        let touched = black_box(vec![1_u8; 32 << 20]);
        let grown = anonymous_bytes().unwrap() - before;
        assert!(grown >= touched.len() as u64 / 2, "{grown}");
    }

    #[test]
    fn a_pick_is_flat_or_not() {
        let of = |nanos| {
            let mut timings = Timings::default();
            timings.add(Sample { nanos, used: Used::none() });
            timings
        };
        assert_eq!(flat(&of(10.0), &of(14.0)), "1.40 ×, flat");
        assert_eq!(flat(&of(10.0), &of(40.0)), "4.00 ×, not flat");
        assert_eq!(flat(&of(10.0), &Timings::default()), "");
    }

    #[test]
    fn without_time_there_is_a_sentence_on_memory_and_no_table() {
        let mut report = Report::new("scale", String::new());
        say_memory(&mut report, Allowance::over()).unwrap();
        let text = report.text();
        assert!(text.contains("not measured") && !text.contains("| bytes of a task"), "{text}");
    }

    #[test]
    fn an_executor_that_is_not_there_is_not_measured() {
        assert!(measure_memory(6, 1, true).is_none());
    }
}
