//! Sessions go on while a real server is away, and lose nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use osm_store::backend::Wait;
use osm_store::fallback::{self, Fallback, Opener};
use osm_store::{Journals, Kept, Key, Notice, PostgresBackend, Session, Store};
use osm_testkit::postgres::{Server, Settings};
use osm_testkit::trials::need;
use serde_json::{Value, json};

use crate::harness::{clock, id, myself};

/// A machine with a home and a server.
struct Machine {
    home: tempfile::TempDir,
    address: String,
}

impl Machine {
    fn new(server: &Server) -> Self {
        Self { home: tempfile::tempdir().unwrap(), address: server.url("postgres") }
    }

    fn journals(&self) -> Journals {
        Journals::new(self.home.path(), "the server".into(), clock())
    }

    fn opener(&self) -> Opener {
        let (address, journals) = (self.address.clone(), self.journals());
        Arc::new(move || {
            let server = Arc::new(osm_postgres::Server::new(&address, &|_| None)?);
            let store = Store::new(Arc::new(PostgresBackend::open(server)?), myself("journals"));
            Ok(store.replaying(journals.clone()))
        })
    }

    /// Opens a session as a mode does.
    fn open(&self, name: &str) -> (Session, Option<Fallback>) {
        let (holder, journals) = (myself("a mode"), self.journals());
        let journals = Some(&journals);
        fallback::open(self.opener(), journals, &holder, &clock(), &id(name), Wait::USUAL).unwrap()
    }

    /// Opens a session whose server works.
    fn stored(&self, name: &str) -> Session {
        let (session, fallback) = self.open(name);
        assert!(fallback.is_none(), "the server is there");
        session
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join("journal")
    }

    fn files(&self, kind: &str) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder()).into_iter().flatten();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.to_str().unwrap().ends_with(kind)).collect()
    }

    fn no_files(&self) {
        assert_eq!(self.files(""), Vec::<PathBuf>::new());
    }
}

fn set(session: &mut Session, key: &str, value: Value) -> Kept {
    session.set(Key::parse(key), value).unwrap();
    session.record("test", &format!("set {key}")).unwrap()
}

fn journaled(kept: &Kept) -> &Path {
    match kept {
        Kept::Journaled(journaled) => &journaled.journal,
        Kept::Stored => panic!("the server is away"),
    }
}

fn get(session: &Session, key: &str) -> Option<Value> {
    session.get(&Key::parse(key)).unwrap()
}

fn commands(session: &Session) -> Vec<String> {
    session.history().unwrap().into_iter().map(|entry| entry.command).collect()
}

fn is_private(path: &Path, mode: u32) {
    let found = std::os::unix::fs::MetadataExt::mode(&path.metadata().unwrap());
    assert_eq!(found & 0o7777, mode, "{}", path.display());
}

#[test]
fn the_next_save_of_a_process_brings_everything() {
    let server = need(Server::start(Settings::default()));
    let machine = Machine::new(&server);
    let mut session = machine.stored("x");
    assert!(matches!(set(&mut session, "a", json!(1)), Kept::Stored));
    server.stop().unwrap();
    let kept = set(&mut session, "b", json!(2));
    is_private(journaled(&kept), 0o600);
    is_private(&machine.folder(), 0o700);
    assert_eq!(session.reserve(&Key::parse("numbers"), 3, 2).unwrap(), 5);
    assert!(!session.refresh().unwrap());
    journaled(&set(&mut session, "b", json!(3)));
    let reset = session.reset(true);
    assert!(reset.is_err(), "a reset needs the store: {reset:?}");
    let (other, away) = machine.open("y");
    assert!(away.is_some() && other.get(&Key::parse("b")).unwrap().is_none());
    drop(other);
    server.begin().unwrap();
    // Another terminal leaves the journal to the process that writes it.
    assert_eq!(get(&machine.stored("x"), "b"), None);
    assert!(matches!(set(&mut session, "c", json!(4)), Kept::Stored));
    assert!(matches!(session.take_notices()[..], [Notice::Replayed { .. }]));
    machine.no_files();
    let again = machine.stored("x");
    assert_eq!(commands(&again), ["set a", "set b; set b; set c"]);
    assert_eq!((get(&again, "b"), get(&again, "c")), (Some(json!(3)), Some(json!(4))));
}

#[test]
fn a_session_that_could_not_be_opened_is_continued_by_the_next_process() {
    let server = need(Server::start(Settings::default()));
    let machine = Machine::new(&server);
    let item = |number: u64, text: &str| json!({"id": number, "text": text});
    set(&mut machine.stored("x"), "items", json!([item(1, "before")]));
    server.stop().unwrap();
    let (mut session, away) = machine.open("x");
    assert!(away.unwrap().hides_what_was_kept());
    assert_eq!(get(&session, "items"), None, "it cannot be read");
    journaled(&set(&mut session, "items", json!([item(1, "away")])));
    // Nothing is written at the end: a process that is killed leaves the same.
    drop(session);
    let (mut session, _) = machine.open("x");
    assert_eq!(get(&session, "items"), Some(json!([item(1, "away")])));
    assert!(!session.is_changed());
    journaled(&set(&mut session, "more", json!(1)));
    assert_eq!(machine.files(".json").len(), 1, "one journal for a session");
    drop(session);
    server.begin().unwrap();
    let mut session = machine.stored("x");
    assert_eq!(get(&session, "items"), Some(json!([item(1, "before"), item(2, "away")])));
    assert_eq!(commands(&session), ["set items", "set items; set more"]);
    let notices = session.take_notices();
    let [Notice::Replayed { overwritten, .. }] = &notices[..] else { panic!("{notices:?}") };
    assert!(overwritten.is_empty(), "both are kept");
    machine.no_files();

    // A session that began while the server was away finds it with its next command.
    server.stop().unwrap();
    let (mut session, _) = machine.open("x");
    journaled(&set(&mut session, "late", json!(1)));
    server.begin().unwrap();
    assert!(matches!(set(&mut session, "later", json!(2)), Kept::Stored));
    assert_eq!(get(&session, "more"), Some(json!(1)), "it has what the store has");
    assert_eq!(commands(&session).last().unwrap(), "set late; set later");
    machine.no_files();
}

#[test]
fn a_conflict_is_said_and_the_value_that_loses_is_kept() {
    let server = need(Server::start(Settings::default()));
    let (one, two) = (Machine::new(&server), Machine::new(&server));
    let mut session = one.stored("x");
    set(&mut session, "k", json!("base"));
    server.stop().unwrap();
    journaled(&set(&mut session, "k", json!("one")));
    drop(session);
    server.begin().unwrap();
    // Saved without a command, so that only the replay can put it into the history.
    let mut other = two.stored("x");
    other.set(Key::parse("k"), json!("two")).unwrap();
    other.persist().unwrap();
    let mut session = one.stored("x");
    assert_eq!(get(&session, "k"), Some(json!("one")));
    let notices = session.take_notices();
    let [Notice::Replayed { overwritten, command, host }] = &notices[..] else {
        panic!("{notices:?}")
    };
    assert_eq!(overwritten[..], [Key::parse("k")]);
    assert_eq!((command.as_deref(), host.as_str()), (Some("set k"), "here"));
    let history = session.history().unwrap();
    let states = history.iter().map(|entry| entry.final_state.value().unwrap());
    let values: Vec<Value> = states.map(|state| state["shared"]["k"].clone()).collect();
    assert_eq!(values, [json!("base"), json!("two"), json!("one")]);
}

#[test]
fn a_journal_that_returns_is_not_replayed_again() {
    let server = need(Server::start(Settings::default()));
    let machine = Machine::new(&server);
    let mut session = machine.stored("x");
    server.stop().unwrap();
    let kept = set(&mut session, "k", json!(1));
    let (path, bytes) = (journaled(&kept).to_owned(), std::fs::read(journaled(&kept)).unwrap());
    drop(session);
    server.begin().unwrap();
    let mut session = machine.stored("x");
    assert_eq!(get(&session, "k"), Some(json!(1)));
    set(&mut session, "k", json!(2));
    // As if the process had been killed between its save and the removal.
    std::fs::write(&path, &bytes).unwrap();
    let mut again = machine.stored("x");
    assert_eq!(get(&again, "k"), Some(json!(2)));
    assert_eq!(commands(&again), ["set k", "set k"]);
    assert_eq!(again.take_notices(), []);
    machine.no_files();
}

#[test]
fn a_damaged_journal_is_set_aside_and_costs_nothing_else() {
    let server = need(Server::start(Settings::default()));
    let machine = Machine::new(&server);
    let mut session = machine.stored("x");
    server.stop().unwrap();
    let kept = set(&mut session, "k", json!(1));
    let bytes = std::fs::read(journaled(&kept)).unwrap();
    drop(session);
    let name = |digit: &str| machine.folder().join(format!("{}.journal.json", digit.repeat(32)));
    std::fs::write(name("0"), &bytes[..bytes.len() / 2]).unwrap();
    std::fs::write(name("f"), "").unwrap();
    let elsewhere = String::from_utf8(bytes).unwrap().replace("the server", "another");
    std::fs::write(name("5"), elsewhere).unwrap();
    let listed = machine.journals().list().unwrap();
    assert_eq!(listed.iter().filter(|it| it.damage.is_some()).count(), 2, "{listed:?}");
    server.begin().unwrap();
    let mut session = machine.stored("x");
    assert_eq!(get(&session, "k"), Some(json!(1)));
    let notices = session.take_notices();
    let is_damaged = |it: &&Notice| matches!(it, Notice::NotReplayed { .. });
    assert_eq!(notices.iter().filter(is_damaged).count(), 2, "{notices:?}");
    assert_eq!(commands(&session), ["set k"], "what waits for another store is left");
    assert_eq!(machine.files(".journal.json"), [name("5")]);
    assert_eq!(machine.files(".journal.damaged").len(), 2);
    assert_eq!(machine.stored("x").take_notices(), [], "it is said once");
}
