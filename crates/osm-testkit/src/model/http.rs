//! As much of HTTP/1.1 as the clients of a model use: one request, one answer, connection closed.
//!
//! Written by hand because the alternative is a web framework in every test build. What is read is
//! bounded, so that a client gone wild costs an error and not the machine's memory.

use std::io::{self, BufRead, BufReader, Read, Write};

/// The longest request line and headers together.
const MAX_HEAD: u64 = 64 * 1024;

/// The longest body. A conversation with a full set of tool descriptions is some 200 kB.
pub(super) const MAX_BODY: u64 = 32 * 1024 * 1024;

/// What a client asked.
#[derive(Default)]
pub(super) struct Request {
    pub(super) method: String,
    /// Path and query.
    pub(super) target: String,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// Reads one request. The inner error is the answer to a request that is not understood.
    pub(super) fn read(stream: &mut impl Read) -> io::Result<Result<Self, Response>> {
        let mut reader = BufReader::new(stream);
        let mut head = Vec::new();
        loop {
            let left = MAX_HEAD - head.len() as u64;
            let before = head.len();
            let got = (&mut reader).take(left).read_until(b'\n', &mut head)?;
            if got == 0 || !head.ends_with(b"\n") {
                return Ok(Err(Response::error(431, "the headers end too late, or not at all")));
            }
            if matches!(&head[before..], b"\r\n" | b"\n") {
                break;
            }
        }
        let head = String::from_utf8_lossy(&head);
        let mut lines = head.lines();
        let mut start = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target)) = (start.next(), start.next()) else {
            return Ok(Err(Response::error(400, "not a request line")));
        };
        let mut length = 0;
        let mut chunked = false;
        for (name, value) in lines.filter_map(|line| line.split_once(':')) {
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => match value.parse() {
                    Ok(parsed) => length = parsed,
                    Err(_) => return Ok(Err(Response::error(400, "content-length is no number"))),
                },
                "transfer-encoding" => chunked = value.eq_ignore_ascii_case("chunked"),
                "content-encoding" if value != "identity" => {
                    return Ok(Err(Response::error(415, "compressed bodies are not understood")));
                }
                _ => {}
            }
        }
        let mut request =
            Self { method: method.to_owned(), target: target.to_owned(), body: Vec::new() };
        if length > MAX_BODY {
            return Ok(Err(Response::error(413, "the body is too long")));
        }
        if !chunked {
            reader.take(length).read_to_end(&mut request.body)?;
            if (request.body.len() as u64) < length {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        } else if let Err(refusal) = read_chunks(&mut reader, &mut request.body)? {
            return Ok(Err(refusal));
        }
        Ok(Ok(request))
    }

    /// The path without the query.
    pub(super) fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

fn read_chunks(reader: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<Result<(), Response>> {
    loop {
        let mut line = String::new();
        reader.take(1024).read_line(&mut line)?;
        let size = line.split(';').next().unwrap_or_default().trim();
        let Ok(size) = u64::from_str_radix(size, 16) else {
            return Ok(Err(Response::error(400, "not the size of a chunk")));
        };
        if size.saturating_add(body.len() as u64) > MAX_BODY {
            return Ok(Err(Response::error(413, "the body is too long")));
        }
        reader.take(size).read_to_end(body)?;
        // The line that ends the chunk; after the last one, what ends the trailers. We close the
        // connection, so trailers need not be read.
        reader.take(2).read_until(b'\n', &mut Vec::new())?;
        if size == 0 {
            return Ok(Ok(()));
        }
    }
}

/// What the client gets.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) body: String,
}

impl Response {
    pub(super) fn json(body: &serde_json::Value) -> Self {
        Self { status: 200, content_type: "application/json", body: body.to_string() }
    }

    pub(super) fn events(body: String) -> Self {
        Self { status: 200, content_type: "text/event-stream; charset=utf-8", body }
    }

    /// An error in the shape that all four wire formats share.
    pub(super) fn error(status: u16, message: &str) -> Self {
        let body = serde_json::json!({
            "type": "error",
            "error": { "type": "invalid_request_error", "code": status, "message": message },
        });
        Self { status, ..Self::json(&body) }
    }

    pub(super) fn write(&self, stream: &mut impl Write, head_only: bool) -> io::Result<()> {
        let reason = if self.status < 400 { "OK" } else { "Refused" };
        let head = format!(
            "HTTP/1.1 {} {reason}\r\ncontent-type: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            self.status,
            self.content_type,
            self.body.len()
        );
        stream.write_all(head.as_bytes())?;
        if !head_only {
            stream.write_all(self.body.as_bytes())?;
        }
        stream.flush()
    }
}
