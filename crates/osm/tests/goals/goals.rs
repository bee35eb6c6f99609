//! `osm goal`.

use insta::assert_snapshot;

use crate::harness::Env;

#[test]
fn comment_stripper() {
    let env = Env::new();
    env.file("a.rs", "// a\n");
    let shown = env.types(&["goal", "comment-stripper"], "run a.rs\n");
    assert!(shown.starts_with("You are a senior engineer"), "{shown}");
    assert!(shown.contains("--- stderr\nAdded file: a.rs [1]\n"), "{shown}");
    assert!(shown.contains("### File: a.rs"), "{shown}");
    assert_snapshot!(env.types(&["goal", "comment-stripper"], "diff\nrun nothing.rs\nlist\nremove 1\nlist\n"), @r#"
    [1] [file] a.rs (1 line, 5 B)
    Total: 1 item (1 line, 5 B)
    --- stderr
    osm: error: line 1: unknown command "diff"
    osm: hint: `help` lists all commands
    osm: hint: `js EXPRESSION` evaluates JavaScript
    osm: error: line 2: nothing added:
      nothing.rs: $ROOT/tree/nothing.rs: not found (check the spelling and the current folder)
    Removed [1]
    No items yet. Add some with add, diff, exec or note.
    --- exit Some(1)
    "#);
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
    assert_snapshot!(env.types(&["goal", "commit-message", "-c", "run --staged", "-c", "list"], "").lines().last().unwrap(), @"Total: 1 item (7 lines, 116 B)");
    assert_snapshot!(env.types(&["goal", "commit-message"], "snippets\nhot-review-response\n"), @"
    hot-review-response: Revise the commit message according to the review above. Kee...
    --- stderr
    Copied snippet 'review-response'.
    ");
    assert!(env.clipboard().starts_with("Revise the commit message"));
}

/// The upstream tool stores them under `goal:NAME/KEY`, and calls some of them otherwise.
#[test]
fn variables_of_the_upstream_tool_arrive() {
    let variables = [
        ("doc-generator", "type", "api", "type"),
        ("test-generator", "type", "e2e", "type"),
        ("test-generator", "framework", "pytest", "framework"),
        ("code-explainer", "depth", "brief", "depth"),
        ("pii-scrubber", "level", "minimal", "level"),
        ("prose-polisher", "style", "casual", "style"),
        ("data-to-json", "mode", "log", "mode"),
        ("cite-sources", "format", "footnote", "format"),
        ("which-one-is-better", "comparisonType", "strategy", "set-type"),
        ("sql-generator", "dialect", "sqlite", "dialect"),
        ("report-analyzer", "focus", "risk", "focus"),
        ("review-classifier", "outputFormat", "json", "output-format"),
        ("morale-improver", "originalInstructions", "all of it", "show"),
        ("morale-improver", "failedPlan", "the plan of June", "show"),
        ("morale-improver", "specificFailures", "no test ran", "show"),
        ("implementation-plan", "goalText", "build a bridge", "show"),
        ("adaptive-editor", "instruction", "in one sentence", "show"),
    ];
    let mut state = serde_json::json!({});
    for (goal, key, value, _) in variables {
        state[goal][format!("goal:{goal}/{key}")] = value.into();
    }
    let document = serde_json::json!({
        "version": "0.2.0", "id": "theirs", "createTime": "2025-11-26T14:04:00Z",
        "updateTime": "2025-11-26T14:04:00Z", "history": [{
            "entryId": "1", "modeId": "doc-generator", "command": "type api",
            "readTime": "2025-11-26T14:04:00Z", "finalState": { "script": state, "shared": {} },
        }], "scriptState": state, "sharedState": {},
    });
    let env = Env::new();
    env.file("theirs.session.json", &document.to_string());
    let imported = env.types(&["session", "import", "--as", "test", "theirs.session.json"], "");
    assert!(imported.starts_with("imported"), "{imported}");
    for (goal, key, value, command) in variables {
        let shown = env.types(&["goal", goal, "-c", command], "");
        assert!(shown.contains(value), "{goal}, {key}: {shown}");
        let choices = shown.lines().next().unwrap_or_default();
        assert!(command == "show" || choices.ends_with(&format!(": {value}")), "{goal}: {shown}");
    }
    let exported = env.types(&["session", "export"], "");
    assert!(!exported.contains("goal:"), "also in the history: {exported}");
}

#[test]
fn what_is_wrong_with_a_prompt_is_said() {
    let env = Env::new();
    env.git(&["init", "-q"]);
    env.file("a.txt", "one\n");
    env.git(&["add", "-A"]);
    env.git(&["commit", "-qm", "first"]);
    let shown = env.types(&["goal", "commit-message"], "run --staged\n");
    assert!(shown.contains("Warning: git diff --staged shows no change"), "{shown}");
    env.git(&["branch", "side"]);
    env.types(&["goal", "commit-message"], "diff side\n");
    env.git(&["branch", "-D", "side"]);
    let shown = env.types(&["goal", "commit-message"], "copy\n");
    assert!(shown.contains("Warning: git diff side failed: "), "{shown}");
    assert!(
        env.types(&["code-review"], "exec false\nshow\n").contains("false ended with exit code 1")
    );
}

#[test]
fn commands_need_a_goal() {
    let said = Env::new().types(&["goal", "-c", "list"], "");
    assert!(
        said.contains("-c needs the name of a goal") && said.ends_with("--- exit Some(2)\n"),
        "{said}"
    );
}

#[test]
fn variables_shape_the_prompt_and_are_remembered() {
    let env = Env::new();
    assert_snapshot!(env.types(&["goal", "test-generator"], "type\nframework\ntype security\nframework pytest\ntype fast\n"), @"
    type: unit
    Choices: unit, integration, e2e, performance, security
    framework: auto
    Choices: auto, jest, mocha, go, pytest, junit, rspec
    --- stderr
    type set to: security
    framework set to: pytest
    osm: error: line 5: type: invalid value 'fast'; choices: unit, integration, e2e, performance, security
    --- exit Some(1)
    ");
    let shown = env.types(&["goal", "test-generator"], "show\n");
    assert!(shown.contains("**Security tests.**") && shown.contains("Use pytest"), "{shown}");
    assert_snapshot!(env.types(&["goal", "data-to-json"], "mode\nmode log\nmode\n"), @"
    mode: auto
    Choices: auto, tabular, log, document
    mode: log
    Choices: auto, tabular, log, document
    --- stderr
    mode set to: log
    ");
    assert_snapshot!(env.types(&["goal", "which-one-is-better"], "set-type technology\ncopy\n").replace(char::is_numeric, "N"), @"
    --- stderr
    type set to: technology
    Copied │ NN lines · N.N kB │
    Afterwards: `hot-deeper-analysis` tests the assumptions, `hot-devils-advocate` argues the other side.
    ");
    assert_snapshot!(env.types(&["goal", "implementation-plan"], "goal Say {{ hello }}.\n"), @"
    --- stderr
    goal set.
    ");
    assert!(
        env.types(&["goal", "implementation-plan"], "show\n")
            .contains("### The goal\nSay {{ hello }}.\n")
    );
    assert_snapshot!(env.types(&["goal", "implementation-plan"], "goal --clear\n"), @"
    --- stderr
    goal cleared.
    ");
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
fn user_goals() {
    let env = Env::new();
    assert_snapshot!(env.types(&["goal", "new", "mine", "-d", "It's \"mine\""], ""), @"$ROOT/home/goals/mine.prompt.md");
    assert_snapshot!(env.types(&["goal", "new", "mine"], ""), @"
    --- stderr
    osm: error: $ROOT/home/goals/mine.prompt.md exists already
    osm: hint: edit it, or choose another name
    --- exit Some(1)
    ");
    assert_snapshot!(env.types(&["goal", "new", "../up"], ""), @r#"
    --- stderr
    osm: error: invalid name "../up": use at most 64 letters, digits and hyphens, and no hyphen first
    --- exit Some(2)
    "#);
    assert_snapshot!(env.types(&["goal", "new", "commit-message", "--here"], ""), @"
    $ROOT/tree/.osm/goals/commit-message.prompt.md
    --- stderr
    osm: hint: `commit-message@tree` is this goal, `commit-message` the built-in one
    ");
    assert_snapshot!(env.types(&["goal", "new", "bug-buster"], ""), @"
    $ROOT/home/goals/bug-buster.prompt.md
    --- stderr
    osm: hint: `bug-buster` is this goal, `bug-buster@builtin` the built-in one
    ");
    let shown = env.types(&["goal", "mine"], "depth thorough\naudience the board\nshow\n");
    assert!(
        shown.contains("It is read by the board.") && shown.contains("Be complete."),
        "{shown}"
    );
    let is_own = |line: &&str| line.contains(" user ") || line.contains('@');
    let listed = env.types(&["goal"], "");
    let own: Vec<&str> = listed.lines().filter(is_own).collect();
    assert_snapshot!(own.join("\n"), @r#"
    bug-buster@builtin   builtin  Find bugs and fix them
    bug-buster           user     Bug Buster: write what it is for
    commit-message@tree  tree     Commit Message: write what it is for
    mine                 user     It's "mine"
    "#);
    assert_snapshot!(env.types(&["goal", "paths"], ""), @"
    ORIGIN          FOLDER
    user    exists  $ROOT/home/goals
    tree    -       $ROOT/tree/osm-goals
    tree    exists  $ROOT/tree/.osm/goals
    tree    -       $ROOT/tree/.github/prompts
    ");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&env.home().join("goals")), 0o700);
        assert_eq!(mode(&env.home().join("goals/mine.prompt.md")), 0o600);
    }
}

#[test]
fn invalid_files_concern_no_other_goal() {
    let env = Env::new();
    env.file(
        "osm-goals/bad.json",
        "{\"name\": \"a b\", \"description\": \"d\", \"promptInstructions\": \"{{.x}}\"}",
    );
    env.file("osm-goals/worse.prompt.md", "---\ndescription: a: b\n---\nx\n");
    assert_snapshot!(env.types(&["goal", "nothing"], ""), @r#"
    --- stderr
    osm: error: unknown goal "nothing"
    osm: hint: see `osm goal list`
    --- exit Some(4)
    "#);
    assert_snapshot!(env.types(&["goal", "worse"], ""), @r#"
    --- stderr
    osm: error: cannot use goal worse: $ROOT/tree/osm-goals/worse.prompt.md:2: this text needs quotes: "a: b"
    --- exit Some(1)
    "#);
    let list = env.types(&["goal", "list"], "");
    assert_snapshot!(&list[list.find("  broken").unwrap()..], @r#"
      broken
        bad                  tree     $ROOT/tree/osm-goals/bad.json:1: `{{.x}}` is Go template syntax; write `{{ x }}`
        worse                tree     $ROOT/tree/osm-goals/worse.prompt.md:2: this text needs quotes: "a: b"
    "#);
    // One that another goal stands in for is warned of.
    env.file("osm-goals/commit-message.prompt.md", "---\ndescription: a: b\n---\nx\n");
    let seen = env.types(&["goal", "show", "commit-message"], "");
    let warning =
        "osm: warning: cannot use goal commit-message: $ROOT/tree/osm-goals/commit-message";
    assert!(seen.contains(warning) && seen.contains("builtin"), "{seen}");
    assert_snapshot!(env.types(&["session", "id"], ""), @"ex--test_9f");
    assert_snapshot!(env.types(&["code-review", "-c", "note a"], ""), @"
    --- stderr
    Added note [1]
    ");
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
    assert_snapshot!(env.types(&["goal", "show", "ours"], ""), @"
    ours: Ours
      category  other
      origin    config ($ROOT/home/team/ours.prompt.md)
      commands  add, diff, note, list, edit, remove, show, copy

    See [it](rule.md).
    ");
}

#[cfg(unix)]
#[test]
fn a_goal_is_not_created_through_a_link() {
    use std::os::unix::fs::symlink;
    for name in [".osm", ".osm/goals"] {
        let env = Env::new();
        let outside = env.home().join("outside");
        std::fs::create_dir(&outside).unwrap();
        let link = env.tree().join(name);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&outside, &link).unwrap();
        let refused = env.types(&["goal", "new", "mine", "--here"], "");
        let expected = format!(
            "--- stderr\n\
             osm: error: cannot create a goal here: $ROOT/tree/{name} is a symbolic link\n\
             osm: hint: replace the link by a folder, or create the goal without --here\n\
             --- exit Some(5)\n"
        );
        assert_eq!(refused, expected);
        assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
    }
}
