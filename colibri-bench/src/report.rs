//! What a scenario found: printed as tables, saved as JSON and as HDR percentile files.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

use comfy_table::{CellAlignment, Table, presets};
use hdrhistogram::Histogram;
use serde::Serialize;

use crate::failure::Failure;
use crate::machine::Machine;
use crate::warning::Warning;

/// Percentile lines per halving of the distance to 100 %, as HdrHistogram's own files have them.
const HGRM_TICKS_PER_HALF_DISTANCE: u32 = 5;

/// The result of one scenario.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    scenario: &'static str,
    machine: Machine,
    /// The command that measures the same again.
    command: String,
    rows: Vec<Row>,
    warnings: Vec<Warning>,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    histograms: Vec<(&'static str, Histogram<u64>)>,
}

/// One measured quantity of one subject.
#[derive(Debug, Clone, Serialize, PartialEq)]
pub(crate) struct Row {
    subject: String,
    metric: String,
    unit: &'static str,
    count: u64,
    mean: f64,
    p50: f64,
    p90: f64,
    p99: f64,
    p999: f64,
    max: f64,
}

impl Row {
    /// Of a histogram of ns.
    pub(crate) fn of_histogram(subject: &str, metric: &str, histogram: &Histogram<u64>) -> Self {
        let at = |quantile| histogram.value_at_quantile(quantile) as f64;
        Self {
            subject: subject.to_owned(),
            metric: metric.to_owned(),
            unit: "ns",
            count: histogram.len(),
            mean: histogram.mean(),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: histogram.max() as f64,
        }
    }

    /// Of at least one figure, each known exactly; percentiles by the nearest rank.
    pub(crate) fn of_figures(subject: &str, metric: &str, unit: &'static str, figures: &[f64]) -> Self {
        let mut sorted = figures.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |quantile: f64| sorted[((quantile * sorted.len() as f64).ceil() as usize).max(1) - 1];
        Self {
            subject: subject.to_owned(),
            metric: metric.to_owned(),
            unit,
            count: sorted.len() as u64,
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: at(1.0),
        }
    }
}

impl Report {
    /// An empty report; `command` repeats the measurement.
    pub(crate) fn new(scenario: &'static str, command: String) -> Self {
        Self {
            scenario,
            machine: Machine::this(),
            command,
            rows: Vec::new(),
            warnings: Vec::new(),
            text: String::new(),
            histograms: Vec::new(),
        }
    }

    /// Adds a paragraph to what is printed.
    pub(crate) fn say(&mut self, paragraph: &str) {
        self.text.push_str(paragraph.trim_end());
        self.text.push_str("\n\n");
    }

    /// Adds a table to what is printed: the first column is text, the others are figures. It reads well on a terminal
    /// and in a Markdown file.
    pub(crate) fn table<const N: usize>(&mut self, header: [&str; N], rows: Vec<[String; N]>) {
        let mut table = Table::new();
        table.load_style(presets::ASCII_MARKDOWN);
        table.set_header(header);
        for row in rows {
            table.add_row(row);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        self.say(&table.to_string());
    }

    /// Adds a measured quantity to the JSON file.
    pub(crate) fn row(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Adds a percentile file; its name ends with `slug`.
    pub(crate) fn histogram(&mut self, slug: &'static str, histogram: Histogram<u64>) {
        self.histograms.push((slug, histogram));
    }

    /// Adds something that the reader has to know before trusting the figures.
    pub(crate) fn warn(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    /// What is printed.
    pub(crate) fn text(&self) -> String {
        let Self { scenario, machine, text, command, .. } = self;
        format!("# {scenario}\n\nOn: {machine}\nRepeat: {command}\n\n{}", text.trim_end())
    }

    /// What to print beside it.
    pub(crate) fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Writes the files into `folder`, which is made if it is missing, and returns their names.
    ///
    /// # Errors
    ///
    /// [`Failure::Run`] if the folder or a file cannot be written.
    pub(crate) fn save(&self, folder: &Path) -> Result<Vec<String>, Failure> {
        fs::create_dir_all(folder).map_err(|error| not_written(folder, &error))?;
        let mut files = vec![(format!("{}.json", self.scenario), self.json())];
        for (slug, histogram) in &self.histograms {
            files.push((format!("{}-{slug}.hgrm", self.scenario), hgrm(histogram)));
        }
        for (name, content) in &files {
            let path = folder.join(name);
            fs::write(&path, content).map_err(|error| not_written(&path, &error))?;
        }
        Ok(files.into_iter().map(|(name, _)| name).collect())
    }

    fn json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).expect("a report is plain data");
        json.push('\n');
        json
    }
}

/// Tries whether results can be written into `folder`, or into what is there of its path, before anything is measured for
/// them. It leaves nothing behind.
///
/// # Errors
///
/// [`Failure::Run`] if not.
pub(crate) fn try_folder(folder: &Path) -> Result<(), Failure> {
    let there = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let trial = there.join(format!(".colibri-bench-{}", std::process::id()));
    let tried = fs::write(&trial, "").and_then(|()| fs::remove_file(&trial));
    tried.map_err(|error| not_written(folder, &error))
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    Failure::Run(format!(
        "{} cannot be written ({error}): name a folder for the results with --out DIR",
        path.display()
    ))
}

/// A histogram of ns as the text file that HdrHistogram's plotter reads; its values are in ms, the plotter's unit.
fn hgrm(histogram: &Histogram<u64>) -> String {
    const NANOS_PER_MILLI: f64 = 1e6;
    let mut text =
        format!("{:>14} {:>14} {:>10} {:>14}\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
    let mut total = 0;
    for step in histogram.iter_quantiles(HGRM_TICKS_PER_HALF_DISTANCE) {
        total += step.count_since_last_iteration();
        let value = step.value_iterated_to() as f64 / NANOS_PER_MILLI;
        let quantile = step.quantile_iterated_to();
        let _ = if quantile < 1.0 {
            writeln!(text, "{value:14.6} {quantile:14.12} {total:10} {:14.2}", 1.0 / (1.0 - quantile))
        } else {
            writeln!(text, "{value:14.6} {quantile:14.12} {total:10}")
        };
    }
    let mean = histogram.mean() / NANOS_PER_MILLI;
    let deviation = histogram.stdev() / NANOS_PER_MILLI;
    let max = histogram.max() as f64 / NANOS_PER_MILLI;
    let count = histogram.len();
    let (buckets, sub_buckets) =
        (histogram.buckets(), 2 * 10_u32.pow(histogram.sigfig().into()).next_power_of_two());
    let _ = write!(
        text,
        "#[Mean    = {mean:12.6}, StdDeviation   = {deviation:12.6}]\n\
         #[Max     = {max:12.6}, Total count    = {count:12}]\n\
         #[Buckets = {buckets:12}, SubBuckets     = {sub_buckets:12}]\n"
    );
    text
}

/// A duration in the unit that leaves one to three digits before the point, to three digits in all.
pub(crate) fn duration(nanos: u64) -> String {
    let nanos = nanos as f64;
    for (unit, scale) in [("ns", 1.0), ("µs", 1e3), ("ms", 1e6)] {
        // 999.5 would be shown as 1000.
        if nanos / scale < 999.5 {
            return format!(
                "{} {unit}",
                if scale == 1.0 { nanos.to_string() } else { digits(nanos / scale) }
            );
        }
    }
    format!("{} s", digits(nanos / 1e9))
}

/// A figure to three digits, or to its point if it has more before it.
pub(crate) fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        magnitude if magnitude < 9.995 => 2,
        magnitude if magnitude < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

/// A share from 0 to 1 in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A count, its thousands apart.
pub(crate) fn count(value: u64) -> String {
    let plain = value.to_string();
    let mut text = String::with_capacity(plain.len() * 4 / 3);
    for (place, digit) in plain.char_indices() {
        if place > 0 && (plain.len() - place).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure;

    #[test]
    fn each_duration_has_a_unit_that_fits() {
        for (nanos, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 µs"),
            (12_345, "12.3 µs"),
            (999_499, "999 µs"),
            (999_500, "1.00 ms"),
            (412_000_000, "412 ms"),
            (1_500_000_000, "1.50 s"),
            (90_000_000_000, "90.0 s"),
            (1_234_000_000_000, "1234 s"),
        ] {
            assert_eq!(duration(nanos), text);
        }
    }

    #[test]
    fn figures_keep_three_digits() {
        assert_eq!(
            [0.0, 1.234, 9.999, 12.34, 99.96, 1234.5].map(digits),
            ["0.00", "1.23", "10.0", "12.3", "100", "1234"]
        );
        assert_eq!([0, 999, 1_000, 1_234_567].map(count), ["0", "999", "1 000", "1 234 567"]);
        assert_eq!(percent(0.98765), "98.8 %");
    }

    #[test]
    fn percentiles_of_few_figures_are_figures_of_theirs() {
        let row = Row::of_figures("a", "b", "MB/s", &[3.0, 1.0, 2.0]);
        assert_eq!((row.count, row.mean, row.p50, row.p90, row.max), (3, 2.0, 2.0, 3.0, 3.0));
    }

    #[test]
    fn a_percentile_file_has_the_columns_the_plotter_reads() {
        let histogram = measure::histogram_of(&[1_000_000, 2_000_000, 3_000_000, 100_000_000]);
        let text = hgrm(&histogram);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].split_whitespace().eq(["Value", "Percentile", "TotalCount", "1/(1-Percentile)"]));
        assert_eq!(lines[1], "");
        let first: Vec<f64> = lines[2].split_whitespace().map(|field| field.parse().unwrap()).collect();
        assert!(
            (first[0] - 1.0).abs() < 0.001 && first[1] == 0.0 && first[2] == 1.0 && first[3] == 1.0,
            "{first:?}"
        );
        let last: Vec<&str> = lines[lines.len() - 4].split_whitespace().collect();
        assert_eq!(last[1..], ["1.000000000000", "4"]);
        assert!(lines[lines.len() - 3].starts_with("#[Mean"));
    }

    #[test]
    fn the_json_file_has_the_fields_that_readers_rely_on() {
        let mut report = Report::new("latency", "cargo xtask bench latency".to_owned());
        report.row(Row::of_histogram("colibri", "query wait", &measure::histogram_of(&[1, 2, 3])));
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(report.save(&folder.path().join("a/b")).unwrap(), ["latency.json"]);
        let text = fs::read_to_string(folder.path().join("a/b/latency.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["scenario"], "latency");
        assert!(json["machine"]["cores"].as_u64().unwrap() >= 1);
        let row = json["rows"][0].as_object().unwrap();
        let fields: Vec<&str> = row.keys().map(String::as_str).collect();
        let mut expected = ["subject", "metric", "unit", "count", "mean", "p50", "p90", "p99", "p999", "max"];
        expected.sort_unstable();
        assert_eq!(fields, expected);
        assert_eq!((row["count"].as_u64(), row["max"].as_f64()), (Some(3), Some(3.0)));
    }
}
