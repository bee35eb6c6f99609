//! One session, read without opening it.

use std::path::PathBuf;

use osm_identity::SessionId;
use osm_store::backend::Holder;
use osm_store::layout::LARGEST_DOCUMENT;
use osm_store::{Error, HistoryEntry, Snapshot};

use serde_json::{Value, json};

use super::{SessionError, named};
use crate::invocation::Invocation;

/// A session and where it is.
#[derive(Clone, Debug)]
pub struct Info {
    /// The session.
    pub id: SessionId,
    /// What it holds; `None` for the session of this run if nothing is kept of it yet.
    pub session: Option<Snapshot>,
    /// The processes that have it open.
    pub holders: Vec<Holder>,
    /// Its file; `None` where sessions are not files.
    pub file: Option<PathBuf>,
}

/// Reads a session.
pub fn read(invocation: &Invocation, id: Option<&str>) -> Result<Snapshot, SessionError> {
    let store = invocation.store()?;
    Ok(store.read(&named(invocation, &store, id)?)?)
}

/// Reads a session, with the processes that have it open.
pub fn info(invocation: &Invocation, id: Option<&str>) -> Result<Info, SessionError> {
    let store = invocation.store()?;
    let id = named(invocation, &store, id)?;
    let session = match store.read(&id) {
        Err(Error::NotFound(_)) if id == *invocation.session_id() => None,
        read => Some(read?),
    };
    let file = store.backend().files().map(|files| files.layout().document(&id));
    let holders = store.backend().holders(&id)?;
    Ok(Info { id, session, holders, file })
}

/// The commands in the history as JSON, without the states after them.
#[must_use]
pub fn commands(session: &Snapshot) -> Vec<Value> {
    let command = |entry: &HistoryEntry| {
        json!({
            "number": entry.number,
            "entry_id": entry.entry_id,
            "mode_id": entry.mode_id,
            "command": entry.command,
            "timestamp": entry.timestamp,
            "by": entry.by,
        })
    };
    session.history.iter().map(command).collect()
}

/// A key of a state.
#[derive(Clone, Debug)]
pub struct StateKey {
    /// Its name.
    pub name: String,
    /// Bytes of its value as JSON; `None` if there are too many to be counted.
    pub size: Option<u64>,
    /// The first of them.
    pub beginning: String,
}

/// The keys of a zone of a session's state, each with the first bytes of its value.
pub fn keys(session: &Snapshot, zone: &str, bytes: usize) -> Result<Vec<StateKey>, SessionError> {
    let corrupt = |reason| session.corrupt(reason);
    let zones = session.state.entries().map_err(corrupt)?;
    let mut keys = Vec::new();
    for (_, zone) in zones.iter().filter(|(name, _)| name == zone) {
        for (name, value) in zone.entries().map_err(corrupt)? {
            let (beginning, size) = value.beginning(bytes, LARGEST_DOCUMENT).map_err(corrupt)?;
            keys.push(StateKey { name, size, beginning });
        }
    }
    Ok(keys)
}

/// The file of a session, whether it is written already or not.
pub fn path(invocation: &Invocation, id: Option<&str>) -> Result<PathBuf, SessionError> {
    let store = invocation.store()?;
    let files = store.backend().files().ok_or(SessionError::NoFiles)?;
    Ok(files.layout().document(&named(invocation, &store, id)?))
}

/// The folder of all sessions.
pub fn folder(invocation: &Invocation) -> Result<PathBuf, SessionError> {
    let store = invocation.store()?;
    let files = store.backend().files().ok_or(SessionError::NoFiles)?;
    Ok(files.layout().sessions())
}
