//! What is drawn on the page: curves and bars, without any thought of pixels.

use std::cmp::Ordering;

use hdrhistogram::Histogram;

use super::units::duration;

/// A plot.
#[derive(Debug)]
pub(crate) enum Plot {
    /// Curves over two axes.
    Lines(Lines),
    /// A bar for each of many.
    Bars(Bars),
}

/// Curves over two axes.
#[derive(Debug)]
pub(crate) struct Lines {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
}

/// What an axis shows.
#[derive(Debug)]
pub(crate) struct Axis {
    pub(super) label: String,
    /// Equal distances are equal ratios, ticks are powers of ten; else they are equal differences.
    pub(super) is_log: bool,
    /// How a value is written.
    pub(super) tick: fn(f64) -> String,
}

/// A curve.
#[derive(Debug)]
pub(crate) struct Series {
    pub(super) name: String,
    pub(super) points: Vec<Point>,
    /// Whether each point stands for itself and is drawn as such.
    pub(super) has_dots: bool,
}

/// A point of a curve.
#[derive(Debug)]
pub(crate) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
    /// What it says when it is pointed at.
    pub(super) says: String,
    /// What is written beside it.
    pub(super) label: String,
}

/// A bar for each of many.
#[derive(Debug)]
pub(crate) struct Bars {
    pub(super) title: String,
    pub(super) is_log: bool,
    pub(super) bars: Vec<Bar>,
}

/// A bar.
#[derive(Debug)]
pub(crate) struct Bar {
    pub(super) name: String,
    pub(super) value: f64,
    pub(super) label: String,
}

impl Plot {
    /// Percentile curves of histograms of ns: the further right, the rarer.
    pub(crate) fn percentiles<'a>(
        title: &str,
        curves: impl IntoIterator<Item = (&'a str, &'a Histogram<u64>)>,
    ) -> Self {
        let series = curves.into_iter().filter(|(_, histogram)| !histogram.is_empty());
        Self::Lines(Lines {
            title: title.to_owned(),
            x: Axis::log("share of all that is no longer", share),
            y: Axis::durations("wait"),
            series: series.map(|(name, histogram)| Series::of_histogram(name, histogram)).collect(),
        })
    }

    /// Curves through given points.
    pub(crate) fn lines(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        Self::Lines(Lines { title: title.to_owned(), x, y, series })
    }

    /// Bars from 0 on.
    pub(crate) fn bars(title: &str, bars: Vec<Bar>) -> Self {
        Self::Bars(Bars { title: title.to_owned(), is_log: false, bars })
    }

    /// Bars whose lengths are logarithms: for values that differ by orders of magnitude.
    pub(crate) fn log_bars(title: &str, bars: Vec<Bar>) -> Self {
        Self::Bars(Bars { title: title.to_owned(), is_log: true, bars })
    }
}

impl Axis {
    /// Of ratios.
    pub(crate) fn log(label: &str, tick: fn(f64) -> String) -> Self {
        Self { label: label.to_owned(), is_log: true, tick }
    }

    /// Of differences.
    pub(crate) fn linear(label: &str, tick: fn(f64) -> String) -> Self {
        Self { label: label.to_owned(), is_log: false, tick }
    }

    /// Of ns, by ratios.
    pub(crate) fn durations(label: &str) -> Self {
        Self::log(label, |nanos| round_duration(nanos as u64))
    }
}

impl Series {
    /// A curve through `points`.
    pub(crate) fn of(name: &str, points: Vec<Point>) -> Self {
        Self { name: name.to_owned(), points, has_dots: true }
    }

    /// The values that one in `rarity` exceeds, for rarities from 1 up to the histogram's count.
    fn of_histogram(name: &str, histogram: &Histogram<u64>) -> Self {
        const POINTS_PER_DECADE: f64 = 24.0;
        let decades = (histogram.len() as f64).log10();
        let steps = (decades * POINTS_PER_DECADE).ceil();
        let point = |step: u32| {
            let rarity = 10_f64.powf(decades * f64::from(step) / steps.max(1.0));
            let nanos = histogram.value_at_quantile(1.0 - 1.0 / rarity);
            let says = format!("{name}: {} are at most {}", share(rarity), duration(nanos));
            Point { x: rarity, y: nanos.max(1) as f64, says, label: String::new() }
        };
        Self { name: name.to_owned(), points: (0..=steps as u32).map(point).collect(), has_dots: false }
    }
}

impl Point {
    /// At `x` and `y`; `says` what it is.
    pub(crate) fn of(x: f64, y: f64, says: String) -> Self {
        Self { x, y, says, label: String::new() }
    }

    /// With `label` beside it.
    pub(crate) fn labelled(self, label: String) -> Self {
        Self { label, ..self }
    }
}

impl Bar {
    /// A bar as long as `value`, which `label` writes behind it.
    pub(crate) fn of(name: &str, value: f64, label: fn(f64) -> String) -> Self {
        Self { name: name.to_owned(), value, label: label(value) }
    }

    /// The order in which the longest is the first.
    pub(crate) fn longer_first(one: &Self, other: &Self) -> Ordering {
        other.value.total_cmp(&one.value)
    }
}

/// A power of ten of ns without decimals.
fn round_duration(nanos: u64) -> String {
    duration(nanos).replace(".00 ", " ").replace(".0 ", " ")
}

/// The share of all but one in `rarity`: `99.9 %`.
fn share(rarity: f64) -> String {
    let exceeding = 100.0 / rarity;
    // As many decimals as tell it from 100 %.
    let decimals = (1.0 - exceeding.log10()).floor().max(0.0) as usize;
    let text = format!("{:.decimals$}", 100.0 - exceeding);
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure;

    #[test]
    fn shares_have_the_decimals_that_they_need() {
        assert_eq!([1.0, 10.0, 100.0, 1000.0, 1e5].map(share), ["0 %", "90 %", "99 %", "99.9 %", "99.999 %"]);
    }

    #[test]
    fn a_percentile_curve_goes_from_the_least_to_the_most() {
        let histogram = measure::histogram_of(&(1..=1000).map(|value| value * 1000).collect::<Vec<_>>());
        let series = Series::of_histogram("a", &histogram);
        let (first, last) = (&series.points[0], series.points.last().unwrap());
        assert!((first.x, first.y) == (1.0, 1000.0) && (last.x - 1000.0).abs() < 1e-6 && last.y >= 998_000.0);
        assert!(series.points.is_sorted_by(|one, next| one.x < next.x && one.y <= next.y));
        assert!(series.points.iter().any(|point| point.says.contains("90 %")), "a decade is a point");
    }
}
