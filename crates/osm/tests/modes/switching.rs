//! From one mode to another: of a script, of osm, and back, with what they share.

use insta::assert_snapshot;

use crate::harness::{Env, Run};

fn run(env: &Env, mode: &[&str], commands: &[&str]) -> Run {
    let options = commands.iter().flat_map(|command| ["-c", command]);
    env.run(&mode.iter().copied().chain(options).collect::<Vec<_>>())
}

/// The first rows of a list; the goals after them are another test's.
fn without_goals(text: &str) -> String {
    let rows = text.lines().filter(|line| !line.contains("  goal  "));
    rows.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn modes_of_a_script_and_back() {
    let env = Env::new();
    let said = env.probe(&["mode", "mode other", "keep x", "modes", "anywhere", "mode probe"]);
    assert_snapshot!(without_goals(&said.transcript()), @r#"
    * probe script Probe
    other script Another
    code-review built in Build a prompt for a code review
    prompt-flow built in Build a prompt from a goal in two steps
    bye
    everywhere
    probe script Probe
    * other script Another
    code-review built in Build a prompt for a code review
    prompt-flow built in Build a prompt from a goal in two steps
    everywhere
    welcome
    bye
    --- stderr
    osm: error: command 3: unknown command "keep"
    osm: hint: `help` lists all commands
    osm: hint: `js EXPRESSION` evaluates JavaScript
    --- exit Some(1)
    "#);
    assert_snapshot!(env.probe(&["mode nowhere", "mode code-reviev", "mode a b"]).transcript(), @r#"
    bye
    --- stderr
    osm: error: command 1: unknown mode "nowhere"
    osm: hint: `mode` lists all modes
    osm: error: command 2: unknown mode "code-reviev"
    osm: hint: did you mean `mode code-review`? `mode` lists all modes
    osm: error: command 3: unexpected argument "b"; usage: mode [NAME]
    --- exit Some(1)
    "#);
}

#[test]
fn every_mode_is_listed_and_can_be_entered() {
    let env = Env::new();
    std::fs::create_dir(env.home().join("goals")).unwrap();
    let text = "---\nname: mine\ndescription: My own\n---\nDo it.\n";
    std::fs::write(env.home().join("goals/mine.prompt.md"), text).unwrap();
    let listed = run(&env, &["code-review"], &["mode"]).good();
    let names: Vec<&str> = listed
        .lines()
        .map(|line| line.trim_start_matches([' ', '*']).split("  ").next().unwrap())
        .collect();
    assert!(names.starts_with(&["code-review", "prompt-flow"]), "{listed}");
    for name in ["commit-message", "doc-generator", "mine"] {
        assert!(names.contains(&name), "{listed}");
    }
    assert!(listed.lines().next().unwrap().trim_start().starts_with("*  code-review"), "{listed}");
    // A goal can have a command `mode` of its own; `modes` is the same built-in.
    let enter: Vec<String> = names.iter().map(|name| format!("modes {name}")).collect();
    let commands: Vec<&str> =
        enter.iter().flat_map(|enter| [enter.as_str(), "js tui.getCurrentMode()"]).collect();
    let said = run(&env, &["prompt-flow"], &commands).good();
    assert_eq!(said.lines().collect::<Vec<_>>(), names);
}

#[test]
fn the_context_goes_along() {
    let env = Env::new();
    let commands = [
        "note one",
        "mode flow",
        "goal make it 'faster",
        "note two",
        "mode commit-message",
        "note three",
        "list",
        "mode review",
        "list",
        "mode prompt-flow",
        "list",
        "mode",
    ];
    let run = run(&env, &["review"], &commands);
    let said = run.transcript();
    run.said(0, &["[goal] make it 'faster"]);
    for id in 1..=3 {
        assert_eq!(said.matches(&format!("[{id}] [note] ")).count(), 3, "{said}");
    }
    assert!(without_goals(&said).contains("\n* prompt-flow built in "), "{said}");
    // The history says in which mode each change was made.
    let history = env.run(&["session", "history", "--json"]).good();
    let history: serde_json::Value = serde_json::from_str(&history).unwrap();
    let modes: Vec<_> =
        history.as_array().unwrap().iter().map(|it| it["mode_id"].clone()).collect();
    assert_eq!(modes, ["code-review", "prompt-flow", "prompt-flow", "commit-message"]);
}

/// A script of the user is not run a second time: it is still there when its mode is entered again.
#[test]
fn a_script_that_was_left_goes_on() {
    let env = Env::new();
    let commands = [
        "js globalThis.here = 7",
        "keep one",
        "mode code-review",
        "list",
        "mode probe",
        "js here",
        "show",
    ];
    let run = env.probe(&commands);
    run.said(0, &["[1] [note] one (", "\nwelcome\n7\nall: one\n"]);
    assert_eq!(run.stdout.matches("bye\n").count(), 2, "{}", run.transcript());
}

#[test]
fn a_mode_that_cannot_be_entered_leaves_the_old_one() {
    let env = Env::new();
    // Code of the working tree is not trusted.
    std::fs::create_dir_all(env.work().join(".osm/goals")).unwrap();
    let goal = r#"{"name": "theirs", "description": "d", "promptInstructions": "p",
        "commands": [{"name": "x", "type": "custom", "handler": "function () {}"}]}"#;
    std::fs::write(env.work().join(".osm/goals/theirs.json"), goal).unwrap();
    let said = run(&env, &["code-review"], &["mode theirs", "note still here", "mode", "list"]);
    said.said(1, &["cannot run goal theirs", "osm trust", "[1] [note] still here ("]);
    assert!(said.stdout.contains("goal, not trusted"), "{}", said.transcript());
    // A mode whose end fails is not left, and nothing of it is lost.
    let script = "tui.registerMode({ name: 'stuck', onExit() { if (!globalThis.open) throw new Error('locked'); }, \
         commands: { open: () => { globalThis.open = true; }, where: () => output.print(tui.getCurrentMode()) } });";
    std::fs::write(env.work().join("stuck.js"), script).unwrap();
    let commands = ["mode code-review", "where", "open", "mode code-review", "list"];
    let options = commands.iter().flat_map(|command| ["-c", command]);
    let run =
        env.run(&["script"].into_iter().chain(options).chain(["stuck.js"]).collect::<Vec<_>>());
    run.said(1, &["command 1: ", "locked", "[1] [note] still here ("]);
    assert!(run.stdout.starts_with("stuck\n"), "{}", run.transcript());
}
