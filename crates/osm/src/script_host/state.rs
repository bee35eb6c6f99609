//! The state of scripts is the state of the session.

use osm_script::StateKey;
use osm_store::Key;
use serde_json::Value;

use crate::session_host::SessionHost;

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

pub(super) fn get(host: &SessionHost, name: &StateKey) -> Result<Option<Value>, String> {
    host.session().get(&key(name)).map_err(|error| error.to_string())
}

pub(super) fn set(host: &SessionHost, name: &StateKey, value: Option<Value>) -> Result<(), String> {
    let (mut session, key) = (host.session(), key(name));
    let changed = match value {
        Some(value) => session.set(key, value),
        None => session.remove(key),
    };
    changed.map_err(|error| error.to_string())
}
