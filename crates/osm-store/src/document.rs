//! A session as it is written down: its parts, its version, its bytes.
//!
//! The file is one JSON object, laid out so that each reader touches only what it needs:
//!
//! ```text
//! {"version":"1.0.0","session_id":"…",…,"head":  812,"file_size": 91055,   one line: the summary
//! "shared_state":{…},
//! "script_state":{…},
//! "history":[…],
//! "value_index":[[1,4,90211],…],                            the head ends here, at byte 812
//! "values":{
//! "1":"…",                                                  long values, each on its line
//! …}}
//! ```
//!
//! A list of sessions reads first lines. Opening a session parses the head without the history, whose entries stay
//! lines of the file (see `entries.rs`), and knows from
//! `value_index` (number, offset, length) where each long value stands without looking at it (see
//! `values.rs`); so the cost of opening and saving is that of moving bytes. The index is only
//! believed if the bytes around every value are as we would have written them: an edited file is
//! parsed whole. `file_size` lets a list see that a part is missing, without reading it; a file of
//! another size can still be a good one, so it is read before it counts as damaged.
//!
//! Fields that this version does not know survive. A newer version is refused and left alone; an
//! older one is upgraded (`upgrade.rs`).

mod check;
mod entries;
mod history;

use std::ops::Range;
use std::sync::Arc;

use indexmap::IndexMap;
use jiff::Timestamp;
use memchr::memmem;
use osm_identity::{InvalidId, ProcessInstance, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::Damage;
use crate::pieces::Pieces;
use crate::stored_value::StoredValue;
use crate::unique::Unique;
use crate::upgrade;
use crate::values::Values;
use crate::zone::Zone;

use entries::Entries;
use history::StoredEntry;
pub use history::{HistoryEntry, MOST_HISTORY};
pub(crate) use history::{LastReset, Writer};

/// The version that this code writes.
pub const VERSION: &str = "1.0.0";

/// A session's document.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) id: SessionId,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    /// Grows by one with every save.
    pub(crate) revision: u64,
    pub(crate) origin: Option<Origin>,
    pub(crate) last_used: Option<LastUsed>,
    /// Compact (see `values.rs`), like all state below.
    pub(crate) shared: Zone,
    pub(crate) script: IndexMap<String, Zone>,
    /// Each the JSON of a [`StoredEntry`].
    history: Entries,
    values: Values,
    unknown: Map<String, Value>,
}

/// How a session came about; no part of its identity.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Which detector found it.
    #[serde(default)]
    pub source: String,
    /// The agent, if it was one.
    #[serde(default)]
    pub agent: Option<String>,
    /// The process that it belongs to.
    #[serde(default)]
    pub anchor: Option<ProcessInstance>,
    /// The machine's name.
    #[serde(default)]
    pub host: String,
}

/// Where a session was last used; no part of its identity, so it follows its agent anywhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastUsed {
    /// When.
    pub at: Option<Timestamp>,
    /// In which folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// In which repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// On which branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// In which worktree of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

/// Who uses sessions, and from where: what is written into those that are opened or changed.
#[derive(Clone, Debug)]
pub struct Usage {
    /// The session that the user works in.
    pub session: SessionId,
    /// How that one came about.
    pub origin: Origin,
    /// Where it is used.
    pub last_used: LastUsed,
    /// The session that osm detects there without `--session` and variables, if it finds one.
    pub detected: Option<SessionId>,
    /// The agent there, if it is one.
    pub agent: Option<String>,
    /// How many commands are remembered; 0 for all.
    pub history_length: usize,
}

/// The first line: all that a list of sessions shows.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Summary {
    /// When it began.
    pub created_at: Option<Timestamp>,
    /// When it was last saved.
    pub updated_at: Option<Timestamp>,
    /// How it came about.
    pub origin: Option<Origin>,
    /// Where it was last used.
    pub last_used: Option<LastUsed>,
    /// How many bytes the document had when it was written; older versions did not say.
    file_size: Option<u64>,
}

impl Summary {
    /// Whether a document of so many bytes can be whole.
    #[must_use]
    pub fn fits(&self, size: u64) -> bool {
        self.file_size.is_none_or(|written| written == size)
    }

    /// Reads the first line of a document.
    #[must_use]
    pub fn parse(line: &[u8]) -> Option<Self> {
        let line = line.trim_ascii_end().strip_suffix(b",")?;
        serde_json::from_slice(&[line, b"}"].concat()).ok()
    }
}

/// Everything before the values.
#[derive(Deserialize)]
struct Head {
    version: String,
    session_id: SessionIdText,
    created_at: Timestamp,
    updated_at: Timestamp,
    #[serde(default)]
    revision: u64,
    /// Known already from the first line.
    #[serde(default, rename = "head")]
    _length: u64,
    /// Every save writes it again.
    #[serde(default, rename = "file_size")]
    _size: u64,
    origin: Option<Origin>,
    last_used: Option<LastUsed>,
    #[serde(default)]
    shared_state: Zone,
    #[serde(default)]
    script_state: IndexMap<String, Zone>,
    #[serde(default)]
    history: Vec<Box<RawValue>>,
    #[serde(default)]
    value_index: Vec<(u32, usize, usize)>,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

/// A session's id. One that follows the grammar but is not printed so (earlier versions took it
/// from an import) means the session that a user would get by naming it.
#[derive(Deserialize)]
#[serde(try_from = "String")]
struct SessionIdText(SessionId);

impl TryFrom<String> for SessionIdText {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        match text.parse() {
            Err(InvalidId::Suffix) => Ok(Self(SessionId::explicit(text.as_ref()))),
            parsed => parsed.map(Self),
        }
    }
}

/// Where each value stands.
type Places = Vec<(u32, Range<usize>)>;

/// Why bytes are no document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// A newer version wrote them.
    Newer(String),
    /// They make no sense.
    Corrupt(Damage),
}

const HISTORY_START: &[u8] = b"\n\"history\":[\n";
const HISTORY_END: &[u8] = b"],\n";
const VALUES_START: &[u8] = b"\"values\":{\n";
const VALUES_END: &[u8] = b"\n}}\n";

impl Document {
    /// A session that begins now.
    pub(crate) fn new(id: SessionId, now: Timestamp) -> Self {
        Self {
            id,
            created_at: now,
            updated_at: now,
            revision: 0,
            origin: None,
            last_used: None,
            shared: Zone::default(),
            script: IndexMap::new(),
            history: Entries::default(),
            values: Values::default(),
            unknown: Map::new(),
        }
    }

    /// Reads a document; `true` says that an older version was upgraded.
    pub(crate) fn decode(bytes: impl Into<Arc<Vec<u8>>>) -> Result<(Self, bool), Unreadable> {
        let bytes = bytes.into();
        match Self::decode_laid_out(&bytes) {
            Some(document) => Ok((document, false)),
            None => Self::decode_whole(&bytes),
        }
    }

    /// Reads a document that is laid out as we write it.
    pub(crate) fn decode_laid_out(bytes: &Arc<Vec<u8>>) -> Option<Self> {
        let (head, lines, places) = Self::laid_out(bytes)?;
        let history = Entries::in_file(bytes, lines);
        Some(Self { history, ..Self::from_head(head, Arc::clone(bytes), places) })
    }

    /// The quick way, for a file as we write it: the head without its history, the lines of that, and the values.
    fn laid_out(bytes: &[u8]) -> Option<(Head, Range<usize>, Places)> {
        let marker = b"\"head\":";
        let line = &bytes[..bytes.iter().position(|byte| *byte == b'\n')?];
        let at = line.windows(marker.len()).position(|window| window == marker)? + marker.len();
        let digits = line[at..].iter().position(|byte| *byte == b',')?;
        let head: usize = std::str::from_utf8(&line[at..at + digits]).ok()?.trim().parse().ok()?;
        let text = bytes.get(..head)?.strip_suffix(b",\n")?;
        let lines = history_lines(text)?;
        let without_history = [&text[..lines.start], &text[lines.end..], b"}"].concat();
        let head_part: Head = serde_json::from_slice(&without_history).ok()?;
        if head_part.version != VERSION {
            return None;
        }

        let region = bytes.get(head..)?.strip_prefix(VALUES_START)?;
        let start = head + VALUES_START.len();
        let mut places = Vec::with_capacity(head_part.value_index.len());
        let (mut end, mut key) = (0_usize, Vec::new());
        for (number, offset, length) in &head_part.value_index {
            write_key(&mut key, *number, end == 0);
            let value = end.checked_add(key.len()).filter(|value| value == offset)?;
            if region.get(end..value)? != key {
                return None;
            }
            end = value.checked_add(*length)?;
            region.get(value..end)?;
            places.push((*number, start + value..start + end));
        }
        (region.get(end..)? == VALUES_END).then_some((head_part, lines, places))
    }

    /// The thorough way: any JSON of the right shape, by whomever it was written.
    fn decode_whole(bytes: &[u8]) -> Result<(Self, bool), Unreadable> {
        let corrupt = Unreadable::Corrupt;
        let Unique(mut whole) =
            serde_json::from_slice(bytes).map_err(|error| corrupt(error.into()))?;
        let upgraded = upgrade::to_current(&mut whole)?;
        let Value::Object(mut object) = whole else {
            return Err(corrupt(Damage::NotAnObject));
        };
        object.remove("value_index");
        let values = match object.remove("values") {
            None => Map::new(),
            Some(Value::Object(values)) => values,
            Some(_) => {
                return Err(corrupt(Damage::WrongType { field: "values", expected: "an object" }));
            }
        };
        let mut file = Vec::new();
        let mut places = Places::new();
        for (number, value) in values {
            let number = number.parse().map_err(|_| corrupt(Damage::ValueName(number)))?;
            let from = file.len();
            serde_json::to_writer(&mut file, &value).map_err(|error| corrupt(error.into()))?;
            places.push((number, from..file.len()));
        }
        let head = serde_json::to_vec(&object)
            .and_then(|bytes| serde_json::from_slice(&bytes))
            .map_err(|error| corrupt(error.into()))?;
        let mut document = Self::from_head(head, Arc::new(file), places);
        if upgraded {
            document.compact_all().map_err(corrupt)?;
        }
        Ok((document, upgraded))
    }

    /// An older version had no values: its state stands there as it is.
    fn compact_all(&mut self) -> Result<(), Damage> {
        for zone in self.script.values_mut().chain([&mut self.shared]) {
            for (name, value) in zone.clone().iter() {
                zone.insert(name, &self.values.compact(&value?));
            }
        }
        let compacted = |raw: &[u8]| {
            let mut entry = StoredEntry::parse(raw)?;
            entry.final_state = self.values.compact(&entry.final_state);
            Ok(entry.json())
        };
        self.history = self.history.iter().map(compacted).collect::<Result<_, Damage>>()?;
        Ok(())
    }

    fn from_head(head: Head, file: Arc<Vec<u8>>, places: Places) -> Self {
        Self {
            id: head.session_id.0,
            created_at: head.created_at,
            updated_at: head.updated_at,
            revision: head.revision,
            origin: head.origin,
            last_used: head.last_used,
            shared: head.shared_state,
            script: head.script_state,
            history: head.history.into(),
            values: Values::in_file(file, places),
            unknown: head.unknown,
        }
    }

    /// The bytes of the file.
    pub(crate) fn encode(&self) -> Pieces {
        let json = |value: &dyn erased::Json| value.json();
        let shared = self.shared.json();
        let script = self.script.iter();
        let script =
            script.map(|(name, zone)| [json(name).as_bytes(), b":", &zone.json()].concat());
        let script = script.collect::<Vec<_>>().join(&b","[..]);
        let unknown = self.unknown.iter();
        let unknown = unknown.map(|(key, value)| format!("{}:{},\n", json(key), json(value)));
        let roots = [shared.as_slice(), &script].into_iter().chain(self.history.bytes());

        let (mut index, mut region) = (Vec::new(), Pieces::default());
        let (mut end, mut key) = (0, Vec::new());
        for number in self.values.reachable(roots) {
            write_key(&mut key, number, end == 0);
            let length = self.values.write(number, &key, &mut region);
            let value = end + key.len();
            index.push((number, value, length));
            end = value + length;
        }

        let first = format!(
            "{{\"version\":{},\"session_id\":{},\"created_at\":{},\"updated_at\":{},\"revision\":{},\
             \"origin\":{},\"last_used\":{},",
            json(&VERSION),
            json(&self.id.as_str()),
            json(&self.created_at),
            json(&self.updated_at),
            self.revision,
            json(&self.origin),
            json(&self.last_used),
        );
        let mut rest = Pieces::default();
        rest.add(b"\n\"shared_state\":");
        rest.add(&shared);
        rest.add(b",\n\"script_state\":{");
        rest.add(&script);
        rest.add(b"},");
        rest.add(HISTORY_START);
        self.history.write(&mut rest);
        rest.add(HISTORY_END);
        rest.add(unknown.collect::<String>().as_bytes());
        rest.add(b"\"value_index\":");
        rest.add(json(&index).as_bytes());
        rest.add(b",\n");
        // Its own length is part of the head, so the numbers have a fixed width.
        let lengths = |head: u64, size: u64| format!("\"head\":{head:12},\"file_size\":{size:12},");
        let head = (first.len() + lengths(0, 0).len()) as u64 + rest.size();
        let size = head + (VALUES_START.len() + VALUES_END.len()) as u64 + region.size();
        let mut document = Pieces::default();
        document.add(first.as_bytes());
        document.add(lengths(head, size).as_bytes());
        document.append(rest);
        document.add(VALUES_START);
        document.append(region);
        document.add(VALUES_END);
        document
    }

    /// Puts references in the place of what is long.
    pub(crate) fn compact(&mut self, value: &Value) -> Value {
        self.values.compact(value)
    }

    /// Puts what is long back in the place of its references.
    pub(crate) fn expand(&self, compact: &Value) -> Result<Value, Damage> {
        self.values.expand(compact)
    }

    /// The whole state, expanded.
    pub(crate) fn state(&mut self) -> Result<Value, Damage> {
        let snapshot = self.snapshot();
        self.expand(&snapshot)
    }

    /// The whole state, as it is stored.
    pub(crate) fn stored_state(&mut self) -> StoredValue {
        let snapshot = self.snapshot();
        StoredValue::new(snapshot, &Arc::new(self.values.clone()))
    }

    /// The whole state, compact: each zone is a value of its own if it is long.
    fn snapshot(&mut self) -> Value {
        let shared = self.values.seal(&self.shared);
        let mut script = Zone::default();
        for (command, zone) in &self.script {
            script.insert(command, &self.values.seal(zone));
        }
        let script = self.values.seal(&script);
        Value::Object(Map::from_iter([
            ("shared".to_owned(), shared),
            ("script".to_owned(), script),
        ]))
    }

    /// Notes who uses the session, and where. How it came about is written down once, and only by
    /// who is in it.
    pub(crate) fn note(&mut self, usage: Option<&Usage>, now: Timestamp) {
        let Some(usage) = usage else { return };
        if self.origin.is_none() && usage.session == self.id {
            self.origin = Some(usage.origin.clone());
        }
        self.last_used = Some(LastUsed { at: Some(now), ..usage.last_used.clone() });
    }
}

/// Where in a head the lines of the history are. No string contains a line feed, so nothing else looks like them.
fn history_lines(head: &[u8]) -> Option<Range<usize>> {
    let start = memmem::find(head, HISTORY_START)? + HISTORY_START.len();
    let end = start + memmem::find(&head[start..], HISTORY_END)?;
    Some(start..end)
}

/// What stands before a value; `key` is room to write it.
fn write_key(key: &mut Vec<u8>, number: u32, is_first: bool) {
    key.clear();
    key.extend_from_slice(if is_first { b"\"" } else { b",\n\"" });
    serde_json::to_writer(&mut *key, &number).expect("memory takes all");
    key.extend_from_slice(b"\":");
}

/// Anything that can be written as JSON, behind one pointer.
mod erased {
    use serde::Serialize;

    pub(super) trait Json {
        fn json(&self) -> String;
    }

    impl<T: Serialize> Json for T {
        fn json(&self) -> String {
            serde_json::to_string(self).expect("text, numbers and maps of them are JSON")
        }
    }
}

#[cfg(test)]
mod tests;
