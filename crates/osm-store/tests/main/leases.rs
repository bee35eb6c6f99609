//! Leases that are lost, and replies that are: what a session does then.

use std::sync::Arc;

use osm_store::backend::{Backend, Wait};
use osm_store::{Error, Key, Session, Store};
use serde_json::{Value, json};

use crate::harness::{Single, clock, get, id, memory, myself};
use crate::lossy::Lossy;

fn store(backend: impl Backend + 'static) -> Store {
    Store::new(Arc::new(backend), myself("lease"))
}

/// Appends an item to a list, with one command.
fn add(session: &mut Session, item: &str) -> osm_store::Result<()> {
    let key = Key::parse("items");
    let mut items = match session.get(&key)? {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    items.push(json!({"id": item}));
    session.set(key, Value::Array(items))?;
    session.record("test", &format!("add {item}")).map(drop)
}

fn items(store: &Store) -> Vec<String> {
    let state = store.read(&id("x")).unwrap().state.value().unwrap();
    let items = state["shared"]["items"].as_array().cloned().unwrap_or_default();
    let mut items: Vec<_> =
        items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect();
    items.sort();
    items
}

fn commands(store: &Store) -> Vec<String> {
    let history = store.read(&id("x")).unwrap().history;
    let mut commands: Vec<_> = history.into_iter().map(|entry| entry.command).collect();
    commands.sort();
    commands
}

#[test]
fn a_lost_lease_is_an_error_of_the_next_save() {
    let backend = memory();
    let store = store(backend.clone());
    let mut session = store.open(&id("x"), Wait::NONE).unwrap();
    add(&mut session, "before").unwrap();
    let saved = get(&backend, &id("x"));
    backend.end_leases(&id("x"));
    let late = add(&mut session, "after").unwrap_err();
    assert!(matches!(&late, Error::LostLease(lost) if *lost == id("x")), "{late}");
    assert!(matches!(session.persist(), Err(Error::LostLease(_))), "and of every later one");
    assert!(matches!(session.reset(true), Err(Error::LostLease(_))));
    assert_eq!(get(&backend, &id("x")), saved, "nothing was written");
    assert!(session.is_dirty(), "and nothing is lost");
    let state = session.state().unwrap();
    assert_eq!(state["shared"]["items"].as_array().unwrap().len(), 2);

    // A session that is opened again goes on.
    let mut again = store.open(&id("x"), Wait::NONE).unwrap();
    add(&mut again, "again").unwrap();
    assert_eq!(items(&store), ["again", "before"]);
}

#[test]
fn no_acknowledged_change_is_lost_and_none_is_done_twice() {
    const WRITERS: usize = 4;
    const EACH: usize = 30;
    let lossy = Lossy::new(clock());
    let expected: Vec<String> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let store = store(lossy.clone());
                scope.spawn(move || {
                    let mut session = store.open(&id("x"), Wait::USUAL).unwrap();
                    let mut acknowledged = Vec::new();
                    for number in 0..EACH {
                        let item = format!("{writer}-{number:02}");
                        // What is not acknowledged stays in the session, and is saved later.
                        match add(&mut session, &item) {
                            Ok(()) | Err(Error::UnknownOutcome(_)) => acknowledged.push(item),
                            Err(error) => panic!("{error}"),
                        }
                    }
                    while session.is_dirty() {
                        drop(session.persist());
                    }
                    acknowledged
                })
            })
            .collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let mut expected = expected;
    expected.sort();
    let store = store(lossy.clone());
    assert_eq!(items(&store), expected);
    let commands = commands(&store);
    let mut once = commands.clone();
    once.dedup();
    assert_eq!(commands, once, "no command is twice in the history");
    let (requests, replies) = lossy.lost();
    assert!(requests > 20 && replies > 20, "{requests} requests, {replies} replies");
}

/// The network is cut just after the change was carried out, so that nothing can be asked, and
/// mended before the next command.
#[test]
fn a_save_of_unknown_outcome_is_settled_before_the_next_one() {
    for is_carried_out in [true, false] {
        let lossy = Lossy::new(clock());
        let store = store(lossy.clone());
        let mut session = store.open(&id("x"), Wait::NONE).unwrap();
        while add(&mut session, "first").is_err() {}
        lossy.cut_after_next(is_carried_out);
        let unknown = add(&mut session, "second").unwrap_err();
        assert!(matches!(unknown, Error::UnknownOutcome(_)), "{unknown}");
        lossy.set_down(false);
        let server = self::store(lossy.server().clone());
        assert_eq!(items(&server).len(), if is_carried_out { 2 } else { 1 });

        session.set(Key::parse("other"), json!(1)).unwrap();
        add(&mut session, "third").unwrap();
        assert_eq!(items(&server), ["first", "second", "third"]);
        let commands = commands(&server);
        let mut once = commands.clone();
        once.dedup();
        assert_eq!(commands, once, "carried out: {is_carried_out}");
        assert_eq!(server.read(&id("x")).unwrap().state.value().unwrap()["shared"]["other"], 1);
    }
}

#[test]
fn resets_and_removals_happen_once() {
    for _ in 0..6 {
        let lossy = Lossy::new(clock());
        let store = store(lossy.clone());
        for command in ["add", "reset", "delete"] {
            // The network loses another of them each time.
            lossy.server().append_audit("before").unwrap();
            match command {
                "add" => {
                    let mut session = store.open(&id("x"), Wait::NONE).unwrap();
                    while add(&mut session, "it").is_err() {}
                }
                "reset" => drop(store.reset(&id("x"), true).unwrap()),
                _ => store.delete(&id("x")).unwrap(),
            }
        }
        let server = lossy.server();
        let archives = |kind| server.archives_of(kind).unwrap().len();
        assert_eq!(archives(osm_store::backend::ArchiveKind::Archive), 1);
        assert_eq!(archives(osm_store::backend::ArchiveKind::Trash), 1);
        let audit = server.audit_lines();
        for what in ["reset", "delete"] {
            let count = audit.iter().filter(|line| line.contains(&format!(r#""what":"{what}""#)));
            assert_eq!(count.count(), 1, "{audit:?}");
        }
    }
}

/// Files: an eviction takes the lease from a process that was taken for dead.
#[cfg(unix)]
#[test]
#[expect(clippy::disallowed_methods, reason = "these are the files of a test")]
fn a_lock_file_that_was_replaced_is_a_lost_lease() {
    let home = crate::harness::Home::new();
    let store = store(home.open());
    let mut session = store.open(&id("x"), Wait::NONE).unwrap();
    add(&mut session, "before").unwrap();
    let lock = home.sessions().join(format!("{}.session.lock", id("x")));
    let fresh = home.sessions().join("fresh");
    std::fs::write(&fresh, "").unwrap();
    std::fs::rename(fresh, lock).unwrap();
    let late = add(&mut session, "after").unwrap_err();
    assert!(matches!(&late, Error::LostLease(lost) if *lost == id("x")), "{late}");
    assert_eq!(items(&store), ["before"]);
}

/// Files: a store that was removed is made again, and the session is open there, too.
#[cfg(unix)]
#[test]
fn a_lease_is_taken_again_in_a_store_that_was_removed() {
    let home = crate::harness::Home::new();
    let store = store(home.open());
    let mut session = store.open(&id("x"), Wait::NONE).unwrap();
    add(&mut session, "before").unwrap();
    std::fs::remove_dir_all(home.root()).unwrap();
    session.set(Key::parse("k"), json!(1)).unwrap();
    session.record("test", "set").unwrap();
    assert_eq!(store.read(&id("x")).unwrap().state.value().unwrap()["shared"]["k"], 1);
    assert!(matches!(store.delete(&id("x")), Err(Error::Busy { .. })), "it is still open");
}
