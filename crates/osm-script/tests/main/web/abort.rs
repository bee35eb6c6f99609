//! `AbortController`, `AbortSignal`, `Event`, `EventTarget`.

use std::time::Duration;

use serde_json::json;

use super::{check, refuse};
use crate::harness::Stage;

#[test]
fn abort() {
    let stage = Stage::new();
    check(
        &stage,
        &[
            (
                "const c = new AbortController(); [c.signal.aborted, c.signal.reason === undefined, c.signal === c.signal, c.signal instanceof EventTarget]",
                json!([false, true, true, true]),
            ),
            (
                "const c = new AbortController(); const seen = []; c.signal.addEventListener('abort', (e) => seen.push([e.type, e.target === c.signal, c.signal.aborted])); c.signal.onabort = function () { seen.push(this === c.signal) }; c.abort(); c.abort('again'); [seen, c.signal.reason.name, c.signal.reason instanceof DOMException]",
                json!([[["abort", true, true], true], "AbortError", true]),
            ),
            ("const c = new AbortController(); c.abort(0); c.signal.reason", json!(0)),
            (
                "const s = AbortSignal.abort('why'); try { s.throwIfAborted() } catch (e) { [e, s.aborted] }",
                json!(["why", true]),
            ),
            ("new AbortController().signal.throwIfAborted() === undefined", json!(true)),
            (
                "const c = new AbortController(); let n = 0; const f = () => n++; c.signal.addEventListener('abort', f); c.signal.addEventListener('abort', f); c.signal.addEventListener('abort', { handleEvent() { n += 10 } }); c.signal.addEventListener('abort', () => { n += 100 }, { once: true }); c.signal.addEventListener('other', () => { n += 1000 }); c.abort(); n",
                json!(111),
            ),
            (
                "const c = new AbortController(); let n = 0; const f = () => n++; c.signal.addEventListener('abort', f); c.signal.removeEventListener('abort', f); c.signal.onabort = f; c.signal.onabort = null; c.abort(); n",
                json!(0),
            ),
            (
                "const [a, b] = [new AbortController(), new AbortController()]; const any = AbortSignal.any([a.signal, b.signal]); const again = AbortSignal.any([any]); let n = 0; again.onabort = () => n++; b.abort('b'); a.abort('a'); [any.reason, again.reason, n]",
                json!(["b", "b", 1]),
            ),
            (
                "const any = AbortSignal.any([new AbortController().signal, AbortSignal.abort('x')]); [any.aborted, any.reason, AbortSignal.any([]).aborted]",
                json!([true, "x", false]),
            ),
            (
                "const c = new AbortController(); const order = []; const any = AbortSignal.any([c.signal]); c.signal.onabort = () => order.push(any.aborted); any.onabort = () => order.push('any'); c.abort(); order",
                json!([true, "any"]),
            ),
            (
                "const t = new EventTarget(); const c = new AbortController(); let n = 0; t.addEventListener('x', () => n++, { signal: c.signal }); t.dispatchEvent(new Event('x')); c.abort(); t.dispatchEvent(new Event('x')); n",
                json!(1),
            ),
            (
                "const t = new EventTarget(); t.addEventListener('x', (e) => { e.preventDefault(); e.stopImmediatePropagation() }); t.addEventListener('x', () => { throw 1 }); [t.dispatchEvent(new Event('x', { cancelable: true })), t.dispatchEvent(new Event('x'))]",
                json!([false, true]),
            ),
            (
                "new Promise((done) => { const s = AbortSignal.timeout(5); s.onabort = () => done([s.reason.name, s.reason.message]) })",
                json!(["TimeoutError", "The operation timed out"]),
            ),
            (
                "String(new AbortController()) + String(AbortSignal.abort())",
                json!("[object AbortController][object AbortSignal]"),
            ),
        ],
    );
    refuse(
        &stage,
        &[
            ("new AbortSignal()", "TypeError"),
            ("AbortSignal.timeout(-1)", "TypeError"),
            ("AbortSignal.any([1])", "TypeError"),
            ("AbortSignal.abort().throwIfAborted()", "AbortError"),
            ("new EventTarget().dispatchEvent({})", "TypeError"),
        ],
    );
    let error = stage.error("{ const c = new AbortController(); c.signal.onabort = () => { throw new Error('in a listener') }; c.abort(); 1 }");
    assert_eq!(error.message, "in a listener");
}

/// A signal that times out later keeps no script from its end.
#[test]
fn a_timeout_holds_nothing_up() {
    let stage = Stage::new();
    stage.runtime.run_source("a.js", "globalThis.s = AbortSignal.timeout(600_000)").unwrap();
    stage.runtime.run_source("b.js", "setTimeout(() => output.print(s.aborted), 1)").unwrap();
    assert!(stage.seen.borrow().longest_sleep < Duration::from_mins(1), "it waited for the signal");
    assert_eq!(stage.printed(), ["false"]);
}
