//! Anthropic Messages: what Claude Code speaks.

use serde_json::{Value, json};

use super::conversation::{Answer, Conversation, Reply, Tool, Turn, text_of};
use super::sse::Event;

pub(super) fn parse(body: &Value) -> Conversation {
    let tools = body["tools"].as_array().into_iter().flatten().map(|tool| Tool {
        name: tool["name"].as_str().unwrap_or_default().to_owned(),
        parameters: tool["input_schema"].clone(),
    });
    let mut turns = Vec::new();
    for message in body["messages"].as_array().into_iter().flatten() {
        if message["role"] != "user" {
            continue;
        }
        if let Some(text) = message["content"].as_str() {
            turns.push(Turn::User(text.to_owned()));
        }
        for block in message["content"].as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("text") => {
                    turns.push(Turn::User(block["text"].as_str().unwrap_or_default().to_owned()));
                }
                Some("tool_result") => turns.push(Turn::ToolResult(text_of(&block["content"]))),
                _ => {}
            }
        }
    }
    let schema = &body["output_config"]["format"]["schema"];
    Conversation {
        tools: tools.collect(),
        turns,
        answer_schema: (!schema.is_null()).then(|| schema.clone()),
    }
}

pub(super) fn whole(answer: &Answer) -> Value {
    let mut message = message(answer);
    message["content"] = json!([block(&answer.reply)]);
    message["stop_reason"] = stop_reason(&answer.reply).into();
    message
}

pub(super) fn stream(answer: &Answer) -> Vec<Event> {
    // A block is announced empty and then filled.
    let (empty, delta) = match &answer.reply {
        Reply::Say(text) => {
            (json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": text }))
        }
        Reply::Call { id, tool, arguments } => (
            json!({ "type": "tool_use", "id": id, "name": tool, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": arguments.to_string() }),
        ),
    };
    let stop = json!({ "stop_reason": stop_reason(&answer.reply), "stop_sequence": null });
    vec![
        Event::typed("message_start", json!({ "message": message(answer) })),
        Event::typed("content_block_start", json!({ "index": 0, "content_block": empty })),
        Event::typed("content_block_delta", json!({ "index": 0, "delta": delta })),
        Event::typed("content_block_stop", json!({ "index": 0 })),
        Event::typed("message_delta", json!({ "delta": stop, "usage": { "output_tokens": 1 } })),
        Event::typed("message_stop", json!({})),
    ]
}

/// The message before it has content.
fn message(answer: &Answer) -> Value {
    json!({
        "id": format!("msg_{}", answer.number),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [],
        "stop_reason": null,
        "stop_sequence": null,
        "usage": { "input_tokens": 1, "output_tokens": 1 },
    })
}

fn block(reply: &Reply) -> Value {
    match reply {
        Reply::Say(text) => json!({ "type": "text", "text": text }),
        Reply::Call { id, tool, arguments } => {
            json!({ "type": "tool_use", "id": id, "name": tool, "input": arguments })
        }
    }
}

fn stop_reason(reply: &Reply) -> &'static str {
    match reply {
        Reply::Say(_) => "end_turn",
        Reply::Call { .. } => "tool_use",
    }
}
