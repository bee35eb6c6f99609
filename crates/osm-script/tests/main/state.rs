//! State that outlives a script, and the contracts that it keeps.

use osm_script::{Modes, StateKey};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::Stage;

fn own(command: &str, name: &str) -> StateKey {
    StateKey::Script { command: command.into(), name: name.into() }
}

fn shared(name: &str) -> StateKey {
    StateKey::Shared(name.into())
}

/// A state with a shared symbol and one of its own.
const STATE: &str = "
const shared = require('osm:sharedStateSymbols');
const own = Symbol('own');
const state = tui.createState('mine', {
    [shared.contextItems]: { defaultValue: [] },
    [own]: { defaultValue: { n: 1 } },
});
";

#[test]
fn each_symbol_has_its_zone_and_defaults_are_stored_where_nothing_is() {
    let stage = Stage::new();
    stage.seen.borrow_mut().state.insert(own("mine", "own"), json!({ "n": 5 }));
    stage.value(STATE);
    assert_eq!(
        stage.value("[state.get(shared.contextItems), state.get(own)]"),
        json!([[], { "n": 5 }])
    );
    stage.value("state.set(own, { n: 6 }); state.set(shared.contextItems, [1]);");
    let seen = stage.seen.borrow();
    assert_eq!(
        seen.state.clone().into_iter().collect::<Vec<_>>(),
        [(shared("contextItems"), json!([1])), (own("mine", "own"), json!({ "n": 6 }))]
    );
}

#[test]
fn a_symbol_is_shared_by_identity_and_not_by_its_description() {
    let stage = Stage::new();
    stage.value(
        "const shared = require('osm:sharedStateSymbols');
         const fake = Symbol(shared.contextItems.description);
         const own = Symbol('contextItems');
         const more = shared.define('theirs.more');
         const state = tui.createState('x', { [shared.contextItems]: { defaultValue: [] }, [fake]: { defaultValue: 1 }, [own]: { defaultValue: 2 }, [more]: {} });
         state.set(more, 'm');",
    );
    let seen = stage.seen.borrow();
    let keys: Vec<&StateKey> = seen.state.keys().collect();
    let fake = own("x", "osm:shared/contextItems");
    assert_eq!(
        keys,
        [&shared("contextItems"), &shared("theirs.more"), &own("x", "contextItems"), &fake]
    );
}

#[test]
fn a_symbol_may_stand_behind_a_name() {
    let stage = Stage::new();
    let value = stage.value(
        "const localCounter = Symbol('code-review:localCounter');
         const shared = require('osm:sharedStateSymbols');
         const state = tui.createState('code-review', {
             [shared.contextItems]: { defaultValue: [] },
             localCounter,
             ignored: { defaultValue: 7 },
         });
         const before = state.get(localCounter);
         state.set(localCounter, (before ?? 0) + 1);
         [before, state.get(localCounter)]",
    );
    assert_eq!(value, json!([null, 1]));
    let key = own("code-review", "code-review:localCounter");
    assert_eq!(
        stage.seen.borrow().state.keys().collect::<Vec<_>>(),
        [&shared("contextItems"), &key]
    );
}

#[test]
fn what_is_got_is_a_copy() {
    let stage = Stage::new();
    stage.value(STATE);
    let value = stage.value("const it = state.get(own); it.n = 99; [state.get(own).n, (state.set(own, it), state.get(own).n)]");
    assert_eq!(value, json!([1, 99]));
    // Nor is a default what a script still holds.
    let value = stage.value(
        "const list = []; const key = Symbol('list'); const other = tui.createState('other', { [key]: { defaultValue: list } });
         list.push(1); other.reset(key); other.get(key)",
    );
    assert_eq!(value, json!([]));
}

#[test]
fn wrong_declarations_say_what_is_wrong() {
    let stage = Stage::new();
    stage.value(STATE);
    for (source, message) in [
        ("tui.createState('', {})", "the name of a state must be a string without a colon, not ''"),
        ("tui.createState('a:b', {})", "without a colon, not 'a:b'"),
        ("tui.createState(7, {})", "without a colon, not 7"),
        ("tui.createState('a')", "the definitions must be an object"),
        ("tui.createState('a', { [Symbol()]: {} })", "a symbol needs a description"),
        ("tui.createState('a', { [Symbol('')]: {} })", "a symbol needs a description"),
        (
            "tui.createState('a', { [Symbol('x')]: {}, [Symbol('x')]: {} })",
            "two symbols have the description 'x'",
        ),
        (
            "tui.createState('a', { [Symbol('x')]: { defaultValue: NaN } })",
            "the default of 'x' of 'a' cannot be stored: it is NaN",
        ),
        (
            "state.get(Symbol('own'))",
            "the state of 'mine' has no Symbol(own); its symbols: Symbol(osm:shared/contextItems), Symbol(own)",
        ),
        ("state.set('own', 1)", "the state of 'mine' has no 'own'"),
        ("state.observe(own)", "observe takes a symbol and a function"),
        ("tui.onStateChange(1)", "onStateChange takes a function"),
    ] {
        let error = stage.error(source);
        assert_eq!(error.name, "TypeError", "{source}");
        assert!(error.message.contains(message), "{source}: {error}");
    }
}

#[test]
fn what_json_cannot_hold_is_refused_with_its_place() {
    let stage = Stage::new();
    stage.value(STATE);
    for (source, message) in [
        ("undefined", "'own' of 'mine' cannot be stored: it is undefined; use null"),
        ("{ a: [1, () => 1] }", "'own' of 'mine'.a[1] cannot be stored: it is a function"),
        ("{ a: { 'b c': Symbol('x') } }", ".a[\"b c\"] cannot be stored: it is a symbol"),
        ("[NaN]", "[0] cannot be stored: it is NaN"),
        ("[-Infinity]", "it is -Infinity"),
        ("{ big: 1n }", ".big cannot be stored: it is a bigint"),
        ("{ a: undefined }", ".a cannot be stored: it is undefined"),
        ("[1, , 2]", "[1] cannot be stored: it is undefined"),
        (
            "(() => { const a = { b: {} }; a.b.c = a; return a; })()",
            ".b.c cannot be stored: it contains itself",
        ),
        ("new Map()", "it is a Map; only plain objects and arrays can be stored"),
        ("{ e: new Error('x') }", ".e cannot be stored: it is a Error"),
        ("{ [Symbol('k')]: 1 }", "its key Symbol(k) is not a string"),
        ("new Date(NaN)", "an invalid Date"),
        ("'\\ud800'", "lone surrogate"),
        (
            "(() => { let a = []; for (let i = 0; i < 200; i++) a = [a]; return a; })()",
            "nested more than 100 deep",
        ),
        (
            "(() => { let a = []; for (let i = 0; i < 1e5; i++) a = [a]; return a; })()",
            "nested more than 100 deep",
        ),
        ("{ get a() { throw new TypeError('a getter') } }", "a getter"),
    ] {
        let error = stage.error(&format!("state.set(own, {source})"));
        assert_eq!(error.name, "TypeError", "{source}");
        assert!(error.message.contains(message), "{source}: {error}");
        assert_eq!(stage.value("state.get(own)"), json!({ "n": 1 }), "after {source}");
    }
    for (source, kept) in [
        ("{ at: new Date(0) }", json!({ "at": "1970-01-01T00:00:00.000Z" })),
        (
            "JSON.parse('{\"__proto__\": {\"x\": 1}}')",
            serde_json::from_str("{\"__proto__\": {\"x\": 1}}").unwrap(),
        ),
        ("(() => { const a = {}; return { b: a, c: a }; })()", json!({ "b": {}, "c": {} })),
        ("Object.assign(Object.create(null), { a: null })", json!({ "a": null })),
    ] {
        assert_eq!(
            stage.value(&format!("state.set(own, {source}); state.get(own)")),
            kept,
            "{source}"
        );
    }
}

#[test]
fn a_value_of_another_kind_breaks_the_contract_and_that_is_told_once() {
    for (kept, preset, starts_afresh) in [
        (json!("text"), "[]", true),
        (json!({}), "[]", true),
        (json!([]), "{}", true),
        (json!(1), "'a'", true),
        (json!(true), "1", true),
        (json!(null), "[]", false),
        (json!([1]), "[]", false),
        (json!([1]), "null", false),
        (json!(2), "1", false),
    ] {
        let stage = Stage::new();
        stage.seen.borrow_mut().state.insert(shared("contextItems"), kept.clone());
        let value = stage.value(&format!(
            "const s = require('osm:sharedStateSymbols');
             const one = tui.createState('one', {{ [s.contextItems]: {{ defaultValue: {preset} }} }});
             const two = tui.createState('two', {{ [s.contextItems]: {{ defaultValue: {preset} }} }});
             [one.get(s.contextItems), {preset}]"
        ));
        let expected = if starts_afresh { &value[1] } else { &kept };
        assert_eq!(&value[0], expected, "{kept} for {preset}");
        let seen = stage.seen.borrow();
        assert_eq!(seen.complained.len(), usize::from(starts_afresh), "{kept} for {preset}");
        if starts_afresh {
            assert!(
                seen.complained[0].contains("the shared key 'contextItems'"),
                "{:?}",
                seen.complained
            );
        }
    }
}

#[test]
fn a_value_that_somebody_else_broke_later_is_not_handed_out() {
    let stage = Stage::new();
    stage.value(STATE);
    stage.seen.borrow_mut().state.insert(own("mine", "own"), json!("broken"));
    assert_eq!(stage.value("[state.get(own), state.get(own)]"), json!([{ "n": 1 }, { "n": 1 }]));
    assert_eq!(stage.seen.borrow().complained.len(), 1);
    assert_eq!(stage.seen.borrow().state[&own("mine", "own")], "broken");
}

#[test]
fn observers_are_told_what_others_changed() {
    let stage = Stage::new();
    stage.value(STATE);
    stage.value(
        "const stop = state.observe(own, (value, symbol) => output.print('own', value, symbol === own));
         state.observe(shared.contextItems, async (items) => { await null; output.print('items', items); });
         tui.onStateChange((keys) => output.print('keys', keys)); 0",
    );
    let modes = Modes::new(&stage.runtime);
    stage.value("state.set(own, { n: 2 })");
    assert_eq!(stage.printed(), [] as [&str; 0]);
    modes.changed(&[own("mine", "own"), own("other", "own")]).unwrap();
    assert_eq!(
        stage.printed(),
        [
            "own {\"n\":2} true",
            "keys [{\"command\":\"mine\",\"name\":\"own\"},{\"command\":\"other\",\"name\":\"own\"}]"
        ]
    );
    modes.changed(&[shared("contextItems")]).unwrap();
    assert_eq!(stage.printed(), ["items []", "keys [{\"shared\":\"contextItems\"}]"]);
    stage.value("stop(); state.observe(own, () => { throw new Error('an observer') })");
    let error = modes.changed(&[own("mine", "own")]).unwrap_err();
    assert_eq!(error.message, "an observer");
    assert_eq!(stage.printed().len(), 1, "the others are told all the same");
}

#[test]
fn a_reset_goes_back_to_the_defaults() {
    let stage = Stage::new();
    stage.value(STATE);
    stage.value("const bare = Symbol('bare'); const more = tui.createState('more', { [bare]: {} }); more.set(bare, 1); state.set(own, { n: 9 }); state.set(shared.contextItems, [1])");
    assert_eq!(
        stage.value("state.reset(own); [state.get(own), state.get(shared.contextItems)]"),
        json!([{ "n": 1 }, [1]])
    );
    assert_eq!(
        stage.value("tui.reset(); [state.get(shared.contextItems), more.get(bare) === undefined]"),
        json!([[], true])
    );
    assert_eq!(stage.seen.borrow().state.get(&own("more", "bare")), None);
}

/// Any JSON of which JavaScript's numbers can hold the numbers.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|it| json!(it)),
        any::<i32>().prop_map(|it| json!(it)),
        (-1e9..1e9_f64)
            .prop_filter("a whole number comes back as one", |it| it.fract() != 0.0)
            .prop_map(|it| json!(it)),
        any::<String>().prop_map(|it| json!(it)),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|it| json!(it)),
            prop::collection::btree_map(any::<String>(), inner, 0..4).prop_map(|it| json!(it)),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_json_comes_back_as_it_was(value in any_json()) {
        let stage = Stage::new();
        stage.value("const it = Symbol('it'); const state = tui.createState('any', { [it]: {} }); 0");
        let given = stage.value(&format!("const given = JSON.parse({}); state.set(it, given); state.get(it)", json!(value.to_string())));
        prop_assert_eq!(&given, &value);
        prop_assert_eq!(&stage.seen.borrow().state[&own("any", "it")], &value);
    }
}
