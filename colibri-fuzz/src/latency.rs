//! Latency: how long each class waits at a given load, beside the targets, and beside what queueing theory expects.
//!
//! Arrivals are Poisson. Of the work a tenth is Immediate (0.2 ms each), three tenths Normal (0.1 ms, or one in ten
//! 9.1 ms), the rest Idle (exponential, 3 ms on average). A wait is the time from arrival to the first turn.

use std::fmt::Write;
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use hdrhistogram::Histogram;
use serde::Serialize;

use crate::draw::{Random, Shape};
use crate::simulate::simulate;
use crate::span::{nanos, short};
use crate::subject::Subject;
use crate::tally::{TARGETS_NANOS, empty_histogram};
use crate::trace::{Trace, What};
use crate::workload::{Class, Plan, Settings, Step, Workload};

/// The loads of the table: the part of the time in which the thread is busy.
pub const LOADS: [f64; 7] = [0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98];

/// Tasks of one batch: a trace of them takes some 100 MB.
const BATCH_TASKS: u32 = 100_000;

/// Each batch begins with an empty queue. So many arrivals are not counted, while it fills: five times 2 / (1 - 0.98)².
const WARM_UP_TASKS: u32 = 25_000;

/// Between two checkpoints: short beside all work.
const GAP: Duration = Duration::from_micros(100);

/// Each class's part of the work, how long its tasks are, and how that is spread.
const MIX: [(f64, Duration, Shape); 3] = [
    (0.1, Duration::from_micros(200), Shape::Constant),
    (0.3, Duration::from_millis(1), Shape::Bimodal),
    (0.6, Duration::from_millis(3), Shape::Exponential),
];

/// How one class waited at one load.
#[derive(Clone, Debug)]
pub struct Waits {
    /// From arrival to the first turn, in nanoseconds.
    pub seen: Histogram<u64>,
    /// The standard error of their mean, from the batches' means, in nanoseconds.
    pub error: f64,
    /// The mean that theory expects, in nanoseconds. `None`: there is no theory for these settings.
    pub expected: Option<f64>,
}

/// All classes at one load.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The part of the time in which the thread is busy.
    pub load: f64,
    /// By class.
    pub waits: [Waits; 3],
}

/// Settings under which the waits have a theory: first come, first served within a class, and nobody is promoted.
pub fn without_turns() -> Settings {
    Settings {
        quantum: Duration::from_secs(4),
        upgrade_after: Duration::from_secs(3600),
        ..Settings::default()
    }
}

/// Runs so many batches of arrivals at `load` on a scheduler of kind `S`.
pub fn measure<S: Subject>(settings: &Settings, load: f64, seed: u64, batches: u64) -> Measured {
    let mut seen = [empty_histogram(), empty_histogram(), empty_histogram()];
    // Sums of the batches' means, and of their squares.
    let mut means = [(0.0, 0.0); 3];
    for batch in 0..batches {
        let workload = workload(settings, load, seed.wrapping_mul(1 << 20).wrapping_add(batch));
        let mut mine = [empty_histogram(), empty_histogram(), empty_histogram()];
        waits(&simulate::<S>(&workload), &workload, &mut mine);
        for ((seen, mine), (sum, squares)) in seen.iter_mut().zip(mine).zip(&mut means) {
            // Both were made with the same limits.
            let _ = seen.add(&mine);
            *sum += mine.mean();
            *squares += mine.mean() * mine.mean();
        }
    }
    let many = batches as f64;
    let error = |(sum, squares): (f64, f64)| {
        ((squares / many - sum * sum / many / many).max(0.0) / (many - 1.0).max(1.0)).sqrt()
    };
    let has_theory = *settings == without_turns();
    let mut classes = 0..;
    let waits = seen.map(|seen| {
        let class = classes.next().unwrap_or(0);
        Waits { seen, error: error(means[class]), expected: has_theory.then(|| mean_wait(load, class)) }
    });
    Measured { load, waits }
}

/// One batch of arrivals.
fn workload(settings: &Settings, load: f64, seed: u64) -> Workload {
    let mut random = Random::new(seed);
    let rate = |(part, mean, _): (f64, Duration, Shape)| part * load / mean.as_secs_f64();
    let rates = MIX.map(rate);
    let all: f64 = rates.iter().sum();
    let mean_between = Duration::from_secs_f64(1.0 / all);
    let mut now = Duration::ZERO;
    let tasks = (0..BATCH_TASKS).map(|_| {
        now += Shape::Exponential.at(random.even(), mean_between);
        let drawn = f64::from(random.even()) / f64::from(u32::MAX) * all;
        let class = match drawn {
            drawn if drawn < rates[0] => Class::Immediate,
            drawn if drawn < rates[0] + rates[1] => Class::Normal,
            _ => Class::Idle,
        };
        let (_, mean, shape) = MIX[class as usize];
        let total = shape.at(random.even(), mean);
        Plan {
            class,
            arrives: Some(now),
            steps: vec![Step::Work { total, gap: GAP.min(total.max(Duration::from_nanos(1))) }],
            ..Plan::default()
        }
    });
    Workload { settings: settings.clone(), tasks: tasks.collect(), ..Workload::default() }
}

fn waits(trace: &Trace, workload: &Workload, seen: &mut [Histogram<u64>; 3]) {
    let mut arrived = vec![None; workload.tasks.len()];
    for event in &trace.events {
        match event.what {
            What::Spawned(_) if event.task >= WARM_UP_TASKS => arrived[event.task as usize] = Some(event.at),
            What::Started(_) => {
                if let Some(at) = arrived[event.task as usize].take() {
                    let class = workload.tasks[event.task as usize].class;
                    seen[class as usize].saturating_record(event.at - at);
                }
            }
            _ => {}
        }
    }
}

/// The mean wait of a class in nanoseconds, after Cobham, for priorities that preempt at the next checkpoint:
/// R / ((1 - s) (1 - s')), where s is the load of the classes above, s' that with its own, and R the mean rest of what is found
/// running: that of a whole task (ρ E[S²] / (2 E[S])) of its own class or above, of a gap (ρ d / 2) below.
fn mean_wait(load: f64, class: usize) -> f64 {
    let loads = MIX.map(|(part, ..)| part * load);
    let above: f64 = loads[..class].iter().sum();
    let with_own = above + loads[class];
    // E[S²] / E[S]²
    let spread = |shape: Shape| match shape {
        Shape::Bimodal => 0.9 * 0.1 * 0.1 + 0.1 * 9.1 * 9.1,
        Shape::Exponential => 2.0,
        _ => 1.0,
    };
    let rest = |(load, (_, mean, shape)): (&f64, &(f64, Duration, Shape))| {
        load * spread(*shape) * nanos(*mean) as f64 / 2.0
    };
    let rests: f64 = loads[..=class].iter().zip(&MIX).map(rest).sum();
    let gaps: f64 = loads[class + 1..].iter().map(|load| load * nanos(GAP) as f64 / 2.0).sum();
    (rests + gaps) / ((1.0 - above) * (1.0 - with_own))
}

/// One line of the table, for JSON.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// The load.
    pub load: f64,
    /// The class.
    pub class: Class,
    /// How many waits.
    pub waits: u64,
    /// Their mean, in nanoseconds.
    pub mean: f64,
    /// The standard error of the mean.
    pub error: f64,
    /// The mean that theory expects.
    pub expected: Option<f64>,
    /// The 50th, 90th, 99th and 99.9th percentile and the longest, in nanoseconds.
    pub percentiles: [u64; 5],
    /// The latency target of the class.
    pub target: u64,
}

/// The lines of the table.
pub fn lines(measured: &[Measured]) -> Vec<Line> {
    let line = |load: f64, class: Class, waits: &Waits| {
        let at = |quantile| waits.seen.value_at_quantile(quantile);
        Line {
            load,
            class,
            waits: waits.seen.len(),
            mean: waits.seen.mean(),
            error: waits.error,
            expected: waits.expected,
            percentiles: [at(0.5), at(0.9), at(0.99), at(0.999), waits.seen.max()],
            target: TARGETS_NANOS[class as usize],
        }
    };
    let of = |measured: &Measured| {
        let load = measured.load;
        Class::ALL.map(|class| line(load, class, &measured.waits[class as usize]))
    };
    measured.iter().flat_map(of).collect()
}

/// The table of expected and seen, or of seen and targets.
pub fn table(lines: &[Line]) -> String {
    let theory = lines.iter().any(|line| line.expected.is_some());
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let last: &[&str] =
        if theory { &["mean", "expected", "seen / expected"] } else { &["mean", "target", "p99 in target"] };
    let header = ["load", "class", "waits", "p50", "p90", "p99", "p99.9", "max"];
    table.set_header(header.iter().chain(last));
    for line in lines {
        let mut cells =
            vec![format!("{:.2}", line.load), format!("{:?}", line.class), line.waits.to_string()];
        cells.extend(line.percentiles.map(short));
        cells.push(short(line.mean as u64));
        match line.expected {
            Some(expected) => {
                cells.extend([
                    short(expected as u64),
                    format!("{:.3} ± {:.3}", line.mean / expected, line.error / expected),
                ]);
            }
            None => {
                let kept = line.percentiles[2] <= line.target;
                cells.extend([short(line.target), if kept { "yes" } else { "no" }.to_owned()]);
            }
        }
        table.add_row(cells);
    }
    for place in (0..header.len() + last.len()).filter(|place| *place != 1) {
        if let Some(column) = table.column_mut(place) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

/// Both tables, with what they mean.
pub fn report<S: Subject>(
    seed: u64,
    batches: u64,
    progress: impl Fn(u64) + Sync,
) -> (String, [Vec<Line>; 2]) {
    let done = std::sync::atomic::AtomicU64::new(0);
    let settings = [without_turns(), Settings::default()];
    let measured = settings.map(|settings| {
        // Loads beside each other: the fullest takes the longest, and is begun first.
        let measured = std::thread::scope(|scope| {
            let (halves, progress, done) = ([0, 1], &progress, &done);
            let settings = &settings;
            let threads = halves.map(|half| {
                scope.spawn(move || {
                    let mine = LOADS.iter().rev().skip(half).step_by(2);
                    mine.map(|load| {
                        let measured = measure::<S>(settings, *load, seed, batches);
                        progress(done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1);
                        measured
                    })
                    .collect::<Vec<_>>()
                })
            });
            let join = |thread: std::thread::ScopedJoinHandle<'_, Vec<Measured>>| {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().flat_map(join).collect::<Vec<_>>()
        });
        let mut measured = measured;
        measured.sort_by(|one, other| one.load.total_cmp(&other.load));
        lines(&measured)
    });
    let mut text = String::new();
    let _ = writeln!(
        text,
        "Waits from arrival to the first turn, {BATCH_TASKS} Poisson arrivals a batch (the first {WARM_UP_TASKS} not\n\
         counted), {batches} batches a load.\n\n\
         First come, first served within each class (quantum 4 s, no promotion), beside M/G/1 with priorities that\n\
         preempt at the next checkpoint: mean = R / ((1 - s) (1 - s')), ± the standard error of the batches' means.\n\n{}\n",
        table(&measured[0])
    );
    let _ = writeln!(
        text,
        "The default settings (quantum 2 ms, promotion after 500 ms), beside the latency targets.\n\n{}",
        table(&measured[1])
    );
    (text, measured)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colibri::Colibri;

    #[test]
    fn waits_are_those_of_theory_and_targets_are_kept_at_half_load() {
        let theory = lines(&[measure::<Colibri>(&without_turns(), 0.5, 1, 1)]);
        for line in &theory {
            let ratio = line.mean / line.expected.unwrap();
            assert!((0.9..1.1).contains(&ratio), "{line:?}");
        }
        let real = lines(&[measure::<Colibri>(&Settings::default(), 0.5, 1, 1)]);
        assert!(real.iter().all(|line| line.percentiles[2] <= line.target), "{real:?}");
        assert!(table(&theory).contains("seen / expected") && table(&real).contains("p99 in target"));
    }
}
