//! Code of a working tree does not run unless somebody said so.

use insta::assert_snapshot;

use crate::harness::{Env, git};

/// A goal whose commands and template would leave a trace.
const GOAL: &str = r#"{
  "name": "deploy",
  "description": "Deploy it",
  "promptInstructions": "p",
  "commands": [
    {"name": "note", "type": "contextManager"},
    {"name": "go", "handler": "function (args) { require('osm:os').writeFile('trace', 'was here'); output.print('gone ' + args.join(' ')); }"}
  ]
}
"#;

/// A repository that was cloned, and has such a goal.
fn cloned() -> Env {
    let env = Env::new();
    let origin = env.home().join("origin");
    std::fs::create_dir_all(origin.join("osm-goals")).unwrap();
    git(&origin, &["init", "-q"]);
    std::fs::write(origin.join("osm-goals/deploy.json"), GOAL).unwrap();
    std::fs::write(
        origin.join("osm-goals/commit-message.json"),
        GOAL.replace("deploy", "commit-message"),
    )
    .unwrap();
    git(&origin, &["add", "-A"]);
    git(&origin, &["commit", "-qm", "goals"]);
    env.git(&["clone", "-q", origin.to_str().unwrap(), "."]);
    env
}

#[test]
fn nothing_runs_before_it_is_trusted_nor_after_it_changed() {
    let env = cloned();
    let goal = env.tree().join("osm-goals/deploy.json");
    let trace = env.tree().join("trace");
    assert_snapshot!(env.types(&["goal", "deploy"], "go now\n"), @"");
    let listed: Vec<String> = env
        .types(&["goal"], "")
        .lines()
        .filter(|it| it.contains("tree"))
        .map(str::to_owned)
        .collect();
    assert_snapshot!(listed.join("\n"), @"");
    assert!(
        env.types(&["goal", "show", "deploy"], "")
            .contains("its code runs after: osm trust $ROOT/tree/osm-goals/deploy.json")
    );
    assert!(!trace.exists());

    assert_snapshot!(env.types(&["trust", "osm-goals/deploy.json"], ""), @"");
    assert_snapshot!(env.types(&["goal", "deploy"], "go now\n"), @"");
    assert!(trace.exists());
    std::fs::remove_file(&trace).unwrap();

    std::fs::write(&goal, GOAL.replace("gone", "pwned")).unwrap();
    assert_snapshot!(env.types(&["goal", "deploy"], "go now\n"), @"");
    assert_snapshot!(env.types(&["trust", "list"], "").replace(|it: char| it.is_ascii_hexdigit() && it.is_ascii_digit(), "N"), @"");
    std::fs::write(&goal, GOAL).unwrap();
    assert_snapshot!(env.types(&["goal", "deploy"], "go back\n"), @"");

    assert_snapshot!(env.types(&["trust", "revoke", "osm-goals"], ""), @"");
    assert!(env.types(&["goal", "deploy"], "go\n").contains("--- exit Some(5)"));
    assert_snapshot!(env.types(&["trust", "revoke", "osm-goals"], ""), @"");
    assert_snapshot!(env.types(&["trust", "list"], ""), @"");
}

#[test]
fn a_clone_replaces_nothing() {
    let env = cloned();
    let shown = env.types(&["goal", "commit-message", "-c", "show"], "");
    assert!(shown.contains("as a maintainer of a large project"), "{shown}");
    assert!(env.types(&["goal", "commit-message@tree"], "go\n").contains("--- exit Some(5)"));
}

#[test]
fn a_goal_without_code_needs_no_trust() {
    let env = cloned();
    env.file("osm-goals/plain.prompt.md", "---\ndescription: d\n---\n{{ 1 + 1 }} is two.\n");
    let shown = env.types(&["goal", "plain", "-c", "show"], "");
    assert!(shown.starts_with("2 is two."), "{shown}");
}

#[test]
fn what_can_be_trusted() {
    let env = Env::new();
    env.file("a.json", "{}");
    assert_snapshot!(env.types(&["trust", "a.json", "none.json"], ""), @"");
    assert_snapshot!(env.types(&["trust", "."], ""), @"");
    assert_snapshot!(env.types(&["trust", "list"], ""), @"");
    env.types(&["trust", "a.json"], "");
    std::fs::remove_file(env.tree().join("a.json")).unwrap();
    let listed: serde_json::Value =
        serde_json::from_str(&env.types(&["trust", "list", "--json"], "")).unwrap();
    assert_eq!(listed[0]["state"], "gone");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let about = env.home().join("trust.json").metadata().unwrap();
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
    }
    assert!(env.types(&["trust", "revoke", "a.json"], "").starts_with("no longer trusted"));
    std::fs::write(env.home().join("trust.json"), "{").unwrap();
    assert_snapshot!(env.types(&["trust", "list"], ""), @"");
    assert!(env.types(&["goal", "list"], "").contains("nothing is trusted"));
}
