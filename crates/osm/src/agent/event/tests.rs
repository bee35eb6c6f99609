//! The payloads of the real agents, and those that no agent should send.

use super::*;

fn parse(agent: &str, moment: Moment, payload: &str) -> Event {
    Event::parse(moment, Agent::named(agent), payload.as_bytes()).unwrap()
}

fn before(agent: &str, payload: &str) -> Event {
    parse(agent, Moment::BeforeTool, payload)
}

fn ids(event: &Event) -> (Option<&str>, Option<&str>) {
    (event.speaker.session.as_deref(), event.speaker.subagent.as_deref())
}

#[test]
fn every_moment_is_completed() {
    assert!(Moment::TABLE.iter().map(|(_, word)| *word).eq(WORDS.iter().copied()));
}

#[test]
fn claude_in_a_subagent() {
    let event = before(
        "claude",
        r#"{"session_id":"9ada","transcript_path":"~/.claude/projects/x/9ada.jsonl","cwd":"/p","prompt_id":"cbbf",
        "permission_mode":"bypassPermissions","agent_id":"af67","agent_type":"general-purpose","effort":{"level":"medium"},
        "hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"/p/a.txt","content":"x"},
        "tool_use_id":"toolu_1"}"#,
    );
    assert_eq!(ids(&event), (Some("9ada"), Some("af67")));
    assert_eq!(event.edited(), ["/p/a.txt"]);
    assert_eq!(event.folder.as_deref(), Some("/p"));
    assert!(event.has_claude_form);
}

#[test]
fn codex_changes_several_files_in_one_call() {
    let event = before(
        "codex",
        r#"{"session_id":"01a1-b9de","turn_id":"01a1","agent_id":"01a1-617d","cwd":"/p","hook_event_name":"PreToolUse",
        "tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: a.txt\n+x\n*** Add File: b.txt\n+y\n*** End Patch\n"}}"#,
    );
    assert_eq!(ids(&event), (Some("01a1-b9de"), Some("01a1-617d")));
    assert_eq!(event.edited(), ["a.txt", "b.txt"]);
}

#[test]
fn gemini_and_qwen() {
    let payload = r#"{"session_id":"c8f5","cwd":"/p","hook_event_name":"BeforeTool","timestamp":"2026-11-16T14:12:52.765Z",
        "tool_name":"write_file","tool_input":{"file_path":"/p/a.txt","content":"x"}}"#;
    for agent in ["gemini", "qwen"] {
        assert_eq!(before(agent, payload).edited(), ["/p/a.txt"], "{agent}");
    }
}

#[test]
fn copilot_names_the_parent_of_a_subagent() {
    let event = before(
        "copilot",
        r#"{"sessionId":"ef6a","timestamp":1794838840076,"cwd":"/p","toolName":"create",
        "toolArgs":{"path":"/p/a.txt","file_text":"x"},"agentId":"ef6a","agentType":"general-purpose","parentAgentId":"316f"}"#,
    );
    assert_eq!(ids(&event), (Some("316f"), Some("ef6a")));
    assert_eq!(event.edited(), ["/p/a.txt"]);
    assert!(!event.has_claude_form);
    let patch = before(
        "copilot",
        r#"{"sessionId":"e","toolName":"apply_patch","toolArgs":"*** Begin Patch\n*** Delete File: z\n*** End Patch"}"#,
    );
    assert_eq!(patch.edited(), ["z"]);
    assert_eq!(ids(&patch), (Some("e"), None));
}

#[test]
fn copilot_in_the_form_of_claude_keeps_its_own_arguments() {
    let event = before(
        "copilot",
        r#"{"session_id":"e","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"path":"/p/a","file_text":""}}"#,
    );
    assert_eq!(event.edited(), ["/p/a"]);
    assert!(event.has_claude_form);
}

#[test]
fn cline_says_that_the_main_agent_has_no_parent() {
    let payload = |parent: &str| {
        format!(
            r#"{{"taskId":"conv_1","sessionContext":{{"rootSessionId":"root"}},"workspaceRoots":["/p"],"agent_id":"agent_1",
            "parent_agent_id":{parent},"hookName":"tool_call","tool_call":{{"id":"1","name":"editor","input":{{"path":"/p/a"}}}},
            "preToolUse":{{"toolName":"editor","parameters":{{}}}}}}"#
        )
    };
    let main = before("cline", &payload("null"));
    assert_eq!(ids(&main), (Some("root"), None));
    assert_eq!(main.edited(), ["/p/a"]);
    assert_eq!(main.folder.as_deref(), Some("/p"));
    assert_eq!(ids(&before("cline", &payload("\"agent_0\""))).1, Some("agent_1"));
}

#[test]
fn tools_of_mcp_servers_count_if_they_change_files() {
    let paths = |tool: &str| {
        let payload = format!(r#"{{"tool_name":"{tool}","tool_input":{{"path":"a"}}}}"#);
        let event = before("claude", &payload);
        (event.edited().len(), event.read().len())
    };
    assert_eq!(paths("mcp__filesystem__write_file"), (1, 0));
    assert_eq!(paths("mcp__filesystem__edit_file"), (1, 0));
    assert_eq!(paths("mcp__filesystem__read_text_file"), (0, 1));
    assert_eq!(paths("mcp__filesystem__list_directory"), (0, 1));
    assert_eq!(paths("mcp__read_only_name__replace_lines"), (1, 0), "the server's name is no verb");
    assert_eq!(paths("Glob"), (0, 0));
    let moved = before(
        "claude",
        r#"{"tool_name":"mcp__fs__move_file","tool_input":{"source":"a","destination":"b"}}"#,
    );
    assert_eq!(moved.edited(), ["a", "b"]);
}

#[test]
fn an_agent_out_of_sight_is_known_by_its_tools() {
    let event = Event::parse(
        Moment::BeforeTool,
        None,
        br#"{"session_id":"s","tool_name":"write_file","tool_input":{"file_path":"a"}}"#,
    );
    assert_eq!(event.unwrap().edited(), ["a"]);
}

#[test]
fn hostile_payloads_are_an_error_or_say_nothing() {
    let deep = "[".repeat(100_000);
    let deep_object = "{\"a\":".repeat(100_000);
    for bytes in [
        &b""[..],
        b"{",
        b"null",
        b"[]",
        b"\"x\"",
        b"\xff\xfe",
        b"{\"tool_name\":\"\xff\"}",
        b"{\"session_id\":\"\\ud800\"}",
        deep.as_bytes(),
        deep_object.as_bytes(),
    ] {
        for (moment, _) in Moment::TABLE {
            assert!(Event::parse(moment, None, bytes).is_err(), "{:?}", bytes.get(..20));
        }
    }
    let wrong = r#"{"session_id":7,"agent_id":[],"cwd":{},"hook_event_name":null,"tool_name":"Write","tool_input":[1],
        "workspaceRoots":"x","sessionContext":3,"tool_call":"x","parentAgentId":{}}"#;
    for agent in AGENTS {
        let event = before(agent.name, wrong);
        assert_eq!(ids(&event), (None, None));
        assert_eq!(event.edited(), [""; 0]);
        for input in
            ["null", "3", "\"\"", "{\"path\":7}", "{\"path\":\" \"}", "{\"paths\":[[],{}]}"]
        {
            let payload = format!(r#"{{"tool_name":"Write","tool_input":{input}}}"#);
            assert_eq!(before(agent.name, &payload).edited(), [""; 0], "{input}");
        }
    }
    let huge = format!(
        r#"{{"tool_name":"Write","tool_input":{{"file_path":"a","content":"{}"}}}}"#,
        "x".repeat(8 << 20)
    );
    assert_eq!(before("claude", &huge).edited(), ["a"]);
}
