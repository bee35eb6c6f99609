//! Modes of one session share what they collect, and nothing else.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use crate::harness::Env;

fn export(env: &Env) -> serde_json::Value {
    serde_json::from_str(&env.types(&["session", "export"], "")).unwrap()
}

#[test]
fn context_is_shared_and_nothing_else() {
    let env = Env::new();
    env.file("a.rs", "fn a() {}\n");
    env.types(&["code-review"], "add a.rs\nnote goal:tests\n");
    env.types(&["prompt-flow"], "goal Write it down\nnote from the flow\ngenerate\n");
    env.types(&["goal", "test-generator"], "type e2e\n");
    let listed = env.types(&["goal", "commit-message", "-c", "list"], "");
    for label in ["[1] [file] a.rs", "[2] [note] review-focus", "[3] [note] from the flow"] {
        assert!(listed.contains(label), "{listed}");
    }
    let prompt = env.types(&["goal", "commit-message", "-c", "show"], "");
    assert!(prompt.contains("fn a() {}") && prompt.contains("from the flow"), "{prompt}");
    assert!(!prompt.contains("Write it down"), "the goal of the flow is its own: {prompt}");
    assert!(
        env.types(&["goal", "doc-generator", "-c", "type"], "").starts_with("type: comprehensive")
    );
    env.types(&["goal", "commit-message"], "remove 2\n");
    assert!(!env.types(&["review", "-c", "list"], "").contains("review-focus"));

    let document = export(&env);
    let shared: Vec<&String> = document["shared_state"].as_object().unwrap().keys().collect();
    assert_eq!(shared, ["contextHighestId", "contextItems"]);
    let own = &document["script_state"];
    assert_eq!(own["prompt-flow"]["goal"], "Write it down");
    assert_eq!(own["test-generator"]["type"], "e2e");
    assert!(own["commit-message"].is_null(), "{own}");
    let modes: Vec<&str> = document["history"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|entry| entry["mode_id"].as_str())
        .collect();
    for mode in ["code-review", "prompt-flow", "test-generator", "commit-message"] {
        assert!(modes.contains(&mode), "{modes:?}");
    }
}
