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
        "show",
    ]);
    run.said(
        1,
        &[
            "command 2: stopped: it computed for too long",
            "command 3: stopped: it computed for too long",
            "command 4: stopped: it needed too much memory",
            "command 5: stopped: it computed for too long",
            "command 6: stopped: it computed for too long",
            "command 7: js:1:",
            "command 8: stopped: it computed for too long",
            "hint: `osm config set script.time_limit_seconds 300`",
        ],
    );
    assert!(run.stdout.ends_with("all: one\nbye\n"), "{}", run.stdout);
}
