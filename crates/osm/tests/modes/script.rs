//! `osm script`.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use insta::assert_snapshot;

use crate::harness::Env;

fn script(env: &Env, text: &str, arguments: &[&str]) -> crate::harness::Run {
    std::fs::write(env.work().join("it.js"), text).unwrap();
    env.run(&[&["script"], arguments].concat())
}

#[test]
fn it_runs_to_its_end() {
    let env = Env::new();
    let text = "setTimeout(() => output.print('later'), 5); output.print(args.join('|'));";
    let run = script(&env, text, &["it.js", "a b", "--test", "-c"]);
    assert_eq!(run.good(), "a b|--test|-c\nlater\n");
}

/// Also options that osm has, spelled in any way, and `--`.
#[test]
fn everything_after_the_file_is_its_own() {
    let env = Env::new();
    let text = "output.print(args.join('|'))";
    for words in [
        &["--test", "-c", "X"][..],
        &["-test", "-session", "x", "--json", "--color=always"],
        &["--help", "--", "-i"],
        &["-V", ""],
    ] {
        let run = script(&env, text, &[&["it.js"], words].concat());
        assert_eq!(run.good(), format!("{}\n", words.join("|")));
    }
}

#[test]
fn what_it_keeps_is_saved() {
    let env = Env::new();
    let text = "const s = Symbol('n'); const state = tui.createState('it', {[s]: {defaultValue: 0}});\n\
                state.set(s, state.get(s) + 1); output.print(String(state.get(s)));";
    assert_eq!(script(&env, text, &["it.js"]).good(), "1\n");
    assert_eq!(script(&env, text, &["it.js"]).good(), "2\n");
}

#[test]
fn one_that_fails_shows_its_line() {
    let env = Env::new();
    assert_snapshot!(script(&env, "const a = 1;\n  a.b.c;\n", &["it.js"]).transcript(), @"
    --- stderr
    osm: error: LAB/tree/it.js:2:3: TypeError: cannot read property 'c' of undefined
          a.b.c;
          ^
    --- exit Some(1)
    ");
    assert_snapshot!(script(&env, "", &["none.js"]).transcript(), @r#"
    --- stderr
    osm: error: script not found: LAB/tree/none.js
    osm: hint: check the path; it is relative to the working directory
    --- exit Some(4)
    "#);
}

#[test]
fn tests() {
    let env = Env::new();
    let good = "ctx.run('sums', () => { ctx.log('adding'); });";
    assert_snapshot!(script(&env, good, &["--test", "it.js"]).transcript(), @r#"
    [script/sums] adding
    [script] Sub-test sums passed
    "#);
    let bad = "ctx.run('sums', () => { ctx.error('wrong'); });";
    assert_snapshot!(script(&env, bad, &["--test", "it.js"]).transcript(), @r#"
    [script] Sub-test sums failed
    --- stderr
    [script/sums] ERROR: wrong
    osm: error: test context failed
    --- exit Some(1)
    "#);
}

#[test]
fn a_mode_is_entered_if_somebody_gives_commands() {
    let env = Env::new();
    let text = "tui.registerMode({name: 'm', commands: {hi: () => output.print('hi')}}); output.print('loaded');";
    assert_eq!(script(&env, text, &["it.js"]).good(), "loaded\n", "nobody can type");
    assert_eq!(script(&env, text, &["-c", "hi", "it.js"]).good(), "loaded\nhi\n");
}

/// After a restart, `context` has the files of the session's items; one that is missing stays.
#[test]
fn the_context_comes_back_after_a_restart() {
    let env = Env::new();
    for name in ["a.txt", "gone.txt", "late.txt"] {
        std::fs::write(env.work().join(name), format!("this is {name}\n")).unwrap();
    }
    env.run(&["code-review", "-c", "add a.txt gone.txt", "-c", "note n"]).said(0, &[]);
    #[expect(clippy::disallowed_methods, reason = "the test put it there")]
    std::fs::remove_file(env.work().join("gone.txt")).unwrap();
    let text = "output.print(context.listPaths().join(' ')); output.print(context.toTxtar());";
    let run = script(&env, text, &["it.js"]);
    run.said(0, &["a.txt gone.txt\n", "-- a.txt --\nthis is a.txt\n", "Missing: gone.txt"]);
    assert_eq!(run.stderr.matches("gone.txt").count(), 1, "{}", run.stderr);
    let items = env.run(&["session", "export"]).good();
    assert!(items.contains("gone.txt"), "it is kept: {items}");

    // What a script stores, and what another process adds, is followed, too.
    let text = "const shared = require('osm:sharedStateSymbols');\n\
        const state = tui.createState('m', { [shared.contextItems]: { defaultValue: [] } });\n\
        output.print('at first: ' + context.listPaths().join(' '));\n\
        state.set(shared.contextItems, [{ id: 1, type: 'file', label: 'late.txt' }]);\n\
        output.print('then: ' + context.listPaths().join(' '));";
    script(&env, text, &["it.js"]).said(0, &["at first: a.txt gone.txt\n", "then: late.txt\n"]);
}

/// The example of the document on storage, and a mode whose contract has changed.
#[test]
fn a_value_of_another_kind_gives_way_and_stays_in_the_history() {
    let env = Env::new();
    let text = "const shared = require('osm:sharedStateSymbols');\n\
        const counter = Symbol('my-mode:localCounter');\n\
        const state = tui.createState('my-mode', { [shared.contextItems]: { defaultValue: [] }, counter });\n\
        tui.registerMode({ name: 'my-mode', commands: function () { return {\n\
            addItem: ({ state }) => {\n\
                const items = state.get(shared.contextItems);\n\
                items.push('new item');\n\
                state.set(shared.contextItems, items);\n\
            },\n\
            show: (args) => output.print(JSON.stringify([...args, state.get(shared.contextItems)])),\n\
        }; } });";
    let run = script(&env, text, &["-c", "addItem", "-c", "show x", "it.js"]);
    assert_eq!(run.good(), "[\"x\",[\"new item\"]]\n");

    // Another script takes the same key for a text.
    let other = "const shared = require('osm:sharedStateSymbols');\n\
        const state = tui.createState('other', { [shared.contextItems]: { defaultValue: 'none' } });\n\
        output.print(state.get(shared.contextItems));";
    let run = script(&env, other, &["it.js"]);
    run.said(
        0,
        &["none\n", "Warning: the shared key 'contextItems'", "osm has stored the default"],
    );
    assert_eq!(run.stderr.matches("Warning").count(), 1, "{}", run.stderr);
    let run = script(&env, other, &["it.js"]);
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("none\n", ""), "told once");
    let export: serde_json::Value =
        serde_json::from_str(&env.run(&["session", "export"]).good()).unwrap();
    assert_eq!(export["shared_state"]["contextItems"], "none");
    let states: Vec<_> = export["history"].as_array().unwrap().iter().collect();
    let kept = states.iter().any(|it| it["finalState"]["shared"]["contextItems"][0] == "new item");
    assert!(kept, "{states:#?}");
}

/// The old value stays in the history also if no command has put it there.
#[test]
fn a_value_that_no_command_made_stays_in_the_history_too() {
    let env = Env::new();
    let document = r#"{"export":"1.0.0","session_id":"ex--test_16","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","shared_state":{},"script_state":{"other":{"n":"seven"}},"history":[]}"#;
    std::fs::write(env.work().join("export.json"), document).unwrap();
    env.run(&["session", "import", "-y", "--as", "test", "export.json"]).said(0, &[]);
    // A command without a state in the history, as other tools write it.
    let other = "const n = Symbol('n'); const state = tui.createState('other', { [n]: { defaultValue: 7 } });\n\
        output.print(String(state.get(n)));";
    script(&env, other, &["it.js"]).said(0, &["7\n", "'n' of 'other'"]);
    let export = env.run(&["session", "export"]).good();
    assert!(export.contains("\"seven\""), "{export}");
}
