//! Bare `osm`: where you are, and what to try next.

use osm_identity::Detection;

use super::whoami;
use crate::World;
use crate::render::Ui;

pub(super) fn run(detection: &Detection, world: &World, ui: &mut Ui) {
    whoami::describe(detection, world, ui);
    ui.line("");
    ui.line("Try");
    ui.aligned(&[
        ["osm session id --explain", "every candidate, with the reason"],
        ["osm session id --json", "the same for programs"],
        ["OSM_SESSION=name osm …", "a session of your own choice"],
        ["osm --help", "all commands"],
    ]);
}
