//! One session, read without opening it.

use std::path::PathBuf;

use osm_store::Snapshot;
use osm_store::backend::Holder;

use super::{SessionError, named};
use crate::invocation::Invocation;

/// A session and where it is.
#[derive(Clone, Debug)]
pub struct Info {
    /// What it holds.
    pub session: Snapshot,
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
    let session = store.read(&id)?;
    let file = store.backend().files().map(|files| files.layout().document(&id));
    Ok(Info { session, holders: store.backend().holders(&id)?, file })
}

/// The file of a session, or the folder of all of them.
pub fn path(invocation: &Invocation, id: Option<&str>) -> Result<PathBuf, SessionError> {
    let store = invocation.store()?;
    let files = store.backend().files().ok_or(SessionError::NoFiles)?;
    Ok(match id {
        None => files.layout().sessions(),
        Some(id) => files.layout().document(&named(invocation, &store, Some(id))?),
    })
}
