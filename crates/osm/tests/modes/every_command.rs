//! Every command of every mode, typed by a person at a real terminal: tmux draws what is seen.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::path::Path;

use osm_testkit::lab::Lab;
use osm_testkit::tmux::Tmux;
use osm_testkit::{tools, trials};

use crate::harness::{PROGRAM, without_times};
use crate::terminal::Person;

/// What is typed into each mode.
const MODES: &[(&str, &[&str])] = &[
    (
        "code-review",
        &[
            "help",
            "add a.rs",
            "diff",
            "exec echo hi",
            "note look twice",
            "note --goals",
            "note goal:tests",
            "list",
            "edit 4",
            "edit 2",
            "remove 3",
            "show",
            "copy",
            "review-chunks",
            "history",
            "undo",
            "list",
            "state",
            "modes",
        ],
    ),
    (
        "prompt-flow",
        &[
            "goal make it faster",
            "goal --prewritten",
            "add a.rs",
            "diff",
            "note small steps",
            "list",
            "edit goal",
            "remove 3",
            "template edit",
            "generate",
            "edit meta",
            "show meta",
            "copy meta",
            "use do it",
            "edit prompt",
            "footer be brief",
            "list",
            "show",
            "show prompt",
            "copy",
            "copy prompt",
        ],
    ),
    (
        "goal comment-stripper",
        &[
            "add a.rs",
            "note keep the licence",
            "list",
            "edit 2",
            "remove 2",
            "show",
            "copy",
            "run a.rs",
        ],
    ),
    (
        "goal doc-generator",
        &[
            "add a.rs",
            "note for users",
            "list",
            "type",
            "type api",
            "edit 2",
            "remove 2",
            "show",
            "copy",
        ],
    ),
    (
        "goal test-generator",
        &[
            "add a.rs",
            "note the edges",
            "list",
            "type e2e",
            "framework pytest",
            "framework",
            "edit 2",
            "remove 2",
            "show",
            "copy",
        ],
    ),
    (
        "goal commit-message",
        &["add a.rs", "diff", "note why", "list", "edit 3", "remove 1", "show", "copy", "run"],
    ),
];

/// A repository with a change in it, an editor and a clipboard.
fn lab() -> Lab {
    let lab = Lab::new(Path::new(PROGRAM)).unwrap();
    let script = "git init -q . && printf 'fn a() {}\\n' > a.rs && git add -A && \
                  git -c user.name=Ada -c user.email=ada@example.org commit -qm first && \
                  printf 'fn a() -> u32 {\\n    1\\n}\\n' > a.rs && \
                  printf '#!/bin/sh\\necho edited >> \"$1\"\\n' > editor && chmod +x editor";
    let made = lab.command("sh").args(["-c", script]).status().unwrap();
    assert!(made.success());
    lab
}

#[test]
fn at_a_terminal() {
    trials::need(tools::program("tmux"));
    for (mode, lines) in MODES {
        // A repository of its own: one mode's items would be the other's.
        let lab = lab();
        let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
        tmux.run(&["set", "-g", "history-limit", "5000"]).unwrap();
        let name = mode.split(' ').next_back().unwrap();
        let prompt = format!("({name}) >");
        let line =
            format!("EDITOR=./editor OSM_CLIPBOARD='cat > copied' {PROGRAM} {mode} --no-tokens");
        let person = Person::at(&lab, &tmux, &line, &prompt);
        for (count, line) in lines.iter().enumerate() {
            person.types(line);
            person.presses(&["Enter"]);
            // The next prompt is there when the answer is.
            let prompts = |text: &str| text.lines().filter(|it| it.starts_with(&prompt)).count();
            person.waits_for(&format!("answer to {line:?}"), || {
                let text = person.transcript();
                prompts(&text) == count + 2 && text.ends_with(&prompt)
            });
        }
        let seen = without_times(&person.transcript());
        insta::assert_snapshot!(name, seen);
    }
}

#[test]
fn three_modes_in_one_session_at_once() {
    trials::need(tools::program("tmux"));
    let lab = lab();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let sits = |mode: &str| {
        let prompt = format!("({}) >", mode.split(' ').next_back().unwrap());
        Person::at(&lab, &tmux, &format!("{PROGRAM} {mode} --no-tokens"), &prompt)
    };
    let (reviewer, planner) = (sits("code-review"), sits("prompt-flow"));
    let writer = sits("goal commit-message");
    // A change is saved when the next prompt is there, and not when it is told.
    reviewer.says("add a.rs", "Added file: a.rs");
    reviewer.is_asked();
    planner.says("list", "[1] [file] a.rs");
    writer.says("list", "[1] [file] a.rs");
    writer.says("note from the writer", "Added note [2]");
    writer.is_asked();
    reviewer.says("list", "[2] [note]");
    // What is a mode's own is nobody else's.
    planner.says("goal make it faster", "Goal set");
    planner.says("list", "[goal] make it faster");
    planner.says("remove 1", "Removed [1]");
    planner.is_asked();
    for other in [&reviewer, &writer] {
        other.says("list", "Total: 1 item ");
        other.says("show", "from the writer");
        assert!(!other.transcript().contains("make it faster"), "{}", other.transcript());
    }
}
