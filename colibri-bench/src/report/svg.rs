//! Plots as SVG. Colours come from the page's style, by class, so that a plot is light or dark with its page.

use std::fmt::Write as _;

use super::page::escape;
use super::plot::{Axis, Bars, Lines, Plot, Series};

const WIDTH: f64 = 900.0;
const LEFT: f64 = 78.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 46.0;
/// Height of curves.
const LINES_HEIGHT: f64 = 400.0;
/// Ticks of a linear axis, about.
const TICKS: f64 = 6.0;

/// A logarithmic axis with fewer decades than this has marks at 2 and 5 in each, too.
const TICKS_LEAST: usize = 4;

/// Height of a bar with its gap.
const BAR_STEP: f64 = 24.0;
/// Width of a bar's name.
const NAMES: f64 = 240.0;
/// Width of a bar's value.
const VALUES: f64 = 90.0;

/// `plot` as a figure.
pub(super) fn figure(plot: &Plot) -> String {
    let (title, scale, drawn, legend) = match plot {
        Plot::Lines(lines) => {
            let scale = match (lines.x.is_log, lines.y.is_log) {
                (true, true) => " (log scales)",
                (true, false) => " (log scale from left to right)",
                (false, true) => " (log scale upwards)",
                (false, false) => "",
            };
            (&lines.title, scale, curves(lines), legend(&lines.series))
        }
        Plot::Bars(bars) => {
            (&bars.title, if bars.is_log { " (log scale)" } else { "" }, of_bars(bars), String::new())
        }
    };
    format!("<figure><figcaption>{}{scale}</figcaption>\n{drawn}{legend}</figure>\n", escape(title))
}

/// An axis on the page.
#[derive(Debug)]
struct Placed<'a> {
    axis: &'a Axis,
    /// Values at its ends.
    low: f64,
    high: f64,
    /// Pixels at its ends.
    from: f64,
    to: f64,
}

impl<'a> Placed<'a> {
    /// With room for `values`, which are not empty.
    fn new(axis: &'a Axis, values: impl Iterator<Item = f64>, from: f64, to: f64) -> Self {
        let (low, high) =
            values.fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = if axis.is_log {
            // Whole decades where there are few of them would waste the room.
            (low, if high > low { high } else { low * 10.0 })
        } else {
            let room = if high > low { (high - low) * 0.08 } else { 1.0 };
            (low - room, high + room)
        };
        Self { axis, low, high, from, to }
    }

    fn at(&self, value: f64) -> f64 {
        let share = if self.axis.is_log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + share * (self.to - self.from)
    }

    /// Where the axis is marked: at round values.
    fn ticks(&self) -> Vec<f64> {
        if self.axis.is_log {
            let decades = self.low.log10().floor() as i32..=self.high.log10().ceil() as i32;
            let within = |factors: &[f64]| -> Vec<f64> {
                let ticks = decades
                    .clone()
                    .flat_map(|power| factors.iter().map(move |factor| factor * 10_f64.powi(power)));
                ticks.filter(|tick| (self.low..=self.high * (1.0 + 1e-9)).contains(tick)).collect()
            };
            let ticks = within(&[1.0]);
            return if ticks.len() < TICKS_LEAST { within(&[1.0, 2.0, 5.0]) } else { ticks };
        }
        let rough = (self.high - self.low) / TICKS;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|&step| step >= rough);
        let step = step.expect("the last is at least as much");
        let first = (self.low / step).ceil() as i64;
        (first..).map(|number| number as f64 * step).take_while(|&tick| tick <= self.high).collect()
    }
}

fn curves(lines: &Lines) -> String {
    let points = || lines.series.iter().flat_map(|series| &series.points);
    if points().next().is_none() {
        return "<p>There is nothing to draw.</p>".to_owned();
    }
    let x = Placed::new(&lines.x, points().map(|point| point.x), LEFT, WIDTH - RIGHT);
    let y = Placed::new(&lines.y, points().map(|point| point.y), LINES_HEIGHT - BOTTOM, TOP);
    let mut svg = open(LINES_HEIGHT, &lines.title);
    for tick in x.ticks() {
        let (at, text) = (x.at(tick), escape(&(lines.x.tick)(tick)));
        let anchor = if at > WIDTH - 90.0 { "end" } else { "middle" };
        let _ = writeln!(
            svg,
            "<line class=grid x1={at:.1} x2={at:.1} y1={TOP} y2={}></line>\
             <text x={at:.1} y={} text-anchor={anchor}>{text}</text>",
            LINES_HEIGHT - BOTTOM,
            LINES_HEIGHT - BOTTOM + 17.0
        );
    }
    for tick in y.ticks() {
        let (at, text) = (y.at(tick), escape(&(lines.y.tick)(tick)));
        let _ = writeln!(
            svg,
            "<line class=grid x1={LEFT} x2={} y1={at:.1} y2={at:.1}></line>\
             <text x={} y={:.1} text-anchor=end>{text}</text>",
            WIDTH - RIGHT,
            LEFT - 7.0,
            at + 4.0
        );
    }
    let _ = writeln!(
        svg,
        "<text class=axis x={} y={} text-anchor=middle>{}</text>\
         <text class=axis transform='translate(15 {}) rotate(-90)' text-anchor=middle>{}</text>",
        f64::midpoint(LEFT, WIDTH - RIGHT),
        LINES_HEIGHT - 8.0,
        escape(&lines.x.label),
        f64::midpoint(TOP, LINES_HEIGHT - BOTTOM),
        escape(&lines.y.label)
    );
    for (number, series) in lines.series.iter().enumerate() {
        curve(&mut svg, number, series, &x, &y);
    }
    svg.push_str("</svg>\n");
    svg
}

fn curve(svg: &mut String, number: usize, series: &Series, x: &Placed<'_>, y: &Placed<'_>) {
    let _ = write!(svg, "<g class='series {}'><polyline points='", class(number, &series.name));
    for point in &series.points {
        let _ = write!(svg, "{:.1},{:.1} ", x.at(point.x), y.at(point.y));
    }
    svg.push_str("'></polyline>\n");
    for point in &series.points {
        let (at_x, at_y) = (x.at(point.x), y.at(point.y));
        // Without dots there is something to point at all the same.
        let (class, radius) = if series.has_dots { ("dot", 4.0) } else { ("hover", 7.0) };
        let _ = write!(
            svg,
            "<circle class={class} cx={at_x:.1} cy={at_y:.1} r={radius}><title>{}</title></circle>",
            escape(&point.says)
        );
        if !point.label.is_empty() {
            // At the right edge there is room on the left only.
            let (x, anchor) = if at_x > WIDTH - 120.0 { (at_x - 7.0, "end") } else { (at_x + 7.0, "start") };
            let (y, label) = (at_y + 15.0, escape(&point.label));
            let _ = write!(svg, "<text x={x:.1} y={y:.1} text-anchor={anchor}>{label}</text>");
        }
    }
    svg.push_str("</g>\n");
}

fn legend(series: &[Series]) -> String {
    let mut html = "<ul class=legend>".to_owned();
    for (number, series) in series.iter().enumerate() {
        let class = class(number, &series.name);
        let _ = write!(
            html,
            "<li class='{class}'><svg width=28 height=10><line x1=0 x2=28 y1=5 y2=5></line></svg>{}</li>",
            escape(&series.name)
        );
    }
    html.push_str("</ul>\n");
    html
}

fn of_bars(bars: &Bars) -> String {
    let values = || bars.bars.iter().map(|bar| bar.value);
    let (low, high) = values().fold((1.0, 1.0), |(low, high): (f64, f64), value| {
        (low.min(if bars.is_log { value } else { 0.0 }), high.max(value))
    });
    let (low, high) =
        if bars.is_log { (low, high.max(low * 10.0)) } else { (0.0, values().fold(0.0, f64::max)) };
    let room = WIDTH - NAMES - VALUES;
    let place = |value: f64| match () {
        () if high <= low => 0.0,
        () if bars.is_log => room * (value / low).ln() / (high / low).ln(),
        () => room * (value - low) / (high - low),
    };
    // A bar begins at 1 where its length is a ratio's logarithm, else at 0.
    let base = place(if bars.is_log { 1.0 } else { 0.0 });
    let mut svg = open(BAR_STEP * bars.bars.len() as f64 + 6.0, &bars.title);
    let _ = writeln!(
        svg,
        "<line class=grid x1={x:.1} x2={x:.1} y1=0 y2={}></line>",
        BAR_STEP * bars.bars.len() as f64,
        x = NAMES + base
    );
    for (number, bar) in bars.bars.iter().enumerate() {
        let y = 3.0 + BAR_STEP * number as f64;
        let end = place(bar.value);
        let (name, label) = (escape(&bar.name), escape(&bar.label));
        let class = if bar.name.starts_with("colibri") { "colibri" } else { "other" };
        let _ = writeln!(
            svg,
            "<text x={} y={} text-anchor=end>{name}</text>\
             <rect class={class} x={:.1} y={y} width={:.1} height={} rx=2><title>{name}: {label}</title></rect>\
             <text x={:.1} y={}>{label}</text>",
            NAMES - 8.0,
            y + 15.0,
            NAMES + base.min(end),
            (end - base).abs().max(1.0),
            BAR_STEP - 6.0,
            NAMES + base.max(end) + 7.0,
            y + 15.0
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn open(height: f64, title: &str) -> String {
    format!("<svg viewBox='0 0 {WIDTH} {height}' role=img aria-label='{}'>\n", escape(title))
}

/// colibri's colour is its own; the others have one by their place.
fn class(number: usize, name: &str) -> String {
    if name.starts_with("colibri") { "colibri".to_owned() } else { format!("s{}", number % 9) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::plot::{Bar, Point};
    use crate::report::units::digits;

    #[test]
    fn ticks_are_round_values_within_the_axis() {
        let (log, linear) = (Axis::log("", digits), Axis::linear("", digits));
        let of = |axis, values: [f64; 2]| Placed::new(axis, values.into_iter(), 0.0, 100.0).ticks();
        assert_eq!(of(&log, [3.0, 20_000.0]), [10.0, 100.0, 1_000.0, 10_000.0]);
        assert_eq!(of(&log, [3.0, 200.0]), [5.0, 10.0, 20.0, 50.0, 100.0, 200.0]);
        assert_eq!(of(&log, [1.0, 1_000.0]), [1.0, 10.0, 100.0, 1_000.0]);
        assert_eq!(of(&log, [30.0, 80.0]), [50.0]);
        assert_eq!(of(&linear, [0.0, 1.0]), [0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0]);
        assert!(!of(&linear, [5.0, 5.0]).is_empty());
    }

    #[test]
    fn equal_ratios_are_equal_distances() {
        let axis = Axis::log("", digits);
        let placed = Placed::new(&axis, [1.0, 100.0].into_iter(), 0.0, 100.0);
        assert!((placed.at(10.0) - 50.0).abs() < 1e-9);
    }

    #[test]
    fn what_is_drawn_is_within_the_picture_and_escaped() {
        let points = vec![Point::of(1.0, 5.0, "a < b".to_owned()), Point::of(10.0, 5.0, String::new())];
        let plot = Plot::lines(
            "<b>",
            Axis::log("x", digits),
            Axis::linear("y", digits),
            vec![Series::of("colibri & co", points), Series::of("empty", vec![])],
        );
        let html = figure(&plot);
        assert!(html.contains("a &lt; b") && html.contains("&lt;b&gt;") && html.contains("colibri &amp; co"));
        assert!(html.contains("class='series colibri'") && !html.contains("NaN") && !html.contains("inf"));

        let bars = |plot: fn(&str, Vec<Bar>) -> Plot, values: &[f64]| {
            figure(&plot("t", values.iter().map(|&value| Bar::of("a", value, digits)).collect()))
        };
        assert!(html.contains("(log scale from left to right)</figcaption>"), "{html}");
        assert!(bars(Plot::log_bars, &[2.0]).contains("<figcaption>t (log scale)</figcaption>"));
        assert!(bars(Plot::bars, &[2.0]).contains("<figcaption>t</figcaption>"));
        for values in [&[0.5, 2.0, 900.0][..], &[1.0], &[]] {
            let html = bars(Plot::bars, values) + &bars(Plot::log_bars, values);
            assert_eq!(html.matches("<rect").count(), 2 * values.len());
            assert!(!html.contains("NaN") && !html.contains("inf") && !html.contains("width=-"), "{html}");
        }
        assert!(!bars(Plot::bars, &[0.0]).contains("NaN"));
    }
}
