//! Scripts that do not come to an end: the loop goes on, the state is as it was.

use crate::harness::Env;

#[test]
fn what_is_stopped() {
    let env = Env::new();
    env.config("[script]\ntime_limit_seconds = 1\nmemory_limit_mb = 32\n");
    let run = env.probe(&[
        "keep one",
        "loop",
        "regex",
        "bomb",
        "js for (;;);",
        "js /(a+)+b/.test('a'.repeat(60))",
        "js (function f() { return f() + 1; })()",
        "js (function again() { Promise.resolve().then(again); })()",
        // Small objects leave no room for an exception, and then a rejected promise could be lost.
        "js { let last = null; for (;;) last = { last } }",
        "js { const all = []; (async () => { await null; for (;;) all.push([1]) })() }",
        "show",
    ]);
    run.said(
        1,
        &[
            "command 2: stopped: the script exceeded its time limit",
            "command 3: stopped: the script exceeded its time limit",
            "command 4: stopped: the script exceeded its memory limit",
            "command 5: stopped: the script exceeded its time limit",
            "command 6: stopped: the script exceeded its time limit",
            "command 7: js:1:",
            "command 8: stopped: the script exceeded its time limit",
            "command 9: stopped: the script exceeded its memory limit of 32 MB",
            "command 10: stopped: the script exceeded its memory limit of 32 MB",
            "hint: raise the limit: `osm config set script.time_limit_seconds 300`",
        ],
    );
    assert!(run.stdout.ends_with("all: one\nbye\n"), "{}", run.stdout);
}
