//! `osm mcp`: tools, resources, prompts, whose call it is, and what a bad client gets.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read is a failed test")]

use std::fs;
use std::process::{Command, Stdio};

use osm_testkit::{program, tools, trials};
use serde_json::{Value, json};

use super::mcp_client::Client;
use super::site::{Site, program as osm};

#[test]
fn a_tool_returns_what_the_command_prints() {
    let site = Site::new();
    let mut client = Client::start(&site, "first");
    let claimed = client.ok("claim", json!({ "resources": ["T-1"], "note": "the parser" }));
    assert_eq!((&claimed["granted"], &claimed["fresh"]), (&json!(true), &json!(true)));
    let printed = site.ok(&["claim", "T-1", "--json", "--session", "first"]);
    let printed: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(claimed["claim"], printed["claim"]);
    assert_eq!(
        client.read("osm://claims"),
        serde_json::from_str::<Value>(&site.ok(&["claims", "--json", "--session", "first"]))
            .unwrap()
            .to_string()
    );
    let mut other = Client::start(&site, "second");
    let refused = other.call("claim", json!({ "resources": ["T-1"] }));
    assert_eq!(refused["isError"], true, "a refusal is a result");
    let printed = site.osm(&["claim", "T-1", "--json", "--session", "second"]);
    assert_eq!(
        refused["structuredContent"],
        serde_json::from_str::<Value>(&printed.stdout).unwrap()
    );
    assert_eq!(refused["structuredContent"]["reason"], "held");

    let next = other.ok("next", json!({ "candidates": ["T-1", "T-2"] }));
    assert_eq!(next["claim"]["resource"], "T-2");
    assert_eq!(next["skipped"], json!([{ "resource": "T-1", "reason": "held" }]));
    client.ok("note", json!({ "resource": "T-1", "text": "almost done" }));
    let status = other.ok("status", json!({ "resource": "T-1" }));
    assert_eq!(status["claim"]["note"], "almost done");
    client.ok("handoff", json!({ "resource": "T-1", "to": "second", "note": "tests are missing" }));
    let status = other.ok("status", json!({}));
    assert_eq!(status["offered"][0]["resource"], "T-1", "{status}");
    site.ok(&["claim", "accept", "T-1", "--session", "second"]);
    let lost = client.call("release", json!({ "resources": ["T-1"] }));
    assert_eq!(lost["isError"], true, "{lost}");
    let released = other.ok("release", json!({ "all": true, "done": true }));
    assert_eq!(released["released"].as_array().unwrap().len(), 2, "{released}");

    fs::write(site.path("work/a.txt"), "text").unwrap();
    let path = client.ok("claim", json!({ "paths": ["a.txt"], "shared": true }));
    assert_eq!((&path["claim"]["path"], &path["claim"]["shared"]), (&json!("a.txt"), &json!(true)));
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn a_prompt_is_built_from_items_and_goals() {
    let site = Site::new();
    fs::write(site.path("work/a.txt"), "the text of a file").unwrap();
    let mut client = Client::start(&site, "first");
    let added = client.ok("context_add", json!({ "paths": ["a.txt"], "notes": ["look at this"] }));
    assert_eq!(added["ids"], json!([1, 2]));
    let items = client.ok("context_list", json!({}));
    assert_eq!(items["items"].as_array().unwrap().len(), 2, "{items}");
    let prompt = client.ok("prompt", json!({}))["text"].as_str().unwrap().to_owned();
    assert!(prompt.contains("the text of a file") && prompt.contains("look at this"), "{prompt}");
    assert_eq!(client.read("osm://prompt"), prompt);
    let around = client.ok("prompt", json!({ "goal": "commit-message" }));
    assert!(around["text"].as_str().unwrap().contains("Imperative mood"), "{around}");

    let goals: Vec<Value> = serde_json::from_str(&site.ok(&["goal", "list", "--json"])).unwrap();
    let prompts = client.request("prompts/list", json!({}))["result"]["prompts"].clone();
    let names = |list: &[Value], key: &str| {
        let mut names: Vec<String> =
            list.iter().map(|it| it[key].as_str().unwrap().to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names(prompts.as_array().unwrap(), "name"), names(&goals, "call"));
    for name in names(&goals, "call") {
        let got = client.request("prompts/get", json!({ "name": name }));
        let text = got["result"]["messages"][0]["content"]["text"].as_str();
        assert!(text.is_some_and(|it| it.contains("the text of a file")), "{name}: {got}");
    }
    let listed = prompts.as_array().unwrap().iter();
    let chooses = listed.clone().find(|it| it["arguments"][0]["description"].is_string()).unwrap();
    let argument = &chooses["arguments"][0];
    let choices = argument["description"].as_str().unwrap().strip_prefix("one of: ").unwrap();
    let variable = argument["name"].as_str().unwrap();
    let texts: Vec<Value> = choices
        .split(", ")
        .map(|choice| {
            let params = json!({ "name": chooses["name"], "arguments": { variable: choice } });
            client.request("prompts/get", params)["result"]["messages"].clone()
        })
        .collect();
    assert!(texts.windows(2).all(|pair| pair[0] != pair[1]), "{choices}: the same for all");
    let wrong = json!({ "name": chooses["name"], "arguments": { variable: "no such" } });
    let error = client.request("prompts/get", wrong)["error"].clone();
    assert!(error["message"].as_str().unwrap().contains(choices), "{error}");
}

#[test]
fn a_client_hears_what_other_sessions_do() {
    let site = Site::new();
    let mut client = Client::start(&site, "first");
    for uri in ["osm://claims", "osm://prompt"] {
        let answer = client.request("resources/subscribe", json!({ "uri": uri }));
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    site.ok(&["claim", "T-1", "--session", "second"]);
    assert_eq!(client.changed(), "osm://claims");
    assert!(client.read("osm://claims").contains("T-1"));
    // Items of another process of this session.
    site.ok(&["code-review", "-c", "note look here", "--session", "first"]);
    assert_eq!(client.changed(), "osm://prompt");
    assert!(client.read("osm://prompt").contains("look here"));
    // The end of a holder is a change that the ledger is not told of.
    let mut holder = site
        .command(&osm())
        .args(["claim", "run", "T-2", "--session", "third", "--", "sh", "-c", "echo; exec cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(client.changed(), "osm://claims");
    while !client.read("osm://claims").contains("T-2") {
        assert_eq!(client.changed(), "osm://claims");
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
    loop {
        assert_eq!(client.changed(), "osm://claims");
        let claims: Vec<Value> = serde_json::from_str(&client.read("osm://claims")).unwrap();
        if claims.iter().all(|it| it["resource"] != "T-2" || it["free"] == true) {
            break;
        }
    }
    client.request("resources/unsubscribe", json!({ "uri": "osm://claims" }));
    assert_eq!(client.finish(), Some(0));
}

/// A server below a process with the name of an agent.
fn below(site: &Site, agent: &str) -> Command {
    let shell = site.path(agent);
    program::copy(&trials::need(tools::program("bash")), &shell).unwrap();
    let mut command = site.command(&shell);
    // A shell that runs one command replaces itself by it.
    command.args(["-c", "osm mcp; exit $?"]);
    command
}

/// The id that a shell command of an agent has, by the variables that the agent gives to it.
fn id_of_shell(site: &Site, agent: &str, variables: &str) -> String {
    let line = format!("export {variables}; osm session id; exit $?");
    let ran = site.command(&site.path(agent)).args(["-c", &line]).output().unwrap();
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}

#[test]
fn a_call_of_codex_belongs_to_the_conversation_that_it_names() {
    let site = Site::new();
    let mut client = Client::of(below(&site, "codex"));
    let mut id = |meta: Value| {
        let who = client.call_with("whoami", json!({}), meta);
        who["structuredContent"]["id"].as_str().unwrap().to_owned()
    };
    let main = id(json!({ "threadId": "s1", "sessionId": "s1", "callId": "c" }));
    assert_eq!(main, id_of_shell(&site, "codex", "CODEX_SESSION_ID=s1 CODEX_THREAD_ID=s1"));
    let sub = id(json!({ "threadId": "t2", "sessionId": "s1" }));
    assert_eq!(sub, id_of_shell(&site, "codex", "CODEX_SESSION_ID=s1 CODEX_THREAD_ID=t2"));
    assert_ne!(main, sub);
    let nested = json!({ "x-codex-turn-metadata": { "session_id": "s2", "thread_id": "s2" } });
    let later = id(nested);
    assert_eq!(later, id_of_shell(&site, "codex", "CODEX_SESSION_ID=s2 CODEX_THREAD_ID=s2"));
}

#[test]
fn a_call_of_claude_belongs_to_the_conversation_that_it_has_now() {
    let site = Site::new();
    let mut command = below(&site, "claude");
    // That of the start; the user resumed another one since.
    command.env("CLAUDE_CODE_SESSION_ID", "thrown-away");
    let mut client = Client::of(command);
    let pid = client.pid();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let start = stat.rsplit(')').next().unwrap().split_whitespace().nth(19).unwrap().to_owned();
    for conversation in ["c1", "c2"] {
        let record = json!({ "pid": pid, "procStart": start, "sessionId": conversation });
        site.write(&format!(".claude/sessions/{pid}.json"), &record.to_string());
        let id = client.ok("whoami", json!({}))["id"].clone();
        let variables = format!("CLAUDE_CODE_SESSION_ID={conversation}");
        assert_eq!(id, id_of_shell(&site, "claude", &variables));
    }
}

#[test]
fn what_a_bad_client_sends_is_answered_with_an_error() {
    let site = Site::new();
    let mut command = site.command(&osm());
    command.args(["mcp", "--session", "first"]);
    let mut client = Client::silent(command);
    let long = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"x\":\"{}\"}}", "x".repeat(17 << 20));
    let deep = "[".repeat(100_000);
    for (line, code) in
        [("{", -32700), ("\u{0}\u{1b}", -32700), (&deep, -32700), ("[]", -32600), (&long, -32600)]
    {
        client.send(line);
        let answer = client.next();
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&Value::Null, &json!(code)),
            "{answer}"
        );
    }
    client.send("");
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#);
    client.send(r#"{"jsonrpc":"2.0","id":77,"result":{}}"#);
    let before = client.request("tools/list", json!({}));
    assert!(before["error"]["code"].is_i64(), "before the handshake: {before}");
    drop(client);

    let mut client = Client::start(&site, "first");
    for (method, params, code, why) in [
        ("no/such", json!({}), -32601, "unknown method: no/such"),
        ("tools/call", json!({}), -32602, "invalid parameters of tools/call"),
        ("tools/call", json!({ "name": "steal" }), -32602, "unknown tool: steal"),
        ("tools/call", json!({ "name": "note" }), -32602, "the argument resource is missing"),
        (
            "tools/call",
            json!({ "name": "claim", "arguments": { "resource": "a" } }),
            -32602,
            "unknown argument",
        ),
        (
            "tools/call",
            json!({ "name": "claim", "arguments": { "resources": "a" } }),
            -32602,
            "must be an array",
        ),
        ("tools/call", json!({ "name": "claim", "arguments": [] }), -32602, "invalid parameters"),
        ("resources/read", json!({ "uri": "osm://nothing" }), -32002, "no such resource"),
        ("resources/subscribe", json!({ "uri": "file:///etc/passwd" }), -32002, "no such resource"),
        ("prompts/get", json!({ "name": "no-such-goal" }), -32602, "no-such-goal"),
    ] {
        let answer = client.request(method, params);
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{why}: {answer}");
    }
    for (arguments, reason) in [
        (json!({ "resources": [""] }), "invalid_resource"),
        (json!({ "paths": ["../outside"] }), "invalid_path"),
        (json!({}), "usage"),
        (json!({ "resources": ["a"], "shared": true }), "usage"),
    ] {
        let refused = client.call("claim", arguments);
        assert_eq!(refused["structuredContent"]["reason"], reason, "{refused}");
        assert_eq!(refused["isError"], true);
    }
    // A client that leaves while a call waits takes the server with it.
    site.ok(&["claim", "held", "--session", "second"]);
    let wait =
        json!({ "name": "claim", "arguments": { "resources": ["held"], "wait_seconds": 600 } });
    client.send(
        &json!({ "jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": wait }).to_string(),
    );
    assert_eq!(client.finish(), Some(0));
}

#[test]
fn a_waiting_call_can_be_cancelled_and_others_go_on() {
    let site = Site::new();
    site.ok(&["claim", "held", "--session", "second"]);
    let mut client = Client::start(&site, "first");
    let wait =
        json!({ "name": "claim", "arguments": { "resources": ["held"], "wait_seconds": 600 } });
    client.send(
        &json!({ "jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": wait }).to_string(),
    );
    client.ok("claim", json!({ "resources": ["free"] }));
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": "w" } });
    client.send(&cancelled.to_string());
    client.ok("whoami", json!({}));
    site.ok(&["release", "held", "--session", "second"]);
    let wait = json!({ "resources": ["held"], "wait_seconds": 600 });
    assert_eq!(client.ok("claim", wait)["granted"], true);
}
