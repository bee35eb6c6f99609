//! Sessions in files: the store that needs nothing set up.
//!
//! What is where is in [`layout`]; how files, folders and locks are dealt with is in
//! the modules of `fs/`. This module says in which order.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use osm_identity::{Liveness, SessionId};

use super::{Backend, Current, Entry, Holder, Presence, Shelf, Shelved, Stamp, Wait, Witness};
use crate::error::{Error, Result};
use crate::fs::eviction::{self, Eviction};
use crate::fs::folder::{Facts, Folder};
use crate::fs::leftovers::Leftovers;
use crate::fs::lock::{Attempt, FileLock, GRACE, IfMissing, Mode};
use crate::fs::place::Place;
use crate::fs::realm::Realm;
use crate::fs::roster::{self, Attendance, Roster};
use crate::fs::summaries::{Index, Summaries};
use crate::fs::{atomic, audit, listing, litter, shelf};
use crate::layout::{self, Layout};
use crate::pieces::Pieces;

/// How long a removal waits for a change that is under way.
const CHANGE_UNDER_WAY: Duration = Duration::from_secs(2);
/// How long a record of another machine is news. One that crashed leaves its records behind, too.
const NEWS: SignedDuration = SignedDuration::from_hours(24);

/// A store in a folder.
#[derive(Debug)]
pub struct FsBackend {
    layout: Layout,
    root: Arc<Place>,
    sessions: Arc<Place>,
    shelves: [Arc<Place>; Shelf::ALL.len()],
    realm: Realm,
    leftovers: Leftovers,
}

impl FsBackend {
    /// Opens the store in `root`, which need not be there yet: folders are made when something is
    /// first kept in them.
    ///
    /// [`Error::Unsafe`] if the folders that are there are links, belong to somebody else, or can be
    /// written to by everybody.
    pub fn open(root: &Path) -> Result<Self> {
        let place = Place::root(root);
        let sessions = Place::within(&place, layout::SESSIONS);
        let backend = Self {
            layout: Layout::new(root),
            shelves: Shelf::ALL.map(|shelf| Place::within(&sessions, shelf.name())),
            root: place,
            sessions,
            realm: Realm::default(),
            leftovers: Leftovers::default(),
        };
        backend.sessions.existing()?;
        Ok(backend)
    }

    /// Where everything is.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    fn shelf(&self, shelf: Shelf) -> &Place {
        &self.shelves[shelf as usize]
    }
}

/// What stands in the way of whoever is refused a lock.
fn in_the_way(folder: &Folder, id: &SessionId, name: &str) -> Error {
    let (id, roster) = (id.clone(), Roster::of(folder, name));
    match roster {
        Ok(roster) if roster.proves_death() => Error::Orphaned { id, witnesses: roster.witnesses },
        Ok(roster) => Error::Busy { id, holders: roster.present() },
        Err(_) => Error::Busy { id, holders: Vec::new() },
    }
}

/// Takes a lock of a session that is about to be removed. Who removes has no time to leave a name;
/// but that of the dead must not stay (`eviction.rs`).
fn lock_to_remove(
    folder: &Arc<Folder>,
    id: &SessionId,
    name: &str,
    patience: Duration,
) -> Result<FileLock> {
    let (mode, missing) = (Mode::Alone, IfMissing::Create);
    match FileLock::acquire_signed(folder, name, mode, missing, patience, &mut roster::empty)? {
        Attempt::Held(lock) => Ok(lock),
        Attempt::Contended | Attempt::Missing => Err(in_the_way(folder, id, name)),
    }
}

/// Looks at a document, if it is not the one already known. Says what was there, too.
fn look(folder: &Folder, name: &str, known: Option<Stamp>) -> Result<(Current, Option<Facts>)> {
    if let Some(known) = known {
        match folder.checked_facts(name)? {
            None => return Ok((Current::Missing, None)),
            Some(facts) if facts.stamp == known => return Ok((Current::Unchanged, Some(facts))),
            Some(_) => {}
        }
    }
    Ok(match folder.read(name)? {
        None => (Current::Missing, None),
        Some((bytes, facts)) => (Current::Found(bytes, facts.stamp), Some(facts)),
    })
}

impl Backend for FsBackend {
    fn name(&self) -> &'static str {
        "fs"
    }

    fn attend(&self, id: &SessionId, holder: &Holder, wait: Wait) -> Result<Box<dyn Presence>> {
        let folder = self.sessions.made()?;
        let name = layout::presence_lock(id);
        match Attendance::shared(&folder, &name, holder, wait.0.max(GRACE))? {
            Some(attendance) => Ok(Box::new(attendance)),
            None => Err(in_the_way(&folder, id, &name)),
        }
    }

    fn seize(&self, id: &SessionId, holder: &Holder) -> Result<Box<dyn Presence>> {
        let folder = self.sessions.made()?;
        let name = layout::presence_lock(id);
        match Attendance::alone(&folder, &name, holder, GRACE)? {
            Some(attendance) => Ok(Box::new(attendance)),
            None => Err(in_the_way(&folder, id, &name)),
        }
    }

    fn evict_dead(
        &self,
        id: &SessionId,
        agree: &mut dyn FnMut(&[Witness]) -> Result<()>,
    ) -> Result<bool> {
        let Some(folder) = self.sessions.existing()? else {
            return Ok(false);
        };
        let mut evicted = false;
        for name in [layout::presence_lock(id), layout::write_lock(id)] {
            match eviction::evict(&folder, &self.realm, &name, agree)? {
                Eviction::NotNeeded => {}
                Eviction::Done => evicted = true,
                Eviction::Refused(roster) => {
                    let witnesses = roster.witnesses.into_iter().filter(|it| !it.is_dead());
                    return Err(Error::Unproven {
                        id: id.clone(),
                        witnesses: witnesses.collect(),
                        lock: folder.path_of(&name).display().to_string(),
                    });
                }
            }
        }
        Ok(evicted)
    }

    fn load(&self, id: &SessionId, known: Option<Stamp>) -> Result<Current> {
        match self.sessions.existing()? {
            Some(folder) => Ok(look(&folder, &layout::document(id), known)?.0),
            None => Ok(Current::Missing),
        }
    }

    fn update(
        &self,
        id: &SessionId,
        known: Option<Stamp>,
        holder: &Holder,
        wait: Wait,
        next: &mut dyn FnMut(Current) -> Result<Option<Pieces>>,
    ) -> Result<Option<Stamp>> {
        let folder = self.sessions.made()?;
        let lock = layout::write_lock(id);
        let _lock = roster::hold_alone(&folder, &lock, holder, wait.0.max(GRACE))?
            .ok_or_else(|| in_the_way(&folder, id, &lock))?;
        let name = layout::document(id);
        let (current, before) = look(&folder, &name, known)?;
        let Some(pieces) = next(current)? else {
            return Ok(before.map(|facts| facts.stamp));
        };
        self.leftovers.wait();
        let old = folder.hold(&name);
        atomic::replace(&folder, &self.realm, &name, &pieces, before.as_ref())?;
        if let Some(old) = old {
            self.leftovers.leave(old);
        }
        Ok(folder.facts(&name)?.map(|facts| facts.stamp))
    }

    fn remove(
        &self,
        id: &SessionId,
        keep: bool,
        now: Timestamp,
        still: &mut dyn FnMut(&Entry) -> bool,
    ) -> Result<bool> {
        let missing = || Error::NotFound(id.clone());
        let name = layout::document(id);
        let folder = self.sessions.existing()?.ok_or_else(missing)?;
        folder.checked_facts(&name)?.ok_or_else(missing)?;
        let presence = lock_to_remove(&folder, id, &layout::presence_lock(id), GRACE)?;
        let write = lock_to_remove(&folder, id, &layout::write_lock(id), CHANGE_UNDER_WAY)?;

        let entry = listing::entry(&folder, id.clone(), false).ok_or_else(missing)?;
        if !still(&entry) {
            return Ok(false);
        }
        if keep {
            // On disk before the document goes: what follows may be lost in a crash, this not.
            let (bytes, _) = folder.read(&name)?.ok_or_else(missing)?;
            let trash = self.shelf(Shelf::Trash).made()?;
            let stem = layout::stem(id, "trash", now);
            shelf::add(&trash, &self.realm, Shelf::Trash, &stem, &bytes)?;
        }
        if let Some(root) = self.root.existing()? {
            Summaries::remove(&root)?;
        }
        // The folder is not synced: a crash brings the document back, and the next cleanup comes.
        folder.remove(&name)?;
        write.remove_file()?;
        presence.remove_file()?;
        Ok(true)
    }

    fn entries(&self) -> Result<Vec<Entry>> {
        let Some(folder) = self.sessions.existing()? else {
            return Ok(Vec::new());
        };
        listing::entries(&folder, &Index::default()).map(|(entries, _)| entries)
    }

    fn list(&self) -> Result<Vec<Entry>> {
        let (Some(folder), Some(root)) = (self.sessions.existing()?, self.root.existing()?) else {
            return Ok(Vec::new());
        };
        let summaries = Summaries::read(&root);
        let (entries, read) = listing::entries(&folder, &summaries.index())?;
        summaries.keep(&root, &self.realm, &entries, read);
        Ok(entries)
    }

    fn holders(&self, id: &SessionId) -> Result<Vec<Holder>> {
        let Some(folder) = self.sessions.existing()? else {
            return Ok(Vec::new());
        };
        let name = layout::presence_lock(id);
        if FileLock::is_held(&folder, &name) == Some(false) {
            return Ok(Vec::new());
        }
        Ok(Roster::of(&folder, &name)?.present())
    }

    fn foreign_holders(&self, id: &SessionId, host: &str, now: Timestamp) -> Result<Vec<Holder>> {
        let Some(folder) = self.sessions.existing()? else {
            return Ok(Vec::new());
        };
        let name = layout::presence_lock(id);
        let (mut foreign, mut local) = (Vec::new(), false);
        for Witness { holder, liveness } in Roster::of(&folder, &name)?.witnesses {
            if holder.host == host {
                local |= matches!(liveness, Liveness::Alive | Liveness::Suspended);
            } else {
                foreign.push(holder);
            }
        }
        foreign.retain(|holder| now.duration_since(holder.since) < NEWS);
        // Somebody holds it, and nobody here: then the lock of that other machine shows, as it
        // should.
        if !local && !foreign.is_empty() && FileLock::is_held(&folder, &name) == Some(true) {
            foreign.clear();
        }
        Ok(foreign)
    }

    fn shelve(&self, shelf: Shelf, stem: &str, document: &[u8]) -> Result<String> {
        shelf::add(&*self.shelf(shelf).made()?, &self.realm, shelf, stem, document)
    }

    fn shelved(&self, shelf: Shelf) -> Result<Vec<Shelved>> {
        let folder = self.shelf(shelf).existing()?;
        folder.map_or_else(|| Ok(Vec::new()), |folder| shelf::list(&folder, shelf))
    }

    fn read_shelved(&self, shelf: Shelf, name: &str) -> Result<Vec<u8>> {
        layout::check_shelved(shelf, name)?;
        let folder = self.shelf(shelf).existing()?;
        shelf::read(&*folder.ok_or_else(|| Error::NotShelved(name.to_owned()))?, shelf, name)
    }

    fn discard(&self, shelf: Shelf, name: &str) -> Result<()> {
        layout::check_shelved(shelf, name)?;
        let folder = self.shelf(shelf).existing()?;
        shelf::discard(&*folder.ok_or_else(|| Error::NotShelved(name.to_owned()))?, name)
    }

    fn lock_cleanup(&self, holder: &Holder) -> Result<Option<Box<dyn Presence>>> {
        let folder = self.root.made()?;
        let turn = roster::hold_alone(&folder, layout::CLEANUP_LOCK, holder, Duration::ZERO)?;
        Ok(turn.map(|turn| Box::new(turn) as Box<dyn Presence>))
    }

    fn sweep_litter(&self, now: Timestamp, dry_run: bool) -> Result<usize> {
        let mut count = 0;
        for place in [&self.root, &self.sessions].into_iter().chain(&self.shelves) {
            let Some(folder) = place.existing()? else { continue };
            count += litter::sweep_temporary(&folder, &self.realm, now, dry_run)?;
        }
        if let Some(folder) = self.sessions.existing()? {
            count += litter::sweep_locks(&folder, now, dry_run)?;
        }
        for place in &self.shelves {
            let Some(folder) = place.existing()? else { continue };
            count += litter::sweep_unfilled(&folder, now, dry_run)?;
        }
        Ok(count)
    }

    fn metadata(&self) -> Result<Option<Vec<u8>>> {
        let Some(folder) = self.root.existing()? else {
            return Ok(None);
        };
        Ok(folder.read(layout::METADATA)?.map(|(bytes, _)| bytes))
    }

    fn update_metadata(
        &self,
        holder: &Holder,
        wait: Wait,
        next: &mut dyn FnMut(Option<Vec<u8>>) -> Result<Vec<u8>>,
    ) -> Result<()> {
        let folder = self.root.made()?;
        let (name, lock) = (layout::METADATA, layout::METADATA_LOCK);
        let turn = roster::hold_alone(&folder, lock, holder, wait.0.max(GRACE))?;
        let _turn = turn.ok_or_else(|| folder.error("lock", lock, ErrorKind::TimedOut.into()))?;
        let record = next(folder.read(name)?.map(|(bytes, _)| bytes))?;
        atomic::replace(&folder, &self.realm, name, &record.into(), None)
    }

    fn append_audit(&self, line: &str) -> Result<()> {
        audit::append(&self.root.made()?, line)
    }

    fn place(&self, id: &SessionId) -> Option<PathBuf> {
        Some(self.layout.document(id))
    }

    fn lock_place(&self, id: &SessionId) -> Option<PathBuf> {
        Some(self.layout.sessions().join(layout::presence_lock(id)))
    }
}
