//! A look at all of a document. Opening one parses only what it needs, so damage inside a value is met
//! when that value is read; a check finds it before.

use std::sync::Arc;

use serde_json::Value;

use super::history::StoredEntry;
use super::{Document, Unreadable};
use crate::error::Damage;

impl Document {
    /// Reads every part of a document; the error is the first part that is damaged.
    pub(crate) fn check(bytes: impl Into<Arc<Vec<u8>>>) -> Result<(), Unreadable> {
        let (document, _) = Self::decode(bytes)?;
        document.check_parts().map_err(Unreadable::Corrupt)
    }

    fn check_parts(&self) -> Result<(), Damage> {
        for zone in self.script.values().chain([&self.shared]) {
            for (_, value) in zone.iter() {
                self.expand(&value?)?;
            }
        }
        for entry in self.history.iter() {
            StoredEntry::parse(entry)?;
        }
        // The states of the history share their values: each is looked at once.
        for (number, raw) in self.values.iter() {
            serde_json::from_slice::<Value>(raw)
                .map_err(|error| Damage::Value { number, message: error.to_string() })?;
        }
        Ok(())
    }
}
