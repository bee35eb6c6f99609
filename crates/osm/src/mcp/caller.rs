//! Whose call it is.
//!
//! The variables of a server are those of the agent's start, and the agent may have another conversation since. So
//! what is said later outranks them: what the agent sends with the call (Codex), or what it writes down about itself
//! (Claude Code, whose record `osm-identity` reads if no variable names the conversation).

use osm_identity::Catalogue;
use serde_json::{Map, Value};

use crate::World;
use crate::agent::event::Speaker;
use crate::agent::{Agent, identity};
use crate::invocation::{Invocation, Options};

/// The world of a call: that of the server, with the conversation that the call belongs to.
pub(super) fn world(world: &World, options: &Options, meta: &Map<String, Value>) -> World {
    let invocation = Invocation::new(world, options.clone());
    let found = invocation.detection().agent.as_ref();
    let Some(agent) = found.and_then(|found| Agent::of_catalogue(found.name)) else {
        return world.clone();
    };
    if let Some(speaker) = speaker(meta) {
        let variables = identity::variables(agent, &speaker);
        let environment = identity::environment(&world.environment, &variables);
        return World { environment, ..world.clone() };
    }
    recorded(world, options, agent, &invocation).unwrap_or_else(|| world.clone())
}

/// The conversation that a call names.
fn speaker(meta: &Map<String, Value>) -> Option<Speaker> {
    let turn = meta.get("x-codex-turn-metadata");
    let field = |flat: &str, nested: &str| {
        let value = meta.get(flat).or_else(|| turn?.get(nested))?;
        value.as_str().map(str::to_owned)
    };
    let thread = field("threadId", "thread_id");
    let session = field("sessionId", "session_id").or_else(|| thread.clone())?;
    let subagent = thread.filter(|thread| *thread != session);
    Some(Speaker { session: Some(session), subagent })
}

/// The world without the variables of the conversation, if the agent's own record then tells one.
fn recorded(
    world: &World,
    options: &Options,
    agent: &Agent,
    invocation: &Invocation,
) -> Option<World> {
    let row = Catalogue::new().agents().find(|it| it.name == agent.catalogue)?.record.is_some();
    if !row {
        return None;
    }
    let environment = world.environment.without(identity::conversation_variables(agent));
    let without = World { environment, ..world.clone() };
    let told = Invocation::new(&without, options.clone());
    let conversation = |it: &Invocation| {
        let agent = it.detection().agent.as_ref();
        agent.and_then(|agent| agent.conversation.clone())
    };
    let is_other = conversation(&told).is_some() && conversation(&told) != conversation(invocation);
    is_other.then_some(without)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn codex_names_the_conversation_with_each_call() {
        let of = |meta: Value| {
            let speaker = speaker(meta.as_object().unwrap())?;
            let codex = Agent::named("codex").unwrap();
            let variables = identity::variables(codex, &speaker);
            let words: Vec<String> =
                variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
            Some(words.join(" "))
        };
        let main = Some("CODEX_SESSION_ID=s CODEX_THREAD_ID=s".to_owned());
        assert_eq!(of(json!({"threadId": "s", "sessionId": "s", "callId": "c"})), main);
        assert_eq!(of(json!({"threadId": "s"})), main);
        let nested = json!({"x-codex-turn-metadata": {"session_id": "s", "thread_id": "s"}});
        assert_eq!(of(nested), main);
        let sub = Some("CODEX_SESSION_ID=s CODEX_THREAD_ID=t".to_owned());
        assert_eq!(of(json!({"threadId": "t", "sessionId": "s"})), sub);
        assert_eq!(of(json!({"progressToken": 1, "threadId": 7})), None);
        assert_eq!(of(json!({"sessionId": "a b; c"})), Some(String::new()), "no id is code");
    }
}
