//! Bare `osm`: where you are, and what to try next.

use osm_identity::Detection;

use super::whoami;
use crate::World;
use crate::ui::Ui;

pub(super) fn run(detection: &Detection, world: &World, ui: &mut Ui) {
    whoami::describe(detection, world, ui);
    ui.line("");
    ui.line("Try");
    ui.table(&[
        vec!["osm session id --explain".into(), "every candidate, with the reason".into()],
        vec!["osm session id --json".into(), "the same for programs".into()],
        vec!["OSM_SESSION=name osm …".into(), "a session of your own choice".into()],
        vec!["osm --help".into(), "all commands".into()],
    ]);
}
