//! What goes with a change of a store in memory: stored at once, as files do it.

use std::sync::MutexGuard;

use jiff::Timestamp;

use super::Shared;
use crate::audit::Event;
use crate::backend::{ArchiveKind, Transaction};
use crate::error::Result;

pub(super) struct MemoryTransaction<'a> {
    shared: &'a Shared,
    record: Option<MutexGuard<'a, Option<Vec<u8>>>>,
    next: Option<Vec<u8>>,
}

impl<'a> MemoryTransaction<'a> {
    pub(super) fn new(shared: &'a Shared) -> Self {
        Self { shared, record: None, next: None }
    }

    /// Stores the record.
    pub(super) fn commit(self) {
        if let (Some(mut record), Some(next)) = (self.record, self.next) {
            *record = Some(next);
        }
    }
}

impl Transaction for MemoryTransaction<'_> {
    fn now(&self) -> Timestamp {
        (self.shared.clock)()
    }

    fn archive(&mut self, kind: ArchiveKind, stem: &str, document: &[u8]) -> Result<String> {
        let now = self.now();
        self.shared.content().archive(kind, stem, document, now)
    }

    fn audit(&mut self, event: &Event) -> Result<()> {
        self.shared.content().audit.push(event.to_string());
        Ok(())
    }

    fn record(&mut self) -> Result<Option<Vec<u8>>> {
        let shared = self.shared;
        let record = self.record.get_or_insert_with(|| shared.record());
        Ok(self.next.as_ref().or(record.as_ref()).cloned())
    }

    fn set_record(&mut self, next: Vec<u8>) -> Result<()> {
        let shared = self.shared;
        self.record.get_or_insert_with(|| shared.record());
        self.next = Some(next);
        Ok(())
    }
}
