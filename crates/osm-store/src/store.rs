//! A store, and what can be done with its sessions from outside.

use std::ops::ControlFlow;
use std::sync::Arc;

use jiff::Timestamp;
use osm_identity::SessionId;
use serde_json::{Map, Value, json};

use crate::audit::{Action, Event, Who};
use crate::backend::{
    ArchiveKind, Attended, Backend, Current, Entry, Holder, HolderState, Next, Removal, Sharing,
    Stamp, Stored, Transaction, Wait, update_settled,
};
use crate::document::{
    Document, HistoryEntry, LastUsed, Origin, Unreadable, Usage, VERSION, Writer,
};
use crate::error::{Damage, Damaged, Error, Result};
use crate::journal::Journals;
use crate::layout;
use crate::pieces::Pieces;
use crate::session::{Notice, Session, place, revision_of, within_limits};
use crate::stored_value::StoredValue;
use crate::unique::Unique;

/// A place where sessions are stored, and the process that uses it.
#[derive(Clone)]
pub struct Store {
    backend: Arc<dyn Backend>,
    holder: Holder,
    force: bool,
    usage: Option<Usage>,
    journals: Option<Journals>,
}

/// A document that is to be imported.
#[derive(Clone, Debug)]
pub struct Import {
    document: Document,
    place: String,
}

impl Import {
    /// The session that it was.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.document.id
    }
}

/// A session that was read without opening it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// The session.
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
    pub state: StoredValue,
    /// The commands in the history.
    pub history: Vec<HistoryEntry>,
    document: Document,
    what: Damaged,
    place: String,
}

impl Store {
    /// A store on a backend.
    pub fn new(backend: Arc<dyn Backend>, holder: Holder) -> Self {
        Self { backend, holder, force: false, usage: None, journals: None }
    }

    /// The same store; with `force` it breaks the locks of holders that are proven dead.
    #[must_use]
    pub fn forcing(self, force: bool) -> Self {
        Self { force, ..self }
    }

    /// The same store, with what to note about its use in the sessions that are opened or changed.
    #[must_use]
    pub fn used_by(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// The same store; the sessions that it opens begin with what waited for it in journals.
    #[must_use]
    pub fn replaying(self, journals: Journals) -> Self {
        Self { journals: Some(journals), ..self }
    }

    /// The backend.
    #[must_use]
    pub fn backend(&self) -> &dyn Backend {
        self.backend.as_ref()
    }

    /// The backend, for another thread.
    #[must_use]
    pub fn shared_backend(&self) -> Arc<dyn Backend> {
        Arc::clone(&self.backend)
    }

    /// All sessions, in the order of their ids.
    pub fn list(&self) -> Result<Vec<Entry>> {
        self.backend.all(false)
    }

    /// Whether there is such a session.
    pub fn contains(&self, id: &SessionId) -> Result<bool> {
        let found = self.backend.load(Stored::Session(id), None)?;
        Ok(!matches!(found, Current::Missing))
    }

    /// Opens a session to work in it.
    pub fn open(&self, id: &SessionId, wait: Wait) -> Result<Session> {
        let attended = self.attend(id, Sharing::Shared, wait)?;
        let mut session = self.begin(id, attended, wait)?;
        if let Some(journals) = &self.journals {
            session.replay(journals)?;
        }
        Ok(session)
    }

    /// Attends a session. If the reply is lost, the store may keep an unused lease until it
    /// runs out; a second one does no harm.
    fn attend(&self, id: &SessionId, sharing: Sharing, wait: Wait) -> Result<Box<dyn Attended>> {
        let attend = || self.backend.attend(id, &self.holder, sharing, wait);
        match attend() {
            Err(Error::UnknownOutcome(_)) => attend(),
            attended => attended,
        }
    }

    /// Opens a session that is attended already.
    fn begin(&self, id: &SessionId, attended: Box<dyn Attended>, wait: Wait) -> Result<Session> {
        let (backend, usage) = (Arc::clone(&self.backend), self.usage.as_ref());
        Session::begin(backend, attended, self.holder.clone(), id, usage, wait)
    }

    /// The holders of a session on other machines whose locks cannot be seen here.
    pub fn foreign_holders(&self, id: &SessionId) -> Result<Vec<Holder>> {
        let files = self.backend.files();
        files.map_or_else(|| Ok(Vec::new()), |files| files.foreign_holders(id, &self.holder.host))
    }

    /// Reads a session without opening it.
    pub fn read(&self, id: &SessionId) -> Result<Snapshot> {
        match self.backend.load(Stored::Session(id), None)? {
            Current::Found(bytes, _) => {
                snapshot(bytes, Damaged::Session, &place(self.backend(), id))
            }
            _ => Err(Error::NotFound(id.clone())),
        }
    }

    /// Reads an archived document.
    pub fn read_archived(&self, kind: ArchiveKind, name: &str) -> Result<Snapshot> {
        snapshot(self.archived_bytes(kind, name)?, Damaged::Archive, &archive_place(kind, name))
    }

    fn archived_bytes(&self, kind: ArchiveKind, name: &str) -> Result<Vec<u8>> {
        match self.backend.load(Stored::Archived(kind, name), None)? {
            Current::Found(bytes, _) => Ok(bytes),
            _ => Err(Error::ArchiveNotFound(name.to_owned())),
        }
    }

    /// Reads a document from any place: one of ours, an export, or one of the upstream tool.
    pub fn snapshot(&self, bytes: Vec<u8>, place: &str) -> Result<Snapshot> {
        snapshot(bytes, Damaged::File, place)
    }

    /// Empties a session from outside, unless it is open. Returns where its old document is: in the
    /// archive, unless `archive` is `false`; in quarantine in any case if it was damaged.
    pub fn reset(&self, id: &SessionId, archive: bool) -> Result<Option<(ArchiveKind, String)>> {
        if !self.contains(id)? {
            return Err(Error::NotFound(id.clone()));
        }
        self.unless_held(id, |forced| {
            let attended = self.attend(id, Sharing::Exclusive, Wait::NONE)?;
            let mut session = self.begin(id, attended, Wait::USUAL)?;
            let quarantined = session.take_notices().into_iter().find_map(|notice| match notice {
                Notice::Quarantined { name, .. } => Some((ArchiveKind::Quarantine, name)),
                _ => None,
            });
            // The empty session that replaced a damaged one is not worth archiving.
            let archived = session.reset_by(archive && quarantined.is_none(), forced)?;
            Ok(quarantined.or(archived.map(|name| (ArchiveKind::Archive, name))))
        })
    }

    /// Empties a session that other processes have open: they continue with the empty one. Returns
    /// the name of its old document in the archive.
    pub fn reset_shared(&self, id: &SessionId, archive: bool) -> Result<Option<String>> {
        self.open(id, Wait::USUAL)?.reset(archive)
    }

    /// Restores an archived document as `id`; the session that it replaces goes to the archive.
    /// Returns the name of that, if there was a session.
    pub fn restore(&self, kind: ArchiveKind, name: &str, id: &SessionId) -> Result<Option<String>> {
        let bytes = self.archived_bytes(kind, name)?;
        let document = decode(bytes, Damaged::Archive, &archive_place(kind, name))?;
        self.replace(id, &document, &Action::Restore, name)
    }

    /// Imports a document as `id`; the session that it replaces goes to the archive. Returns the
    /// name of that, if there was a session.
    pub fn import(
        &self,
        bytes: Vec<u8>,
        place: &str,
        id: Option<&SessionId>,
    ) -> Result<(SessionId, Option<String>)> {
        let import = self.read_import(bytes, place)?;
        let id = id.unwrap_or(import.id()).clone();
        let archived = self.replace_by(&import, &id)?;
        Ok((id, archived))
    }

    /// Reads a document that is to be imported: one of ours, an export, or one of the upstream tool.
    pub fn read_import(&self, bytes: Vec<u8>, place: &str) -> Result<Import> {
        let mut document = decode(bytes, Damaged::File, place)?;
        // A state that cannot be read back, or is far larger than it looks, is not taken over.
        let readable = document.stored_state().check().and_then(|()| document.history().map(drop));
        readable.map_err(|reason| Error::Corrupt {
            what: Damaged::File,
            place: place.to_owned(),
            reason,
        })?;
        Ok(Import { document, place: place.to_owned() })
    }

    /// Imports a document that was read as `id`; the session that it replaces goes to the archive.
    pub fn replace_by(&self, import: &Import, id: &SessionId) -> Result<Option<String>> {
        self.replace(id, &import.document, &Action::Import, &import.place)
    }

    fn replace(
        &self,
        id: &SessionId,
        document: &Document,
        what: &Action,
        from: &str,
    ) -> Result<Option<String>> {
        let mut archived = None;
        let mut replace = |transaction: &mut dyn Transaction, current: Current, forced| {
            let now = transaction.now();
            let mut document = document.clone();
            archived = None;
            if let Current::Found(bytes, _) = current {
                let bytes = Arc::new(bytes);
                document.revision = document.revision.max(revision_of(Arc::clone(&bytes)));
                let stem = layout::stem(id, what.name(), now);
                archived = Some(transaction.archive(ArchiveKind::Archive, &stem, &bytes)?);
            }
            transaction.audit(&Event {
                before: json!({"archive": archived}),
                after: json!({"from": from}),
                forced,
                ..self.event(what.clone(), id, now)
            })?;
            document.id = id.clone();
            document.revision += 1;
            document.updated_at = now;
            document.note(self.usage.as_ref(), now);
            if *what == Action::Import {
                document.keep_whole_history();
            }
            let writer = Writer::new(&self.holder, self.usage.as_ref());
            document.remember("osm", &format!("{} {from}", what.name()), now, &writer);
            within_limits(self.backend(), id, document.encode()).map(Next::Replace)
        };
        self.change_alone(id, &mut replace)?;
        Ok(archived)
    }

    /// Removes a session, into the trash; [`Error::Busy`] if it is open.
    pub fn delete(&self, id: &SessionId) -> Result<()> {
        let mut remove = |transaction: &mut dyn Transaction, current: Current, forced| {
            let Current::Found(bytes, _) = current else {
                return Err(Error::NotFound(id.clone()));
            };
            let now = transaction.now();
            let after = json!({"kind": ArchiveKind::Trash.name()});
            transaction.audit(&Event { after, forced, ..self.event(Action::Delete, id, now) })?;
            let stem = layout::stem(id, "trash", now);
            transaction.archive(ArchiveKind::Trash, &stem, &bytes)?;
            Ok(Next::Remove)
        };
        if !self.contains(id)? {
            return Err(Error::NotFound(id.clone()));
        }
        self.change_alone(id, &mut remove).map(drop)
    }

    /// Removes an archived document for good.
    pub fn delete_archived(&self, kind: ArchiveKind, name: &str) -> Result<()> {
        let mut event =
            Event::new(self.backend.now()?, Who::new(&self.holder, None), Action::Delete);
        event.before = json!({"kind": kind.name(), "archive": name});
        self.backend.audit(&self.holder, &event)?;
        let what = Stored::Archived(kind, name);
        let mut result = Ok(());
        self.backend.remove(&[Removal { what, expected: None, keep: false }], &mut |_, done| {
            result = done;
            ControlFlow::Continue(())
        });
        result
    }

    /// Changes a session from outside, unless it is open.
    fn change_alone(
        &self,
        id: &SessionId,
        next: &mut dyn FnMut(&mut dyn Transaction, Current, bool) -> Result<Next>,
    ) -> Result<Option<Stamp>> {
        self.unless_held(id, |forced| {
            let mut attended = self.attend(id, Sharing::Exclusive, Wait::NONE)?;
            let mut next =
                |transaction: &mut dyn Transaction, current| next(transaction, current, forced);
            update_settled(attended.as_mut(), None, Wait::USUAL, &mut next)
        })
    }

    /// Does something that the hold of another process would prevent. `attempt` is told whether a
    /// dead holder's lock was broken for it.
    fn unless_held<T>(
        &self,
        id: &SessionId,
        mut attempt: impl FnMut(bool) -> Result<T>,
    ) -> Result<T> {
        match attempt(false) {
            Err(Error::Busy { .. } | Error::Orphaned { .. }) if self.force => {
                let mut agree = |transaction: &mut dyn Transaction, dead: &[HolderState]| {
                    let dead: Vec<String> = dead.iter().map(ToString::to_string).collect();
                    let before = json!({"holders": dead});
                    let event = self.event(Action::Force, id, transaction.now());
                    transaction.audit(&Event { before, forced: true, ..event })
                };
                let forced = self.backend.evict_dead(id, &self.holder, &mut agree)?;
                attempt(forced)
            }
            result => result,
        }
    }

    /// Archives a session that could only be kept in memory; returns its name there.
    pub(crate) fn recover(&self, id: &SessionId, document: &[u8]) -> Result<String> {
        let mut name = String::new();
        self.backend.transact(&self.holder, Wait::USUAL, &mut |transaction| {
            let now = transaction.now();
            let stem = layout::stem(id, "recovered", now);
            name = transaction.archive(ArchiveKind::Recovered, &stem, document)?;
            let after = json!({"recovered": name});
            // The session is safe; that the audit log does not say how is the lesser evil.
            let _audited =
                transaction.audit(&Event { after, ..self.event(Action::Recover, id, now) });
            Ok(())
        })?;
        Ok(name)
    }

    fn event(&self, what: Action, id: &SessionId, now: Timestamp) -> Event {
        let who = Who::new(&self.holder, None);
        Event { session: Some(id.clone()), ..Event::new(now, who, what) }
    }
}

fn archive_place(kind: ArchiveKind, name: &str) -> String {
    format!("{}/{name}", kind.name())
}

/// A session in a form that [`Store::import`] takes.
#[derive(Clone, Debug)]
pub enum Export {
    /// Plain JSON, for people and other programs: nothing is referred to.
    Plain(Value),
    /// As it is stored, with each long value once.
    Stored(Pieces),
}

impl Snapshot {
    /// The session as plain JSON if that takes at most so many bytes, and as it is stored otherwise.
    pub fn export(&self, most: u64) -> Result<Export> {
        let mut left = most;
        for state in self.history.iter().map(|entry| &entry.final_state).chain([&self.state]) {
            let (_, size) = state.beginning(0, left).map_err(|reason| self.corrupt(reason))?;
            let Some(rest) = size.and_then(|size| left.checked_sub(size)) else {
                return Ok(Export::Stored(self.document.encode()));
            };
            left = rest;
        }
        self.to_export().map(Export::Plain)
    }

    /// The error of a value that cannot be read.
    #[must_use]
    pub fn corrupt(&self, reason: Damage) -> Error {
        Error::Corrupt { what: self.what, place: self.place.clone(), reason }
    }

    /// The session as plain JSON, for people and other programs: nothing is referred to.
    pub fn to_export(&self) -> Result<Value> {
        let written_out = |state: &StoredValue| state.value().map_err(|it| self.corrupt(it));
        let state = written_out(&self.state)?;
        let history = self
            .history
            .iter()
            .map(|entry| {
                Ok(json!({
                    "number": entry.number,
                    "entry_id": entry.entry_id,
                    "mode_id": entry.mode_id,
                    "command": entry.command,
                    "timestamp": entry.timestamp,
                    "by": entry.by,
                    "finalState": written_out(&entry.final_state)?,
                }))
            })
            .collect::<Result<Vec<Value>>>()?;
        Ok(json!({
            "export": VERSION,
            "session_id": self.id.as_str(),
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "revision": self.revision,
            "origin": self.origin,
            "last_used": self.last_used,
            "shared_state": state["shared"],
            "script_state": state["script"],
            "history": history,
        }))
    }
}

/// Reads a document; its values stay as they are stored.
fn snapshot(bytes: Vec<u8>, what: Damaged, place: &str) -> Result<Snapshot> {
    let corrupt = |reason| Error::Corrupt { what, place: place.to_owned(), reason };
    let mut document = decode(bytes, what, place)?;
    Ok(Snapshot {
        state: document.stored_state(),
        history: document.history().map_err(corrupt)?,
        id: document.id.clone(),
        created_at: document.created_at,
        updated_at: document.updated_at,
        revision: document.revision,
        origin: document.origin.clone(),
        last_used: document.last_used.clone(),
        document,
        what,
        place: place.to_owned(),
    })
}

/// Reads a document or an export.
fn decode(bytes: Vec<u8>, what: Damaged, place: &str) -> Result<Document> {
    let bytes = Arc::new(bytes);
    let corrupt = |reason| Error::Corrupt { what, place: place.to_owned(), reason };
    if let Some(document) = Document::decode_laid_out(&bytes) {
        return Ok(document);
    }
    let bytes = match serde_json::from_slice(&bytes) {
        Ok(Unique(Value::Object(export))) if export.contains_key("export") => {
            Arc::new(from_export(export).map_err(corrupt)?)
        }
        _ => bytes,
    };
    match Document::decode(bytes) {
        Ok((document, _)) => Ok(document),
        Err(Unreadable::Corrupt(reason)) => Err(corrupt(reason)),
        Err(Unreadable::Newer(version)) => Err(Error::Newer { place: place.to_owned(), version }),
    }
}

/// An export has no references, as a document of the upstream tool has none: it is read in the same
/// way. There a text holds a state as JSON, so a state that is itself a text is written as such.
fn from_export(mut export: Map<String, Value>) -> std::result::Result<Vec<u8>, Damage> {
    if export.remove("export").as_ref().and_then(Value::as_str) != Some(VERSION) {
        return Err(Damage::UnsupportedExport);
    }
    export.insert("version".into(), "0.2.0".into());
    let history = export.get_mut("history").and_then(Value::as_array_mut);
    for entry in history.into_iter().flatten() {
        if let Some(state) = entry.get_mut("finalState").filter(|state| state.is_string()) {
            *state = Value::String(state.to_string());
        }
    }
    Ok(serde_json::to_vec(&export)?)
}
