//! The keys of a zone of the state, each with its value, compact (see `values.rs`).
//!
//! A session of thousands of keys is opened to change one of them. So a value is the JSON that stood
//! in the document, and is parsed only when that key is read; copying a zone copies
//! nothing.

use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::error::Damage;

/// Keys and values, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Zone(IndexMap<Arc<str>, Arc<str>>);

impl Zone {
    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The value of a key.
    pub(crate) fn get(&self, name: &str) -> Result<Option<Value>, Damage> {
        self.0.get(name).map(|json| parse(name, json)).transpose()
    }

    /// All keys and their values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Result<Value, Damage>)> {
        self.0.iter().map(|(name, json)| (name.as_ref(), parse(name, json)))
    }

    /// Changes the value of a key.
    pub(crate) fn insert(&mut self, name: &str, value: &Value) {
        self.0.insert(name.into(), value.to_string().into());
    }

    /// Removes a key.
    pub(crate) fn remove(&mut self, name: &str) {
        self.0.shift_remove(name);
    }

    /// The name of the only key.
    pub(crate) fn only(&self) -> Option<&str> {
        self.0.first().filter(|_| self.len() == 1).map(|(name, _)| name.as_ref())
    }

    /// The zone as a JSON object.
    pub(crate) fn json(&self) -> Vec<u8> {
        self.pieces(usize::MAX).next().unwrap_or_else(|| b"{}".to_vec())
    }

    /// The zone as JSON objects of so many keys each.
    pub(crate) fn pieces(&self, keys: usize) -> impl Iterator<Item = Vec<u8>> {
        let mut rest = self.0.iter().peekable();
        std::iter::from_fn(move || {
            rest.peek()?;
            let mut object = vec![b'{'];
            for (name, json) in rest.by_ref().take(keys) {
                if object.len() > 1 {
                    object.push(b',');
                }
                serde_json::to_writer(&mut object, name.as_ref()).expect("memory takes all");
                object.push(b':');
                object.extend_from_slice(json.as_bytes());
            }
            object.push(b'}');
            Some(object)
        })
    }
}

fn parse(name: &str, json: &str) -> Result<Value, Damage> {
    serde_json::from_str(json)
        .map_err(|error| Damage::Key { name: name.to_owned(), message: error.to_string() })
}

impl<'de> Deserialize<'de> for Zone {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Zone;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of keys and values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Zone, A::Error> {
        let mut zone = Zone::default();
        while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
            zone.0.insert(name.into(), value.get().into());
        }
        Ok(zone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn text_of(json: &[u8]) -> String {
        String::from_utf8(json.to_vec()).unwrap()
    }

    #[test]
    fn keys_keep_their_order_and_values_their_bytes() {
        let text = r#"{"z":1.50,"a \"b\"":[{"$value":7},null],"":"é"}"#;
        let mut zone: Zone = serde_json::from_str(text).unwrap();
        assert_eq!(text_of(&zone.json()), text);
        assert_eq!(zone.get("a \"b\""), Ok(Some(json!([{"$value": 7}, null]))));
        assert_eq!(zone.get("none"), Ok(None));
        zone.insert("z", &json!(true));
        zone.insert("new", &json!({"x": 1}));
        zone.remove("");
        assert_eq!(
            text_of(&zone.json()),
            r#"{"z":true,"a \"b\"":[{"$value":7},null],"new":{"x":1}}"#
        );
        assert_eq!(
            zone.pieces(2).map(|piece| text_of(&piece)).collect::<Vec<_>>(),
            [r#"{"z":true,"a \"b\"":[{"$value":7},null]}"#, r#"{"new":{"x":1}}"#]
        );
        assert_eq!(text_of(&Zone::default().json()), "{}");
    }

    #[test]
    fn what_makes_no_sense_is_told_by_its_key() {
        let zone: Zone = serde_json::from_str(r#"{"bad":"\ud800","good":1}"#).unwrap();
        assert!(matches!(zone.get("bad"), Err(Damage::Key { name, .. }) if name == "bad"));
        assert_eq!(zone.get("good"), Ok(Some(json!(1))));
        assert!(serde_json::from_str::<Zone>(r#"{"bad":[1,}"#).is_err());
        assert!(serde_json::from_str::<Zone>("[]").is_err());
    }
}
