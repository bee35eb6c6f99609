//! `OpenAI` Chat Completions: what opencode and Qwen Code speak, and most others can.

use serde_json::{Value, json};

use super::conversation::{Answer, Conversation, Reply, Tool, Turn, text_of};
use super::sse::Event;

pub(super) fn parse(body: &Value) -> Conversation {
    let tools = body["tools"].as_array().into_iter().flatten().map(|tool| Tool {
        name: tool["function"]["name"].as_str().unwrap_or_default().to_owned(),
        parameters: tool["function"]["parameters"].clone(),
    });
    let turns = body["messages"].as_array().into_iter().flatten().filter_map(|message| {
        let text = text_of(&message["content"]);
        match message["role"].as_str() {
            Some("user") => Some(Turn::User(text)),
            Some("tool") => Some(Turn::ToolResult(text)),
            _ => None,
        }
    });
    let schema = &body["response_format"]["json_schema"]["schema"];
    Conversation {
        tools: tools.collect(),
        turns: turns.collect(),
        answer_schema: (!schema.is_null()).then(|| schema.clone()),
    }
}

pub(super) fn whole(answer: &Answer) -> Value {
    let message = match &answer.reply {
        Reply::Say(text) => json!({ "role": "assistant", "content": text }),
        Reply::Call { .. } => {
            json!({ "role": "assistant", "content": null, "tool_calls": [call(&answer.reply)] })
        }
    };
    let choice = json!({
        "index": 0,
        "message": message,
        "finish_reason": finish_reason(&answer.reply),
    });
    let mut whole = envelope(answer, "chat.completion", &json!([choice]));
    whole["usage"] = usage();
    whole
}

pub(super) fn stream(answer: &Answer) -> Vec<Event> {
    let delta = match &answer.reply {
        Reply::Say(text) => json!({ "role": "assistant", "content": text }),
        Reply::Call { .. } => {
            let mut call = call(&answer.reply);
            call["index"] = json!(0);
            json!({ "role": "assistant", "content": null, "tool_calls": [call] })
        }
    };
    let chunk = |delta: Value, finish: Value| json!([{ "index": 0, "delta": delta, "finish_reason": finish }]);
    let chunks = [chunk(delta, Value::Null), chunk(json!({}), finish_reason(&answer.reply).into())];
    let mut events: Vec<Event> = chunks
        .map(|choices| Event::unnamed(envelope(answer, "chat.completion.chunk", &choices)))
        .into();
    // The usage comes last and alone: Continue reads no call in a chunk that has it.
    let mut last = envelope(answer, "chat.completion.chunk", &json!([]));
    last["usage"] = usage();
    events.push(Event::unnamed(last));
    events
}

fn envelope(answer: &Answer, object: &str, choices: &Value) -> Value {
    json!({
        "id": format!("chatcmpl-{}", answer.number),
        "object": object,
        "created": 0,
        "model": answer.model,
        "choices": choices,
    })
}

fn usage() -> Value {
    json!({ "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2 })
}

fn call(reply: &Reply) -> Value {
    let Reply::Call { id, tool, arguments } = reply else {
        return Value::Null;
    };
    json!({
        "id": id,
        "type": "function",
        "function": { "name": tool, "arguments": arguments.to_string() },
    })
}

fn finish_reason(reply: &Reply) -> &'static str {
    match reply {
        Reply::Say(_) => "stop",
        Reply::Call { .. } => "tool_calls",
    }
}
