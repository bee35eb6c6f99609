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

#[test]
fn an_error_of_a_limit_names_the_goals_file() {
    let env = Env::new();
    for (name, body, reason) in [
        ("memory", BOMBS[0].1, "MB of memory"),
        (
            "steps",
            "{% for i in range(9999) %}{% for j in range(9999) %}{% endfor %}{% endfor %}",
            "too many steps",
        ),
        ("undefined", "{{ description.nothing.more }}", "undefined"),
    ] {
        goal(&env, name, body);
        let run = Command::new(env!("CARGO_BIN_EXE_osm"))
            .args(["goal", name, "-c", "show"])
            .current_dir(env.tree())
            .env_clear()
            .env("OSM_HOME", env.home())
            .env("OSM_SESSION", "test")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr);
        let file = env.home().join(format!("goals/{name}.prompt.md")).display().to_string();
        assert_eq!(run.status.code(), Some(1), "{name}: {said}");
        assert!(said.contains(&format!("{file}: template")) && said.contains(reason), "{said}");
    }
}

/// Files that are no goals, and why.
const BROKEN: [(&str, &str); 9] = [
    ("fifo", "not a file"),
    ("device", "links out of its folder"),
    ("socket", "not a file"),
    ("binary", "not UTF-8"),
    ("huge", "larger than"),
    ("sparse", "larger than"),
    ("dangling", "broken symbolic link"),
    ("loop", "broken symbolic link"),
    ("deep", "too many operators"),
];

#[test]
fn files_that_are_no_goals_are_lines_of_the_list() {
    let env = Env::new();
    let folder = env.home().join("goals");
    std::fs::create_dir_all(folder.join("folder.prompt.md")).unwrap();
    let file = |name: &str| folder.join(format!("{name}.prompt.md"));
    assert!(Command::new("mkfifo").arg(file("fifo")).status().unwrap().success());
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, file(name)).unwrap();
    link("/dev/zero", "device");
    link("nowhere", "dangling");
    link("loop.prompt.md", "loop");
    let _socket = std::os::unix::net::UnixListener::bind(file("socket")).unwrap();
    std::fs::write(file("binary"), [0, 159, 146, 150]).unwrap();
    std::fs::write(file("huge"), vec![b'x'; (1 << 20) + 1]).unwrap();
    std::fs::File::create(file("sparse")).unwrap().set_len(1 << 40).unwrap();
    goal(&env, "deep", &format!("{{{{ {}1 }}}}", "1 + ".repeat(10_000)));
    goal(&env, "good", "{{ context }}");

    let osm = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_osm"));
        command.args(words).current_dir(env.tree()).env_clear().env("OSM_HOME", env.home());
        let output = command.env("OSM_SESSION", "test").output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, text, warnings) = osm(&["goal", "list"]);
    assert_eq!((code, warnings.as_str()), (Some(0), ""));
    let (_, json, _) = osm(&["goal", "list", "--json"]);
    let entries: Vec<serde_json::Value> = serde_json::from_str(&json).unwrap();
    let broken = entries.iter().filter(|it| it.get("error").is_some());
    assert_eq!(broken.count(), BROKEN.len(), "{json}");
    for (name, reason) in BROKEN {
        let lines = text.lines().filter(|it| it.trim_start().starts_with(&format!("{name} ")));
        let lines: Vec<_> = lines.collect();
        assert!(matches!(lines[..], [line] if line.contains(reason)), "{name}: {lines:?}");
        let entry = entries.iter().find(|it| it["name"] == name).unwrap();
        assert!(entry["error"].as_str().unwrap().contains(reason), "{entry}");
        assert_eq!(entry["origin"], "user");
        // Naming it says why it cannot be used.
        let (code, _, said) = osm(&["goal", name, "-c", "show"]);
        assert_eq!(code, Some(1), "{name}: {said}");
        assert!(said.contains(reason) && said.contains(&format!("{name}.prompt.md")), "{said}");
    }
    // None of them disturbs another goal.
    for words in [&["goal", "good", "-c", "show"][..], &["goal", "show", "good"]] {
        let (code, _, said) = osm(words);
        assert_eq!(code, Some(0), "{said}");
        assert!(!said.contains("prompt.md"), "{said}");
    }
}
