//! `osm:json`.

use serde_json::json;

use super::{check, refuse};
use crate::harness::Stage;

#[test]
fn json_contract() {
    let stage = Stage::new();
    check(
        &stage,
        "osm:json",
        &[
            ("it.parse('{\"a\":[1,null,true]}')", json!({ "a": [1, null, true] })),
            ("it.parse(7)", json!(7)),
            ("it.stringify({ b: 1, a: '<&>' })", json!("{\"b\":1,\"a\":\"<&>\"}")),
            (
                "[it.stringify([1], 2), it.stringify([1], '\\t'), typeof it.stringify(undefined)]",
                json!(["[\n  1\n]", "[\n\t1\n]", "undefined"]),
            ),
            (
                "const v = { a: { b: [{ c: 1 }, { c: 2 }, { d: 3 }] } }; ['a.b[1].c', 'a.b[*].c', 'a.b[9]', 'a.b[-1]', 'a.x', ''].map((p) => it.query(v, p) ?? null)",
                json!([2, [1, 2], null, null, null, { "a": { "b": [{ "c": 1 }, { "c": 2 }, { "d": 3 }] } }]),
            ),
            ("it.query([[{ x: [1, 2] }], [{ x: [3] }]], '[*][*].x')", json!([[[1, 2]], [[3]]])),
            ("it.query({ 'k[': 1, '[0': 2 }, '[0')", json!(2)),
            ("it.query({ a: { 'b c': 1 } }, 'a[b c]')", json!(1)),
            (
                "[it.query([1], '0') ?? null, it.query({ 0: 1 }, '[0]') ?? null, it.query({ a: 1 }, 'a[*]') ?? null, it.query(null, 'a') ?? null, it.query({}, 'toString') ?? null]",
                json!([null, null, null, null, null]),
            ),
            (
                "it.mergePatch({ a: 1, b: { c: 2, x: [1] } }, { a: null, b: { d: 3 }, e: { f: null, g: 1 } })",
                json!({ "b": { "c": 2, "x": [1], "d": 3 }, "e": { "g": 1 } }),
            ),
            (
                "[it.mergePatch({ a: 1 }, [2]), it.mergePatch({ a: 1 }, null), it.mergePatch([1], { a: 2 })]",
                json!([[2], null, { "a": 2 }]),
            ),
            (
                "const target = { a: { b: [1] } }, patch = { c: [2] }; const merged = it.mergePatch(target, patch); merged.a.b.push(9); merged.c.push(9); [target, patch]",
                json!([{ "a": { "b": [1] } }, { "c": [2] }]),
            ),
            (
                "it.diff({ z: 1, a: [1, 2, 3], 'x/~y': 1 }, { a: [1, 5], 'x/~y': 2, n: null })",
                json!([
                    { "op": "replace", "path": "/a/1", "value": 5, "oldValue": 2 },
                    { "op": "remove", "path": "/a/2", "oldValue": 3 },
                    { "op": "add", "path": "/n", "value": null },
                    { "op": "replace", "path": "/x~1~0y", "value": 2, "oldValue": 1 },
                    { "op": "remove", "path": "/z", "oldValue": 1 },
                ]),
            ),
            (
                "[it.diff(1, 'x'), it.diff({}, []), it.diff({ a: 1 }, { a: 1 }), it.diff(undefined, null)]",
                json!([[{ "op": "replace", "path": "", "value": "x", "oldValue": 1 }], [{ "op": "replace", "path": "", "value": [], "oldValue": {} }], [], []]),
            ),
            (
                "it.diff(Array(12).fill(0), [...Array(10).fill(0), 1, 1]).map((x) => x.path)",
                json!(["/10", "/11"]),
            ),
            (
                "it.flatten({ a: { b: [1, { c: 2 }], e: {}, l: [] }, s: 'x', '': 1 })",
                json!({ "a.b[0]": 1, "a.b[1].c": 2, "a.e": {}, "a.l": [], "s": "x", "": 1 }),
            ),
            ("[it.flatten({ a: { b: 1 } }, '/'), it.flatten({})]", json!([{ "a/b": 1 }, {}])),
            (
                "it.unflatten({ 'a.b[0]': 1, 'a.b[2].c': 2, 'a.e': {}, s: 'x' })",
                json!({ "a": { "b": [1, null, { "c": 2 }], "e": {} }, "s": "x" }),
            ),
            (
                "[it.unflatten({ 'a/b': 1 }, '/'), it.unflatten({ 'x[y]': 1, '[z': 2 }), it.unflatten({ a: 1, 'a.b': 2 })]",
                json!([{ "a": { "b": 1 } }, { "x": { "[y]": 1 }, "[z": 2 }, { "a": { "b": 2 } }]),
            ),
            (
                "it.unflatten(it.flatten({ a: [[1], { b: [] }] }))",
                json!({ "a": [[1], { "b": [] }] }),
            ),
            ("it.unflatten({ '__proto__.x': 1 }).x ?? null", json!(null)),
            ("it.unflatten(JSON.parse('{\"__proto__.x\": 1}')).x ?? null", json!(null)),
        ],
    );
    refuse(
        &stage,
        "osm:json",
        &[
            ("it.parse()", "TypeError", "parse: argument 1 must be a string"),
            ("it.query({})", "TypeError", "query: argument 2 must be a string"),
            ("it.flatten([1])", "TypeError", "flatten: argument 1 must be an object"),
            ("it.flatten(null)", "TypeError", "flatten: argument 1 must be an object"),
            ("it.unflatten('x')", "TypeError", "unflatten: argument 1 must be an object"),
            (
                "it.unflatten({ 'a[99999999]': 1 })",
                "RangeError",
                "unflatten: 99999999 is not a place in a list",
            ),
        ],
    );
    let error = stage.error("require('osm:json').parse('{')");
    assert!(error.name == "TypeError" && error.message.starts_with("invalid JSON: "), "{error}");
}
