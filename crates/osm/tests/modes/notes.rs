//! What is collected: notes as they were typed, diffs that git knows, and lists that say what each item is.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use osm_testkit::{tools, trials};

use crate::harness::{Env, Run};

fn run(env: &Env, options: &[&str], commands: &[&str]) -> Run {
    let commands = commands.iter().flat_map(|command| ["-c", command]);
    let words = [&["code-review", "--no-tokens"], options].concat();
    env.run(&words.into_iter().chain(commands).collect::<Vec<_>>())
}

fn notes(env: &Env) -> Vec<String> {
    let kept = env.run(&["session", "export"]).good();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    let items = kept["shared_state"]["contextItems"].as_array().unwrap().clone();
    items.iter().map(|item| item["payload"].as_str().unwrap().to_owned()).collect()
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"]);
    let output = command.args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// A repository with a commit, and a change that is not committed.
fn repository(folder: &Path) {
    trials::need(tools::program("git"));
    std::fs::create_dir_all(folder).unwrap();
    git(folder, &["init", "-q"]);
    std::fs::write(folder.join("a.txt"), "one\n").unwrap();
    git(folder, &["add", "a.txt"]);
    git(folder, &["commit", "-qm", "one"]);
    std::fs::write(folder.join("a.txt"), "one\ntwo\n").unwrap();
}

#[test]
fn a_note_is_kept_as_it_was_typed() {
    let env = Env::new();
    let texts = [
        r"C:\new\table",
        "say \"hi\" and 'bye'",
        "'tis half a quote",
        r"ends in \",
        "a  b\tc",
        "two\n  lines # no comment",
        "\"whole\"",
    ];
    let commands: Vec<String> = texts.iter().map(|text| format!("note {text}")).collect();
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    run(&env, &[], &commands).said(0, &["Added note [7]"]);
    assert_eq!(notes(&env), texts);
    // A text that starts like an option has `--` before it.
    let env = Env::new();
    let said = run(&env, &[], &["note --x y", "note -- --x y", "note --"]);
    said.said(
        1,
        &["unknown option '--x'", "to start a text with --, put -- and a space before it"],
    );
    said.said(1, &["Added note [1]", "Empty note; nothing added."]);
    assert_eq!(notes(&env), ["--x y"]);
}

#[test]
fn every_text_is_kept_as_it_was_typed() {
    let env = Env::new();
    let typed = r#"don't "quote" \me"#;
    let flow = ["goal", "footer", "use"].map(|command| format!("{command} {typed}"));
    let options: Vec<&str> = flow.iter().flat_map(|command| ["-c", command.as_str()]).collect();
    env.run(&[&["prompt-flow"], &options[..]].concat()).said(0, &[]);
    let kept = env.run(&["session", "export"]).good();
    let kept: serde_json::Value = serde_json::from_str(&kept).unwrap();
    for name in ["goal", "footer", "taskPrompt"] {
        assert_eq!(kept["script_state"]["prompt-flow"][name], typed, "{name}");
    }
}

#[test]
fn notes_from_standard_input() {
    let env = Env::new();
    let input = "note it's 'one\nnote <<END\n  two \"lines\"\n\n# of text\\\nEND\nnote three\n";
    let mut child = env.command(&["code-review"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    env.finish(child.wait_with_output().unwrap()).said(0, &["Added note [3]"]);
    assert_eq!(notes(&env), ["it's 'one", "  two \"lines\"\n\n# of text\\", "three"]);
    let env = Env::new();
    let mut child = env.command(&["code-review"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"note one\nnote <<END\nlost").unwrap();
    let run = env.finish(child.wait_with_output().unwrap());
    run.said(1, &["line 2: cannot read commands: no line \"END\" ends the text"]);
}

#[test]
fn a_list_says_what_each_item_is() {
    let env = Env::new();
    repository(&env.work());
    let elsewhere = env.home().parent().unwrap().join("elsewhere");
    repository(&elsewhere);
    let file = elsewhere.join("a.txt").display().to_string();
    let long = format!("note {}", "word ".repeat(40));
    let add = format!("add {file}");
    let commands =
        ["note First\n  and second", &long, "note goal:tests", "diff HEAD", "diff HEAD HEAD", &add];
    run(&env, &[], &commands).said(0, &[]);
    // A diff of another repository, added there.
    let mut there = env.command(&["code-review", "-c", "diff HEAD", "-c", "exec ls"]);
    env.finish(there.current_dir(&elsewhere).output().unwrap()).said(0, &[]);
    let listed = run(&env, &[], &["list"]).good();
    insta::assert_snapshot!(listed, @r#"
    [1] [note] First and second (2 lines, 18 B)
    [2] [note] word word word word word word word word word word word word … (1 line, 199 B)
    [3] [note] review-focus: Look at the tests. For each changed behaviour: which test fa… (1 line, 195 B)
    [4] [lazy-diff] git diff HEAD (7 lines, 105 B)
    [5] [lazy-diff] git diff HEAD HEAD (no change)
    [6] [file] LAB/elsewhere/a.txt (2 lines, 8 B; from LAB/elsewhere)
    [7] [lazy-diff] git diff HEAD (7 lines, 105 B; from LAB/elsewhere)
    [8] [lazy-exec] ls (run when the prompt is built; from LAB/elsewhere)
    Total: 8 items (20 lines, 630 B), and 1 run when the prompt is built
    "#);
    let described = run(&env, &[], &["list --json"]).good();
    let described: serde_json::Value = serde_json::from_str(&described).unwrap();
    assert_eq!(described[0]["beginning"], "First and second");
    assert_eq!(
        (&described[0]["repository"], &described[3]["bytes"]),
        (&serde_json::Value::Null, &105.into())
    );
    assert!(described[6]["repository"].as_str().unwrap().ends_with("/elsewhere"));
    // A diff that git cannot take any more says so.
    git(&env.work(), &["branch", "side"]);
    run(&env, &[], &["diff side"]).said(0, &["[9]"]);
    git(&env.work(), &["branch", "-qD", "side"]);
    let listed = run(&env, &[], &["list"]).good();
    assert!(
        listed.contains("[9] [lazy-diff] git diff side (failed: git: ambiguous argument 'side'"),
        "{listed}"
    );
}

#[test]
fn a_diff_that_git_does_not_know_is_not_added() {
    let env = Env::new();
    repository(&env.work());
    for (command, said) in [
        (
            "diff nosuch",
            "diff: git diff nosuch: git: ambiguous argument 'nosuch': unknown revision",
        ),
        (
            "diff main nosuch.rs",
            "diff: git diff main nosuch.rs: git: ambiguous argument 'nosuch.rs'",
        ),
        ("diff -- nosuch.rs", "pathspec 'nosuch.rs' did not match any file(s) known to git"),
        ("diff main..nosuch", "diff: git diff main..nosuch: git: ambiguous argument"),
        ("diff --nosuch", "diff: git diff --nosuch: git: "),
        ("diff --output=x", "argument --output=x is not allowed"),
    ] {
        let run = run(&env, &[], &[command, "list"]);
        run.said(1, &[said, "No items yet"]);
        assert!(!run.stderr.contains("Added"), "{}", run.transcript());
    }
    for command in
        ["diff", "diff main", "diff --stat main", "diff -- a.txt", "diff main -- .", "diff --check"]
    {
        run(&env, &[], &[command]).said(0, &["Added diff"]);
    }
    // A file that was removed is known to the diff.
    git(&env.work(), &["rm", "-qf", "a.txt"]);
    run(&env, &[], &["diff HEAD -- a.txt"]).said(0, &["Added diff"]);
    // Nor is one that was edited.
    let env = Env::new();
    let editor = env.home().join("editor");
    std::fs::write(&editor, "printf nosuch > \"$1\"").unwrap();
    let env = env.with("VISUAL", &format!("sh {}", editor.display()));
    repository(&env.work());
    run(&env, &[], &["diff main"]).said(0, &[]);
    run(&env, &[], &["edit 1"]).said(1, &["edit: git diff nosuch: git: ambiguous argument"]);
    // Without a repository there is nothing to compare.
    run(&Env::new(), &[], &["diff"]).said(1, &["not a Git repository"]);
}

#[test]
fn an_incomplete_prompt_fails_if_it_has_to_be_whole() {
    let env = Env::new().with("OSM_CLIPBOARD", "cat > copied");
    repository(&env.work());
    let path = |name: &str| env.work().join(name);
    std::fs::create_dir(path("folder")).unwrap();
    std::fs::write(path("folder/b.txt"), "b\n").unwrap();
    std::fs::write(path("folder/logo.png"), b"\0").unwrap();
    run(&env, &[], &["add folder", "note whole"]).said(0, &[]);
    // What a folder leaves out by its rules does not make a prompt incomplete.
    run(&env, &["--fail-fast"], &["show", "copy"]).said(0, &["Copied"]);
    let copied = std::fs::read(path("copied")).unwrap();
    git(&env.work(), &["branch", "side"]);
    let breakers: [(&str, &dyn Fn(), &str); 3] = [
        (
            "diff side",
            &|| git(&env.work(), &["branch", "-qD", "side"]),
            "git diff side: git: ambiguous argument 'side'",
        ),
        ("add a.txt", &|| std::fs::write(path("a.txt"), b"\0").unwrap(), "a.txt: binary"),
        ("exec nosuch-program", &|| {}, "nosuch-program: cannot start nosuch-program"),
    ];
    for (add, break_it, why) in breakers {
        run(&env, &[], &[add]).said(0, &["Added"]);
        break_it();
        for command in ["show", "copy", "show --json"] {
            let run = run(&env, &["--fail-fast"], &[command, "note never"]);
            run.said(1, &["command 1: the prompt is incomplete: ", why]);
            assert_eq!(run.stdout, "", "nothing of it is shown");
            assert!(!run.stderr.contains("Added note"), "{}", run.transcript());
        }
        // Without the option there is a warning, as before.
        run(&env, &[], &["show"]).said(0, &["Warning: "]);
        run(&env, &[], &["undo --force"]).said(0, &[]);
        std::fs::write(path("a.txt"), "one\n").unwrap();
    }
    assert_eq!(std::fs::read(path("copied")).unwrap(), copied, "nothing incomplete was copied");
}
