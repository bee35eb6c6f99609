//! Scripts in the style of those that are written for the upstream tool, run as they are.

use osm_script::words::text_after_first;
use osm_script::{Dispatch, Modes};

use crate::harness::Stage;
use crate::project;

/// Runs a script and then lines, as typed. What they print.
fn session(stage: &Stage, script: &str, lines: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script.js");
    std::fs::write(&file, script).unwrap();
    stage.runtime.run(&file).unwrap_or_else(|error| panic!("{error}"));
    let modes = Modes::new(&stage.runtime);
    for line in lines {
        stage.seen.borrow_mut().printed.push(format!("> {line}"));
        let mut words = line.split(' ').map(str::to_owned);
        let command = words.next().unwrap();
        let said =
            match modes.dispatch(&command, &words.collect::<Vec<_>>(), text_after_first(line)) {
                Ok(Dispatch::Done) => continue,
                Ok(Dispatch::Unknown) => format!("unknown: {command}"),
                Err(error) => format!("Error: {}", error.message),
            };
        stage.seen.borrow_mut().printed.push(said);
    }
    stage.printed().join("\n")
}

#[test]
fn a_script_of_globals_only() {
    let told = session(
        &Stage::new(),
        r#"#!/usr/bin/env osm script
ctx.logf("args: %d", args.length);
log.info("starting", { n: 1 });
var counter = 0;
tui.registerCommand({
    name: "count",
    description: "Counts",
    usage: "count [n]",
    argCompleters: ["file"],
    flagDefs: [{ name: "quiet", description: "say nothing" }],
    handler: function (args) {
        counter += args.length ? parseInt(args[0], 10) : 1;
        output.printf("count: %d", counter);
    }
});
tui.registerMode({
    name: "demo",
    tui: { title: "Demo", prompt: "[demo]> " },
    onEnter: function () { output.print("Welcome to demo"); },
    onExit: function () { output.print("Bye"); },
    commands: function () {
        return {
            hello: { description: "Greets", handler: function (args) { output.print("Hello " + (args[0] || "world")); } },
            leave: { description: "Ends", handler: function () { tui.requestExit(); } },
            later: { description: "Waits", handler: async function () { await new Promise(r => setTimeout(r, 1)); output.print("later"); } },
        };
    }
});
tui.switchMode("demo");
output.print("modes: " + tui.listModes().join(",") + " in " + tui.getCurrentMode());
"#,
        &["count 4", "count", "hello", "hello ada", "later", "nothing", "leave"],
    );
    assert_eq!(
        told,
        "Welcome to demo\nmodes: demo in demo\n> count 4\ncount: 4\n> count\ncount: 5\n\
         > hello\nHello world\n> hello ada\nHello ada\n> later\nlater\n> nothing\nunknown: nothing\n> leave"
    );
}

const REVIEW: &str = r#"
const { buildContext, contextManager } = require("osm:ctxutil");
const nextIntegerId = require("osm:nextIntegerID");
const shared = require("osm:sharedStateSymbols");
const { formatNum } = require("osm:format");

const COMMAND_NAME = "my-review";
const StateKeys = { focus: Symbol("focus") };
const state = tui.createState(COMMAND_NAME, {
    [shared.contextItems]: { defaultValue: [] },
    [StateKeys.focus]: { defaultValue: "everything" },
});

function buildPrompt() {
    return "Focus: " + state.get(StateKeys.focus) + "\n" +
        buildContext(state.get(shared.contextItems), { toTxtar: () => context.toTxtar() });
}

function buildCommands(state) {
    const ctxmgr = contextManager({
        getItems: () => state.get(shared.contextItems) || [],
        setItems: (v) => state.set(shared.contextItems, v),
        nextIntegerId: nextIntegerId,
        buildPrompt: buildPrompt,
    });
    return {
        ...ctxmgr.commands,
        note: {
            ...ctxmgr.commands.note,
            usage: "note [text|--goals]",
            handler: function (args) {
                if (args[0] === "--goals") {
                    output.print("goals: a, b");
                    return;
                }
                return ctxmgr.commands.note.handler(args);
            },
        },
        focus: {
            description: "Set the focus",
            handler: function (args) {
                if (args.length === 0) { output.print("Current focus: " + state.get(StateKeys.focus)); return; }
                state.set(StateKeys.focus, args.join(" "));
                output.print("Focus set to: " + args.join(" "));
            },
        },
        canned: {
            handler: () => output.print("Added [" + ctxmgr.addItem("note", "canned", "Mind the tests.") + "] of " + formatNum(ctxmgr.getItems().length)),
        },
    };
}

ctx.run("Enter", function () {
    tui.registerMode({
        name: COMMAND_NAME,
        tui: { title: "Review", prompt: "(my-review) > " },
        onEnter: function () { output.print("Type 'help' for commands."); },
        commands: () => buildCommands(state),
    });
    tui.switchMode(COMMAND_NAME);
});
"#;

#[test]
fn a_mode_over_the_shared_context() {
    let stage = project::stage();
    stage.seen.borrow_mut().edited.push_back("make 'all of it'\n".into());
    let told = session(
        &stage,
        REVIEW,
        &[
            "add src/a.rs",
            "note --goals",
            "note check it",
            "canned",
            "focus",
            "focus the errors",
            "exec make",
            "edit 4",
            "list",
            "remove 2",
            "show",
            "copy",
        ],
    );
    insta::assert_snapshot!(told, @r#"
    Type 'help' for commands.
    > add src/a.rs
    Added file: src/a.rs [1]
    > note --goals
    goals: a, b
    > note check it
    Added note [2]
    > canned
    Added [3] of 3
    > focus
    Current focus: everything
    > focus the errors
    Focus set to: the errors
    > exec make
    Added exec: make [4] (run when the prompt is built)
    > edit 4
    Updated exec specification [4]
    > list
    [1] [file] src/a.rs (1,000 tokens, 1 line, 10 B)
    [2] [note] check it (1 line, 8 B)
    [3] [note] canned: Mind the tests. (1 line, 15 B)
    [4] [lazy-exec] make 'all of it' (run when the prompt is built)
    Total: 4 items (1,000 of 1,000 tokens, 3 lines, 33 B), and 1 run when the prompt is built
    > remove 2
    Removed [2]
    > show
    Focus: the errors
    ### note: canned

    ```
    …
    ```

    ### lazy-exec: make 'all of it'

    ```
    …
    ```

    ### Files

    ```txtar
    -- src/a.rs --
    fn a() {}
    ```

    │ 28 tokens · 20 lines · 144 B │
    > copy
    Copied │ 28 tokens · 20 lines · 144 B │
    "#);
}

#[test]
fn a_goal_that_the_program_describes() {
    let stage = Stage::with(osm_script::Options {
        extensions: vec![osm_script::CONTEXT],
        globals: vec![(
            "GOAL_CONFIG".to_owned(),
            serde_json::json!({
                "name": "doc-generator", "tuiPrompt": "(docs) > ", "stateVars": { "type": "api" },
                "commands": [{ "name": "type", "handler": "function (args) { state.set(stateKeys.type, args[0]); output.print('set to ' + args[0]); }" }],
            }),
        )],
        ..osm_script::Options::default()
    });
    let told = session(
        &stage,
        r#"
const stateKeys = {};
const definitions = {};
for (const [name, value] of Object.entries(GOAL_CONFIG.stateVars)) {
    stateKeys[name] = Symbol(name);
    definitions[stateKeys[name]] = { defaultValue: value };
}
const state = tui.createState(GOAL_CONFIG.name, definitions);
const commands = {};
for (const each of GOAL_CONFIG.commands) {
    const make = new Function("output", "tui", "state", "stateKeys", "return (" + each.handler + ");");
    commands[each.name] = { handler: make(output, tui, state, stateKeys) };
}
commands.show = { handler: () => output.print(require("osm:template").render("{{ type | upper }}", { type: state.get(stateKeys.type) })) };
tui.registerMode({ name: GOAL_CONFIG.name, tui: { prompt: GOAL_CONFIG.tuiPrompt }, initialCommand: "show", commands });
tui.switchMode(GOAL_CONFIG.name);
"#,
        &["show", "type readme", "show"],
    );
    assert_eq!(told, "> show\nAPI\n> type readme\nset to readme\n> show\nREADME");
    assert_eq!(
        Modes::new(&stage.runtime).current().unwrap().initial_command.as_deref(),
        Some("show")
    );
}
