//! What a script cannot do to us, and that the runtime goes on afterwards.

use std::time::Duration;

use osm_script::{Kind, Limits, Modes, Options};
use serde_json::json;

use crate::harness::Stage;

fn limited() -> Stage {
    let limits =
        Limits { memory: 32 << 20, stack: 256 << 10, time: Some(Duration::from_millis(200)) };
    Stage::with(Options { limits, ..Options::default() })
}

#[test]
fn whatever_never_ends_is_stopped() {
    let stage = limited();
    for source in [
        "for (;;) {}",
        "try { for (;;) {} } catch (e) {} finally { for (;;) {} }",
        "/(a+)+$/.test('a'.repeat(40) + 'b')",
        "'x'.repeat(40).replace(/(x+x+)+y/g, '')",
        "new Promise(() => { for (;;) {} })",
        "(async () => { await null; for (;;) {} })()",
        "const t = () => Promise.resolve().then(t); t()",
        "[1, 2].sort(() => { for (;;) {} })",
        "({ toJSON() { for (;;) {} } })",
        "setTimeout(() => { for (;;) {} }, 0)",
        "require('osm:tokenizer').count('')",
        "for (;;) try { require('osm:tokenizer').count('') } catch (e) {}",
    ] {
        assert_eq!(stage.error(source).kind, Kind::TimedOut, "{source}");
        assert_eq!(stage.value("1 + 1"), json!(2), "after {source}");
    }
}

#[test]
fn jobs_that_multiply_spoil_the_runtime_and_it_says_so() {
    let limits = Limits { time: Some(Duration::from_millis(20)), ..Limits::default() };
    let stage = Stage::with(Options { limits, ..Options::default() });
    stage.error(
        "const more = () => { for (let i = 0; i < 3; i++) Promise.resolve().then(more); }; more()",
    );
    assert!(stage.runtime.is_unusable());
    assert_eq!(stage.error("1 + 1").kind, Kind::Unusable);
    assert!(Modes::new(&stage.runtime).exit_requested());
    assert!(!Stage::new().runtime.is_unusable());
}

#[test]
fn whatever_grows_for_ever_is_stopped() {
    let stage = Stage::with(Options {
        limits: Limits { memory: 32 << 20, stack: 256 << 10, time: None },
        ..Options::default()
    });
    for source in [
        "const all = []; for (;;) all.push(new Array(1e5).fill(1.5))",
        "let text = 'x'; for (;;) text += text + 'y'",
        "new ArrayBuffer(1e9)",
        "'x'.repeat(2 ** 29)",
        // Small objects leave no room for an exception.
        "{ let last = null; for (;;) last = { last, a: 1 } }",
        "{ const all = []; for (;;) all.push(() => all) }",
        "{ const all = new Map(); for (let i = 0; ; i++) all.set(i, [i]) }",
        "{ const all = []; for (;;) all.push(JSON.parse('{\"a\":[{\"b\":\"c\"}]}')) }",
        "{ const all = []; for (;;) all.push('x'.repeat(1000) + all.length) }",
        "{ const all = []; (async () => { await null; for (;;) all.push([all.length]) })() }",
        "{ const all = []; (async () => { await null; for (;;) all.push([1]) })() }",
        "{ const all = []; setTimeout(() => { for (;;) all.push({ a: 1 }) }, 0) }",
        "{ const all = []; for (;;) try { for (;;) all.push([1]) } catch { throw null } }",
    ] {
        let error = stage.error(source);
        let named = "exceeded its memory limit of 32 MB";
        let known = error.kind == Kind::OutOfMemory && error.message.contains(named);
        assert!(known || error.name == "RangeError", "{source}: {error:?}");
        assert_eq!(stage.value("1 + 1"), json!(2), "after {source}");
    }
}

#[test]
fn a_bottomless_recursion_is_an_error_that_a_script_may_catch() {
    let stage = limited();
    let error = stage.error("(function down() { return 1 + down(); })()");
    assert!(error.message.contains("stack"), "{error:?}");
    assert_eq!(
        stage.value("try { (function down() { down(); })() } catch (e) { 'caught' }"),
        json!("caught")
    );
    assert!(stage.error("const a = []; a[0] = a; let n = a; for (let i = 0; i < 1e5; i++) n = [n]; JSON.stringify(n)").message.len() > 3);
    assert_eq!(stage.value("1 + 1"), json!(2));
}

#[test]
fn a_script_is_interrupted_from_outside_and_the_runtime_lives() {
    let stage = Stage::new();
    let interrupter = stage.runtime.interrupter();
    for source in [
        "for (;;) {}",
        "new Promise((done) => setTimeout(done, 60000))",
        "require('osm:tokenizer').count('')",
    ] {
        let interrupter = interrupter.clone();
        let other = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            interrupter.interrupt();
        });
        let error = stage.error(source);
        other.join().unwrap();
        assert_eq!(error.kind, Kind::Interrupted, "{source}");
    }
    assert_eq!(stage.value("1 + 1"), json!(2));
}

#[test]
fn waiting_is_no_computing() {
    let stage = limited();
    let waits = "new Promise((done) => setTimeout(() => setTimeout(done, 150, 'slept'), 150))";
    assert_eq!(stage.value(waits), json!("slept"));
    let program = "require('osm:exec').exec('sleep', '0.4').code";
    assert_eq!(stage.value(program), json!(0));
}
