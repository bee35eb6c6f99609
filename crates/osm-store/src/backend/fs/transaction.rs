//! What goes with a change of a store in files.
//!
//! Files have no rollback. So archived copies and audit events are written at once, before the
//! change that they belong to: a crash leaves a copy too many, never one too few. The shared record
//! is locked when it is first read and replaced at the end. Locks are always taken in the order of
//! `lock.rs`, in which the record's is the last.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::FileStore;
use crate::audit::Event;
use crate::backend::{ArchiveKind, Holder, Transaction, Wait};
use crate::error::Result;
use crate::fs::folder::Folder;
use crate::fs::lock::{FileLock, GRACE};
use crate::fs::{archive, atomic, audit, holder_list};
use crate::layout;

pub(super) struct FileTransaction<'a> {
    store: &'a FileStore,
    holder: &'a Holder,
    patience: Duration,
    record: Option<Record>,
}

/// The shared record, locked.
struct Record {
    folder: Arc<Folder>,
    _lock: FileLock,
    next: Option<Vec<u8>>,
}

impl<'a> FileTransaction<'a> {
    pub(super) fn new(store: &'a FileStore, holder: &'a Holder, wait: Wait) -> Self {
        Self { store, holder, patience: wait.0.max(GRACE), record: None }
    }

    fn locked_record(&mut self) -> Result<&mut Record> {
        if self.record.is_none() {
            let (folder, lock) = (self.store.root.made()?, layout::METADATA_LOCK);
            let held = holder_list::hold_alone(&folder, lock, self.holder, self.patience)?;
            let held =
                held.ok_or_else(|| folder.error("lock", lock, ErrorKind::TimedOut.into()))?;
            self.record = Some(Record { folder, _lock: held, next: None });
        }
        Ok(self.record.as_mut().expect("it was just locked"))
    }

    /// Stores the record.
    pub(super) fn commit(self) -> Result<()> {
        match self.record {
            Some(Record { folder, next: Some(next), .. }) => {
                let space = &self.store.pid_space;
                atomic::replace(&folder, space, layout::METADATA, &next.into(), None)
            }
            _ => Ok(()),
        }
    }
}

impl Transaction for FileTransaction<'_> {
    fn now(&self) -> Timestamp {
        (self.store.clock)()
    }

    fn archive(&mut self, kind: ArchiveKind, stem: &str, document: &[u8]) -> Result<String> {
        let folder = self.store.archive(kind).made()?;
        archive::add(&folder, &self.store.pid_space, kind, stem, document)
    }

    fn audit(&mut self, event: &Event) -> Result<()> {
        audit::append(&self.store.root.made()?, event)
    }

    fn record(&mut self) -> Result<Option<Vec<u8>>> {
        let record = self.locked_record()?;
        if let Some(next) = &record.next {
            return Ok(Some(next.clone()));
        }
        Ok(record.folder.read(layout::METADATA)?.map(|(bytes, _)| bytes))
    }

    fn set_record(&mut self, next: Vec<u8>) -> Result<()> {
        self.locked_record()?.next = Some(next);
        Ok(())
    }
}
