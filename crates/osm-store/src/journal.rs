//! Changes that wait on this machine for a server that is away.
//!
//! A journal is one small file with the edits of one session, each with the value that was seen and
//! the value that is wanted, and the commands that made them. It is replaced whole at every save
//! that fails, so a process that is killed loses nothing that it has acknowledged. Replaying it is an
//! ordinary save: the same merge, the same history.
//!
//! Its process keeps a lock beside it; a journal whose lock is free is continued or replayed by the
//! next process. Its name is random, and a save that contains it writes the name into the document,
//! so a crash between that save and the removal of the file does not replay it again. A journal names its
//! store, because one home can serve several.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use osm_identity::SessionId;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::backend::Clock;
use crate::error::Result;
use crate::fs::atomic;
use crate::fs::folder::Folder;
use crate::fs::lazy_folder::LazyFolder;
use crate::fs::lock::{Attempt, FileLock, IfMissing, Mode};
use crate::fs::pid_space::PidSpace;
use crate::fs::stray;
use crate::key::Key;
use crate::layout;
use crate::pieces::Pieces;

/// The version that this code writes and reads.
const VERSION: u32 = 1;

const FILE: &str = ".journal.json";
const LOCK: &str = ".journal.lock";
const DAMAGED: &str = ".journal.damaged";

/// The journals of one store.
#[derive(Clone)]
pub struct Journals {
    folder: Arc<LazyFolder>,
    pid_space: Arc<PidSpace>,
    /// Which store they wait for.
    store: String,
    clock: Clock,
}

/// A journal, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct JournalEntry {
    /// Its file.
    pub path: PathBuf,
    /// The session whose changes it has; `None` if it cannot be read.
    pub session: Option<String>,
    /// The store that it waits for.
    pub store: Option<String>,
    /// The commands in it.
    pub command: Option<String>,
    /// When it was last written.
    pub saved_at: Option<Timestamp>,
    /// Whether a running process has it.
    pub open: bool,
    /// Why it cannot be replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
}

/// A change that is not saved yet: what we saw, and what we want.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Edit {
    pub(crate) base: Option<Value>,
    pub(crate) ours: Option<Value>,
}

/// The commands that made changes, and the mode of the last of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Command {
    pub(crate) mode: String,
    pub(crate) text: String,
}

/// What a journal says.
#[derive(Debug, PartialEq)]
pub(crate) struct Content {
    pub(crate) session: SessionId,
    pub(crate) host: String,
    pub(crate) saved_at: Timestamp,
    pub(crate) command: Option<Command>,
    pub(crate) edits: BTreeMap<Key, Edit>,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    store: String,
    session: String,
    host: String,
    saved_at: Timestamp,
    command: Option<Command>,
    edits: Vec<FileEdit>,
}

#[derive(Serialize, Deserialize)]
struct FileEdit {
    /// The script that the key belongs to; none for one that all share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    script: Option<String>,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    base: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    ours: Option<Value>,
}

/// A field that is there has a value, even if that is `null`.
fn present<'de, D: Deserializer<'de>>(field: D) -> std::result::Result<Option<Value>, D::Error> {
    Value::deserialize(field).map(Some)
}

/// A journal that we have to ourselves while this lives.
#[derive(Debug)]
pub(crate) struct Journal {
    folder: Arc<Folder>,
    pid_space: Arc<PidSpace>,
    name: String,
    store: String,
    lock: Option<FileLock>,
    is_written: bool,
}

/// Journals that no running process has.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Those of the session, oldest first.
    pub(crate) journals: Vec<(Journal, Content)>,
    /// Those that cannot be read, where they are now, and why.
    pub(crate) damaged: Vec<(PathBuf, String)>,
}

impl Journals {
    /// The journals in osm's folder for a store, which is known by its name or address.
    #[must_use]
    pub fn new(home: &Path, store: String, clock: Clock) -> Self {
        let folder = LazyFolder::within(&LazyFolder::root(home), layout::JOURNAL);
        Self { folder, pid_space: Arc::default(), store, clock }
    }

    /// All journals that are not replayed yet, whatever store they wait for.
    pub fn list(&self) -> Result<Vec<JournalEntry>> {
        let Some(folder) = self.folder.existing()? else { return Ok(Vec::new()) };
        let mut entries = Vec::new();
        for name in names(&folder, FILE)? {
            // It was replayed meanwhile.
            let Some((bytes, _)) = folder.read(&format!("{name}{FILE}"))? else { continue };
            let mut entry = unread(folder.path_of(&format!("{name}{FILE}")));
            entry.open = FileLock::is_held(&folder, &format!("{name}{LOCK}")) == Some(true);
            match decode(&bytes) {
                Ok((store, content)) => {
                    entry.session = Some(content.session.as_str().to_owned());
                    entry.store = Some(store);
                    entry.command = content.command.map(|it| it.text);
                    entry.saved_at = Some(content.saved_at);
                }
                Err(why) => entry.damage = Some(why),
            }
            entries.push(entry);
        }
        entries.sort_by_key(|it| it.saved_at);
        for name in names(&folder, DAMAGED)? {
            let mut entry = unread(folder.path_of(&format!("{name}{DAMAGED}")));
            entry.damage = Some("it is damaged and was set aside".to_owned());
            entries.push(entry);
        }
        Ok(entries)
    }

    /// The time of this machine: that of the store cannot be read.
    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// A new journal. Its file is made when something is written.
    pub(crate) fn create(&self) -> Result<Journal> {
        let folder = self.folder.made()?;
        loop {
            let half = || RandomState::new().hash_one(std::process::id());
            let name = format!("{:016x}{:016x}", half(), half());
            if let Some(journal) = self.take(&folder, &name)? {
                return Ok(journal);
            }
        }
    }

    /// Takes every journal of the session that no running process has; those that cannot be read,
    /// of any session, are set aside.
    pub(crate) fn take_all(&self, id: &SessionId) -> Result<Found> {
        let mut found = Found::default();
        let Some(folder) = self.folder.existing()? else { return Ok(found) };
        stray::remove_temporary(&folder, &self.pid_space, self.now(), false)?;
        for name in names(&folder, FILE)? {
            let Some(mut journal) = self.take(&folder, &name)? else { continue };
            // It was replayed while we came.
            let Some((bytes, _)) = folder.read(&journal.file())? else { continue };
            journal.is_written = true;
            match decode(&bytes) {
                Ok((store, content)) if store == self.store && content.session == *id => {
                    found.journals.push((journal, content));
                }
                Ok(_) => {}
                Err(why) => found.damaged.push((journal.set_aside()?, why)),
            }
        }
        // The lock of a process that was killed before it wrote anything goes when it is dropped.
        for name in names(&folder, LOCK)? {
            if folder.facts(&format!("{name}{FILE}"))?.is_none() {
                let Some(mut journal) = self.take(&folder, &name)? else { continue };
                journal.is_written = folder.facts(&journal.file())?.is_some();
            }
        }
        found.journals.sort_by_key(|(_, content)| content.saved_at);
        Ok(found)
    }

    /// Locks a journal; `None` if another process has it.
    fn take(&self, folder: &Arc<Folder>, name: &str) -> Result<Option<Journal>> {
        let lock = format!("{name}{LOCK}");
        let (alone, patience) = (Mode::Alone, Duration::ZERO);
        match FileLock::acquire(folder, &lock, alone, IfMissing::Create, patience)? {
            Attempt::Held(lock) => Ok(Some(Journal {
                folder: Arc::clone(folder),
                pid_space: Arc::clone(&self.pid_space),
                name: name.to_owned(),
                store: self.store.clone(),
                lock: Some(lock),
                is_written: false,
            })),
            Attempt::Contended | Attempt::Missing => Ok(None),
        }
    }
}

impl Journal {
    /// Its name, which no other journal has on any machine.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has changes that are not in the store.
    pub(crate) fn is_written(&self) -> bool {
        self.is_written
    }

    fn file(&self) -> String {
        format!("{}{FILE}", self.name)
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path_of(&self.file())
    }

    /// Replaces what it says.
    pub(crate) fn write(&mut self, content: Content) -> Result<()> {
        let mut pieces = Pieces::default();
        pieces.add(&encode(&self.store, content));
        let before = self.folder.checked_facts(&self.file())?;
        atomic::replace(&self.folder, &self.pid_space, &self.file(), &pieces, before.as_ref())?;
        self.is_written = true;
        Ok(())
    }

    /// Removes it, because the store has what it says.
    pub(crate) fn remove(mut self) -> Result<()> {
        self.folder.remove(&self.file())?;
        self.is_written = false;
        Ok(())
    }

    /// Keeps a file that cannot be read out of the way; returns where it is.
    fn set_aside(mut self) -> Result<PathBuf> {
        let name = format!("{}{DAMAGED}", self.name);
        let renamed = self.folder.rename(&self.file(), &name);
        renamed.map_err(|error| self.folder.error("set aside", &self.file(), error))?;
        self.is_written = false;
        Ok(self.folder.path_of(&name))
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        // A lock without a journal is litter; one that cannot be removed does no harm.
        if let Some(lock) = self.lock.take().filter(|_| !self.is_written) {
            let _removed = lock.remove_file();
        }
    }
}

fn unread(path: PathBuf) -> JournalEntry {
    JournalEntry {
        path,
        session: None,
        store: None,
        command: None,
        saved_at: None,
        open: false,
        damage: None,
    }
}

/// The names of the journals that have a file of this kind.
fn names(folder: &Folder, kind: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    folder.each_name(&mut |name, _| {
        if let Some(name) = name.strip_suffix(kind)
            && name.len() == 32
            && name.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            names.push(name.to_owned());
        }
    })?;
    names.sort();
    Ok(names)
}

fn encode(store: &str, content: Content) -> Vec<u8> {
    let edits = content.edits.into_iter().map(|(key, Edit { base, ours })| match key {
        Key::Shared(name) => FileEdit { script: None, name, base, ours },
        Key::Script { command, name } => FileEdit { script: Some(command), name, base, ours },
    });
    let file = File {
        version: VERSION,
        store: store.to_owned(),
        session: content.session.as_str().to_owned(),
        host: content.host,
        saved_at: content.saved_at,
        command: content.command,
        edits: edits.collect(),
    };
    serde_json::to_vec(&file).expect("text and JSON values are JSON")
}

/// Reads a journal: the store that it waits for, and its content; or why it cannot be read.
fn decode(bytes: &[u8]) -> std::result::Result<(String, Content), String> {
    let file: File = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if file.version != VERSION {
        return Err(format!("unknown version {}", file.version));
    }
    let session = file.session.parse().map_err(|error| format!("invalid session: {error}"))?;
    let edits = file.edits.into_iter().map(|FileEdit { script, name, base, ours }| {
        let key = match script {
            None => Key::Shared(name),
            Some(command) => Key::Script { command, name },
        };
        (key, Edit { base, ours })
    });
    let (host, saved_at, command) = (file.host, file.saved_at, file.command);
    Ok((file.store, Content { session, host, saved_at, command, edits: edits.collect() }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_journal_says_what_was_written() {
        let edit = |base, ours| Edit { base, ours };
        let content = || Content {
            session: SessionId::explicit("x".as_ref()),
            host: "here".into(),
            saved_at: Timestamp::UNIX_EPOCH,
            command: Some(Command { mode: "m".into(), text: "note a".into() }),
            edits: BTreeMap::from([
                (Key::Shared("a:b".into()), edit(None, Some(Value::Null))),
                (Key::Shared("gone".into()), edit(Some(json!([1])), None)),
                (Key::parse("script:key"), edit(Some(Value::Null), Some(json!({"deep": [1]})))),
            ]),
        };
        let bytes = encode("server", content());
        assert_eq!(decode(&bytes), Ok(("server".to_owned(), content())));
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end]).is_err(), "a part of {end} bytes");
        }
        let newer =
            String::from_utf8(bytes).expect("JSON").replace("\"version\":1", "\"version\":2");
        assert_eq!(decode(newer.as_bytes()), Err("unknown version 2".to_owned()));
    }
}
