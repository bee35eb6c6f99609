//! Sessions in files: the store that needs nothing set up.
//!
//! [`layout`] says what each file is called; the modules of `fs/` deal with files, folders and
//! locks. This module and the ones below it say in which order.

mod attended;
mod transaction;
mod watch;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use osm_identity::{Liveness, SessionId};

use super::{
    Agree, ArchiveKind, ArchivedDocument, Attended, Backend, Current, Entry, Files, Guard, Holder,
    HolderState, Listing, Page, Removal, Sharing, Stamp, Stored, Transaction, Wait, Watch,
};
use crate::backend::Clock;
use crate::error::{Error, Result};
use crate::fs::delayed_close::DelayedClose;
use crate::fs::eviction::{self, Eviction};
use crate::fs::folder::{Facts, Folder};
use crate::fs::holder_list::{self, HolderList};
use crate::fs::lazy_folder::LazyFolder;
use crate::fs::lock::{Attempt, FileLock, GRACE, IfMissing, Mode};
use crate::fs::pid_space::PidSpace;
use crate::fs::summaries::{Index, Summaries};
use crate::fs::{archive, listing, queue, stray};
use crate::layout::{self, Layout};
use transaction::FileTransaction;

/// How long a removal waits for an update of another process.
const UPDATE_UNDER_WAY: Duration = Duration::from_secs(2);
/// How long the record of another machine counts. A machine that crashed leaves its records, too.
const RECENT: SignedDuration = SignedDuration::from_hours(24);

/// A store in a folder.
#[derive(Clone, Debug)]
pub struct FsBackend {
    store: Arc<FileStore>,
}

/// What all handles of a store in files share.
struct FileStore {
    layout: Layout,
    root: Arc<LazyFolder>,
    sessions: Arc<LazyFolder>,
    archives: [Arc<LazyFolder>; ArchiveKind::ALL.len()],
    queue: Arc<LazyFolder>,
    pid_space: PidSpace,
    delayed_close: DelayedClose,
    clock: Clock,
}

impl std::fmt::Debug for FileStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FileStore").field(&self.layout.root()).finish()
    }
}

impl FsBackend {
    /// Opens the store in `root`, which need not exist yet: folders are made when something is
    /// first stored in them. Its clock is the machine's.
    ///
    /// [`Error::Unsafe`] if the folders that exist are links, belong to another user, or can be
    /// written to by every user.
    pub fn open(root: &Path, clock: Clock) -> Result<Self> {
        let folder = LazyFolder::root(root);
        let sessions = LazyFolder::within(&folder, layout::SESSIONS);
        let store = FileStore {
            layout: Layout::new(root),
            archives: ArchiveKind::ALL.map(|kind| LazyFolder::within(&sessions, kind.name())),
            queue: LazyFolder::within(&folder, layout::QUEUE),
            root: folder,
            sessions,
            pid_space: PidSpace::default(),
            delayed_close: DelayedClose::default(),
            clock,
        };
        store.sessions.existing()?;
        Ok(Self { store: Arc::new(store) })
    }
}

impl FileStore {
    fn archive(&self, kind: ArchiveKind) -> &LazyFolder {
        &self.archives[kind as usize]
    }

    /// A session's removal, under both of its locks.
    fn remove_session(
        &self,
        folder: &Arc<Folder>,
        id: &SessionId,
        removal: &Removal<'_>,
    ) -> Result<()> {
        let missing = || Error::NotFound(id.clone());
        let name = layout::document(id);
        folder.checked_facts(&name)?.ok_or_else(missing)?;
        let presence = lock_to_remove(folder, id, &layout::presence_lock(id), GRACE)?;
        let write = lock_to_remove(folder, id, &layout::write_lock(id), UPDATE_UNDER_WAY)?;

        let facts = folder.checked_facts(&name)?.ok_or_else(missing)?;
        if removal.expected.is_some_and(|expected| expected != facts.stamp) {
            return Err(Error::Changed(id.clone()));
        }
        if removal.keep {
            // On disk before the document goes: what follows may be lost in a crash, this not.
            let (bytes, _) = folder.read(&name)?.ok_or_else(missing)?;
            let stem = layout::stem(id, "trash", (self.clock)());
            let trash = self.archive(ArchiveKind::Trash).made()?;
            archive::add(&trash, &self.pid_space, ArchiveKind::Trash, &stem, &bytes)?;
        }
        // The folder is not synced: a crash brings the document back, and the next cleanup comes.
        folder.remove(&name)?;
        write.remove_file()?;
        presence.remove_file()?;
        Ok(())
    }

    fn remove_archived(&self, kind: ArchiveKind, name: &str) -> Result<()> {
        layout::check_archive_name(kind, name)?;
        let folder = self.archive(kind).existing()?;
        archive::discard(&*folder.ok_or_else(|| Error::ArchiveNotFound(name.to_owned()))?, name)
    }

    /// Forgets what lists remember of the sessions: a removed session must not be found anywhere.
    fn forget_summaries(&self) -> Result<()> {
        self.root.existing()?.map_or(Ok(()), |root| Summaries::remove(&root))
    }
}

/// Why a lock was refused.
fn refused(folder: &Folder, id: &SessionId, name: &str) -> Error {
    let id = id.clone();
    match HolderList::of(folder, name) {
        Ok(list) if list.proves_death() => Error::Orphaned { id, holders_seen: list.holders_seen },
        Ok(list) => Error::Busy { id, holders: list.present() },
        Err(_) => Error::Busy { id, holders: Vec::new() },
    }
}

/// Takes a lock of a session that is about to be removed. The remover does not register itself, to
/// save time; but the records of dead processes must not stay (`eviction.rs`).
fn lock_to_remove(
    folder: &Arc<Folder>,
    id: &SessionId,
    name: &str,
    patience: Duration,
) -> Result<FileLock> {
    let (mode, missing) = (Mode::Alone, IfMissing::Create);
    let empty = &mut holder_list::empty;
    match FileLock::acquire_signed(folder, name, mode, missing, patience, empty)? {
        Attempt::Held(lock) => Ok(lock),
        Attempt::Contended | Attempt::Missing => Err(refused(folder, id, name)),
    }
}

/// Reads a file, unless it is the version that is already known. Returns its facts, too.
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
    fn now(&self) -> Result<Timestamp> {
        Ok((self.store.clock)())
    }

    fn attend(
        &self,
        id: &SessionId,
        holder: &Holder,
        sharing: Sharing,
        wait: Wait,
    ) -> Result<Box<dyn Attended>> {
        Ok(Box::new(attended::FileSession::attend(&self.store, id, holder, sharing, wait)?))
    }

    fn evict_dead(&self, id: &SessionId, holder: &Holder, agree: &mut Agree<'_>) -> Result<bool> {
        let store = &self.store;
        let Some(folder) = store.sessions.existing()? else {
            return Ok(false);
        };
        let mut evicted = false;
        for name in [layout::presence_lock(id), layout::write_lock(id)] {
            let mut agree = |dead: &[HolderState]| {
                let mut transaction = FileTransaction::new(store, holder, Wait::USUAL);
                agree(&mut transaction, dead)?;
                transaction.commit()
            };
            match eviction::evict(&folder, &store.pid_space, &name, &mut agree)? {
                Eviction::NotNeeded => {}
                Eviction::Done => evicted = true,
                Eviction::Refused(list) => {
                    let alive = list.holders_seen.into_iter().filter(|it| !it.is_dead());
                    return Err(Error::Unproven {
                        id: id.clone(),
                        holders_seen: alive.collect(),
                        lock: Some(folder.path_of(&name)),
                    });
                }
            }
        }
        Ok(evicted)
    }

    fn load(&self, what: Stored<'_>, known: Option<Stamp>) -> Result<Current> {
        let store = &self.store;
        let (folder, name) = match what {
            Stored::Session(id) => (store.sessions.existing()?, layout::document(id)),
            Stored::Record => (store.root.existing()?, layout::METADATA.to_owned()),
            Stored::Archived(kind, name) => {
                if layout::check_archive_name(kind, name).is_err() {
                    return Ok(Current::Missing);
                }
                let Some(folder) = store.archive(kind).existing()? else {
                    return Ok(Current::Missing);
                };
                return Ok(match archive::read(&folder, kind, name)? {
                    None => Current::Missing,
                    Some((_, stamp)) if known == Some(stamp) => Current::Unchanged,
                    Some((bytes, stamp)) => Current::Found(bytes, stamp),
                });
            }
        };
        folder.map_or(Ok(Current::Missing), |folder| Ok(look(&folder, &name, known)?.0))
    }

    fn list(&self, page: &Page) -> Result<Listing<Entry>> {
        let store = &self.store;
        let Some(folder) = store.sessions.existing()? else {
            return Ok(Listing::whole(Vec::new()));
        };
        if page.exact {
            return Ok(listing::entries(&folder, &Index::default(), page)?.0);
        }
        let Some(root) = store.root.existing()? else {
            return Ok(Listing::whole(Vec::new()));
        };
        let summaries = Summaries::read(&root);
        let (listing, read) = listing::entries(&folder, &summaries.index(), page)?;
        if page.after.is_none() && listing.next.is_none() {
            summaries.keep(&root, &store.pid_space, &listing.items, read);
        }
        Ok(listing)
    }

    fn archived(&self, kind: ArchiveKind, page: &Page) -> Result<Listing<ArchivedDocument>> {
        let Some(folder) = self.store.archive(kind).existing()? else {
            return Ok(Listing::whole(Vec::new()));
        };
        Ok(Listing::part(archive::list(&folder, kind)?, page, |it| {
            format!("{:040} {}", it.modified.as_nanosecond(), it.name)
        }))
    }

    fn holders(&self, id: &SessionId) -> Result<Vec<Holder>> {
        let Some(folder) = self.store.sessions.existing()? else {
            return Ok(Vec::new());
        };
        let name = layout::presence_lock(id);
        if FileLock::is_held(&folder, &name) == Some(false) {
            return Ok(Vec::new());
        }
        Ok(HolderList::of(&folder, &name)?.present())
    }

    fn remove(
        &self,
        batch: &[Removal<'_>],
        done: &mut dyn FnMut(usize, Result<()>) -> ControlFlow<()>,
    ) {
        let store = &self.store;
        // The folders are looked up once: what is removed is reached by their descriptors.
        let has_sessions = batch.iter().any(|it| matches!(it.what, Stored::Session(_)));
        let mut sessions = None;
        for (number, removal) in batch.iter().enumerate() {
            if has_sessions && sessions.is_none() {
                sessions = Some(store.sessions.existing().and_then(|folder| {
                    store.forget_summaries()?;
                    Ok(folder)
                }));
            }
            let result = match (removal.what, &sessions) {
                (Stored::Archived(kind, name), _) => store.remove_archived(kind, name),
                (Stored::Session(id), Some(Ok(Some(folder)))) => {
                    store.remove_session(folder, id, removal)
                }
                (Stored::Session(id), Some(Ok(None)) | None) => Err(Error::NotFound(id.clone())),
                // The next one asks again, and is told itself.
                (Stored::Session(_), Some(Err(_))) => match sessions.take() {
                    Some(Err(error)) => Err(error),
                    _ => Ok(()),
                },
                (Stored::Record, _) => Ok(()),
            };
            if done(number, result).is_break() {
                break;
            }
        }
        if has_sessions {
            // A list that began before has perhaps written them again; the next one corrects that.
            let _forgotten = store.forget_summaries();
        }
    }

    fn transact(
        &self,
        holder: &Holder,
        wait: Wait,
        body: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()> {
        let mut transaction = FileTransaction::new(&self.store, holder, wait);
        body(&mut transaction)?;
        transaction.commit()
    }

    fn lock_cleanup(&self, holder: &Holder) -> Result<Option<Box<dyn Guard>>> {
        let folder = self.store.root.made()?;
        let lock = holder_list::hold_alone(&folder, layout::CLEANUP_LOCK, holder, Duration::ZERO)?;
        Ok(lock.map(|lock| Box::new(lock) as Box<dyn Guard>))
    }

    fn watch(&self, id: &SessionId) -> Result<Box<dyn Watch>> {
        Ok(Box::new(watch::FileWatch::new(&self.store, id)?))
    }

    fn files(&self) -> Option<&dyn Files> {
        Some(self)
    }
}

impl Files for FsBackend {
    fn layout(&self) -> &Layout {
        &self.store.layout
    }

    fn foreign_holders(&self, id: &SessionId, host: &str) -> Result<Vec<Holder>> {
        let Some(folder) = self.store.sessions.existing()? else {
            return Ok(Vec::new());
        };
        let name = layout::presence_lock(id);
        let (mut foreign, mut local) = (Vec::new(), false);
        for HolderState { holder, liveness } in HolderList::of(&folder, &name)?.holders_seen {
            if holder.host == host {
                local |= matches!(liveness, Liveness::Alive | Liveness::Suspended);
            } else {
                foreign.push(holder);
            }
        }
        let now = (self.store.clock)();
        foreign.retain(|holder| now.duration_since(holder.since) < RECENT);
        // The lock is held, and by no process of this machine: then the other machine's lock can be
        // seen here, as it should.
        if !local && !foreign.is_empty() && FileLock::is_held(&folder, &name) == Some(true) {
            foreign.clear();
        }
        Ok(foreign)
    }

    fn remove_stray_files(&self, now: Timestamp, dry_run: bool) -> Result<usize> {
        let store = &self.store;
        let mut count = 0;
        for folder in
            [&store.root, &store.sessions, &store.queue].into_iter().chain(&store.archives)
        {
            let Some(folder) = folder.existing()? else { continue };
            count += stray::remove_temporary(&folder, &store.pid_space, now, dry_run)?;
        }
        if let Some(folder) = store.sessions.existing()? {
            count += stray::remove_locks(&folder, now, dry_run)?;
        }
        if let Some(folder) = store.queue.existing()? {
            count += queue::remove_abandoned(&folder, dry_run)?;
        }
        for folder in &store.archives {
            let Some(folder) = folder.existing()? else { continue };
            count += stray::remove_unfilled(&folder, now, dry_run)?;
        }
        Ok(count)
    }
}
