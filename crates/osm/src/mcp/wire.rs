//! Lines of JSON on standard input and output.
//!
//! The protocol library drops a line that is not JSON; a client would wait for its answer for ever. So
//! lines are read here: one that cannot be understood is answered with an error of the protocol, and one that
//! is too long is not kept in memory.

use std::io::{self, BufRead, Read};

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::sync::mpsc::{self, Receiver, Sender};

/// The longest line that is read.
const MOST_BYTES: usize = 16 << 20;

/// How many lines are read ahead.
const AHEAD: usize = 16;

/// A line of the client.
enum Line {
    Bytes(Vec<u8>),
    TooLong,
}

/// The client.
pub(super) struct Wire {
    incoming: Receiver<Line>,
    outgoing: Sender<String>,
    /// Whether the client began with a handshake; until then only a request has a meaning.
    has_begun: bool,
}

/// What a line means.
enum Meaning {
    Message {
        message: Box<RxJsonRpcMessage<RoleServer>>,
        /// Whether the client begins with it.
        begins: bool,
    },
    /// It is answered at once.
    Error(Value),
    Nothing,
}

impl Wire {
    /// Reads lines on a thread of their own.
    pub(super) fn start(
        mut input: impl BufRead + Send + 'static,
        outgoing: Sender<String>,
    ) -> io::Result<Self> {
        let (lines, incoming) = mpsc::channel(AHEAD);
        std::thread::Builder::new().name("mcp-input".into()).spawn(move || {
            // An error of the input is its end.
            while let Ok(Some(line)) = read_line(&mut input) {
                if lines.blocking_send(line).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { incoming, outgoing, has_begun: false })
    }
}

fn read_line(input: &mut impl BufRead) -> io::Result<Option<Line>> {
    let mut bytes = Vec::new();
    let limit = MOST_BYTES as u64 + 1;
    if Read::take(&mut *input, limit).read_until(b'\n', &mut bytes)? == 0 {
        return Ok(None);
    }
    if bytes.len() <= MOST_BYTES || bytes.ends_with(b"\n") {
        return Ok(Some(Line::Bytes(bytes)));
    }
    drop(bytes);
    input.skip_until(b'\n')?;
    Ok(Some(Line::TooLong))
}

fn meaning(line: Line, has_begun: bool) -> Meaning {
    let bytes = match line {
        Line::Bytes(bytes) => bytes,
        Line::TooLong => {
            let why = format!("a message must not be longer than {MOST_BYTES} bytes");
            return Meaning::Error(error(&Value::Null, -32600, &why));
        }
    };
    if bytes.trim_ascii().is_empty() {
        return Meaning::Nothing;
    }
    let value: Value = match serde_json::from_slice(&bytes) {
        Ok(value) => value,
        Err(why) => {
            return Meaning::Error(error(&Value::Null, -32700, &format!("not JSON: {why}")));
        }
    };
    // A request has both, a notification only a method, an answer only an id.
    let (id, is_call) = (value.get("id").cloned(), value.get("method").is_some());
    let is_request = is_call && id.is_some();
    if value.is_object() && !has_begun && !is_request {
        return Meaning::Nothing;
    }
    let begins = value["method"] == "initialize";
    match serde_json::from_value(value) {
        Ok(message) => Meaning::Message { message: Box::new(message), begins },
        // Nothing is owed to a notification, or to an answer that was not asked for.
        Err(_) if is_call != id.is_some() => Meaning::Nothing,
        Err(why) => {
            let id = id.filter(|id| id.is_string() || id.is_number()).unwrap_or_default();
            Meaning::Error(error(&id, -32600, &format!("invalid request: {why}")))
        }
    }
}

fn error(id: &Value, code: i32, message: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
}

/// The client closed its side.
fn closed<T>(_: T) -> io::Error {
    io::Error::from(io::ErrorKind::BrokenPipe)
}

impl Transport<RoleServer> for Wire {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let line = serde_json::to_string(&message).map_err(io::Error::other)?;
            outgoing.send(line + "\n").await.map_err(closed)
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            match meaning(self.incoming.recv().await?, self.has_begun) {
                Meaning::Message { message, begins } => {
                    self.has_begun |= begins;
                    return Some(*message);
                }
                Meaning::Error(error) => self.outgoing.send(format!("{error}\n")).await.ok()?,
                Meaning::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.incoming.close();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(line: &str) -> Option<(Value, i64)> {
        match meaning(Line::Bytes(line.into()), true) {
            Meaning::Error(error) => {
                Some((error["id"].clone(), error["error"]["code"].as_i64().unwrap()))
            }
            Meaning::Message { .. } | Meaning::Nothing => None,
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said_under_its_id() {
        assert_eq!(answer("{"), Some((Value::Null, -32700)));
        assert_eq!(answer("\u{0}"), Some((Value::Null, -32700)));
        assert_eq!(answer("[]"), Some((Value::Null, -32600)));
        assert_eq!(answer("7"), Some((Value::Null, -32600)));
        assert_eq!(answer(r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#), Some((json!(3), -32600)));
        assert_eq!(
            answer(r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#),
            Some((Value::Null, -32600))
        );
        assert_eq!(answer(r#"{"jsonrpc":"2.0","method":7}"#), None, "a notification");
        assert_eq!(
            answer(&format!("{}1{}", "[".repeat(9000), "]".repeat(9000))).unwrap().1,
            -32700
        );
        assert_eq!(answer(" \r\n"), None);
    }

    #[test]
    fn a_long_line_is_not_kept() {
        let long = vec![b'x'; MOST_BYTES + 7];
        let mut input = io::Cursor::new([&long[..], b"\n{}\n{"].concat());
        assert!(matches!(read_line(&mut input), Ok(Some(Line::TooLong))));
        assert!(matches!(read_line(&mut input), Ok(Some(Line::Bytes(line))) if line == b"{}\n"));
        assert!(matches!(read_line(&mut input), Ok(Some(Line::Bytes(line))) if line == b"{"));
        assert!(matches!(read_line(&mut input), Ok(None)));
    }
}
