//! A test without its tool is ignored, and under `OSM_TEST_STRICT` it fails.

use std::path::Path;
use std::process::{Command, Output};

/// Runs the example's tests.
fn run(arguments: &[&str], strict: &str) -> Output {
    let deps = std::env::current_exe().unwrap();
    let folder = deps.parent().and_then(Path::parent).unwrap().join("examples");
    let program = folder.join(format!("missing_tool{}", std::env::consts::EXE_SUFFIX));
    Command::new(program).args(arguments).env("OSM_TEST_STRICT", strict).output().unwrap()
}

#[test]
fn a_test_without_its_tool_is_ignored() {
    let output = run(&[], "");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{stdout}");
    assert!(stdout.contains("1 passed; 0 failed; 1 ignored"), "{stdout}");
    let reason = "needs_a_tool  ... ignored, a-program-that-does-not-exist is not installed";
    assert!(stdout.contains("needs_a_tool"), "{stdout}");
    assert!(stdout.contains(reason) || stdout.contains("is not installed"), "{stdout}");
}

#[test]
fn it_fails_where_everything_should_be_installed() {
    let output = run(&[], "1");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success(), "{stdout}");
    assert!(stdout.contains("1 passed; 1 failed; 0 ignored"), "{stdout}");
}

#[test]
fn names_choose_tests() {
    let output = run(&["--exact", "needs_nothing"], "1");
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{stdout}");
    assert!(stdout.contains("1 passed; 0 failed; 0 ignored"), "{stdout}");
}
