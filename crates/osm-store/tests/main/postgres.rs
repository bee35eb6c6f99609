//! The store on a real PostgreSQL server, and what can go wrong with one.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use osm_postgres::Kind;
use osm_store::backend::postgres::COMPONENT;
use osm_store::backend::{ArchiveKind, Backend, Sharing, Wait};
use osm_store::{Error, ErrorKind, Key, PostgresBackend, Session, Store};
use osm_testkit::postgres::proxy::Proxy;
use osm_testkit::postgres::{Pooler, Server, Settings};
use osm_testkit::trials::need;
use serde_json::{Value, json};

use crate::backend_story::story;
use crate::harness::{Single, get, id, myself, put};

fn server(address: &str) -> Arc<osm_postgres::Server> {
    Arc::new(osm_postgres::Server::new(address, &|_| None).unwrap())
}

fn open(address: &str) -> osm_store::Result<PostgresBackend> {
    PostgresBackend::open(server(address))
}

/// An empty store on the shared server; `None` without one, unless that is an error.
pub(crate) fn shared() -> Option<PostgresBackend> {
    let server = match Server::shared() {
        Err(_) if !osm_testkit::tools::strict() => return None,
        server => need(server),
    };
    Some(open(&server.url(&server.database().unwrap())).unwrap())
}

fn database() -> (&'static Server, String) {
    let server = need(Server::shared());
    (server, server.database().unwrap())
}

#[test]
fn the_story_on_a_server() {
    let (server, database) = database();
    story(&open(&server.url(&database)).unwrap());
    let left = "SELECT count(*) FROM osm.session, osm.piece, osm.lease, osm.archive";
    assert_eq!(server.sql(&database, left).unwrap(), "0", "and nothing is left");
}

#[test]
fn the_story_through_a_pooler() {
    let (server, database) = database();
    // Fewer connections than callers: each transaction is another process of the server.
    let pooler = need(Pooler::start(server, 4));
    story(&open(&pooler.url(&database)).unwrap());
}

#[test]
fn the_story_behind_a_proxy_that_loses_requests_and_replies() {
    let (server, database) = database();
    let proxy = Proxy::new(([127, 0, 0, 1], server.port()).into()).unwrap();
    let port = proxy.address().port().to_string();
    let address = server.tcp_url(&database).replace(&server.port().to_string(), &port);
    let backend = open(&address).unwrap();
    // The commit as it is sent; the beginning of a transaction has the word in it, too.
    proxy.lose_regularly("COMMIT\0", 12);
    story(&backend);
    let lost = proxy.lost();
    assert!(lost > 50, "only {lost} were lost");
}

fn store(address: &str) -> Store {
    Store::new(Arc::new(open(address).unwrap()), myself("test"))
}

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

/// The items of a session, each of which is there once.
fn items(store: &Store, session: &str) -> BTreeSet<String> {
    let state = store.read(&id(session)).unwrap().state.value().unwrap();
    let items = state["shared"]["items"].as_array().cloned().unwrap_or_default();
    let once: BTreeSet<String> =
        items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(once.len(), items.len(), "none is twice");
    once
}

/// A process that adds items.
struct Worker(Child);

impl Worker {
    fn start(address: &str, session: &str, name: &str, count: usize) -> Self {
        let deps = std::env::current_exe().unwrap();
        let folder = deps.parent().and_then(Path::parent).unwrap();
        let mut command = Command::new(folder.join("examples/server_worker"));
        command.args([address, session, name, &count.to_string()]);
        Self(command.stdout(Stdio::piped()).spawn().unwrap())
    }

    /// What was acknowledged, when it has ended.
    fn finish(mut self) -> Vec<String> {
        let lines = BufReader::new(self.0.stdout.take().unwrap()).lines();
        let acknowledged = lines.map(Result::unwrap).collect();
        assert!(self.0.wait().unwrap().success());
        acknowledged
    }
}

#[test]
fn two_hosts_change_one_session_five_hundred_times_each() {
    let (server, database) = database();
    let address = server.url(&database);
    let workers = ["one", "two"].map(|name| Worker::start(&address, "x", name, 500));
    let acknowledged: BTreeSet<String> = workers.into_iter().flat_map(Worker::finish).collect();
    assert_eq!(acknowledged.len(), 1000);
    assert_eq!(items(&store(&address), "x"), acknowledged);
}

/// Each process works in one of four sessions; the server is killed three times.
#[test]
fn a_server_that_is_killed_loses_nothing_that_was_acknowledged() {
    const EACH: usize = 40;
    let settings = Settings { fsync: true, ..Settings::default() };
    let server = need(Server::start(settings));
    let address = server.url("postgres");
    drop(open(&address).unwrap());
    let workers: Vec<_> = (0..16)
        .map(|number| {
            let session = format!("s{}", number % 4);
            Worker::start(&address, &session, &format!("w{number}"), EACH)
        })
        .collect();
    let saved = || {
        let count = server.sql("postgres", "SELECT coalesce(sum(last_update), 0) FROM osm.lease");
        count.unwrap_or_default().parse::<i64>().unwrap_or(0)
    };
    for _ in 0..3 {
        let before = saved();
        while saved() < before + 60 {
            std::thread::sleep(Duration::from_millis(2));
        }
        server.kill().unwrap();
        server.begin().unwrap();
    }
    let acknowledged: BTreeSet<String> = workers.into_iter().flat_map(Worker::finish).collect();
    assert_eq!(acknowledged.len(), 16 * EACH);
    let store = store(&address);
    let there: BTreeSet<String> =
        (0..4).flat_map(|number| items(&store, &format!("s{number}"))).collect();
    assert_eq!(there, acknowledged);
}

#[test]
fn a_process_that_was_killed_keeps_no_session() {
    let (server, database) = database();
    let address = server.url(&database);
    let mut worker = Worker::start(&address, "x", "killed", 1_000_000);
    let mut line = String::new();
    BufReader::new(worker.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let store = store(&address);
    let busy = store.delete(&id("x")).unwrap_err();
    assert!(matches!(&busy, Error::Busy { holders, .. } if holders.len() == 1), "{busy}");
    worker.0.kill().unwrap();
    worker.0.wait().unwrap();
    store.delete(&id("x")).unwrap();
}

/// A holder on another machine is not known to be dead: only the end of its lease frees the session.
#[test]
fn a_lease_of_another_machine_ends_by_the_clock_of_the_server() {
    let (server, database) = database();
    let backend = open(&server.url(&database)).unwrap();
    put(&backend, &id("x"), "{}").unwrap();
    let mut stranger = myself("stranger");
    stranger.process.boot = "another".into();
    let mut theirs = backend.attend(&id("x"), &stranger, Sharing::Shared, Wait::NONE).unwrap();
    assert!(matches!(backend.remove_session(&id("x"), false), Err(Error::Busy { .. })));
    let refused = backend.evict(&id("x"), &mut |_| Ok(())).unwrap_err();
    assert!(matches!(refused, Error::Unproven { .. }), "{refused}");
    let expire = "UPDATE osm.lease SET expires_at = clock_timestamp()";
    server.sql(&database, expire).unwrap();
    assert!(backend.holders(&id("x")).unwrap().is_empty());
    // As long as no other process needed the session, its owner goes on.
    let mut keep =
        |_: &mut dyn osm_store::backend::Transaction, _| Ok(osm_store::backend::Next::Keep);
    theirs.update(None, Wait::NONE, &mut keep).unwrap();
    assert_eq!(backend.holders(&id("x")).unwrap().len(), 1);
    server.sql(&database, expire).unwrap();
    backend.remove_session(&id("x"), false).unwrap();
    let late = theirs.update(None, Wait::NONE, &mut keep).unwrap_err();
    assert!(matches!(late, Error::LostLease(_)), "{late}");
}

#[test]
fn a_save_sends_what_changed() {
    let (server, database) = database();
    let address = server.url(&database);
    let mut session = store(&address).open(&id("x"), Wait::NONE).unwrap();
    let long = (0..200_000).fold(String::new(), |text, number| text + &format!("{number:x} "));
    session.set(Key::parse("long"), json!(long)).unwrap();
    session.record("test", "set long").unwrap();
    let size = "SELECT sum(octet_length(content)), count(*) FROM osm.piece";
    let first = server.sql(&database, size).unwrap();
    let hashes = "SELECT hash FROM osm.piece ORDER BY hash";
    let before: BTreeSet<String> =
        server.sql(&database, hashes).unwrap().lines().map(str::to_owned).collect();
    for number in 0..20 {
        session.set(Key::parse("short"), json!(number)).unwrap();
        session.record("test", "set short").unwrap();
    }
    let after: BTreeSet<String> =
        server.sql(&database, hashes).unwrap().lines().map(str::to_owned).collect();
    let new = after.difference(&before).count();
    assert!(before.len() > 20 && new <= 4, "{new} of {} pieces are new", after.len());
    let size_of = |text: &str| text.split('|').next().unwrap().parse::<usize>().unwrap();
    let last = server.sql(&database, size).unwrap();
    assert!(size_of(&last) < size_of(&first) + 100_000, "{first} {last}");
}

/// What each trouble of a server is to the store, and that nothing is lost by it.
#[test]
fn troubles_have_their_kinds() {
    let hba = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n".to_owned();
    let options =
        vec!["max_connections=5".to_owned(), "superuser_reserved_connections=0".to_owned()];
    let server =
        need(Server::start(Settings { tcp: true, hba: Some(hba), options, ..Settings::default() }));
    let kind = |error: &Error, kind: Kind, sort: ErrorKind| {
        assert!(matches!(error, Error::Server(error) if error.kind() == kind), "{error:?}");
        assert_eq!(error.kind(), sort, "{error}");
        assert!(error.to_string().starts_with("PostgreSQL at osm@"), "{error}");
        assert!(!error.to_string().contains("secret"));
    };
    let refused = |address: &str| open(address).map(drop).unwrap_err();
    let denied = format!("postgres://osm:secret@127.0.0.1:{}/postgres", server.port());
    kind(&refused(&denied), Kind::Denied, ErrorKind::Denied);
    kind(&refused(&format!("{denied}?sslmode=require")), Kind::Tls, ErrorKind::Denied);

    let address = server.url("postgres");
    let store = store(&address);
    let mut session = store.open(&id("x"), Wait::NONE).unwrap();
    add(&mut session, "first").unwrap();

    let others: Vec<_> =
        std::iter::from_fn(|| osm_postgres::Connection::open(&self::server(&address)).ok())
            .collect();
    kind(&refused(&address), Kind::TooManyConnections, ErrorKind::Unreachable);
    drop(others);
    // The server closes them in its own time.
    while osm_postgres::Connection::open(&self::server(&address)).is_err() {
        std::thread::sleep(Duration::from_millis(5));
    }

    let version = COMPONENT.version();
    server.sql("postgres", &format!("INSERT INTO osm.migration (component, version, name) VALUES ('store', {}, 'later')", version + 1)).unwrap();
    kind(&refused(&address), Kind::NewerSchema, ErrorKind::Damaged);
    server
        .sql("postgres", &format!("DELETE FROM osm.migration WHERE version > {version}"))
        .unwrap();

    let read_only = |value: &str| {
        server.sql("postgres", &format!("ALTER DATABASE postgres SET default_transaction_read_only = {value}; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'osm'"))
    };
    read_only("on").unwrap();
    kind(&add(&mut session, "second").unwrap_err(), Kind::ReadOnly, ErrorKind::Denied);
    assert!(session.is_dirty());
    drop(read_only("off"));
    server.sql("template1", "ALTER DATABASE postgres RESET default_transaction_read_only").unwrap();
    server.stop().unwrap();
    kind(&session.persist().unwrap_err(), Kind::Unreachable, ErrorKind::Unreachable);
    server.begin().unwrap();
    session.persist().unwrap();
    assert_eq!(items(&store, "x").len(), 2);

    // A statement that is cancelled, and a process that is ended, in the middle of a save.
    for how in ["cancel", "terminate"] {
        server.sql("postgres", "CREATE OR REPLACE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(600); RETURN NEW; END'; CREATE TRIGGER slow BEFORE UPDATE ON osm.session FOR EACH ROW EXECUTE FUNCTION slow()").unwrap();
        let error = std::thread::scope(|scope| {
            let saving = scope.spawn(|| add(&mut session, how).unwrap_err());
            let end = format!(
                "SELECT pg_{how}_backend(pid) FROM pg_stat_activity WHERE application_name = 'osm' AND wait_event = 'PgSleep'"
            );
            while server.sql("postgres", &end).unwrap().is_empty() {}
            saving.join().unwrap()
        });
        assert_eq!(error.kind(), ErrorKind::Unreachable, "{error}");
        server.sql("postgres", "DROP TRIGGER slow ON osm.session").unwrap();
        session.persist().unwrap();
    }
    assert_eq!(items(&store, "x").len(), 4);
}

/// A file system of a few megabytes, where the tables of the store lie.
#[test]
fn a_disk_that_is_full() {
    need(osm_testkit::tools::root());
    let server = need(Server::start(Settings::default()));
    let folder = server.folder().join("small");
    std::fs::create_dir(&folder).unwrap();
    let mount = |words: &[&str]| {
        let done = Command::new(words[0]).args(&words[1..]).arg(&folder).status();
        done.is_ok_and(|status| status.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs"]) {
        osm_testkit::trials::skip(osm_testkit::tools::Skipped(
            "a tmpfs cannot be mounted here".into(),
        ));
    }
    let result = std::panic::catch_unwind(|| {
        let owner = std::os::unix::fs::MetadataExt::uid(&std::fs::metadata(server.data()).unwrap());
        std::os::unix::fs::chown(&folder, Some(owner), None).unwrap();
        server
            .sql("postgres", &format!("CREATE TABLESPACE small LOCATION '{}'", folder.display()))
            .unwrap();
        let address = server.url("postgres");
        let store = store(&address);
        server.sql("postgres", "ALTER TABLE osm.piece SET TABLESPACE small").unwrap();
        let mut session = store.open(&id("x"), Wait::NONE).unwrap();
        add(&mut session, "first").unwrap();
        let noise = (0..2_000_000_u64).fold(String::new(), |text, number| {
            text + &format!("{:x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32)
        });
        session.set(Key::parse("large"), json!(noise)).unwrap();
        let full = session.persist().unwrap_err();
        assert_eq!(full.kind(), ErrorKind::Full, "{full}");
        assert!(session.is_dirty(), "and nothing is lost");
        assert_eq!(items(&store, "x").len(), 1, "the old document is whole");
        session.set(Key::parse("large"), json!("small")).unwrap();
        session.persist().unwrap();
    });
    server.kill().unwrap();
    let deadline = Instant::now() + Duration::from_secs(30);
    while !mount(&["umount"]) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

#[test]
fn archives_and_sessions_outlive_the_connection() {
    let server = need(Server::start(Settings::default()));
    let backend = open(&server.url("postgres")).unwrap();
    put(&backend, &id("x"), "{}").unwrap();
    let name = backend.archive(ArchiveKind::Trash, "it", b"kept").unwrap();
    server.stop().unwrap();
    assert_eq!(
        backend.load(osm_store::backend::Stored::Record, None).unwrap_err().kind(),
        ErrorKind::Unreachable
    );
    server.begin().unwrap();
    assert_eq!(backend.read_archived(ArchiveKind::Trash, &name).unwrap(), b"kept");
    assert_eq!(get(&backend, &id("x")).as_deref(), Some("{}"));
}
