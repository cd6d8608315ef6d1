//! An optional length of time, for `#[serde(with = "maybe")]`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer, de::Error};

use crate::span::{from_text, to_text};

pub(super) fn serialize<S: Serializer>(span: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
    match span {
        Some(span) => to.serialize_str(&to_text(*span)),
        None => to.serialize_none(),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| from_text(&text).map_err(D::Error::custom)).transpose()
}
