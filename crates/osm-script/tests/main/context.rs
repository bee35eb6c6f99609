//! The context manager and the global `context`, as people meet them.

use osm_script::words::text_after_first;
use osm_script::{Dispatch, Modes, StateKey};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::Stage;
use crate::project;

const MODE: &str = "
const { contextManager } = require('osm:ctxutil');
const shared = require('osm:sharedStateSymbols');
const state = tui.createState('review', { [shared.contextItems]: { defaultValue: [] } });
const manager = contextManager({
    getItems: () => state.get(shared.contextItems),
    setItems: (items) => state.set(shared.contextItems, items),
    nextIntegerId: require('osm:nextIntegerId'),
    prompt: () => ({ template: 'Review:\\n{{ context }}', data: { strict: true } }),
    postCopyHint: 'Paste it.',
});
tui.registerMode({ name: 'review', onEnter: () => manager.rehydrate(), commands: () => manager.commands });
";

fn in_mode() -> Stage {
    let stage = project::stage();
    stage.runtime.run_source("osm:mode/review", MODE).unwrap();
    Modes::new(&stage.runtime).enter("review").unwrap();
    stage
}

/// What a line prints, or why it fails.
fn run(stage: &Stage, line: &str) -> String {
    let words = stage.value(&format!("require('osm:argv').parseArgv({line:?})"));
    let words: Vec<String> = serde_json::from_value(words).unwrap();
    let said =
        match Modes::new(&stage.runtime).dispatch(&words[0], &words[1..], text_after_first(line)) {
            Ok(Dispatch::Done) => stage.printed().join("\n"),
            Ok(Dispatch::Unknown) => panic!("{line} is unknown"),
            Err(error) => format!("{}{}", stage.printed().join("\n"), error),
        };
    let complained = std::mem::take(&mut stage.seen.borrow_mut().complained);
    complained.into_iter().fold(said, |said, line| format!("{said}\n! {line}"))
}

fn items(stage: &Stage) -> Value {
    stage.seen.borrow().state[&StateKey::Shared("contextItems".into())].clone()
}

#[test]
fn a_session_of_work() {
    let stage = in_mode();
    let mut told = String::new();
    for line in [
        "list",
        "add src/a.rs src",
        "add ./src/a.rs",
        "add /p/src/a.rs notes.md",
        "add --from-diff main",
        "add --from-diff",
        "diff main --stat",
        "diff",
        "exec make 'the tests'",
        "note look at this",
        "list",
        "remove 2 [4] 2",
        "note another",
        "show",
        "copy",
    ] {
        told.extend(["> ", line, "\n", &run(&stage, line), "\n"]);
    }
    insta::assert_snapshot!(told, @r#"
    > list
    No items yet. Add some with add, diff, exec or note.
    > add src/a.rs src
    Added file: src/a.rs [1]
    Added folder: src [2]
    > add ./src/a.rs
    Already added: src/a.rs [1]
    > add /p/src/a.rs notes.md
    Already added: src/a.rs [1]
    Added file: notes.md [3]
    > add --from-diff main
    Already added: src/a.rs [1]
    Already added: notes.md [3]
    Left out: link.rs: broken symbolic link
    > add --from-diff
    No files found in diff.
    > diff main --stat
    Added diff: git diff main --stat [4] (run when the prompt is built)
    > diff
    Added diff: git diff [5] (run when the prompt is built)
    > exec make 'the tests'
    Added exec: make 'the tests' [6] (run when the prompt is built)
    > note look at this
    Added note [7]
    > list
    [1] [file] src/a.rs (1,000 tokens, 1 line, 10 B)
    [2] [file] src (2 files, 2,700 tokens, 1 line, 27 B)
        left out: src/logo.png: binary
    [3] [file] notes.md (800 tokens, 1 line, 8 B; from /q)
    [4] [lazy-diff] git diff main --stat (1 line, 40 B)
    [5] [lazy-diff] git diff (1 line, 40 B)
    [6] [lazy-exec] make 'the tests' (run when the prompt is built)
    [7] [note] look at this (1 line, 12 B)
    Total: 7 items (4,500 of 1,000 tokens, 6 lines, 137 B), and 1 run when the prompt is built
    Warning: 4,500 tokens, over the budget of 1,000; remove items with 'remove'
    > remove 2 [4] 2
    Removed [2]
    Removed [4]
    > note another
    Added note [8]
    > show
    │ 1,204 tokens · 88 lines · 4.2 kB │
    Warning: 1,204 tokens, over the budget of 1,000; remove items with 'remove'
    > copy
    Copied │ 1,204 tokens · 88 lines · 4.2 kB │
    Warning: 1,204 tokens, over the budget of 1,000; remove items with 'remove'
    Paste it.
    "#);
}

#[test]
fn a_text_is_taken_as_it_was_typed() {
    let stage = in_mode();
    let text = "it's \"a\" C:\\new\n  'b";
    run(&stage, &format!("note {text}"));
    run(&stage, "note -- --list");
    let items = items(&stage);
    assert_eq!((&items[0]["payload"], &items[1]["payload"]), (&json!(text), &json!("--list")));
    let note = Modes::new(&stage.runtime).current().unwrap().commands;
    let texts: Vec<_> = note.iter().filter(|it| it.takes_text).map(|it| &*it.name).collect();
    assert_eq!(texts, ["note"]);
    // A handler of a prompt's line finds it, too, and one that a script calls itself does without.
    stage.value("require('osm:ctxutil').contextManager().commands.note.handler(['two', 'words'])");
    assert_eq!(self::items(&stage)[2]["payload"], "two words");
}

#[test]
fn what_cannot_be_done_throws_and_changes_nothing() {
    let stage = in_mode();
    run(&stage, "add src/a.rs");
    run(&stage, "note one");
    let before = items(&stage);
    let mut told = String::new();
    for line in [
        "add notes.md nothing.rs neither.rs",
        "add --from-diff nowhere",
        "diff nowhere",
        "exec",
        "edit",
        "edit 1",
        "edit x",
        "edit 9",
        "remove",
        "remove 1 9",
        "list --yaml",
        "copy that",
    ] {
        told.extend(["> ", line, "\n", &run(&stage, line), "\n"]);
        assert_eq!(items(&stage), before, "{line}");
    }
    insta::assert_snapshot!(told, @r#"
    > add notes.md nothing.rs neither.rs
    Error: nothing added:
      nothing.rs: there is no such file
      neither.rs: there is no such file
    > add --from-diff nowhere
    Error: git diff --name-only failed: unknown revision nowhere
    > diff nowhere
    Error: diff: git diff nowhere: unknown revision nowhere
    > exec
    Error: exec: missing command; usage: exec <command> [arguments]
    > edit
    Error: edit: missing id; usage: edit <id>
    > edit 1
    Error: edit: [1] is a file; edit src/a.rs itself, osm reads it when it builds the prompt
    > edit x
    Error: edit: 'x' is not an id; ids: [1], [2]
    > edit 9
    Error: edit: no item [9]; ids: [1], [2]
    > remove
    Error: remove: missing id; usage: remove <id>…
    > remove 1 9
    Error: remove: no item [9]; ids: [1], [2]
    > list --yaml
    Error: list: unexpected argument '--yaml'; usage: list [--json]
    > copy that
    Error: copy: unexpected argument 'that'; usage: copy
    "#);
}

#[test]
fn what_is_edited() {
    let stage = in_mode();
    let edits = |text: &str| stage.seen.borrow_mut().edited.push_back(text.to_owned());
    edits("# paths\n\n  src/a.rs  \nnotes.md\n");
    assert_eq!(run(&stage, "add"), "Added file: src/a.rs [1]\nAdded file: notes.md [2]");
    edits("typed\n\n");
    assert_eq!(run(&stage, "note"), "Added note [3]");
    edits("\n");
    assert_eq!(run(&stage, "note"), "Empty note; nothing added.");
    edits("# nothing\n");
    assert_eq!(run(&stage, "add"), "No paths given; nothing added.");
    run(&stage, "diff");
    run(&stage, "exec make");
    for (line, text, told) in [
        ("edit 3", "changed\n", "Edited [3]"),
        ("edit 4", "main 'a b'\n", "Updated diff specification [4]"),
        ("edit 5", "make -j2\n", "Updated exec specification [5]"),
        ("edit 5", "", "Error: edit: the command is empty"),
    ] {
        edits(text);
        assert_eq!(run(&stage, line), told, "{line}");
    }
    let items = items(&stage);
    assert_eq!(items[2]["payload"], "changed");
    assert_eq!(
        (&items[3]["payload"], &items[3]["label"]),
        (&json!(["main", "a b"]), &json!("git diff main 'a b'"))
    );
    assert_eq!(
        (&items[4]["payload"], &items[4]["label"]),
        (&json!(["make", "-j2"]), &json!("make -j2"))
    );
}

#[test]
fn an_id_is_never_given_twice() {
    let stage = in_mode();
    run(&stage, "note one");
    run(&stage, "note two");
    run(&stage, "remove 1 2");
    assert_eq!(run(&stage, "note three"), "Added note [3]");
}

#[test]
fn what_is_restored_is_told_and_nothing_is_dropped() {
    let stage = project::stage();
    let kept = json!([
        { "id": 3, "type": "file", "label": "src/a.rs", "path": "/p/src/a.rs" },
        { "id": 4, "type": "file", "label": "gone.rs", "path": "/p/gone.rs", "mark": 7 },
        { "id": 9, "type": "from-the-future", "label": "x", "payload": { "a": 1 } },
    ]);
    stage.seen.borrow_mut().state.insert(StateKey::Shared("contextItems".into()), kept.clone());
    stage.runtime.run_source("osm:mode/review", MODE).unwrap();
    Modes::new(&stage.runtime).enter("review").unwrap();
    assert_eq!(
        stage.printed(),
        ["Session restored: 3 items (2 files). 'reset' clears it.", "Missing: gone.rs [4]"]
    );
    run(&stage, "note more");
    let items = items(&stage);
    assert_eq!(items.as_array().unwrap()[..3], kept.as_array().unwrap()[..]);
    assert_eq!(items[3]["id"], 10);
}

#[test]
fn programs_get_json() {
    let stage = in_mode();
    run(&stage, "add src");
    let listed: Value = serde_json::from_str(&run(&stage, "list --json")).unwrap();
    assert_eq!((&listed[0]["id"], &listed[0]["files"]), (&json!(1), &json!(2)));
    let shown: Value = serde_json::from_str(&run(&stage, "show --json")).unwrap();
    assert_eq!(shown["stats"]["tokens"], 1204);
    let request: Value = serde_json::from_str(shown["text"].as_str().unwrap()).unwrap();
    assert_eq!(request["template"], "Review:\n{{ context }}");
    assert_eq!(
        (&request["data"]["strict"], &request["items"][0]["path"]),
        (&json!(true), &json!("/p/src"))
    );
}

#[test]
fn a_script_that_builds_its_own_prompt() {
    let stage = project::stage();
    stage
        .runtime
        .run_source(
            "osm:mode/own",
            "const { buildContext, contextManager } = require('osm:ctxutil');
             let items = [];
             const manager = contextManager({
                 getItems: () => items,
                 setItems: (list) => { items = list; },
                 nextIntegerId: require('osm:nextIntegerId'),
                 buildPrompt: async () => 'Look:\\n' + buildContext(items, { toTxtar: () => context.toTxtar() }),
             });
             tui.registerMode({ name: 'own', commands: manager.commands });",
        )
        .unwrap();
    Modes::new(&stage.runtime).enter("own").unwrap();
    for line in ["add src/b.rs src/a.rs", "note one", "remove 2"] {
        run(&stage, line);
    }
    insta::assert_snapshot!(run(&stage, "show"), @"
    Look:
    ### note: note

    ```
    …
    ```

    ### Files

    ````txtar
    -- src/b.rs --
    fn b() {}
    // ```
    ````

    │ 19 tokens · 15 lines · 93 B │
    ");
    assert_eq!(run(&stage, "copy"), "Copied │ 19 tokens · 15 lines · 93 B │");
    assert!(stage.seen.borrow().clipboard.starts_with("Look:\n### note: note"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the files hold, only the last line of the block ends it.
    #[test]
    fn no_file_breaks_out_of_its_block(text in "[`a\n ~-]{0,40}") {
        let stage = project::stage();
        let source = format!("require('osm:ctxutil').buildContext([], {{ toTxtar: () => {} }})", json!(text));
        let built = stage.value(&source);
        let built = built.as_str().unwrap();
        if text.trim().is_empty() {
            prop_assert_eq!(built, "");
        } else {
            let lines: Vec<&str> = built.lines().collect();
            prop_assert_eq!(&lines[..2], ["### Files", ""]);
            let fence = lines[2].strip_suffix("txtar").unwrap();
            let closes = |line: &&str| line.trim_start().starts_with(fence);
            prop_assert_eq!(lines[3..].iter().position(closes), Some(lines.len() - 4));
            let body = built.split_once("txtar\n").unwrap().1;
            prop_assert!(body.starts_with(text.as_str()));
        }
    }
}

#[test]
fn the_global_context() {
    let stage = project::stage();
    for (source, expected) in [
        ("context.toTxtar()", json!("")),
        (
            "context.addPath('src'); context.addPath('notes.md'); context.listPaths()",
            json!(["src", "notes.md"]),
        ),
        (
            "context.getStats()",
            json!({ "totalPaths": 2, "files": 3, "directories": 1, "totalSize": 35 }),
        ),
        ("context.filterPaths('*.rs')", json!(["src/a.rs", "src/b.rs"])),
        ("context.getFilesByExt('md')", json!(["notes.md"])),
        ("context.getPath('src').type", json!("directory")),
        ("context.getPath('src/a.rs').size", json!(10)),
        ("context.getPath('nothing')", json!(null)),
        ("context.refreshPath('notes.md'); 1", json!(1)),
        (
            "context.removePath('./notes.md'); context.removePath('nothing'); context.listPaths()",
            json!(["src"]),
        ),
        ("context.toTxtar().split('\\n')[0]", json!("-- src/a.rs --")),
        ("context.fromTxtar('x')[0].name", json!("a")),
        ("require('osm:tokenizer').count('a b c')", json!(3)),
    ] {
        assert_eq!(stage.value(source), expected, "{source}");
    }
    for (source, message) in [
        ("context.addPath('nothing')", "nothing: there is no such file"),
        ("context.addPath('')", "a path must be a non-empty string"),
        ("context.refreshPath('notes.md')", "notes.md was not added"),
    ] {
        let error = stage.error(source);
        assert_eq!(error.message, message, "{source}");
    }
    let error = Stage::new().error("context.addPath('a')");
    assert_eq!(error.message, "the module 'osm:context' is not available here");
}
