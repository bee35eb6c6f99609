//! `osm claim repair`: a ledger that lost its log says so, is not used, and is repaired on request.

#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use serde_json::Value;

use crate::harness::{Env, Run};

fn run(env: &Env, session: &str, line: &str) -> Run {
    let words: Vec<&str> = ["--session", session].into_iter().chain(line.split(' ')).collect();
    env.run(&words)
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn a_damaged_ledger_is_repaired_on_request() {
    let env = Env::new();
    let whole = env.run(&["claim", "repair"]);
    assert_eq!(whole.code, Some(0));
    assert!(whole.stdout.starts_with("nothing to repair: "), "{}", whole.stdout);
    assert_eq!(run(&env, "one", "claim first --scope s").code, Some(0));
    let ledger = env.path().join("claims.db");
    let backup = [std::fs::read(&ledger).unwrap(), std::fs::read(log(&ledger)).unwrap()];
    let second = run(&env, "one", "claim second --scope s --json");
    let token = json(&second)["claim"]["token"].as_str().unwrap().to_owned();
    assert_eq!(env.run(&["claim", "repair", "--json"]).code, Some(0), "it is whole");

    // A backup of the database and its log is restored, without the mark.
    std::fs::write(&ledger, &backup[0]).unwrap();
    std::fs::write(log(&ledger), &backup[1]).unwrap();
    let refused = run(&env, "two", "claim second --scope s");
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("it has 1 changes, but 2 are recorded"), "{}", refused.stderr);
    assert!(refused.stderr.contains("osm claim repair --dry-run"), "{}", refused.stderr);

    let dry = env.run(&["claim", "repair", "--dry-run"]);
    assert_eq!(dry.code, Some(0), "{}", dry.stderr);
    assert!(
        dry.stdout.contains("1 can be read, 2 recorded; last known epoch: 2"),
        "{}",
        dry.stdout
    );
    assert!(dry.stdout.contains("first would stay held: "), "{}", dry.stdout);
    assert!(dry.stdout.contains("new epochs would start at 1000000"), "{}", dry.stdout);
    let unasked = env.run(&["claim", "repair"]);
    assert_eq!(unasked.code, Some(5), "{}", unasked.stderr);
    assert!(unasked.stderr.contains("cannot ask for confirmation"), "{}", unasked.stderr);
    assert_eq!(run(&env, "two", "claim second --scope s").code, Some(1), "it is still refused");

    let repaired = env.run(&["claim", "repair", "--yes", "--json"]);
    assert_eq!(repaired.code, Some(0), "{}", repaired.stderr);
    let document = json(&repaired);
    assert_eq!(document["repaired"], true);
    assert_eq!(document["claims"].as_array().unwrap().len(), 1);
    assert_eq!((&document["changes_recorded"], &document["changes_found"]), (&2.into(), &1.into()));
    let copy =
        document["copy"].as_str().unwrap().replace("$OSM_HOME", env.path().to_str().unwrap());
    let copy = std::path::Path::new(&copy);
    assert_eq!(std::fs::read(copy.join("claims.db")).unwrap(), backup[0]);
    assert!(copy.join("claims.mark").exists());

    // What could be read is held; what could not is granted, with a greater epoch.
    assert_eq!(run(&env, "two", "claim first --scope s").code, Some(10));
    let granted = run(&env, "two", "claim second --scope s --json");
    assert_eq!(json(&granted)["claim"]["epoch"], 1_000_000);
    let late = run(&env, "one", &format!("claim check second --scope s --epoch {token}"));
    assert_eq!(late.code, Some(15), "{}", late.stderr);
    assert_eq!(env.run(&["claim", "repair", "--yes"]).stdout, whole.stdout, "once is enough");
}

fn log(ledger: &std::path::Path) -> std::path::PathBuf {
    ledger.with_extension("db-wal")
}
