//! The ways back: from what was changed and not saved, and to the state after an earlier command.

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

    /// Drops what was changed since a save was last tried. What that save could not write is not
    /// dropped: it was done, and is still to be saved.
    pub fn discard(&mut self) {
        self.edits.clone_from(&self.waiting);
    }

    /// Goes back to the state after a command, in memory: every key is as it was then, and those
    /// that were not there are removed.
    pub fn go_back(&mut self, entry: &HistoryEntry) -> Result<()> {
        let then = keys_of(&entry.final_state).ok_or_else(|| {
            Error::Invalid(format!("the state after `{}` is not kept", entry.command))
        })?;
        self.remove_all()?;
        for (key, value) in then {
            self.set(key, value)?;
        }
        Ok(())
    }

    /// Removes every key, in memory.
    pub fn remove_all(&mut self) -> Result<()> {
        for (key, _) in keys_of(&self.state()?).unwrap_or_default() {
            self.remove(key)?;
        }
        Ok(())
    }
}

/// The keys of a whole state and their values; `None` if it is no state.
fn keys_of(state: &Value) -> Option<Vec<(Key, Value)>> {
    let empty = Map::new();
    let zone = |name: &str| match &state[name] {
        Value::Null => Some(&empty),
        zone => zone.as_object(),
    };
    let shared = zone("shared")?.iter();
    let mut keys: Vec<(Key, Value)> =
        shared.map(|(name, value)| (Key::Shared(name.clone()), value.clone())).collect();
    for (command, zone) in zone("script")? {
        for (name, value) in zone.as_object()? {
            let key = Key::Script { command: command.clone(), name: name.clone() };
            keys.push((key, value.clone()));
        }
    }
    state.is_object().then_some(keys)
}
