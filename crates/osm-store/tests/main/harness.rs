//! What the tests of the store have in common.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use osm_identity::{Pid, SessionId, System};
use osm_store::backend::{Backend, Current, Entry, Holder, Stamp, Wait};
use osm_store::{FsBackend, Result};
use tempfile::TempDir;

/// A store in a folder of its own.
pub(crate) struct Home {
    folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// The root, which nobody has made yet.
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
        FsBackend::open(&self.root()).unwrap()
    }
}

pub(crate) fn id(text: &str) -> SessionId {
    SessionId::explicit(text.as_ref())
}

pub(crate) fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
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

/// Replaces the small shared record, whatever was there.
pub(crate) fn set_metadata(backend: &dyn Backend, record: &[u8]) -> Result<()> {
    backend.update_metadata(&myself("note"), Wait::USUAL, &mut |_| Ok(record.to_vec()))
}

/// Keeps a document, whatever was there.
pub(crate) fn put(backend: &dyn Backend, id: &SessionId, text: &str) -> Result<Stamp> {
    let mut next = |_| Ok(Some(text.as_bytes().to_vec().into()));
    let stamp = backend.update(id, None, &myself("put"), Wait::USUAL, &mut next)?;
    Ok(stamp.expect("a document was kept"))
}

/// The document as text; `None` if there is none.
pub(crate) fn get(backend: &dyn Backend, id: &SessionId) -> Option<String> {
    match backend.load(id, None).unwrap() {
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
