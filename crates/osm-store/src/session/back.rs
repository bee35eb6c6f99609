//! Undoing: unsaved changes, and going back to the state after an earlier command.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::Session;
use crate::document::HistoryEntry;
use crate::error::{Error, Result};
use crate::key::Key;

impl Session {
    /// Whether something is changed that no save was tried for.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        self.edits != self.waiting
    }

    /// Drops what was changed since a save was last tried, and returns which keys that were. What that
    /// save could not write is not dropped: it was done, and is still to be saved.
    pub fn discard(&mut self) -> Vec<Key> {
        let dropped = std::mem::replace(&mut self.edits, self.waiting.clone());
        let keys: BTreeSet<&Key> = dropped.keys().chain(self.waiting.keys()).collect();
        let changed = keys.into_iter().filter(|key| dropped.get(*key) != self.waiting.get(*key));
        changed.cloned().collect()
    }

    /// Goes back to the state after a command, in memory: every key is as it was then, and those
    /// that were not there are removed. Returns which keys changed.
    pub fn go_back(&mut self, entry: &HistoryEntry) -> Result<Vec<Key>> {
        let state = entry.final_state.value().map_err(|reason| self.corrupt(reason))?;
        let then =
            keys_of(&state).ok_or_else(|| Error::NoState { command: entry.command.clone() })?;
        self.become_as(then)
    }

    /// Removes every key, in memory, and returns which keys that were.
    pub fn remove_all(&mut self) -> Result<Vec<Key>> {
        self.become_as(BTreeMap::new())
    }

    fn become_as(&mut self, then: BTreeMap<Key, Value>) -> Result<Vec<Key>> {
        let now = keys_of(&self.state()?).unwrap_or_default();
        let mut changed = Vec::new();
        for key in now.keys().filter(|key| !then.contains_key(*key)) {
            self.remove(key.clone())?;
            changed.push(key.clone());
        }
        for (key, value) in then {
            if now.get(&key) != Some(&value) {
                self.set(key.clone(), value)?;
                changed.push(key);
            }
        }
        Ok(changed)
    }
}

/// The keys of a whole state and their values; `None` if it is no state.
fn keys_of(state: &Value) -> Option<BTreeMap<Key, Value>> {
    let empty = Map::new();
    let zone = |name: &str| match &state[name] {
        Value::Null => Some(&empty),
        zone => zone.as_object(),
    };
    let shared = zone("shared")?.iter();
    let mut keys: BTreeMap<Key, Value> =
        shared.map(|(name, value)| (Key::Shared(name.clone()), value.clone())).collect();
    for (command, zone) in zone("script")? {
        for (name, value) in zone.as_object()? {
            let key = Key::Script { command: command.clone(), name: name.clone() };
            keys.insert(key, value.clone());
        }
    }
    state.is_object().then_some(keys)
}
