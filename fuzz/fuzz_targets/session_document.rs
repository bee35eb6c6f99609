//! Session documents: whatever the bytes, they are understood or refused, and what is understood
//! survives an export, a change and a save, with its unknown fields.

#![no_main]

use std::sync::Arc;

use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;
use osm_identity::{Pid, ProcessInstance, SessionId, StartTime};
use osm_store::backend::{
    Backend, Current, Holder, Next, Sharing, Stored, Transaction, Wait,
};
use osm_store::{Error, Key, MemoryBackend, Store};
use serde_json::{Map, Value, json};

/// Documents of every kind, with a place for something of any kind.
const FRAMES: &[&str] = &[
    r#"{"version":"1.0.0","session_id":"ex--a_ca","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","shared_state":{"a":@},"script_state":{"c":{"k":@}},"history":[],"extra":@}"#,
    r#"{"version":"1.0.0","session_id":"ex--a_ca","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","shared_state":{"a":{"$value":1},"b":{"$list":[{"$value":2}]}},"values":{"1":@,"2":[@]}}"#,
    r#"{"version":"1.0.0","session_id":"ex--a_ca","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","history":[{"entry_id":"1","mode_id":"m","command":"c","timestamp":"2026-01-01T00:00:00Z","finalState":@,"more":@}]}"#,
    r#"{"version":"0.2.0","id":"a","createTime":"2026-01-01T00:00:00Z","updateTime":"2026-01-01T00:00:00Z","sharedState":{"a":@},"scriptState":{"c":{"k":@}},"history":[{"entryId":"1","modeId":"m","command":"c","readTime":"2026-01-01T00:00:00Z","finalState":@}],"extra":@}"#,
    r#"{"export":"1.0.0","session_id":"ex--a_ca","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","shared_state":{"a":@},"script_state":{},"history":[]}"#,
    r#"{"version":@,"session_id":@,"created_at":@,"updated_at":@,"shared_state":@,"script_state":@,"history":@,"values":@}"#,
];

/// The fields of a document that this version knows.
const KNOWN: &[&str] = &[
    "version",
    "session_id",
    "created_at",
    "updated_at",
    "revision",
    "head",
    "file_size",
    "origin",
    "last_used",
    "shared_state",
    "script_state",
    "history",
    "value_index",
    "values",
];

fuzz_target!(|input: (u8, &[u8])| {
    let (choice, bytes) = input;
    about(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        about(FRAMES[usize::from(choice) % FRAMES.len()].replace('@', text).as_bytes());
    }
});

fn about(bytes: &[u8]) {
    let backend: Arc<dyn Backend> = Arc::new(MemoryBackend::new(Arc::new(|| Timestamp::UNIX_EPOCH)));
    let store = Store::new(Arc::clone(&backend), holder());
    in_place(&store, bytes);
    let Ok((id, None)) = store.import(bytes.to_vec(), "input", None) else { return };
    // It has the form of a document; its values may still lead nowhere.
    let Ok(before) = store.read(&id) else { return };
    let Ok(export) = before.to_export() else { return };
    let export = serde_json::to_vec(&export).expect("an export is JSON");
    if let Ok(again) = store.snapshot(export, "export") {
        assert_eq!(again.state, before.state, "an export says the same");
        assert_eq!(again.history, before.history);
    }

    let key = Key::Shared("fuzz".into());
    let mut session = store.open(&id, Wait::NONE).expect("what was imported can be opened");
    session.set(key.clone(), json!("changed")).expect("any key can be set");
    session.record("fuzz", "set").expect("it can be saved");
    assert_eq!(session.get(&key).expect("it was set"), Some(json!("changed")));
    drop(session);
    let after = store.read(&id).expect("it can be read");
    let mut expected = before.state.value().expect("it was exported");
    expected["shared"]["fuzz"] = json!("changed");
    assert_eq!(after.state.value().expect("it was saved"), expected, "a change changes nothing else");
    unknown_survives(bytes, &document(backend.as_ref(), &id));
}

/// Whatever lies in a store, the session can be opened; only what a newer version wrote is left
/// alone.
fn in_place(store: &Store, bytes: &[u8]) {
    let id = SessionId::explicit("place".as_ref());
    let mut put = |_: &mut dyn Transaction, _| Ok(Next::Replace(bytes.to_vec().into()));
    let attended = store.backend().attend(&id, &holder(), Sharing::Shared, Wait::NONE);
    let stored = attended.expect("it is free").update(None, Wait::NONE, &mut put);
    stored.expect("memory takes all");
    match store.open(&id, Wait::NONE) {
        Ok(mut session) => {
            session.take_notices();
            drop(session.state());
            drop(session.history());
        }
        Err(Error::Newer { .. }) => assert_eq!(document(store.backend(), &id), bytes),
        Err(error) => panic!("{error}"),
    }
}

fn unknown_survives(input: &[u8], stored: &[u8]) {
    let Ok(input) = serde_json::from_slice::<Map<String, Value>>(input) else { return };
    let stored: Map<String, Value> = serde_json::from_slice(stored).expect("a document is JSON");
    if input.get("version").and_then(Value::as_str) == Some(osm_store::VERSION)
        && !input.contains_key("export")
    {
        for (name, value) in input.iter().filter(|(name, _)| !KNOWN.contains(&name.as_str())) {
            assert_eq!(stored.get(name), Some(value), "{name} survives");
        }
    }
}

fn document(backend: &dyn Backend, id: &SessionId) -> Vec<u8> {
    match backend.load(Stored::Session(id), None).expect("memory does not fail") {
        Current::Found(bytes, _) => bytes,
        other => panic!("{other:?}"),
    }
}

fn holder() -> Holder {
    let process = ProcessInstance {
        pid: Pid(std::process::id()),
        start: StartTime(0),
        boot: String::new(),
        namespace: String::new(),
        inode: None,
        machine: None,
        seen: None,
        clock: None,
        name: "fuzz".into(),
    };
    let (host, command) = ("fuzz".into(), "fuzz".into());
    Holder { process, host, since: Timestamp::UNIX_EPOCH, command }
}
