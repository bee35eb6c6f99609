//! A home that another user owns, or that every user can write to: nothing of it is used.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use osm_testkit::{tools, trials};

use crate::harness::Env;

const GOAL: &str = r#"{
  "name": "evil", "description": "d", "promptInstructions": "p",
  "commands": [{"name": "go", "handler": "function () { output.print('pwned'); }"}]
}"#;

/// A home with a goal that has code, and a configuration.
fn home() -> (Env, PathBuf) {
    let env = Env::new();
    let home = env.home();
    std::fs::create_dir(home.join("goals")).unwrap();
    std::fs::write(home.join("goals/evil.json"), GOAL).unwrap();
    std::fs::write(home.join("config.toml"), "prompt.tokens = false\nprompt.budget = 7\n").unwrap();
    std::fs::write(home.join("trust.json"), "{\"version\": 1, \"trusted\": []}").unwrap();
    assert!(env.types(&["goal", "evil", "-c", "go"], "").contains("pwned"));
    assert!(env.types(&["config", "get", "prompt.budget"], "").starts_with('7'));
    (env, home)
}

fn is_refused(env: &Env, reason: &str) {
    let seen = env.types(&["goal", "evil", "-c", "go"], "");
    assert!(!seen.contains("pwned") && seen.contains(reason), "{seen}");
    let seen = env.types(&["goal", "list"], "");
    let is_offered = seen.lines().any(|it| it.contains("evil  ") && !it.contains(reason));
    assert!(!is_offered && seen.contains(reason), "{seen}");
}

#[test]
fn what_every_user_can_write_to_is_refused() {
    let (env, home) = home();
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let usual = |path: &Path| if path.is_dir() { 0o755 } else { 0o644 };
    for path in [home.clone(), home.join("goals"), home.join("goals/evil.json")] {
        mode(&path, usual(&path) | 0o022);
        is_refused(&env, "every user can write to it");
        mode(&path, usual(&path));
        assert!(env.types(&["goal", "evil", "-c", "go"], "").contains("pwned"));
    }
    for name in ["config.toml", "trust.json"] {
        let path = home.join(name);
        mode(&path, 0o666);
        let seen = env.types(&["goal", "list"], "");
        assert!(
            seen.contains(&format!("{name}: every user can write to it (mode 0666)")),
            "{seen}"
        );
        mode(&path, 0o644);
    }
    mode(&home.join("config.toml"), 0o666);
    let seen = env.types(&["config", "get", "prompt.budget"], "");
    assert!(!seen.starts_with('7'), "{seen}");
}

#[test]
fn what_another_user_owns_is_refused() {
    trials::need(tools::root());
    let (env, home) = home();
    let give = |path: &Path, user| chown(path, Some(user), None).unwrap();
    for path in [home.clone(), home.join("goals"), home.join("goals/evil.json")] {
        give(&path, 4321);
        is_refused(&env, "belongs to another user (uid 4321)");
        give(&path, 0);
    }
    for name in ["config.toml", "trust.json"] {
        give(&home.join(name), 4321);
        let seen = env.types(&["goal", "list"], "");
        assert!(seen.contains(&format!("{name}: belongs to another user (uid 4321)")), "{seen}");
        give(&home.join(name), 0);
    }
    let file = env.file("mine.json", GOAL);
    give(&file, 4321);
    let seen = env.types(&["trust", "mine.json"], "");
    assert!(seen.contains("cannot trust mine.json: belongs to another user"), "{seen}");
    // A goal of the working tree that another user planted is not offered.
    let planted = env.file(".osm/goals/planted.prompt.md", "---\ndescription: d\n---\nDo.\n");
    give(&planted, 4321);
    let seen = env.types(&["goal", "planted", "-c", "show"], "");
    assert!(seen.contains("belongs to another user (uid 4321)"), "{seen}");
    assert!(seen.contains("cannot use goal planted"), "{seen}");
}
