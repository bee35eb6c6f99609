//! One story, told on every backend: a session from its first change to its end.

use std::path::Path;
use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use osm_identity::{Pid, ProcessInstance, SessionId};
use osm_store::backend::{ArchiveKind, Backend, Holder, Stored, Wait};
use osm_store::{Clock, Error, FsBackend, Key, MOST_HISTORY, MemoryBackend, Notice, Store};
use serde_json::{Value, json};

use crate::harness::Single;
use crate::lossy::Lossy;

fn holder() -> Holder {
    Holder {
        process: ProcessInstance {
            boot: "boot".into(),
            ..ProcessInstance::unread(Pid(std::process::id()))
        },
        host: "here".into(),
        since: now(),
        command: "story".into(),
    }
}

fn now() -> Timestamp {
    "2026-01-02T03:04:05Z".parse().unwrap()
}

fn id(text: &str) -> SessionId {
    SessionId::explicit(text.as_ref())
}

fn key(text: &str) -> Key {
    Key::parse(text)
}

fn clock() -> Clock {
    Arc::new(now)
}

/// Files, memory, and a server behind a network that loses requests and replies.
fn backends(folder: &Path) -> [Arc<dyn Backend>; 3] {
    [
        Arc::new(FsBackend::open(folder, clock()).unwrap()),
        Arc::new(MemoryBackend::new(clock())),
        Arc::new(Lossy::new(clock())),
    ]
}

/// Tells the story on every backend.
fn on_every_backend(story: fn(&Store)) {
    let folder = tempfile::tempdir().unwrap();
    for backend in backends(folder.path()) {
        story(&Store::new(backend, holder()));
    }
    #[cfg(target_os = "linux")]
    if let Some(server) = crate::postgres::shared() {
        story(&Store::new(Arc::new(server), holder()));
    }
}

#[test]
fn a_reserved_number_is_given_once() {
    on_every_backend(|store| {
        let (name, highest) = (id("numbers"), key("highest"));
        let mut one = store.open(&name, Wait::NONE).unwrap();
        let mut other = store.open(&name, Wait::NONE).unwrap();
        assert_eq!(one.reserve(&highest, 0, 1).unwrap(), 1);
        assert_eq!(other.reserve(&highest, 0, 2).unwrap(), 3);
        one.set(key("note"), json!("a command that did not see the other")).unwrap();
        one.record("mode", "add").unwrap();
        assert_eq!(one.reserve(&highest, 7, 1).unwrap(), 8);
        assert_eq!(other.reserve(&highest, 0, 1).unwrap(), 9);
        drop((one, other));
        let mut later = store.open(&name, Wait::NONE).unwrap();
        assert_eq!(later.get(&highest).unwrap(), Some(json!(9)));
        later.set(highest.clone(), json!(1_u64 << 40)).unwrap();
        later.persist().unwrap();
        assert_eq!(later.reserve(&highest, 3, 1).unwrap(), 4, "another tool's number is not one");
    });
}

#[test]
fn from_the_first_change_to_the_end() {
    on_every_backend(|store| {
        let name = id("story");
        let mut session = store.open(&name, Wait::NONE).unwrap();
        assert_eq!(session.get(&key("contextItems")).unwrap(), None);
        assert!(
            store.backend().entries().unwrap().is_empty(),
            "nothing is written before a change"
        );

        session.set(key("contextItems"), json!([{"id": 1, "payload": "x".repeat(5000)}])).unwrap();
        session.set(key("goal:type"), json!("api")).unwrap();
        assert!(session.is_dirty());
        session.record("code-review", "add src").unwrap();
        assert!(!session.is_dirty());
        let entries = store.backend().entries().unwrap();
        assert_eq!(entries.len(), 1);
        assert!(entries[0].active, "it is open");
        assert!(matches!(store.delete(&name), Err(Error::Busy { .. })));
        assert!(matches!(store.reset(&name, true), Err(Error::Busy { .. })), "from outside");

        // Another terminal works in the same session.
        let mut other = store.open(&name, Wait::NONE).unwrap();
        let seen: Arc<Mutex<Vec<Key>>> = Arc::default();
        let sink = Arc::clone(&seen);
        session.observe(Box::new(move |keys| sink.lock().unwrap().extend_from_slice(keys)));
        other.set(key("goal:type"), json!("readme")).unwrap();
        other.record("goal", "type readme").unwrap();
        assert_eq!(session.get(&key("goal:type")).unwrap(), Some(json!("api")), "until we look");
        assert!(session.refresh().unwrap());
        assert_eq!(session.get(&key("goal:type")).unwrap(), Some(json!("readme")));
        assert_eq!(*seen.lock().unwrap(), [key("goal:type")]);
        assert!(!session.refresh().unwrap());
        session.set(key("goal:depth"), json!(1)).unwrap();
        other.set(key("goal:title"), json!("x")).unwrap();
        other.record("goal", "title x").unwrap();
        session.record("goal", "depth 1").unwrap();
        assert_eq!(*seen.lock().unwrap(), [key("goal:type"), key("goal:title")], "not our own");
        drop(other);

        let archived = session.reset(true).unwrap().unwrap();
        assert_eq!(session.get(&key("goal:type")).unwrap(), None);
        let history = session.history().unwrap();
        assert_eq!(history.len(), 1);
        assert_eq!((history[0].mode_id.as_str(), history[0].command.as_str()), ("osm", "reset"));
        session.close().unwrap();
        assert!(!store.backend().entries().unwrap()[0].active);

        let items = store.backend().archives_of(ArchiveKind::Archive).unwrap();
        assert_eq!(
            (items[0].name.as_str(), items[0].id.as_ref()),
            (archived.as_str(), Some(&name))
        );
        let there = store.restore(ArchiveKind::Archive, &archived, &name).unwrap();
        assert!(there.is_some(), "what was there is archived");
        let snapshot = store.read(&name).unwrap();
        assert_eq!(snapshot.state.value().unwrap()["script"]["goal"]["type"], "readme");
        assert_eq!(snapshot.history.len(), 5);

        let export = serde_json::to_vec(&snapshot.to_export().unwrap()).unwrap();
        let (copy, _) = store.import(export, "export", Some(&id("copy"))).unwrap();
        assert_eq!(store.read(&copy).unwrap().state, snapshot.state);

        store.delete(&name).unwrap();
        assert!(matches!(store.read(&name), Err(Error::NotFound(_))));
        let trash = store.backend().archives_of(ArchiveKind::Trash).unwrap();
        let back = store.read_archived(ArchiveKind::Trash, &trash[0].name).unwrap();
        assert_eq!(back.state, snapshot.state);
    });
}

#[test]
fn there_and_back() {
    on_every_backend(|store| {
        let mut session = store.open(&id("back"), Wait::NONE).unwrap();
        session.set(key("k"), json!(1)).unwrap();
        session.set(key("goal:type"), json!("api")).unwrap();
        session.record("m", "one").unwrap();
        session.set(key("k"), json!(2)).unwrap();
        session.remove(key("goal:type")).unwrap();
        session.set(key("flow:phase"), json!("x")).unwrap();
        session.record("m", "two").unwrap();
        let history = session.history().unwrap();

        let changed = session.go_back(&history[0]).unwrap();
        assert_eq!(changed, [key("flow:phase"), key("k"), key("goal:type")]);
        assert!(session.is_dirty(), "in memory");
        assert_eq!(session.state().unwrap()["shared"], json!({"k": 1}));
        assert_eq!(session.get(&key("goal:type")).unwrap(), Some(json!("api")));
        assert_eq!(session.get(&key("flow:phase")).unwrap(), None);
        session.go_back(&history[1]).unwrap();
        assert!(!session.is_dirty(), "there and back is no change");

        session.go_back(&history[0]).unwrap();
        session.record("m", "undo").unwrap();
        let again = store.open(&id("back"), Wait::NONE).unwrap();
        assert_eq!(again.history().unwrap()[2].final_state, history[0].final_state);

        session.remove_all().unwrap();
        session.record("m", "all gone").unwrap();
        assert_eq!(session.get(&key("k")).unwrap(), None);
        let mut foreign = history[0].clone();
        foreign.final_state =
            foreign.final_state.entries().unwrap()[0].1.entries().unwrap()[0].1.clone();
        assert!(matches!(session.go_back(&foreign), Err(Error::NoState { .. })));
    });
}

#[test]
fn what_is_discarded_is_not_what_waits_to_be_saved() {
    on_every_backend(|store| {
        let name = id("discard");
        let mut session = store.open(&name, Wait::NONE).unwrap();
        session.set(key("k"), json!("saved")).unwrap();
        session.record("m", "one").unwrap();
        session.set(key("k"), json!("slip")).unwrap();
        assert!(session.is_changed());
        assert_eq!(session.discard(), [key("k")]);
        assert!(!session.is_changed() && !session.is_dirty());
        assert_eq!(session.get(&key("k")).unwrap(), Some(json!("saved")));

        // A save that fails: a newer osm took over.
        let found = store.backend().load(Stored::Session(&name), None).unwrap();
        let osm_store::backend::Current::Found(good, _) = found else { panic!("{found:?}") };
        let write = |bytes: &[u8]| {
            let mut next = |_| Ok(Some(bytes.to_vec().into()));
            store.backend().update(&name, None, &holder(), Wait::NONE, &mut next).unwrap();
        };
        write(br#"{"version":"7.0.0","session_id":"ex--discard_xx"}"#);
        session.set(key("k"), json!("waits")).unwrap();
        assert!(session.record("m", "two").is_err());
        assert!(session.is_dirty() && !session.is_changed());
        session.set(key("k"), json!("slip")).unwrap();
        session.set(key("other"), json!("slip")).unwrap();
        assert_eq!(session.discard(), [key("k"), key("other")]);
        assert_eq!(session.get(&key("k")).unwrap(), Some(json!("waits")));
        assert_eq!(session.get(&key("other")).unwrap(), None);
        write(&good);
        session.record("m", "two").unwrap();
        assert_eq!(
            store.read(&name).unwrap().state.value().unwrap()["shared"],
            json!({"k": "waits"})
        );
        assert_eq!(session.discard(), []);
        assert_eq!(session.get(&key("k")).unwrap(), Some(json!("waits")));
    });
}

#[test]
fn a_state_that_is_a_text_survives_an_export() {
    on_every_backend(|store| {
        let document = r#"{"version":"1.0.0","session_id":"ex--a_ca","created_at":"2026-01-01T00:00:00Z",
            "updated_at":"2026-01-01T00:00:00Z","history":[{"entry_id":"1","mode_id":"m","command":"c",
            "timestamp":"2026-01-01T00:00:00Z","finalState":"0"}]}"#;
        let (name, _) = store.import(document.into(), "document", None).unwrap();
        let snapshot = store.read(&name).unwrap();
        assert_eq!(snapshot.history[0].final_state.value().unwrap(), "0");
        let export = serde_json::to_vec(&snapshot.to_export().unwrap()).unwrap();
        assert_eq!(store.snapshot(export, "export").unwrap().history, snapshot.history);
    });
}

#[test]
fn both_sides_changes_are_kept() {
    on_every_backend(|store| {
        let name = id("both");
        let mut one = store.open(&name, Wait::NONE).unwrap();
        one.set(key("items"), json!([{"id": 1, "t": "common"}])).unwrap();
        one.set(key("plain"), json!("before")).unwrap();
        one.record("m", "begin").unwrap();
        let mut other = store.open(&name, Wait::NONE).unwrap();
        one.set(key("items"), json!([{"id": 1, "t": "common"}, {"id": 2, "t": "one"}])).unwrap();
        other
            .set(key("items"), json!([{"id": 1, "t": "common"}, {"id": 2, "t": "other"}]))
            .unwrap();
        one.set(key("plain"), json!("one")).unwrap();
        other.set(key("plain"), json!("other")).unwrap();
        one.record("m", "one").unwrap();
        other.record("m", "other").unwrap();
        assert_eq!(
            other.get(&key("items")).unwrap().unwrap(),
            json!([{"id": 1, "t": "common"}, {"id": 2, "t": "one"}, {"id": 3, "t": "other"}])
        );
        assert_eq!(other.get(&key("plain")).unwrap(), Some(json!("other")), "the last writer");
        let lost = other
            .history()
            .unwrap()
            .iter()
            .any(|it| it.final_state.value().unwrap()["shared"]["plain"] == "one");
        assert!(lost, "the loser's value stays in history");
    });
}

#[test]
fn a_losers_value_that_was_saved_without_a_command_stays_too() {
    on_every_backend(|store| {
        let mut one = store.open(&id("quiet"), Wait::NONE).unwrap();
        one.set(key("k"), json!(0)).unwrap();
        one.record("m", "begin").unwrap();
        let mut other = store.open(&id("quiet"), Wait::NONE).unwrap();
        one.set(key("k"), json!(1)).unwrap();
        one.persist().unwrap();
        other.set(key("k"), json!(2)).unwrap();
        other.record("m", "two").unwrap();
        let states: Vec<Value> = other
            .history()
            .unwrap()
            .into_iter()
            .map(|it| it.final_state.value().unwrap()["shared"]["k"].clone())
            .collect();
        assert_eq!(states, [json!(0), json!(1), json!(2)]);
    });
}

#[test]
fn what_cannot_be_read_is_set_aside() {
    on_every_backend(|store| {
        let name = id("damaged");
        let write = |bytes: &[u8]| {
            let bytes = bytes.to_vec();
            store
                .backend()
                .update(&name, None, &holder(), Wait::NONE, &mut |_| Ok(Some(bytes.clone().into())))
                .unwrap();
        };
        write(b"{\"version\":\"1.0.0\",");
        let mut session = store.open(&name, Wait::NONE).unwrap();
        let notices = session.take_notices();
        let [Notice::Quarantined { name: aside, .. }] = notices.as_slice() else {
            panic!("{notices:?}")
        };
        let kept = store.backend().read_archived(ArchiveKind::Quarantine, aside).unwrap();
        assert_eq!(kept, b"{\"version\":\"1.0.0\",");
        session.set(key("k"), json!(1)).unwrap();
        session.record("m", "goes on").unwrap();
        drop(session);

        let newer = br#"{"version":"7.0.0","session_id":"ex--damaged_xx"}"#;
        write(newer);
        assert!(matches!(store.open(&name, Wait::NONE), Err(Error::Newer { .. })));
        assert!(
            matches!(store.backend().load(Stored::Session(&name), None).unwrap(),
            osm_store::backend::Current::Found(bytes, _) if bytes == newer),
            "left alone"
        );

        write(br#"{"version":"0.2.0","id":"ex--damaged_xx","createTime":"2025-01-01T00:00:00Z","updateTime":"2025-01-01T00:00:00Z","sharedState":{"k":"old"}}"#);
        let mut session = store.open(&name, Wait::NONE).unwrap();
        assert!(session.take_notices().iter().any(|it| matches!(it, Notice::Upgraded { .. })));
        assert_eq!(session.get(&key("k")).unwrap(), Some(json!("old")));
    });
}

/// Documents that cannot be one of ours, whatever they are.
fn damaged() -> Vec<Vec<u8>> {
    let store = Store::new(Arc::new(MemoryBackend::new(clock())), holder());
    let mut session = store.open(&id("damaged"), Wait::NONE).unwrap();
    session.set(key("long"), json!("x".repeat(3000))).unwrap();
    session.record("m", "set long").unwrap();
    let found = store.backend().load(Stored::Session(&id("damaged")), None).unwrap();
    let osm_store::backend::Current::Found(good, _) = found else { panic!("{found:?}") };
    let text = String::from_utf8(good.clone()).unwrap();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let with = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1).into_bytes()
    };
    let mut all = vec![
        with("\"shared_state\":{", "\"shared_state\":7,\"x\":{"),
        with("\"script_state\":{", "\"script_state\":[],\"x\":{"),
        with("\"history\":[", "\"history\":\"none\",\"x\":["),
        with("\"revision\":1", "\"revision\":\"one\""),
        with("\"created_at\":\"", "\"created_at\":\"yesterday "),
        with("\"session_id\":\"ex--", "\"session_id\":\"../ex--"),
        with("\"revision\":1", "\"revision\":1,\"revision\":2"),
        with("\"shared_state\":{", &format!("\"deep\":{deep},\"shared_state\":{{")),
        with("\"shared_state\":{", "\"shared_state\":{},\"shared_state\":{"),
        br#"{"name":"package","version":"2.0","private":true}"#.to_vec(),
        br#"{"version":"1.0.0","version":"1.0.0"}"#.to_vec(),
        deep.into_bytes(),
        vec![0; 4096],
        (0..=255).collect(),
    ];
    let cuts = [0, 1, 50, text.find("history").unwrap(), text.len() / 2, text.len() - 4];
    all.extend(cuts.map(|cut| good[..cut].to_vec()));
    all
}

#[test]
fn damage_of_every_kind_is_set_aside_whole() {
    for bytes in damaged() {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
        let folder = tempfile::tempdir().unwrap();
        for backend in backends(folder.path()) {
            let store = Store::new(Arc::clone(&backend), holder());
            let name = id("damaged");
            let mut write = |_| Ok(Some(bytes.clone().into()));
            backend.update(&name, None, &holder(), Wait::NONE, &mut write).unwrap();
            let read = store.read(&name);
            assert!(matches!(read, Err(Error::Corrupt { .. })), "{shown}: {read:?}");
            let mut session = store.open(&name, Wait::NONE).unwrap();
            let notices = session.take_notices();
            let [Notice::Quarantined { name: aside, .. }] = notices.as_slice() else {
                panic!("{shown}: {notices:?}")
            };
            assert_eq!(backend.read_archived(ArchiveKind::Quarantine, aside).unwrap(), bytes);
            session.set(key("k"), json!(1)).unwrap();
            session.record("m", "goes on").unwrap();
            assert_eq!(store.read(&name).unwrap().state.value().unwrap()["shared"]["k"], 1);
            drop(session);

            backend.update(&name, None, &holder(), Wait::NONE, &mut write).unwrap();
            let Some((ArchiveKind::Quarantine, aside)) = store.reset(&name, true).unwrap() else {
                panic!("{shown}: a reset sets it aside, too")
            };
            assert_eq!(backend.read_archived(ArchiveKind::Quarantine, &aside).unwrap(), bytes);
            assert!(store.read(&name).unwrap().state.value().unwrap()["shared"]["k"].is_null());
            assert!(
                backend.archives_of(ArchiveKind::Archive).unwrap().is_empty(),
                "there was nothing else"
            );
        }
    }
}

#[test]
fn a_clock_that_jumps_back_changes_no_order() {
    let times = Arc::new(Mutex::new(vec![
        "1999-01-01T00:00:00Z",
        "2026-01-02T03:04:05Z",
        "1970-01-01T00:00:00Z",
        "2026-01-02T03:04:06Z",
        "2026-01-02T03:04:05Z",
    ]));
    let clock: osm_store::Clock = Arc::new(move || {
        let mut times = times.lock().unwrap();
        if times.len() > 1 { times.pop().unwrap() } else { times[0] }.parse().unwrap()
    });
    let store = Store::new(Arc::new(MemoryBackend::new(clock)), holder());
    let mut session = store.open(&id("clock"), Wait::NONE).unwrap();
    let mut last = None;
    for number in 0..4 {
        session.set(key("n"), json!(number)).unwrap();
        session.record("m", "set").unwrap();
        let read = store.read(&id("clock")).unwrap();
        assert_eq!(read.state.value().unwrap()["shared"]["n"], number);
        assert_eq!(read.revision, number + 1);
        assert!(Some(read.updated_at) >= last, "never used before it was");
        last = Some(read.updated_at);
    }
    let history = session.history().unwrap();
    let ids: std::collections::BTreeSet<_> = history.iter().map(|it| &it.entry_id).collect();
    assert_eq!((history.len(), ids.len()), (4, 4), "each has a name of its own");
}

#[test]
fn the_ring_keeps_the_last_commands() {
    on_every_backend(|store| {
        let mut session = store.open(&id("ring"), Wait::NONE).unwrap();
        for number in 0..MOST_HISTORY + 20 {
            session.set(key("n"), json!(number)).unwrap();
            session.record("m", &format!("set {number}")).unwrap();
        }
        let history = session.history().unwrap();
        assert_eq!(history.len(), MOST_HISTORY);
        assert_eq!(history[0].command, "set 20");
    });
}
