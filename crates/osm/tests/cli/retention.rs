//! What an automatic cleanup may remove, as a user meets it.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]
#![expect(clippy::disallowed_methods, reason = "the real clock dates files")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use osm_claims::clock::{Clock, SystemClock};
use osm_identity::{SessionId, System};
use serde_json::{Value, json};

use crate::harness::Env;

const DAY: Duration = Duration::from_hours(24);

fn id(name: &str) -> SessionId {
    SessionId::explicit(name.as_ref())
}

/// Sessions with something in them.
fn save(env: &Env, names: &[&str]) {
    for name in names {
        let export = env.path().join("import.json");
        let document = json!({"export": "1.0.0", "session_id": id(name).as_str(), "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "shared_state": {"k": 1}});
        fs::write(&export, document.to_string()).unwrap();
        let run = env.run(&["session", "import", export.to_str().unwrap(), "--as", name]);
        assert_eq!(run.code, Some(0), "{}", run.transcript());
    }
}

fn document(env: &Env, name: &str) -> PathBuf {
    env.path().join("sessions").join(format!("{}.session.json", id(name)))
}

fn files(folder: &Path) -> Vec<String> {
    let found = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<String> =
        found.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A file that looks like a terabyte, takes no space, and is too large to be kept in the trash.
#[test]
fn a_huge_file_costs_no_other_session() {
    let env = Env::new();
    save(&env, &["a", "b", "c"]);
    File::create(document(&env, "huge")).unwrap().set_len(1 << 40).unwrap();
    fs::remove_file(env.path().join("metadata.json")).ok();

    let run = env.run(&["session", "list"]);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.transcript());
    for name in ["a", "b", "c", "huge"] {
        assert!(document(&env, name).is_file(), "{name}");
    }
    let run = env.run(&["session", "clean", "-y"]);
    assert_eq!(run.code, Some(1), "{}", run.transcript());
    assert!(
        run.stderr.contains("huge") && run.stderr.contains("exceed the limit"),
        "{}",
        run.stderr
    );
    assert!(["a", "b", "c"].iter().all(|name| document(&env, name).is_file()));
    assert_eq!(files(&env.path().join("sessions/trash")), [""; 0]);
}

/// Dates everything in a store, and its last cleanup, 100 days back: what a clock sees that is set
/// 100 days ahead while the machine runs.
fn jump(env: &Env) {
    let then = SystemTime::now() - 100 * DAY;
    for folder in ["sessions", "sessions/archive", "sessions/trash"] {
        let folder = env.path().join(folder);
        for name in files(&folder).iter().filter(|name| name.contains("session.json")) {
            File::options()
                .write(true)
                .open(folder.join(name))
                .unwrap()
                .set_modified(then)
                .unwrap();
        }
    }
    let moment = SystemClock::new(&System).unwrap().now().moment;
    let then = Timestamp::try_from(then).unwrap();
    let metadata = json!({
        "last_cleanup_run": then,
        "clock": {"at": then, "uptime": {"boot": moment.boot, "seconds": moment.uptime.as_secs()}},
    });
    fs::write(env.path().join("metadata.json"), metadata.to_string()).unwrap();
}

#[test]
fn a_clock_that_jumped_removes_nothing_until_it_was_seen_again() {
    let env = Env::new();
    save(&env, &["old", "gone", "reset"]);
    assert_eq!(env.run(&["session", "delete", "-y", "gone"]).code, Some(0));
    assert_eq!(env.run(&["session", "reset", "reset"]).code, Some(0));
    let held = || {
        ["sessions/archive", "sessions/trash"].map(|folder| files(&env.path().join(folder)).len())
    };
    assert_eq!(held(), [1, 1]);
    jump(&env);
    for _ in 0..2 {
        let run = env.run(&["session", "list"]);
        assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.transcript());
        assert!(document(&env, "old").is_file());
        assert_eq!(held(), [1, 1]);
    }
    let run = env.run(&["session", "clean", "-y"]);
    assert!(run.stderr.contains("the clock jumped from"), "{}", run.transcript());
    assert!(document(&env, "old").is_file());

    // A day of uptime later, as the record has it.
    let place = env.path().join("metadata.json");
    let mut metadata: Value = serde_json::from_slice(&fs::read(&place).unwrap()).unwrap();
    metadata["clock"]["doubt"]["seconds_up"] = json!(DAY.as_secs());
    metadata["last_cleanup_run"] = json!(Timestamp::try_from(SystemTime::now() - 2 * DAY).unwrap());
    fs::write(&place, metadata.to_string()).unwrap();
    let run = env.run(&["session", "info", "reset"]);
    assert_eq!(
        run.stderr,
        "osm: note: automatic cleanup moved 2 sessions to the trash for 7 days (restore: `osm session \
         archives`, then `osm session restore NAME`) and deleted 2 archived documents for good\n"
    );
    assert!(!document(&env, "old").is_file());
    assert_eq!(held(), [0, 2], "what this run moved to the trash stays until a later one");
    let trash = files(&env.path().join("sessions/trash"));
    let old = trash.iter().find(|name| name.contains("old")).unwrap();
    assert_eq!(env.run(&["session", "restore", old]).code, Some(0));
    assert!(document(&env, "old").is_file());
}
