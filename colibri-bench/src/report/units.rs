//! Figures as people read them.

use hdrhistogram::Histogram;

use crate::measure::Rounds;

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

/// So many rounds.
pub(crate) fn rounds(count: usize) -> String {
    if count == 1 { "1 round".to_owned() } else { format!("{count} rounds") }
}

/// So many rounds of those that were planned.
pub(crate) fn rounds_of(made: usize, planned: u32) -> String {
    if made == planned as usize {
        return rounds(made);
    }
    format!("{made} of {} (no time for more)", rounds(planned as usize))
}

/// What lies between the rounds, as a share; a dash where one round tells nothing of it.
pub(crate) fn spread(rounds: &Rounds) -> String {
    rounds.spread().map_or("–".to_owned(), percent)
}

/// The duration that so large a share of `histogram` does not exceed, 1 for the longest; empty if there is none.
pub(crate) fn quantile(histogram: &Histogram<u64>, share: f64) -> String {
    if histogram.is_empty() { String::new() } else { duration(histogram.value_at_quantile(share)) }
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
    fn what_is_not_known_is_no_zero() {
        assert_eq!(spread(&Rounds::of([5.0])), "–");
        assert_eq!(spread(&Rounds::of([90.0, 110.0, 100.0])), "20.0 %");
        assert_eq!((rounds_of(5, 5), rounds_of(1, 1)), ("5 rounds".to_owned(), "1 round".to_owned()));
        assert_eq!(rounds_of(1, 5), "1 of 5 rounds (no time for more)");
        let some = measure::histogram_of(&[1_000, 2_000]);
        assert_eq!(
            (quantile(&some, 0.5), quantile(&some, 1.0)),
            ("1.00 µs".to_owned(), "2.00 µs".to_owned())
        );
        assert_eq!(quantile(&measure::histogram(), 1.0), "");
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
}
