//! JSON schemas, as far as one must read them to call a tool: the agents say there what their shell
//! wants, so no tool's arguments are written down here.

use serde_json::{Map, Value, json};

/// The argument that holds the command, for a tool that takes one.
pub(super) fn command_key(parameters: &Value) -> Option<&'static str> {
    ["command", "cmd", "commands"].into_iter().find(|key| !parameters["properties"][key].is_null())
}

/// Arguments that make a shell tool run `command`: that, and whatever else the schema requires.
pub(super) fn shell_arguments(parameters: &Value, command_key: &str, command: &str) -> Value {
    let mut arguments = required(parameters);
    let properties = &parameters["properties"];
    let value = if command_key == "commands" {
        json!([command])
    } else if kind(&properties[command_key]) == "array" {
        json!(["bash", "-c", command])
    } else {
        json!(command)
    };
    arguments.insert(command_key.to_owned(), value);
    // Codex answers after this time, with the command still running; its default is ten seconds,
    // which a busy machine can exceed.
    if !properties["yield_time_ms"].is_null() {
        arguments.insert("yield_time_ms".to_owned(), json!(30_000));
    }
    Value::Object(arguments)
}

/// Arguments that make a tool write a file; a tool without a schema takes a patch.
pub(super) fn write_arguments(parameters: &Value, path: &str) -> Value {
    const PATHS: [&str; 4] = ["file_path", "filePath", "path", "absolute_path"];
    const CONTENTS: [&str; 4] = ["content", "file_text", "contents", "new_text"];
    if parameters.is_null() {
        let patch = format!(
            "*** Begin Patch\n*** Add File: {path}\n+written by the model\n*** End Patch\n"
        );
        return patch.into();
    }
    let mut arguments = required(parameters);
    let properties = &parameters["properties"];
    for (names, value) in [(&PATHS[..], path), (&CONTENTS[..], "written by the model\n")] {
        if let Some(name) = names.iter().find(|name| !properties[**name].is_null()) {
            arguments.insert((*name).to_owned(), json!(value));
        }
    }
    Value::Object(arguments)
}

/// Arguments that make a tool start a sub-agent of a kind with a prompt.
pub(super) fn agent_arguments(parameters: &Value, prompt: &str, kind: &str) -> Value {
    let mut arguments = required(parameters);
    arguments.insert("prompt".to_owned(), json!(prompt));
    if !parameters["properties"]["subagent_type"].is_null() {
        arguments.insert("subagent_type".to_owned(), json!(kind));
    }
    if !parameters["properties"]["run_in_background"].is_null() {
        arguments.insert("run_in_background".to_owned(), json!(false));
    }
    Value::Object(arguments)
}

/// The plainest value that a schema admits.
pub(super) fn instance(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    if !schema["const"].is_null() {
        return schema["const"].clone();
    }
    if let Some(first) = schema["anyOf"].get(0).or_else(|| schema["oneOf"].get(0)) {
        return instance(first);
    }
    match kind(schema).as_str() {
        "object" => Value::Object(required(schema)),
        "array" => json!([]),
        "boolean" => json!(false),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "null" => Value::Null,
        _ => json!("scripted"),
    }
}

fn required(schema: &Value) -> Map<String, Value> {
    let names = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    names.map(|name| (name.to_owned(), instance(&schema["properties"][name]))).collect()
}

/// The type that a schema names; the first, where it names several. Gemini writes them in capitals.
fn kind(schema: &Value) -> String {
    let kind = &schema["type"];
    kind.as_str().or_else(|| kind[0].as_str()).unwrap_or_default().to_ascii_lowercase()
}
