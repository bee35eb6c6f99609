//! The history of a document: the last commands, each with its number, its author and the state
//! after it.
//!
//! A number stays with its command when older ones are forgotten, so `osm session diff @7` means the
//! same tomorrow.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Document, Usage};
use crate::author::Author;
use crate::backend::Holder;
use crate::error::Damage;
use crate::stored_value::StoredValue;

/// How many commands are remembered, unless a setting says otherwise.
pub const MOST_HISTORY: usize = 200;

/// Fields that older versions do not know, and keep.
const LAST_RESET: &str = "last_reset";
const IMPORTED_HISTORY: &str = "imported_history";
const JOURNALS: &str = "journals";

/// How many replayed journals are remembered. One is forgotten long after its file was removed.
const MOST_JOURNALS: usize = 100;

/// The process that writes a document, as its history has it.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pub(crate) author: Author,
    history_length: usize,
}

impl Writer {
    pub(crate) fn new(holder: &Holder, usage: Option<&Usage>) -> Self {
        let history_length = usage.map_or(MOST_HISTORY, |usage| usage.history_length);
        Self { author: Author::new(holder, usage), history_length }
    }
}

/// The last reset of a session, for other processes that have it open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct LastReset {
    pub(crate) at: Timestamp,
    pub(crate) archive: Option<String>,
    pub(crate) by: Author,
}

/// One command and the state after it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// Its number, which it keeps when older commands are forgotten.
    pub number: u64,
    /// Its name within the session.
    pub entry_id: String,
    /// The mode in which it ran.
    pub mode_id: String,
    /// What was typed.
    pub command: String,
    /// When.
    pub timestamp: Timestamp,
    /// Who ran it, if that is known.
    pub by: Option<Author>,
    /// The whole state after it: `{"shared": …, "script": …}`.
    pub final_state: StoredValue,
}

/// A history entry in the file; its state is compact.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredEntry {
    entry_id: String,
    mode_id: String,
    command: String,
    timestamp: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    number: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<Value>,
    #[serde(rename = "finalState")]
    pub(super) final_state: Value,
    #[serde(flatten)]
    unknown: Map<String, Value>,
}

impl StoredEntry {
    pub(super) fn parse(raw: &[u8]) -> Result<Self, Damage> {
        serde_json::from_slice(raw).map_err(|error| Damage::History(error.to_string()))
    }

    pub(super) fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a history entry is JSON")
    }
}

/// The part of a history entry that is needed to count them.
#[derive(Deserialize)]
struct Numbered {
    #[serde(default)]
    number: Option<Value>,
}

impl Document {
    /// Remembers a command and the state after it.
    pub(crate) fn remember(&mut self, mode: &str, command: &str, now: Timestamp, by: &Writer) {
        let last = self.history.last().and_then(|entry| StoredEntry::parse(entry).ok());
        let number = last.as_ref().and_then(|entry| entry.number.as_ref()?.as_u64());
        let number = number.or_else(|| self.numbers().last()).unwrap_or(0).saturating_add(1);
        let last = last.and_then(|entry| entry.entry_id.parse::<i128>().ok());
        // Unix nanoseconds, and growing even if the clock goes backwards.
        let id = now.as_nanosecond().max(last.map_or(i128::MIN, |last| last + 1));
        let entry = StoredEntry {
            entry_id: id.to_string(),
            mode_id: mode.to_owned(),
            command: command.to_owned(),
            timestamp: now,
            number: Some(number.into()),
            by: serde_json::to_value(&by.author).ok(),
            final_state: self.snapshot(),
            unknown: Map::new(),
        };
        self.history.push(entry.json());
        self.write_numbers();
        let most = match by.history_length {
            0 => usize::MAX,
            most => most.max(self.imported_history()),
        };
        let surplus = self.history.len().saturating_sub(most);
        self.history.forget(surplus);
    }

    /// Keeps a history that is longer than the setting, because it was imported.
    pub(crate) fn keep_whole_history(&mut self) {
        // The import is a command, too.
        let entries = self.history.len() + 1;
        self.unknown.insert(IMPORTED_HISTORY.to_owned(), entries.into());
    }

    fn imported_history(&self) -> usize {
        let kept = self.unknown.get(IMPORTED_HISTORY).and_then(Value::as_u64);
        kept.and_then(|kept| usize::try_from(kept).ok()).unwrap_or(0)
    }

    /// Whether the changes of a journal are in the document.
    pub(crate) fn has_journal(&self, name: &str) -> bool {
        let journals = self.unknown.get(JOURNALS).and_then(Value::as_array);
        journals.into_iter().flatten().any(|journal| journal == name)
    }

    /// Notes that the changes of a journal are in the document.
    pub(crate) fn note_journal(&mut self, name: &str) {
        let journals = self.unknown.get(JOURNALS).and_then(Value::as_array);
        let mut journals = journals.cloned().unwrap_or_default();
        journals.push(name.into());
        journals.drain(..journals.len().saturating_sub(MOST_JOURNALS));
        self.unknown.insert(JOURNALS.to_owned(), journals.into());
    }

    /// The last reset; what another tool wrote there counts for nothing.
    pub(crate) fn last_reset(&self) -> Option<LastReset> {
        LastReset::deserialize(self.unknown.get(LAST_RESET)?).ok()
    }

    pub(crate) fn note_reset(&mut self, reset: &LastReset) {
        let value = serde_json::to_value(reset).unwrap_or_default();
        self.unknown.insert(LAST_RESET.to_owned(), value);
    }

    /// The numbers of the commands. Older versions wrote none: they count from the one before, or
    /// from 1.
    fn numbers(&self) -> impl Iterator<Item = u64> {
        let mut last = None;
        self.history.iter().map(move |raw| {
            let entry: Option<Numbered> = serde_json::from_slice(raw).ok();
            let number = entry.and_then(|it| it.number).as_ref().and_then(Value::as_u64);
            // A number that does not grow would name two commands.
            let number = number.filter(|it| last.is_none_or(|last| *it > last));
            let next = number.unwrap_or_else(|| last.unwrap_or(0_u64).saturating_add(1));
            last = Some(next);
            next
        })
    }

    /// Gives commands that an older version wrote their numbers, before the first are forgotten.
    fn write_numbers(&mut self) {
        let is_numbered = |raw: &[u8]| {
            let entry: Option<Numbered> = serde_json::from_slice(raw).ok();
            entry.is_none_or(|entry| entry.number.is_some())
        };
        if self.history.first().is_none_or(is_numbered) {
            return;
        }
        let numbered = |(raw, number): (&[u8], u64)| match StoredEntry::parse(raw) {
            Ok(entry) => StoredEntry { number: Some(number.into()), ..entry }.json(),
            Err(_) => raw.to_vec(),
        };
        self.history = self.history.iter().zip(self.numbers()).map(numbered).collect();
    }

    /// The commands that are remembered, oldest first.
    pub(crate) fn history(&self) -> Result<Vec<HistoryEntry>, Damage> {
        let values = Arc::new(self.values.clone());
        let entry = |raw: &[u8], number: u64| {
            let stored = StoredEntry::parse(raw)?;
            Ok(HistoryEntry {
                number,
                final_state: StoredValue::new(stored.final_state, &values),
                entry_id: stored.entry_id,
                mode_id: stored.mode_id,
                command: stored.command,
                timestamp: stored.timestamp,
                by: Author::read(stored.by.as_ref()),
            })
        };
        self.history.iter().zip(self.numbers()).map(|(raw, number)| entry(raw, number)).collect()
    }

    /// Whether the last command's state is the current one.
    pub(crate) fn is_remembered(&mut self) -> bool {
        let snapshot = self.snapshot();
        let last = self.history.last().and_then(|entry| StoredEntry::parse(entry).ok());
        last.is_some_and(|entry| entry.final_state == snapshot)
    }
}
