//! What a hook answers. The agent is a copy of a shell with the agent's name, which runs the hook as agents do.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read is a failed test")]

use std::fs;

use osm_testkit::{program, tools, trials};
use serde_json::{Value, json};

use super::site::{Ran, Site, with_input};

/// Runs a hook below an agent.
fn hook(site: &Site, agent: &str, event: &str, payload: &[u8]) -> Ran {
    let shell = site.path(agent);
    if !shell.exists() {
        program::copy(&trials::need(tools::program("bash")), &shell).unwrap();
    }
    let mut command = site.command(&shell);
    // A shell that runs one command replaces itself by it.
    command.args(["-c", &format!("osm agent hook {event}; exit $?")]);
    with_input(command, payload)
}

fn answer(site: &Site, agent: &str, event: &str, payload: &Value) -> Value {
    let ran = hook(site, agent, event, payload.to_string().as_bytes());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    if ran.stdout.is_empty() { Value::Null } else { serde_json::from_str(&ran.stdout).unwrap() }
}

fn edit(session: &str, path: &str) -> Value {
    json!({ "session_id": session, "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_input": { "file_path": path } })
}

fn after(session: &str, path: &str) -> Value {
    json!({ "session_id": session, "hook_event_name": "PostToolUse", "tool_name": "Write", "tool_input": { "file_path": path } })
}

#[test]
fn a_session_is_told_who_it_is() {
    let site = Site::new();
    let start =
        json!({ "session_id": "s1", "hook_event_name": "SessionStart", "source": "startup" });
    let answer = answer(&site, "claude", "session-start", &start);
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(context.contains("You are session ") && context.contains("claude-code"), "{context}");
}

#[test]
fn a_hook_and_a_shell_command_are_one_session() {
    let site = Site::new();
    for (agent, variable) in [
        ("claude", Some("CLAUDE_CODE_SESSION_ID")),
        ("codex", Some("CODEX_THREAD_ID")),
        ("qwen", Some("QWEN_CODE_SESSION_ID")),
        ("copilot", Some("COPILOT_AGENT_SESSION_ID")),
        ("gemini", None),
    ] {
        let start = json!({ "session_id": "s1", "hook_event_name": "SessionStart" }).to_string();
        let shell = site.path(agent);
        program::copy(&trials::need(tools::program("bash")), &shell).unwrap();
        let mut command = site.command(&shell);
        let with = variable.map(|name| format!("{name}=s1 ")).unwrap_or_default();
        let line = format!(
            "{with}osm session id; {with}osm session id; osm agent hook session-start; exit"
        );
        // The variable of a hook alone counts for nothing.
        command.env("GEMINI_SESSION_ID", "s1").args(["-c", &line]);
        let ran = with_input(command, start.as_bytes());
        let id = ran.stdout.lines().next().unwrap().to_owned();
        assert!(id.starts_with("agent--"), "{agent}: {}", ran.stdout);
        assert_eq!(ran.stdout.matches(&id).count(), 3, "{agent}: {}", ran.stdout);
    }
}

#[test]
fn a_file_that_changed_must_be_read_again() {
    let site = Site::new();
    let file = site.path("work/a.txt");
    let path = file.display().to_string();
    fs::write(&file, "1").unwrap();
    let before = |path: &str| answer(&site, "claude", "before-tool", &edit("s1", path));
    assert_eq!(before(&path), Value::Null);
    assert_eq!(answer(&site, "claude", "after-tool", &after("s1", &path)), Value::Null);
    assert_eq!(before(&path), Value::Null);
    fs::write(&file, "a person's change").unwrap();
    let refused = before(&path);
    let why = refused["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(why.contains("changed on disk since you last read or wrote it"), "{why}");
    assert_eq!(before(&path), Value::Null, "it is refused once");
}

#[test]
fn a_subagents_commands_are_told_apart() {
    let site = Site::new();
    let shell = |subagent: Option<&str>| {
        let mut payload = json!({ "session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": { "command": "make", "timeout": 5 } });
        if let Some(subagent) = subagent {
            payload["agent_id"] = subagent.into();
        }
        answer(&site, "claude", "before-tool", &payload)
    };
    assert_eq!(shell(None), Value::Null);
    let changed = &shell(Some("a1"))["hookSpecificOutput"];
    assert_eq!(
        changed["updatedInput"],
        json!({ "command": "export CLAUDE_CODE_SESSION_ID=s1 OSM_CONTEXT_ID=a1; make", "timeout": 5 })
    );
    assert_eq!(
        changed["permissionDecision"],
        Value::Null,
        "osm permits nothing that the user did not"
    );
}

#[test]
fn nothing_makes_a_hook_exit_with_an_error() {
    let site = Site::new();
    let huge = format!("{{\"a\":\"{}\"}}", "x".repeat(4 << 20));
    let deep = "[".repeat(200_000);
    let payloads: [&[u8]; 8] = [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe\x00",
        b"{\"tool_name\":3}",
        huge.as_bytes(),
        deep.as_bytes(),
    ];
    for agent in ["claude", "gemini", "copilot"] {
        for event in ["before-tool", "session-start", "session-end", "nonsense", "'$(x)'"] {
            for payload in payloads {
                let ran = hook(&site, agent, event, payload);
                assert_eq!(ran.code, Some(0), "{agent} {event}: {}", ran.stderr);
                let is_json = serde_json::from_str::<Value>(&ran.stdout).is_ok();
                assert!(ran.stdout.is_empty() || is_json, "{agent} {event}: {}", ran.stdout);
            }
        }
    }
    // More arguments, and options, too.
    assert_eq!(hook(&site, "claude", "before-tool --nonsense x", b"{}").code, Some(0));
}

#[test]
fn a_home_that_cannot_be_used_stops_no_tool() {
    let site = Site::new();
    site.write(".config/one-shot-man", "a file in the place of the folder");
    for event in ["before-tool", "after-tool", "session-start", "session-end"] {
        let ran = hook(&site, "claude", event, edit("s1", "/tmp/x").to_string().as_bytes());
        assert_eq!(ran.code, Some(0), "{event}: {}", ran.stderr);
        assert!(!ran.stdout.contains("deny"), "{event}: {}", ran.stdout);
    }
}
