//! Completion scripts, as far as the shells themselves can judge.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use osm_testkit::{tools, trials};

use crate::harness::Env;

/// The script for a shell.
fn script(shell: &str) -> String {
    let script = Env::new().run(&["completion", shell]);
    assert_eq!(script.code, Some(0));
    assert!(script.stdout.contains("osm complete --"), "{shell}");
    script.stdout
}

/// That a shell can parse its script.
#[expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]
fn is_accepted(shell: &str, check: &str) {
    let program = trials::need(tools::program(shell));
    let mut child = Command::new(program).arg(check).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(script(shell).as_bytes()).unwrap();
    assert!(child.wait().unwrap().success(), "{shell}");
}

#[test]
fn every_shell_has_a_script() {
    for shell in ["bash", "elvish", "fish", "nushell", "zsh"] {
        script(shell);
    }
    let script = Env::new().run(&["completion", "powershell"]);
    assert!(script.stdout.contains("complete --"));
}

/// The words that are offered after a line, without what they are.
fn offered(env: &Env, line: &str) -> Vec<String> {
    let arguments: Vec<&str> = ["complete", "--"].into_iter().chain(line.split(' ')).collect();
    let run = env.run(&arguments);
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{line}");
    let words = run.stdout.lines().skip(1);
    words.map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
}

/// Lines that ask for everything that can be looked up.
const LINES: [&str; 9] = [
    "session info ",
    "session restore ",
    "session diff ",
    "session list --branch ",
    "release ",
    "claim accept ",
    "goal ",
    "config get ",
    "trust revoke ",
];

#[test]
fn completing_creates_nothing() {
    let env = Env::new();
    let home = env.path().join("home");
    let env = env.with("OSM_HOME", home.to_str().expect("a path of text"));
    for line in LINES {
        offered(&env, line);
        assert!(!home.exists(), "{line}");
    }
}

/// Every file and its content, but the memory that readers of the ledger share.
#[expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]
fn content(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = paths
        .filter(|path| path.extension().is_none_or(|it| it != "db-shm"))
        .flat_map(|path| {
            if path.is_dir() {
                content(&path)
            } else {
                let bytes = std::fs::read(&path).unwrap();
                vec![(path, bytes)]
            }
        })
        .collect();
    files.sort();
    files
}

#[test]
fn completing_changes_nothing() {
    let env = Env::new().with("OSM_SESSION", "one").with("OSM_SCOPE", "tested");
    for arguments in [&["code-review", "-c", "note x"][..], &["claim", "TASK-7"]] {
        assert_eq!(env.run(arguments).code, Some(0));
    }
    let files = || content(env.path());
    let before = files();
    for line in LINES {
        offered(&env, line);
    }
    assert_eq!(offered(&env, "release "), ["TASK-7"]);
    assert_eq!(files(), before);
}

#[test]
fn no_name_that_controls_a_terminal_is_offered() {
    let env = Env::new().with("OSM_SESSION", "one").with("OSM_SCOPE", "tested");
    for resource in ["a\u{1b}[2J", "a\nb", "a\tb", "a\u{202e}b", "a good one"] {
        assert_eq!(env.run(&["claim", resource, "--note", "n\u{1b}]0;x\u{7}\n\t"]).code, Some(0));
    }
    let run = env.run(&["complete", "--", "release", ""]);
    assert_eq!(run.stdout, "nothing\na good one\tthis session: n\\u{1b}]0;x\\u{7}↵\\t\n");
}

#[test]
fn problems_of_the_configuration_do_not_disturb_the_line() {
    let env = Env::new();
    env.config("nonsense = [");
    assert_eq!(offered(&env, "who"), ["whoami"]);
}

#[test]
fn bash_accepts_its_script() {
    is_accepted("bash", "-n");
}

#[test]
fn zsh_accepts_its_script() {
    is_accepted("zsh", "-n");
}

#[test]
fn fish_accepts_its_script() {
    is_accepted("fish", "--no-execute");
}
