//! Sessions on a PostgreSQL server, as users meet them.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use osm_testkit::postgres::{Server, Settings};
use osm_testkit::trials::need;
use serde_json::Value;

use crate::harness::{Env, Run};

/// A machine that uses a server.
fn machine(address: &str) -> Env {
    let env = Env::new().with("OSM_STORE", "postgres").with("OSM_DATABASE_URL", address);
    env.with("OSM_SESSION", "it")
}

fn json(run: &Run) -> Value {
    assert_eq!(run.code, Some(0), "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

fn review(env: &Env, command: &str) -> Run {
    env.run(&["code-review", "-c", command])
}

#[test]
fn two_machines_share_a_session() {
    let server = need(Server::shared());
    let address = server.url(&server.database().unwrap());
    let (one, two) = (machine(&address), machine(&address));
    assert_eq!(json(&one.run(&["store", "status", "--json"]))["schema"]["state"], "missing");
    assert_eq!(review(&one, "note from one").code, Some(0));
    assert_eq!(review(&two, "note from two").code, Some(0));
    let listed = review(&one, "list");
    assert!(
        listed.stdout.contains("from one") && listed.stdout.contains("from two"),
        "{}",
        listed.stdout
    );
    let status = json(&two.run(&["store", "status", "--json"]));
    assert_eq!((&status["sessions"], &status["schema"]["state"]), (&1.into(), &"current".into()));
    assert!(status["place"].as_str().unwrap().starts_with("osm@/tmp/"), "{status}");
    let again = two.run(&["store", "migrate"]);
    assert_eq!(again.stdout, "the tables are up to date\n");
    assert_eq!(json(&two.run(&["session", "list", "--json"])).as_array().unwrap().len(), 1);
}

#[test]
fn a_copy_there_and_back_is_whole_and_can_be_repeated() {
    let server = need(Server::shared());
    let address = server.url(&server.database().unwrap());
    let here = Env::new().with("OSM_DATABASE_URL", &address);
    for name in ["one", "two", "three"] {
        assert_eq!(here.run(&["--session", name, "code-review", "-c", "note text"]).code, Some(0));
    }
    assert_eq!(here.run(&["session", "delete", "three", "-y"]).code, Some(0));
    let copy = |env: &Env, from, to| json(&env.run(&["store", "copy", from, to, "--json"]));
    let count =
        |report: &Value| (report["copied"].as_u64().unwrap(), report["same"].as_u64().unwrap());
    let first = copy(&here, "fs", "postgres");
    assert_eq!(count(&first), (3, 0), "two sessions and one in the trash: {first}");
    assert_eq!(count(&copy(&here, "fs", "postgres")), (0, 3));
    let there = Env::new().with("OSM_DATABASE_URL", &address);
    assert_eq!(count(&copy(&there, "postgres", "fs")), (3, 0));
    let document = |env: &Env, name: &str| {
        std::fs::read(env.path().join(format!("sessions/{name}.session.json"))).unwrap()
    };
    for name in json(&here.run(&["session", "list", "--json"])).as_array().unwrap() {
        let name = name["id"].as_str().unwrap();
        assert_eq!(document(&here, name), document(&there, name), "byte by byte");
    }
    assert_eq!(there.run(&["store", "check"]).stdout, "read 3 sessions and archives\n");

    // What the target has with another content is not changed.
    assert_eq!(there.run(&["--session", "one", "code-review", "-c", "note more"]).code, Some(0));
    let refused = there.run(&["store", "copy", "fs", "postgres"]);
    assert_eq!(refused.code, Some(6), "{}", refused.stderr);
    assert!(refused.stdout.contains("not copied: ex--one_"), "{}", refused.stdout);
    assert_eq!(there.run(&["store", "copy", "fs", "fs"]).code, Some(2));
}

#[test]
fn a_server_that_is_away_stops_no_work() {
    let server = need(Server::start(Settings::default()));
    // What is written aside goes with the test.
    let temporary = tempfile::tempdir().unwrap();
    let env = machine(&server.url("postgres"));
    let env = env.with("TMPDIR", temporary.path().to_str().unwrap());
    assert_eq!(review(&env, "note before").code, Some(0));
    server.stop().unwrap();
    let away = env.run(&["session", "list"]);
    assert_eq!(away.code, Some(1));
    assert!(
        away.stderr.contains("cannot reach the server") && away.stderr.contains("osm store status"),
        "{}",
        away.stderr
    );
    let worked = review(&env, "note while away");
    assert_ne!(worked.code, Some(0), "a program must not take it for saved");
    assert!(worked.stderr.contains("this session is in memory only"), "{}", worked.stderr);
    let (_, command) = worked.stderr.split_once("osm session import ").unwrap();
    let file = command.split('`').next().unwrap();
    server.begin().unwrap();
    let restored = env.run(&["session", "import", file, "--as", "rescued"]);
    assert_eq!(restored.code, Some(0), "{}", restored.stderr);
    let listed = env.run(&["--session", "rescued", "code-review", "-c", "list"]);
    assert!(listed.stdout.contains("while away"), "{}", listed.stdout);
}

#[test]
fn an_address_is_checked_and_no_password_is_shown() {
    let env = Env::new().with("OSM_STORE", "postgres").with("USER", "me");
    let missing = env.run(&["session", "list"]);
    assert!(missing.stderr.contains("OSM_DATABASE_URL"), "{}", missing.stderr);
    let refused = env.run(&["config", "set", "store.url", "postgres://me:secret@127.0.0.1:1/d"]);
    assert_ne!(refused.code, Some(0));
    assert!(
        refused.stderr.contains("~/.pgpass") && !refused.stderr.contains("secret"),
        "{}",
        refused.stderr
    );
    assert_eq!(
        env.run(&["config", "set", "store.url", "postgres://me@127.0.0.1:1/d"]).code,
        Some(0)
    );
    let away = env.run(&["store", "status"]);
    assert!(away.stderr.contains("me@127.0.0.1:1/d"), "{}", away.stderr);
    let secret = env.with("OSM_DATABASE_URL", "postgres://me:secret@127.0.0.1:1/d");
    for arguments in
        [&["session", "list"][..], &["store", "status"], &["whoami"], &["config", "list"]]
    {
        let run = secret.run(arguments);
        assert!(!format!("{}{}", run.stdout, run.stderr).contains("secret"), "{arguments:?}");
    }
}
