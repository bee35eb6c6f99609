//! Templates that grow without end, and files that are no goals: each is an error of its own goal.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::process::Command;

use crate::harness::Env;

/// Values that double, and single steps that ask for gigabytes.
const BOMBS: &[(&str, &str)] = &[
    (
        "concat",
        "{% set n = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
    ),
    (
        "add",
        "{% set n = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
    ),
    (
        "replace",
        "{% set n = namespace(x='a') %}{% for i in range(60) %}{% set n.x = n.x | replace('a', 'a' * 1000) %}{% endfor %}",
    ),
    ("indent", "{{ ('a\n' * 1000) | indent(100000000) }}"),
    (
        "join",
        "{% set n = namespace(x='aaaaaaaa') %}{% for i in range(60) %}{% set n.x = [n.x, n.x] | join(',') %}{% endfor %}",
    ),
    (
        "lists",
        "{% set n = namespace(x='a' * 100000) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x ~ '' }}",
    ),
    ("format", "{{ '%2000000000s' | format('x') }}"),
    ("repeat", "{{ 'a' * 100000000000 }}"),
    ("sequence", "{{ ([1] * 100000000000) | length }}"),
    ("batch", "{{ [1] | batch(100000000000, 'x') }}"),
    ("slice", "{{ [1] | slice(100000000000) | list }}"),
    ("range", "{% for i in range(100000000000) %}{% endfor %}"),
    ("text", "{% set x %}{% for i in range(100000) %}TEXT{% endfor %}{% endset %}{{ x }}"),
    (
        "macro",
        "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}TEXT{% endmacro %}{{ m(30) }}",
    ),
];

/// What a template that was stopped says.
const REASONS: [&str; 7] = [
    "MB of memory",
    "MB of output",
    "too many steps",
    "too large",
    "seconds",
    "invalid operation",
    "too many arguments",
];

/// A goal in the user's folder.
fn goal(env: &Env, name: &str, body: &str) {
    let folder = env.home().join("goals");
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("---\ndescription: d\n---\n{body}\n");
    std::fs::write(folder.join(format!("{name}.prompt.md")), text).unwrap();
}

#[test]
fn a_template_that_grows_is_stopped() {
    let env = Env::new();
    for (name, body) in BOMBS {
        let body = body.replace("TEXT", &"text ".repeat(20_000));
        goal(&env, name, &body);
        // An allocation beyond this ends the process.
        let script = "ulimit -v 3000000; exec \"$0\" goal \"$1\" -c show";
        let mut command = Command::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_osm"), name]).current_dir(env.tree());
        command.env_clear().env("OSM_HOME", env.home()).env("OSM_SESSION", "test");
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}: {said}");
        assert!(REASONS.iter().any(|it| said.contains(it)), "{name}: {said}");
    }
}
