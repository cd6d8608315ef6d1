//! The report as one page that needs no network, and as JSON beside it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::chart::Picture;
use crate::compare::Column;
use crate::latency::Line;
use crate::report::rules;
use crate::run::Outcome;
use crate::tally::{FEASIBLE_LOAD, KINDS, TARGETS_NANOS, Tally};
use crate::workload::Class;

/// The page, with a place for the data.
const TEMPLATE: &str = include_str!("page/template.html");
const PLACE: &str = "/*DATA*/null";

/// Everything that the page shows.
#[derive(Clone, Debug, Serialize)]
pub struct Page {
    /// The run's seed.
    pub seed: u64,
    /// Cases, dispatches, virtual seconds, and seconds that it took.
    pub cases: u64,
    /// Polls of tasks.
    pub dispatches: u64,
    /// Virtual time.
    pub virtual_seconds: f64,
    /// Real time.
    pub seconds: f64,
    /// Cases that broke a promise.
    pub unfair: u64,
    /// Each promise with its rule and its verdict.
    pub promises: Vec<PromiseLine>,
    /// What happened, and how often.
    pub happened: Vec<(&'static str, u64)>,
    /// Waits by class, at feasible load.
    pub waits: Vec<WaitLine>,
    /// Slices by the part of their length that they took, in hundredths: (hundredth, how many).
    pub slices: Vec<(u64, u64)>,
    /// At most this load counts as feasible.
    pub feasible_load: f64,
    /// How many cases had such a load.
    pub feasible: u64,
    /// The case that is drawn.
    pub picture: Picture,
    /// Waits by load: with a theory, and with the default settings.
    pub latency: [Vec<Line>; 2],
    /// Other schedulers.
    pub comparison: Vec<Column>,
}

/// A promise, and what came of it.
#[derive(Clone, Debug, Serialize)]
pub struct PromiseLine {
    /// Its name.
    pub name: &'static str,
    /// Its rule, with the bound as a formula.
    pub rule: &'static str,
    /// How many cases put it to the test. None: it was not judged.
    pub tested: u64,
    /// The first case that broke it.
    pub broken_in: Option<u64>,
}

/// The waits of a class.
#[derive(Clone, Debug, Serialize)]
pub struct WaitLine {
    /// The class.
    pub class: Class,
    /// How many.
    pub count: u64,
    /// Percentiles: (in percent, nanoseconds).
    pub percentiles: Vec<(f64, u64)>,
    /// The latency target, in nanoseconds.
    pub target: u64,
}

/// Where the curves of waits have their points.
const PERCENTILES: [f64; 16] =
    [0.0, 10.0, 25.0, 50.0, 60.0, 70.0, 75.0, 80.0, 90.0, 95.0, 97.5, 99.0, 99.5, 99.9, 99.99, 100.0];

impl Page {
    /// A page about a run.
    pub fn of(
        seed: u64,
        outcome: &Outcome,
        picture: Picture,
        latency: [Vec<Line>; 2],
        comparison: Vec<Column>,
    ) -> Self {
        let Tally { cases, dispatches, virtual_nanos, waits, happened, feasible, slices, .. } =
            &outcome.tally;
        let line = |class: Class| {
            let waits = &waits[class as usize];
            WaitLine {
                class,
                count: waits.len(),
                percentiles: PERCENTILES
                    .map(|percent| (percent, waits.value_at_quantile(percent / 100.0)))
                    .to_vec(),
                target: TARGETS_NANOS[class as usize],
            }
        };
        Page {
            seed,
            cases: *cases,
            dispatches: *dispatches,
            virtual_seconds: *virtual_nanos as f64 / 1e9,
            seconds: outcome.took.as_secs_f64(),
            unfair: outcome.unfair,
            promises: rules()
                .map(|(name, rule)| PromiseLine {
                    name,
                    rule,
                    tested: outcome.tested.get(name).copied().unwrap_or(0),
                    broken_in: outcome.failures.get(name).map(|case| case.number),
                })
                .collect(),
            happened: KINDS.iter().copied().zip(*happened).collect(),
            waits: Class::ALL.map(line).to_vec(),
            slices: (0..).zip(slices.iter().copied()).filter(|(_, many)| *many > 0).collect(),
            feasible_load: FEASIBLE_LOAD,
            feasible: *feasible,
            picture,
            latency,
            comparison,
        }
    }

    /// The page as HTML.
    ///
    /// # Panics
    ///
    /// If the data cannot be written as JSON, of which nothing in it is capable.
    pub fn html(&self) -> String {
        let json = serde_json::to_string(self).expect("numbers, texts and lists");
        // Within a script element, only its end could be misread.
        TEMPLATE.replacen(PLACE, &json.replace("</", "<\\/"), 1)
    }

    /// Writes `fairness.html` and `fairness.json` into `folder`, and returns the page's path.
    ///
    /// # Errors
    ///
    /// If the folder cannot be made or a file not written.
    pub fn write(&self, folder: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(folder)?;
        let json = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        fs::write(folder.join("fairness.json"), json + "\n")?;
        let page = folder.join("fairness.html");
        fs::write(&page, self.html())?;
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::picture;
    use crate::colibri::Colibri;
    use crate::portrait::portrait;
    use crate::property::PROMISES;
    use crate::simulate::simulate;

    #[test]
    fn a_page_is_whole_and_needs_no_network() {
        let workload = portrait();
        let picture = picture("</script>", &workload, &simulate::<Colibri>(&workload));
        let page = Page::of(1, &Outcome::default(), picture, [vec![], vec![]], vec![]);
        let html = page.html();
        assert_eq!(html.matches("</script>").count(), 1, "the title does not end the script");
        assert!(!html.contains(PLACE) && html.contains("<\\/script>"));
        for far in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!html.replace("http://www.w3.org/2000/svg", "").contains(far), "{far}");
        }
        for promise in PROMISES {
            assert!(html.contains(promise.name) && html.contains(promise.rule), "{}", promise.name);
        }
        let folder = std::env::temp_dir().join(format!("colibri-fuzz-page-{}", std::process::id()));
        let path = page.write(&folder).unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), html);
        let json = fs::read_to_string(folder.join("fairness.json")).unwrap();
        assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap()["seed"], 1);
        fs::remove_dir_all(folder).unwrap();
    }
}
