//! Latency: how long each class waits at a given load, beside the targets, and beside what queueing theory expects.
//!
//! Arrivals are Poisson. Of the work a tenth is Immediate (0.2 ms each), three tenths Normal (0.1 ms, or one in ten
//! 9.1 ms), the rest Idle (exponential, 3 ms on average). A wait is the time from arrival to the first turn.
//!
//! Each row is judged. With the default settings the 99th percentile must keep the class's target, as far as theory expects
//! that it can be kept at all: see [`expected_p99`]. Beside theory the mean may differ by what chance explains: see
//! [`FALSE_ALARMS`].

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

/// How likely it may be that a run blames a scheduler in which nothing is wrong: that the mean of any row beside theory
/// differs by more than it may. Each row's confidence interval is as wide as the row's part of that, one in `3 * LOADS.len()`,
/// asks for: the standard error of the batches' means, times the quantile of Student's t for so many batches.
pub const FALSE_ALARMS: f64 = 0.001;

/// The percentile that is held against the target.
pub const JUDGED_QUANTILE: f64 = 0.99;

/// How one class waited at one load.
#[derive(Clone, Debug)]
pub struct Waits {
    /// From arrival to the first turn, in nanoseconds.
    pub seen: Histogram<u64>,
    /// The standard error of their mean, from the batches' means, in nanoseconds.
    pub error: f64,
    /// By how much their mean may differ from theory by chance, in nanoseconds. `None`: there is only one batch.
    pub tolerance: Option<f64>,
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
        let error = error(means[class]);
        Waits {
            seen,
            error,
            tolerance: (batches > 1).then(|| error * student(batches - 1, FALSE_ALARMS / ROWS)),
            expected: has_theory.then(|| mean_wait(load, class)),
        }
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
        now += Shape::Exponential.exactly_at(random.even(), mean_between);
        let drawn = f64::from(random.even()) / f64::from(u32::MAX) * all;
        let class = match drawn {
            drawn if drawn < rates[0] => Class::Immediate,
            drawn if drawn < rates[0] + rates[1] => Class::Normal,
            _ => Class::Idle,
        };
        let (_, mean, shape) = MIX[class as usize];
        let total = shape.exactly_at(random.even(), mean);
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
/// running: that of a whole task (ρ E[S²] / (2 E[S])) of its own class or above, of a gap (ρ E[D²] / (2 E[D])) below. A gap is
/// d, but for a task's last one.
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
    let gaps =
        loads[class + 1..].iter().zip(&MIX[class + 1..]).map(|(load, class)| load * rest_of_a_gap(*class));
    (rests + gaps.sum::<f64>()) / ((1.0 - above) * (1.0 - with_own))
}

/// E[D²] / (2 E[D]) over the gaps of a class's tasks, in nanoseconds. The others are whole multiples of the gap; an exponential
/// length of mean m has e^-a / (1 - e^-a) whole gaps on average, a = d / m, and a rest R that is exponential, cut at d.
fn rest_of_a_gap((_, mean, shape): (f64, Duration, Shape)) -> f64 {
    let (gap, mean) = (nanos(GAP) as f64, nanos(mean) as f64);
    if shape != Shape::Exponential {
        return gap / 2.0;
    }
    let left = (-gap / mean).exp();
    let whole = left / (1.0 - left);
    let rest_squared = 2.0 * mean * mean - (gap * gap + 2.0 * gap * mean) * whole;
    (whole * gap * gap + rest_squared) / (2.0 * mean)
}

/// The 99th percentile that theory expects of a class that is served first come, first served, in nanoseconds. A task waits with
/// the chance ρ that the thread is busy, and then, under a heavy load, for an exponential time (Kingman), so that the mean W is
/// that of P(wait > t) = ρ e^(-t ρ / W), and the percentile W / ρ ln(100 ρ): an estimate, good where a target can be out of
/// reach. Round robin is no slower: who comes first to an
/// equal's queue waits for at most a quantum of each who stands there, where first come, first served waits for all of it.
pub fn expected_p99(load: f64, class: usize) -> f64 {
    let chance = load / (1.0 - JUDGED_QUANTILE);
    mean_wait(load, class) / load * chance.ln().max(0.0)
}

/// How many rows stand beside theory.
const ROWS: f64 = (LOADS.len() * MIX.len()) as f64;

/// The t that Student's distribution of so many degrees of freedom leaves with this probability, on either side. Its density is
/// that of cos^(n - 1) over the angle whose tangent is t / √n.
fn student(freedom: u64, probability: f64) -> f64 {
    const PARTS: u32 = 1 << 16;
    let angle = |part: u32| std::f64::consts::FRAC_PI_2 * (f64::from(part) + 0.5) / f64::from(PARTS);
    let density = |part: u32| angle(part).cos().powf(freedom as f64 - 1.0);
    let outside = (0..PARTS).map(density).sum::<f64>() * probability;
    let mut left = 0.0;
    let first = (0..PARTS).rev().find(|part| {
        left += density(*part);
        left >= outside
    });
    (freedom as f64).sqrt() * angle(first.unwrap_or(0)).tan()
}

/// What came of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The target was kept, or the mean differs from theory by no more than it may.
    Kept,
    /// Not so.
    Missed,
    /// Theory does not expect that the target can be kept at this load: whether it was is not judged.
    Infeasible,
    /// One batch has no standard error.
    Unjudged,
}

impl Verdict {
    /// In a word or two.
    pub fn short(self) -> &'static str {
        match self {
            Verdict::Kept => "kept",
            Verdict::Missed => "MISSED",
            Verdict::Infeasible => "too much by theory",
            Verdict::Unjudged => "not judged",
        }
    }
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
    /// By how much the mean may differ from that.
    pub tolerance: Option<f64>,
    /// The latency target of the class.
    pub target: u64,
    /// The 99th percentile that theory expects under a heavy load.
    pub expected_p99: f64,
    /// What came of it: beside theory where there is one, else beside the target.
    pub verdict: Verdict,
}

impl Line {
    /// What was missed, in a sentence, if anything was.
    pub fn missed(&self) -> Option<String> {
        let Line {
            load, class, mean, error, expected, tolerance, percentiles: [_, _, p99, ..], target, ..
        } = self;
        (self.verdict == Verdict::Missed).then(|| match (expected, tolerance) {
            (Some(expected), Some(tolerance)) => format!(
                "{class:?} waits {} ± {} on average at load {load:.2}, theory expects {}, and chance explains no more than {}",
                short(*mean as u64),
                short(*error as u64),
                short(*expected as u64),
                short(*tolerance as u64)
            ),
            _ => format!(
                "{class:?} waits {} at the 99th percentile at load {load:.2}, the target is {}",
                short(*p99),
                short(*target)
            ),
        })
    }
}

/// The lines of the table.
pub fn lines(measured: &[Measured]) -> Vec<Line> {
    let line = |load: f64, class: Class, waits: &Waits| {
        let at = |quantile| waits.seen.value_at_quantile(quantile);
        let (mean, target) = (waits.seen.mean(), TARGETS_NANOS[class as usize]);
        let expected_p99 = expected_p99(load, class as usize);
        let kept = |kept| if kept { Verdict::Kept } else { Verdict::Missed };
        Line {
            load,
            class,
            waits: waits.seen.len(),
            mean,
            error: waits.error,
            expected: waits.expected,
            percentiles: [at(0.5), at(0.9), at(JUDGED_QUANTILE), at(0.999), waits.seen.max()],
            tolerance: waits.tolerance,
            target,
            expected_p99,
            verdict: match (waits.expected, waits.tolerance) {
                (Some(expected), Some(tolerance)) => kept((mean - expected).abs() <= tolerance),
                (Some(_), None) => Verdict::Unjudged,
                (None, _) if expected_p99 > target as f64 => Verdict::Infeasible,
                (None, _) => kept(at(JUDGED_QUANTILE) <= target),
            },
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
    let last: &[&str] = if theory {
        &["mean", "expected", "seen / expected", "may differ by", "verdict"]
    } else {
        &["mean", "p99 by theory", "target", "verdict"]
    };
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
                    line.tolerance.map_or("?".to_owned(), |tolerance| format!("{:.3}", tolerance / expected)),
                ]);
            }
            None => {
                cells.extend([short(line.expected_p99 as u64), short(line.target)]);
            }
        }
        cells.push(line.verdict.short().to_owned());
        table.add_row(cells);
    }
    for place in (0..header.len() + last.len()).filter(|place| *place != 1) {
        if let Some(column) = table.column_mut(place) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

/// Runs so many batches at each of [`LOADS`], on two threads. `progress` is called after each load.
pub fn measure_all<S: Subject>(
    settings: &Settings,
    seed: u64,
    batches: u64,
    progress: impl Fn() + Sync,
) -> Vec<Line> {
    // Loads beside each other: the fullest takes the longest, and is begun first.
    let mut measured = std::thread::scope(|scope| {
        let threads = [0, 1].map(|half| {
            let progress = &progress;
            scope.spawn(move || {
                let mine = LOADS.iter().rev().skip(half).step_by(2);
                mine.map(|load| {
                    let measured = measure::<S>(settings, *load, seed, batches);
                    progress();
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
    measured.sort_by(|one, other| one.load.total_cmp(&other.load));
    lines(&measured)
}

/// The targets in a few lines: by class, the longest 99th percentile of all loads that is judged.
pub fn summary(targets: &[Line]) -> String {
    let mut text = format!(
        "waits with the default settings at loads from {:.2} to {:.2}, {BATCH_TASKS} Poisson arrivals each, beside the latency targets:\n",
        LOADS[0],
        LOADS[LOADS.len() - 1]
    );
    for class in Class::ALL {
        let mine = targets.iter().filter(|line| line.class == class);
        let judged = mine.clone().filter(|line| line.verdict != Verdict::Infeasible);
        let Some(worst) = judged.max_by_key(|line| line.percentiles[2]) else { continue };
        let _ = write!(
            text,
            "  {:<17} {:<10} p99 at most {} (load {:.2}), target {}",
            worst.verdict.short(),
            format!("{class:?}"),
            short(worst.percentiles[2]),
            worst.load,
            short(worst.target)
        );
        for line in mine.filter(|line| line.verdict == Verdict::Infeasible) {
            let _ = write!(
                text,
                "; too much by theory at load {:.2}: {}",
                line.load,
                short(line.expected_p99 as u64)
            );
        }
        text += "\n";
    }
    text
}

/// Both tables, with what they mean.
pub fn report(theory: &[Line], targets: &[Line], batches: u64) -> String {
    let percent = FALSE_ALARMS * 100.0;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "Waits from arrival to the first turn, {BATCH_TASKS} Poisson arrivals a batch (the first {WARM_UP_TASKS} not\n\
         counted), {batches} batches a load.\n\n\
         First come, first served within each class (quantum 4 s, no promotion), beside M/G/1 with priorities that\n\
         preempt at the next checkpoint: mean = R / ((1 - s) (1 - s')), ± the standard error of the batches' means. By chance\n\
         all rows keep their tolerance (the error times Student's t) in all but {percent} % of the seeds.\n\n{}\n",
        table(theory)
    );
    let _ = writeln!(
        text,
        "The default settings (quantum 2 ms, promotion after 500 ms): p99 beside the latency targets, and beside what theory\n\
         expects under a heavy load, W / load ln(100 load). A target below that is not judged.\n\n{}",
        table(targets)
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colibri::Colibri;

    #[test]
    fn waits_are_those_of_theory_and_targets_are_kept_at_half_load() {
        let theory = lines(&[measure::<Colibri>(&without_turns(), 0.5, 1, 4)]);
        for line in &theory {
            let ratio = line.mean / line.expected.unwrap();
            assert!((0.95..1.05).contains(&ratio), "{line:?}");
            assert_eq!((line.verdict, line.missed()), (Verdict::Kept, None), "{line:?}");
        }
        let real = lines(&[measure::<Colibri>(&Settings::default(), 0.5, 1, 1)]);
        assert!(real.iter().all(|line| line.verdict == Verdict::Kept), "{real:?}");
        assert!(table(&theory).contains("may differ by") && table(&real).contains("p99 by theory"));
    }

    /// Waits of this length, all of them, at this load.
    fn all_wait(load: f64, wait: u64, expected: Option<f64>, tolerance: Option<f64>) -> [Line; 3] {
        let waits = || {
            let mut seen = empty_histogram();
            seen.saturating_record_n(wait, 100);
            Waits { seen, error: 1e3, tolerance, expected }
        };
        let measured = Measured { load, waits: [waits(), waits(), waits()] };
        lines(&[measured]).try_into().unwrap()
    }

    #[test]
    fn what_misses_its_target_is_told_and_what_cannot_keep_it_is_not_judged() {
        let [immediate, normal, idle] = all_wait(0.5, 150_000_000, None, None);
        assert_eq!(
            [immediate.verdict, normal.verdict, idle.verdict],
            [Verdict::Missed, Verdict::Missed, Verdict::Kept]
        );
        let told = normal.missed().unwrap();
        assert_eq!(told, "Normal waits 150 ms at the 99th percentile at load 0.50, the target is 100 ms");
        let [immediate, _, idle] = all_wait(0.98, 2_000_000_000, None, None);
        assert_eq!([immediate.verdict, idle.verdict], [Verdict::Missed, Verdict::Infeasible]);
        assert!(idle.expected_p99 > idle.target as f64 && idle.missed().is_none(), "{idle:?}");
    }

    #[test]
    fn a_mean_beside_theory_may_differ_by_its_tolerance() {
        let verdict = |tolerance| {
            let [line, ..] = all_wait(0.5, 1_000_000, Some(1_100_000.0), tolerance);
            (line.verdict, line.missed().is_some())
        };
        assert_eq!(verdict(Some(200_000.0)), (Verdict::Kept, false));
        assert_eq!(verdict(Some(50_000.0)), (Verdict::Missed, true));
        assert_eq!(verdict(None), (Verdict::Unjudged, false));
    }

    #[test]
    fn students_quantiles_are_those_of_the_tables() {
        for (freedom, probability, expected) in [(1, 0.05, 12.706), (7, 0.01, 3.499), (15, 0.001, 4.073)] {
            let t = student(freedom, probability);
            assert!((t / expected - 1.0).abs() < 0.002, "{freedom}, {probability}: {t}");
        }
    }
}
