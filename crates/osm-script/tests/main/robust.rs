//! Commands that go wrong in every way: a clear error, and the next command works.

use std::time::Duration;

use osm_script::{Dispatch, Kind, Limits, Modes, Options};

use crate::harness::Stage;

/// A mode with one command that goes wrong and one that works.
fn mode(body: &str) -> String {
    format!(
        "const kept = Symbol('kept');
         const state = tui.createState('bad', {{ [kept]: {{ defaultValue: 0 }} }});
         tui.registerMode({{ name: 'bad', commands: {{
             bad: {{ handler: (args) => {{ {body} }} }},
             worse: {{ handler: async (args) => {{ await null; {body} }} }},
             good: {{ handler: () => {{ state.set(kept, state.get(kept) + 1); output.print('good', state.get(kept)); }} }},
         }} }});"
    )
}

fn limits(time: Option<Duration>) -> Options {
    let limits = Limits { memory: 48 << 20, stack: 512 << 10, time };
    Options { limits, ..Options::default() }
}

#[test]
fn whatever_a_command_does_the_next_one_works() {
    for (body, kind, message) in [
        ("for (;;) {}", Kind::TimedOut, "exceeded its time limit"),
        ("try { for (;;) {} } finally { for (;;) {} }", Kind::TimedOut, "exceeded its time limit"),
        ("/(a+)+$/.test('a'.repeat(40) + 'b')", Kind::TimedOut, "exceeded its time limit"),
        (
            "const all = []; for (;;) all.push(new Array(1e5).fill(1.5))",
            Kind::OutOfMemory,
            "exceeded its memory limit",
        ),
        ("(function down() { return 1 + down(); })()", Kind::Thrown, "stack"),
        ("throw 'only a text'", Kind::Thrown, "only a text"),
        ("throw { code: 7 }", Kind::Thrown, "{\"code\":7}"),
        ("throw null", Kind::Thrown, "null"),
        ("nonsense()", Kind::Thrown, "nonsense is not defined"),
        ("new Function('let = = 2')", Kind::Thrown, ""),
        ("JSON.parse('{')", Kind::Thrown, ""),
        ("return Promise.reject(new Error('rejected'))", Kind::Thrown, "rejected"),
        ("Promise.reject('nobody waits')", Kind::Thrown, "nobody waits"),
        ("return new Promise(() => {})", Kind::Thrown, "never settles"),
        (
            "return new Promise((done) => setTimeout(() => { throw new Error('in a timer') }, 1))",
            Kind::Thrown,
            "in a timer",
        ),
        ("const a = {}; a.a = a; state.set(kept, a)", Kind::Thrown, "it contains itself"),
        ("state.set(kept, undefined)", Kind::Thrown, "it is undefined"),
        ("tui.switchMode('nowhere')", Kind::Thrown, "unknown mode 'nowhere'; modes: bad"),
        ("require('./nothing')", Kind::Thrown, "module not found: './nothing'"),
        ("require('osm:template').render('{{ x', {})", Kind::Thrown, "template:1: syntax error"),
    ] {
        let time = (kind == Kind::TimedOut).then_some(Duration::from_millis(200));
        let stage = Stage::with(limits(time));
        stage.runtime.run_source("bad.js", &mode(body)).unwrap();
        let modes = Modes::new(&stage.runtime);
        modes.enter("bad").unwrap();
        for command in ["bad", "worse"] {
            let error = modes.dispatch(command, &[], "").expect_err(body);
            assert_eq!(error.kind, kind, "{body}: {error:?}");
            assert!(error.message.contains(message), "{body}: {error:?}");
        }
        assert_eq!(modes.dispatch("good", &[], "").unwrap(), Dispatch::Done, "after {body}");
        assert_eq!(stage.printed(), ["good 1"], "after {body}");
        assert_eq!(modes.current().map(|it| it.name).as_deref(), Some("bad"), "after {body}");
    }
}

#[test]
fn a_script_with_a_wrong_text_says_where() {
    let stage = Stage::with(limits(None));
    let error =
        stage.runtime.run_source("mine.js", "let fine = 1;\ntui.registerMode({\n").unwrap_err();
    assert_eq!(error.name, "SyntaxError");
    assert_eq!(error.place.unwrap().line, 2);
    assert_eq!(Modes::new(&stage.runtime).list().unwrap(), []);
    stage.runtime.run_source("mine.js", "tui.registerMode({ name: 'fine' })").unwrap();
    assert_eq!(Modes::new(&stage.runtime).list().unwrap().len(), 1);
}

#[test]
fn a_command_names_the_line_that_failed() {
    let stage = Stage::new();
    stage
        .runtime
        .run_source(
            "mine.js",
            "tui.registerCommand({\n  name: 'x',\n  handler() {\n    null.y;\n  },\n});",
        )
        .unwrap();
    let error = Modes::new(&stage.runtime).dispatch("x", &[], "").unwrap_err();
    assert!(error.to_string().starts_with("mine.js:4:"), "{error}");
    assert_eq!(error.place.unwrap().excerpt.as_deref(), Some("    null.y;"));
}

#[test]
fn what_the_host_does_is_no_computing() {
    let stage = Stage::with(limits(Some(Duration::from_millis(300))));
    stage.runtime.run_source("slow.js", "tui.registerCommand({ name: 'x', handler: () => { require('osm:time').sleep(400); for (let i = 0; i < 1e5; i++); output.print('done'); } })").unwrap();
    assert_eq!(Modes::new(&stage.runtime).dispatch("x", &[], "").unwrap(), Dispatch::Done);
    assert_eq!(stage.printed(), ["done"]);
}

#[test]
fn a_timer_that_goes_on_does_not_hold_a_command_up() {
    let stage = Stage::new();
    stage
        .runtime
        .run_source(
            "t.js",
            "tui.registerCommand({ name: 'x', handler: () => { setInterval(() => {}, 1); } })",
        )
        .unwrap();
    let modes = Modes::new(&stage.runtime);
    assert_eq!(modes.dispatch("x", &[], "").unwrap(), Dispatch::Done);
    assert_eq!(modes.current(), None);
    assert_eq!(modes.dispatch("x", &[], "").unwrap(), Dispatch::Done);
}

#[test]
fn a_command_is_interrupted_and_the_next_one_works() {
    let stage = Stage::new();
    stage.runtime.run_source("bad.js", &mode("for (;;) {}")).unwrap();
    let modes = Modes::new(&stage.runtime);
    modes.enter("bad").unwrap();
    stage.runtime.interrupter().interrupt();
    assert_eq!(modes.dispatch("bad", &[], "").unwrap_err().kind, Kind::Interrupted);
    stage.runtime.interrupter().interrupt();
    stage.runtime.interrupter().clear();
    assert_eq!(modes.dispatch("good", &[], "").unwrap(), Dispatch::Done);
    assert_eq!(stage.printed(), ["good 1"]);
}
