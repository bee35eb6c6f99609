//! A store that cannot be used: work goes on in memory, and comes back from where it was written.

use std::path::Path;
use std::sync::Arc;

use osm_store::backend::{ArchiveKind, Backend, Wait};
use osm_store::fallback::{self, Fallback, Opener, Rescued};
use osm_store::{Error, FsBackend, Key, Result, Session, Store};
use serde_json::{Value, json};

use crate::harness::{Home, Single, clock, id, myself, names, now};

fn store(root: &Path) -> Result<Store> {
    let backend: Arc<dyn Backend> = Arc::new(FsBackend::open(root, clock())?);
    Ok(Store::new(backend, myself("fallback")))
}

fn opener(root: &Path) -> Opener {
    let root = root.to_owned();
    Arc::new(move || store(&root))
}

fn open(root: &Path) -> Result<(Session, Option<Fallback>)> {
    let (holder, clock) = (myself("fallback"), Arc::new(now) as _);
    fallback::open(opener(root), None, &holder, &clock, &id("x"), Wait::NONE)
}

/// Does some work, of which the last is not even saved.
fn work(session: &mut Session) -> Value {
    session.set(Key::parse("long"), json!("y".repeat(10_000))).unwrap();
    session.record("test", "set long").unwrap();
    session.set(Key::parse("goal:last"), json!(7)).unwrap();
    session.state().unwrap()
}

/// Takes a rescued file into a new store, as `osm session import` does.
fn comes_back(path: &Path, state: &Value) {
    let home = Home::new();
    let store = store(&home.root()).unwrap();
    let bytes = std::fs::read(path).unwrap();
    let (imported, _) = store.import(bytes, "rescued", None).unwrap();
    assert_eq!(imported, id("x"));
    assert_eq!(store.read(&imported).unwrap().state.value().unwrap(), *state);
}

/// That no other user can read a file.
fn is_private(path: &Path) {
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(&path.metadata().unwrap());
        assert_eq!(mode & 0o7777, 0o600);
    }
    assert!(path.is_file());
}

/// Works in a store that cannot be used, to the end.
pub(crate) fn in_memory(root: &Path, reason: &str) {
    let temporary = tempfile::tempdir().unwrap();
    let (mut session, fallback) = open(root).unwrap();
    let fallback = fallback.expect("the store cannot be used");
    assert!(fallback.why().to_string().contains(reason), "{}", fallback.why());
    let state = work(&mut session);
    let rescued = fallback.rescue(&session, temporary.path()).unwrap().unwrap();
    let Rescued::File(path) = &rescued else { panic!("{rescued}") };
    is_private(path);
    comes_back(path, &state);
}

/// Works in a store that can be opened and then takes nothing more.
#[cfg(target_os = "linux")]
pub(crate) fn a_save_that_fails(root: &Path) {
    let temporary = tempfile::tempdir().unwrap();
    let mut session = store(root).unwrap().open(&id("x2"), Wait::NONE).unwrap();
    session.set(Key::parse("k"), json!("y".repeat(10_000))).unwrap();
    let failure = session.record("test", "set").unwrap_err();
    let state = session.state().unwrap();
    let fallback = Fallback::after(failure, opener(root), Arc::new(now));
    let rescued = fallback.rescue(&session, temporary.path()).unwrap().unwrap();
    let Rescued::File(path) = rescued else { panic!("{rescued}") };
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(
        store(root).unwrap().snapshot(bytes, "rescued").unwrap().state.value().unwrap(),
        state
    );
}

#[test]
fn a_root_that_is_no_folder() {
    let home = Home::new();
    std::fs::write(home.root(), "a file").unwrap();
    in_memory(&home.root(), "is a file, not a folder");
    assert_eq!(std::fs::read_to_string(home.root()).unwrap(), "a file");
    in_memory(&home.root().join("below"), "cannot");
}

#[cfg(unix)]
#[test]
fn a_root_of_another_user() {
    osm_testkit::trials::need(osm_testkit::tools::root());
    let home = Home::new();
    std::fs::create_dir(home.root()).unwrap();
    std::os::unix::fs::chown(home.root(), Some(65534), None).unwrap();
    in_memory(&home.root(), "belongs to another user");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "what is removed here is no user's")]
fn a_store_that_works_again_takes_it_onto_its_shelf() {
    let home = Home::new();
    std::fs::write(home.root(), "a file").unwrap();
    let (mut session, fallback) = open(&home.root()).unwrap();
    let state = work(&mut session);
    std::fs::remove_file(home.root()).unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let rescued = fallback.unwrap().rescue(&session, temporary.path()).unwrap().unwrap();
    let Rescued::Archive(name) = &rescued else { panic!("{rescued}") };
    assert_eq!(names(temporary.path()), [""; 0]);

    let store = store(&home.root()).unwrap();
    assert_eq!(store.backend().archives_of(ArchiveKind::Recovered).unwrap()[0].id, Some(id("x")));
    store.restore(ArchiveKind::Recovered, name, &id("x")).unwrap();
    let back = store.read(&id("x")).unwrap();
    assert_eq!(back.state.value().unwrap(), state);
    assert_eq!(back.history[0].command, "set long");
    let audit = std::fs::read_to_string(home.root().join("audit.jsonl")).unwrap();
    assert!(audit.contains(r#""what":"recover""#), "{audit}");
}

#[test]
fn nothing_is_rescued_where_nothing_was_done() {
    let home = Home::new();
    std::fs::write(home.root(), "a file").unwrap();
    let (session, fallback) = open(&home.root()).unwrap();
    let temporary = tempfile::tempdir().unwrap();
    assert_eq!(fallback.unwrap().rescue(&session, temporary.path()).unwrap(), None);
    assert_eq!(names(temporary.path()), [""; 0]);

    let home = Home::new();
    let (session, fallback) = open(&home.root()).unwrap();
    assert!(fallback.is_none(), "a store that works needs none");
    drop(session);
}

/// A session that is kept and whose lock cannot be taken.
#[expect(clippy::disallowed_methods, reason = "what is removed here is no user's")]
fn kept_and_blocked(home: &Home) -> Value {
    let mut session = store(&home.root()).unwrap().open(&id("x"), Wait::NONE).unwrap();
    let state = work(&mut session);
    session.close().unwrap();
    let lock = home.root().join("sessions").join(format!("{}.session.lock", id("x")));
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(lock).unwrap();
    state
}

#[test]
fn what_can_be_read_is_shown() {
    let home = Home::new();
    let state = kept_and_blocked(&home);
    let (mut session, fallback) = open(&home.root()).unwrap();
    let fallback = fallback.expect("its lock cannot be taken");
    assert!(!fallback.hides_what_was_kept());
    assert_eq!(session.state().unwrap(), state);
    assert_eq!(session.history().unwrap()[0].command, "set long");
    session.set(Key::parse("more"), json!(1)).unwrap();
    session.record("test", "set more").unwrap();
    let state = session.state().unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let rescued = fallback.rescue(&session, temporary.path()).unwrap().unwrap();
    let Rescued::Archive(name) = &rescued else { panic!("{rescued}") };
    let archived =
        store(&home.root()).unwrap().read_archived(ArchiveKind::Recovered, name).unwrap();
    assert_eq!(archived.state.value().unwrap(), state, "what replaces the session has all of it");

    let (session, fallback) = open(&home.root()).unwrap();
    let rescued = fallback.unwrap().rescue(&session, temporary.path()).unwrap();
    assert_eq!(rescued, None, "nothing is new");
}

#[test]
fn what_cannot_be_read_is_not_passed_over_in_silence() {
    let home = Home::new();
    kept_and_blocked(&home);
    let document = home.root().join("sessions").join(format!("{}.session.json", id("x")));
    std::fs::write(&document, "{").unwrap();
    let (session, fallback) = open(&home.root()).unwrap();
    assert!(fallback.unwrap().hides_what_was_kept());
    assert_eq!(session.history().unwrap().len(), 0);
    std::fs::write(&document, r#"{"version":"9.0.0","session_id":"ex--x_2d"}"#).unwrap();
    assert!(matches!(open(&home.root()), Err(Error::Newer { .. })));
}

#[test]
fn a_store_that_refuses_is_not_passed_by() {
    let home = Home::new();
    let backend = home.open();
    let newer = r#"{"version":"9.0.0","session_id":"ex--x_2d"}"#;
    crate::harness::put(&backend, &id("x"), newer).unwrap();
    assert!(matches!(open(&home.root()), Err(Error::Newer { .. })));
}

#[test]
fn a_name_that_is_taken_is_passed_over() {
    let home = Home::new();
    std::fs::write(home.root(), "a file").unwrap();
    let temporary = tempfile::tempdir().unwrap();
    let rescue = || {
        let clock: osm_store::Clock = Arc::new(|| "2026-01-02T03:04:05Z".parse().unwrap());
        let (holder, id) = (myself("me"), id("x"));
        let opened = fallback::open(opener(&home.root()), None, &holder, &clock, &id, Wait::NONE);
        let (mut session, fallback) = opened.unwrap();
        work(&mut session);
        fallback.unwrap().rescue(&session, temporary.path()).unwrap().unwrap()
    };
    assert_ne!(rescue(), rescue());
    assert_eq!(names(temporary.path()).len(), 2);
}
