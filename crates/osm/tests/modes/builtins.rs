//! Every built-in command.

use insta::assert_snapshot;

use crate::harness::Env;

#[test]
fn help_reads_well() {
    let env = Env::new();
    assert_snapshot!(env.probe(&["help"]).good(), @"");
    assert_snapshot!(env.probe(&["help paint", "help undo", "help nothing"]).transcript(), @"");
}

#[test]
fn state_history_and_undo() {
    let env = Env::new();
    assert_snapshot!(env.probe(&["state", "history", "undo"]).transcript(), @"");
    assert_snapshot!(
        env.probe(&["keep one", "keep 'two three'", "keep four", "state", "history"]).transcript(),
        @""
    );
    assert_snapshot!(env.probe(&["undo", "show", "undo", "show", "history"]).transcript(), @"");
    assert_snapshot!(env.probe(&["undo 3", "show", "undo", "show", "undo 9", "undo x"]).transcript(), @"");
    assert_eq!(env.probe(&["undo 1", "undo", "show"]).good(), "Back to the state after 1: keep one\nseen: one\nUndone: keep one\nall: \n");
}

#[test]
fn modes_and_back() {
    let env = Env::new();
    assert_snapshot!(
        env.probe(&["modes", "mode other", "keep x", "modes", "anywhere", "mode probe", "mode nowhere", "mode"])
            .transcript(),
        @""
    );
}

#[test]
fn a_reset_can_be_taken_back() {
    let env = Env::new();
    let said = env.probe(&["keep one", "reset", "show", "history"]).good();
    let name = said.lines().find_map(|line| line.strip_prefix("what was there: osm session restore "));
    let name = name.expect("the name of the archive is said");
    assert!(said.contains("\nall: \n"), "{said}");
    assert!(said.ends_with("osm  reset\n"), "{said}");
    env.run(&["session", "restore", name]).said(0, &[]);
    assert_eq!(env.probe(&["show"]).good(), "all: one\n");
}

#[test]
fn javascript() {
    let env = Env::new();
    assert_snapshot!(
        env.probe(&[
            "js 1 + 1",
            "js 'a b' + \"c\"",
            "js ({a: [1, 2]})",
            "js undefined",
            "js Promise.resolve(7)",
            "js nothing.at.all",
            "js 1 +",
            "js",
        ])
        .transcript(),
        @""
    );
}

#[test]
fn leaving() {
    let env = Env::new();
    for command in ["exit", "quit", "leave"] {
        assert_eq!(env.probe(&["keep x", command, "keep y"]).good(), "kept x\nbye\n");
    }
    env.probe(&["exit now"]).said(1, &["\"now\" is one word too many: exit"]);
}

#[test]
fn a_word_that_nobody_knows() {
    let env = Env::new();
    assert_snapshot!(env.probe(&["kep x", "1 + 1"]).transcript(), @"");
}

#[test]
fn a_command_that_fails_changes_nothing() {
    let env = Env::new();
    assert_snapshot!(env.probe(&["keep one", "fail", "show", "fault", "history"]).transcript(), @"");
}
