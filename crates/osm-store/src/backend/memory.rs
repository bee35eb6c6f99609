//! Sessions in memory: for tests, for `--store memory`, and for when no other store can be opened.
//!
//! It behaves as files do, so that what works here works there: documents are replaced under a lock
//! of their own, not under that of the whole store, and who waits for one gives up in time; what is
//! attended cannot be removed; shelves never replace anything, and the trash is packed.
//!
//! Clones share what they keep. It ends with the last of them.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use osm_identity::{Liveness, SessionId};

use super::{Backend, Current, Entry, Holder, Presence, Shelf, Shelved, Stamp, Wait, Witness};
use crate::error::{Damaged, Error, Result};
use crate::pieces::Pieces;
use crate::{gzip, layout};

/// A store in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryBackend {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    kept: Mutex<Kept>,
    /// A write lock was released, or a session that somebody had alone.
    released: Condvar,
    /// Apart from the rest: whoever changes it may set the old one aside.
    metadata: Mutex<Option<Vec<u8>>>,
}

#[derive(Debug, Default)]
struct Kept {
    documents: BTreeMap<SessionId, Document>,
    /// Who has a session open; the number tells equal holders apart.
    attending: HashMap<SessionId, Vec<(u64, Holder)>>,
    /// Who has a session alone; whoever removes it gives no name.
    seized: HashMap<SessionId, Option<Holder>>,
    /// Who changes a session at this moment.
    changing: HashMap<SessionId, Option<Holder>>,
    cleaning: bool,
    shelves: HashMap<Shelf, BTreeMap<String, Put>>,
    audit: Vec<String>,
    last_number: u64,
}

#[derive(Debug)]
struct Document {
    bytes: Vec<u8>,
    revision: u64,
    modified: Timestamp,
}

#[derive(Debug)]
struct Put {
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

impl Kept {
    fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    fn is_attended(&self, id: &SessionId) -> bool {
        self.attending.contains_key(id) || self.seized.contains_key(id)
    }

    fn holders(&self, id: &SessionId) -> Vec<Holder> {
        let attending = self.attending.get(id).into_iter().flatten().map(|(_, holder)| holder);
        attending.chain(self.seized.get(id).into_iter().flatten()).cloned().collect()
    }

    fn look(&self, id: &SessionId, known: Option<Stamp>) -> Current {
        match self.documents.get(id) {
            None => Current::Missing,
            Some(document) if known == Some(document.stamp()) => Current::Unchanged,
            Some(document) => Current::Found(document.bytes.clone(), document.stamp()),
        }
    }

    fn put(&mut self, shelf: Shelf, stem: &str, document: &[u8]) -> Result<String> {
        let put = Put {
            bytes: if layout::is_compressed(shelf) {
                gzip::pack(document)
            } else {
                document.to_vec()
            },
            number: self.number(),
            modified: clock(),
        };
        let shelf_now = self.shelves.entry(shelf).or_default();
        let mut names = layout::shelf_names(shelf, stem)?;
        let Some(name) = names.find(|name| !shelf_now.contains_key(name)) else {
            return Err(Error::Invalid(format!("there is no free name for {stem}")));
        };
        shelf_now.insert(name.clone(), put);
        Ok(name)
    }
}

impl Shared {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Whoever panicked did so between changes: each of them is one statement.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn metadata(&self) -> MutexGuard<'_, Option<Vec<u8>>> {
        self.metadata.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl MemoryBackend {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What was appended to the audit.
    #[must_use]
    pub fn audit(&self) -> Vec<String> {
        self.shared.kept().audit.clone()
    }

    /// Waits until nobody is in the way any more.
    fn wait(
        &self,
        id: &SessionId,
        patience: Duration,
        in_the_way: impl Fn(&Kept) -> Option<Option<Holder>>,
    ) -> Result<MutexGuard<'_, Kept>> {
        let began = Instant::now();
        let mut kept = self.shared.kept();
        while let Some(other) = in_the_way(&kept) {
            let left = patience.saturating_sub(began.elapsed());
            if left.is_zero() {
                let holders = other.into_iter().collect();
                return Err(Error::Busy { id: id.clone(), holders });
            }
            let woken = self.shared.released.wait_timeout(kept, left);
            kept = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        Ok(kept)
    }

    /// Takes the write lock of a session.
    fn change(
        &self,
        id: &SessionId,
        holder: Option<&Holder>,
        patience: Duration,
    ) -> Result<Changing<'_>> {
        let mut kept = self.wait(id, patience, |kept| kept.changing.get(id).cloned())?;
        kept.changing.insert(id.clone(), holder.cloned());
        Ok(Changing { shared: &self.shared, id: id.clone() })
    }

    /// Has a session alone.
    fn alone(&self, id: &SessionId, holder: Option<&Holder>) -> Result<Seized> {
        let mut kept = self.shared.kept();
        if kept.is_attended(id) {
            return Err(Error::Busy { id: id.clone(), holders: kept.holders(id) });
        }
        kept.seized.insert(id.clone(), holder.cloned());
        Ok(Seized { shared: Arc::clone(&self.shared), id: id.clone() })
    }
}

/// The write lock of a session.
struct Changing<'a> {
    shared: &'a Shared,
    id: SessionId,
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        self.shared.kept().changing.remove(&self.id);
        self.shared.released.notify_all();
    }
}

struct Attending {
    shared: Arc<Shared>,
    id: SessionId,
    number: u64,
}

impl Presence for Attending {}

impl Drop for Attending {
    fn drop(&mut self) {
        let mut kept = self.shared.kept();
        if let Some(attending) = kept.attending.get_mut(&self.id) {
            attending.retain(|(number, _)| *number != self.number);
            if attending.is_empty() {
                kept.attending.remove(&self.id);
            }
        }
    }
}

/// A session that somebody has alone.
struct Seized {
    shared: Arc<Shared>,
    id: SessionId,
}

impl Presence for Seized {}

impl Drop for Seized {
    fn drop(&mut self) {
        self.shared.kept().seized.remove(&self.id);
        self.shared.released.notify_all();
    }
}

struct Cleaning(Arc<Shared>);

impl Presence for Cleaning {}

impl Drop for Cleaning {
    fn drop(&mut self) {
        self.0.kept().cleaning = false;
    }
}

impl Backend for MemoryBackend {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn attend(&self, id: &SessionId, holder: &Holder, wait: Wait) -> Result<Box<dyn Presence>> {
        let mut kept = self.wait(id, wait.0, |kept| kept.seized.get(id).cloned())?;
        let number = kept.number();
        kept.attending.entry(id.clone()).or_default().push((number, holder.clone()));
        Ok(Box::new(Attending { shared: Arc::clone(&self.shared), id: id.clone(), number }))
    }

    fn seize(&self, id: &SessionId, holder: &Holder) -> Result<Box<dyn Presence>> {
        Ok(Box::new(self.alone(id, Some(holder))?))
    }

    /// Whoever holds something here is this very process.
    fn evict_dead(
        &self,
        id: &SessionId,
        _agree: &mut dyn FnMut(&[Witness]) -> Result<()>,
    ) -> Result<bool> {
        let kept = self.shared.kept();
        let changing = kept.changing.get(id).cloned().flatten();
        let holders = kept.holders(id).into_iter().chain(changing);
        let witnesses: Vec<_> =
            holders.map(|holder| Witness { holder, liveness: Liveness::Alive }).collect();
        if witnesses.is_empty() {
            return Ok(false);
        }
        Err(Error::Unproven { id: id.clone(), witnesses, lock: "memory".into() })
    }

    fn load(&self, id: &SessionId, known: Option<Stamp>) -> Result<Current> {
        Ok(self.shared.kept().look(id, known))
    }

    fn update(
        &self,
        id: &SessionId,
        known: Option<Stamp>,
        holder: &Holder,
        wait: Wait,
        next: &mut dyn FnMut(Current) -> Result<Option<Pieces>>,
    ) -> Result<Option<Stamp>> {
        let _changing = self.change(id, Some(holder), wait.0)?;
        let current = self.load(id, known)?;
        let next = next(current)?;
        let mut kept = self.shared.kept();
        if let Some(pieces) = next {
            let bytes = pieces.join();
            let revision = kept.number();
            kept.documents.insert(id.clone(), Document { bytes, revision, modified: clock() });
        }
        Ok(kept.documents.get(id).map(Document::stamp))
    }

    fn remove(
        &self,
        id: &SessionId,
        keep: bool,
        now: Timestamp,
        still: &mut dyn FnMut(&Entry) -> bool,
    ) -> Result<bool> {
        let missing = || Error::NotFound(id.clone());
        let document = |kept: &Kept| kept.documents.get(id).map(|it| it.entry(id, false));
        document(&self.shared.kept()).ok_or_else(missing)?;
        let _alone = self.alone(id, None)?;
        let _changing = self.change(id, None, Duration::ZERO)?;
        let entry = document(&self.shared.kept()).ok_or_else(missing)?;
        // Nothing is held here: it may have something to write down.
        if !still(&entry) {
            return Ok(false);
        }
        let mut kept = self.shared.kept();
        if keep {
            let bytes = kept.documents.get(id).ok_or_else(missing)?.bytes.clone();
            kept.put(Shelf::Trash, &layout::stem(id, "trash", now), &bytes)?;
        }
        kept.documents.remove(id);
        Ok(true)
    }

    fn entries(&self) -> Result<Vec<Entry>> {
        let kept = self.shared.kept();
        let entry =
            |(id, document): (&SessionId, &Document)| document.entry(id, kept.is_attended(id));
        Ok(kept.documents.iter().map(entry).collect())
    }

    fn holders(&self, id: &SessionId) -> Result<Vec<Holder>> {
        Ok(self.shared.kept().holders(id))
    }

    fn foreign_holders(&self, _: &SessionId, _host: &str, _now: Timestamp) -> Result<Vec<Holder>> {
        Ok(Vec::new())
    }

    fn shelve(&self, shelf: Shelf, stem: &str, document: &[u8]) -> Result<String> {
        self.shared.kept().put(shelf, stem, document)
    }

    fn shelved(&self, shelf: Shelf) -> Result<Vec<Shelved>> {
        let kept = self.shared.kept();
        let mut puts: Vec<_> = kept.shelves.get(&shelf).into_iter().flatten().collect();
        puts.sort_unstable_by_key(|(_, put)| put.number);
        let shelved = |(name, put): (&String, &Put)| Shelved {
            name: name.clone(),
            id: layout::shelved_id(shelf, name),
            size: put.bytes.len() as u64,
            modified: put.modified,
        };
        Ok(puts.into_iter().map(shelved).collect())
    }

    fn read_shelved(&self, shelf: Shelf, name: &str) -> Result<Vec<u8>> {
        layout::check_shelved(shelf, name)?;
        let kept = self.shared.kept();
        let put = kept.shelves.get(&shelf).and_then(|puts| puts.get(name));
        let put = put.ok_or_else(|| Error::NotShelved(name.to_owned()))?;
        if !layout::is_compressed(shelf) {
            return Ok(put.bytes.clone());
        }
        gzip::unpack(&put.bytes, layout::LARGEST_DOCUMENT).map_err(|error| Error::Corrupt {
            what: Damaged::Shelved,
            place: name.to_owned(),
            reason: format!("it cannot be unpacked: {error}"),
        })
    }

    fn discard(&self, shelf: Shelf, name: &str) -> Result<()> {
        layout::check_shelved(shelf, name)?;
        let mut kept = self.shared.kept();
        let removed = kept.shelves.get_mut(&shelf).and_then(|puts| puts.remove(name));
        removed.map(|_| ()).ok_or_else(|| Error::NotShelved(name.to_owned()))
    }

    fn lock_cleanup(&self, _holder: &Holder) -> Result<Option<Box<dyn Presence>>> {
        let mut kept = self.shared.kept();
        if std::mem::replace(&mut kept.cleaning, true) {
            return Ok(None);
        }
        Ok(Some(Box::new(Cleaning(Arc::clone(&self.shared)))))
    }

    fn sweep_litter(&self, _now: Timestamp, _dry_run: bool) -> Result<usize> {
        Ok(0)
    }

    fn metadata(&self) -> Result<Option<Vec<u8>>> {
        Ok(self.shared.metadata().clone())
    }

    fn update_metadata(
        &self,
        _holder: &Holder,
        _wait: Wait,
        next: &mut dyn FnMut(Option<Vec<u8>>) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let mut record = self.shared.metadata();
        *record = Some(next(record.clone())?);
        Ok(())
    }

    fn append_audit(&self, line: &str) -> Result<()> {
        if line.contains(['\n', '\r']) {
            return Err(Error::Invalid("an event of the audit is one line".into()));
        }
        self.shared.kept().audit.push(line.to_owned());
        Ok(())
    }

    fn place(&self, _id: &SessionId) -> Option<PathBuf> {
        None
    }

    fn lock_place(&self, _id: &SessionId) -> Option<PathBuf> {
        None
    }
}

/// When a document was kept, as a file system would note it by its own clock.
#[expect(clippy::disallowed_methods, reason = "this stands in for the clock of a file system")]
fn clock() -> Timestamp {
    Timestamp::try_from(std::time::SystemTime::now()).unwrap_or(Timestamp::UNIX_EPOCH)
}
