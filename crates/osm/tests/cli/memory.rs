//! How much memory `osm session` takes for large documents, and for small ones that say they are large.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use osm_identity::SessionId;
use serde_json::{Value, json};

use crate::harness::Env;

const MEGABYTE: usize = 1 << 20;
/// The addresses that the system sets aside for the stacks of threads. A run with the least memory has
/// none of them: osm does without threads where none can be had.
const STACKS: usize = 4 * 2 * MEGABYTE;
/// What a program may take besides.
const SLACK: usize = 8 * MEGABYTE + STACKS;

/// Runs the program with so many bytes of memory.
fn run_within(env: &Env, bytes: usize, arguments: &[&str]) -> Output {
    let program = env.command(arguments);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -v \"$1\" && shift && exec \"$@\"", "sh"]);
    shell.arg((bytes / 1024).to_string()).arg(program.get_program()).args(program.get_args());
    shell.env_clear().envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    // glibc reserves 64 MB of addresses for each thread that allocates, and does without if it cannot.
    shell.env("MALLOC_ARENA_MAX", "1");
    shell.output().unwrap()
}

/// What a command takes for a session with next to nothing in it, in whole megabytes.
fn baseline(env: &Env) -> usize {
    let small = env.path().join("small.json");
    fs::write(&small, document("small", &json!({}), &json!({}), 1).to_string()).unwrap();
    assert_eq!(env.run(&["session", "import", small.to_str().unwrap()]).code, Some(0));
    let works = |megabytes: usize| {
        let bytes = megabytes * MEGABYTE;
        run_within(env, bytes, &["session", "info", "small"]).status.success()
    };
    let (mut too_few, mut enough) = (0, 4096);
    while enough - too_few > 1 {
        let middle = usize::midpoint(too_few, enough);
        if works(middle) { enough = middle } else { too_few = middle }
    }
    enough * MEGABYTE
}

/// A session with this state, and as many commands, each with this state after it.
fn document(name: &str, values: &Value, state: &Value, commands: usize) -> Value {
    let entry = |number: usize| {
        json!({
            "entry_id": number.to_string(), "mode_id": "m", "command": format!("add {number}"),
            "timestamp": "2026-01-01T00:00:00Z", "finalState": {"shared": state, "script": {}},
        })
    };
    let history: Vec<Value> = (1..=commands).map(entry).collect();
    json!({
        "version": "1.0.0", "session_id": SessionId::explicit(name.as_ref()).as_str(),
        "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
        "shared_state": state, "script_state": {}, "history": history, "values": values,
    })
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[test]
fn a_large_session_takes_twice_its_size_at_most() {
    let env = Env::new();
    let baseline = baseline(&env);
    let numbers = 0..48_usize;
    let text = |number: &usize| char::from(b'a' + u8::try_from(number % 26).unwrap()).to_string();
    let values: Value =
        numbers.clone().map(|it| (it.to_string(), json!(text(&it).repeat(MEGABYTE)))).collect();
    let state: Value = numbers.map(|it| (format!("k{it}"), json!({"$value": it}))).collect();
    let file = env.path().join("large.json");
    fs::write(&file, document("large", &values, &state, 199).to_string()).unwrap();
    let run = env.run(&["session", "import", file.to_str().unwrap()]);
    assert_eq!(run.code, Some(0), "{}", run.transcript());

    let most = baseline + 2 * 48 * MEGABYTE + SLACK;
    let export = env.path().join("export.json");
    let export = export.to_str().unwrap();
    for arguments in [
        &["session", "info", "large"][..],
        &["session", "info", "large", "--json"],
        &["session", "history", "large"],
        &["session", "history", "large", "--json"],
        &["session", "diff", "large@1"],
        &["session", "diff", "large@1", "large@2", "--json"],
        &["session", "export", "large"],
        &["session", "export", "large", "-o", export],
        &["session", "import", export, "--as", "copy"],
        &["session", "diff", "large", "copy"],
        &["session", "reset", "large"],
    ] {
        let output = run_within(&env, most, arguments);
        assert!(output.status.success(), "{arguments:?}: {} {}", output.status, brief(&output));
        if arguments.contains(&"diff") {
            let none = if arguments.contains(&"--json") { "[]" } else { "No difference" };
            assert!(said(&output).contains(none), "{}", brief(&output));
        }
    }
    let exported = fs::metadata(Path::new(export)).unwrap().len();
    assert!(exported < 50 * MEGABYTE as u64, "{exported} bytes: each long value once");
}

fn brief(output: &Output) -> String {
    said(output).chars().take(500).collect()
}

/// 40 values, each a list that holds the one before eight times.
#[test]
fn a_small_document_does_not_grow_without_limit() {
    let env = Env::new();
    let baseline = baseline(&env);
    let list = |number: usize| -> Value { (0..8).map(|_| json!({"$value": number - 1})).collect() };
    let mut values: serde_json::Map<String, Value> =
        (1..40).map(|number| (number.to_string(), list(number))).collect();
    values.insert("0".into(), json!("x".repeat(300)));
    let bomb = document("bomb", &values.into(), &json!({"k": {"$value": 39}}), 1).to_string();
    assert!(bomb.len() < 10_000);
    let file = env.path().join("bomb.json");
    fs::write(&file, &bomb).unwrap();
    let most = baseline + 64 * MEGABYTE;
    let output = run_within(&env, most, &["session", "import", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1), "{}", brief(&output));
    assert!(said(&output).contains("is damaged"), "{}", brief(&output));

    // One that is there already, from an earlier version.
    let id = SessionId::explicit("bomb".as_ref());
    let stored = env.path().join("sessions").join(format!("{id}.session.json"));
    fs::write(&stored, &bomb).unwrap();
    for (arguments, code) in [
        (&["session", "info", "bomb"][..], 0),
        (&["session", "history", "bomb"], 0),
        (&["session", "export", "bomb"], 0),
        (&["session", "reset", "bomb"], 0),
    ] {
        let output = run_within(&env, most, arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", brief(&output));
    }
}
