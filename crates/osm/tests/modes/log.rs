//! The log.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use serde_json::Value;

use crate::harness::{Env, probe};

fn entries(text: &str) -> Vec<(String, String)> {
    let entry = |line: &str| {
        let entry: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| entry[name].as_str().unwrap().to_owned();
        (text("level"), text("message"))
    };
    text.lines().map(entry).collect()
}

#[test]
fn what_is_logged() {
    let env = Env::new();
    let probe = probe();
    let arguments = [
        "script",
        "-i",
        "--log-file",
        "run.log",
        "--log-level",
        "debug",
        "-c",
        "js log.debug('deep')",
        "-c",
        "fail",
        probe.to_str().unwrap(),
    ];
    env.run(&arguments).said(1, &[]);
    let text = std::fs::read_to_string(env.work().join("run.log")).unwrap();
    let expected =
        [("info", "command"), ("debug", "deep"), ("info", "command"), ("error", "failed")];
    let expected = expected.map(|(level, message)| (level.to_owned(), message.to_owned()));
    assert_eq!(entries(&text), expected);
}

#[test]
fn there_is_none_unless_somebody_asks() {
    let env = Env::new();
    env.probe(&["js log.error('x')"]).said(0, &[]);
    assert!(!env.home().join("osm.log").exists());
    env.config("[log]\nfile = 'osm.log'\nlevel = 'error'\n");
    env.probe(&["js log.error('x')", "js log.warn('y')"]).said(0, &[]);
    let text = std::fs::read_to_string(env.home().join("osm.log")).unwrap();
    assert_eq!(entries(&text), [("error".to_owned(), "x".to_owned())]);
}

#[test]
fn a_log_that_cannot_be_written() {
    let env = Env::new();
    let run = env.run(&["code-review", "--log-file", "/dev/null/x", "-c", "list"]);
    run.said(1, &["cannot write the log /dev/null/x", "hint: choose another file"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_log_that_is_full() {
    let (env, probe) = (Env::new(), probe());
    let probe = probe.to_str().unwrap();
    let options = ["script", "-i", "--log-level", "info", "--log-file", "/dev/full"];
    env.run(&[&options[..], &["-c", "show", probe]].concat())
        .said(0, &["all: ", "the log /dev/full is incomplete"]);
}
