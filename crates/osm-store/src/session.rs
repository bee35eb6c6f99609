//! An open session: its state in memory, and how it is saved.
//!
//! Sharing is live. An open session is only *attended*; the right to change it is taken for the
//! moment of each save (`session/save.rs`). So several terminals work in one session at once, each
//! sees the others' changes at its next command, and none is lost.
//!
//! Changes that are not saved yet stay in memory until a save succeeds: a full disk costs nothing
//! but the warning.

mod away;
mod back;
mod numbers;
mod reset;
mod save;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use osm_identity::SessionId;
use serde_json::Value;

use crate::author::Author;
use crate::backend::{Attended, Backend, Current, Holder, Stamp, Stored, Wait, Watch};
use crate::document::{Document, HistoryEntry, Unreadable, Usage, Writer};
use crate::error::{Damage, Damaged, Error, Result};
use crate::journal::Edit;
use crate::key::Key;
use crate::layout;
use crate::pieces::Pieces;

use away::Away;
pub use away::{Journaled, Kept};

/// Is told which keys other processes changed.
pub type Observer = Box<dyn FnMut(&[Key]) + Send>;

/// What a user should know, though nothing failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The document could not be read; it was quarantined, and the session starts empty.
    Quarantined {
        /// What is wrong with it.
        reason: Damage,
        /// Its name in quarantine.
        name: String,
    },
    /// The document was written by an older version; it was archived and upgraded.
    Upgraded {
        /// Its name in the archive.
        name: String,
    },
    /// Another process has emptied the session.
    Reset {
        /// The name of the old state in the archive, if it was archived.
        archive: Option<String>,
        /// The process.
        by: Box<Author>,
    },
    /// The file was a copy of another session's.
    Adopted {
        /// That session.
        from: SessionId,
    },
    /// Changes that waited in a journal while the store was away are saved now.
    Replayed {
        /// The commands that made them.
        command: Option<String>,
        /// The machine on which they were made.
        host: String,
        /// The keys that another process changed meanwhile; their old values are in the history.
        overwritten: Vec<Key>,
    },
    /// A journal cannot be replayed; it is kept.
    NotReplayed {
        /// Its file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The folder of journals cannot be used.
    JournalFailed {
        /// Why.
        reason: String,
    },
}

/// An open session.
pub struct Session {
    backend: Arc<dyn Backend>,
    /// Carries the fence: every save goes through it.
    attended: Box<dyn Attended>,
    holder: Holder,
    id: SessionId,
    document: Document,
    stamp: Option<Stamp>,
    edits: BTreeMap<Key, Edit>,
    /// The edits that a failed save has left: they wait for the next one.
    waiting: BTreeMap<Key, Edit>,
    /// The next save puts the state before it into the history, if it is not there yet.
    keeps_old: bool,
    /// The document of a save of which it is not known whether it was carried out, with its edits.
    unsettled: Option<(Document, BTreeMap<Key, Edit>)>,
    observers: Vec<Observer>,
    notices: Vec<Notice>,
    usage: Option<Usage>,
    away: Away,
}

impl Session {
    /// Opens a session that is attended. It need not exist yet: it is stored with its first change.
    pub(crate) fn begin(
        backend: Arc<dyn Backend>,
        attended: Box<dyn Attended>,
        holder: Holder,
        id: &SessionId,
        usage: Option<&Usage>,
        wait: Wait,
    ) -> Result<Self> {
        let mut session = Self {
            document: Document::new(id.clone(), backend.now()?),
            backend,
            attended,
            holder,
            id: id.clone(),
            stamp: None,
            edits: BTreeMap::new(),
            waiting: BTreeMap::new(),
            keeps_old: false,
            unsettled: None,
            observers: Vec::new(),
            notices: Vec::new(),
            usage: usage.cloned(),
            away: Away::default(),
        };
        session.load(wait)?;
        Ok(session)
    }

    fn load(&mut self, wait: Wait) -> Result<()> {
        self.settle()?;
        match self.backend.load(Stored::Session(&self.id), self.stamp)? {
            Current::Missing | Current::Unchanged => Ok(()),
            Current::Found(bytes, stamp) => match Document::decode(bytes) {
                Ok((document, false)) if document.id == self.id => {
                    self.take_over(document, false);
                    self.stamp = Some(stamp);
                    Ok(())
                }
                Err(Unreadable::Newer(version)) => {
                    Err(Error::Newer { place: place(self.backend.as_ref(), &self.id), version })
                }
                // Anything else that is wrong is repaired by a save, under its lock.
                _ => self.save(None, wait).map(drop),
            },
        }
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// What the user should know; each notice is returned once.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// The value of a key, as we see it: with what we changed and did not save yet.
    pub fn get(&self, key: &Key) -> Result<Option<Value>> {
        match self.edits.get(key) {
            Some(edit) => Ok(edit.ours.clone()),
            None => stored(&self.document, key).map_err(|reason| self.corrupt(reason)),
        }
    }

    /// Changes the value of a key, in memory.
    pub fn set(&mut self, key: Key, value: Value) -> Result<()> {
        self.edit(key, Some(value))
    }

    /// Changes the value of a key, in memory; the old value stays in the history.
    pub fn replace(&mut self, key: Key, value: Value) -> Result<()> {
        self.keeps_old = true;
        self.edit(key, Some(value))
    }

    /// Removes a key, in memory.
    pub fn remove(&mut self, key: Key) -> Result<()> {
        self.edit(key, None)
    }

    fn edit(&mut self, key: Key, ours: Option<Value>) -> Result<()> {
        let base = match self.edits.get(&key) {
            Some(edit) => edit.base.clone(),
            None => stored(&self.document, &key).map_err(|reason| self.corrupt(reason))?,
        };
        if base == ours {
            self.edits.remove(&key);
        } else {
            self.edits.insert(key, Edit { base, ours });
        }
        Ok(())
    }

    /// Whether something is changed and not saved.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        !self.edits.is_empty()
    }

    /// Remembers a command with the state after it, and saves.
    pub fn record(&mut self, mode: &str, command: &str) -> Result<Kept> {
        self.keep(Some((mode, command)))
    }

    /// Saves what is changed, without a command.
    pub fn persist(&mut self) -> Result<Kept> {
        if self.edits.is_empty() { Ok(Kept::Stored) } else { self.keep(None) }
    }

    /// Sees what others changed; `true` if they did.
    pub fn refresh(&mut self) -> Result<bool> {
        if self.attach_unchanged()? {
            return Ok(true);
        }
        // The save that follows asks the store; one wait for an answer is enough.
        if self.is_away() && self.unsettled.is_none() {
            return Ok(false);
        }
        let before = self.stamp;
        self.load(Wait::USUAL)?;
        Ok(self.stamp != before)
    }

    /// Calls `observer` when other processes change keys.
    pub fn observe(&mut self, observer: Observer) {
        self.observers.push(observer);
    }

    /// The commands in the history, oldest first, each with the state after it.
    pub fn history(&self) -> Result<Vec<HistoryEntry>> {
        self.document.history().map_err(|reason| self.corrupt(reason))
    }

    /// Watches for changes by other processes, from now on.
    pub fn watch(&self) -> Result<Box<dyn Watch>> {
        self.backend.watch(&self.id)
    }

    /// The whole state as we see it: `{"shared": …, "script": …}`.
    pub fn state(&self) -> Result<Value> {
        self.as_we_see_it().state().map_err(|reason| self.corrupt(reason))
    }

    /// The document as we see it, to be stored elsewhere; `None` if nothing was changed since that
    /// revision.
    pub(crate) fn to_document(&self, since: u64) -> Option<Vec<u8>> {
        let is_known = self.document.revision <= since && self.edits.is_empty();
        (!is_known).then(|| self.as_we_see_it().encode().join())
    }

    fn as_we_see_it(&self) -> Document {
        let mut document = self.document.clone();
        for (key, edit) in &self.edits {
            put(&mut document, key, edit.ours.as_ref());
        }
        document
    }

    /// Saves the remaining changes, if only in its journal, and closes the session.
    pub fn close(mut self) -> Result<()> {
        self.persist().map(drop)
    }

    fn corrupt(&self, reason: Damage) -> Error {
        let place = place(self.backend.as_ref(), &self.id);
        Error::Corrupt { what: Damaged::Session, place, reason }
    }

    /// Continues with another document, in which our changes are `saved` or not, and tells the
    /// observers which keys differ from what we saw.
    fn take_over(&mut self, document: Document, saved: bool) {
        self.notice_reset(&document);
        let seen = (!self.observers.is_empty()).then(|| self.as_we_see_it());
        self.document = document;
        if saved {
            self.edits.clear();
            self.waiting.clear();
            self.keeps_old = false;
        }
        if let Some(seen) = seen {
            self.tell_observers(&seen);
        }
    }

    /// Tells the observers which keys differ from what we saw.
    fn tell_observers(&mut self, seen: &Document) {
        if self.observers.is_empty() {
            return;
        }
        let changed = changed_keys(seen, &self.as_we_see_it());
        if !changed.is_empty() {
            for observer in &mut self.observers {
                observer(&changed);
            }
        }
    }
}

impl Session {
    /// Who writes with this handle, for the history.
    fn writer(&self) -> Writer {
        Writer::new(&self.holder, self.usage.as_ref())
    }

    /// This process, as the history names it.
    #[must_use]
    pub fn author(&self) -> Author {
        self.writer().author
    }

    /// The other processes that have the session open.
    pub fn others(&self) -> Result<Vec<Holder>> {
        let holders = self.backend.holders(&self.id)?;
        let ours = self.author();
        Ok(holders.into_iter().filter(|it| !ours.is_process(&it.process)).collect())
    }

    /// Notes that another process emptied the session since we saw it last.
    fn notice_reset(&mut self, document: &Document) {
        let Some(reset) = document.last_reset() else { return };
        let is_known = self.document.last_reset().as_ref() == Some(&reset);
        if self.stamp.is_some() && !is_known && !reset.by.is_process(&self.holder.process) {
            let (archive, by) = (reset.archive, Box::new(reset.by));
            self.notices.push(Notice::Reset { archive, by });
        }
    }
}

/// Refuses a document that could not be read back.
pub(crate) fn within_limits(
    backend: &dyn Backend,
    id: &SessionId,
    document: Pieces,
) -> Result<Pieces> {
    let size = document.size();
    if size <= layout::LARGEST_DOCUMENT {
        return Ok(document);
    }
    Err(Error::TooLarge { place: place(backend, id), size })
}

/// The revision of a document; 0 if it cannot be read.
pub(crate) fn revision_of(bytes: Arc<Vec<u8>>) -> u64 {
    Document::decode(bytes).map_or(0, |(document, _)| document.revision)
}

/// Where a session is stored, for messages.
pub(crate) fn place(backend: &dyn Backend, id: &SessionId) -> String {
    let path = backend.files().map(|files| files.layout().document(id));
    path.map_or_else(|| format!("session {}", id.label()), |path| path.display().to_string())
}

/// The value of a key in a document.
fn stored(document: &Document, key: &Key) -> std::result::Result<Option<Value>, Damage> {
    let found = match key {
        Key::Shared(name) => document.shared.get(name),
        Key::Script { command, name } => {
            document.script.get(command).map_or(Ok(None), |zone| zone.get(name))
        }
    };
    found?.map(|compact| document.expand(&compact)).transpose()
}

/// Writes a value into a document.
fn put(document: &mut Document, key: &Key, value: Option<&Value>) {
    let compact = value.map(|value| document.compact(value));
    match (key, compact) {
        (Key::Shared(name), Some(value)) => document.shared.insert(name, &value),
        (Key::Shared(name), None) => document.shared.remove(name),
        (Key::Script { command, name }, Some(value)) => {
            document.script.entry(command.clone()).or_default().insert(name, &value);
        }
        (Key::Script { command, name }, None) => {
            let Some(zone) = document.script.get_mut(command) else { return };
            zone.remove(name);
            // A state is the same whether a command once had a key or not.
            if zone.len() == 0 {
                document.script.shift_remove(command);
            }
        }
    }
}

/// The keys whose values differ between two documents.
fn changed_keys(one: &Document, other: &Document) -> Vec<Key> {
    let keys = |document: &Document| {
        let mut keys: BTreeMap<Key, Value> = BTreeMap::new();
        let expanded = |compact: std::result::Result<Value, Damage>| {
            compact.and_then(|compact| document.expand(&compact)).unwrap_or_default()
        };
        for (name, value) in document.shared.iter() {
            keys.insert(Key::Shared(name.to_owned()), expanded(value));
        }
        for (command, zone) in &document.script {
            for (name, value) in zone.iter() {
                let key = Key::Script { command: command.clone(), name: name.to_owned() };
                keys.insert(key, expanded(value));
            }
        }
        keys
    };
    let (one, other) = (keys(one), keys(other));
    let all: std::collections::BTreeSet<&Key> = one.keys().chain(other.keys()).collect();
    all.into_iter().filter(|key| one.get(*key) != other.get(*key)).cloned().collect()
}
