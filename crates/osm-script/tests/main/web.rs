//! The globals of the web platform, held to what their standards say.

mod abort;
mod clone;
mod text;
mod url;

use std::time::Duration;

use osm_script::{Kind, Limits, Options};
use serde_json::{Value, json};

use crate::harness::Stage;

fn check(stage: &Stage, rows: &[(&str, Value)]) {
    for (source, expected) in rows {
        assert_eq!(stage.value(&format!("{{ {source} }}")), *expected, "{source}");
    }
}

/// Checks the name of what is thrown.
fn refuse(stage: &Stage, rows: &[(&str, &str)]) {
    for (source, name) in rows {
        assert_eq!(stage.error(&format!("{{ {source} }}")).name, *name, "{source}");
    }
}

#[test]
fn globals_are_a_scripts_own() {
    let stage = Stage::new();
    check(
        &stage,
        &[
            ("Object.keys(globalThis).includes('URL')", json!(false)),
            ("URL = 7; URL", json!(7)),
            ("(() => { const structuredClone = 1; return structuredClone })()", json!(1)),
            ("typeof TextEncoder", json!("function")),
        ],
    );
    stage
        .runtime
        .run_source(
            "own.js",
            "class Event {} function URL() {} output.print(typeof Event, typeof URL)",
        )
        .unwrap();
    assert_eq!(stage.printed(), ["function function"]);
    // A module uses its own copy.
    let merged =
        stage.value("structuredClone = () => 'mine'; require('osm:json').mergePatch({}, { a: 1 })");
    assert_eq!(merged, json!({ "a": 1 }));
}

/// Values that are deep, huge, or without end: an error, or a copy, and the runtime goes on.
#[test]
fn limits_hold() {
    let limited = |time| {
        let limits = Limits { memory: 48 << 20, stack: 256 << 10, time };
        Stage::with(Options { limits, ..Options::default() })
    };
    check(
        &limited(None),
        &[
            (
                "let v = []; for (let i = 0; i < 50_000; i++) v = [v]; let c = structuredClone(v); let n = 0; while (c.length) { c = c[0]; n++ } n",
                json!(50_000),
            ),
            (
                "let v = {}; for (let i = 0; i < 20_000; i++) v = { v }; typeof structuredClone(v)",
                json!("object"),
            ),
            (
                "let v = new Map(); for (let i = 0; i < 20_000; i++) v = new Map([[v, 1]]); structuredClone(v).size",
                json!(1),
            ),
            (
                "let e = new Error('x'); for (let i = 0; i < 5000; i++) e = new Error('x', { cause: e }); structuredClone(e).message",
                json!("x"),
            ),
        ],
    );
    let stage = limited(Some(Duration::from_secs(1)));
    for source in [
        "{ const all = []; for (;;) all.push(structuredClone(new Uint8Array(1e5))) }",
        "{ const all = []; for (;;) all.push(new TextEncoder().encode('x'.repeat(1e5))) }",
        "{ const big = new Array(1e6).fill({}); const all = []; for (;;) all.push(structuredClone(big)) }",
        "{ const all = []; for (;;) all.push(new URL('http://a/' + 'x'.repeat(1e4))) }",
        "{ const all = []; for (;;) all.push(new TextDecoder().decode(new Uint8Array(1e5))) }",
    ] {
        let error = stage.error(source);
        let is_limit = matches!(error.kind, Kind::OutOfMemory | Kind::TimedOut);
        assert!(is_limit || error.name == "RangeError", "{source}: {error:?}");
        assert_eq!(stage.value("1 + 1"), json!(2), "after {source}");
    }
    for source in [
        "structuredClone({ get a() { for (;;); } })",
        "new URLSearchParams({ [Symbol.iterator]: () => ({ next: () => ({ value: ['a', 'b'] }) }) })",
        "{ const t = new EventTarget(); t.addEventListener('x', () => { for (;;); }); t.dispatchEvent(new Event('x')) }",
        "{ let v = []; for (let i = 0; i < 1e5; i++) v = [v]; for (;;) try { require('osm:json').diff(v, v) } catch {} }",
        "for (;;) try { require('osm:json').flatten({ v: [] }) } catch {}",
    ] {
        let error = stage.error(source);
        let is_limit = matches!(error.kind, Kind::OutOfMemory | Kind::TimedOut);
        assert!(is_limit, "{source}: {error:?}");
        assert_eq!(stage.value("1 + 1"), json!(2), "after {source}");
    }
}
