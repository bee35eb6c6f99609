//! The modules that a goal's code loads: trusted byte by byte, and found in the goal's own folder.
#![expect(clippy::disallowed_methods, reason = "tests remove what they made")]

use insta::assert_snapshot;

use crate::harness::Env;

/// A goal whose command `go` loads a module.
fn goal(name: &str, module: &str) -> String {
    let code = format!("function (args) {{ output.print(require({module})); }}");
    serde_json::json!({
        "name": name,
        "description": "Loads a module",
        "promptInstructions": "p",
        "commands": [{ "name": "go", "handler": code }],
    })
    .to_string()
}

#[test]
fn trust_covers_every_module() {
    let env = Env::new();
    env.file("osm-goals/deploy.json", &goal("deploy", "'./lib/h.js'"));
    env.file("osm-goals/lib/h.js", "module.exports = 'h ' + require('./deep').text + '!';");
    env.file("osm-goals/lib/deep.js", "exports.text = require('../../data.json').text;");
    env.file("data.json", "{\"text\": \"read\"}");
    let go = || env.types(&["goal", "deploy"], "go\n");
    assert!(go().contains("--- exit Some(5)"));
    assert_snapshot!(env.types(&["trust", "osm-goals/deploy.json"], ""), @"
    trusted: $ROOT/tree/osm-goals/deploy.json
    trusted: $ROOT/tree/osm-goals/lib/h.js
    trusted: $ROOT/tree/osm-goals/lib/deep.js
    trusted: $ROOT/tree/data.json
    ");
    assert_snapshot!(go(), @"h read!");
    for (name, text) in [
        ("osm-goals/lib/h.js", "module.exports = 'pwned';"),
        ("osm-goals/lib/deep.js", "exports.text = 'pwned';"),
        ("data.json", "{\"text\": \"pwned\"}"),
    ] {
        let path = env.tree().join(name);
        let before = std::fs::read(&path).unwrap();
        std::fs::write(&path, text).unwrap();
        let seen = go();
        let expected = format!("its code changed since it was trusted: $ROOT/tree/{name}");
        assert!(seen.contains(&expected) && seen.contains("--- exit Some(5)"), "{seen}");
        assert!(env.types(&["goal", "list"], "").contains("tree, changed since it was trusted"));
        assert!(!seen.contains("pwned"), "{seen}");
        std::fs::write(&path, before).unwrap();
    }
    // A file that takes precedence over a trusted one is not trusted.
    let before = env.file("osm-goals/lib/deep", "exports.text = 'pwned';");
    let seen = go();
    assert!(seen.contains("its code is not trusted: $ROOT/tree/osm-goals/lib/deep\n"), "{seen}");
    std::fs::remove_file(before).unwrap();
    assert_snapshot!(go(), @"h read!");
}

#[test]
fn a_name_that_is_computed_is_checked_when_it_is_loaded() {
    let env = Env::new();
    env.file("osm-goals/deploy.json", &goal("deploy", "'./l' + 'ate.js'"));
    env.file("osm-goals/late.js", "module.exports = 'late';");
    env.types(&["trust", "osm-goals/deploy.json"], "");
    let go = || env.types(&["goal", "deploy", "-c", "go"], "");
    assert_snapshot!(go(), @"
    --- stderr
    osm: error: command 1: <input>:3:56: Error: cannot load $ROOT/tree/osm-goals/late.js: not trusted; read it, then run: osm trust $ROOT/tree/osm-goals/late.js
    --- exit Some(1)
    ");
    env.types(&["trust", "osm-goals/late.js"], "");
    assert_snapshot!(go(), @"late");
    env.file("osm-goals/late.js", "module.exports = 'pwned';");
    assert!(go().contains("late.js: changed since it was trusted"), "{}", go());
}

#[test]
fn a_clone_has_no_modules_for_a_goal_of_the_user() {
    let env = Env::new();
    let goals = env.home().join("goals");
    std::fs::create_dir_all(goals.join("lib")).unwrap();
    std::fs::write(goals.join("mine.json"), goal("mine", "'./lib/h.js'")).unwrap();
    std::fs::write(goals.join("bare.json"), goal("bare", "'m'")).unwrap();
    for name in ["lib/h.js", "goals/lib/h.js", "osm-goals/lib/h.js", "m.js", "mods/m.js"] {
        env.file(name, "module.exports = 'pwned';");
    }
    let go = |name| env.types(&["goal", name, "-c", "go"], "");
    let seen = go("mine");
    assert!(
        seen.contains("module not found: './lib/h.js'; tried $ROOT/home/goals/lib/h.js"),
        "{seen}"
    );
    std::fs::write(goals.join("lib/h.js"), "module.exports = 'mine';").unwrap();
    assert_snapshot!(go("mine"), @"mine");

    // Relative module paths start at the configuration folder.
    let config = "prompt.tokens = false\nscript.module_paths = ['mods']\n";
    std::fs::write(env.home().join("config.toml"), config).unwrap();
    let seen = go("bare");
    assert!(seen.contains("module not found: 'm'; tried $ROOT/home/mods/m"), "{seen}");
    std::fs::create_dir(env.home().join("mods")).unwrap();
    std::fs::write(env.home().join("mods/m.js"), "module.exports = 'my module';").unwrap();
    assert_snapshot!(go("bare"), @"my module");

    // Module paths in the working tree, and links into it, lead to code that needs trust.
    let inside = env.tree().join("mods");
    let config = format!("script.module_paths = ['{}']\n", inside.display());
    std::fs::write(env.home().join("config.toml"), config).unwrap();
    assert!(go("bare").contains("mods/m.js: not trusted"), "{}", go("bare"));
    #[cfg(unix)]
    {
        std::fs::remove_file(goals.join("lib/h.js")).unwrap();
        std::os::unix::fs::symlink(env.tree().join("lib/h.js"), goals.join("lib/h.js")).unwrap();
        assert!(go("mine").contains("lib/h.js: not trusted"), "{}", go("mine"));
    }
}

#[test]
fn a_script_finds_modules_beside_it() {
    let env = Env::new();
    std::fs::create_dir(env.home().join("scripts")).unwrap();
    let script = env.home().join("scripts/main.js");
    // A function that is made of text has no `require` of its own.
    let text = "output.print(require('./h'), new Function(\"return require('./h')\")());";
    std::fs::write(&script, text).unwrap();
    std::fs::write(env.home().join("scripts/h.js"), "module.exports = 'beside';").unwrap();
    env.file("h.js", "module.exports = 'pwned';");
    assert_snapshot!(env.types(&["script", script.to_str().unwrap()], ""), @"beside beside");
}
