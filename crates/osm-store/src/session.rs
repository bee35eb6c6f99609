//! A session that is open: its state in memory, and the way to disk.
//!
//! Sharing is live. Whoever has a session open only *attends* it; the right to change it is taken
//! for the moment of each save. A save shows us the newest document, applies what we changed to it
//! by the rules of `merge.rs`, adds the command to the history and replaces the document, all in
//! one step. So several terminals work in one session at once, each sees the others' changes at
//! its next command, and none is lost.
//!
//! What was changed and not yet saved stays in memory until a save succeeds: a full disk costs
//! nothing but the warning.

mod back;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use osm_identity::SessionId;
use serde_json::{Value, json};

use crate::audit::{Action, Event, Who};
use crate::backend::{Backend, Current, Holder, Presence, Shelf, Stamp, Wait};
use crate::document::{Document, HistoryEntry, Unreadable, Usage};
use crate::error::{Damaged, Error, Result};
use crate::key::Key;
use crate::layout;
use crate::merge::merge;
use crate::metadata::{Metadata, ResetRecord};
use crate::pieces::Pieces;

/// Tells the time; a library has no clock of its own.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Told which keys changed under us: not those that we changed ourselves.
pub type Observer = Box<dyn FnMut(&[Key]) + Send>;

/// What a user should hear of, though nothing failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Notice {
    /// The document could not be understood; it was set aside and the session begins anew.
    Quarantined {
        /// What is wrong with it.
        reason: String,
        /// Its name in quarantine.
        name: String,
    },
    /// The document was written by an older version; it was archived and upgraded.
    Upgraded {
        /// Its name in the archive.
        name: String,
    },
    /// The file was a copy of another session's.
    Adopted {
        /// That session.
        from: SessionId,
    },
}

/// An open session.
pub struct Session {
    backend: Arc<dyn Backend>,
    clock: Clock,
    holder: Holder,
    id: SessionId,
    document: Document,
    stamp: Option<Stamp>,
    edits: BTreeMap<Key, Edit>,
    /// The edits that a save which failed has left: they are waiting for the next one.
    waiting: BTreeMap<Key, Edit>,
    observers: Vec<Observer>,
    notices: Vec<Notice>,
    usage: Option<Usage>,
    _presence: Box<dyn Presence>,
}

/// A change that is not saved yet: what we saw, and what we want.
#[derive(Clone, PartialEq)]
struct Edit {
    base: Option<Value>,
    ours: Option<Value>,
}

impl Session {
    /// Opens a session that is attended, and need not exist yet; it is written down with its first
    /// change.
    pub(crate) fn begin(
        backend: Arc<dyn Backend>,
        clock: Clock,
        holder: Holder,
        id: &SessionId,
        presence: Box<dyn Presence>,
        usage: Option<&Usage>,
        wait: Wait,
    ) -> Result<Self> {
        let mut session = Self {
            document: Document::new(id.clone(), clock()),
            backend,
            clock,
            holder,
            id: id.clone(),
            stamp: None,
            edits: BTreeMap::new(),
            waiting: BTreeMap::new(),
            observers: Vec::new(),
            notices: Vec::new(),
            usage: usage.cloned(),
            _presence: presence,
        };
        session.load(wait)?;
        Ok(session)
    }

    fn load(&mut self, wait: Wait) -> Result<()> {
        match self.backend.load(&self.id, self.stamp)? {
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
                // Whatever else is wrong is put right, under the lock of a save.
                _ => self.save(None, wait),
            },
        }
    }

    /// Whose session it is.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// What the user should hear of; each is told once.
    pub fn take_notices(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.notices)
    }

    /// The value of a key, as we see it: with what we changed and did not save yet.
    pub fn get(&self, key: &Key) -> Result<Option<Value>> {
        match self.edits.get(key) {
            Some(edit) => Ok(edit.ours.clone()),
            None => self.stored(&self.document, key),
        }
    }

    /// Changes the value of a key, in memory.
    pub fn set(&mut self, key: Key, value: Value) -> Result<()> {
        self.edit(key, Some(value))
    }

    /// Removes a key, in memory.
    pub fn remove(&mut self, key: Key) -> Result<()> {
        self.edit(key, None)
    }

    fn edit(&mut self, key: Key, ours: Option<Value>) -> Result<()> {
        let base = match self.edits.get(&key) {
            Some(edit) => edit.base.clone(),
            None => self.stored(&self.document, &key)?,
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
    pub fn record(&mut self, mode: &str, command: &str) -> Result<()> {
        self.save(Some((mode, command)), Wait::USUAL)
    }

    /// Saves what is changed, without a command.
    pub fn persist(&mut self) -> Result<()> {
        if self.edits.is_empty() { Ok(()) } else { self.save(None, Wait::USUAL) }
    }

    /// Sees what others changed; `true` if they did.
    pub fn refresh(&mut self) -> Result<bool> {
        let before = self.stamp;
        self.load(Wait::USUAL)?;
        Ok(self.stamp != before)
    }

    /// Has somebody told when keys change under us.
    pub fn observe(&mut self, observer: Observer) {
        self.observers.push(observer);
    }

    /// The commands that are remembered, oldest first, each with the state after it.
    pub fn history(&self) -> Result<Vec<HistoryEntry>> {
        self.document.history().map_err(|reason| self.corrupt(reason))
    }

    /// The whole state as we see it: `{"shared": …, "script": …}`.
    pub fn state(&self) -> Result<Value> {
        self.as_we_see_it().state().map_err(|reason| self.corrupt(reason))
    }

    /// The document as we see it, for whoever keeps it elsewhere; `None` if nothing was changed since
    /// that revision.
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

    /// Begins anew: the state and the history go to the archive, unless `archive` is `false`.
    /// Returns the name of the archived document.
    pub fn reset(&mut self, archive: bool) -> Result<Option<String>> {
        self.reset_by(archive, false)
    }

    /// The same; `forced` if something that stood in the way was overridden.
    pub(crate) fn reset_by(&mut self, archive: bool, forced: bool) -> Result<Option<String>> {
        self.persist()?;
        let now = (self.clock)();
        let backend = Arc::clone(&self.backend);
        let mut archived = None;
        let mut fresh = Document::new(self.id.clone(), now);
        fresh.origin.clone_from(&self.document.origin);
        let mut next = |current: Current| {
            let (bytes, revision) = match current {
                Current::Missing => (None, 0),
                Current::Unchanged => {
                    (Some(Arc::new(self.document.encode().join())), self.document.revision)
                }
                Current::Found(bytes, _) => {
                    let bytes = Arc::new(bytes);
                    (Some(Arc::clone(&bytes)), revision_of(bytes))
                }
            };
            if let Some(bytes) = bytes.filter(|_| archive) {
                let stem = layout::stem(&self.id, "reset", now);
                archived = Some(backend.shelve(Shelf::Archive, &stem, &bytes)?);
            }
            let event = Event {
                before: json!({"revision": revision}),
                after: json!({"archive": archived}),
                forced,
                ..self.event(Action::Reset, now)
            };
            event.append(backend.as_ref())?;
            fresh.revision = revision + 1;
            fresh.note(self.usage.as_ref(), now);
            fresh.remember("osm", "reset", now);
            Ok(Some(fresh.encode()))
        };
        self.stamp = backend.update(&self.id, self.stamp, &self.holder, Wait::USUAL, &mut next)?;
        self.take_over(fresh, true);
        let record = ResetRecord::new(&self.id, now, archived.clone(), &self.holder);
        Metadata::change(backend.as_ref(), &self.holder, Wait::USUAL, |it| {
            it.resets.push(record.clone());
        })?;
        Ok(archived)
    }

    /// An event that is to be written down before what it tells of is done: nothing of consequence
    /// happens that the audit does not know.
    fn event(&self, what: Action, now: Timestamp) -> Event {
        let who = Who::new(&self.holder, Some(&self.id));
        Event { session: Some(self.id.clone()), ..Event::new(now, who, what) }
    }

    /// Saves what is left and lets go.
    pub fn close(mut self) -> Result<()> {
        self.persist()
    }

    /// Applies what we changed to the newest document and replaces it, in one step.
    fn save(&mut self, command: Option<(&str, &str)>, wait: Wait) -> Result<()> {
        let now = (self.clock)();
        let backend = Arc::clone(&self.backend);
        let mut saved = None;
        let mut notices = Vec::new();
        let mut next = |current: Current| {
            let mut document = match current {
                Current::Unchanged => self.document.clone(),
                Current::Missing => Document::new(self.id.clone(), now),
                Current::Found(bytes, _) => self.understood(bytes, now, &mut notices)?,
            };
            self.apply(&mut document, now)?;
            document.revision += 1;
            document.updated_at = now.max(document.updated_at);
            document.note(self.usage.as_ref(), now);
            if let Some((mode, command)) = command {
                document.remember(mode, command, now);
            }
            let pieces = within_limits(backend.as_ref(), &self.id, document.encode())?;
            saved = Some(document);
            Ok(Some(pieces))
        };
        let stamp = match backend.update(&self.id, self.stamp, &self.holder, wait, &mut next) {
            Ok(stamp) => stamp,
            Err(error) => {
                self.waiting.clone_from(&self.edits);
                return Err(error);
            }
        };
        if let Some(document) = saved {
            self.take_over(document, true);
            self.stamp = stamp;
        }
        self.notices.extend(notices);
        Ok(())
    }

    /// Makes a document of what is stored, setting aside what cannot be one.
    fn understood(
        &self,
        bytes: Vec<u8>,
        now: Timestamp,
        notices: &mut Vec<Notice>,
    ) -> Result<Document> {
        let bytes = Arc::new(bytes);
        match Document::decode(Arc::clone(&bytes)) {
            Ok((mut document, upgraded)) => {
                if upgraded {
                    let stem = layout::stem(&self.id, "upgrade", now);
                    let name = self.backend.shelve(Shelf::Archive, &stem, &bytes)?;
                    let after = json!({"archive": name});
                    let event = Event { after, ..self.event(Action::Migrate, now) };
                    event.append(self.backend.as_ref())?;
                    notices.push(Notice::Upgraded { name });
                }
                if document.id != self.id {
                    notices.push(Notice::Adopted { from: document.id.clone() });
                    document.id = self.id.clone();
                }
                Ok(document)
            }
            Err(Unreadable::Newer(version)) => {
                Err(Error::Newer { place: place(self.backend.as_ref(), &self.id), version })
            }
            Err(Unreadable::Corrupt(reason)) => {
                let stem = layout::stem(&self.id, "corrupt", now);
                let name = self.backend.shelve(Shelf::Quarantine, &stem, &bytes)?;
                let after = json!({"quarantine": name, "reason": reason});
                let event = Event { after, ..self.event(Action::Quarantine, now) };
                event.append(self.backend.as_ref())?;
                notices.push(Notice::Quarantined { reason, name });
                Ok(Document::new(self.id.clone(), now))
            }
        }
    }

    /// Applies what we changed to a document that others may have changed too.
    fn apply(&self, document: &mut Document, now: Timestamp) -> Result<()> {
        let mut merged = Vec::new();
        let mut overwrites = false;
        for (key, edit) in &self.edits {
            let theirs = self.stored(document, key)?;
            let value = merge(edit.base.as_ref(), edit.ours.as_ref(), theirs.as_ref());
            overwrites |= theirs != edit.base && value == edit.ours && theirs != value;
            merged.push((key, value));
        }
        // The loser's value stays in history, even if it was saved without a command.
        if overwrites && !document.is_remembered() {
            document.remember("osm", "(before a change from elsewhere)", now);
        }
        for (key, value) in merged {
            put(document, key, value.as_ref());
        }
        Ok(())
    }

    fn stored(&self, document: &Document, key: &Key) -> Result<Option<Value>> {
        let found = match key {
            Key::Shared(name) => document.shared.get(name),
            Key::Script { command, name } => {
                document.script.get(command).map_or(Ok(None), |zone| zone.get(name))
            }
        };
        found
            .and_then(|compact| compact.map(|compact| document.expand(&compact)).transpose())
            .map_err(|reason| self.corrupt(reason))
    }

    fn corrupt(&self, reason: String) -> Error {
        let place = place(self.backend.as_ref(), &self.id);
        Error::Corrupt { what: Damaged::Session, place, reason }
    }

    /// Goes on with another document, in which what we changed is `saved` or not, and tells the
    /// observers which keys are not what we saw.
    fn take_over(&mut self, document: Document, saved: bool) {
        let seen = (!self.observers.is_empty()).then(|| self.as_we_see_it());
        self.document = document;
        if saved {
            self.edits.clear();
            self.waiting.clear();
        }
        let Some(seen) = seen else { return };
        let changed = changed_keys(&seen, &self.as_we_see_it());
        if !changed.is_empty() {
            for observer in &mut self.observers {
                observer(&changed);
            }
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

/// The revision of a document; 0 if it is none.
pub(crate) fn revision_of(bytes: Arc<Vec<u8>>) -> u64 {
    Document::decode(bytes).map_or(0, |(document, _)| document.revision)
}

/// Where a session lies, for messages.
pub(crate) fn place(backend: &dyn Backend, id: &SessionId) -> String {
    backend.place(id).map_or_else(|| format!("session {id}"), |path| path.display().to_string())
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
        let expanded = |compact: std::result::Result<Value, String>| {
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
