//! Modes and their commands, as the program drives them.

use osm_script::{Dispatch, Document, Modes, Options};
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
            },
            CommandInfo {
                name: "show",
                description: "",
                usage: "",
                arg_completers: [],
                flags: [],
            },
        ],
    }
    "#);

    assert_eq!(modes.dispatch("up", &[]).unwrap(), Dispatch::Unknown);
    modes.enter("counter").unwrap();
    assert_eq!(modes.current().unwrap().prompt, "(count) > ");
    assert_eq!(modes.dispatch("up", &words("5")).unwrap(), Dispatch::Done);
    assert_eq!(modes.dispatch("up", &[]).unwrap(), Dispatch::Done);
    assert_eq!(modes.dispatch("show", &[]).unwrap(), Dispatch::Done);
    assert_eq!(modes.dispatch("shout", &words("a b")).unwrap(), Dispatch::Done);
    assert_eq!(modes.dispatch("nothing", &[]).unwrap(), Dispatch::Unknown);
    modes.enter("other").unwrap();
    assert_eq!(modes.dispatch("up", &[]).unwrap(), Dispatch::Unknown);
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
fn a_completer_sees_what_is_being_typed() {
    let stage = Stage::new();
    stage.value(
        "tui.registerCompleter('all', (it) => [it.getText(), { text: it.getWordBeforeCursor(), description: 'word' }]);",
    );
    let document = Document { text: "ab cd\nef".into(), cursor: 4 };
    let offers = Modes::new(&stage.runtime).complete("all", &document).unwrap();
    assert_eq!((offers[1].text.as_str(), offers[1].description.as_deref()), ("c", Some("word")));
    let error = Modes::new(&stage.runtime).complete("none", &document).unwrap_err();
    assert_eq!(error.message, "there is no completer 'none'; there are: all");
}
