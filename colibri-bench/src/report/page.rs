//! The page: all reports of a run in one HTML file that needs nothing from anywhere else.

use std::fmt::Write as _;
use std::path::Path;

use super::{Part, Report, svg, write};
use crate::failure::Failure;

/// The page's file.
const FILE: &str = "bench.html";

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page of a run, which grows by a report at a time.
#[derive(Debug, Default)]
pub(crate) struct Page {
    names: Vec<String>,
    sections: String,
}

impl Page {
    /// Adds what a scenario found, and writes the page anew into `folder`. Returns its name.
    ///
    /// # Errors
    ///
    /// [`Failure::Run`] if it cannot be written.
    pub(crate) fn add(&mut self, report: &Report, folder: &Path) -> Result<&'static str, Failure> {
        self.names.push(report.scenario.clone());
        self.sections.push_str(&section(report));
        write(folder, FILE, &self.html())?;
        Ok(FILE)
    }

    fn html(&self) -> String {
        let links = self.names.iter().map(|name| format!("<a href='#{name}'>{name}</a>"));
        format!(
            "<!doctype html>\n<html lang=en>\n<meta charset=utf-8>\n\
             <meta name=viewport content='width=device-width, initial-scale=1'>\n\
             <title>colibri bench: {}</title>\n<style>\n{STYLE}</style>\n\
             <header><h1>colibri bench</h1><nav>{}</nav></header>\n<main>\n{}</main>\n<script>\n{SCRIPT}</script>\n</html>\n",
            self.names.join(", "),
            links.collect::<Vec<_>>().join(" "),
            self.sections
        )
    }
}

fn section(report: &Report) -> String {
    let Report { scenario, machine, command, .. } = report;
    let mut html = format!(
        "<section id='{scenario}'>\n<h2>{scenario}</h2>\n<p class=origin>{}<br><code>{}</code></p>\n",
        escape(&machine.to_string()),
        escape(command)
    );
    for warning in report.warnings() {
        let _ = writeln!(html, "<p class=warning>{}</p>", escape(&warning.to_string()));
    }
    for part in &report.parts {
        html.push_str(&match part {
            Part::Paragraph(paragraph) => format!("<p>{}</p>\n", escape(paragraph).replace(".\n", ".<br>\n")),
            Part::Table { header, rows } => table(header, rows),
            Part::Plot(plot) => svg::figure(plot),
        });
    }
    html.push_str("</section>\n");
    html
}

fn table(header: &[String], rows: &[Vec<String>]) -> String {
    let cells = |row: &[String], tag: &str| {
        row.iter().fold(String::new(), |mut html, cell| {
            let _ = write!(html, "<{tag}>{}</{tag}>", escape(cell));
            html
        })
    };
    let mut html = format!("<div class=table><table>\n<tr>{}</tr>\n", cells(header, "th"));
    for row in rows {
        let is_colibri = row.first().is_some_and(|name| name == "colibri");
        let class = if is_colibri { " class=colibri" } else { "" };
        let _ = writeln!(html, "<tr{class}>{}</tr>", cells(row, "td"));
    }
    html.push_str("</table></div>\n");
    html
}

/// `text` as it stands in HTML, in attributes too.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Bar, Plot, digits};

    #[test]
    fn the_page_has_all_reports_and_needs_nothing_from_outside() {
        let folder = tempfile::tempdir().unwrap();
        let mut page = Page::default();
        for scenario in ["latency", "ops"] {
            let mut report = Report::new(scenario, "cargo xtask bench <x>".to_owned());
            report.say("One sentence.\nAnother & more.");
            report.table(["way", "p50"], vec![["colibri".to_owned(), "1 µs".to_owned()]]);
            report.plot(Plot::bars("bars", vec![Bar::of("colibri", 2.0, digits)]));
            assert_eq!(page.add(&report, folder.path()).unwrap(), "bench.html");
        }
        let html = std::fs::read_to_string(folder.path().join("bench.html")).unwrap();
        for part in [
            "<h2>latency</h2>",
            "<h2>ops</h2>",
            "&lt;x&gt;",
            "One sentence.<br>\nAnother &amp; more.",
            "<tr class=colibri><td>colibri</td><td>1 µs</td></tr>",
            "<rect class=colibri",
            "prefers-color-scheme: dark",
        ] {
            assert!(html.contains(part), "no `{part}` in: {html}");
        }
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!html.contains(outside), "`{outside}` in the page");
        }
    }
}
