//! A client of `osm mcp` that sends lines and reads lines, so that it can also send what no client sends.
#![expect(clippy::unwrap_used, reason = "a harness that fails is a failed test")]
#![expect(clippy::needless_pass_by_value, reason = "a test writes a document where it sends it")]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

use super::site::Site;

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running server and its client.
pub(crate) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Notifications that came while an answer was waited for.
    told: VecDeque<Value>,
    last: u64,
}

impl Client {
    /// A server in the repository of a site, after the handshake.
    pub(crate) fn start(site: &Site, session: &str) -> Self {
        let mut command = site.command(&super::site::program());
        command.arg("mcp").env("OSM_SESSION", session);
        Self::of(command)
    }

    /// The same with another command line.
    pub(crate) fn of(command: Command) -> Self {
        let mut client = Self::silent(command);
        let answer = client.request(
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } }),
        );
        assert_eq!(answer["result"]["serverInfo"]["name"], "osm", "{answer}");
        client
            .send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
    }

    /// A server that was told nothing.
    pub(crate) fn silent(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let Ok(line) = line else { return };
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, stdin, lines, told: VecDeque::new(), last: 0 }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a line.
    pub(crate) fn send(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
    }

    /// The next line of the server, which is a message of the protocol and nothing else.
    pub(crate) fn next(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("the server says something");
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// The answer to a request.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(&request.to_string());
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            self.told.push_back(message);
        }
    }

    /// The result of a tool, which may be a refusal.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.call_with(tool, arguments, json!({}))
    }

    /// The same, with what an agent sends besides.
    pub(crate) fn call_with(&mut self, tool: &str, arguments: Value, meta: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let answer = self.request("tools/call", params);
        assert!(answer["error"].is_null(), "{answer}");
        let result = answer["result"].clone();
        let text = result["content"][0]["text"].as_str().unwrap();
        let document: Value = serde_json::from_str(text).unwrap();
        assert_eq!(document, result["structuredContent"], "models and programs read the same");
        result
    }

    /// The document of a tool that does what it is asked.
    pub(crate) fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_ne!(result["isError"], true, "{result}");
        result["structuredContent"].clone()
    }

    /// The resource of which the server tells next that it changed.
    pub(crate) fn changed(&mut self) -> String {
        let message = self.told.pop_front().unwrap_or_else(|| self.next());
        assert_eq!(message["method"], "notifications/resources/updated", "{message}");
        message["params"]["uri"].as_str().unwrap().to_owned()
    }

    /// The text of a resource.
    pub(crate) fn read(&mut self, uri: &str) -> String {
        let answer = self.request("resources/read", json!({ "uri": uri }));
        let text = answer["result"]["contents"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    /// Closes the server's input, and returns its exit code.
    pub(crate) fn finish(&mut self) -> Option<i32> {
        self.stdin = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
