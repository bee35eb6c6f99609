//! What the tests of the store have in common.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use osm_identity::{Pid, SessionId, System};
use osm_store::audit::{Action, Event, Who};
use osm_store::backend::{
    ArchiveKind, ArchivedDocument, Attended, Backend, Current, Entry, Holder, HolderState, Next,
    Page, Removal, Sharing, Stamp, Stored, Transaction, Wait, update_settled,
};
use osm_store::metadata::Metadata;
use osm_store::{Clock, Error, FsBackend, MemoryBackend, Pieces, Result};
use tempfile::TempDir;

/// A store in a folder of its own.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// The root, which does not exist yet.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// A folder beside the store.
    #[cfg(unix)]
    pub(crate) fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn sessions(&self) -> PathBuf {
        self.root().join("sessions")
    }

    pub(crate) fn open(&self) -> FsBackend {
        FsBackend::open(&self.root(), clock()).unwrap()
    }
}

pub(crate) fn id(text: &str) -> SessionId {
    SessionId::explicit(text.as_ref())
}

/// The time, as files have it.
#[expect(clippy::disallowed_methods, reason = "files are compared with it")]
pub(crate) fn now() -> Timestamp {
    Timestamp::try_from(std::time::SystemTime::now()).unwrap()
}

/// This process.
pub(crate) fn myself(command: &str) -> Holder {
    let pid = Pid(std::process::id());
    Holder::new(&System::new(), pid, "here".into(), now(), command.into())
}

/// The machine's clock.
pub(crate) fn clock() -> Clock {
    Arc::new(now)
}

/// An empty store in memory.
pub(crate) fn memory() -> MemoryBackend {
    MemoryBackend::new(clock())
}

/// Replaces the small shared record.
pub(crate) fn set_metadata(backend: &dyn Backend, record: &[u8]) -> Result<()> {
    settled(|| {
        backend.transact(&myself("note"), Wait::USUAL, &mut |it| it.set_record(record.to_vec()))
    })
}

/// Changes the shared record; returns the name under which a damaged one was quarantined.
pub(crate) fn change_record(
    backend: &dyn Backend,
    wait: Wait,
    edit: impl Fn(&mut Metadata),
) -> Result<Option<String>> {
    let mut quarantined = None;
    backend.transact(&myself("note"), wait, &mut |transaction| {
        quarantined = Metadata::change(transaction, &edit)?;
        Ok(())
    })?;
    Ok(quarantined)
}

/// Does something that may be done twice until its reply arrives.
pub(crate) fn settled<T>(mut attempt: impl FnMut() -> Result<T>) -> Result<T> {
    loop {
        match attempt() {
            Err(Error::UnknownOutcome(_)) => {}
            settled => return settled,
        }
    }
}

/// Stores a document.
pub(crate) fn put(backend: &dyn Backend, id: &SessionId, text: &str) -> Result<Stamp> {
    let mut next = |_| Ok(Some(text.as_bytes().to_vec().into()));
    let stamp = backend.update(id, None, &myself("put"), Wait::USUAL, &mut next)?;
    Ok(stamp.expect("a document was stored"))
}

/// Single steps, where the seam has batches, pages and transactions.
pub(crate) trait Single: Backend {
    /// All sessions, read now.
    fn entries(&self) -> Result<Vec<Entry>> {
        let mut page = Page { exact: true, ..Page::default() };
        let mut all = Vec::new();
        loop {
            let listing = self.list(&page)?;
            all.extend(listing.items);
            page.after = listing.next;
            if page.after.is_none() {
                return Ok(all);
            }
        }
    }

    /// Opens a session with other processes.
    fn share(&self, id: &SessionId, holder: &Holder, wait: Wait) -> Result<Box<dyn Attended>> {
        settled(|| self.attend(id, holder, Sharing::Shared, wait))
    }

    /// Opens a session for one update.
    fn update(
        &self,
        id: &SessionId,
        known: Option<Stamp>,
        holder: &Holder,
        wait: Wait,
        next: &mut dyn FnMut(Current) -> Result<Option<Pieces>>,
    ) -> Result<Option<Stamp>> {
        let mut attended = self.share(id, holder, wait)?;
        let mut next =
            |_: &mut dyn Transaction, current| Ok(next(current)?.map_or(Next::Keep, Next::Replace));
        update_settled(attended.as_mut(), known, wait, &mut next)
    }

    /// Removes one session.
    fn remove_session(&self, id: &SessionId, keep: bool) -> Result<()> {
        self.remove_one(Removal { what: Stored::Session(id), expected: None, keep })
    }

    /// Removes one archived document.
    fn discard(&self, kind: ArchiveKind, name: &str) -> Result<()> {
        let what = Stored::Archived(kind, name);
        self.remove_one(Removal { what, expected: None, keep: false })
    }

    /// Removes one thing; if the reply is lost, it is removed if it is gone.
    fn remove_one(&self, removal: Removal<'_>) -> Result<()> {
        let mut lost = false;
        let existed = !matches!(self.load(removal.what, None), Ok(Current::Missing));
        loop {
            let mut result = None;
            self.remove(&[removal], &mut |_, it| {
                result = Some(it);
                ControlFlow::Continue(())
            });
            match result.expect("it was told how it ended") {
                Err(Error::UnknownOutcome(_)) => lost = existed,
                Err(Error::NotFound(_) | Error::ArchiveNotFound(_)) if lost => return Ok(()),
                result => return result,
            }
        }
    }

    /// Archives a document.
    fn archive(&self, kind: ArchiveKind, stem: &str, document: &[u8]) -> Result<String> {
        let before = self.archives_of(kind)?.len();
        let mut name = String::new();
        loop {
            let done = self.transact(&myself("archive"), Wait::USUAL, &mut |transaction| {
                name = transaction.archive(kind, stem, document)?;
                Ok(())
            });
            match done {
                Err(Error::UnknownOutcome(_)) if self.archives_of(kind)?.len() == before => {}
                Ok(()) | Err(Error::UnknownOutcome(_)) => return Ok(name),
                Err(error) => return Err(error),
            }
        }
    }

    /// The archived documents of a kind.
    fn archives_of(&self, kind: ArchiveKind) -> Result<Vec<ArchivedDocument>> {
        let mut page = Page::default();
        let mut all = Vec::new();
        loop {
            let listing = self.archived(kind, &page)?;
            all.extend(listing.items);
            page.after = listing.next;
            if page.after.is_none() {
                return Ok(all);
            }
        }
    }

    /// Reads an archived document.
    fn read_archived(&self, kind: ArchiveKind, name: &str) -> Result<Vec<u8>> {
        match self.load(Stored::Archived(kind, name), None)? {
            Current::Found(bytes, _) => Ok(bytes),
            _ => Err(Error::ArchiveNotFound(name.to_owned())),
        }
    }

    /// The small shared record.
    fn metadata(&self) -> Result<Option<Vec<u8>>> {
        Ok(match self.load(Stored::Record, None)? {
            Current::Found(bytes, _) => Some(bytes),
            _ => None,
        })
    }

    /// Audits an event with this text.
    fn append_audit(&self, text: &str) -> Result<()> {
        let mut event = Event::new(now(), Who::default(), Action::Clean);
        event.reason = Some(text.to_owned());
        self.transact(&myself("audit"), Wait::USUAL, &mut |transaction| transaction.audit(&event))
    }

    /// The file of a session.
    fn place(&self, id: &SessionId) -> PathBuf {
        self.files().expect("a store in files").layout().document(id)
    }

    /// Removes stray files.
    fn sweep(&self, now: Timestamp, dry_run: bool) -> Result<usize> {
        self.files().map_or(Ok(0), |files| files.remove_stray_files(now, dry_run))
    }

    /// Breaks the locks of the dead.
    fn evict(
        &self,
        id: &SessionId,
        agree: &mut dyn FnMut(&[HolderState]) -> Result<()>,
    ) -> Result<bool> {
        let mut agree = |_: &mut dyn Transaction, dead: &[HolderState]| agree(dead);
        self.evict_dead(id, &myself("evict"), &mut agree)
    }
}

impl<B: Backend + ?Sized> Single for B {}

/// The document as text; `None` if it does not exist.
pub(crate) fn get(backend: &dyn Backend, id: &SessionId) -> Option<String> {
    match backend.load(Stored::Session(id), None).unwrap() {
        Current::Missing => None,
        Current::Found(bytes, _) => Some(String::from_utf8(bytes).unwrap()),
        Current::Unchanged => panic!("nothing was known"),
    }
}

/// Adds one to the number that is the document.
pub(crate) fn increment(backend: &dyn Backend, id: &SessionId, holder: &Holder) -> Stamp {
    let mut next = |current| {
        let number: u64 = match current {
            Current::Missing => 0,
            Current::Found(bytes, _) => std::str::from_utf8(&bytes).unwrap().parse().unwrap(),
            Current::Unchanged => panic!("nothing was known"),
        };
        Ok(Some(format!("{:06}", number + 1).into_bytes().into()))
    };
    let wait = Wait(Duration::from_mins(1));
    backend.update(id, None, holder, wait, &mut next).unwrap().unwrap()
}

/// The entry of a session.
pub(crate) fn entry(backend: &dyn Backend, id: &SessionId) -> Option<Entry> {
    backend.entries().unwrap().into_iter().find(|entry| entry.id == *id)
}

/// The names in a folder, in order; none if there is no such folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let Ok(files) = folder.read_dir() else {
        return Vec::new();
    };
    let mut names: Vec<_> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
