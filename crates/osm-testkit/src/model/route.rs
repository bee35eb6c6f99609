//! Which request wants what: the one table of paths.

use serde_json::{Value, json};

use super::conversation::{Answer, Conversation};
use super::http::{Request, Response};
use super::script::Scripts;
use super::{anthropic, chat, gemini, responses, sse};

/// One wire format.
struct Wire {
    parse: fn(&Value) -> Conversation,
    whole: fn(&Answer) -> Value,
    stream: fn(&Answer) -> Vec<sse::Event>,
    /// What ends a stream, where closing it is not enough.
    end: &'static str,
}

const ANTHROPIC: Wire =
    Wire { parse: anthropic::parse, whole: anthropic::whole, stream: anthropic::stream, end: "" };

const RESPONSES: Wire =
    Wire { parse: responses::parse, whole: responses::whole, stream: responses::stream, end: "" };

const CHAT: Wire =
    Wire { parse: chat::parse, whole: chat::whole, stream: chat::stream, end: "data: [DONE]\n\n" };

const GEMINI: Wire =
    Wire { parse: gemini::parse, whole: gemini::whole, stream: gemini::stream, end: "" };

/// The end of a path, its format, and whether the answer is streamed (`None`: the body says).
const CONVERSATIONS: [(&str, Wire, Option<bool>); 5] = [
    ("/messages", ANTHROPIC, None),
    ("/responses", RESPONSES, None),
    ("/chat/completions", CHAT, None),
    (":streamGenerateContent", GEMINI, Some(true)),
    (":generateContent", GEMINI, Some(false)),
];

/// Answers any request. `number` differs from one to the next.
pub(super) fn answer(request: &Request, number: u64, scripts: &mut Scripts) -> Response {
    let path = request.path();
    if request.method != "POST" {
        return side(path);
    }
    if path.ends_with("/count_tokens") || path.ends_with(":countTokens") {
        return Response::json(&json!({ "input_tokens": 1, "totalTokens": 1 }));
    }
    let Some((_, wire, streamed)) = CONVERSATIONS.iter().find(|(end, ..)| path.ends_with(end))
    else {
        return Response::error(404, &format!("nothing is served at {path}"));
    };
    let body: Value = match serde_json::from_slice(&request.body) {
        Ok(body) => body,
        Err(error) => return Response::error(400, &format!("the body is not JSON: {error}")),
    };
    let answer = Answer {
        number,
        model: model_name(path, &body),
        reply: (wire.parse)(&body).reply(scripts),
    };
    if streamed.unwrap_or(body["stream"] == json!(true)) {
        Response::events(sse::body(&(wire.stream)(&answer)) + wire.end)
    } else {
        Response::json(&(wire.whole)(&answer))
    }
}

/// What agents look at before they talk: is anybody there, and which models.
fn side(path: &str) -> Response {
    if path.ends_with("/models") {
        // Two spellings of an empty list: OpenAI's and Anthropic's, Google's and Codex's.
        return Response::json(&json!({ "object": "list", "data": [], "models": [] }));
    }
    if path == "/" {
        return Response::json(&json!({}));
    }
    Response::error(404, &format!("nothing is served at {path}"))
}

/// The model that is asked for: in the body, or, with Gemini, in the path.
fn model_name(path: &str, body: &Value) -> String {
    let in_path = || Some(path.rsplit_once("/models/")?.1.split(':').next()?.to_owned());
    let in_body = body["model"].as_str().map(str::to_owned);
    in_body.or_else(in_path).unwrap_or_else(|| "scripted".to_owned())
}
