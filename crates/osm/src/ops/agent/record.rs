//! What osm wrote into files of agents, so that it can be taken back: `agents.json` in osm's home.
//!
//! The record of a file is written before the file. After a crash in between, the record tells of a change that
//! is not there, and taking that back changes nothing.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{AgentError, Reach};
use crate::agent::json_text::Edit;
use crate::invocation::Invocation;
use crate::{ownership, private, replacing};

const NAME: &str = "agents.json";
const LOCK: &str = "agents.lock";
const MOST_BYTES: u64 = 16 << 20;
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);

/// All files that osm changed.
#[derive(Debug)]
pub(super) struct Record {
    path: PathBuf,
    entries: Vec<Entry>,
    /// Held while files are changed.
    _lock: Option<File>,
}

/// A file that osm changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The file, as the agent names it.
    pub(super) path: PathBuf,
    /// The agent.
    pub(super) agent: String,
    /// Whose settings it belongs to.
    pub(super) reach: Reach,
    /// Links must not lead out of this folder.
    pub(super) base: PathBuf,
    /// The file did not exist.
    pub(super) created: bool,
    /// Folders that did not exist, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) folders: Vec<PathBuf>,
    /// What the file is.
    pub(super) kind: Kind,
    /// The SHA-256 of the file after the change.
    pub(super) sha256: String,
    /// The changes.
    pub(super) edits: Vec<Edit>,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    /// The whole file is osm's.
    Own,
    /// Settings of the user's, in strict JSON.
    Json,
    /// The same, with comments.
    JsonWithComments,
    /// Settings of the user's, in TOML.
    Toml,
}

#[derive(Default, Serialize, Deserialize)]
struct Document {
    version: u32,
    files: Vec<Entry>,
}

impl Record {
    /// The record, for an operation that changes files.
    pub(super) fn open(invocation: &Invocation) -> Result<Self, AgentError> {
        let home = invocation.home()?;
        private::folder(&home).map_err(AgentError::io("create", &home))?;
        let lock = lock(&home.join(LOCK))?;
        Ok(Self { _lock: Some(lock), ..Self::read(invocation)? })
    }

    /// The record, for an operation that only looks.
    pub(super) fn read(invocation: &Invocation) -> Result<Self, AgentError> {
        let path = invocation.home()?.join(NAME);
        let invalid = |reason: String| AgentError::Record { path: path.clone(), reason };
        let document = match ownership::read(&path, MOST_BYTES).map_err(invalid)? {
            None => Document::default(),
            Some(bytes) => {
                serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))?
            }
        };
        Ok(Self { path, entries: document.files, _lock: None })
    }

    /// All files.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What was written to a file.
    pub(super) fn find(&self, path: &Path) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.path == path)
    }

    /// Records a file, or that osm has nothing in it any more.
    pub(super) fn set(&mut self, path: &Path, entry: Option<Entry>) -> Result<(), AgentError> {
        let before = self.entries.clone();
        self.entries.retain(|it| it.path != path);
        self.entries.extend(entry);
        if self.entries == before {
            return Ok(());
        }
        let document = Document { version: 1, files: self.entries.clone() };
        // Before the file itself is changed: what cannot be recorded cannot be taken back.
        let mut bytes = serde_json::to_vec_pretty(&document).map_err(|_| AgentError::Invalid {
            path: path.to_owned(),
            reason: "its path, or that of a folder around it, is not UTF-8".into(),
        })?;
        bytes.push(b'\n');
        replacing::replace(&self.path, &bytes, None).map_err(AgentError::io("write", &self.path))
    }
}

fn lock(path: &Path) -> Result<File, AgentError> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    let file = private::open(&mut options, path).map_err(AgentError::io("open", path))?;
    acquire(path, || file.try_lock())?;
    Ok(file)
}

/// Tries until a lock is held. Where the file system has no locks, nothing is changed: two processes would
/// overwrite each other's record.
fn acquire(
    path: &Path,
    mut attempt: impl FnMut() -> Result<(), TryLockError>,
) -> Result<(), AgentError> {
    let begin = Instant::now();
    loop {
        match attempt() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(source)) => return Err(AgentError::io("lock", path)(source)),
            Err(TryLockError::WouldBlock) if begin.elapsed() > LOCK_TIMEOUT => {
                return Err(AgentError::Busy(path.to_owned()));
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_the_file_system_does_not_have_is_an_error() {
        let mut answers = vec![
            Err(TryLockError::Error(std::io::ErrorKind::Unsupported.into())),
            Err(TryLockError::WouldBlock),
        ];
        let path = Path::new("/home/ada/.config/one-shot-man/agents.lock");
        let error = acquire(path, || answers.pop().unwrap_or(Ok(()))).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot lock /home/ada/.config/one-shot-man/agents.lock: unsupported"
        );
        assert!(acquire(path, || Ok(())).is_ok());
    }
}
