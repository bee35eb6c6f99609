//! A text in the user's editor.
#![cfg(unix)]

use crate::harness::Env;

#[test]
fn editors_with_arguments() {
    let env = Env::new().with("VISUAL", "sh -c 'ls -l \"$1\" | cut -c1-10; echo $0 >> \"$1\"' new");
    let said = env.probe(&["edit"]).good();
    assert_eq!(said, "-rw-------\nedited: oldnew\nbye\n");
    assert_eq!(std::fs::read_dir(env.temporary()).unwrap().count(), 0, "nothing is left behind");
}

#[test]
fn an_editor_that_fails() {
    let env = Env::new().with("EDITOR", "false");
    env.probe(&["edit"])
        .said(1, &["the editor false failed with exit code 1; nothing was changed"]);
    let env = Env::new().with("EDITOR", "/no/such/editor");
    env.probe(&["edit"])
        .said(1, &["no editor found (tried /no/such/editor); set VISUAL or EDITOR"]);
}

#[test]
fn an_editor_needs_a_terminal() {
    Env::new().probe(&["edit"]).said(1, &["standard output is not a terminal"]);
}
