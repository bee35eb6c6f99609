//! Sessions on a PostgreSQL server, as users meet them.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

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
    assert_eq!(
        again.stdout, "applied: claims\n",
        "the tables of claims are made with the first claim"
    );
    assert_eq!(two.run(&["store", "migrate"]).stdout, "the tables are up to date\n");
    let status = json(&two.run(&["store", "status", "--json"]));
    assert_eq!(status["claims"]["state"], "current");
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

/// A mode that runs and is told one command after another.
struct Running {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Running {
    fn start(env: &Env) -> Self {
        let mut command = env.command(&["code-review"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, input, output: BufReader::new(output) }
    }

    /// Says commands, and reads what is answered up to a line with `end`.
    fn say(&mut self, commands: &str, end: &str) {
        writeln!(self.input, "{commands}").unwrap();
        let mut line = String::new();
        while !line.contains(end) {
            line.clear();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "no {end:?} after {commands}");
        }
    }
}

#[test]
fn a_mode_that_is_killed_while_its_server_is_away_loses_nothing() {
    let server = need(Server::start(Settings::default()));
    let env = machine(&server.url("postgres"));
    let mut running = Running::start(&env);
    running.say("note before\nlist", "Total: 1 item");
    server.stop().unwrap();
    // A command begins when the one before it is saved.
    running.say("note while away\nnote later\nlist", "Total: 3 items");
    running.child.kill().unwrap();
    running.child.wait().unwrap();

    let more = review(&env, "note more");
    assert_eq!(more.code, Some(6), "a program must not take it for saved: {}", more.stderr);
    assert!(more.stderr.contains("changes are kept in the journal"), "{}", more.stderr);
    assert!(review(&env, "list").stdout.contains("[2] [note] while away"));
    let away = env.run(&["store", "status"]);
    assert_eq!(away.code, Some(1));
    assert!(away.stdout.contains(": session ex--it_"), "{}", away.stdout);
    server.begin().unwrap();
    let status = json(&env.run(&["store", "status", "--json"]));
    assert_eq!(status["journals"][0]["command"], "note while away; note later; note more");

    let back = review(&env, "list");
    assert_eq!(back.code, Some(0), "{}", back.stderr);
    for item in
        ["[1] [note] before", "[2] [note] while away", "[3] [note] later", "[4] [note] more"]
    {
        assert!(back.stdout.contains(item), "{item}: {}", back.stdout);
    }
    assert!(
        back.stderr.contains("saved `note while away; note later; note more`"),
        "{}",
        back.stderr
    );
    let again = review(&env, "list");
    assert_eq!((again.stdout, again.stderr), (back.stdout, String::new()), "it is said once");
    let status = json(&env.run(&["store", "status", "--json"]));
    assert_eq!(status["journals"], serde_json::json!([]));
}

#[test]
fn a_server_that_is_away_stops_no_work() {
    let server = need(Server::start(Settings::default()));
    let env = machine(&server.url("postgres"));
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
    assert!(worked.stderr.contains("its changes are in the journal"), "{}", worked.stderr);
    server.begin().unwrap();
    let listed = review(&env, "list");
    assert!(listed.stdout.contains("[1] [note] before"), "{}", listed.stdout);
    assert!(listed.stdout.contains("[2] [note] while away"), "{}", listed.stdout);
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
