//! Code in a working tree runs only after the user trusted it.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

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
    assert_snapshot!(env.types(&["goal", "deploy"], "go now\n"), @"
    --- stderr
    osm: error: cannot run goal deploy: its code is not trusted: $ROOT/tree/osm-goals/deploy.json
    osm: hint: read it, then run: osm trust $ROOT/tree/osm-goals/deploy.json
    --- exit Some(5)
    ");
    let listed: Vec<String> = env
        .types(&["goal"], "")
        .lines()
        .filter(|it| it.contains("tree"))
        .map(str::to_owned)
        .collect();
    assert_snapshot!(listed.join("\n"), @"
    commit-message@tree  tree, not trusted  Deploy it
    deploy               tree, not trusted  Deploy it
    ");
    assert!(
        env.types(&["goal", "show", "deploy"], "")
            .contains("to allow its code to run: osm trust $ROOT/tree/osm-goals/deploy.json")
    );
    assert!(!trace.exists());

    assert_snapshot!(env.types(&["trust", "osm-goals/deploy.json"], ""), @"trusted: $ROOT/tree/osm-goals/deploy.json");
    assert_snapshot!(env.types(&["goal", "deploy"], "go now\n"), @"gone now");
    assert!(trace.exists());
    std::fs::write(&trace, "untouched").unwrap();

    std::fs::write(&goal, GOAL.replace("gone", "pwned")).unwrap();
    assert_snapshot!(env.types(&["goal", "deploy"], "go now\n"), @"
    --- stderr
    osm: error: cannot run goal deploy: its code changed since it was trusted: $ROOT/tree/osm-goals/deploy.json
    osm: hint: read it, then run: osm trust $ROOT/tree/osm-goals/deploy.json
    --- exit Some(5)
    ");
    assert_snapshot!(env.types(&["trust", "list"], "").replace(|it: char| it.is_ascii_hexdigit() && it.is_ascii_digit(), "N"), @"
    STATE    SHA-NNN       PATH
    changed  eNNcNNNNbNcN  $ROOT/tree/osm-goals/deploy.json
    ");
    assert_eq!(std::fs::read_to_string(&trace).unwrap(), "untouched");
    std::fs::write(&goal, GOAL).unwrap();
    assert_snapshot!(env.types(&["goal", "deploy"], "go back\n"), @"gone back");

    assert_snapshot!(env.types(&["trust", "revoke", "osm-goals"], ""), @"no longer trusted: $ROOT/tree/osm-goals/deploy.json");
    assert!(env.types(&["goal", "deploy"], "go\n").contains("--- exit Some(5)"));
    assert_snapshot!(env.types(&["trust", "revoke", "osm-goals"], ""), @"
    --- stderr
    osm: error: none of these files is trusted
    osm: hint: see `osm trust list`
    --- exit Some(4)
    ");
    assert_snapshot!(env.types(&["trust", "list"], ""), @"no trusted files");
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
    env.file("below/a.json", "{}");
    assert_snapshot!(env.types(&["trust", "below/a.json", "none.json"], ""), @"
    --- stderr
    osm: error: cannot read none.json: No such file or directory (os error 2)
    osm: hint: nothing was changed
    --- exit Some(4)
    ");
    assert_snapshot!(env.types(&["trust", "."], ""), @"
    --- stderr
    osm: error: cannot trust .: it is not a file
    osm: hint: name the files in it
    --- exit Some(1)
    ");
    assert_snapshot!(env.types(&["trust", "list"], ""), @"no trusted files");
    env.types(&["trust", "below/a.json"], "");
    std::fs::remove_dir_all(env.tree().join("below")).unwrap();
    let listed: serde_json::Value =
        serde_json::from_str(&env.types(&["trust", "list", "--json"], "")).unwrap();
    assert_eq!(listed[0]["state"], "gone");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let about = env.home().join("trust.json").metadata().unwrap();
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
    }
    assert!(env.types(&["trust", "revoke", "below/a.json"], "").starts_with("no longer trusted"));
    std::fs::write(env.home().join("trust.json"), "{").unwrap();
    assert_snapshot!(env.types(&["trust", "list"], ""), @"
    --- stderr
    osm: error: $ROOT/home/trust.json: EOF while parsing an object at line 1 column 1; no file is trusted
    osm: hint: fix the file, or remove it and trust your files again
    --- exit Some(1)
    ");
    assert!(env.types(&["goal", "list"], "").contains("no file is trusted"));
}
