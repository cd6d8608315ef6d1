//! Lists of lengths of time, for `#[serde(with = "spans")]`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer, de::Error};

use crate::span::{from_text, to_text};

pub(super) fn serialize<S: Serializer>(spans: &[Duration], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(spans.iter().map(|span| to_text(*span)))
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Duration>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    texts.iter().map(|text| from_text(text).map_err(D::Error::custom)).collect()
}
