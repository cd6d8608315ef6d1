//! Numbers in JSON.

/// Whether `byte` can stand in a number.
pub(super) fn is_part(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')
}

/// The value of `text`; none if it is no number, or larger than any.
pub(super) fn value(text: &[u8]) -> Option<f64> {
    let rest = text.strip_prefix(b"-").unwrap_or(text);
    let rest = match rest {
        [b'0', rest @ ..] => rest,
        _ => digits(rest)?,
    };
    let rest = match rest {
        [b'.', rest @ ..] => digits(rest)?,
        _ => rest,
    };
    let rest = match rest {
        [b'e' | b'E', b'+' | b'-', rest @ ..] | [b'e' | b'E', rest @ ..] => digits(rest)?,
        _ => rest,
    };
    if !rest.is_empty() {
        return None;
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    value.is_finite().then_some(value)
}

/// What is behind at least one digit.
fn digits(text: &[u8]) -> Option<&[u8]> {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count > 0).then(|| &text[count..])
}
