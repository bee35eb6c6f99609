//! Modes and their commands, as the program drives them.

use osm_script::{Dispatch, Document, Extension, Modes, Options};
use serde_json::json;

use crate::harness::Stage;

const COUNTER: &str = "
const n = Symbol('n');
const state = tui.createState('counter', { [n]: { defaultValue: 0 } });
tui.registerMode({
    name: 'counter',
    tui: { title: 'A counter', prompt: '(count) > ' },
    initialCommand: 'show',
    onEnter: () => output.print('entered'),
    onExit: async () => { await null; output.print('left'); },
    commands: () => ({
        up: {
            description: 'Counts',
            usage: 'up [by]',
            argCompleters: ['file', 'flag'],
            flagDefs: [{ name: 'fast', description: 'at once' }],
            handler: async (args) => { await null; state.set(n, state.get(n) + Number(args[0] ?? 1)); },
        },
        show: () => output.print(state.get(n)),
    }),
});
tui.registerMode({ name: 'other' });
tui.registerCommand({ name: 'shout', description: 'Shouts', handler: (args) => output.print(args.join(' ').toUpperCase()) });
";

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_mode_is_listed_entered_and_its_commands_run() {
    let stage = Stage::new();
    stage.runtime.run_source("osm:mode/counter", COUNTER).unwrap();
    let modes = Modes::new(&stage.runtime);
    assert_eq!(modes.current(), None);
    let list = modes.list().unwrap();
    assert_eq!(list.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), ["counter", "other"]);
    insta::assert_debug_snapshot!(list[0], @r#"
    ModeInfo {
        name: "counter",
        title: "A counter",
        prompt: "(count) > ",
        multiline: false,
        initial_command: Some(
            "show",
        ),
        completer: None,
        commands: [
            CommandInfo {
                name: "up",
                description: "Counts",
                usage: "up [by]",
                arg_completers: [
                    "file",
                    "flag",
                ],
                flags: [
                    FlagInfo {
                        name: "fast",
                        description: "at once",
                    },
                ],
                takes_text: false,
            },
            CommandInfo {
                name: "show",
                description: "",
                usage: "",
                arg_completers: [],
                flags: [],
                takes_text: false,
            },
        ],
    }
    "#);

    assert_eq!(modes.dispatch("up", &[], "").unwrap(), Dispatch::Unknown);
    modes.enter("counter").unwrap();
    assert_eq!(modes.current().unwrap().prompt, "(count) > ");
    assert_eq!(modes.dispatch("up", &words("5"), "5").unwrap(), Dispatch::Done);
    assert_eq!(modes.dispatch("up", &[], "").unwrap(), Dispatch::Done);
    assert_eq!(modes.dispatch("show", &[], "").unwrap(), Dispatch::Done);
    assert_eq!(modes.dispatch("shout", &words("a b"), "a b").unwrap(), Dispatch::Done);
    assert_eq!(modes.dispatch("nothing", &[], "").unwrap(), Dispatch::Unknown);
    modes.enter("other").unwrap();
    assert_eq!(modes.dispatch("up", &[], "").unwrap(), Dispatch::Unknown);
    modes.leave().unwrap();
    assert_eq!(stage.printed(), ["entered", "6", "A B", "left"]);
}

#[test]
fn globals_of_the_program_are_there_before_the_script() {
    let globals = vec![("GOAL_CONFIG".to_owned(), json!({ "name": "x" }))];
    let stage = Stage::with(Options { globals, ..Options::default() });
    stage.runtime.run_source("osm:mode/goal", "output.print(GOAL_CONFIG.name)").unwrap();
    assert_eq!(stage.printed(), ["x"]);
}

#[test]
fn an_extension_is_a_module_and_a_name_of_ours_stays_ours() {
    let extensions = vec![
        Extension { name: "theirs:tools", functions: &["double"] },
        Extension { name: "osm:argv", functions: &["parseArgv"] },
    ];
    let stage = Stage::with(Options { extensions, ..Options::default() });
    stage.seen.borrow_mut().answers.insert("double", |it| match it[0].as_i64() {
        Some(number) => Ok(json!(2 * number)),
        None => Err("double takes a number".into()),
    });
    assert_eq!(stage.value("require('theirs:tools').double(4)"), json!(8));
    let error = stage.error("require('theirs:tools').double('x')");
    assert_eq!(error.message, "double takes a number");
    assert_eq!(stage.value("require('osm:argv').parseArgv('a b')"), json!(["a", "b"]));
    let error = stage.error("__osm.native('theirs:tools', 'triple', '[4]')");
    assert_eq!(error.message, "theirs:tools has no function triple");
}

#[test]
fn a_completer_sees_what_is_being_typed() {
    let stage = Stage::new();
    stage.value(
        "tui.registerCompleter('all', (it) => [it.getText(), { text: it.getWordBeforeCursor(), description: 'word' }]);",
    );
    let document = Document { text: "ab cd\nef".into(), cursor: 4 };
    let offers = Modes::new(&stage.runtime).complete("all", &document).unwrap();
    assert_eq!((offers[1].text.as_str(), offers[1].description.as_deref()), ("c", Some("word")));
    let error = Modes::new(&stage.runtime).complete("none", &document).unwrap_err();
    assert_eq!(error.message, "unknown completer 'none'; registered: all");
}

#[test]
fn wrong_registrations_say_what_is_wrong() {
    let stage = Stage::new();
    for (source, message) in [
        ("tui.registerMode()", "the name is missing"),
        ("tui.registerMode({ name: '' })", "the name is missing"),
        ("tui.registerMode({ name: 'm', onEnter: 1 })", "the mode 'm': onEnter must be a function"),
        ("tui.registerMode({ name: 'm', commands: 'x' })", "commands must be an object"),
        ("tui.registerCommand()", "registerCommand takes { name, handler, … }"),
        (
            "tui.registerCommand({ name: 'a b', handler() {} })",
            "must be a string without spaces, not 'a b'",
        ),
        ("tui.registerCommand({ name: 'c' })", "the command 'c' needs a handler"),
        ("tui.registerCommand({ name: 'c', usage: 1, handler() {} })", "usage must be a string"),
        (
            "tui.registerCommand({ name: 'c', flagDefs: {}, handler() {} })",
            "flagDefs must be an array",
        ),
        ("tui.switchMode('x')", "unknown mode 'x'; modes: none"),
        ("tui.registerKeyBinding('', () => 1)", "the name of a key and a function"),
        ("tui.registerCompleter('x')", "a name and a function"),
        ("tui.setCompleter('x', 'y')", "unknown completer 'y'"),
        (
            "tui.registerCompleter('y', () => []); tui.setCompleter('x', 'y')",
            "no prompt or mode 'x'",
        ),
        ("tui.createPrompt()", "createPrompt takes"),
        ("tui.createPrompt({ handler: 1 })", "must be a function"),
        ("tui.runPrompt('x')", "unknown prompt 'x'"),
    ] {
        let error = stage.error(source);
        assert!(error.message.contains(message), "{source}: {error}");
    }
    stage.value("tui.registerMode({ name: 'async', commands: async () => ({}) })");
    let error = Modes::new(&stage.runtime).enter("async").unwrap_err();
    assert!(error.message.contains("a function that returns one (not a promise)"), "{error}");
    let stage = Stage::new();
    // What is made later is wrong when it is needed.
    stage.value("tui.registerMode({ name: 'm', commands: () => ({ c: {} }) })");
    let modes = Modes::new(&stage.runtime);
    let error = modes.enter("m").unwrap_err();
    assert_eq!(error.message, "the mode 'm': the command 'c' needs a handler function");
    assert_eq!(modes.current(), None);
}

#[test]
fn a_mode_that_cannot_be_entered_leaves_us_where_we_are() {
    let stage = Stage::new();
    stage
        .runtime
        .run_source(
            "m.js",
            "tui.registerMode({ name: 'a', onExit: () => output.print('a left') });
             tui.registerMode({ name: 'now', onEnter: () => { throw new Error('now') } });
             tui.registerMode({ name: 'later', onEnter: async () => { await null; throw new Error('later') } });
             tui.registerMode({ name: 'stuck', onExit: async () => { throw new Error('stuck') } });",
        )
        .unwrap();
    let modes = Modes::new(&stage.runtime);
    modes.enter("a").unwrap();
    for name in ["now", "later"] {
        assert_eq!(modes.enter(name).unwrap_err().message, name);
        assert_eq!(modes.current().unwrap().name, "a");
    }
    modes.enter("stuck").unwrap();
    assert_eq!(modes.enter("a").unwrap_err().message, "stuck");
    assert_eq!(modes.current().unwrap().name, "stuck");
    assert_eq!(modes.leave().unwrap_err().message, "stuck");
    assert_eq!(modes.current(), None);
    modes.resume("stuck").unwrap();
    assert_eq!(modes.current().unwrap().name, "stuck");
    assert!(modes.leave().is_err() && modes.resume("nowhere").is_err());
    modes.leave().unwrap();
}

#[test]
fn a_command_switches_modes_and_is_waited_for() {
    let stage = Stage::new();
    stage
        .runtime
        .run_source(
            "m.js",
            "tui.registerMode({ name: 'slow', onEnter: async () => { await new Promise((done) => setTimeout(done, 5)); output.print('in', tui.getCurrentMode()); } });
             tui.registerCommand({ name: 'go', handler: () => { tui.switchMode('slow'); output.print('went'); } });
             tui.registerMode({ name: 'broken', onEnter: async () => { throw new Error('broken') } });
             tui.registerCommand({ name: 'try', handler: async () => { try { await tui.switchMode('broken') } catch (e) { output.print('caught', e) } } });
             tui.registerCommand({ name: 'careless', handler: () => { tui.switchMode('broken') } });",
        )
        .unwrap();
    let modes = Modes::new(&stage.runtime);
    modes.dispatch("go", &[], "").unwrap();
    assert_eq!(stage.printed(), ["went", "in slow"]);
    modes.dispatch("try", &[], "").unwrap();
    assert_eq!(stage.printed(), ["caught Error: broken"]);
    assert_eq!(modes.dispatch("careless", &[], "").unwrap_err().message, "broken");
    assert_eq!(modes.current().unwrap().name, "slow");
}

#[test]
fn a_mode_is_replaced_by_its_name() {
    let stage = Stage::new();
    stage.value("tui.registerMode({ name: 'm', commands: { a() { output.print('old') } } })");
    let modes = Modes::new(&stage.runtime);
    modes.enter("m").unwrap();
    stage.value(
        "tui.registerMode({ name: 'm', commands: new Map([['a', () => output.print('new')]]) })",
    );
    modes.dispatch("a", &[], "").unwrap();
    assert_eq!(stage.printed(), ["new"]);
    assert_eq!(stage.value("tui.listModes()"), json!(["m"]));
}

#[test]
fn keys_and_the_wish_to_end() {
    let stage = Stage::new();
    stage.value("tui.registerKeyBinding('ctrl-g', async () => { await null; output.print('pressed'); tui.requestExit(); })");
    let modes = Modes::new(&stage.runtime);
    assert_eq!(modes.key_bindings().unwrap(), ["ctrl-g"]);
    assert!(!modes.press("ctrl-h").unwrap());
    assert!(!modes.exit_requested());
    assert!(modes.press("ctrl-g").unwrap());
    assert_eq!(stage.printed(), ["pressed"]);
    assert!(modes.exit_requested());
    assert_eq!(stage.value("tui.isExitRequested()"), json!(true));
    stage.value("tui.clearExitRequest()");
    assert!(!modes.exit_requested());
}

#[test]
fn a_prompt_reads_lines() {
    let stage = Stage::new();
    stage
        .seen
        .borrow_mut()
        .typed
        .extend(["one", "stop", "shout 'a b'", "", "nothing"].map(str::to_owned));
    stage
        .runtime
        .run_source(
            "p.js",
            "tui.registerCommand({ name: 'shout', handler: (args) => output.print(args[0].toUpperCase()) });
             const own = tui.createPrompt({ name: 'own', title: 'Say', prefix: 'own> ', handler: async (line) => { await null; output.print('got ' + line); return line !== 'stop'; } });
             const plain = tui.createPrompt({ prefix: 'all> ' });
             tui.registerCommand({ name: 'ask', handler: async () => { await tui.runPrompt(own); tui.runPrompt(plain); } });
             output.print(own, plain);",
        )
        .unwrap();
    let error = Modes::new(&stage.runtime).dispatch("ask", &[], "").unwrap_err();
    assert_eq!(error.message, "unknown command 'nothing'");
    assert_eq!(
        stage.printed(),
        [
            "own prompt-2",
            "Say",
            "own> one",
            "got one",
            "own> stop",
            "got stop",
            "all> shout 'a b'",
            "A B",
            "all> ",
            "all> nothing",
        ]
    );
    // Nobody types any more.
    stage.seen.borrow_mut().typed.extend(["last".to_owned()]);
    stage.value("tui.runPrompt('own')");
    assert_eq!(stage.printed(), ["Say", "own> last", "got last", "own> ^D"]);
}

#[test]
fn a_document_is_told_in_whole_characters() {
    let stage = Stage::new();
    stage.value(
        "tui.registerCompleter('tell', (it) => [[
             it.getText(), it.getTextBeforeCursor(), it.getTextAfterCursor(), it.getWordBeforeCursor(), it.getWordAfterCursor(),
             it.getCurrentLine(), it.getCurrentLineBeforeCursor(), it.getCurrentLineAfterCursor(),
             it.getCursorPositionCol(), it.getCursorPositionRow(), it.getLines().join('|'), it.getLineCount(), it.onLastLine(),
             it.getCharRelativeToCursor(0), it.getCharRelativeToCursor(1), it.getCharRelativeToCursor(99),
         ].join(';')])",
    );
    let modes = Modes::new(&stage.runtime);
    for (text, cursor, told) in [
        ("", 0, ";;;;;;;;0;0;;1;true;;;"),
        (
            "add 🦀x y",
            5,
            "add 🦀x y;add 🦀;x y;🦀;x;add 🦀x y;add 🦀;x y;5;0;add 🦀x y;1;true;🦀;x;",
        ),
        ("a\nbc\nd", 3, "a\nbc\nd;a\nb;c\nd;b;c;bc;b;c;1;1;a|bc|d;3;false;b;c;"),
        ("ab", 99, "ab;ab;;ab;;ab;ab;;2;0;ab;1;true;b;;"),
    ] {
        let document = Document { text: text.into(), cursor };
        assert_eq!(
            modes.complete("tell", &document).unwrap()[0].text,
            told,
            "{text:?} at {cursor}"
        );
    }
    stage.value("tui.registerMode({ name: 'm' }); tui.setCompleter('m', 'tell'); tui.registerCompleter('bad', () => [7])");
    assert_eq!(modes.list().unwrap()[0].completer.as_deref(), Some("tell"));
    assert_eq!(modes.completers().unwrap(), ["tell", "bad"]);
    let error = modes.complete("bad", &Document::default()).unwrap_err();
    assert!(error.message.contains("a completer must return strings"), "{error}");
}
