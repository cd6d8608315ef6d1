//! One measured quantity of one subject, as the JSON file has it.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// One measured quantity of one subject.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq)]
pub(crate) struct Row {
    pub(crate) subject: String,
    pub(crate) metric: String,
    pub(crate) unit: String,
    pub(crate) count: u64,
    pub(crate) mean: f64,
    pub(crate) p50: f64,
    pub(crate) p90: f64,
    pub(crate) p99: f64,
    pub(crate) p999: f64,
    pub(crate) max: f64,
    /// Where there is a figure per round: all of them, in their order. Two files are compared by these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) rounds: Vec<f64>,
}

impl Row {
    /// Of a histogram of ns.
    pub(crate) fn of_histogram(subject: &str, metric: &str, histogram: &Histogram<u64>) -> Self {
        let at = |quantile| histogram.value_at_quantile(quantile) as f64;
        Self {
            subject: subject.to_owned(),
            metric: metric.to_owned(),
            unit: "ns".to_owned(),
            count: histogram.len(),
            mean: histogram.mean(),
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: histogram.max() as f64,
            rounds: Vec::new(),
        }
    }

    /// Of at least one figure, one per round, each known exactly; percentiles by the nearest rank.
    pub(crate) fn of_figures(subject: &str, metric: &str, unit: &str, figures: &[f64]) -> Self {
        let mut sorted = figures.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let at = |quantile: f64| sorted[((quantile * sorted.len() as f64).ceil() as usize).max(1) - 1];
        Self {
            subject: subject.to_owned(),
            metric: metric.to_owned(),
            unit: unit.to_owned(),
            count: sorted.len() as u64,
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
            p50: at(0.5),
            p90: at(0.9),
            p99: at(0.99),
            p999: at(0.999),
            max: at(1.0),
            rounds: figures.to_vec(),
        }
    }

    /// Of a single figure, which is no round's.
    pub(crate) fn of_figure(subject: &str, metric: &str, unit: &str, figure: f64) -> Self {
        Self { rounds: Vec::new(), ..Self::of_figures(subject, metric, unit, &[figure]) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_few_figures_are_figures_of_theirs() {
        let row = Row::of_figures("a", "b", "MB/s", &[3.0, 1.0, 2.0]);
        assert_eq!((row.count, row.mean, row.p50, row.p90, row.max), (3, 2.0, 2.0, 3.0, 3.0));
        assert_eq!(row.rounds, [3.0, 1.0, 2.0]);
    }
}
