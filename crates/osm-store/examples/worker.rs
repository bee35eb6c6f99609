//! A process that works in a session: what tests and benchmarks start many of.
//!
//! ```text
//! worker ROOT add SESSION KEY PREFIX COUNT   adds COUNT items to a list, one command each
//! worker ROOT set SESSION KEY JSON           sets a key, with one command
//! worker ROOT get SESSION KEY                prints a key
//! worker ROOT hold SESSION                   keeps a session open until standard input ends
//! worker ROOT reset SESSION                  archives it and starts an empty one
//! worker ROOT delete SESSION                 removes it, into the trash
//! worker ROOT restore NAME SESSION           brings an archived document back
//! worker ROOT clean                          removes what the limits no longer allow
//! worker ROOT list                           prints the ids, and which are in use
//! ```
//!
//! Whatever was done is said on standard output, one line for each change that is safe on disk.
//! Exit codes: 3 if another process holds it, 4 if there is no such session, 1 otherwise.

#![expect(clippy::disallowed_methods, reason = "a program of its own, with the real clock")]

use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use jiff::Timestamp;
use osm_identity::{Pid, SessionId, System};
use osm_store::backend::{ArchiveKind, Backend, Holder, Wait};
use osm_store::cleanup::{Cleaner, Options};
use osm_store::retention::{Mode, Policy, Uptime};
use osm_store::{Clock, Error, ErrorKind, FsBackend, Key, Session, Store};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Err(failure) = run(&arguments) else { return ExitCode::SUCCESS };
    match failure.downcast_ref::<Error>().map(Error::kind) {
        Some(ErrorKind::Busy) => ExitCode::from(3),
        Some(ErrorKind::NotFound) => ExitCode::from(4),
        _ => {
            drop(writeln!(io::stderr(), "{failure}"));
            ExitCode::FAILURE
        }
    }
}

type Failure = Box<dyn std::error::Error>;

fn run(arguments: &[&str]) -> Result<(), Failure> {
    let [root, command, rest @ ..] = arguments else {
        return Err("worker ROOT COMMAND …".into());
    };
    let clock: Clock = Arc::new(Timestamp::now);
    let backend: Arc<dyn Backend> = Arc::new(FsBackend::open(Path::new(root), clock)?);
    let store = Store::new(Arc::clone(&backend), holder(command));
    let open = |name: &str| store.open(&id(name), Wait::USUAL);
    match (*command, rest) {
        ("add", [session, key, prefix, count]) => {
            let mut session = open(session)?;
            for number in 0..count.parse().unwrap_or(0) {
                let text = format!("{prefix}-{number}");
                add(&mut session, &Key::parse(key), &text)?;
                say(&text);
            }
        }
        ("set", [session, key, value]) => {
            let mut session = open(session)?;
            session.set(Key::parse(key), serde_json::from_str(value)?)?;
            session.record("worker", &format!("set {key}"))?;
            say("set");
        }
        ("get", [session, key]) => {
            say(&open(session)?.get(&Key::parse(key))?.unwrap_or_default().to_string());
        }
        ("hold", [session]) => {
            let session = open(session)?;
            say("open");
            drop(io::stdin().read_to_end(&mut Vec::new()));
            session.close()?;
        }
        ("reset", [session]) => {
            let kept = store.reset(&id(session), true)?;
            say(&kept.map(|(_, name)| name).unwrap_or_default());
        }
        ("delete", [session]) => {
            store.delete(&id(session))?;
            say("deleted");
        }
        ("restore", [name, session]) => {
            store.restore(ArchiveKind::Archive, name, &id(session))?;
            say("restored");
        }
        ("clean", []) => clean(backend.as_ref())?,
        ("list", []) => {
            for entry in backend.all(true)? {
                say(&format!("{} {}", entry.id, if entry.active { "live" } else { "idle" }));
            }
        }
        _ => return Err(format!("unknown: {command} {rest:?}").into()),
    }
    Ok(())
}

fn clean(backend: &dyn Backend) -> Result<(), Error> {
    let policy = Policy { max_count: 5, ..Policy::default() };
    let cleaner = Cleaner {
        backend,
        policy: &policy,
        holder: &holder("clean"),
        current: &[],
        processes: &System,
        uptime: &Uptime::default(),
    };
    let report = cleaner.clean_up(Mode::Clean, &Options::default(), &mut |_| {})?;
    for removed in report.removed {
        say(removed.id.as_str());
    }
    Ok(())
}

/// Adds an item to a list, with the next number as its id.
fn add(session: &mut Session, key: &Key, text: &str) -> Result<(), Error> {
    session.refresh()?;
    let mut items = match session.get(key)? {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    let last = items.iter().filter_map(|item| item["id"].as_u64()).max().unwrap_or(0);
    items.push(json!({"id": last + 1, "text": text}));
    session.set(key.clone(), Value::Array(items))?;
    session.record("worker", &format!("add {text}")).map(drop)
}

fn id(text: &str) -> SessionId {
    SessionId::explicit(text.as_ref())
}

fn say(text: &str) {
    let mut stdout = io::stdout().lock();
    drop(writeln!(stdout, "{text}").and_then(|()| stdout.flush()));
}

fn holder(command: &str) -> Holder {
    let (pid, command) = (Pid(std::process::id()), format!("worker {command}"));
    Holder::new(&System, pid, "test".into(), Timestamp::now(), command)
}
