//! Long values, stored once.
//!
//! A session keeps the state after each of its last 200 commands, and most of a state is a few long
//! texts that hardly ever change. So a document has a table of *values*, and wherever a long one
//! stands there is only a reference to it, `{"$value":7}`:
//!
//! - A string of [`LONG`] bytes or more is a value.
//! - A list of more than [`CHUNK`] items is cut into chunks, `{"$list":[…]}`, so that a change at one
//!   place leaves the other chunks as they were; an object of more entries likewise, `{"$map":[…]}`.
//! - A list, an object or a chunk that is still long is a value too, with references inside.
//! - An object of the user's that looks like one of these stands in `{"$plain":…}`.
//!
//! So a snapshot costs what changed since the last one. Values are bytes of JSON that are
//! parsed on demand only: opening and saving a session moves them as they are.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;
use serde_json::{Map, Value};

use crate::error::Damage;
use crate::pieces::Pieces;
use crate::zone::Zone;

/// From how many bytes on something is stored as a value.
pub(crate) const LONG: usize = 256;

/// How many items stand together.
pub(crate) const CHUNK: usize = 64;

/// How deep values may refer to values.
const MOST_DEPTH: usize = 100;

/// How much memory a value may take when it is written out: a small document can refer to one value
/// very often. To this comes a multiple of the document, for what is stored once and used often.
const MOST_BYTES: usize = 128 << 20;
const MOST_TIMES: usize = 8;
/// What a list, an object or a number takes, about.
const NODE: usize = 64;
/// How deep lists and objects may stand in each other.
const MOST_NESTING: usize = 2000;

const REFERENCE: &str = "$value";
const LIST: &str = "$list";
const MAP: &str = "$map";
const PLAIN: &str = "$plain";

/// How a reference begins, as bytes of a document. No string can hold these bytes, since a quote
/// inside a string is escaped.
const REFERENCE_START: &[u8] = b"{\"$value\":";

/// A table of values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    /// The document that was read, in which most values stand.
    file: Arc<Vec<u8>>,
    slots: BTreeMap<u32, Slot>,
    /// Values by their [`fingerprint`], to find one that is there already; the second of two with one fingerprint
    /// has the next free number. Made when first needed: who only reads adds nothing.
    known: Option<HashMap<u64, u32, BuildHasherDefault<Mixed>>>,
    next: u32,
}

#[derive(Clone, Debug)]
enum Slot {
    InFile(Range<usize>),
    Owned(Arc<Vec<u8>>),
}

impl Values {
    /// The values of a document that was read: each is bytes of it.
    pub(crate) fn in_file(
        file: Arc<Vec<u8>>,
        places: impl IntoIterator<Item = (u32, Range<usize>)>,
    ) -> Self {
        let mut values = Self { file, ..Self::default() };
        for (id, range) in places {
            values.next = values.next.max(id.saturating_add(1));
            values.slots.insert(id, Slot::InFile(range));
        }
        values
    }

    /// The JSON of a value.
    pub(crate) fn raw(&self, id: u32) -> Option<&[u8]> {
        match self.slots.get(&id)? {
            Slot::InFile(range) => self.file.get(range.clone()),
            Slot::Owned(bytes) => Some(bytes),
        }
    }

    /// All values: the number and the JSON of each.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &[u8])> {
        self.slots.keys().filter_map(|id| Some((*id, self.raw(*id)?)))
    }

    /// Adds a value, or finds it.
    fn intern(&mut self, raw: Vec<u8>) -> u32 {
        if self.known.is_none() {
            let mut known = HashMap::with_capacity_and_hasher(
                self.slots.len() + 1,
                BuildHasherDefault::default(),
            );
            for (id, raw) in self.iter() {
                let mut print = fingerprint(raw);
                while known.contains_key(&print) {
                    print = print.wrapping_add(1);
                }
                known.insert(print, id);
            }
            self.known = Some(known);
        }
        let mut print = fingerprint(&raw);
        while let Some(id) = self.known.as_ref().and_then(|known| known.get(&print)) {
            if self.raw(*id) == Some(raw.as_slice()) {
                return *id;
            }
            print = print.wrapping_add(1);
        }
        let id = self.next;
        self.next += 1;
        self.slots.insert(id, Slot::Owned(Arc::new(raw)));
        self.known.get_or_insert_default().insert(print, id);
        id
    }

    /// Puts references in the place of what is long.
    pub(crate) fn compact(&mut self, value: &Value) -> Value {
        self.compacted(value).0
    }

    /// A compact value, and about how many bytes it takes.
    fn compacted(&mut self, value: &Value) -> (Value, usize) {
        match value {
            Value::String(text) if text.len() >= LONG => self.reference(value),
            Value::String(text) => (value.clone(), text.len() + 2),
            Value::Array(items) => {
                let mut size = 2;
                let items: Vec<Value> =
                    items.iter().map(|item| self.counted(item, &mut size)).collect();
                if items.len() > CHUNK {
                    let chunks = items.chunks(CHUNK).map(|chunk| Value::Array(chunk.to_vec()));
                    let chunks: Vec<Value> = chunks.map(|chunk| self.reference(&chunk).0).collect();
                    return self.reference(&single(LIST, Value::Array(chunks)));
                }
                self.kept(Value::Array(items), size)
            }
            Value::Object(entries) => {
                let mut size = 2;
                let entries: Map<String, Value> = entries
                    .iter()
                    .map(|(key, value)| {
                        size += key.len() + 4;
                        (key.clone(), self.counted(value, &mut size))
                    })
                    .collect();
                self.entries(entries, size)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => (value.clone(), 8),
        }
    }

    /// A zone, as a value if it is long. Its keys stand as they do in a document.
    pub(crate) fn seal(&mut self, zone: &Zone) -> Value {
        if zone.len() > CHUNK {
            let chunks = zone.pieces(CHUNK).map(|chunk| self.interned(chunk));
            let chunks = chunks.collect();
            return self.reference(&single(MAP, Value::Array(chunks))).0;
        }
        let json = zone.json();
        let json = match zone.only() {
            Some(PLAIN | REFERENCE | LIST | MAP) => {
                [format!("{{\"{PLAIN}\":").as_bytes(), &json, b"}"].concat()
            }
            _ => json,
        };
        let short = if json.len() < LONG { serde_json::from_slice(&json).ok() } else { None };
        short.unwrap_or_else(|| self.interned(json))
    }

    /// An object whose entries are compact already, and about how many bytes it takes.
    fn entries(&mut self, entries: Map<String, Value>, size: usize) -> (Value, usize) {
        if entries.len() > CHUNK {
            let entries: Vec<(String, Value)> = entries.into_iter().collect();
            let chunks = entries.chunks(CHUNK).map(|chunk| chunk.iter().cloned().collect());
            let chunks: Vec<Value> =
                chunks.map(|chunk: Map<_, _>| self.reference(&Value::Object(chunk)).0).collect();
            return self.reference(&single(MAP, Value::Array(chunks)));
        }
        let plain = is_special(&entries);
        let object = Value::Object(entries);
        self.kept(if plain { single(PLAIN, object) } else { object }, size)
    }

    fn counted(&mut self, value: &Value, size: &mut usize) -> Value {
        let (compact, bytes) = self.compacted(value);
        *size += bytes + 1;
        compact
    }

    /// A compact list or object, as a value if it is long.
    fn kept(&mut self, compact: Value, size: usize) -> (Value, usize) {
        if size >= LONG { self.reference(&compact) } else { (compact, size) }
    }

    fn reference(&mut self, value: &Value) -> (Value, usize) {
        let raw = serde_json::to_vec(value).expect("a JSON value can be written");
        (self.interned(raw), REFERENCE_START.len() + 8)
    }

    /// A reference to some JSON.
    fn interned(&mut self, raw: Vec<u8>) -> Value {
        single(REFERENCE, self.intern(raw).into())
    }

    /// Puts the values back in the place of their references.
    pub(crate) fn expand(&self, compact: &Value) -> Result<Value, Damage> {
        self.expanded(compact, 0, &mut Budget { left: self.most_bytes(), nesting: 0 })
    }

    /// How much memory a value may take when it is written out.
    pub(crate) fn most_bytes(&self) -> usize {
        let owned: usize = self.slots.values().map(Slot::owned).sum();
        let stored = self.file.len().saturating_add(owned);
        MOST_BYTES.saturating_add(stored.saturating_mul(MOST_TIMES))
    }

    fn expanded(&self, compact: &Value, depth: usize, nodes: &mut Budget) -> Result<Value, Damage> {
        nodes.nesting += 1;
        if nodes.nesting > MOST_NESTING {
            return Err(Damage::EndlessReferences);
        }
        let expanded = self.expanded_once(compact, depth, nodes);
        nodes.nesting -= 1;
        expanded
    }

    fn expanded_once(
        &self,
        compact: &Value,
        depth: usize,
        nodes: &mut Budget,
    ) -> Result<Value, Damage> {
        nodes.take(NODE + compact.as_str().map_or(0, str::len))?;
        match compact {
            Value::Array(items) => {
                items.iter().map(|item| self.expanded(item, depth, nodes)).collect()
            }
            Value::Object(entries) => match special(entries) {
                None => self.expanded_entries(entries, depth, nodes).map(Value::Object),
                Some((REFERENCE, id)) => {
                    self.expanded(&self.followed(id, depth)?, depth + 1, nodes)
                }
                Some((LIST, chunks)) => {
                    let mut items = Vec::new();
                    for chunk in chunks.as_array().ok_or(Damage::Chunk("list"))? {
                        match self.expanded(chunk, depth + 1, nodes)? {
                            Value::Array(chunk) => items.extend(chunk),
                            _ => return Err(Damage::Chunk("list")),
                        }
                    }
                    Ok(Value::Array(items))
                }
                Some((MAP, chunks)) => {
                    let mut entries = Map::new();
                    for chunk in chunks.as_array().ok_or(Damage::Chunk("map"))? {
                        // A chunk is never special: it has no name of its own.
                        let chunk = match special(chunk.as_object().unwrap_or(&Map::new())) {
                            Some((REFERENCE, id)) => self.followed(id, depth)?,
                            _ => chunk.clone(),
                        };
                        let chunk = chunk.as_object().ok_or(Damage::Chunk("map"))?;
                        entries.extend(self.expanded_entries(chunk, depth + 1, nodes)?);
                    }
                    Ok(Value::Object(entries))
                }
                Some((_, plain)) => {
                    let entries = plain.as_object().ok_or(Damage::Chunk("map"))?;
                    self.expanded_entries(entries, depth, nodes).map(Value::Object)
                }
            },
            _ => Ok(compact.clone()),
        }
    }

    fn expanded_entries(
        &self,
        entries: &Map<String, Value>,
        depth: usize,
        nodes: &mut Budget,
    ) -> Result<Map<String, Value>, Damage> {
        let expand = |(key, value): (&String, &Value)| {
            nodes.take(key.len())?;
            Ok((key.clone(), self.expanded(value, depth, nodes)?))
        };
        entries.iter().map(expand).collect()
    }

    /// What a compact value is, without what is in its parts.
    pub(crate) fn content(&self, compact: &Value) -> Result<Content<'_>, Damage> {
        self.content_at(compact, 0)
    }

    fn content_at(&self, compact: &Value, depth: usize) -> Result<Content<'_>, Damage> {
        let entries = match compact {
            Value::Array(items) => return Ok(Content::List(items.clone())),
            Value::Object(entries) => entries,
            plain => return Ok(Content::Plain(plain.clone())),
        };
        let chunks =
            |chunks: &'_ Value, kind| chunks.as_array().cloned().ok_or(Damage::Chunk(kind));
        Ok(match special(entries) {
            None => Content::Object(entries.clone()),
            Some((REFERENCE, id)) => {
                if let Some(text) = self.raw_of(id)?.filter(|raw| raw.first() == Some(&b'"')) {
                    return Ok(Content::Text(text));
                }
                return self.content_at(&self.followed(id, depth)?, depth + 1);
            }
            Some((LIST, parts)) => {
                let mut items = Vec::new();
                for chunk in chunks(parts, "list")? {
                    match self.content_at(&chunk, depth + 1)? {
                        Content::List(chunk) => items.extend(chunk),
                        _ => return Err(Damage::Chunk("list")),
                    }
                }
                Content::List(items)
            }
            Some((MAP, parts)) => {
                let mut entries = Map::new();
                for chunk in chunks(parts, "map")? {
                    // A chunk is never special: it has no name of its own.
                    let chunk = match special(chunk.as_object().unwrap_or(&Map::new())) {
                        Some((REFERENCE, id)) => self.followed(id, depth)?,
                        _ => chunk.clone(),
                    };
                    let Value::Object(chunk) = chunk else { return Err(Damage::Chunk("map")) };
                    entries.extend(chunk);
                }
                Content::Object(entries)
            }
            Some((_, plain)) => {
                Content::Object(plain.as_object().cloned().ok_or(Damage::Chunk("map"))?)
            }
        })
    }

    fn raw_of(&self, id: &Value) -> Result<Option<&[u8]>, Damage> {
        let id = id.as_u64().and_then(|id| u32::try_from(id).ok()).ok_or(Damage::Reference)?;
        Ok(self.raw(id))
    }

    fn followed(&self, id: &Value, depth: usize) -> Result<Value, Damage> {
        if depth > MOST_DEPTH {
            return Err(Damage::EndlessReferences);
        }
        let id = id.as_u64().and_then(|id| u32::try_from(id).ok()).ok_or(Damage::Reference)?;
        let raw = self.raw(id).ok_or(Damage::MissingValue(id))?;
        serde_json::from_slice(raw)
            .map_err(|error| Damage::Value { number: id, message: error.to_string() })
    }

    /// The numbers of the values that some documents' parts lead to.
    pub(crate) fn reachable<'a>(&'a self, roots: impl IntoIterator<Item = &'a [u8]>) -> Vec<u32> {
        // Every snapshot refers to nearly everything, so this is asked far more often than there are
        // values.
        let ids: Vec<u32> = self.slots.keys().copied().collect();
        let mut is_reached = vec![false; ids.len()];
        let mut open: Vec<&[u8]> = roots.into_iter().collect();
        while let Some(bytes) = open.pop() {
            for id in references(bytes) {
                let Ok(place) = ids.binary_search(&id) else { continue };
                if std::mem::replace(&mut is_reached[place], true) {
                    continue;
                }
                open.extend(self.raw(id).filter(|raw| raw.first() != Some(&b'"')));
            }
        }
        ids.into_iter()
            .zip(is_reached)
            .filter_map(|(id, is_reached)| is_reached.then_some(id))
            .collect()
    }

    /// Writes a value down after its key; returns its length. One that stands after that very key
    /// in the document that was read is taken over together with it.
    pub(crate) fn write(&self, id: u32, key: &[u8], pieces: &mut Pieces) -> usize {
        match &self.slots[&id] {
            Slot::InFile(range) => {
                let before = range.start.saturating_sub(key.len())..range.start;
                if self.file.get(before.clone()) == Some(key) {
                    pieces.share(&self.file, before.start..range.end);
                } else {
                    pieces.add(key);
                    pieces.share(&self.file, range.clone());
                }
                range.len()
            }
            Slot::Owned(bytes) => {
                pieces.add(key);
                pieces.share(bytes, 0..bytes.len());
                bytes.len()
            }
        }
    }
}

/// What a compact value is.
pub(crate) enum Content<'a> {
    Object(Map<String, Value>),
    List(Vec<Value>),
    /// A long text, as JSON.
    Text(&'a [u8]),
    Plain(Value),
}

/// What may still be written out.
struct Budget {
    left: usize,
    nesting: usize,
}

impl Budget {
    fn take(&mut self, bytes: usize) -> Result<(), Damage> {
        self.left = self.left.checked_sub(bytes).ok_or(Damage::TooManyParts)?;
        Ok(())
    }
}

impl Slot {
    /// The bytes that it has of its own.
    fn owned(&self) -> usize {
        match self {
            Self::InFile(_) => 0,
            Self::Owned(bytes) => bytes.len(),
        }
    }
}

/// The numbers of the values that some JSON refers to.
fn references(json: &[u8]) -> impl Iterator<Item = u32> {
    static START: LazyLock<Finder> = LazyLock::new(|| Finder::new(REFERENCE_START));
    START.find_iter(json).filter_map(|at| {
        let digits = json[at + REFERENCE_START.len()..].iter().take_while(|it| it.is_ascii_digit());
        let number = digits.fold(None, |number: Option<u64>, digit| {
            Some((number.unwrap_or(0) * 10 + u64::from(digit - b'0')).min(u64::from(u32::MAX) + 1))
        });
        u32::try_from(number?).ok()
    })
}

/// Tells most values apart at a glance: by their length and a few of their bytes, taken from all
/// over. To hash all of a state would cost more than to write it.
fn fingerprint(raw: &[u8]) -> u64 {
    const SAMPLES: usize = 8;
    let step = raw.len().div_ceil(SAMPLES).max(1);
    let last = &raw[raw.len().saturating_sub(size_of::<u64>())..];
    raw.chunks(step).chain([last]).fold(raw.len() as u64, |print, piece| {
        let word = piece.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        (print.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

/// The hash of a [`fingerprint`], which is mixed already.
#[derive(Clone, Debug, Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, print: u64) {
        self.0 = print;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

fn single(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}

/// The one entry of an object that stands for something else.
fn special(entries: &Map<String, Value>) -> Option<(&str, &Value)> {
    let (key, value) = entries.iter().next().filter(|_| entries.len() == 1)?;
    matches!(key.as_str(), REFERENCE | LIST | MAP | PLAIN).then_some((key.as_str(), value))
}

fn is_special(entries: &Map<String, Value>) -> bool {
    special(entries).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn round_trip(value: &Value) -> Values {
        let mut values = Values::default();
        let compact = values.compact(value);
        assert!(serde_json::to_vec(&compact).unwrap().len() < 2 * LONG + 64, "{compact}");
        assert_eq!(&values.expand(&compact).unwrap(), value);
        values
    }

    #[test]
    fn what_is_short_stays() {
        let mut values = Values::default();
        let value = json!({"a": [1, null, "x"], "b": {"c": true}});
        assert_eq!(values.compact(&value), value);
        assert!(values.slots.is_empty());
    }

    #[test]
    fn a_long_text_is_stored_once() {
        let text = "x".repeat(100_000);
        let values = round_trip(&json!({"one": text, "other": [text, {"deep": text}]}));
        assert_eq!(values.slots.len(), 1);
    }

    #[test]
    fn a_long_list_shares_its_chunks() {
        let mut items: Vec<Value> =
            (0..10_000).map(|id| json!({"id": id, "label": format!("item number {id}")})).collect();
        let mut values = round_trip(&Value::Array(items.clone()));
        let before: usize = values.slots.keys().map(|id| values.raw(*id).unwrap().len()).sum();
        items.push(json!({"id": 10_000}));
        let compact = values.compact(&Value::Array(items.clone()));
        let after: usize = values.slots.keys().map(|id| values.raw(*id).unwrap().len()).sum();
        assert!(after - before < before / 50, "{before} {after}");
        assert_eq!(values.expand(&compact).unwrap(), Value::Array(items));
    }

    #[test]
    fn a_users_object_that_looks_like_ours() {
        for value in [
            json!({"$value": 1}),
            json!({"$list": [[1]]}),
            json!({"$plain": {"$plain": {"$value": 7}}}),
            json!([{"$map": "x".repeat(500)}]),
            json!({"$value": 1, "more": 2}),
        ] {
            round_trip(&value);
        }
    }

    #[test]
    fn hostile_references_are_refused() {
        let mut values = Values::default();
        values.intern(br#"{"$value":0}"#.to_vec());
        for compact in [
            json!({"$value": 0}),
            json!({"$value": 99}),
            json!({"$value": "x"}),
            json!({"$value": -1}),
            json!({"$list": 3}),
            json!({"$list": [3]}),
            json!({"$map": [[1]]}),
        ] {
            assert!(values.expand(&compact).is_err(), "{compact}");
        }
        // 30 lists, each holding the one before 64 times.
        let mut last = values.intern(b"[1]".to_vec());
        for _ in 0..30 {
            let list: Vec<Value> = (0..64).map(|_| json!({"$value": last})).collect();
            last = values.intern(serde_json::to_vec(&list).unwrap());
        }
        let error = values
            .expanded(&json!({"$value": last}), 0, &mut Budget { left: 10_000, nesting: 0 })
            .unwrap_err();
        assert_eq!(error, Damage::TooManyParts);
    }

    #[test]
    fn only_what_is_referred_to_is_reachable() {
        let mut values = Values::default();
        let first = values.compact(&json!(["a".repeat(300), "b".repeat(300)]));
        let second = values.compact(&json!("c".repeat(300)));
        let bytes = serde_json::to_vec(&first).unwrap();
        assert_eq!(values.reachable([&bytes[..]]).len(), 2);
        let trick = serde_json::to_vec(&json!(r#"{"$value":0}"#)).unwrap();
        assert_eq!(values.reachable([&trick[..]]).len(), 0, "inside a string it is text");
        drop(second);
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,20}".prop_map(Value::from),
            "[a-c\"\\\\é]{250,300}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 200, 80, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..80).prop_map(Value::from),
                proptest::collection::vec(
                    ("[$a-z]{1,6}|\\$value|\\$list|\\$map|\\$plain", inner),
                    0..80
                )
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_value_comes_back(one in any_value(), other in any_value()) {
            let mut values = Values::default();
            let (first, second) = (values.compact(&one), values.compact(&other));
            prop_assert_eq!(values.expand(&first).unwrap(), one);
            prop_assert_eq!(values.expand(&second).unwrap(), other);
        }
    }
}
