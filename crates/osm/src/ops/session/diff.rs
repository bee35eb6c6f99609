//! What changed between two states.
//!
//! A state is a session (`ID`), what it was after one of its commands (`ID@NUMBER`, or `@NUMBER` of
//! this session), or an archived document (its file name).

use osm_store::diff::Difference;
use osm_store::{Damage, Damaged, Error, Store, StoredValue};
use serde_json::{Value, json};

use super::archives::{find, is_archived};
use super::{SessionError, named};
use crate::invocation::Invocation;

/// Which states.
#[derive(Clone, Debug, Default)]
pub struct DiffRequest {
    /// The first; by default the state before the last command of this session.
    pub one: Option<String>,
    /// The second; by default the session as it is now.
    pub other: Option<String>,
}

/// Compares two states.
pub fn diff(
    invocation: &Invocation,
    request: &DiffRequest,
) -> Result<Vec<Difference>, SessionError> {
    let store = invocation.store()?;
    let (before, after) = match (request.one.as_deref(), request.other.as_deref()) {
        (Some(one), Some(other)) => {
            (state(&store, one, invocation)?, state(&store, other, invocation)?)
        }
        (Some(one), None) => {
            let id = one.split('@').next().filter(|id| !id.is_empty() && !is_archived(id));
            let id = named(invocation, &store, id)?;
            (state(&store, one, invocation)?, store.read(&id)?.state)
        }
        _ => {
            let session = store.read(invocation.session_id())?;
            let before = session.history.iter().rev().nth(1).map(|entry| entry.final_state.clone());
            (before.unwrap_or_else(StoredValue::empty_state), session.state)
        }
    };
    osm_store::diff::diff(&before, &after).map_err(unreadable)
}

fn state(store: &Store, name: &str, invocation: &Invocation) -> Result<StoredValue, SessionError> {
    if is_archived(name) {
        let (kind, _) = find(store, name)?;
        return Ok(store.read_archived(kind, name)?.state);
    }
    let Some((id, number)) = name.rsplit_once('@') else {
        return Ok(store.read(&named(invocation, store, Some(name))?)?.state);
    };
    let id = named(invocation, store, Some(id).filter(|id| !id.is_empty()))?;
    let session = store.read(&id)?;
    let entry =
        number.parse::<u64>().ok().and_then(|it| session.history.iter().find(|e| e.number == it));
    entry.map(|entry| entry.final_state.clone()).ok_or_else(|| SessionError::NoSuchCommand {
        id: session.id.clone(),
        number: number.to_owned(),
    })
}

/// The first bytes of a value as JSON.
pub fn beginning(value: &StoredValue, bytes: usize) -> Result<String, SessionError> {
    let (beginning, _) = value.beginning(bytes, bytes as u64).map_err(unreadable)?;
    Ok(beginning)
}

/// A difference as JSON.
pub fn difference_json(difference: &Difference) -> Result<Value, SessionError> {
    let value = |it: &Option<StoredValue>| it.as_ref().map(StoredValue::value).transpose();
    let of = |it| value(it).map_err(unreadable);
    let (before, after) = (of(&difference.before)?, of(&difference.after)?);
    Ok(json!({"path": difference.path, "before": before, "after": after}))
}

fn unreadable(reason: Damage) -> SessionError {
    Error::Corrupt { what: Damaged::Session, place: "the state".to_owned(), reason }.into()
}
