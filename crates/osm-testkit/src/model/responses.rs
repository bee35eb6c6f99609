//! `OpenAI` Responses: what Codex speaks.

use serde_json::{Value, json};

use super::conversation::{Answer, Conversation, Reply, Tool, Turn, text_of};
use super::sse::Event;

pub(super) fn parse(body: &Value) -> Conversation {
    let tools = body["tools"].as_array().into_iter().flatten();
    // Only functions have arguments by a schema; a custom tool takes a text.
    let kinds = ["function", "custom"];
    let tools =
        tools.filter(|tool| kinds.iter().any(|kind| tool["type"] == *kind)).map(|tool| Tool {
            name: tool["name"].as_str().unwrap_or_default().to_owned(),
            parameters: tool["parameters"].clone(),
        });
    let mut turns = Vec::new();
    if let Some(text) = body["input"].as_str() {
        turns.push(Turn::User(text.to_owned()));
    }
    for item in body["input"].as_array().into_iter().flatten() {
        // A message may go without a type.
        match item["type"].as_str() {
            None | Some("message") if item["role"] == "user" => {
                turns.push(Turn::User(text_of(&item["content"])));
            }
            Some("function_call_output" | "custom_tool_call_output") => {
                turns.push(Turn::ToolResult(text_of(&item["output"])));
            }
            _ => {}
        }
    }
    let schema = &body["text"]["format"]["schema"];
    Conversation {
        tools: tools.collect(),
        turns,
        answer_schema: (!schema.is_null()).then(|| schema.clone()),
    }
}

pub(super) fn whole(answer: &Answer) -> Value {
    response(answer, "completed", &[item(answer)])
}

pub(super) fn stream(answer: &Answer) -> Vec<Event> {
    let item = item(answer);
    let mut started = item.clone();
    started["status"] = "in_progress".into();
    let mut events = vec![Event::typed(
        "response.created",
        json!({ "response": response(answer, "in_progress", &[]) }),
    )];
    match &answer.reply {
        Reply::Say(text) => {
            started["content"] = json!([]);
            let place = json!({ "item_id": item["id"], "output_index": 0, "content_index": 0 });
            let with = |key: &str, value: &str| {
                let mut data = place.clone();
                data[key] = value.into();
                data
            };
            events.extend([
                added(&started),
                Event::typed("response.output_text.delta", with("delta", text)),
                Event::typed("response.output_text.done", with("text", text)),
            ]);
        }
        Reply::Call { arguments: Value::String(_), .. } => {
            started["input"] = "".into();
            events.push(added(&started));
        }
        Reply::Call { arguments, .. } => {
            started["arguments"] = "".into();
            let arguments = arguments.to_string();
            events.extend([
                added(&started),
                Event::typed(
                    "response.function_call_arguments.delta",
                    json!({ "item_id": item["id"], "output_index": 0, "delta": arguments }),
                ),
                Event::typed(
                    "response.function_call_arguments.done",
                    json!({ "item_id": item["id"], "output_index": 0, "arguments": arguments }),
                ),
            ]);
        }
    }
    events.extend([
        Event::typed("response.output_item.done", json!({ "output_index": 0, "item": item })),
        Event::typed("response.completed", json!({ "response": whole(answer) })),
    ]);
    for (number, Event(_, data)) in events.iter_mut().enumerate() {
        data["sequence_number"] = number.into();
    }
    events
}

fn added(item: &Value) -> Event {
    Event::typed("response.output_item.added", json!({ "output_index": 0, "item": item }))
}

fn response(answer: &Answer, status: &str, output: &[Value]) -> Value {
    json!({
        "id": format!("resp_{}", answer.number),
        "object": "response",
        "created_at": 0,
        "status": status,
        "model": answer.model,
        "output": output,
        "usage": {
            "input_tokens": 1,
            "input_tokens_details": { "cached_tokens": 0 },
            "output_tokens": 1,
            "output_tokens_details": { "reasoning_tokens": 0 },
            "total_tokens": 2,
        },
    })
}

fn item(answer: &Answer) -> Value {
    match &answer.reply {
        Reply::Say(text) => json!({
            "type": "message",
            "id": format!("msg_{}", answer.number),
            "role": "assistant",
            "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }),
        Reply::Call { id, tool, arguments: Value::String(input) } => json!({
            "type": "custom_tool_call",
            "id": format!("ctc_{}", answer.number),
            "call_id": id,
            "name": tool,
            "input": input,
            "status": "completed",
        }),
        Reply::Call { id, tool, arguments } => {
            let mut call = json!({
                "type": "function_call",
                "id": format!("fc_{}", answer.number),
                "call_id": id,
                "name": tool,
                "arguments": arguments.to_string(),
                "status": "completed",
            });
            // The tools of a server are in a namespace.
            if let Some((namespace, name)) =
                tool.rsplit_once("__").filter(|_| tool.starts_with("mcp__"))
            {
                call["namespace"] = namespace.into();
                call["name"] = name.into();
            }
            call
        }
    }
}
