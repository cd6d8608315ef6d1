//! What a scenario found: printed as tables, saved as JSON and as HDR percentile files, drawn on a page.

mod hgrm;
mod page;
mod plot;
mod row;
mod svg;
mod units;

use std::fs;
use std::io;
use std::path::Path;

use comfy_table::{CellAlignment, Table, presets};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

pub(crate) use self::page::Page;
pub(crate) use self::plot::{Axis, Bar, Plot, Point, Series};
pub(crate) use self::row::Row;
pub(crate) use self::units::{count, digits, duration, percent, quantile, rounds_of, spread};

use crate::failure::Failure;
use crate::machine::Machine;
use crate::warning::Warning;

/// The result of one scenario.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) scenario: String,
    pub(crate) machine: Machine,
    /// The command that measures the same again.
    pub(crate) command: String,
    pub(crate) rows: Vec<Row>,
    #[serde(default)]
    warnings: Vec<Warning>,
    #[serde(skip)]
    parts: Vec<Part>,
    #[serde(skip)]
    histograms: Vec<(String, Histogram<u64>)>,
}

/// What the reader gets to see, one below the other.
#[derive(Debug)]
enum Part {
    Paragraph(String),
    Table {
        header: Vec<String>,
        rows: Vec<Vec<String>>,
    },
    /// On the page only.
    Plot(Plot),
}

impl Report {
    /// An empty report; `command` repeats the measurement.
    pub(crate) fn new(scenario: &'static str, command: String) -> Self {
        Self {
            scenario: scenario.to_owned(),
            machine: Machine::this(),
            command,
            rows: Vec::new(),
            warnings: Vec::new(),
            parts: Vec::new(),
            histograms: Vec::new(),
        }
    }

    /// Adds a paragraph to what is printed.
    pub(crate) fn say(&mut self, paragraph: &str) {
        self.parts.push(Part::Paragraph(paragraph.trim_end().to_owned()));
    }

    /// Adds a table to what is printed: the first column is text, the others are figures.
    pub(crate) fn table<const N: usize>(&mut self, header: [&str; N], rows: Vec<[String; N]>) {
        let header = header.map(str::to_owned).into();
        self.parts.push(Part::Table { header, rows: rows.into_iter().map(Vec::from).collect() });
    }

    /// Adds a plot to the page.
    pub(crate) fn plot(&mut self, plot: Plot) {
        self.parts.push(Part::Plot(plot));
    }

    /// Adds a measured quantity to the JSON file.
    pub(crate) fn row(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Adds a percentile file, whose name ends with `slug`, unless there is nothing in it.
    pub(crate) fn histogram(&mut self, slug: impl Into<String>, histogram: Histogram<u64>) {
        if !histogram.is_empty() {
            self.histograms.push((slug.into(), histogram));
        }
    }

    /// Adds something that the reader has to know before trusting the figures.
    pub(crate) fn warn(&mut self, warning: Warning) {
        self.warnings.push(warning);
    }

    /// What is printed, the warnings last; its tables read well on a terminal and in a Markdown file.
    pub(crate) fn text(&self) -> String {
        let Self { scenario, machine, command, .. } = self;
        let mut text = format!("# {scenario}\n\nOn: {machine}\nRepeat: {command}");
        for part in &self.parts {
            let part = match part {
                Part::Paragraph(paragraph) => paragraph.clone(),
                Part::Table { header, rows } => table(header, rows),
                Part::Plot(_) => continue,
            };
            text.push_str("\n\n");
            text.push_str(&part);
        }
        for warning in &self.warnings {
            text.push_str(&format!("\n\nWarning: {warning}"));
        }
        text
    }

    /// What the reader has to know before trusting the figures.
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
            files.push((format!("{}-{slug}.hgrm", self.scenario), hgrm::file(histogram)));
        }
        for (name, content) in &files {
            write(folder, name, content)?;
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

fn write(folder: &Path, name: &str, content: &str) -> Result<(), Failure> {
    let path = folder.join(name);
    fs::write(&path, content).map_err(|error| not_written(&path, &error))
}

fn not_written(path: &Path, error: &io::Error) -> Failure {
    Failure::Run(format!(
        "{} cannot be written ({error}): name a folder for the results with --out DIR",
        path.display()
    ))
}

/// A table in Markdown, its columns aligned.
pub(crate) fn table(header: &[String], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header);
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure;

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
        let back: Report = serde_json::from_str(&text).unwrap();
        assert_eq!((back.rows, back.command), (report.rows, report.command));
        assert_eq!((row["count"].as_u64(), row["max"].as_f64()), (Some(3), Some(3.0)));
    }
}
