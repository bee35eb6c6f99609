//! `structuredClone`.

use serde_json::json;

use super::{check, refuse};
use crate::harness::Stage;

#[test]
fn structured_clone() {
    let stage = Stage::new();
    check(
        &stage,
        &[
            (
                "structuredClone({ a: [1, 'x', null, true], b: { c: undefined, d: 2n > 1n } })",
                json!({ "a": [1, "x", null, true], "b": { "d": true } }),
            ),
            (
                "const v = { n: 1n, u: undefined, z: -0 }; const c = structuredClone(v); [typeof c.n, 'u' in c, Object.is(c.z, -0), c !== v]",
                json!(["bigint", true, true, true]),
            ),
            (
                "const v = { list: [] }; v.self = v; v.list.push(v, v.list); const c = structuredClone(v); [c.self === c, c.list[0] === c, c.list[1] === c.list, c.list !== v.list]",
                json!([true, true, true, true]),
            ),
            (
                "const inner = {}; const c = structuredClone({ a: inner, b: inner }); c.a === c.b",
                json!(true),
            ),
            (
                "const c = structuredClone(new Map([[{ k: 1 }, new Set([1, 'x'])], ['m', new Map()]])); [c instanceof Map, c.size, [...c.keys()][0].k, [...[...c.values()][0]], c.get('m') instanceof Map]",
                json!([true, 2, 1, [1, "x"], true]),
            ),
            (
                "const m = new Map(); m.set(m, m); const c = structuredClone(m); c.get(c) === c",
                json!(true),
            ),
            (
                "const d = new Date(5), r = /a(b)/gi; r.lastIndex = 3; const c = structuredClone({ d, r }); [c.d instanceof Date, c.d.getTime(), c.d !== d, c.r.source, c.r.flags, c.r.lastIndex]",
                json!([true, 5, true, "a(b)", "gi", 0]),
            ),
            (
                "[new Number(3), new String('x'), new Boolean(false), Object(1n)].map((x) => { const c = structuredClone(x); return [typeof c, String(c), c !== x] })",
                json!([
                    ["object", "3", true],
                    ["object", "x", true],
                    ["object", "false", true],
                    ["object", "1", true]
                ]),
            ),
            (
                "const e = new RangeError('m', { cause: { x: 1 } }); e.extra = 1; const c = structuredClone(e); [c instanceof RangeError, c.name, c.message, c.cause.x, 'extra' in c, c.stack === e.stack]",
                json!([true, "RangeError", "m", 1, false, true]),
            ),
            (
                "class Mine extends Error { name = 'Mine' } const c = structuredClone(new Mine('m')); [c.constructor === Error, c.message]",
                json!([true, "m"]),
            ),
            (
                "const c = structuredClone(new DOMException('m', 'AbortError')); [c instanceof DOMException, c.name, c.message]",
                json!([true, "AbortError", "m"]),
            ),
            (
                "const b = new Uint8Array([1, 2, 3, 4]).buffer; const c = structuredClone({ whole: b, part: new Uint16Array(b, 2, 1), view: new DataView(b, 1, 2) }); c.whole[0] = 9; [[...new Uint8Array(c.whole)], c.part.buffer === c.whole, c.part.byteOffset, c.part.length, c.view.byteLength, c.view.getUint8(0)]",
                json!([[1, 2, 3, 4], true, 2, 1, 2, 2]),
            ),
            (
                "const sparse = [1, , 3]; sparse.x = 'y'; sparse.length = 5; const c = structuredClone(sparse); [c.length, 1 in c, c[2], c.x, Array.isArray(c)]",
                json!([5, false, 3, "y", true]),
            ),
            ("structuredClone(Array(4294967295)).length", json!(4_294_967_295_u32)),
            (
                "class P { #x = 1; y = 2; get z() { return 3 } } const c = structuredClone(new P()); [c.constructor === Object, c.y, 'z' in c]",
                json!([true, 2, false]),
            ),
            ("structuredClone({ get a() { return 7 } })", json!({ "a": 7 })),
            (
                "structuredClone(Object.defineProperty({ a: 1, [Symbol('s')]: 2 }, 'hidden', { value: 3 }))",
                json!({ "a": 1 }),
            ),
            (
                "const c = structuredClone(JSON.parse('{\"__proto__\": {\"x\": 1}}')); [Object.hasOwn(c, '__proto__'), c.x === undefined]",
                json!([true, true]),
            ),
            (
                "const b = new ArrayBuffer(4); const c = structuredClone({ b }, { transfer: [b] }); [c.b.byteLength, b.byteLength, b.detached]",
                json!([4, 0, true]),
            ),
            (
                "(function () { return structuredClone(arguments) })(1, 2)",
                json!({ "0": 1, "1": 2 }),
            ),
        ],
    );
}

#[test]
fn what_cannot_be_cloned() {
    let stage = Stage::new();
    for source in [
        "() => {}",
        "Symbol()",
        "{ a: class {} }",
        "[new WeakMap()]",
        "Promise.resolve()",
        "new Map([[1, () => {}]])",
        "(function* () {})()",
        "[].values()",
        "new AbortController().signal",
        "new URL('http://a')",
        "Object(Symbol())",
        "new Proxy(() => {}, {})",
    ] {
        let error = stage.error(&format!("structuredClone({source})"));
        assert_eq!(error.name, "DataCloneError", "{source}: {error:?}");
        assert!(error.message.ends_with("cannot be cloned"), "{source}: {error:?}");
    }
    refuse(
        &stage,
        &[
            ("structuredClone()", "TypeError"),
            ("structuredClone(1, { transfer: [{}] })", "DataCloneError"),
            ("const b = new ArrayBuffer(1); b.transfer(); structuredClone(b)", "DataCloneError"),
            ("structuredClone({ get a() { throw new RangeError('mine') } })", "RangeError"),
        ],
    );
}
