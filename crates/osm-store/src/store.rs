//! A store and what can be done with its sessions from outside.

use std::sync::Arc;

use jiff::Timestamp;
use osm_identity::SessionId;
use serde_json::{Map, Value, json};

use crate::audit::{Action, Event, Who};
use crate::backend::{Backend, Current, Entry, Holder, Presence, Shelf, Wait, Witness};
use crate::document::{Document, HistoryEntry, LastUsed, Origin, Unreadable, Usage, VERSION};
use crate::error::{Damaged, Error, Result};
use crate::layout;
use crate::session::{Clock, Notice, Session, place, revision_of, within_limits};
use crate::unique::Unique;

/// A place where sessions are kept, and who uses it.
#[derive(Clone)]
pub struct Store {
    backend: Arc<dyn Backend>,
    holder: Holder,
    clock: Clock,
    force: bool,
    usage: Option<Usage>,
}

/// A session that was only read.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// Whose it is.
    pub id: SessionId,
    /// When it began.
    pub created_at: Timestamp,
    /// When it was last saved.
    pub updated_at: Timestamp,
    /// How often it was saved.
    pub revision: u64,
    /// How it came about.
    pub origin: Option<Origin>,
    /// Where it was last used.
    pub last_used: Option<LastUsed>,
    /// `{"shared": …, "script": …}`.
    pub state: Value,
    /// The commands that are remembered.
    pub history: Vec<HistoryEntry>,
}

impl Store {
    /// A store on a backend.
    pub fn new(backend: Arc<dyn Backend>, holder: Holder, clock: Clock) -> Self {
        Self { backend, holder, clock, force: false, usage: None }
    }

    /// The same store, for somebody who may take a session's locks from those who are proven dead.
    #[must_use]
    pub fn forcing(self, force: bool) -> Self {
        Self { force, ..self }
    }

    /// The same store, for somebody of whom it is known where they work.
    #[must_use]
    pub fn used_by(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// What keeps the sessions.
    #[must_use]
    pub fn backend(&self) -> &dyn Backend {
        self.backend.as_ref()
    }

    /// What keeps the sessions, for another thread.
    #[must_use]
    pub fn shared_backend(&self) -> Arc<dyn Backend> {
        Arc::clone(&self.backend)
    }

    /// Opens a session to work in it.
    pub fn open(&self, id: &SessionId, wait: Wait) -> Result<Session> {
        self.begin(id, self.backend.attend(id, &self.holder, wait)?, wait)
    }

    /// Opens a session that we attend already.
    fn begin(&self, id: &SessionId, presence: Box<dyn Presence>, wait: Wait) -> Result<Session> {
        let (backend, clock) = (Arc::clone(&self.backend), Arc::clone(&self.clock));
        let usage = self.usage.as_ref();
        Session::begin(backend, clock, self.holder.clone(), id, presence, usage, wait)
    }

    /// Those on other machines who have a session open, though no lock shows it here.
    pub fn foreign_holders(&self, id: &SessionId) -> Result<Vec<Holder>> {
        self.backend.foreign_holders(id, &self.holder.host, (self.clock)())
    }

    /// Looks at a session without opening it.
    pub fn read(&self, id: &SessionId) -> Result<Snapshot> {
        match self.backend.load(id, None)? {
            Current::Found(bytes, _) => {
                snapshot(bytes, Damaged::Session, &place(self.backend(), id))
            }
            _ => Err(Error::NotFound(id.clone())),
        }
    }

    /// Looks at what lies on a shelf.
    pub fn read_shelved(&self, shelf: Shelf, name: &str) -> Result<Snapshot> {
        let place = format!("{}/{name}", shelf.name());
        snapshot(self.backend.read_shelved(shelf, name)?, Damaged::Shelved, &place)
    }

    /// Reads a document from anywhere: one of ours, an export, or one of the tool that came before.
    pub fn snapshot(&self, bytes: Vec<u8>, place: &str) -> Result<Snapshot> {
        snapshot(bytes, Damaged::File, place)
    }

    /// Begins a session anew from outside, unless somebody has it open. Returns where what was there
    /// is kept: in the archive, unless `archive` is `false`; in quarantine in any case if it was
    /// damaged.
    pub fn reset(&self, id: &SessionId, archive: bool) -> Result<Option<(Shelf, String)>> {
        if matches!(self.backend.load(id, None)?, Current::Missing) {
            return Err(Error::NotFound(id.clone()));
        }
        self.unless_held(id, |forced| {
            let presence = self.backend.seize(id, &self.holder)?;
            let mut session = self.begin(id, presence, Wait::USUAL)?;
            let aside = session.take_notices().into_iter().find_map(|notice| match notice {
                Notice::Quarantined { name, .. } => Some((Shelf::Quarantine, name)),
                _ => None,
            });
            // What begins in the place of a damaged one is nothing to keep.
            let archived = session.reset_by(archive && aside.is_none(), forced)?;
            Ok(aside.or(archived.map(|name| (Shelf::Archive, name))))
        })
    }

    /// Brings back what lies on a shelf, as `id`; what was there goes to the archive. Returns the
    /// name of that, if there was something.
    pub fn restore(&self, shelf: Shelf, name: &str, id: &SessionId) -> Result<Option<String>> {
        let bytes = self.backend.read_shelved(shelf, name)?;
        let document = decode(bytes, Damaged::Shelved, &format!("{}/{name}", shelf.name()))?;
        self.replace(id, document, &Action::Restore, name)
    }

    /// Takes a document from outside as `id`; what was there goes to the archive. Returns the name
    /// of that, if there was something.
    pub fn import(
        &self,
        bytes: Vec<u8>,
        place: &str,
        id: Option<&SessionId>,
    ) -> Result<(SessionId, Option<String>)> {
        let document = decode(bytes, Damaged::File, place)?;
        let id = id.cloned().unwrap_or_else(|| document.id.clone());
        let archived = self.replace(&id, document, &Action::Import, place)?;
        Ok((id, archived))
    }

    fn replace(
        &self,
        id: &SessionId,
        mut document: Document,
        what: &Action,
        from: &str,
    ) -> Result<Option<String>> {
        self.unless_held(id, |forced| {
            let _alone = self.backend.seize(id, &self.holder)?;
            let now = (self.clock)();
            let mut archived = None;
            let mut next = |current: Current| {
                if let Current::Found(bytes, _) = current {
                    let bytes = Arc::new(bytes);
                    document.revision = document.revision.max(revision_of(Arc::clone(&bytes)));
                    let stem = layout::stem(id, what.name(), now);
                    archived = Some(self.backend.shelve(Shelf::Archive, &stem, &bytes)?);
                }
                let event = Event {
                    before: json!({"archive": archived}),
                    after: json!({"from": from}),
                    forced,
                    ..self.event(what.clone(), id, now)
                };
                event.append(self.backend())?;
                document.id = id.clone();
                document.revision += 1;
                document.updated_at = now;
                document.note(self.usage.as_ref(), now);
                document.remember("osm", &format!("{} {from}", what.name()), now);
                within_limits(self.backend(), id, document.encode()).map(Some)
            };
            self.backend.update(id, None, &self.holder, Wait::USUAL, &mut next)?;
            Ok(archived)
        })
    }

    /// Removes a session, into the trash; [`Error::Busy`] if somebody has it open.
    pub fn delete(&self, id: &SessionId) -> Result<()> {
        self.unless_held(id, |forced| {
            let now = (self.clock)();
            let mut told = Ok(());
            let mut tell = |_: &Entry| {
                let after = json!({"shelf": Shelf::Trash.name()});
                let event = Event { after, forced, ..self.event(Action::Delete, id, now) };
                told = event.append(self.backend());
                told.is_ok()
            };
            self.backend.remove(id, true, now, &mut tell)?;
            told
        })
    }

    /// Does something that nobody else's hold on a session may stand in the way of. `attempt` is
    /// told whether the dead were robbed for it.
    fn unless_held<T>(
        &self,
        id: &SessionId,
        mut attempt: impl FnMut(bool) -> Result<T>,
    ) -> Result<T> {
        match attempt(false) {
            Err(Error::Busy { .. } | Error::Orphaned { .. }) if self.force => {
                let mut agree = |dead: &[Witness]| {
                    let dead: Vec<String> = dead.iter().map(ToString::to_string).collect();
                    let before = json!({"holders": dead});
                    let event = self.event(Action::Force, id, (self.clock)());
                    Event { before, forced: true, ..event }.append(self.backend())
                };
                let forced = self.backend.evict_dead(id, &mut agree)?;
                attempt(forced)
            }
            result => result,
        }
    }

    pub(crate) fn event(&self, what: Action, id: &SessionId, now: Timestamp) -> Event {
        let who = Who::new(&self.holder, None);
        Event { session: Some(id.clone()), ..Event::new(now, who, what) }
    }
}

impl Snapshot {
    /// The session as plain JSON, for people and other programs: nothing is referred to.
    #[must_use]
    pub fn to_export(&self) -> Value {
        let history: Vec<Value> = self
            .history
            .iter()
            .map(|entry| {
                json!({
                    "entry_id": entry.entry_id,
                    "mode_id": entry.mode_id,
                    "command": entry.command,
                    "timestamp": entry.timestamp,
                    "finalState": entry.final_state,
                })
            })
            .collect();
        json!({
            "export": VERSION,
            "session_id": self.id.as_str(),
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "revision": self.revision,
            "origin": self.origin,
            "last_used": self.last_used,
            "shared_state": self.state["shared"],
            "script_state": self.state["script"],
            "history": history,
        })
    }
}

/// Reads a document whole.
fn snapshot(bytes: Vec<u8>, what: Damaged, place: &str) -> Result<Snapshot> {
    let corrupt = |reason| Error::Corrupt { what, place: place.to_owned(), reason };
    let mut document = decode(bytes, what, place)?;
    Ok(Snapshot {
        state: document.state().map_err(corrupt)?,
        history: document.history().map_err(corrupt)?,
        id: document.id,
        created_at: document.created_at,
        updated_at: document.updated_at,
        revision: document.revision,
        origin: document.origin,
        last_used: document.last_used,
    })
}

/// Reads a document or an export.
fn decode(bytes: Vec<u8>, what: Damaged, place: &str) -> Result<Document> {
    let corrupt = |reason: String| Error::Corrupt { what, place: place.to_owned(), reason };
    let bytes = match serde_json::from_slice(&bytes) {
        Ok(Unique(Value::Object(export))) if export.contains_key("export") => {
            from_export(export).map_err(|reason| corrupt(reason.to_owned()))?
        }
        _ => bytes,
    };
    match Document::decode(bytes) {
        Ok((document, _)) => Ok(document),
        Err(Unreadable::Corrupt(reason)) => Err(corrupt(reason)),
        Err(Unreadable::Newer(version)) => Err(Error::Newer { place: place.to_owned(), version }),
    }
}

/// An export is plain, as a document of the tool that came before is: it is read in the same way.
/// There a text is a state in JSON, so a state that is itself a text is written as such.
fn from_export(mut export: Map<String, Value>) -> std::result::Result<Vec<u8>, &'static str> {
    if export.remove("export").as_ref().and_then(Value::as_str) != Some(VERSION) {
        return Err("an export of a version that this osm does not know");
    }
    export.insert("version".into(), "0.2.0".into());
    let history = export.get_mut("history").and_then(Value::as_array_mut);
    for entry in history.into_iter().flatten() {
        if let Some(state) = entry.get_mut("finalState").filter(|state| state.is_string()) {
            *state = Value::String(state.to_string());
        }
    }
    serde_json::to_vec(&export).map_err(|_| "it cannot be read")
}
