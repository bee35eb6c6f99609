//! Scripts that do not come to an end: the loop goes on, the state is as it was.

use crate::harness::Env;

#[test]
fn what_is_stopped() {
    let env = Env::new();
    // On a busy machine a script needs more than a second to fill its memory.
    env.config("[script]\ntime_limit_seconds = 3\nmemory_limit_mb = 32\n");
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

/// Reading a file's name costs the engine nothing; counting its tokens takes the host long.
#[test]
fn counting_tokens_counts_towards_the_time_limit() {
    let env = Env::new();
    env.config("[script]\ntime_limit_seconds = 1\n");
    let letters = "abcdefghijklmnopqrstuvwxyz";
    std::fs::write(env.work().join("long"), letters.repeat(100_000)).unwrap();
    let run = env.probe(&[
        "js { const items = [{ id: 1, type: 'file', label: 'long', path: 'long' }]; \
         for (let i = 0; i < 500; i++) require('osm:context').describe(items); \
         output.print('counted') }",
        "js { const text = 'abcdefghijklmnopqrstuvwxyz'.repeat(50_000); \
         for (let i = 0; i < 1000; i++) require('osm:tokenizer').count(text); \
         output.print('counted') }",
    ]);
    run.said(
        1,
        &[
            "command 1: stopped: the script exceeded its time limit of 1s",
            "command 2: stopped: the script exceeded its time limit of 1s",
        ],
    );
    assert!(!run.stdout.contains("counted"), "{}", run.stdout);
}
