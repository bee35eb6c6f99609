//! Every built-in command.

use insta::assert_snapshot;

use crate::harness::Env;

#[test]
fn help_reads_well() {
    let env = Env::new();
    assert_snapshot!(env.probe(&["help"]).good(), @r#"
    Probe
      keep TEXT                          Keep a text
      show                               Show what is kept
      words                              Show the words of a line
      fail                               Keep something and fail
      fault                              Do what a programmer did not mean
      loop                               Never end
      bomb                               Take all memory
      regex                              Match for ever
      clip                               Copy a text
      clap                               Show the clipboard
      edit                               Edit a text
      paint [--wet] COLOUR               Paint
      open                               Open a file
      leave                              End the program

    In every mode
      anywhere                           Is in every mode

    Built in
      help [COMMAND]                     List commands, or describe one
      mode [NAME]                        List all modes, or switch to another one; the items stay
      state                              Show the session's state
      history                            List the commands that changed the session
      undo [NUMBER] [--force]            Undo the last change, or all changes after NUMBER of the history
      reset [--force] [--keep-archives]  Clear the session; the old state is archived
      js EXPRESSION                      Evaluate a JavaScript expression
      exit                               Leave the mode; the session is saved

    `help COMMAND` describes a command
    bye
    "#);
    assert_snapshot!(env.probe(&["help paint", "help undo", "help nothing"]).transcript(), @r#"
    paint [--wet] COLOUR
      Paint

      --wet  does not dry
    undo [NUMBER] [--force]
      Undo the last change, or all changes after NUMBER of the history
    bye
    --- stderr
    osm: error: command 3: unknown command "nothing"
    osm: hint: `help` lists all commands
    osm: hint: `js EXPRESSION` evaluates JavaScript
    --- exit Some(1)
    "#);
}

#[test]
fn state_history_and_undo() {
    let env = Env::new();
    assert_snapshot!(env.probe(&["state", "history", "undo"]).transcript(), @r#"
    The session is empty
    No changes yet
    bye
    --- stderr
    osm: error: command 3: nothing to undo
    --- exit Some(1)
    "#);
    assert_snapshot!(
        env.probe(&["keep one", "keep 'two three'", "keep four", "state", "history"]).transcript(),
        @r#"
    kept one
    kept two three
    kept four
      contextItems  3 items
      1  DATE TIME  you  probe  keep one
      2  DATE TIME  you  probe  keep 'two three'
      3  DATE TIME  you  probe  keep four
    bye
    "#
    );
    assert_snapshot!(env.probe(&["undo", "show", "undo", "show", "history"]).transcript(), @r#"
    Undone: keep four
    seen: one, two three
    all: one, two three
    Undone: keep 'two three'
    seen: one
    all: one
      1  DATE TIME  you  probe  keep one
      2  DATE TIME  you  probe  keep 'two three'
      3  DATE TIME  you  probe  keep four
      4  DATE TIME  you  probe  undo
      5  DATE TIME  you  probe  undo
    bye
    "#);
    assert_snapshot!(env.probe(&["undo 3", "show", "undo", "show", "undo 9", "undo x"]).transcript(), @r#"
    Restored the state after 3: keep four
    seen: one, two three, four
    all: one, two three, four
    Undone: keep four
    seen: one, two three
    all: one, two three
    bye
    --- stderr
    osm: error: command 5: no entry "9" in the history (7 entries)
    osm: hint: `history` lists them
    osm: error: command 6: no entry "x" in the history (7 entries)
    osm: hint: `history` lists them
    --- exit Some(1)
    "#);
    assert_eq!(
        env.probe(&["undo 1", "undo", "show"]).good(),
        "Restored the state after 1: keep one\nseen: one\nUndone: keep one\nseen: \nall: \nbye\n"
    );
}

#[test]
fn an_id_is_given_once_whatever_is_undone() {
    let env = Env::new();
    let mode = |commands: &[&str]| {
        let options = commands.iter().flat_map(|command| ["-c", command]);
        let run = env.run(&["code-review"].into_iter().chain(options).collect::<Vec<_>>());
        run.said(0, &[]);
        run.transcript()
    };
    let said = mode(&["note one", "note two", "undo", "note three", "undo", "undo", "note four"]);
    let ids: Vec<_> = said.lines().filter_map(|line| line.strip_prefix("Added note ")).collect();
    assert_eq!(ids, ["[1]", "[2]", "[3]", "[4]"], "{said}");
    let said = mode(&["undo 1", "note five", "list"]);
    assert!(said.contains("[1] [note]") && said.contains("[5] [note]"), "{said}");
}

#[test]
fn a_reset_can_be_taken_back() {
    let env = Env::new();
    let said = env.probe(&["keep one", "reset", "show", "history"]).good();
    let name = said
        .lines()
        .find_map(|line| line.strip_prefix("restore the old state with: osm session restore "));
    let name = name.expect("the name of the archive is said");
    assert!(said.contains("\nall: \n"), "{said}");
    assert!(said.ends_with("  osm  reset\nbye\n"), "{said}");
    env.probe(&["undo"]).said(1, &["cannot undo a reset", "osm session restore"]);
    env.run(&["session", "restore", name]).said(0, &[]);
    assert_eq!(env.probe(&["show"]).good(), "all: one\nbye\n");
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
        @r#"
    2
    a bc
    {
      "a": [
        1,
        2
      ]
    }
    7
    bye
    --- stderr
    osm: error: command 6: js:1:1: ReferenceError: nothing is not defined
      nothing.at.all
      ^
    osm: error: command 7: js:1:4: SyntaxError: unexpected token in expression: ''
      1 +
         ^
    osm: error: command 8: missing expression; usage: js EXPRESSION
    --- exit Some(1)
    "#
    );
}

#[test]
fn leaving() {
    let env = Env::new();
    for command in ["exit", "quit", "leave"] {
        assert_eq!(env.probe(&["keep x", command, "keep y"]).good(), "kept x\nbye\n");
    }
    env.probe(&["exit now"]).said(1, &["unexpected argument \"now\"; usage: exit"]);
}

#[test]
fn an_unknown_command() {
    let env = Env::new();
    assert_snapshot!(env.probe(&["kep x", "1 + 1"]).transcript(), @r#"
    bye
    --- stderr
    osm: error: command 1: unknown command "kep"
    osm: hint: did you mean `keep`? `help` lists all commands
    osm: hint: `js EXPRESSION` evaluates JavaScript
    osm: error: command 2: unknown command "1"
    osm: hint: `help` lists all commands
    osm: hint: `js EXPRESSION` evaluates JavaScript
    --- exit Some(1)
    "#);
}

#[test]
fn a_command_that_fails_changes_nothing() {
    let env = Env::new();
    assert_snapshot!(env.probe(&["keep one", "fail", "show", "fault", "history"]).transcript(), @r#"
    kept one
    seen: one
    all: one
      1  DATE TIME  you  probe  keep one
    bye
    --- stderr
    osm: error: command 2: PROBE:26:97: Error: it went wrong
              fail: { description: 'Keep something and fail', handler: () => { add('half'); throw new Error('it went wrong'); } },
                                                                                                      ^
    osm: error: command 4: PROBE:27:83: TypeError: cannot read property 'x' of undefined
              fault: { description: 'Do what a programmer did not mean', handler: () => undefined.x },
                                                                                        ^
    --- exit Some(1)
    "#);
}
