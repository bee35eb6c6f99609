//! The clipboard, where there is one and where there is none.
#![cfg(unix)]

use std::os::unix::fs::MetadataExt;

use crate::harness::Env;

#[test]
fn a_command_of_the_users() {
    let env =
        Env::new().with("OSM_CLIPBOARD", "cat > taken").with("OSM_CLIPBOARD_PASTE", "cat taken");
    assert_eq!(env.probe(&["clip one two", "clap"]).good(), "copied\none two\nbye\n");
    assert_eq!(std::fs::read_to_string(env.work().join("taken")).unwrap(), "one two");
}

#[test]
fn its_failure_is_not_covered_up() {
    let env = Env::new().with("OSM_CLIPBOARD", "exit 3").with("DISPLAY", ":77");
    let run = env.probe(&["clip x"]);
    run.said(
        1,
        &["cannot copy to the clipboard (OSM_CLIPBOARD: exit code 3); saved to LAB/home/prompts/"],
    );
}

#[test]
fn without_a_clipboard_the_text_is_kept() {
    let env = Env::new();
    let run = env.probe(&["clip precious", "clap"]);
    run.said(1, &["cannot copy to the clipboard", "set OSM_CLIPBOARD", "set OSM_CLIPBOARD_PASTE"]);
    let folder = env.home().join("prompts");
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    let mode = |path: &std::path::Path| path.metadata().unwrap().mode() & 0o7777;
    assert_eq!((mode(&file), mode(&folder)), (0o600, 0o700));
}
