//! The scripted model, asked in each wire format over a plain socket.

use std::io::{Read, Write};
use std::net::TcpStream;

use osm_testkit::model::ScriptedModel;
use serde_json::{Value, json};

/// Sends bytes as they are and returns the status and the body of the answer.
fn send(model: &ScriptedModel, request: &[u8]) -> (u16, String) {
    let address = model.url();
    let mut stream = TcpStream::connect(address.strip_prefix("http://").unwrap()).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let length = head.lines().find_map(|l| l.strip_prefix("content-length: ")).unwrap();
    if !request.starts_with(b"HEAD ") {
        assert_eq!(length.parse::<usize>().unwrap(), body.len());
    }
    (status, body.to_owned())
}

fn post(model: &ScriptedModel, target: &str, body: &Value) -> String {
    let body = body.to_string();
    let request = format!("POST {target} HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let (status, answer) = send(model, request.as_bytes());
    assert_eq!(status, 200, "{answer}");
    answer
}

fn json_of(model: &ScriptedModel, target: &str, body: &Value) -> Value {
    serde_json::from_str(&post(model, target, body)).unwrap()
}

/// The events of a stream: name, or nothing, and data.
fn events(stream: &str) -> Vec<(String, Value)> {
    let blocks = stream.split("\n\n").filter(|block| !block.is_empty() && *block != "data: [DONE]");
    let event = |block: &str| {
        let field =
            |name: &str| block.lines().find_map(|line| Some(line.strip_prefix(name)?.to_owned()));
        let data = field("data: ").unwrap();
        (field("event: ").unwrap_or_default(), serde_json::from_str(&data).unwrap())
    };
    blocks.map(event).collect()
}

fn names(events: &[(String, Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn anthropic_messages() {
    let model = ScriptedModel::start().unwrap();
    let script = model.script(&["echo one", "echo two"]);
    let tools = json!([
        { "name": "Monitor", "input_schema": { "properties": { "command": { "type": "string" } } } },
        { "name": "Bash", "input_schema": {
            "properties": { "command": { "type": "string" }, "description": { "type": "string" } },
            "required": ["command"],
        } },
    ]);
    let prompt = json!({ "role": "user", "content": [
        { "type": "text", "text": "<system-reminder>Be kind.</system-reminder>" },
        { "type": "text", "text": script.prompt() },
    ] });
    let ask = |messages: &[&Value], stream: bool| json!({ "model": "m", "tools": tools, "messages": messages, "stream": stream });

    let first = post(&model, "/v1/messages?beta=true", &ask(&[&prompt], true));
    let first = events(&first);
    assert_eq!(
        names(&first),
        [
            "message_start",
            "content_block_start",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
    assert!(first.iter().all(|(name, data)| data["type"] == name.as_str()));
    assert_eq!(first[0].1["message"]["model"], "m");
    assert_eq!(first[1].1["content_block"]["name"], "Bash");
    let input = first[2].1["delta"]["partial_json"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(input).unwrap(), json!({ "command": "echo one" }));
    assert_eq!(first[4].1["delta"]["stop_reason"], "tool_use");

    // The same in one piece, and the same again: an answer follows from the request.
    let whole = json_of(&model, "/v1/messages", &ask(&[&prompt], false));
    assert_eq!(whole["content"][0]["id"], first[1].1["content_block"]["id"]);
    assert_eq!(whole["content"][0]["input"], json!({ "command": "echo one" }));
    assert_eq!(whole["stop_reason"], "tool_use");

    let call = json!({ "role": "assistant", "content": whole["content"] });
    let result = |content: Value| {
        json!({ "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": "x", "content": content },
            { "type": "text", "text": "<system-reminder>Still kind?</system-reminder>" },
        ] })
    };
    let one = result(json!("one"));
    let second = json_of(&model, "/v1/messages", &ask(&[&prompt, &call, &one], false));
    assert_eq!(second["content"][0]["input"], json!({ "command": "echo two" }));

    let two = result(json!([{ "type": "text", "text": "two" }]));
    let last = ask(&[&prompt, &call, &one, &call, &two], true);
    let last = events(&post(&model, "/v1/messages", &last));
    assert_eq!(last[2].1["delta"]["type"], "text_delta");
    assert_eq!(last[4].1["delta"]["stop_reason"], "end_turn");
    assert_eq!(model.results(&script), ["one", "two"]);

    // Resumed: the earlier results belong to the earlier prompt.
    let again = model.script(&["echo three"]);
    let again = json!({ "role": "user", "content": again.prompt() });
    let resumed = ask(&[&prompt, &call, &one, &call, &two, &again], false);
    let resumed = json_of(&model, "/v1/messages", &resumed);
    assert_eq!(resumed["content"][0]["input"], json!({ "command": "echo three" }));

    let count = json_of(&model, "/v1/messages/count_tokens", &ask(&[&prompt], false));
    assert_eq!(count["input_tokens"], 1);
}

#[test]
fn openai_responses() {
    let model = ScriptedModel::start().unwrap();
    let script = model.script(&["pwd"]);
    let tools = json!([
        { "type": "web_search" },
        { "type": "function", "name": "exec_command", "parameters": {
            "properties": {
                "cmd": { "type": "string" },
                "yield_time_ms": { "type": "number" },
                "justification": { "type": "string" },
            },
            "required": ["cmd"],
        } },
    ]);
    let prompt = json!({ "type": "message", "role": "user", "content": [
        { "type": "input_text", "text": script.prompt() },
    ] });
    let ask = |input: &[&Value], stream: bool| json!({ "model": "m", "tools": tools, "input": input, "stream": stream });

    let first = events(&post(&model, "/v1/responses", &ask(&[&prompt], true)));
    assert_eq!(
        names(&first),
        [
            "response.created",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    for (number, (name, data)) in first.iter().enumerate() {
        assert_eq!(data["type"], name.as_str());
        assert_eq!(data["sequence_number"], number);
    }
    let item = &first[4].1["item"];
    assert_eq!(item["type"], "function_call");
    assert_eq!(item["name"], "exec_command");
    let arguments: Value = serde_json::from_str(item["arguments"].as_str().unwrap()).unwrap();
    assert_eq!(arguments, json!({ "cmd": "pwd", "yield_time_ms": 30_000 }));
    assert_eq!(first[5].1["response"]["output"][0], *item);
    assert!(first[5].1["response"]["usage"]["total_tokens"].is_u64());

    let output = json!({ "type": "function_call_output", "call_id": "x", "output": "/work" });
    let last = events(&post(&model, "/v1/responses", &ask(&[&prompt, item, &output], true)));
    assert_eq!(
        names(&last),
        [
            "response.created",
            "response.output_item.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    assert_eq!(last[4].1["item"]["content"][0]["type"], "output_text");
    assert_eq!(model.results(&script), ["/work"]);

    let whole = json_of(&model, "/v1/responses", &ask(&[&prompt], false));
    assert_eq!(whole["status"], "completed");
    assert_eq!(whole["output"][0]["call_id"], item["call_id"]);
}

#[test]
fn a_shell_that_takes_a_list() {
    let model = ScriptedModel::start().unwrap();
    let script = model.script(&["a; b"]);
    let body = json!({
        "input": script.prompt(),
        "tools": [{ "type": "function", "name": "shell", "parameters": {
            "properties": { "command": { "type": "array", "items": { "type": "string" } } },
        } }],
    });
    let answer = json_of(&model, "/v1/responses", &body);
    let arguments = answer["output"][0]["arguments"].as_str().unwrap();
    assert_eq!(arguments, r#"{"command":["bash","-c","a; b"]}"#);
}

#[test]
fn openai_chat_completions() {
    let model = ScriptedModel::start().unwrap();
    let script = model.script(&["ls"]);
    let tools = json!([{ "type": "function", "function": { "name": "run_shell_command",
        "parameters": {
            "properties": {
                "command": { "type": "string" },
                "is_background": { "type": "boolean" },
                "description": { "type": "string" },
                "mode": { "enum": ["safe", "fast"] },
                "timeout": { "type": ["integer", "null"], "minimum": 5 },
            },
            "required": ["command", "is_background", "mode", "timeout"],
        },
    } }]);
    let prompt =
        json!({ "role": "user", "content": [{ "type": "text", "text": script.prompt() }] });
    let ask = |messages: &[&Value], stream: bool| json!({ "model": "m", "tools": tools, "messages": messages, "stream": stream });

    let stream = post(&model, "/v1/chat/completions", &ask(&[&prompt], true));
    assert!(stream.ends_with("data: [DONE]\n\n"));
    let first = events(&stream);
    assert_eq!(names(&first), ["", "", ""]);
    assert!(first[..2].iter().all(|(_, chunk)| chunk["usage"].is_null()));
    assert_eq!(first[2].1["choices"], json!([]));
    assert_eq!(first[2].1["usage"]["total_tokens"], 2);
    let call = &first[0].1["choices"][0]["delta"]["tool_calls"][0];
    assert_eq!(call["index"], 0);
    assert_eq!(call["function"]["name"], "run_shell_command");
    let arguments = call["function"]["arguments"].as_str().unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(arguments).unwrap(),
        json!({ "command": "ls", "is_background": false, "mode": "safe", "timeout": 5 })
    );
    assert_eq!(first[1].1["choices"][0]["finish_reason"], "tool_calls");

    let whole = json_of(&model, "/v1/chat/completions", &ask(&[&prompt], false));
    assert_eq!(whole["choices"][0]["message"]["tool_calls"][0]["id"], call["id"]);
    assert_eq!(whole["choices"][0]["finish_reason"], "tool_calls");

    let assistant = json!({ "role": "assistant", "content": null, "tool_calls": [call] });
    let tool = json!({ "role": "tool", "tool_call_id": call["id"], "content": "file" });
    let last = ask(&[&prompt, &assistant, &tool], true);
    let last = events(&post(&model, "/v1/chat/completions", &last));
    assert!(last[0].1["choices"][0]["delta"]["content"].is_string());
    assert_eq!(last[1].1["choices"][0]["finish_reason"], "stop");
    assert_eq!(model.results(&script), ["file"]);
}

#[test]
fn gemini_generate_content() {
    let model = ScriptedModel::start().unwrap();
    let script = model.script(&["date"]);
    let tools = json!([{ "functionDeclarations": [
        { "name": "read_file", "parametersJsonSchema": { "properties": { "path": {} } } },
        { "name": "run_shell_command", "parametersJsonSchema": {
            "type": "object",
            "properties": { "command": { "type": "STRING" } },
            "required": ["command"],
        } },
    ] }]);
    let prompt = json!({ "role": "user", "parts": [{ "text": script.prompt() }] });
    let ask = |contents: &[&Value]| json!({ "tools": tools, "contents": contents });
    let stream = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";

    let first = events(&post(&model, stream, &ask(&[&prompt])));
    assert_eq!(names(&first), [""]);
    assert_eq!(first[0].1["modelVersion"], "gemini-2.5-pro");
    let candidate = &first[0].1["candidates"][0];
    assert_eq!(candidate["finishReason"], "STOP");
    let call = &candidate["content"]["parts"][0]["functionCall"];
    assert_eq!(call["name"], "run_shell_command");
    assert_eq!(call["args"], json!({ "command": "date" }));

    let response = json!({ "role": "user", "parts": [{ "functionResponse": {
        "id": call["id"], "name": call["name"], "response": { "output": "today" },
    } }] });
    let contents = [&prompt, &candidate["content"], &response];
    let last = events(&post(&model, stream, &ask(&contents)));
    assert!(last[0].1["candidates"][0]["content"]["parts"][0]["text"].is_string());
    assert_eq!(model.results(&script), ["today"]);

    // What agents ask on the side: in one piece, and for JSON of a given shape.
    let body = json!({ "contents": [prompt], "generationConfig": { "responseJsonSchema": {
        "type": "object",
        "properties": { "next_speaker": { "type": "string", "enum": ["user", "model"] } },
        "required": ["next_speaker"],
    } } });
    let whole = json_of(&model, "/v1beta/models/gemini-2.5-pro:generateContent", &body);
    let text = &whole["candidates"][0]["content"]["parts"][0]["text"];
    assert_eq!(text, r#"{"next_speaker":"user"}"#);

    let count = json_of(&model, "/v1beta/models/gemini-2.5-pro:countTokens", &body);
    assert_eq!(count["totalTokens"], 1);
}

#[test]
fn a_request_without_a_shell_or_a_script_gets_a_sentence() {
    let model = ScriptedModel::start().unwrap();
    let script = model.script(&["never"]);
    let shell = json!([{ "type": "function", "function": {
        "name": "bash", "parameters": { "properties": { "command": { "type": "string" } } },
    } }]);
    let say = |tools: &Value, text: &str| {
        let messages = json!([{ "role": "user", "content": text }]);
        let body = json!({ "tools": tools, "messages": messages });
        json_of(&model, "/chat/completions", &body)["choices"][0]["finish_reason"].clone()
    };
    assert_eq!(say(&json!([]), &script.prompt()), "stop");
    assert_eq!(say(&shell, "hello"), "stop");
    assert_eq!(say(&shell, "Please do scripted-task-7."), "stop");
    assert_eq!(say(&shell, &script.prompt()), "tool_calls");
    assert!(model.results(&script).is_empty());
}

#[test]
fn two_scripts_do_not_meet() {
    let model = ScriptedModel::start().unwrap();
    let scripts = [model.script(&["a"]), model.script(&["b"])];
    let commands = scripts.map(|script| {
        let body = json!({
            "messages": [{ "role": "user", "content": script.prompt() }],
            "tools": [{ "name": "Bash", "input_schema": { "properties": { "command": {} } } }],
        });
        json_of(&model, "/v1/messages", &body)["content"][0]["input"]["command"].clone()
    });
    assert_eq!(commands, ["a", "b"]);
}

#[test]
fn what_is_not_a_conversation() {
    let model = ScriptedModel::start().unwrap();
    let get = |request: &str| send(&model, request.as_bytes());
    assert_eq!(get("HEAD / HTTP/1.1\r\n\r\n"), (200, String::new()));
    let (status, models) = get("GET /v1/models?limit=1 HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(status, 200);
    assert_eq!(serde_json::from_str::<Value>(&models).unwrap()["data"], json!([]));
    assert_eq!(get("GET /favicon.ico HTTP/1.1\r\n\r\n").0, 404);
    assert_eq!(get("POST /v1/embeddings HTTP/1.1\r\n\r\n").0, 404);
    assert_eq!(get("POST /v1/messages HTTP/1.1\r\nContent-Length: 1\r\n\r\n{").0, 400);
    assert_eq!(get("nonsense\r\n\r\n").0, 400);
    assert_eq!(get("POST / HTTP/1.1\r\nContent-Length: many\r\n\r\n").0, 400);
    assert_eq!(get("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n").0, 413);
    assert_eq!(get("POST / HTTP/1.1\r\nContent-Encoding: zstd\r\n\r\n").0, 415);
    assert_eq!(get("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n").0, 413);
    assert_eq!(get("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n").0, 400);
    assert_eq!(get(&format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(70_000))).0, 431);

    let seen: Vec<_> = model.exchanges().into_iter().map(|e| (e.method, e.status)).collect();
    assert_eq!(seen[0], ("HEAD".to_owned(), 200));
    assert_eq!(seen.len(), 12);
}

#[test]
fn a_body_in_chunks() {
    let model = ScriptedModel::start().unwrap();
    let request = "POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n\
                   4\r\n{\"mo\r\nA;x=1\r\ndel\":\"abc\"\r\n1\r\n}\r\n0\r\n\r\n";
    let (status, answer) = send(&model, request.as_bytes());
    assert_eq!(status, 200, "{answer}");
    assert_eq!(serde_json::from_str::<Value>(&answer).unwrap()["model"], "abc");
    assert_eq!(model.exchanges()[0].request, "{\"model\":\"abc\"}");
}
