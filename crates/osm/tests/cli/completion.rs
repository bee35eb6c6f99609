//! Completion scripts, as far as the shells themselves can judge.

use std::io::Write;
use std::process::{Command, Stdio};

use osm_testkit::{tools, trials};

use crate::harness::Env;

/// The script for a shell.
fn script(shell: &str) -> String {
    let script = Env::new().run(&["completion", shell]);
    assert_eq!(script.code, Some(0));
    assert!(script.stdout.contains("whoami"), "{shell}");
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
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        script(shell);
    }
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
