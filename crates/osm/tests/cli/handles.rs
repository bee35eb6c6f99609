//! People read handles: no command shows a session's id in text without its handle, and every id in
//! JSON has its handle beside it.

use osm_identity::{Handle, SessionId};
use serde_json::Value;

use crate::harness::{Env, Run};

const SESSIONS: [&str; 2] = ["one", "two"];

fn id(name: &str) -> SessionId {
    SessionId::explicit(name.as_ref())
}

fn handle(name: &str) -> String {
    Handle::of(&id(name)).to_string()
}

/// Runs a command as a session, in a scope, so that no repository is needed.
fn run(env: &Env, session: &str, line: &str) -> Run {
    let words: Vec<&str> = ["--session", session].into_iter().chain(line.split(' ')).collect();
    env.run(&words)
}

/// Names that contain an id and are to be copied as they are: files and archives.
fn without_file_names(text: &str) -> String {
    text.split(' ').filter(|word| !word.contains(".session.json")).collect::<Vec<_>>().join(" ")
}

/// Every object that has an id among its values has the handle, too.
fn check_json(value: &Value, line: &str) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| check_json(item, line)),
        Value::Object(object) => {
            for name in SESSIONS {
                let is = |text: &str| object.values().any(|value| value == text);
                let has_id = is(id(name).as_str());
                assert!(!has_id || is(&handle(name)), "osm {line}: no handle in {value}");
            }
            // The log's own record of a change, as the ledger has it.
            let parts = object.iter().filter(|(key, _)| *key != "deed");
            parts.for_each(|(_, value)| check_json(value, line));
        }
        _ => {}
    }
}

/// What two sessions do to a claim and to their states; each line shows a session.
const STORY: &[(&str, &str)] = &[
    ("one", "claim work --scope s"),
    ("two", "claim work --scope s"),
    ("two", "claim why work --scope s"),
    ("two", "claims --scope s"),
    ("two", "claim mine --scope s"),
    ("two", "claim sweep --scope s"),
    ("two", "claim take work --scope s --reason why --even-if-alive --dry-run"),
    ("two", "claim take work --scope s --reason why --even-if-alive"),
    ("one", "claim check work --scope s"),
    ("one", "claim mine --scope s"),
    ("two", "claim handoff work --scope s --to ex--one_76"),
    ("two", "claim why work --scope s"),
    ("two", "claims --scope s"),
    ("one", "claim accept work --scope s"),
    ("one", "release work --scope s --done"),
    ("two", "claim work --scope s"),
    ("two", "claim log --scope s"),
    ("two", "claim log work --scope s --at 2999-01-01T00:00:00Z"),
    ("one", "code-review -c list"),
    ("one", "code-review -c clear"),
    ("two", "session list"),
    ("two", "session info one"),
    ("two", "session diff one@99 one"),
    ("two", "session reset one"),
    ("two", "session delete one"),
    ("two", "session delete -y one"),
    ("two", "session info ex--one_76"),
    ("two", "session archives"),
    ("two", "session purge -y"),
    ("two", "whoami"),
    ("two", "session id --explain"),
];

#[test]
fn ids_have_their_handle_beside_them() {
    assert_eq!(id("one").as_str(), "ex--one_76");
    let mut shown = 0;
    for json in [false, true] {
        let env = Env::new();
        for (session, line) in STORY {
            let takes_json = !["code-review", "--explain", "session reset", "session delete"]
                .iter()
                .any(|part| line.contains(part));
            if !json {
                let run = run(&env, session, line);
                let text = format!("{}{}", run.stdout, run.stderr);
                for name in SESSIONS {
                    let has_handle = text.contains(&handle(name));
                    shown += usize::from(has_handle);
                    let id = id(name);
                    for line_of_text in without_file_names(&text).lines() {
                        // The line for copying the id, and the user's own argument.
                        let is_exact = line_of_text.trim_start().starts_with("id ")
                            || line_of_text.contains(&format!("{:?}", id.as_str()));
                        let is_bare = line_of_text.contains(id.as_str())
                            && !line_of_text.contains(&handle(name));
                        assert!(!is_bare || is_exact, "osm {line}: no handle in {line_of_text:?}");
                    }
                }
            } else if takes_json {
                let run = run(&env, session, &format!("{line} --json"));
                if let Ok(value) = serde_json::from_str(&run.stdout) {
                    check_json(&value, line);
                }
            } else {
                drop(run(&env, session, line).transcript());
            }
        }
    }
    assert!(shown > STORY.len() / 2, "only {shown} handles were shown");
}

#[test]
fn commands_about_claims_accept_handles() {
    let env = Env::new();
    let ok = |session: &str, line: &str| {
        let run = run(&env, session, line);
        assert_eq!(run.code, Some(0), "osm {line}: {}", run.transcript());
        run.stdout
    };
    ok("two", "claim other --scope s");
    ok("one", "claim work --scope s");
    let offered = ok("one", &format!("claim handoff work --scope s --to {}", handle("two")));
    assert!(offered.contains(&format!("{} accepts it with", handle("two"))), "{offered}");
    ok("two", "claim accept work --scope s");
    let log = ok("two", &format!("claim log --scope s --by {} --json", handle("two")));
    let events: Value = serde_json::from_str(&log).unwrap();
    let by = |event: &Value| event["by_handle"] == handle("two").as_str();
    assert!(events.as_array().unwrap().iter().any(by), "{events}");
}
