//! Which session a hook belongs to: the one that a shell command of the same conversation has.
//!
//! Agents give the id of the conversation to their shell commands in a variable, and to their hooks in the
//! payload; the variable may be missing in a hook, or be left from before a resume. So the payload is put
//! into the variable, and identity is detected as for a shell command. The process tree says which agent it
//! is, and so which variable.

use osm_identity::Environment;

use super::event::{Event, Speaker};
use super::table::{Agent, Identity, SubAgent};

/// The variable that tells sub-agents apart where the agent has none.
const CONTEXT: &str = "OSM_CONTEXT_ID";

/// The variables that name the conversation of an agent.
pub(crate) fn conversation_variables(agent: &Agent) -> &'static [&'static str] {
    match agent.identity {
        Identity::Conversation { variables, .. } => variables,
        Identity::Process { .. } => &[],
    }
}

/// The variables that a shell command of this conversation has.
pub(crate) fn variables(agent: &Agent, speaker: &Speaker) -> Vec<(&'static str, String)> {
    let names = conversation_variables(agent);
    let (Identity::Conversation { subagent: told, .. } | Identity::Process { subagent: told }) =
        agent.identity;
    let mut variables = Vec::new();
    if let Some(session) = speaker.session.as_deref().filter(|it| is_plain(it)) {
        variables.extend(names.iter().map(|name| (*name, session.to_owned())));
    }
    if let Some(subagent) = speaker.subagent.as_deref().filter(|it| is_plain(it)) {
        match told {
            SubAgent::Same => {}
            SubAgent::Variable(name) => variables.push((name, subagent.to_owned())),
            SubAgent::Context => variables.push((CONTEXT, subagent.to_owned())),
            SubAgent::Conversation(name) => {
                variables.retain(|(it, _)| *it != name);
                variables.push((name, subagent.to_owned()));
            }
        }
    }
    variables
}

/// The environment of a hook, as a shell command of its conversation would have it.
pub(crate) fn environment(
    environment: &Environment,
    variables: &[(&'static str, String)],
) -> Environment {
    environment.with(variables.iter().map(|(name, value)| (*name, value.as_str())))
}

/// What must stand before the command of a sub-agent's shell, so that osm tells it from its siblings.
/// `None` where the agent does so by itself.
pub(crate) fn shell_prefix(agent: &Agent, event: &Event) -> Option<String> {
    let told = match agent.identity {
        Identity::Conversation { subagent, .. } | Identity::Process { subagent } => subagent,
    };
    if told != SubAgent::Context || event.speaker.subagent.is_none() {
        return None;
    }
    let variables = variables(agent, &event.speaker);
    let words: Vec<String> =
        variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    (!words.is_empty()).then(|| format!("export {}; ", words.join(" ")))
}

/// Whether an id needs no quotes in a shell. Ids of all agents are of this kind; another one is not believed.
fn is_plain(id: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    !id.is_empty() && id.len() <= 256 && id.bytes().all(is_safe)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::event::Moment;

    fn told(agent: &str, payload: &str) -> (String, Option<String>) {
        let agent = Agent::named(agent).unwrap();
        let event = Event::parse(Moment::BeforeTool, Some(agent), payload.as_bytes()).unwrap();
        let variables = variables(agent, &event.speaker);
        let words: Vec<String> =
            variables.iter().map(|(name, it)| format!("{name}={it}")).collect();
        (words.join(" "), shell_prefix(agent, &event))
    }

    #[test]
    fn a_hook_has_the_variables_of_a_shell_command() {
        let main = r#"{"session_id":"s"}"#;
        let sub = r#"{"session_id":"s","agent_id":"a"}"#;
        assert_eq!(told("claude", main), ("CLAUDE_CODE_SESSION_ID=s".into(), None));
        assert_eq!(
            told("claude", sub),
            (
                "CLAUDE_CODE_SESSION_ID=s OSM_CONTEXT_ID=a".into(),
                Some("export CLAUDE_CODE_SESSION_ID=s OSM_CONTEXT_ID=a; ".into())
            )
        );
        assert_eq!(told("codex", main).0, "CODEX_SESSION_ID=s CODEX_THREAD_ID=s");
        assert_eq!(told("codex", sub), ("CODEX_SESSION_ID=s CODEX_THREAD_ID=a".into(), None));
        assert_eq!(told("gemini", sub), (String::new(), None));
        assert_eq!(told("qwen", sub).0, "QWEN_CODE_SESSION_ID=s QWEN_CODE_AGENT_ID=a");
        assert_eq!(
            told("copilot", r#"{"sessionId":"b","agentId":"b","parentAgentId":"s"}"#).1,
            Some("export COPILOT_AGENT_SESSION_ID=s OSM_CONTEXT_ID=b; ".into())
        );
    }

    #[test]
    fn an_id_is_never_code() {
        for id in ["a b", "a;b", "$(a)", "a'b", "a\\n", &"a".repeat(257)] {
            let payload = format!(r#"{{"session_id":"{id}","agent_id":"{id}"}}"#);
            assert_eq!(told("claude", &payload), (String::new(), None), "{id}");
        }
    }
}
