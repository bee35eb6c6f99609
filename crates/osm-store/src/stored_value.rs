//! A value as a document has it: with references in the place of what is long.
//!
//! A history of 200 states shares nearly all of its bytes; written out, each state would be a copy of
//! them. So what reads a session gets its values in this form, looks at one part at a time, and
//! writes out only what it shows.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::error::Damage;
use crate::values::{Content, Values};

/// How deep a value may be.
const MOST_DEPTH: usize = 1000;

/// How many parts of a value are looked at to tell its size.
const MOST_PARTS: u64 = 1 << 20;
/// What a part takes at least when it is written out.
const PART: usize = 32;

/// A value of a document.
#[derive(Clone, Debug)]
pub struct StoredValue {
    compact: Value,
    values: Arc<Values>,
}

/// What a value is, without what is in its parts.
#[derive(Debug)]
pub enum Shape<'a> {
    /// An object, with its entries.
    Object(Vec<(String, StoredValue)>),
    /// A list, with its items.
    List(Vec<StoredValue>),
    /// A long text, as JSON.
    Text(&'a [u8]),
    /// A number, a short text, `true`, `false` or `null`.
    Plain(Value),
}

impl StoredValue {
    pub(crate) fn new(compact: Value, values: &Arc<Values>) -> Self {
        Self { compact, values: Arc::clone(values) }
    }

    /// A state with nothing in it.
    #[must_use]
    pub fn empty_state() -> Self {
        Self::new(serde_json::json!({"shared": {}, "script": {}}), &Arc::default())
    }

    /// The value, written out. [`Damage::TooManyParts`] if that would take far more memory than the
    /// document.
    pub fn value(&self) -> Result<Value, Damage> {
        self.values.expand(&self.compact)
    }

    /// What it is.
    pub fn shape(&self) -> Result<Shape<'_>, Damage> {
        let parts = |items: Vec<Value>| {
            items.into_iter().map(|item| Self::new(item, &self.values)).collect()
        };
        let entries = |entries: Map<String, Value>| {
            let entries = entries.into_iter();
            entries.map(|(name, value)| (name, Self::new(value, &self.values))).collect()
        };
        Ok(match self.values.content(&self.compact)? {
            Content::Object(object) => Shape::Object(entries(object)),
            Content::List(items) => Shape::List(parts(items)),
            Content::Text(json) => Shape::Text(json),
            Content::Plain(value) => Shape::Plain(value),
        })
    }

    /// The entries of an object; none of anything else.
    pub fn entries(&self) -> Result<Vec<(String, Self)>, Damage> {
        Ok(match self.shape()? {
            Shape::Object(entries) => entries,
            _ => Vec::new(),
        })
    }

    /// The first bytes of the value as JSON, and how many there are in all; `None` if these are more
    /// than `most`, or there are so many parts that to count them takes long.
    pub fn beginning(&self, bytes: usize, most: u64) -> Result<(String, Option<u64>), Damage> {
        let (mut text, mut size, mut parts) = (Vec::new(), 0_u64, 0_u64);
        let mut write = |piece: &[u8]| {
            text.extend_from_slice(&piece[..piece.len().min(bytes.saturating_sub(text.len()))]);
            size = size.saturating_add(piece.len() as u64);
            parts += 1;
            size <= most && parts < MOST_PARTS
        };
        let size = match self.write(0, &mut write) {
            Ok(()) => Some(size),
            Err(Stop::Told) => None,
            Err(Stop::Damaged(damage)) => return Err(damage),
        };
        Ok((String::from_utf8_lossy(&text).into_owned(), size))
    }

    /// Whether the value can be written out: no reference leads nowhere, and it is not far larger
    /// than it looks.
    pub(crate) fn check(&self) -> Result<(), Damage> {
        let mut left = self.values.most_bytes();
        let mut write = |piece: &[u8]| {
            let cost = piece.len().max(PART);
            left = left.saturating_sub(cost);
            left > 0
        };
        match self.write(0, &mut write) {
            Ok(()) => Ok(()),
            Err(Stop::Told) => Err(Damage::TooManyParts),
            Err(Stop::Damaged(damage)) => Err(damage),
        }
    }

    /// Writes the value as JSON, piece by piece, until `piece` says no.
    fn write(&self, depth: usize, piece: &mut dyn FnMut(&[u8]) -> bool) -> Result<(), Stop> {
        if depth > MOST_DEPTH {
            return Err(Stop::Damaged(Damage::EndlessReferences));
        }
        let mut put = |bytes: &[u8]| if piece(bytes) { Ok(()) } else { Err(Stop::Told) };
        match self.shape().map_err(Stop::Damaged)? {
            Shape::Plain(value) => put(value.to_string().as_bytes()),
            Shape::Text(text) => put(text),
            Shape::Object(entries) => {
                put(b"{")?;
                for (at, (name, value)) in entries.into_iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    put(format!("{comma}{}:", Value::String(name)).as_bytes())?;
                    value.write(depth + 1, &mut |bytes| put(bytes).is_ok())?;
                }
                put(b"}")
            }
            Shape::List(items) => {
                put(b"[")?;
                for (at, item) in items.into_iter().enumerate() {
                    put(if at == 0 { b"" } else { b"," })?;
                    item.write(depth + 1, &mut |bytes| put(bytes).is_ok())?;
                }
                put(b"]")
            }
        }
    }
}

/// Why no more is written.
enum Stop {
    Told,
    Damaged(Damage),
}

/// Whether both are the same value, however it is stored; not if one is damaged.
impl PartialEq for StoredValue {
    fn eq(&self, other: &Self) -> bool {
        is_same(self, other, 0)
    }
}

pub(crate) fn is_same(one: &StoredValue, other: &StoredValue, depth: usize) -> bool {
    if Arc::ptr_eq(&one.values, &other.values) && one.compact == other.compact {
        return true;
    }
    let (Ok(one), Ok(other)) = (one.shape(), other.shape()) else { return false };
    match (one, other) {
        _ if depth > MOST_DEPTH => false,
        (Shape::Text(one), Shape::Text(other)) => one == other,
        (Shape::Plain(one), Shape::Plain(other)) => one == other,
        // Edited by hand: what is long stands in its place.
        (Shape::Text(text), Shape::Plain(plain)) | (Shape::Plain(plain), Shape::Text(text)) => {
            serde_json::from_slice::<Value>(text).is_ok_and(|text| text == plain)
        }
        (Shape::List(one), Shape::List(other)) => {
            one.len() == other.len()
                && one.iter().zip(&other).all(|(one, other)| is_same(one, other, depth + 1))
        }
        (Shape::Object(one), Shape::Object(other)) => {
            let other: BTreeMap<&str, &StoredValue> =
                other.iter().map(|(name, value)| (name.as_str(), value)).collect();
            let is_there = |(name, value): &(String, StoredValue)| {
                other.get(name.as_str()).is_some_and(|other| is_same(value, other, depth + 1))
            };
            one.len() == other.len() && one.iter().all(is_there)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stored(value: &Value) -> StoredValue {
        let mut values = Values::default();
        let compact = values.compact(value);
        StoredValue::new(compact, &Arc::new(values))
    }

    fn samples() -> Vec<Value> {
        let long = "é\n\"".repeat(200);
        let list: Vec<Value> = (0..300).map(|n| json!({"id": n, "text": long})).collect();
        let map: Map<String, Value> = (0..300).map(|n| (format!("k{n}"), json!(n))).collect();
        vec![
            json!(null),
            json!([]),
            json!({"$value": 7}),
            json!(long),
            json!(list),
            json!(map),
            json!({"list": list, "deep": {"map": map, "$list": [1]}, "e": {}}),
        ]
    }

    #[test]
    fn written_out_it_is_the_value() {
        for value in samples() {
            let stored = stored(&value);
            let text = value.to_string();
            let size = text.len() as u64;
            assert_eq!(stored.beginning(usize::MAX, u64::MAX).unwrap(), (text.clone(), Some(size)));
            let (first, counted) = stored.beginning(1, size).unwrap();
            assert_eq!((first.as_str(), counted), (&text[..1], Some(size)));
            assert_eq!(stored.beginning(0, size - 1).unwrap(), (String::new(), None));
            stored.check().unwrap();
            assert_eq!(stored.value().unwrap(), value);
        }
    }

    #[test]
    fn the_same_values_are_equal_in_two_documents() {
        let samples = samples();
        for (at, one) in samples.iter().enumerate() {
            for (other_at, other) in samples.iter().enumerate() {
                assert_eq!(stored(one) == stored(other), at == other_at, "{at} {other_at}");
            }
        }
    }
}
