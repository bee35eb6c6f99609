//! A process of the tests that works in a session on a server: `server_worker ADDRESS SESSION NAME COUNT`.
//!
//! It adds items `NAME-0`, `NAME-1`, … to a list and writes each down when the store has acknowledged it. While the server is
//! away it tries again.

#![expect(clippy::print_stdout, reason = "this is what it is for")]

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use osm_identity::{Pid, SessionId, System};
use osm_postgres::Server;
use osm_store::backend::{Holder, Wait};
use osm_store::{Key, PostgresBackend, Session, Store};
use serde_json::{Value, json};

fn open(server: &Arc<Server>, session: &SessionId) -> osm_store::Result<Session> {
    let backend = PostgresBackend::open(Arc::clone(server))?;
    let now = jiff::Timestamp::UNIX_EPOCH;
    let pid = Pid(std::process::id());
    let holder = Holder::new(&System::new(), pid, "here".into(), now, "worker".into());
    Store::new(Arc::new(backend), holder).open(session, Wait::USUAL)
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

/// Does it until it succeeds.
fn until_done<T>(mut attempt: impl FnMut() -> osm_store::Result<T>) -> T {
    loop {
        match attempt() {
            Ok(done) => return done,
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, session, name, count] = arguments.as_slice() else { panic!("four arguments") };
    let server = Arc::new(Server::new(address, &|_| None).expect("a valid address"));
    let id = SessionId::explicit(session.as_ref());
    let mut session = until_done(|| open(&server, &id));
    for number in 0..count.parse::<usize>().expect("a number") {
        let item = format!("{name}-{number:03}");
        if add(&mut session, &item).is_err() {
            // The change stays in the session.
            until_done(|| session.persist());
        }
        println!("{item}");
        std::io::stdout().flush().expect("the test reads");
    }
}
