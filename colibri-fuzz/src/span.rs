//! Lengths of time as text: `"2ms"`, `"1500us"`, `"7ns"`, so that a workload in a file reads like a sentence.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer, de::Error};

/// The units that are written and read, largest first. Each divides the one before it.
const UNITS: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Writes `span` exactly, in the largest unit that needs no fraction.
pub fn to_text(span: Duration) -> String {
    let nanos = nanos(span);
    if nanos == 0 {
        return "0s".to_owned();
    }
    // Hours and minutes are read but not written: "1800s" compares better with "4500ms" than "30min" does.
    let (unit, size) = UNITS[2..].iter().find(|(_, size)| nanos.is_multiple_of(*size)).unwrap_or(&UNITS[5]);
    format!("{}{unit}", nanos / size)
}

/// Reads a length such as `1h`, `90s`, `2.5ms` or `40us`.
///
/// # Errors
///
/// A sentence that lists the units, if `text` is anything else.
pub fn from_text(text: &str) -> Result<Duration, String> {
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic() || c == 'µ').unwrap_or(text.len());
    let (number, unit) = (text[..split].trim(), &text[split..]);
    let unit = match unit {
        "µs" => "us",
        "m" => "min",
        other => other,
    };
    let wrong = || {
        format!(
            "\"{text}\" is no length of time: write a number and one of h, min, s, ms, us, ns, such as 90s"
        )
    };
    let size = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, size)| *size).ok_or_else(wrong)?;
    let seconds = |nanos: f64| (nanos.is_finite() && (0.0..1e18).contains(&nanos)).then_some(nanos as u64);
    // Whole numbers take the exact road; only fractions go through floating point.
    let nanos = match number.parse::<u64>() {
        Ok(whole) => whole.checked_mul(size),
        Err(_) => number.parse::<f64>().ok().and_then(|part| seconds((part * size as f64).round())),
    };
    nanos.map(Duration::from_nanos).ok_or_else(wrong)
}

/// Whole nanoseconds, at most `u64::MAX` (584 years).
pub(crate) fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// A reader's view of `nanos`: three significant digits in a fitting unit.
pub(crate) fn short(nanos: u64) -> String {
    let (unit, size) = match nanos {
        0 => return "0".to_owned(),
        1..=999 => ("ns", 1.0),
        1_000..=999_999 => ("µs", 1e3),
        1_000_000..=999_999_999 => ("ms", 1e6),
        _ => ("s", 1e9),
    };
    let value = nanos as f64 / size;
    let digits = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

/// For `#[serde(with = "span")]`.
pub(crate) fn serialize<S: Serializer>(span: &Duration, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&to_text(*span))
}

/// For `#[serde(with = "span")]`.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    from_text(&String::deserialize(from)?).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back_is_exact() {
        for nanos in [0, 1, 999, 1_000, 1_500, 2_000_000, 2_000_001, 60_000_000_000, u64::MAX / 2] {
            let span = Duration::from_nanos(nanos);
            assert_eq!(from_text(&to_text(span)), Ok(span), "{}", to_text(span));
        }
        assert_eq!(to_text(Duration::from_millis(8)), "8ms");
        assert_eq!(from_text("1h"), Ok(Duration::from_secs(3600)));
        assert_eq!(from_text("2.5ms"), Ok(Duration::from_micros(2500)));
    }

    #[test]
    fn nonsense_is_refused_with_the_units_named() {
        for text in ["", "7", "ms", "-1s", "1 fortnight", "1e30h", "NaNs"] {
            assert!(
                from_text(text).is_err_and(|message| message.contains("h, min, s, ms, us, ns")),
                "{text}"
            );
        }
    }

    #[test]
    fn short_texts_have_a_fitting_unit() {
        assert_eq!(short(0), "0");
        assert_eq!(short(1_234_567), "1.23 ms");
        assert_eq!(short(999_949), "1000 µs");
    }
}
