//! Work goes on in memory when the store cannot be used, and is not lost at the end.
//!
//! A home that is read-only, full, somebody else's or no folder at all must not keep anybody from
//! working; but neither may work vanish in silence. So whoever keeps a session open [opens](open) it
//! here: if the store fails for reasons that lie with the disk, the session lives in memory, and the
//! caller says so loudly. It begins with what was kept, as far as that can still be read. At the end
//! [`Fallback::rescue`] writes it where it can be written: to the shelf `recovered` if the store works
//! again, or else to a file of its own in the folder for temporary files. What it returns tells the
//! command that brings it back.
//!
//! A store that works and refuses is another matter: a session that is in use, or was written by a
//! newer osm, is refused here too.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use osm_identity::SessionId;
use serde_json::json;

use crate::audit::{Action, Event};
use crate::backend::{Backend, Current, Holder, Shelf, Wait};
use crate::document::{Document, Unreadable};
use crate::error::{At, Error, Result};
use crate::layout;
use crate::session::{Clock, Session, place};
use crate::{MemoryBackend, Store};

/// Opens the store that is meant; asked again at the end, when it may work.
pub type Opener = Box<dyn Fn() -> Result<Store> + Send>;

/// What a session that is in memory alone needs at its end.
#[must_use = "what is in memory is lost unless it is rescued"]
pub struct Fallback {
    store: Opener,
    clock: Clock,
    why: Error,
    /// The revision that it began with.
    since: u64,
    hides: bool,
}

/// Where a session from memory went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rescued {
    /// Onto the shelf `recovered`, under this name.
    Shelf(String),
    /// Into this file.
    File(PathBuf),
}

/// Opens a session, in memory if the store cannot be used.
pub fn open(
    store: Opener,
    holder: &Holder,
    clock: &Clock,
    id: &SessionId,
    wait: Wait,
) -> Result<(Session, Option<Fallback>)> {
    match store().and_then(|store| store.open(id, wait)) {
        Ok(session) => Ok((session, None)),
        Err(why @ (Error::Io { .. } | Error::Unsafe { .. })) => {
            let backend = Arc::new(MemoryBackend::new());
            let kept = kept(&store, id)?;
            let (mut since, hides) = (0, matches!(kept, Kept::Hidden));
            if let Kept::Document(document) = kept {
                since = document.revision;
                let mut next = |_| Ok(Some(document.encode()));
                backend.update(id, None, holder, wait, &mut next)?;
            }
            let clock = Arc::clone(clock);
            let session = Store::new(backend, holder.clone(), Arc::clone(&clock)).open(id, wait)?;
            Ok((session, Some(Fallback { store, clock, why, since, hides })))
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
        let current = store.backend().load(id, None)?;
        Ok((place(store.backend(), id), current))
    });
    match loaded {
        Ok((_, Current::Missing | Current::Unchanged)) => Ok(Kept::Nothing),
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
        Self { store, clock, why: failure, since: 0, hides: false }
    }

    /// Whether the session may have been kept before, and does not begin with that.
    #[must_use]
    pub fn hides_what_was_kept(&self) -> bool {
        self.hides
    }

    /// Why the store could not be used.
    #[must_use]
    pub fn why(&self) -> &Error {
        &self.why
    }

    /// Ends a session and writes it down; `None` if there is nothing new in it. `temporary` is the
    /// folder for temporary files.
    pub fn rescue(self, session: &Session, temporary: &Path) -> Result<Option<Rescued>> {
        let Some(document) = session.to_document(self.since) else {
            return Ok(None);
        };
        let (id, now) = (session.id(), (self.clock)());
        let stem = layout::stem(id, "recovered", now);
        let shelve = |store: Store| {
            let name = store.backend().shelve(Shelf::Recovered, &stem, &document)?;
            let after = json!({"recovered": name});
            let event = Event { after, ..store.event(Action::Recover, id, now) };
            // It is safe; that nobody wrote down how it came there is the lesser evil.
            let _told = event.append(store.backend());
            Ok(name)
        };
        match (self.store)().and_then(shelve) {
            Ok(name) => Ok(Some(Rescued::Shelf(name))),
            Err(_) => {
                write_aside(temporary, &stem, &document).map(|path| Some(Rescued::File(path)))
            }
        }
    }
}

impl Rescued {
    /// The command that brings it back.
    #[must_use]
    pub fn command(&self) -> String {
        match self {
            Self::Shelf(name) => format!("osm session restore {name}"),
            Self::File(path) => format!("osm session import {}", quoted(path)),
        }
    }
}

impl fmt::Display for Rescued {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shelf(name) => write!(f, "{}/{name}", Shelf::Recovered.name()),
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}

/// Writes a new file that only we can read. Anybody may have put anything into that folder, so a
/// name that is taken is passed over.
fn write_aside(folder: &Path, stem: &str, document: &[u8]) -> Result<PathBuf> {
    let mut tried = folder.to_owned();
    for name in layout::shelf_names(Shelf::Recovered, &format!("osm-{stem}"))? {
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

/// A path as a shell takes it.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if cfg!(windows) || text.chars().all(plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
