//! What an automatic cleanup may remove, as a user meets it.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]
#![expect(clippy::disallowed_methods, reason = "the real clock dates files")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use osm_claims::clock::{Clock, SystemClock};
use osm_identity::{ProcessSource as _, SessionId, System};
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
    let moment = SystemClock::new(&System).unwrap().now().unwrap().moment;
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

/// Dates a file so many days back.
fn date(path: &Path, days: u32) {
    let then = SystemTime::now() - days * DAY;
    File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
}

/// A terminal of an earlier boot of this machine is gone, and so is its session; one of another
/// machine that shares the folder may live.
#[test]
fn what_hung_on_a_process_of_an_earlier_boot_is_defunct() {
    let env = Env::new();
    let Some(machine) = System.machine() else { return };
    save(&env, &["rebooted", "elsewhere", "unknown"]);
    assert_eq!(env.run(&["session", "clean", "-y"]).code, Some(0), "the clock is known then");
    for (name, machine) in
        [("rebooted", Some(machine.as_str())), ("elsewhere", Some("another")), ("unknown", None)]
    {
        let path = document(&env, name);
        let mut text: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        text["origin"] = json!({"source": "anchor", "host": "here", "anchor": {
            "pid": 1, "start": 5, "boot": "an-earlier-one", "namespace": "", "name": "bash",
            "machine": machine, "seen": 1_000_000,
        }});
        text["last_used"] = Value::Null;
        // In the order in which osm writes the fields, so that the first line is the summary.
        let fields = text.as_object().unwrap();
        let first = [
            "version",
            "session_id",
            "created_at",
            "updated_at",
            "revision",
            "origin",
            "last_used",
        ];
        let line: Vec<String> =
            first.iter().map(|it| format!("{}:{}", json!(it), fields[*it])).collect();
        let rest = "\"shared_state\":{\"k\":1},\"script_state\":{},\"history\":[]}\n";
        fs::write(&path, format!("{{{},\n{rest}", line.join(","))).unwrap();
        date(&path, 20);
    }
    let run = env.run(&["session", "clean", "-y"]);
    assert_eq!(run.code, Some(0), "{}", run.transcript());
    assert!(run.stdout.contains("its terminal or agent ended"), "{}", run.transcript());
    assert!(!document(&env, "rebooted").is_file(), "{}", run.transcript());
    assert!(document(&env, "elsewhere").is_file() && document(&env, "unknown").is_file());
}

#[test]
fn damaged_documents_are_shown_as_such_and_go_after_their_own_time() {
    let env = Env::new();
    save(&env, &["good", "bad", "fresh"]);
    assert_eq!(env.run(&["session", "clean", "-y"]).code, Some(0), "the clock is known then");
    for name in ["bad", "fresh"] {
        fs::write(document(&env, name), "{\"version\": half a docum").unwrap();
    }
    date(&document(&env, "bad"), 31);
    date(&document(&env, "good"), 31);
    let rows: Value =
        serde_json::from_str(&env.run(&["session", "list", "--json"]).stdout).unwrap();
    let damaged: Vec<(&str, bool)> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["id"].as_str().unwrap(), row["isDamaged"].as_bool().unwrap()))
        .collect();
    let [bad, fresh, good] = ["bad", "fresh", "good"].map(id);
    assert_eq!(damaged, [(bad.as_str(), true), (fresh.as_str(), true), (good.as_str(), false)]);
    let list = env.run(&["session", "list"]).stdout;
    assert_eq!(list.matches("damaged").count(), 2, "{list}");
    let run = env.run(&["session", "clean", "-y"]);
    assert!(
        run.stdout.contains("damaged, not changed for 31 days (limit 30)"),
        "{}",
        run.transcript()
    );
    assert!(!document(&env, "bad").is_file(), "it is in the trash");
    assert!(document(&env, "fresh").is_file() && document(&env, "good").is_file());
}

/// The sessions that a list shows as damaged.
fn listed_as_damaged(env: &Env) -> Vec<String> {
    let rows: Value =
        serde_json::from_str(&env.run(&["session", "list", "--json"]).stdout).unwrap();
    let damaged = rows.as_array().unwrap().iter().filter(|row| row["isDamaged"] == true);
    damaged.map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}

fn change(path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(path).unwrap();
    change(&mut bytes);
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_document_whose_first_line_is_good_is_shown_as_damaged_if_a_part_is_missing() {
    let env = Env::new();
    save(&env, &["good", "edited", "cut", "longer", "old"]);
    change(&document(&env, "cut"), |bytes| bytes.truncate(bytes.len() - 7));
    change(&document(&env, "longer"), |bytes| bytes.extend_from_slice(b"more"));
    // Another size alone is no damage, and earlier versions did not write it down.
    change(&document(&env, "edited"), |bytes| bytes.push(b'\n'));
    change(&document(&env, "old"), |bytes| {
        let text = String::from_utf8(bytes.clone()).unwrap();
        let start = text.find("\"file_size\"").unwrap();
        let end = start + text[start..].find(',').unwrap() + 1;
        bytes.drain(start..end);
    });
    assert_eq!(listed_as_damaged(&env), [id("cut").to_string(), id("longer").to_string()]);
    for name in ["edited", "old"] {
        let run = env.run(&["session", "info", name]);
        assert_eq!(run.code, Some(0), "{}", run.transcript());
    }
}

#[test]
fn clean_reads_what_stays_and_reports_damage_that_no_list_can_see() {
    let env = Env::new();
    save(&env, &["good", "rotten", "older"]);
    for name in ["rotten", "older"] {
        change(&document(&env, name), |bytes| {
            let at = bytes.windows(4).position(|it| it == b"\"k\":").unwrap();
            bytes[at + 4] = b'x';
        });
    }
    assert_eq!(listed_as_damaged(&env), Vec::<String>::new(), "the size is right");
    assert_eq!(env.run(&["session", "clean", "-y"]).code, Some(0), "the clock is known then");
    date(&document(&env, "older"), 31);

    let run = env.run(&["session", "clean", "--dry-run", "--json"]);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(report["damaged"][0]["id"], id("rotten").as_str(), "{}", run.transcript());
    assert_eq!(report["damaged"].as_array().unwrap().len(), 1, "{}", run.transcript());
    assert_eq!(report["removed"][0]["id"], id("older").as_str(), "{}", run.transcript());

    let run = env.run(&["session", "clean", "-y"]);
    assert_eq!(run.code, Some(0), "{}", run.transcript());
    assert!(run.stdout.contains("damaged, not changed for 31 days"), "{}", run.transcript());
    let warning = format!("osm: warning: session {} is damaged: ", id("rotten").label());
    assert!(run.stderr.contains(&warning), "{}", run.transcript());
    let hint = format!("`osm session reset {}` quarantines", id("rotten"));
    assert!(run.stderr.contains(&hint), "{}", run.transcript());
    assert!(document(&env, "rotten").is_file() && !document(&env, "older").is_file());
}

#[test]
fn locks_without_a_session_go() {
    let env = Env::new();
    save(&env, &["x"]);
    let folder = env.path().join("sessions");
    let [zombie, old, kept] = ["zombie.lock", "zombie.session.lock", "theirs.session.lock"];
    for name in [zombie, old, kept, "held.session.lock"] {
        fs::write(folder.join(name), "").unwrap();
        date(&folder.join(name), 1);
    }
    // The document of another tool, and a lock that a process holds.
    fs::write(folder.join("theirs.session.json"), "{}").unwrap();
    let held = File::open(folder.join("held.session.lock")).unwrap();
    held.lock().unwrap();
    let run = env.run(&["session", "clean", "-y"]);
    assert_eq!(run.code, Some(0), "{}", run.transcript());
    let left = files(&folder);
    assert!(!left.contains(&zombie.to_owned()) && !left.contains(&old.to_owned()), "{left:?}");
    assert!(left.contains(&kept.to_owned()), "{left:?}");
    assert!(left.contains(&"held.session.lock".to_owned()), "{left:?}");
}
