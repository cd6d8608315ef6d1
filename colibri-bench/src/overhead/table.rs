//! The tables of `overhead`.

use hdrhistogram::Histogram;

use super::result::{CALM_LEAST, Measured, Ratio, geometric_mean};
use super::{BUDGET, SLICE, TOKIO_EVERY, Way};
use crate::cli::OverheadChoice;
use crate::kernels;
use crate::measure::{self, Rounds};
use crate::report::{Bar, Plot, Report, Row, count, duration, quantile, rounds_of};
use crate::warning::Warning;

/// The report on `measured`, for which so many rounds were planned.
pub(super) fn report(measured: &[Measured], planned: u32, choice: &OverheadChoice) -> Report {
    let rounds = measured[0].rounds();
    let mut report = Report::new("overhead", command(choice, &format!(" --rounds {rounds}")));
    if let Some(kernel) = choice.kernel {
        report.say(&format!("{}: {}.", kernel.name, kernel.about));
    }
    say_ratios(&mut report, measured, &rounds_of(rounds, planned));
    plot_ratios(&mut report, measured);
    say_overshoot(&mut report, measured);
    warn(&mut report, measured);
    for measured in measured {
        add_rows(&mut report, measured);
    }
    report.histogram("overshoot", all_overshoots(measured, |_| true));
    report
}

/// The command that measures the same again.
pub(super) fn command(choice: &OverheadChoice, more: &str) -> String {
    let kernel = choice.kernel.map_or(String::new(), |kernel| format!(" --kernel {}", kernel.name));
    format!("cargo xtask bench overhead{kernel}{more}")
}

fn say_ratios(report: &mut Report, measured: &[Measured], rounds: &str) {
    report.say(&format!(
        "CPU time of each kernel as ratios to its plain function, interleaved, {rounds}: best to best (min) and the\n\
         median of the rounds' own ratios (med). cooperative: with the attribute, the future in a box, polled in a loop\n\
         under a budget of {} each; scheduler: the same as a task of colibri's; consume_budget: awaited in each round of\n\
         the hot loop, and yield_now/64: awaited in every 64th, as tasks of tokio's current-thread runtime, in every {}th\n\
         round. disturbed: runs that other programs interrupted for more than 1 % of their time; the medians are of the others.{}",
        duration(BUDGET.as_nanos() as u64),
        TOKIO_EVERY,
        medians_of_all(measured),
    ));
    let mut rows: Vec<_> = measured.iter().map(ratio_row).collect();
    for (name, figure) in [
        ("geometric mean, below 1 as 1", mean_from_1_on as fn(&[f64]) -> Option<f64>),
        ("geometric mean", |ratios| geometric_mean(ratios.iter().copied())),
        ("worst", |ratios| ratios.iter().copied().reduce(f64::max)),
    ] {
        rows.push(summary_row(name, measured, figure));
    }
    report.table(
        [
            "kernel",
            "plain",
            "cooperative: min",
            "med",
            "scheduler: min",
            "med",
            "consume_budget: min",
            "med",
            "yield_now/64: min",
            "med",
            "disturbed",
        ],
        rows,
    );
}

/// Where too few rounds were undisturbed, the medians are of what the sentence before says they are not.
fn medians_of_all(measured: &[Measured]) -> String {
    let each = Way::COMPARED.into_iter().map(|way| {
        let kernels: Vec<&Measured> = measured.iter().filter(|one| one.ratio(way).is_some()).collect();
        (way, kernels.iter().filter(|one| one.are_all(way)).count(), kernels.len())
    });
    let listed: Vec<String> = each
        .filter(|(_, all, _)| *all > 0)
        .map(|(way, all, kernels)| format!("{} in {all} of {kernels}", way.name()))
        .collect();
    if listed.is_empty() {
        return String::new();
    }
    format!(
        "\nOf all rounds, as fewer than {CALM_LEAST} were undisturbed, are the medians of: {} kernels.",
        listed.join(", ")
    )
}

/// The ratios as bars, worst first.
fn plot_ratios(report: &mut Report, measured: &[Measured]) {
    let bars = |way| {
        let ratio =
            |one: &Measured| one.ratio(way).map(|ratio| Bar::of(one.kernel.name, ratio.median, of_ratio));
        let mut bars: Vec<Bar> = measured.iter().filter_map(ratio).collect();
        bars.sort_by(Bar::longer_first);
        bars
    };
    report.plot(Plot::log_bars(
        "Time with the attribute, to the plain function's (medians)",
        bars(Way::Cooperative),
    ));
    report.plot(Plot::log_bars(
        "Time with tokio's consume_budget, to the plain function's (medians)",
        bars(Way::Consuming),
    ));
}

fn ratio_row(measured: &Measured) -> [String; 11] {
    let plain = Rounds::of(measured.seconds(Way::Plain)).min;
    let [a, b, c, d] = Way::COMPARED.map(|way| cells(measured.ratio(way)));
    let (disturbed, runs) = measured.disturbed();
    [
        measured.kernel.name.to_owned(),
        duration((plain * 1e9) as u64),
        a.0,
        a.1,
        b.0,
        b.1,
        c.0,
        c.1,
        d.0,
        d.1,
        format!("{disturbed} of {runs}"),
    ]
}

fn summary_row(name: &str, measured: &[Measured], figure: fn(&[f64]) -> Option<f64>) -> [String; 11] {
    let [a, b, c, d] = Way::COMPARED.map(|way| {
        let ratios: Vec<Ratio> = measured.iter().filter_map(|measured| measured.ratio(way)).collect();
        let of = |which: fn(&Ratio) -> f64| figure(&ratios.iter().map(which).collect::<Vec<_>>());
        let both = of(|ratio| ratio.best).zip(of(|ratio| ratio.median));
        cells(both.map(|(best, median)| Ratio { best, median }))
    });
    [name.to_owned(), String::new(), a.0, a.1, b.0, b.1, c.0, c.1, d.0, d.1, String::new()]
}

fn mean_from_1_on(ratios: &[f64]) -> Option<f64> {
    geometric_mean(ratios.iter().map(|ratio| ratio.max(1.0)))
}

fn cells(ratio: Option<Ratio>) -> (String, String) {
    ratio.map_or_else(Default::default, |ratio| (of_ratio(ratio.best), of_ratio(ratio.median)))
}

/// A ratio to three decimals while that means something.
pub(super) fn of_ratio(ratio: f64) -> String {
    if ratio < 9.9995 { format!("{ratio:.3}") } else { format!("{ratio:.1}") }
}

fn say_overshoot(report: &mut Report, measured: &[Measured]) {
    report.say(&format!(
        "How much longer a poll ran than its budget of {}: slices in which the thread kept the CPU. Of the others only the\n\
         number is told: their time is other programs'.",
        duration(SLICE.as_nanos() as u64)
    ));
    let row = |name: &str, histogram: &Histogram<u64>, disturbed: u64| {
        let [p50, p99, max] = [0.5, 0.99, 1.0].map(|share| quantile(histogram, share));
        [name.to_owned(), count(histogram.len()), count(disturbed), p50, p99, max]
    };
    let mut rows: Vec<_> = measured
        .iter()
        .map(|measured| row(measured.kernel.name, &measured.overshoot, measured.disturbed_slices))
        .collect();
    let disturbed = |chosen: fn(&Measured) -> bool| {
        measured.iter().filter(|measured| chosen(measured)).map(|measured| measured.disturbed_slices).sum()
    };
    rows.push(row("all", &all_overshoots(measured, |_| true), disturbed(|_| true)));
    rows.push(row("all with short iterations", &all_overshoots(measured, is_even), disturbed(is_even)));
    report.table(["kernel", "slices", "disturbed", "p50", "p99", "max"], rows);
}

/// Whether single iterations are short.
fn is_even(measured: &Measured) -> bool {
    !kernels::is_abrupt(measured.kernel)
}

fn all_overshoots(measured: &[Measured], chosen: fn(&Measured) -> bool) -> Histogram<u64> {
    let mut all = measure::histogram();
    for measured in measured.iter().filter(|measured| chosen(measured)) {
        all.add(&measured.overshoot).expect("it resizes itself");
    }
    all
}

fn warn(report: &mut Report, measured: &[Measured]) {
    let known = measured.iter().all(Measured::knows_cpu);
    let (disturbed, runs) =
        measured.iter().map(Measured::disturbed).fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
    let share = disturbed as f64 / runs as f64;
    let all = [
        Warning::debug_build(),
        Warning::few_rounds(measured[0].rounds()),
        Warning::off_cpu_unknown(known),
        Warning::runs_disturbed(share),
    ];
    for warning in all.into_iter().flatten() {
        report.warn(warning);
    }
}

fn add_rows(report: &mut Report, measured: &Measured) {
    let name = measured.kernel.name;
    let nanos = |way| measured.seconds(way).iter().map(|seconds| seconds * 1e9).collect::<Vec<_>>();
    report.row(Row::of_figures(name, "time, plain", "ns", &nanos(Way::Plain)));
    for way in Way::COMPARED {
        let ratios = measured.ratios(way);
        if let Some(ratio) = measured.ratio(way) {
            let way = way.name();
            report.row(Row::of_figures(name, &format!("ratio of time, {way}"), "1", &ratios));
            report.row(Row::of_figures(name, &format!("ratio of best times, {way}"), "1", &[ratio.best]));
        }
    }
    let (disturbed, runs) = measured.disturbed();
    let share = disturbed as f64 / runs as f64;
    report.row(Row::of_figures(name, "share of runs that were disturbed", "1", &[share]));
    if !measured.overshoot.is_empty() {
        report.row(Row::of_histogram(name, "overshoot", &measured.overshoot));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_three_decimals_while_they_are_small() {
        assert_eq!([0.98765, 1.0, 9.9994, 12.345].map(of_ratio), ["0.988", "1.000", "9.999", "12.3"]);
    }

    #[test]
    fn ratios_below_1_count_as_1() {
        assert!((mean_from_1_on(&[0.25, 4.0]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(mean_from_1_on(&[]), None);
    }

    #[test]
    fn the_command_names_the_kernel() {
        let choice = OverheadChoice { kernel: kernels::find("gcd"), ..OverheadChoice::default() };
        assert_eq!(command(&choice, " --size"), "cargo xtask bench overhead --kernel gcd --size");
    }
}
