//! The offer to import sessions of the upstream tool.

use crate::invocation::Invocation;
use crate::ops::session::offer_upstream;
use crate::render::Ui;

/// Offers the import, once, to a person: a program that reads standard error must not get the line in
/// that person's place.
pub(super) fn offer(invocation: &Invocation, ui: &mut Ui) {
    if !invocation.world.stderr_is_terminal() {
        return;
    }
    if let Some(found) = offer_upstream(invocation) {
        let sessions = match found.files.len() {
            1 => "1 session".to_owned(),
            count => format!("{count} sessions"),
        };
        let folder = found.folder.display();
        ui.note(&format!(
            "found {sessions} of the upstream tool in {folder}: import with `osm session import --upstream`"
        ));
    }
}
