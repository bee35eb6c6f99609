//! The file itself: read with care, changed by one at a time, replaced whole.
//!
//! A change holds `config.lock` from reading to writing, so that two agents that set two things at
//! once do not undo each other. The file may be a link into a folder of dotfiles: it stays one, and
//! what it leads to is replaced.

use std::fs::{File, TryLockError};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use osm_store::layout::Temporary;
use toml_edit::Document;

use super::Problem;
use crate::error::{CommandError, Exit};
use crate::private;

/// More than anybody writes by hand.
const MOST_BYTES: u64 = 1 << 20;
/// Held while the file is changed.
const LOCK: &str = "config.lock";
/// A change takes a moment; whoever holds the lock for longer hangs.
const PATIENCE: Duration = Duration::from_secs(5);

/// The file's text, if there is a file.
pub(crate) fn read(path: &Path) -> Result<Option<String>, Problem> {
    read_text(path).map_err(Problem::whole)
}

fn read_text(path: &Path) -> Result<Option<String>, String> {
    // Opening a FIFO would wait for ever, so look before.
    let about = match std::fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if !about.is_file() {
        return Err("not a file".into());
    }
    if about.len() > MOST_BYTES {
        return Err(format!("larger than {MOST_BYTES} bytes"));
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map(Some).map_err(|_| "not UTF-8".into())
}

/// The text as TOML.
pub(super) fn parse(text: &str) -> Result<Document<&str>, Problem> {
    Document::parse(text).map_err(|error| {
        let reason = error.message().lines().next().unwrap_or("not TOML");
        Problem::at(text, error.span(), reason)
    })
}

/// Changes the file, or makes it. `edit` gets the text and returns what it is to be; if that is the
/// same, nothing is written.
pub(crate) fn change(
    path: &Path,
    edit: impl FnOnce(&str) -> Result<String, Problem>,
) -> Result<(), CommandError> {
    let cannot = |action: &str, error: &io::Error| {
        CommandError::failed(format!("cannot {action} {}: {error}", path.display()))
    };
    let folder = path.parent().unwrap_or(Path::new("."));
    private::folder(folder).map_err(|error| {
        CommandError::failed(format!("cannot make {}: {error}", folder.display()))
    })?;
    let _lock = lock(&folder.join(LOCK))?;
    let unchanged = |error: CommandError| error.with_hint("the file was left as it is");
    let old = read(path).map_err(|problem| unchanged(problem.in_file(path)))?;
    let text = old.as_deref().unwrap_or_default();
    let new = edit(text).map_err(|problem| unchanged(problem.in_file(path)))?;
    if old.as_deref() == Some(new.as_str()) {
        return Ok(());
    }
    let target = match std::fs::canonicalize(path) {
        Ok(target) => target,
        Err(_) if !path.is_symlink() => path.to_owned(),
        Err(error) => return Err(cannot("follow the link", &error)),
    };
    replace(&target, new.as_bytes()).map_err(|error| unchanged(cannot("write", &error)))
}

fn options() -> std::fs::OpenOptions {
    let mut options = File::options();
    options.read(true).write(true);
    options
}

/// Waits until nobody else changes the file. Where there are no locks, the last one wins.
fn lock(path: &Path) -> Result<File, CommandError> {
    let file = private::open(options().create(true).truncate(false), path).map_err(|error| {
        CommandError::failed(format!("cannot open {}: {error}", path.display()))
    })?;
    let begin = Instant::now();
    while let Err(TryLockError::WouldBlock) = file.try_lock() {
        if begin.elapsed() > PATIENCE {
            let message = format!("somebody else is changing the file: {} is held", path.display());
            return Err(CommandError::failed(message).exiting(Exit::Busy));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(file)
}

/// Replaces a file whole or not at all: see `fs/atomic.rs` of the store, which sweeps up what a
/// crash leaves here too.
#[expect(clippy::disallowed_methods, reason = "no session, and its folder need not be the store's")]
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let pid = std::process::id();
    let random = RandomState::new().hash_one(pid);
    let temporary = path.with_file_name(Temporary { pid, pid_space: 0, random }.name());
    let written = private::open(options().create_new(true), &temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| std::fs::rename(&temporary, path));
    if written.is_err() {
        // What cannot be removed now is litter, and found as such later.
        drop(std::fs::remove_file(&temporary));
    } else if let (true, Some(folder)) = (cfg!(unix), path.parent()) {
        // If a power failure undoes the change now, the old settings are back, whole.
        drop(File::open(folder).and_then(|folder| folder.sync_all()));
    }
    written
}
