//! Sessions in memory: for tests, for `--store memory`, and for when no other store can be used.
//!
//! It behaves as files do, so that what works here works there: documents are replaced under a lock
//! of their own, not under that of the whole store, and a process that waits for one gives up in
//! time; a session that is open cannot be removed; archives never replace each other, and the trash
//! is compressed.
//!
//! Clones share what they store. It ends with the last of them.

mod attended;
mod transaction;

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use osm_identity::{Liveness, SessionId};

use super::{
    Agree, ArchiveKind, ArchivedDocument, Attended, Backend, Current, Entry, Guard, Holder,
    HolderState, Listing, Page, Removal, Sharing, Stamp, Stored, Transaction, Wait, Watch,
};
use crate::backend::Clock;
use crate::error::{Damage, Damaged, Error, Result};
use crate::{gzip, layout};
use transaction::MemoryTransaction;

/// A store in memory.
#[derive(Clone, Debug)]
pub struct MemoryBackend {
    shared: Arc<Shared>,
}

struct Shared {
    content: Mutex<Content>,
    /// A lock was released, or a document changed.
    changed: Condvar,
    /// Apart from the rest: a transaction that changes it may archive the old one.
    record: Mutex<Option<Vec<u8>>>,
    clock: Clock,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("content", &self.content).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct Content {
    documents: BTreeMap<SessionId, Document>,
    /// The leases on each session; the number is the fence.
    leases: HashMap<SessionId, Vec<Lease>>,
    /// The holder that changes a session at this moment; a removal has no holder.
    writing: HashMap<SessionId, Option<Holder>>,
    cleaning: bool,
    archives: HashMap<ArchiveKind, BTreeMap<String, Archived>>,
    audit: Vec<String>,
    last_number: u64,
}

#[derive(Debug)]
struct Lease {
    fence: u64,
    /// `None` for a removal, which takes no time.
    holder: Option<Holder>,
    sharing: Sharing,
}

#[derive(Debug)]
struct Document {
    bytes: Vec<u8>,
    revision: u64,
    modified: Timestamp,
}

#[derive(Debug)]
struct Archived {
    bytes: Vec<u8>,
    number: u64,
    modified: Timestamp,
}

impl Document {
    fn stamp(&self) -> Stamp {
        Stamp([self.revision, self.bytes.len() as u64, 0, 0])
    }

    fn entry(&self, id: &SessionId, active: bool) -> Entry {
        let line = self.bytes.split(|byte| *byte == b'\n').next();
        Entry {
            id: id.clone(),
            size: self.bytes.len() as u64,
            modified: self.modified,
            stamp: self.stamp(),
            active,
            summary: line.map(|line| line.to_vec().into()),
        }
    }
}

impl Content {
    fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    fn holders(&self, id: &SessionId) -> Vec<Holder> {
        let leases = self.leases.get(id).into_iter().flatten();
        leases.filter_map(|lease| lease.holder.clone()).collect()
    }

    /// The holders that stand against a new lease; `None` if it can be granted.
    fn against(&self, id: &SessionId, sharing: Sharing) -> Option<Vec<Holder>> {
        let leases = self.leases.get(id)?;
        let is_against = sharing == Sharing::Exclusive || leases[0].sharing == Sharing::Exclusive;
        is_against.then(|| self.holders(id))
    }

    fn grant(&mut self, id: &SessionId, holder: Option<&Holder>, sharing: Sharing) -> u64 {
        let fence = self.number();
        let lease = Lease { fence, holder: holder.cloned(), sharing };
        self.leases.entry(id.clone()).or_default().push(lease);
        fence
    }

    fn holds(&self, id: &SessionId, fence: u64) -> bool {
        self.leases.get(id).is_some_and(|leases| leases.iter().any(|it| it.fence == fence))
    }

    fn end_lease(&mut self, id: &SessionId, fence: u64) {
        if let Some(leases) = self.leases.get_mut(id) {
            leases.retain(|lease| lease.fence != fence);
            if leases.is_empty() {
                self.leases.remove(id);
            }
        }
    }

    fn stamp(&self, id: &SessionId) -> Option<Stamp> {
        self.documents.get(id).map(Document::stamp)
    }

    fn look(&self, id: &SessionId, known: Option<Stamp>) -> Current {
        match self.documents.get(id) {
            None => Current::Missing,
            Some(document) if known == Some(document.stamp()) => Current::Unchanged,
            Some(document) => Current::Found(document.bytes.clone(), document.stamp()),
        }
    }

    fn archive(
        &mut self,
        kind: ArchiveKind,
        stem: &str,
        document: &[u8],
        modified: Timestamp,
    ) -> Result<String> {
        let bytes =
            if layout::is_compressed(kind) { gzip::pack(document) } else { document.to_vec() };
        let archived = Archived { bytes, number: self.number(), modified };
        let others = self.archives.entry(kind).or_default();
        let mut names = layout::archive_names(kind, stem)?;
        let Some(name) = names.find(|name| !others.contains_key(name)) else {
            return Err(Error::NoFreeName(stem.to_owned()));
        };
        others.insert(name.clone(), archived);
        Ok(name)
    }
}

impl Shared {
    fn content(&self) -> MutexGuard<'_, Content> {
        // A thread that panicked did so between changes: each of them is one statement.
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `refused` says that nothing stands in the way any more.
    fn wait_until_free(
        &self,
        id: &SessionId,
        patience: Duration,
        refused: impl Fn(&Content) -> Option<Vec<Holder>>,
    ) -> Result<MutexGuard<'_, Content>> {
        let began = Instant::now();
        let mut content = self.content();
        while let Some(holders) = refused(&content) {
            let left = patience.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Err(Error::Busy { id: id.clone(), holders });
            }
            let woken = self.changed.wait_timeout(content, left);
            content = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(content)
    }

    /// Takes the write lock of a session.
    fn write(
        &self,
        id: &SessionId,
        holder: Option<&Holder>,
        patience: Duration,
    ) -> Result<Writing<'_>> {
        let mut content = self.wait_until_free(id, patience, |content| {
            content.writing.get(id).map(|holder| holder.iter().cloned().collect())
        })?;
        content.writing.insert(id.clone(), holder.cloned());
        Ok(Writing { shared: self, id: id.clone() })
    }

    fn remove_session(&self, id: &SessionId, removal: &Removal<'_>) -> Result<()> {
        let missing = || Error::NotFound(id.clone());
        let fence = {
            let mut content = self.content();
            content.stamp(id).ok_or_else(missing)?;
            if let Some(holders) = content.against(id, Sharing::Exclusive) {
                return Err(Error::Busy { id: id.clone(), holders });
            }
            content.grant(id, None, Sharing::Exclusive)
        };
        let removed = self.write(id, None, Duration::ZERO).and_then(|_writing| {
            let mut content = self.content();
            let stamp = content.stamp(id).ok_or_else(missing)?;
            if removal.expected.is_some_and(|expected| expected != stamp) {
                return Err(Error::Changed(id.clone()));
            }
            if removal.keep {
                let bytes = content.documents.get(id).ok_or_else(missing)?.bytes.clone();
                let now = (self.clock)();
                let stem = layout::stem(id, "trash", now);
                content.archive(ArchiveKind::Trash, &stem, &bytes, now)?;
            }
            content.documents.remove(id);
            Ok(())
        });
        self.content().end_lease(id, fence);
        self.changed.notify_all();
        removed
    }

    fn remove_archived(&self, kind: ArchiveKind, name: &str) -> Result<()> {
        layout::check_archive_name(kind, name)?;
        let removed = self.content().archives.get_mut(&kind).and_then(|them| them.remove(name));
        removed.map(drop).ok_or_else(|| Error::ArchiveNotFound(name.to_owned()))
    }
}

impl MemoryBackend {
    /// An empty store with this clock.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        let shared = Shared {
            content: Mutex::default(),
            changed: Condvar::new(),
            record: Mutex::default(),
            clock,
        };
        Self { shared: Arc::new(shared) }
    }

    /// The lines of the audit log.
    #[must_use]
    pub fn audit_lines(&self) -> Vec<String> {
        self.shared.content().audit.clone()
    }

    /// Ends every lease on a session, as a server does when they run out: the next write of each
    /// holder fails.
    pub fn end_leases(&self, id: &SessionId) {
        self.shared.content().leases.remove(id);
        self.shared.changed.notify_all();
    }
}

/// The write lock of a session.
struct Writing<'a> {
    shared: &'a Shared,
    id: SessionId,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.shared.content().writing.remove(&self.id);
        self.shared.changed.notify_all();
    }
}

struct Cleaning(Arc<Shared>);

impl Guard for Cleaning {}

impl Drop for Cleaning {
    fn drop(&mut self) {
        self.0.content().cleaning = false;
    }
}

struct MemoryWatch {
    shared: Arc<Shared>,
    id: SessionId,
    seen: Option<Stamp>,
}

impl Watch for MemoryWatch {
    fn changed(&mut self, wait: Wait) -> Result<bool> {
        let began = Instant::now();
        let mut content = self.shared.content();
        while content.stamp(&self.id) == self.seen {
            let left = wait.0.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            let woken = self.shared.changed.wait_timeout(content, left);
            content = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        self.seen = content.stamp(&self.id);
        Ok(true)
    }
}

impl Backend for MemoryBackend {
    fn now(&self) -> Result<Timestamp> {
        Ok((self.shared.clock)())
    }

    fn attend(
        &self,
        id: &SessionId,
        holder: &Holder,
        sharing: Sharing,
        wait: Wait,
    ) -> Result<Box<dyn Attended>> {
        Ok(Box::new(attended::MemorySession::attend(&self.shared, id, holder, sharing, wait)?))
    }

    /// Every holder here is this very process.
    fn evict_dead(&self, id: &SessionId, _: &Holder, _: &mut Agree<'_>) -> Result<bool> {
        let content = self.shared.content();
        let writing = content.writing.get(id).cloned().flatten();
        let holders = content.holders(id).into_iter().chain(writing);
        let holders_seen: Vec<_> =
            holders.map(|holder| HolderState { holder, liveness: Liveness::Alive }).collect();
        if holders_seen.is_empty() {
            return Ok(false);
        }
        Err(Error::Unproven { id: id.clone(), holders_seen, lock: None })
    }

    fn load(&self, what: Stored<'_>, known: Option<Stamp>) -> Result<Current> {
        let (kind, name) = match what {
            Stored::Session(id) => return Ok(self.shared.content().look(id, known)),
            Stored::Record => {
                let found = self.shared.record().clone();
                return Ok(found.map_or(Current::Missing, |it| Current::Found(it, Stamp([0; 4]))));
            }
            Stored::Archived(kind, name) => (kind, name),
        };
        let content = self.shared.content();
        let archived = content.archives.get(&kind).and_then(|them| them.get(name));
        let Some(Archived { bytes, number, .. }) = archived else {
            return Ok(Current::Missing);
        };
        let bytes = if layout::is_compressed(kind) {
            gzip::unpack(bytes, layout::LARGEST_DOCUMENT).map_err(|error| Error::Corrupt {
                what: Damaged::Archive,
                place: name.to_owned(),
                reason: Damage::Compression(error.to_string()),
            })?
        } else {
            bytes.clone()
        };
        Ok(Current::Found(bytes, Stamp([*number, 0, 0, 0])))
    }

    fn list(&self, page: &Page) -> Result<Listing<Entry>> {
        let content = self.shared.content();
        let entries = content
            .documents
            .iter()
            .map(|(id, document)| document.entry(id, content.leases.contains_key(id)));
        Ok(Listing::part(entries.collect(), page, |entry| entry.id.as_str().to_owned()))
    }

    fn archived(&self, kind: ArchiveKind, page: &Page) -> Result<Listing<ArchivedDocument>> {
        let content = self.shared.content();
        let mut all: Vec<_> = content.archives.get(&kind).into_iter().flatten().collect();
        all.sort_unstable_by_key(|(_, archived)| archived.number);
        let part = Listing::part(all, page, |(_, archived)| format!("{:020}", archived.number));
        let document = |(name, archived): (&String, &Archived)| ArchivedDocument {
            name: name.clone(),
            id: layout::archived_id(kind, name),
            size: archived.bytes.len() as u64,
            modified: archived.modified,
        };
        Ok(Listing { items: part.items.into_iter().map(document).collect(), next: part.next })
    }

    fn holders(&self, id: &SessionId) -> Result<Vec<Holder>> {
        Ok(self.shared.content().holders(id))
    }

    fn remove(
        &self,
        batch: &[Removal<'_>],
        done: &mut dyn FnMut(usize, Result<()>) -> ControlFlow<()>,
    ) {
        for (number, removal) in batch.iter().enumerate() {
            let result = match removal.what {
                Stored::Session(id) => self.shared.remove_session(id, removal),
                Stored::Archived(kind, name) => self.shared.remove_archived(kind, name),
                Stored::Record => Ok(()),
            };
            if done(number, result).is_break() {
                return;
            }
        }
    }

    fn transact(
        &self,
        _holder: &Holder,
        _wait: Wait,
        body: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        let mut transaction = MemoryTransaction::new(&self.shared);
        body(&mut transaction)?;
        transaction.commit();
        Ok(())
    }

    fn lock_cleanup(&self, _holder: &Holder) -> Result<Option<Box<dyn Guard>>> {
        let mut content = self.shared.content();
        if std::mem::replace(&mut content.cleaning, true) {
            return Ok(None);
        }
        Ok(Some(Box::new(Cleaning(Arc::clone(&self.shared)))))
    }

    fn watch(&self, id: &SessionId) -> Result<Box<dyn Watch>> {
        let seen = self.shared.content().stamp(id);
        Ok(Box::new(MemoryWatch { shared: Arc::clone(&self.shared), id: id.clone(), seen }))
    }
}
