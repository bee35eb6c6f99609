//! Server-sent events, the shape of every streamed answer.

use serde_json::Value;

/// One event: a name, which only some formats give, and its data.
pub(super) struct Event(pub(super) Option<&'static str>, pub(super) Value);

impl Event {
    /// An event whose name is repeated in its data as `type`.
    pub(super) fn typed(name: &'static str, mut data: Value) -> Self {
        data["type"] = name.into();
        Self(Some(name), data)
    }

    pub(super) fn unnamed(data: Value) -> Self {
        Self(None, data)
    }
}

/// The body of a streamed answer.
pub(super) fn body(events: &[Event]) -> String {
    let mut body = String::new();
    for Event(name, data) in events {
        if let Some(name) = name {
            body.push_str("event: ");
            body.push_str(name);
            body.push('\n');
        }
        body.push_str("data: ");
        body.push_str(&data.to_string());
        body.push_str("\n\n");
    }
    body
}
