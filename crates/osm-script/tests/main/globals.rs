//! Globals that every script has.

use osm_script::{Level, Options};
use serde_json::json;

use crate::harness::Stage;

#[test]
fn what_is_said() {
    let stage = Stage::new();
    stage.value(
        "output.print('plain'); output.print({ a: [1] }); output.printf('%s has %d of %5.2f%%', 'x', 3, 1.5);
         console.log('n = %d', 4, { b: 2n }); console.error('bad'); log.warn('careful', { n: 1 })",
    );
    assert_eq!(
        stage.printed(),
        ["plain", "{\"a\":[1]}", "x has 3 of  1.50%", "n = 4 {\"b\":\"2n\"}"]
    );
    let seen = stage.seen.borrow();
    assert_eq!(seen.complained, ["bad"]);
    assert_eq!(seen.logged, [(Level::Warn, "careful".to_owned(), json!({ "n": 1 }))]);
    drop(seen);
    assert_eq!(stage.value("log.searchLogs('CARE').map((it) => it.level)"), json!(["warn"]));
    assert_eq!(stage.value("log.clearLogs(); log.getLogs()"), json!([]));
}

#[test]
fn promises_and_timers_run_in_their_order() {
    let stage = Stage::new();
    let order = stage.value(
        "const order = [];
         setTimeout(() => order.push('later'), 5);
         setTimeout((x) => { order.push(x); Promise.resolve().then(() => order.push('job')); }, 0, 'soon');
         setImmediate(() => order.push('immediate'));
         queueMicrotask(() => order.push('micro'));
         const never = setTimeout(() => order.push('never'), 1);
         clearTimeout(never);
         let count = 0;
         const every = setInterval(() => { count += 1; if (count === 3) clearInterval(every); }, 1);
         order.push('now');
         new Promise((done) => {
             const look = setInterval(() => {
                 if (count < 3 || order.length < 6) return;
                 clearInterval(look);
                 done([order, count]);
             }, 1);
         })",
    );
    assert_eq!(order, json!([["now", "micro", "soon", "job", "immediate", "later"], 3]));
}

#[test]
fn arguments_and_the_clipboard() {
    let arguments = vec!["a b".to_owned(), "-x".to_owned()];
    let stage = Stage::with(Options { arguments, ..Options::default() });
    assert_eq!(stage.value("args"), json!(["a b", "-x"]));
    assert_eq!(stage.value("output.toClipboard('kept'); output.fromClipboard()"), json!("kept"));
}

#[test]
fn a_script_tests_itself() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("t.js");
    std::fs::write(
        &file,
        "ctx.defer(() => output.print('deferred first, done last'));
         ctx.defer(() => output.print('deferred last'));
         ctx.run('good', () => ctx.log('inside', ctx.name()));
         const ok = ctx.run('bad', () => { ctx.errorf('%d is wrong', 3); ctx.fatal('over'); output.print('no'); });
         ctx.run('thrown', () => { throw new Error('oops'); });
         output.print(ok, ctx.failed());",
    )
    .unwrap();
    let stage = Stage::with(Options { test: true, ..Options::default() });
    let error = stage.runtime.run(&file).unwrap_err();
    assert_eq!(error.message, "test context failed");
    assert_eq!(
        stage.printed(),
        [
            "[script/good] inside script/good",
            "[script] Sub-test good passed",
            "[script] Sub-test bad failed",
            "[script] Sub-test thrown failed",
            "false true",
            "deferred last",
            "deferred first, done last",
        ]
    );
    assert_eq!(
        stage.seen.borrow().complained,
        [
            "[script/bad] ERROR: 3 is wrong",
            "[script/bad] ERROR: over",
            "[script/thrown] ERROR: Error: oops"
        ]
    );
}

#[test]
fn half_a_character_is_shown_as_such() {
    let stage = Stage::new();
    stage.value(r"output.print('🦀'.slice(0, 1) + 'x'); output.print('\ud800\ud800'); output.print('\\ud800 🦀'); output.print({ a: '\udc00' })");
    assert_eq!(
        stage.printed(),
        ["\u{fffd}x", "\u{fffd}\u{fffd}", "\\ud800 🦀", "{\"a\":\"\\udc00\"}"]
    );
}

#[test]
fn a_script_that_gives_up_says_why_and_the_next_one_is_judged_by_itself() {
    let stage = Stage::new();
    let gives_up = "ctx.defer(() => output.print('cleaned up')); ctx.fatal('no', 'way')";
    let error = stage.runtime.run_source("a.js", gives_up).unwrap_err();
    assert_eq!(error.message, "no way");
    assert_eq!(stage.printed(), ["cleaned up"]);
    stage.runtime.run_source("a.js", "ctx.log('fine')").unwrap();
    let error = stage.runtime.run_source("a.js", "ctx.error('bad')").unwrap_err();
    assert_eq!(error.message, "test context failed");
    stage.runtime.run_source("a.js", "ctx.log('fine')").unwrap();
}
