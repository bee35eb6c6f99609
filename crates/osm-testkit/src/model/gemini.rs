//! Gemini `generateContent`: what Gemini CLI speaks.

use serde_json::{Value, json};

use super::conversation::{Answer, Conversation, Reply, Tool, Turn};
use super::sse::Event;

pub(super) fn parse(body: &Value) -> Conversation {
    let groups = body["tools"].as_array().into_iter().flatten();
    let tools = groups.flat_map(|group| {
        group["functionDeclarations"].as_array().into_iter().flatten().map(|tool| {
            // Two fields for one thing: JSON schema, and Google's own dialect of it.
            let parameters = tool.get("parametersJsonSchema").or_else(|| tool.get("parameters"));
            Tool {
                name: tool["name"].as_str().unwrap_or_default().to_owned(),
                parameters: parameters.cloned().unwrap_or_default(),
            }
        })
    });
    let mut turns = Vec::new();
    for content in body["contents"].as_array().into_iter().flatten() {
        if content["role"] == "model" {
            continue;
        }
        for part in content["parts"].as_array().into_iter().flatten() {
            if let Some(text) = part["text"].as_str() {
                turns.push(Turn::User(text.to_owned()));
            }
            if let Some(result) = part.get("functionResponse") {
                let response = &result["response"];
                let text = response["output"].as_str().map(str::to_owned);
                turns.push(Turn::ToolResult(text.unwrap_or_else(|| response.to_string())));
            }
        }
    }
    let config = &body["generationConfig"];
    let schema = config.get("responseJsonSchema").or_else(|| config.get("responseSchema"));
    Conversation { tools: tools.collect(), turns, answer_schema: schema.cloned() }
}

pub(super) fn whole(answer: &Answer) -> Value {
    let part = match &answer.reply {
        Reply::Say(text) => json!({ "text": text }),
        Reply::Call { id, tool, arguments } => {
            json!({ "functionCall": { "id": id, "name": tool, "args": arguments } })
        }
    };
    json!({
        "candidates": [{
            "index": 0,
            "content": { "role": "model", "parts": [part] },
            "finishReason": "STOP",
        }],
        "usageMetadata": {
            "promptTokenCount": 1,
            "candidatesTokenCount": 1,
            "totalTokenCount": 2,
        },
        "modelVersion": answer.model,
        "responseId": format!("response-{}", answer.number),
    })
}

/// A stream of one piece, which is as long as a piece may be.
pub(super) fn stream(answer: &Answer) -> Vec<Event> {
    vec![Event::unnamed(whole(answer))]
}
