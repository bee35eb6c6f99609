//! Messages between sessions as programs read them.

use osm_claims::Message;
use osm_claims::rules::collision::Waiter;
use serde_json::{Value, json};

use crate::ops::claim::Inbox;
use crate::ops::identity::name::handle_of;

/// What was sent.
pub(crate) fn sent(messages: &[Message]) -> Value {
    json!({ "sent": messages.iter().map(message).collect::<Vec<_>>() })
}

/// What a session did not acknowledge.
pub(crate) fn inbox(inbox: &Inbox) -> Value {
    json!({
        "messages": inbox.messages.iter().map(message).collect::<Vec<_>>(),
        "waiting": inbox.waiting.iter().map(waiter).collect::<Vec<_>>(),
    })
}

/// A message.
fn message(message: &Message) -> Value {
    json!({
        "number": message.number,
        "kind": message.kind.name(),
        "at": message.at,
        "from": message.from,
        "from_handle": handle_of(&message.from),
        "to": message.to,
        "to_handle": message.to.as_deref().map(handle_of),
        "resource": message.about,
        "text": message.text,
    })
}

/// A request that waits for claims of the session.
fn waiter(waiter: &Waiter) -> Value {
    json!({
        "session": waiter.session,
        "handle": handle_of(&waiter.session),
        "pid": waiter.process.pid.0,
        "resource": waiter.resource,
        "shared": waiter.mode.shared,
    })
}
