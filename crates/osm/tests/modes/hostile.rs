//! Files, repositories and sessions that other users made, and lines that are mistyped: nothing of
//! ours gets out, no terminal is made to do anything, and no mode becomes unusable.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::harness::{Env, Run};

/// What sets the clipboard of a terminal, and a line that looks like ours.
const NAME: &str = "a\u{1b}]52;c;eA==\u{7}\nTotal: 0 items.rs";

fn env() -> Env {
    let env = Env::new();
    // Counting takes its time where nothing is optimised, and is tested elsewhere.
    env.config("prompt.tokens = false\n");
    env
}

fn git(env: &Env, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(env.work()).args(["-c", "user.name=t", "-c", "user.email=t@example.org"]);
    command.args(["-c", "init.defaultBranch=main"]).args(arguments).env("GIT_CONFIG_GLOBAL", "");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

fn commit(env: &Env) {
    git(env, &["add", "-A"]);
    git(env, &["commit", "-q", "--allow-empty", "-m", "x"]);
}

fn plays(env: &Env, mode: &[&str], commands: &[&str]) -> Run {
    let mut arguments = mode.to_vec();
    for command in commands {
        arguments.extend(["-c", command]);
    }
    env.run(&arguments)
}

/// Begins with a session that another tool wrote.
fn import(env: &Env, items: &str) {
    let session = r#"{"version":"1.0.0","session_id":"ex--test","created_at":"2026-11-14T09:00:00Z","updated_at":"2026-11-14T09:00:00Z","script_state":{},"history":[],"#;
    let path = env.home().join("theirs.json");
    fs::write(&path, format!(r#"{session}"shared_state":{{"contextItems":{items}}}}}"#)).unwrap();
    let imported = env.run(&["session", "import", "-y", "--as", "test", path.to_str().unwrap()]);
    imported.said(0, &["imported"]);
}

#[test]
fn a_branch_cannot_put_our_files_into_a_prompt() {
    let env = env();
    fs::write(env.home().join("creds"), "my password\n").unwrap();
    fs::write(env.work().join("a.rs"), "fn a() {}\n").unwrap();
    git(&env, &["init", "-q"]);
    commit(&env);
    fs::write(env.work().join("a.rs"), "fn b() {}\n").unwrap();
    symlink(env.home().join("creds"), env.work().join("notes.md")).unwrap();
    symlink(env.home(), env.work().join("docs")).unwrap();
    commit(&env);
    let run = plays(&env, &["code-review"], &["add --from-diff HEAD~1", "show"]);
    run.said(
        0,
        &[
            "Added file: a.rs [1]\n",
            "Left out: docs: symbolic link out of the folder\n",
            "Left out: notes.md: symbolic link out of the folder\n",
            "fn b() {}",
        ],
    );
    assert!(!run.stdout.contains("my password"), "{}", run.transcript());
    // Whoever names a link wants it.
    plays(&env, &["code-review"], &["add notes.md", "show"]).said(0, &["my password"]);
}

#[test]
fn no_name_reaches_the_terminal_as_it_is() {
    let env = env();
    fs::write(env.work().join(NAME), "x\n").unwrap();
    fs::write(env.work().join(OsStr::from_bytes(b"\xff.rs")), "x\n").unwrap();
    fs::create_dir(env.work().join("sub")).unwrap();
    fs::write(env.work().join("sub").join(NAME), b"\0").unwrap();
    let wrong = format!("add './no{NAME}' '--{NAME}'");
    let commands = [
        "add *.rs",
        "add *.rs",
        "add sub",
        "list",
        "edit 1",
        &format!("add './no{NAME}'"),
        &wrong,
        &format!("remove '{NAME}'"),
        &format!("exec 'no{NAME}'"),
        &format!("diff '{NAME}'"),
        &format!("note 'goal:{NAME}'"),
        "list",
        "review-chunks --lines 1",
        "show",
        "copy",
    ];
    let run = plays(&env, &["code-review"], &commands);
    run.said(
        1,
        &[
            r"Added file: a\u{1b}]52;c;eA==\u{7}\nTotal: 0 items.rs [1]",
            "Left out: \u{fffd}.rs: file name is not UTF-8\n",
            r"Already added: a\u{1b}]52",
            r"[1] [file] a\u{1b}]52;c;eA==\u{7}\nTotal: 0 items.rs (1 line, 2 B)",
            r"left out: sub/a\u{1b}]52;c;eA==\u{7}\nTotal: 0 items.rs: binary",
        ],
    );
    let told = run.transcript();
    assert!(!told.contains(['\u{1b}', '\u{7}']), "{told:?}");
    assert!(!told.lines().any(|line| line.starts_with("Total: 0 items")), "{told}");
    // What is gone is told when the next one begins.
    #[expect(clippy::disallowed_methods, reason = "the test put it there")]
    fs::remove_file(env.work().join(NAME)).unwrap();
    let run = plays(&env, &["code-review"], &["list"]);
    assert!(!run.transcript().contains('\u{1b}'), "{:?}", run.transcript());
    // Programs get it as it is.
    let json = plays(&env, &["code-review"], &["list --json"]).good();
    assert!(json.contains(r"a\u001b]52;c;eA==\u0007\nTotal: 0 items.rs"), "{json}");
}

#[test]
fn items_that_another_tool_wrote() {
    let env = env();
    fs::write(env.work().join("a.rs"), "fn a() {}\n").unwrap();
    let items = r#"[{"id":1,"type":"file"},{"type":"note","label":"one","payload":"first"},
        {"id":"x","type":"note","label":"two","payload":"second"},{"id":1,"type":"file","label":"a.rs"},
        {"id":1e300,"type":"file","path":null,"label":7},null,"text",{"id":9,"type":7}]"#;
    import(&env, items);
    let run = plays(&env, &["code-review"], &["list"]);
    insta::assert_snapshot!(run.transcript(), @"
    [1] [file] unnamed (0 lines, 0 B)
        left out: item 1: neither a path nor a label
    [10] [note] one: first (1 line, 5 B)
    [11] [note] two: second (1 line, 6 B)
    [12] [file] a.rs (1 line, 10 B)
    [13] [file] unnamed (0 lines, 0 B)
        left out: item 13: neither a path nor a label
    [14] [] unnamed (0 lines, 0 B)
        left out: item 14: no type
    [15] [] unnamed (0 lines, 0 B)
        left out: item 15: no type
    [9] [] unnamed (0 lines, 0 B)
        left out: item 9: no type
    Total: 8 items (3 lines, 21 B)
    ");
    let run = plays(
        &env,
        &["code-review"],
        &["remove 10 13", "note mine", "remove 1 9 14 15 16", "list"],
    );
    insta::assert_snapshot!(run.transcript(), @"
    [11] [note] two: second (1 line, 6 B)
    [12] [file] a.rs (1 line, 10 B)
    Total: 2 items (2 lines, 16 B)
    --- stderr
    Removed [10]
    Removed [13]
    Added note [16]
    Removed [1]
    Removed [9]
    Removed [14]
    Removed [15]
    Removed [16]
    ");
    for mode in [&["prompt-flow"][..], &["goal", "commit-message"]] {
        import(&env, items);
        plays(&env, mode, &["add a.rs", "show"]).said(0, &["first", "second"]);
        plays(&env, mode, &["reset", "list"]).said(0, &["No items yet"]);
    }
    import(&env, "7");
    plays(&env, &["code-review"], &["list"]).said(0, &["No items yet"]);
}

#[test]
fn a_command_that_is_stopped_is_told_so() {
    let env = env();
    let commands = ["exec sh -c 'echo said; kill -9 $$'", "exec no-such-program", "show --json"];
    let run = plays(&env, &["code-review"], &commands);
    run.said(
        0,
        &["failed: killed by a signal", "no-such-program failed: cannot start no-such-program: "],
    );
    assert!(!run.stdout.contains("failed: said"), "{}", run.stdout);
}

#[test]
fn an_option_that_there_is_not_is_no_text() {
    let env = env();
    for (mode, line, told) in [
        (
            "code-review",
            "note --goal",
            "note: unknown option '--goal'; usage: note [text] | --goals",
        ),
        ("code-review", "note --goals x", "note: unknown option '--goals'; usage: note [text]"),
        ("prompt-flow", "note --goal x", "note: unknown option '--goal'; usage: note [text]"),
        (
            "prompt-flow",
            "goal --prewritten nope",
            "goal: unknown option '--prewritten'; usage: goal",
        ),
        ("prompt-flow", "footer --cler", "footer: unknown option '--cler'; usage: footer [text"),
        ("prompt-flow", "use --x", "use: unknown option '--x'; usage: use [text]"),
    ] {
        plays(&env, &[mode], &[line]).said(1, &[told]);
    }
    let run = plays(&env, &["goal", "implementation-plan"], &["goal --cler", "goal --clear"]);
    run.said(1, &["goal: unknown option '--cler'; usage: goal [text | --clear]", "goal cleared."]);
    let texts = ["note -- a dash", "note '--goal is what I mean'", "note ---"];
    plays(&env, &["code-review"], &texts).said(0, &["Added note [3]"]);
}

#[test]
fn chunks_of_what_cannot_be_taken() {
    let env = env();
    import(&env, r#"[{"id":1,"type":"lazy-diff","label":"git diff"}]"#);
    let run = plays(&env, &["code-review"], &["review-chunks"]);
    run.said(1, &["review-chunks: git diff failed: not a Git repository: LAB/tree"]);
    for (line, told) in [
        ("review-chunks --lines 0", "'--lines' takes a number of at least 1, not '0'; usage"),
        ("review-chunks --lines", "'--lines' takes a number of at least 1; usage"),
        ("review-chunks --lnes 5", "unexpected argument '--lnes'; usage"),
    ] {
        plays(&env, &["code-review"], &[line]).said(1, &[told]);
    }
}
