//! Numbers that are given once.
//!
//! A command announces the number of what it adds before it is saved, and another process may add
//! something at the same time. So numbers are reserved first, in one step that all processes share.
//! A number whose command fails is lost, and never given again.

use serde_json::Value;

use super::away::is_away;
use super::save::Reader;
use super::{Session, put, stored, within_limits};
use crate::backend::{Current, Next, Transaction, Wait, update_settled};
use crate::document::Document;
use crate::error::Result;
use crate::key::Key;

/// A higher number is not one that was reserved here: another tool stored it.
const HIGHEST: u64 = 1 << 31;

impl Session {
    /// Reserves `count` numbers, above `floor` and above all that were reserved before, and returns
    /// the highest of them. The key keeps it: stored at once, and no part of the command.
    ///
    /// While the store is away, a session with a journal gives numbers that no other process knows of.
    pub fn reserve(&mut self, key: &Key, floor: u64, count: u64) -> Result<u64> {
        if self.is_away() {
            return self.reserve_here(key, floor, count);
        }
        match self.reserve_stored(key, floor, count) {
            Err(error) if self.has_journals() && is_away(&error) => {
                self.reserve_here(key, floor, count)
            }
            reserved => reserved,
        }
    }

    fn reserve_stored(&mut self, key: &Key, floor: u64, count: u64) -> Result<u64> {
        self.settle()?;
        let reader = Reader { backend: self.backend.as_ref(), id: &self.id, holder: &self.holder };
        let ours = &self.document;
        let (mut highest, mut seen) = (0, None);
        let mut notices = Vec::new();
        let mut next = |transaction: &mut dyn Transaction, current: Current| {
            let now = transaction.now();
            notices.clear();
            let is_ours = matches!(current, Current::Unchanged);
            let mut document = match current {
                Current::Unchanged => ours.clone(),
                Current::Missing => Document::new(reader.id.clone(), now),
                Current::Found(bytes, _) => reader.read(bytes, transaction, &mut notices)?,
            };
            let given = stored(&document, key).map_err(|reason| reader.corrupt(reason))?;
            let given = given.as_ref().and_then(Value::as_u64).filter(|number| *number <= HIGHEST);
            highest = given.unwrap_or(0).max(floor).saturating_add(count);
            put(&mut document, key, Some(&highest.into()));
            document.revision += 1;
            document.updated_at = now.max(document.updated_at);
            let pieces = within_limits(reader.backend, reader.id, document.encode())?;
            seen = is_ours.then_some(document);
            Ok(Next::Replace(pieces))
        };
        let stamp = update_settled(self.attended.as_mut(), self.stamp, Wait::USUAL, &mut next)?;
        // What others changed is seen by the next command, not in the middle of this one.
        if let Some(document) = seen {
            self.document = document;
            self.stamp = stamp;
        }
        self.notices.extend(notices);
        Ok(highest)
    }
}
