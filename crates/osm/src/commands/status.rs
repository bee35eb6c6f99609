//! Bare `osm`: the current session, and what to try next.

use super::whoami;
use crate::ops::identity::Identity;
use crate::render::Ui;

pub(super) fn run(identity: &Identity, ui: &mut Ui) {
    whoami::describe(identity, ui);
    ui.line("");
    ui.line("Try");
    ui.aligned(&[
        ["osm session id --explain", "show every detector and its reason"],
        ["osm session id --json", "show the same for programs"],
        ["OSM_SESSION=name osm …", "choose a session by name"],
        ["osm --help", "list all commands"],
    ]);
}
