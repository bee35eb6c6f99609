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
