//! Work continues in memory when the store cannot be used, and is not lost at the end.
//!
//! A home that is unknown, read-only, full, another user's or not a folder, or a server that cannot be
//! reached, must not keep anybody from working; but work must not vanish silently either. So a mode
//! [opens](open) its session here: if the store as a whole is unavailable
//! ([`ErrorKind::is_unavailable`](crate::ErrorKind::is_unavailable)), the session lives in memory,
//! and the caller says so. It begins with the stored state, as far as that can still be read. At the
//! end [`Fallback::rescue`] writes it where it can be written: into the archive `recovered` if the
//! store works again, or else into a new file in the folder for temporary files.
//!
//! With a folder of [`Journals`], a session whose server is away goes on with a journal instead, which
//! outlives this process and is replayed when the server is back (`journal.rs`).
//!
//! A store that works and refuses is another matter: a session that is in use, or was written by a
//! newer osm, is refused here, too.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use osm_identity::SessionId;

use crate::backend::{
    ArchiveKind, Backend, Clock, Current, Holder, Next, Sharing, Stored, Transaction, Wait,
};
use crate::document::{Document, Unreadable};
use crate::error::{At, Error, Result};
use crate::journal::Journals;
use crate::layout;
use crate::session::{Session, place};
use crate::{MemoryBackend, Store};

/// Opens the chosen store; called again at the end, when it may work.
pub type Opener = Arc<dyn Fn() -> Result<Store> + Send + Sync>;

/// What a session that is only in memory needs at its end.
#[must_use = "a session in memory is lost unless it is rescued"]
pub struct Fallback {
    store: Opener,
    clock: Clock,
    why: Error,
    /// The revision that it began with.
    since: u64,
    hides: bool,
    journal: Option<PathBuf>,
}

/// Where a session from memory was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rescued {
    /// Into the archive `recovered`, under this name.
    Archive(String),
    /// Into this file.
    File(PathBuf),
}

/// Opens a session, with a journal or in memory if the store cannot be used.
pub fn open(
    store: Opener,
    journals: Option<&Journals>,
    holder: &Holder,
    clock: &Clock,
    id: &SessionId,
    wait: Wait,
) -> Result<(Session, Option<Fallback>)> {
    match store().and_then(|store| store.open(id, wait)) {
        Ok(mut session) => {
            if let Some(journals) = journals {
                session.journal_in(journals.clone());
            }
            Ok((session, None))
        }
        Err(why) if why.kind().is_unavailable() => {
            let backend = Arc::new(MemoryBackend::new(Arc::clone(clock)));
            if let Some(journals) = journals {
                let memory = Store::new(Arc::clone(&backend) as _, holder.clone());
                let mut session = memory.open(id, wait)?;
                let journal = Some(session.go_away(journals.clone(), Arc::clone(&store))?);
                let (clock, since, hides) = (Arc::clone(clock), 0, true);
                return Ok((session, Some(Fallback { store, clock, why, since, hides, journal })));
            }
            let kept = kept(&store, id)?;
            let (mut since, hides) = (0, matches!(kept, Kept::Hidden));
            if let Kept::Document(document) = kept {
                since = document.revision;
                let mut attended = backend.attend(id, holder, Sharing::Shared, wait)?;
                let mut next = |_: &mut dyn Transaction, _| Ok(Next::Replace(document.encode()));
                attended.update(None, wait, &mut next)?;
            }
            let session = Store::new(backend, holder.clone()).open(id, wait)?;
            let (clock, journal) = (Arc::clone(clock), None);
            Ok((session, Some(Fallback { store, clock, why, since, hides, journal })))
        }
        Err(error) => Err(error),
    }
}

/// What a store that cannot be used keeps of a session.
enum Kept {
    Nothing,
    Document(Box<Document>),
    /// It cannot be read.
    Hidden,
}

/// What the store keeps of a session, read without a lock: a document is replaced whole.
fn kept(store: &Opener, id: &SessionId) -> Result<Kept> {
    let loaded = store().and_then(|store| {
        let current = store.backend().load(Stored::Session(id), None)?;
        Ok((place(store.backend(), id), current))
    });
    match loaded {
        Ok((_, Current::Missing | Current::Unchanged)) | Err(Error::NoFolder(_)) => {
            Ok(Kept::Nothing)
        }
        Ok((place, Current::Found(bytes, _))) => match Document::decode(bytes) {
            Ok((mut document, _)) => {
                document.id.clone_from(id);
                Ok(Kept::Document(Box::new(document)))
            }
            Err(Unreadable::Newer(version)) => Err(Error::Newer { place, version }),
            Err(Unreadable::Corrupt(_)) => Ok(Kept::Hidden),
        },
        Err(_) => Ok(Kept::Hidden),
    }
}

impl Fallback {
    /// For a session whose last save failed, though its store could be opened.
    pub fn after(failure: Error, store: Opener, clock: Clock) -> Self {
        Self { store, clock, why: failure, since: 0, hides: false, journal: None }
    }

    /// Whether the session may have been kept before, and does not begin with that.
    #[must_use]
    pub fn hides_what_was_kept(&self) -> bool {
        self.hides
    }

    /// The journal that the session is saved in meanwhile; without one it is in memory only.
    #[must_use]
    pub fn journal(&self) -> Option<&Path> {
        self.journal.as_deref()
    }

    /// Why the store could not be used.
    #[must_use]
    pub fn why(&self) -> &Error {
        &self.why
    }

    /// Why the store could not be used, after the rescue.
    #[must_use]
    pub fn into_why(self) -> Error {
        self.why
    }

    /// Writes a session down at its end; `None` if there is nothing new in it. `temporary` is the
    /// folder for temporary files.
    pub fn rescue(&self, session: &Session, temporary: &Path) -> Result<Option<Rescued>> {
        let Some(document) = session.to_document(self.since) else {
            return Ok(None);
        };
        let id = session.id();
        if let Ok(name) = (self.store)().and_then(|store| store.recover(id, &document)) {
            return Ok(Some(Rescued::Archive(name)));
        }
        let stem = layout::stem(id, "recovered", (self.clock)());
        write_aside(temporary, &stem, &document).map(|path| Some(Rescued::File(path)))
    }
}

impl fmt::Display for Rescued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Archive(name) => write!(f, "{}/{name}", ArchiveKind::Recovered.name()),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Writes a new file that only we can read. Every user can put files into that folder, so a name
/// that is taken is skipped.
fn write_aside(folder: &Path, stem: &str, document: &[u8]) -> Result<PathBuf> {
    let mut tried = folder.to_owned();
    for name in layout::archive_names(ArchiveKind::Recovered, &format!("osm-{stem}"))? {
        tried = folder.join(name);
        match create_private(&tried) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => {
                let mut file = made.at("create", &tried)?;
                file.write_all(document).and_then(|()| file.sync_all()).at("write", &tried)?;
                return Ok(tried);
            }
        }
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists)).at("create", &tried)
}

fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
