//! What each agent reads.

use super::*;
use crate::agent::table::AGENTS;

fn event(agent: &Agent, moment: Moment, payload: &str) -> Event {
    Event::parse(moment, Some(agent), payload.as_bytes()).unwrap()
}

fn answered(name: &str, payload: &str, verdict: &Verdict) -> String {
    let agent = Agent::named(name).unwrap();
    Answer::new(Some(agent), &event(agent, Moment::BeforeTool, payload), verdict).output
}

const CLAUDE: &str = r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"path":"a"}}"#;
const OTHER: &str =
    r#"{"sessionId":"s","cwd":"/w","tool_name":"editor","tool_input":{"path":"a"}}"#;

#[test]
fn a_refusal_in_every_dialect() {
    let refusal = Verdict::refuse("held");
    for (agent, payload, expected) in [
        (
            "claude",
            CLAUDE,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"held"}}"#,
        ),
        ("gemini", CLAUDE, r#"{"decision":"deny","reason":"held"}"#),
        ("copilot", OTHER, r#"{"permissionDecision":"deny","permissionDecisionReason":"held"}"#),
        (
            "copilot",
            CLAUDE,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"held"}}"#,
        ),
        (
            "cline",
            OTHER,
            r#"{"cancel":false,"overrideInput":{"path":"/w","old_text":"(refused by osm) held","new_text":""},"contextModification":"held"}"#,
        ),
        ("pi", OTHER, r#"{"refusal":"held"}"#),
        ("cursor", OTHER, r#"{"permission":"deny","user_message":"held","agent_message":"held"}"#),
        ("crush", OTHER, r#"{"decision":"deny","reason":"held"}"#),
    ] {
        assert_eq!(answered(agent, payload, &refusal), expected, "{agent}");
    }
}

#[test]
fn context_at_the_start() {
    let tell = Verdict::tell("you are swift-otter");
    let agent = Agent::named("claude").unwrap();
    let start = event(agent, Moment::SessionStart, r#"{"session_id":"s","source":"startup"}"#);
    assert_eq!(
        Answer::new(Some(agent), &start, &tell).output,
        r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"you are swift-otter"}}"#
    );
    assert_eq!(answered("copilot", OTHER, &tell), r#"{"additionalContext":"you are swift-otter"}"#);
}

#[test]
fn nothing_to_say_is_no_output() {
    for agent in AGENTS {
        for (moment, _) in Moment::TABLE {
            for payload in [CLAUDE, OTHER, "{}"] {
                let event = event(agent, moment, payload);
                let answer = Answer::new(Some(agent), &event, &Verdict::default());
                assert_eq!(answer, Answer::default(), "{}", agent.name);
            }
        }
    }
}

#[test]
fn every_answer_is_one_json_object() {
    let verdict = Verdict {
        refusal: Some("a \"b\"\n\u{1b}[31m\u{0}".into()),
        context: Some("c".into()),
        warning: Some("d".into()),
        input: Some(json!({ "command": "e" })),
    };
    for agent in AGENTS {
        let output = answered(agent.name, CLAUDE, &verdict);
        assert!(serde_json::from_str::<Map<String, Value>>(&output).is_ok(), "{output}");
        assert_eq!(output.lines().count(), 1, "{output}");
        assert!(output.contains(r#"a \"b\"\n"#), "{}: the model reads the reason", agent.name);
    }
}
