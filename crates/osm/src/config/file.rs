//! Reads and replaces the configuration file.
//!
//! A change holds `config.lock` from reading to writing, so that two agents that set two things at
//! once do not undo each other. The file may be a symbolic link into a folder of dotfiles: the link
//! stays, and its target is replaced.

use std::fs::{File, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use osm_store::layout::Temporary;
use toml_edit::Document;

use super::Problem;
use crate::error::{Exit, Failure};
use crate::unwritable_home::is_refusal;
use crate::{ownership, private};

/// Larger files are refused.
const MAX_BYTES: u64 = 1 << 20;
/// Held while the file is changed.
const LOCK: &str = "config.lock";
/// A change takes milliseconds; a process that holds the lock for longer hangs.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// Its folder could not be created.
    #[error("cannot create the folder {}: {source}", .path.display())]
    Folder { path: PathBuf, source: io::Error },
    /// The lock file could not be opened.
    #[error("cannot open {}: {source}", .path.display())]
    Lock { path: PathBuf, source: io::Error },
    /// Another process held the lock for too long.
    #[error("another process is changing the file: it holds the lock {}", .0.display())]
    Busy(PathBuf),
    /// The file cannot be read, or what it says cannot be changed.
    #[error("{}", .problem.place(.path))]
    Invalid { path: PathBuf, problem: Problem },
    /// It is a symbolic link whose target cannot be found.
    #[error("cannot follow the link {}: {source}", .path.display())]
    Link { path: PathBuf, source: io::Error },
    /// The new file could not be written.
    #[error("cannot write {}: {source}", .path.display())]
    Write { path: PathBuf, source: io::Error },
    /// The new file is there, but the system did not confirm that it will stay.
    #[error("cannot sync the folder of {}: {source}", .path.display())]
    Sync { path: PathBuf, source: io::Error },
}

impl Failure for ChangeError {
    fn reason(&self) -> &'static str {
        match self {
            Self::Busy(_) => "busy",
            Self::Invalid { .. } => "invalid_file",
            _ => "cannot_write",
        }
    }

    fn exit(&self) -> Exit {
        if matches!(self, Self::Busy(_)) { Exit::Busy } else { Exit::Failure }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::Busy(_) => vec!["try again when that process has ended".into()],
            Self::Invalid { .. } | Self::Write { .. } => vec!["the file was not changed".into()],
            Self::Sync { .. } => vec!["the file was changed, but may not survive a crash".into()],
            _ => Vec::new(),
        }
    }

    fn unwritable(&self) -> Option<&Path> {
        match self {
            Self::Folder { path, source }
            | Self::Lock { path, source }
            | Self::Write { path, source } => is_refusal(source).then_some(path),
            _ => None,
        }
    }
}

/// The file's text, if there is a file.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Problem> {
    read_text(path).map_err(Problem::whole)
}

fn read_text(path: &Path) -> Result<Option<String>, String> {
    let Some(bytes) = ownership::read(path, MAX_BYTES)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|_| "not UTF-8".into())
}

/// The text as TOML.
pub(super) fn parse(text: &str) -> Result<Document<&str>, Problem> {
    Document::parse(text).map_err(|error| {
        let reason = error.message().lines().next().unwrap_or("not TOML");
        Problem::at(text, error.span(), reason)
    })
}

/// Changes the file, or creates it. `edit` gets the text and returns the new one; if that is the
/// same, nothing is written.
pub(crate) fn change(
    path: &Path,
    edit: impl FnOnce(&str) -> Result<String, Problem>,
) -> Result<(), ChangeError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    private::folder(folder)
        .map_err(|source| ChangeError::Folder { path: folder.to_owned(), source })?;
    let _lock = lock(&folder.join(LOCK))?;
    let invalid = |problem| ChangeError::Invalid { path: path.to_owned(), problem };
    let old = read(path).map_err(invalid)?;
    let text = old.as_deref().unwrap_or_default();
    let new = edit(text).map_err(invalid)?;
    if old.as_deref() == Some(new.as_str()) {
        return Ok(());
    }
    let target = match std::fs::canonicalize(path) {
        Ok(target) => target,
        Err(_) if !path.is_symlink() => path.to_owned(),
        Err(source) => return Err(ChangeError::Link { path: path.to_owned(), source }),
    };
    replace(&target, new.as_bytes())
        .map_err(|source| ChangeError::Write { path: path.to_owned(), source })?;
    // Without this, a power failure could bring back the old file.
    private::sync_folder(target.parent().unwrap_or(Path::new(".")))
        .map_err(|source| ChangeError::Sync { path: path.to_owned(), source })
}

fn options() -> std::fs::OpenOptions {
    let mut options = File::options();
    options.read(true).write(true);
    options
}

/// Waits for the lock. On file systems without locks the last writer wins.
fn lock(path: &Path) -> Result<File, ChangeError> {
    let file = private::open(options().create(true).truncate(false), path)
        .map_err(|source| ChangeError::Lock { path: path.to_owned(), source })?;
    let begin = Instant::now();
    while let Err(TryLockError::WouldBlock) = file.try_lock() {
        if begin.elapsed() > LOCK_TIMEOUT {
            return Err(ChangeError::Busy(path.to_owned()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(file)
}

/// Replaces a file atomically, as `fs/atomic.rs` of the store does. The store's cleanup also removes
/// temporary files that a crash leaves here.
#[expect(clippy::disallowed_methods, reason = "no session, and its folder need not be the store's")]
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let pid = std::process::id();
    let random = RandomState::new().hash_one(pid);
    let temporary = path.with_file_name(Temporary { pid, pid_space: 0, random }.name());
    let written = private::open(options().create_new(true), &temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // If this fails, the store's cleanup removes the file later.
        drop(std::fs::remove_file(&temporary));
    }
    written
}
