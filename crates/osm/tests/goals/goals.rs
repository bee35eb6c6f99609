//! `osm goal`.

use insta::assert_snapshot;

use crate::harness::Env;

#[test]
fn comment_stripper() {
    let env = Env::new();
    env.file("a.rs", "// a\n");
    let shown = env.types(&["goal", "comment-stripper"], "run a.rs\n");
    assert!(shown.starts_with("Added file: a.rs\nYou are a senior engineer"), "{shown}");
    assert!(shown.contains("### File: a.rs"), "{shown}");
    assert_snapshot!(env.types(&["goal", "comment-stripper"], "diff\nrun nothing.rs\nlist\nremove 1\nlist\n"), @"");
}

#[test]
fn commit_message() {
    let env = Env::new();
    env.git(&["init", "-q"]);
    env.file("a.txt", "one\n");
    env.git(&["add", "-A"]);
    let shown = env.types(&["goal", "commit-message"], "run --staged\n");
    assert!(shown.contains("Write the commit message") && shown.contains("+one"), "{shown}");
    assert!(shown.contains("### Diff: git diff --staged"), "{shown}");
    assert_snapshot!(env.types(&["goal", "commit-message", "-c", "run --staged", "-c", "list"], "").lines().last().unwrap(), @"");
    assert_snapshot!(env.types(&["goal", "commit-message"], "snippets\nhot-review-response\n"), @"");
    assert!(env.clipboard().starts_with("Revise the commit message"));
}

#[test]
fn variables_shape_the_prompt_and_are_remembered() {
    let env = Env::new();
    assert_snapshot!(env.types(&["goal", "test-generator"], "type\nframework\ntype security\nframework pytest\ntype fast\n"), @"");
    let shown = env.types(&["goal", "test-generator"], "show\n");
    assert!(shown.contains("**Security tests.**") && shown.contains("Use pytest"), "{shown}");
    assert_snapshot!(env.types(&["goal", "data-to-json"], "mode\nmode log\nmode\n"), @"");
    assert_snapshot!(env.types(&["goal", "which-one-is-better"], "set-type technology\ncopy\n").replace(char::is_numeric, "N"), @"");
    assert_snapshot!(env.types(&["goal", "implementation-plan"], "goal Say {{ hello }}.\n"), @"");
    assert!(
        env.types(&["goal", "implementation-plan"], "show\n")
            .contains("### The goal\nSay {{ hello }}.\n")
    );
    assert_snapshot!(env.types(&["goal", "implementation-plan"], "goal --clear\n"), @"");
}

/// Every goal can be entered and shows its prompt with the context in it.
#[test]
fn every_goal_is_played() {
    let env = Env::new();
    env.types(&["code-review"], "note THE CONTEXT\n");
    let listed = env.types(&["goal", "list", "--json"], "");
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let goals = listed.as_array().unwrap();
    assert_eq!(goals.len(), 20);
    for goal in goals {
        let name = goal["name"].as_str().unwrap();
        let shown = env.types(&["goal", name, "-c", "list", "-c", "show"], "");
        assert!(shown.contains("THE CONTEXT") && shown.contains("## Context"), "{name}: {shown}");
        assert!(!shown.contains("--- "), "{name}: {shown}");
    }
}

#[test]
fn goals_of_ones_own() {
    let env = Env::new();
    assert_snapshot!(env.types(&["goal", "new", "mine", "-d", "It's \"mine\""], ""), @"");
    assert_snapshot!(env.types(&["goal", "new", "mine"], ""), @"");
    assert_snapshot!(env.types(&["goal", "new", "../up"], ""), @"");
    assert_snapshot!(env.types(&["goal", "new", "commit-message", "--here"], ""), @"");
    assert_snapshot!(env.types(&["goal", "new", "bug-buster"], ""), @"");
    let shown = env.types(&["goal", "mine"], "depth thorough\naudience the board\nshow\n");
    assert!(
        shown.contains("It is read by the board.") && shown.contains("Be complete."),
        "{shown}"
    );
    let is_own = |line: &&str| line.contains(" user ") || line.contains('@');
    let listed = env.types(&["goal"], "");
    let own: Vec<&str> = listed.lines().filter(is_own).collect();
    assert_snapshot!(own.join("\n"), @"");
    assert_snapshot!(env.types(&["goal", "paths"], ""), @"");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&env.home().join("goals")), 0o700);
        assert_eq!(mode(&env.home().join("goals/mine.prompt.md")), 0o600);
    }
}

#[test]
fn a_bad_file_is_said_where_goals_are_asked_for() {
    let env = Env::new();
    env.file(
        "osm-goals/bad.json",
        "{\"name\": \"a b\", \"description\": \"d\", \"promptInstructions\": \"{{.x}}\"}",
    );
    env.file("osm-goals/worse.prompt.md", "---\ndescription: a: b\n---\nx\n");
    assert_snapshot!(env.types(&["goal", "nothing"], ""), @"");
    assert_snapshot!(env.types(&["session", "id"], ""), @"ex--test_9f");
    assert_snapshot!(env.types(&["code-review", "-c", "note a"], ""), @"Added note [1]");
}

#[test]
fn other_folders() {
    let env = Env::new();
    let team = env.home().join("team");
    std::fs::create_dir(&team).unwrap();
    std::fs::write(
        team.join("ours.prompt.md"),
        "---\ndescription: Ours\n---\nSee [it](rule.md).\n",
    )
    .unwrap();
    std::fs::write(team.join("rule.md"), "RULE {{ 1 }}\n").unwrap();
    env.types(&["config", "set", "goal.paths", team.to_str().unwrap()], "");
    let shown = env.types(&["goal", "ours", "-c", "show"], "");
    assert!(shown.starts_with("See **it** (`rule.md`):\n\n```\nRULE {{ 1 }}\n```\n"), "{shown}");
    assert_snapshot!(env.types(&["goal", "show", "ours"], ""), @"");
}
