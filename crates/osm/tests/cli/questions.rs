//! What `osm session` asks at a terminal before it removes something: what would go, and how much.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::fs;
use std::path::{Path, PathBuf};

use osm_identity::SessionId;
use osm_testkit::lab::Typist as _;
use osm_testkit::terminal::Terminal;
use serde_json::json;

use crate::harness::Env;

const PROGRAM: &str = env!("CARGO_BIN_EXE_osm");

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

fn archives(env: &Env) -> Vec<String> {
    files(&env.path().join("sessions/archive"))
}

fn trash(env: &Env) -> Vec<String> {
    files(&env.path().join("sessions/trash"))
}

/// The program at a terminal.
fn terminal(env: &Env, arguments: &[&str]) -> Terminal {
    let words: Vec<String> = [PROGRAM].iter().chain(arguments).map(|it| (*it).to_owned()).collect();
    let home = env.path().display().to_string();
    let variables = [("OSM_HOME", home.as_str()), ("OSM_SESSION", "mine"), ("TERM", "dumb")];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Terminal::start(&words, &variables, env.path()).unwrap()
}

/// Answers the question, waits for a text and the end, and returns all that was said.
fn answered(env: &Env, arguments: &[&str], answer: &str, last: &str) -> String {
    let mut terminal = terminal(env, arguments);
    terminal.wait_for("(y/N) ").unwrap();
    terminal.type_line(answer).unwrap();
    terminal.wait_for(last).unwrap();
    terminal.wait().unwrap();
    terminal.screen()
}

#[test]
fn a_purge_says_what_would_go_and_removes_only_that() {
    let env = Env::new();
    save(&env, &["one", "two", "three", "four"]);
    assert_eq!(env.run(&["session", "delete", "-y", "three"]).code, Some(0));
    assert_eq!(env.run(&["session", "reset", "four"]).code, Some(0));
    assert_eq!((archives(&env).len(), trash(&env).len()), (1, 1));

    answered(&env, &["session", "purge"], "n", "not confirmed: nothing was changed");
    assert!(document(&env, "one").is_file() && trash(&env).len() == 1);

    // A session that begins while the question is open was not told of.
    let mut asked = terminal(&env, &["session", "purge"]);
    asked.wait_for("(y/N) ").unwrap();
    save(&env, &["late"]);
    asked.type_line("y").unwrap();
    asked.wait_for("1 archived document stays").unwrap();
    asked.wait().unwrap();
    let screen = asked.screen();
    assert!(screen.contains("would remove ") && screen.contains("(ex--one_"), "{screen}");
    for words in ["Delete 3 sessions (", ") and 1 trash entry (", ") for good?"] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    assert!(["one", "two", "four"].iter().all(|name| !document(&env, name).is_file()));
    assert!(document(&env, "late").is_file(), "{screen}");
    assert_eq!((archives(&env).len(), trash(&env).len()), (1, 0));
}

#[test]
fn nothing_is_asked_where_nothing_would_go() {
    let env = Env::new();
    for command in ["clean", "purge"] {
        // Without a terminal, a question would be an error.
        let run = env.run(&["session", command]);
        assert_eq!((run.code, run.stdout.as_str()), (Some(0), "Nothing to remove\n"), "{command}");
        let mut terminal = terminal(&env, &["session", command]);
        terminal.wait_for("Nothing to remove").unwrap();
        terminal.wait().unwrap();
        assert!(!terminal.screen().contains("(y/N)"), "{}", terminal.screen());
    }
    save(&env, &["one"]);
    let run = env.run(&["session", "clean"]);
    assert_eq!(run.code, Some(0), "no limit is exceeded: {}", run.transcript());
    let run = env.run(&["session", "purge"]);
    assert_eq!(run.code, Some(5), "{}", run.transcript());
    assert!(document(&env, "one").is_file());
}

#[test]
fn a_cleanup_says_what_would_go_and_how_much() {
    let env = Env::new();
    save(&env, &["one", "two", "three"]);
    env.config("[session]\nmax_count = 1\nauto_cleanup_enabled = false\n");
    let screen = answered(&env, &["session", "clean"], "y", "removed ");
    assert!(screen.contains("Move 2 sessions ("), "{screen}");
    assert!(screen.contains(") to the trash? (y/N)"), "{screen}");
    assert!(screen.contains("would remove"), "{screen}");
    assert_eq!(trash(&env).len(), 2, "{screen}");
}

#[test]
fn what_was_found_damaged_goes_after_the_question() {
    let env = Env::new();
    save(&env, &["rotten"]);
    env.config("[session]\nquarantine_days = 1\nauto_cleanup_enabled = false\n");
    assert_eq!(env.run(&["session", "clean", "-y"]).code, Some(0), "the clock is known then");
    let path = document(&env, "rotten");
    let text = fs::read_to_string(&path).unwrap().replace("\"k\":1", "\"k\":x");
    fs::write(&path, text).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    let modified = file.metadata().unwrap().modified().unwrap();
    file.set_modified(modified - std::time::Duration::from_hours(48)).unwrap();
    drop(file);
    let screen = answered(&env, &["session", "clean"], "y", "removed ");
    assert!(screen.contains("Move 1 session ("), "{screen}");
    assert!(!path.is_file() && trash(&env).len() == 1, "{screen}");
}

#[test]
fn archives_can_be_deleted() {
    let env = Env::new();
    save(&env, &["one"]);
    for _ in 0..2 {
        assert_eq!(env.run(&["session", "reset", "one"]).code, Some(0));
    }
    let [first, second] = archives(&env).try_into().unwrap();
    let run = env.run(&["session", "delete", &first]);
    assert_eq!(run.code, Some(5), "it asks first: {}", run.transcript());
    let run = env.run(&["session", "delete", "--dry-run", &first]);
    assert_eq!(run.stdout, format!("would delete archive/{first}\n"));
    let screen = answered(&env, &["session", "delete", &first], "y", "deleted ");
    assert!(screen.contains(&format!("Delete archive/{first} for good? (y/N)")), "{screen}");
    assert_eq!(archives(&env), [second.as_str()]);
    // A session goes to the trash, and from there for good.
    let screen = answered(&env, &["session", "delete", "one", &second], "y", "deleted archive/");
    assert!(screen.contains("Delete 1 session, and 1 archive for good? (y/N)"), "{screen}");
    let [thrown] = trash(&env).try_into().unwrap();
    let run = env.run(&["session", "delete", "-y", &thrown]);
    assert_eq!(run.stdout, format!("deleted trash/{thrown}\n"));
    assert_eq!((archives(&env).len(), trash(&env).len()), (0, 0));
    let run = env.run(&["session", "delete", "-y", &thrown]);
    assert_eq!(run.code, Some(4), "{}", run.transcript());
    let audit = fs::read_to_string(env.path().join("audit.jsonl")).unwrap();
    assert!(audit.lines().any(|line| line.contains(r#""delete""#) && line.contains(&first)));
}

#[test]
fn an_empty_session_has_an_answer() {
    let env = Env::new().with("OSM_SESSION", "mine");
    let run = env.run(&["session", "info"]);
    assert_eq!(run.code, Some(0), "{}", run.transcript());
    assert!(run.stdout.ends_with("\nNothing kept yet\n"), "{}", run.stdout);
    let json = env.run(&["session", "info", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["session_id"], &json["revision"]), (&json!(id("mine").as_str()), &json!(0)));
    assert_eq!(env.run(&["session", "history"]).transcript(), "Nothing kept yet\n");
    assert_eq!(env.run(&["session", "history", "--json"]).transcript(), "[]\n");
    for command in ["info", "history"] {
        let run = env.run(&["session", command, "another"]);
        assert_eq!(run.code, Some(4), "another one must be there: {}", run.transcript());
    }

    let path = format!("$OSM_HOME/sessions/{}.session.json\n", id("mine"));
    assert_eq!(env.run(&["session", "path"]).stdout, path);
    assert_eq!(env.run(&["session", "path", "--folder"]).stdout, "$OSM_HOME/sessions\n");
}
