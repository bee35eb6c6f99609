//! State: that of the session.

use osm_script::StateKey;
use osm_store::Key;
use serde_json::Value;

use crate::desk::Desk;

pub(crate) fn key(key: &StateKey) -> Key {
    match key.clone() {
        StateKey::Shared(name) => Key::Shared(name),
        StateKey::Script { command, name } => Key::Script { command, name },
    }
}

pub(crate) fn script_key(key: &Key) -> StateKey {
    match key.clone() {
        Key::Shared(name) => StateKey::Shared(name),
        Key::Script { command, name } => StateKey::Script { command, name },
    }
}

pub(super) fn get(desk: &Desk, name: &StateKey) -> Result<Option<Value>, String> {
    desk.session().get(&key(name)).map_err(|error| error.to_string())
}

pub(super) fn set(desk: &Desk, name: &StateKey, value: Option<Value>) -> Result<(), String> {
    let (mut session, key) = (desk.session(), key(name));
    let changed = match value {
        Some(value) => session.set(key, value),
        None => session.remove(key),
    };
    changed.map_err(|error| error.to_string())
}
