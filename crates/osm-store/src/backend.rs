//! Where sessions are kept: the one seam between what a session is and how it is stored.
//!
//! A backend deals in *documents*, which it never looks into, and in four promises:
//!
//! - [`update`](Backend::update) is one step: it shows the newest document to the caller, takes
//!   the next one and keeps it, with nobody else's update in between. After a crash at any moment
//!   the document is the old one or the new one, whole.
//! - A [`Stamp`] tells whether a document moved since it was last seen, without reading it.
//! - [`attend`](Backend::attend) makes known that a session is in use, until the guard is dropped
//!   or the process dies. Nothing removes or replaces a session that somebody attends.
//! - What is set aside on a [`Shelf`] never replaces anything.
//!
//! Files do this with locks and renames; a database does it with rows, revisions and leases.
//! Callers cannot tell the difference.

pub mod fs;
pub mod memory;

use std::fmt;
use std::ops::{Deref, Range};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use osm_identity::{Liveness, Pid, ProcessInstance, ProcessSource, SessionId};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::pieces::Pieces;

/// A place where sessions are kept.
pub trait Backend: Send + Sync {
    /// Its name: what `--store` takes.
    fn name(&self) -> &'static str;

    /// Makes known that a session is in use.
    fn attend(&self, id: &SessionId, holder: &Holder, wait: Wait) -> Result<Box<dyn Presence>>;

    /// Has a session to oneself: until the guard is dropped nobody can attend or remove it.
    ///
    /// [`Error::Busy`] if somebody attends it, [`Error::Orphaned`] if all of them are dead.
    ///
    /// [`Error::Busy`]: crate::Error::Busy
    /// [`Error::Orphaned`]: crate::Error::Orphaned
    fn seize(&self, id: &SessionId, holder: &Holder) -> Result<Box<dyn Presence>>;

    /// Takes from the dead what still stands in the way of a session: locks that live on in an open
    /// file, leases that have not run out. `true` if there was something.
    ///
    /// Only if every holder is *proven* dead; otherwise [`Error::Unproven`], and the living keep
    /// what they have. `agree` is told whose it was, just before it is taken.
    ///
    /// [`Error::Unproven`]: crate::Error::Unproven
    fn evict_dead(
        &self,
        id: &SessionId,
        agree: &mut dyn FnMut(&[Witness]) -> Result<()>,
    ) -> Result<bool>;

    /// Looks at a document, if it is not the one already known.
    fn load(&self, id: &SessionId, known: Option<Stamp>) -> Result<Current>;

    /// Replaces a document in one step.
    ///
    /// `next` is shown what is there and returns what shall be; `None` leaves it. It is called
    /// while nobody else can update the session, so it must be quick and must not wait. Returns
    /// the stamp of what is there now.
    fn update(
        &self,
        id: &SessionId,
        known: Option<Stamp>,
        holder: &Holder,
        wait: Wait,
        next: &mut dyn FnMut(Current) -> Result<Option<Pieces>>,
    ) -> Result<Option<Stamp>>;

    /// Removes a document, unless there is none ([`Error::NotFound`]), somebody attends the session
    /// ([`Error::Busy`]) or `still` says that it is no longer to be removed (`false` is returned
    /// then).
    ///
    /// `still` is shown the entry as it is at that moment, while nobody can open or change it.
    /// With `keep`, the document goes to [`Shelf::Trash`] first, compressed.
    ///
    /// [`Error::Busy`]: crate::Error::Busy
    /// [`Error::NotFound`]: crate::Error::NotFound
    fn remove(
        &self,
        id: &SessionId,
        keep: bool,
        now: Timestamp,
        still: &mut dyn FnMut(&Entry) -> bool,
    ) -> Result<bool>;

    /// All sessions, in the order of their ids.
    fn entries(&self) -> Result<Vec<Entry>>;

    /// The same, for somebody who will ask again: what was found out may be kept at hand for the
    /// next time.
    fn list(&self) -> Result<Vec<Entry>> {
        self.entries()
    }

    /// Who has a session open, as far as they said.
    fn holders(&self, id: &SessionId) -> Result<Vec<Holder>>;

    /// Those on other machines who say that they have a session open, though no lock shows it here:
    /// a store that is shared without its locks. Nobody, where that cannot be.
    ///
    /// To be asked before the session is attended, so that our own lock does not answer. `host` is
    /// this machine's name.
    fn foreign_holders(&self, id: &SessionId, host: &str, now: Timestamp) -> Result<Vec<Holder>>;

    /// Sets a document aside under a name that begins with `stem`; returns the whole name. Never
    /// replaces anything.
    fn shelve(&self, shelf: Shelf, stem: &str, document: &[u8]) -> Result<String>;

    /// What lies on a shelf, oldest first.
    fn shelved(&self, shelf: Shelf) -> Result<Vec<Shelved>>;

    /// Reads what lies on a shelf (decompressed).
    fn read_shelved(&self, shelf: Shelf, name: &str) -> Result<Vec<u8>>;

    /// Removes what lies on a shelf, for good.
    fn discard(&self, shelf: Shelf, name: &str) -> Result<()>;

    /// The one lock of cleanups; `None` if somebody else has it.
    fn lock_cleanup(&self, holder: &Holder) -> Result<Option<Box<dyn Presence>>>;

    /// Removes what crashes left behind: temporary files and locks of sessions that are gone.
    /// Returns how many. With `dry_run` it only counts.
    fn sweep_litter(&self, now: Timestamp, dry_run: bool) -> Result<usize>;

    /// The small shared record, such as when the last cleanup ran.
    fn metadata(&self) -> Result<Option<Vec<u8>>>;

    /// Replaces the small shared record in one step: `next` is shown what is there and returns what
    /// shall be, while nobody else can.
    fn update_metadata(
        &self,
        holder: &Holder,
        wait: Wait,
        next: &mut dyn FnMut(Option<Vec<u8>>) -> Result<Vec<u8>>,
    ) -> Result<()>;

    /// Appends an event to the audit.
    fn append_audit(&self, line: &str) -> Result<()>;

    /// Where a session's document lies, for people; `None` if it is no file.
    fn place(&self, id: &SessionId) -> Option<PathBuf>;

    /// Where the lock of whoever has it open lies; `None` if it is no file.
    fn lock_place(&self, id: &SessionId) -> Option<PathBuf>;
}

/// Holds something until it is dropped.
pub trait Presence: Send {}

/// Tells one version of a document from the next; what it is made of is the backend's affair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(pub [u64; 4]);

/// What is there.
#[derive(Debug)]
pub enum Current {
    /// No document.
    Missing,
    /// The one that the caller knows already.
    Unchanged,
    /// Another one.
    Found(Vec<u8>, Stamp),
}

/// How long to wait for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait(pub Duration);

impl Wait {
    /// Not at all.
    pub const NONE: Self = Self(Duration::ZERO);
    /// As long as a save of somebody else can reasonably take.
    pub const USUAL: Self = Self(Duration::from_secs(10));
}

/// The process that holds a session or a lock, as other processes read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The exact process.
    #[serde(flatten)]
    pub process: ProcessInstance,
    /// The machine's name, for people.
    pub host: String,
    /// Since when it holds.
    pub since: Timestamp,
    /// What it runs, for people.
    pub command: String,
}

impl Holder {
    /// The process `pid`, as other processes will know it. `host` is the machine's name.
    #[must_use]
    pub fn new(
        source: &dyn ProcessSource,
        pid: Pid,
        host: String,
        since: Timestamp,
        command: String,
    ) -> Self {
        let process = match (source.process(pid), source.host()) {
            (Ok(row), Ok(host)) => ProcessInstance::of(&row, &host, source).with_clock(source),
            _ => ProcessInstance::unread(pid),
        };
        Self { process, host, since, command }
    }
}

/// A holder, and whether it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// Who.
    pub holder: Holder,
    /// What a look showed.
    pub liveness: Liveness,
}

impl Witness {
    /// Looks whether a holder is there.
    #[must_use]
    pub fn look(holder: Holder, source: &dyn ProcessSource) -> Self {
        let liveness = holder.process.liveness(source);
        Self { holder, liveness }
    }

    /// That it is not is proven.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.liveness.is_dead()
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}", self.holder, self.liveness)
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "process {} on {} (`{}`, since {})",
            self.process.pid, self.host, self.command, self.since
        )
    }
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Whose it is.
    pub id: SessionId,
    /// Bytes of the document.
    pub size: u64,
    /// When the document was last replaced.
    pub modified: Timestamp,
    /// Which version this is.
    pub stamp: Stamp,
    /// Somebody attends it.
    pub active: bool,
    /// The first line of the document (see `document.rs`), if it could be read.
    pub summary: Option<FirstLine>,
}

/// The first line of a document. A list has very many of them, and most stand in one file: they are
/// parts of what was read, not copies.
#[derive(Clone)]
pub struct FirstLine {
    whole: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl FirstLine {
    /// A part of some bytes; empty if it is none.
    pub(crate) fn part(whole: &Arc<Vec<u8>>, range: Range<usize>) -> Self {
        Self { whole: Arc::clone(whole), range }
    }
}

impl From<Vec<u8>> for FirstLine {
    fn from(bytes: Vec<u8>) -> Self {
        Self { range: 0..bytes.len(), whole: Arc::new(bytes) }
    }
}

impl Deref for FirstLine {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.whole.get(self.range.clone()).unwrap_or_default()
    }
}

impl PartialEq for FirstLine {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for FirstLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self))
    }
}

/// Where documents are set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shelf {
    /// Before a reset, a restore or a migration.
    Archive,
    /// What could not be understood.
    Quarantine,
    /// What was kept in memory only, because the store could not be opened.
    Recovered,
    /// What a cleanup removed; compressed.
    Trash,
}

impl Shelf {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Archive, Self::Quarantine, Self::Recovered, Self::Trash];

    /// Its name, which is its folder's too.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::Quarantine => "quarantine",
            Self::Recovered => "recovered",
            Self::Trash => "trash",
        }
    }
}

/// What lies on a shelf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shelved {
    /// Its name there.
    pub name: String,
    /// The session that it was, if the name tells.
    pub id: Option<SessionId>,
    /// Bytes, as they are stored.
    pub size: u64,
    /// When it was put there.
    pub modified: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holders_are_read_and_written_with_the_keys_of_earlier_versions() {
        let earlier = r#"{"pid":7,"start":50,"boot":"b","namespace":"pid:[1]","inode":900,"host":"laptop","since":"2026-01-02T03:04:05Z","command":"osm code-review"}"#;
        let holder: Holder = serde_json::from_str(earlier).unwrap();
        assert_eq!(holder.process.key(), "b:900");
        assert_eq!(
            holder.to_string(),
            "process 7 on laptop (`osm code-review`, since 2026-01-02T03:04:05Z)"
        );
        let keys = |text: &str| -> Vec<String> {
            let keys: serde_json::Map<_, _> = serde_json::from_str(text).unwrap();
            keys.into_iter().map(|(key, _)| key).filter(|key| key != "name").collect()
        };
        assert_eq!(keys(&serde_json::to_string(&holder).unwrap()), keys(earlier));
    }
}
