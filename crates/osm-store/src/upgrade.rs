//! Documents of older versions, and of the tool that came before, made into current ones.
//!
//! | version | differs by |
//! |---|---|
//! | 0.2.0 | written by the upstream tool: keys in camelCase, `id`, times called `…Time`, state of a history entry as text or as an object, variables of goals under `goal:NAME/KEY` (`goals.rs`) |
//!
//! A version that is not in this table and not the current one is newer than this code: it is
//! refused, and its file left alone.

mod goals;

use serde_json::{Map, Value};

use crate::document::{Unreadable, VERSION};
use crate::error::Damage;

/// Makes a document current; `true` says that it was not.
pub(crate) fn to_current(document: &mut Value) -> Result<bool, Unreadable> {
    let corrupt = Unreadable::Corrupt;
    let object = document.as_object_mut().ok_or(corrupt(Damage::NotAnObject))?;
    let version = match object.get("version") {
        Some(Value::String(version)) => version.clone(),
        Some(_) => return Err(corrupt(Damage::WrongType { field: "version", expected: "text" })),
        None => return Err(corrupt(Damage::MissingField("version"))),
    };
    match version.as_str() {
        VERSION => Ok(false),
        "0.2.0" => {
            from_upstream(object).map_err(corrupt)?;
            Ok(true)
        }
        _ if parts(&version) > parts(VERSION) => Err(Unreadable::Newer(version)),
        _ => Err(corrupt(Damage::UnknownVersion(version))),
    }
}

fn parts(version: &str) -> Option<[u32; 3]> {
    let mut numbers = version.split('.').map(|part| part.parse().ok());
    let parts = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(parts)
}

fn from_upstream(object: &mut Map<String, Value>) -> Result<(), Damage> {
    object.insert("version".into(), VERSION.into());
    let names = [
        ("id", "session_id"),
        ("createTime", "created_at"),
        ("updateTime", "updated_at"),
        ("sharedState", "shared_state"),
        ("scriptState", "script_state"),
    ];
    rename(object, &names);
    let id = object.get("session_id").and_then(Value::as_str).ok_or(Damage::MissingField("id"))?;
    // That tool's ids are not all in our grammar; what a user would name means the same session.
    let id = osm_identity::SessionId::explicit(id.as_ref());
    object.insert("session_id".into(), id.as_str().into());
    for zone in ["shared_state", "script_state"] {
        if object.get(zone).is_none_or(Value::is_null) {
            object.insert(zone.into(), Value::Object(Map::new()));
        }
    }
    goals::rename_variables(object.get_mut("script_state"));
    let history = match object.remove("history") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(entries)) => entries,
        Some(_) => return Err(Damage::WrongType { field: "history", expected: "a list" }),
    };
    let upgraded: Result<Vec<Value>, _> = history.into_iter().map(entry_from_upstream).collect();
    object.insert("history".into(), Value::Array(upgraded?));
    Ok(())
}

fn entry_from_upstream(entry: Value) -> Result<Value, Damage> {
    let history = |error: serde_json::Error| Damage::History(error.to_string());
    let Value::Object(mut entry) = entry else { return Err(Damage::NotAnObject) };
    let names = [("entryId", "entry_id"), ("modeId", "mode_id"), ("readTime", "timestamp")];
    rename(&mut entry, &names);
    if let Some(Value::String(text)) = entry.get("finalState") {
        let state = serde_json::from_str(text).map_err(history)?;
        entry.insert("finalState".into(), state);
    }
    goals::rename_variables(entry.get_mut("finalState").and_then(|state| state.get_mut("script")));
    Ok(Value::Object(entry))
}

fn rename(object: &mut Map<String, Value>, names: &[(&str, &str)]) {
    for (old, new) in names {
        if let Some(value) = object.remove(*old) {
            object.insert((*new).to_owned(), value);
        }
    }
}
