//! Where sessions are stored: the one seam between what a session is and how it is kept.
//!
//! A backend stores *documents*, which it never looks into, and keeps these promises:
//!
//! - A process that wants to change a session [attends](Backend::attend) it. The handle that it
//!   gets carries a fence, and every write presents it: once the lease behind the handle is lost,
//!   the next write fails with [`Error::LostLease`]. No session is removed while it is attended.
//! - [`Attended::update`] is one step: it shows the newest document to the caller, takes the next
//!   one and stores it, with no other update in between. After a crash at any moment the document
//!   is the old one or the new one, whole.
//! - Everything else that belongs to that step (an archived copy, an audit event, the shared
//!   record) goes through the [`Transaction`] that the callback is given. The callback never calls
//!   the backend: on one connection that would deadlock.
//! - A [`Stamp`] tells whether a document changed since it was last seen, without reading it.
//! - An archived document never replaces another one.
//! - Time is the store's ([`Backend::now`]): machines that share a store need not agree.
//! - A reply can be lost. [`Error::UnknownOutcome`] says so, and [`Attended::outcome`] tells
//!   afterwards whether the last update of that handle was carried out ([`update_settled`]).
//!
//! Files do this with locks and renames; a database does it with rows, revisions and leases. What
//! only files have is behind [`Backend::files`].
//!
//! [`Error::LostLease`]: crate::Error::LostLease
//! [`Error::UnknownOutcome`]: crate::Error::UnknownOutcome

mod entry;
pub mod fs;
mod holder;
pub mod memory;
pub mod postgres;
mod settle;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use osm_identity::SessionId;

pub use entry::{ArchiveKind, ArchivedDocument, Cursor, Entry, FirstLine, Listing, Page, Stamp};
pub use holder::{Holder, HolderState};
pub use settle::update_settled;

use crate::audit::Event;
use crate::error::Result;
use crate::layout::Layout;
use crate::pieces::Pieces;

/// Tells the time; a library has no clock of its own.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A place where sessions are stored.
pub trait Backend: Send + Sync {
    /// The time by the store's clock.
    fn now(&self) -> Result<Timestamp>;

    /// Opens a session to change it. It need not exist yet.
    ///
    /// [`Error::Busy`](crate::Error::Busy) if other processes hold it against `sharing`,
    /// [`Error::Orphaned`](crate::Error::Orphaned) if all of them are dead.
    fn attend(
        &self,
        id: &SessionId,
        holder: &Holder,
        sharing: Sharing,
        wait: Wait,
    ) -> Result<Box<dyn Attended>>;

    /// Frees a session from dead holders: locks that live on in an open file, leases that have not
    /// run out. `true` if there was something to free.
    ///
    /// Only if every holder is *proven* dead; otherwise
    /// [`Error::Unproven`](crate::Error::Unproven), and nothing changes. `agree` is shown the
    /// holders just before, and can still refuse.
    fn evict_dead(&self, id: &SessionId, holder: &Holder, agree: &mut Agree<'_>) -> Result<bool>;

    /// Reads something, unless it is the version that is already known.
    fn load(&self, what: Stored<'_>, known: Option<Stamp>) -> Result<Current>;

    /// A page of the sessions, in the order of their ids.
    fn list(&self, page: &Page) -> Result<Listing<Entry>>;

    /// A page of the archived documents of one kind, oldest first.
    fn archived(&self, kind: ArchiveKind, page: &Page) -> Result<Listing<ArchivedDocument>>;

    /// The processes that have a session open, as far as they registered.
    fn holders(&self, id: &SessionId) -> Result<Vec<Holder>>;

    /// Removes sessions and archived documents, each in one step of its own.
    ///
    /// `done` is told how each ended, by its number in the batch; the rest is left alone if it
    /// breaks off. A backend may carry out a whole batch before it tells. A session that is open
    /// is [`Busy`](crate::Error::Busy), one of another version is
    /// [`Changed`](crate::Error::Changed), one that is missing is
    /// [`NotFound`](crate::Error::NotFound).
    fn remove(
        &self,
        batch: &[Removal<'_>],
        done: &mut dyn FnMut(usize, Result<()>) -> ControlFlow<()>,
    );

    /// Changes what belongs to the store as a whole. `body` may be called again if another
    /// transaction came first; only its last call counts.
    fn transact(
        &self,
        holder: &Holder,
        wait: Wait,
        body: &mut dyn FnMut(&mut dyn Transaction) -> Result<()>,
    ) -> Result<()>;

    /// Keeps other cleanups out while the guard lives; `None` if another one runs.
    fn lock_cleanup(&self, holder: &Holder) -> Result<Option<Box<dyn Guard>>>;

    /// Watches a session for changes from now on.
    fn watch(&self, id: &SessionId) -> Result<Box<dyn Watch>>;

    /// What only a store in files has.
    fn files(&self) -> Option<&dyn Files> {
        None
    }
}

/// A session that is open to be changed. The lease ends with the handle, or with the process.
pub trait Attended: Send {
    /// Replaces or removes the document in one step.
    ///
    /// `next` is shown what is stored and says what shall be. It runs while no other process can
    /// update the session, so it must be quick and must not wait. It may be called again if
    /// another update came first; only its last call counts. What it archives and audits is
    /// stored before the document is, and may stay if the update fails. Returns the stamp of what
    /// is stored afterwards.
    ///
    /// Only an [exclusive](Sharing::Exclusive) handle can remove.
    fn update(
        &mut self,
        known: Option<Stamp>,
        wait: Wait,
        next: &mut NextOf<'_>,
    ) -> Result<Option<Stamp>>;

    /// Whether the last update of this handle was carried out.
    fn outcome(&mut self) -> Result<Outcome>;
}

/// Decides what follows the current document.
pub type NextOf<'a> = dyn FnMut(&mut dyn Transaction, Current) -> Result<Next> + 'a;

/// Is shown the dead holders before they are evicted, and can refuse.
pub type Agree<'a> = dyn FnMut(&mut dyn Transaction, &[HolderState]) -> Result<()> + 'a;

/// What can be done inside one step of a store.
pub trait Transaction {
    /// The time by the store's clock.
    fn now(&self) -> Timestamp;

    /// Archives a document under a name that begins with `stem`; returns the whole name. Never
    /// replaces another one.
    fn archive(&mut self, kind: ArchiveKind, stem: &str, document: &[u8]) -> Result<String>;

    /// Appends an event to the audit log.
    fn audit(&mut self, event: &Event) -> Result<()>;

    /// Reads the small record that all processes share; no other transaction changes it until this
    /// one ends.
    fn record(&mut self) -> Result<Option<Vec<u8>>>;

    /// Replaces that record when the transaction succeeds.
    fn set_record(&mut self, record: Vec<u8>) -> Result<()>;
}

/// What only a store in files has.
pub trait Files {
    /// Where everything is.
    fn layout(&self) -> &Layout;

    /// The holders of a session on other machines whose locks cannot be seen here: a folder that
    /// is shared by a file system that does not pass locks on.
    ///
    /// To be called before the session is attended, so that our own lock does not answer. `host`
    /// is this machine's name.
    fn foreign_holders(&self, id: &SessionId, host: &str) -> Result<Vec<Holder>>;

    /// Removes stray files of crashed processes: temporary files, and locks of sessions that are
    /// gone. Returns how many; with `dry_run` it only counts.
    fn remove_stray_files(&self, now: Timestamp, dry_run: bool) -> Result<usize>;
}

/// Tells of changes to one session.
pub trait Watch: Send {
    /// Waits for a change since the last call, or since the watch began; `false` if there was none
    /// in time.
    fn changed(&mut self, wait: Wait) -> Result<bool>;
}

/// Holds something until it is dropped.
pub trait Guard: Send {}

/// What can be read from a store, or removed from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored<'a> {
    /// The document of a session.
    Session(&'a SessionId),
    /// An archived document, by its name; read decompressed.
    Archived(ArchiveKind, &'a str),
    /// The small record that all processes share. It cannot be removed.
    Record,
}

/// A removal in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal<'a> {
    /// The session or archived document.
    pub what: Stored<'a>,
    /// Remove this version only.
    pub expected: Option<Stamp>,
    /// Move a session into the [trash](ArchiveKind::Trash) first.
    pub keep: bool,
}

/// What is stored now.
#[derive(Debug)]
pub enum Current {
    /// Nothing.
    Missing,
    /// The version that the caller knows already.
    Unchanged,
    /// Another version.
    Found(Vec<u8>, Stamp),
}

/// What an update stores.
#[derive(Debug)]
pub enum Next {
    /// Nothing: the document stays as it is.
    Keep,
    /// This document.
    Replace(Pieces),
    /// No document any more.
    Remove,
}

/// What became of an update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It changed nothing.
    NotCarriedOut,
    /// It was carried out and left a document of this version, or none.
    CarriedOut(Option<Stamp>),
}

/// With whom a session is shared while it is attended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// With every process that shares it.
    Shared,
    /// With no other process.
    Exclusive,
}

/// How long to wait for other processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait(pub Duration);

impl Wait {
    /// Not at all.
    pub const NONE: Self = Self(Duration::ZERO);
    /// As long as a save of another process can reasonably take.
    pub const USUAL: Self = Self(Duration::from_secs(10));
}

impl dyn Backend + '_ {
    /// All sessions, page by page.
    pub fn all(&self, exact: bool) -> Result<Vec<Entry>> {
        pages(exact, |page| self.list(page))
    }

    /// All archived documents of one kind, page by page.
    pub fn all_archived(&self, kind: ArchiveKind) -> Result<Vec<ArchivedDocument>> {
        pages(false, |page| self.archived(kind, page))
    }

    /// Appends an event to the audit log, on its own.
    pub fn audit(&self, holder: &Holder, event: &Event) -> Result<()> {
        self.transact(holder, Wait::USUAL, &mut |transaction| transaction.audit(event))
    }
}

fn pages<T>(exact: bool, list: impl Fn(&Page) -> Result<Listing<T>>) -> Result<Vec<T>> {
    let mut page = Page { exact, ..Page::default() };
    let Listing { mut items, mut next } = list(&page)?;
    while next.is_some() {
        page.after = next;
        let more = list(&page)?;
        items.extend(more.items);
        next = more.next;
    }
    Ok(items)
}
