//! Authors of commands in a history, as people read them.

use osm_identity::Handle;
use osm_store::Author;

/// `swift-otter (claude-code) on laptop`.
pub(crate) fn author(author: &Author) -> String {
    let who = match author.session_id() {
        Some(id) => Handle::of(&id).to_string(),
        None => format!("process {}", author.pid),
    };
    let agent = author.agent.as_ref().map(|agent| format!(" ({agent})")).unwrap_or_default();
    format!("{who}{agent} on {}", author.host)
}
