//! `osm whoami`: the friendly form.

use osm_identity::{Detection, Outcome, SessionId};

use super::report::Report;
use crate::World;
use crate::cli::Format;
use crate::render::{Style, Text, Ui};

pub(super) fn run(detection: &Detection, format: Format, world: &World, ui: &mut Ui) {
    if format.json {
        return ui.json(&Report::new(detection));
    }
    describe(detection, world, ui);
}

/// The session, why it is this one, and where its state lives.
pub(super) fn describe(detection: &Detection, world: &World, ui: &mut Ui) {
    let won = detection.trail.iter().find(|finding| finding.outcome == Outcome::Won);
    let because = won.map(|finding| finding.reason.as_str()).unwrap_or_default();
    let mut rows: Vec<[Text; 2]> = vec![
        ["session".into(), Style::Strong.of(detection.id.as_str())],
        ["because".into(), because.into()],
        ["found by".into(), format!("{}, {}", detection.source, detection.confidence).into()],
    ];
    if let Some(agent) = &detection.agent {
        let pid = agent.pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
        rows.push(["agent".into(), format!("{}{pid}", agent.name).into()]);
    }
    if let Some(context) = &detection.context {
        rows.push(["sub-agent".into(), context.as_str().into()]);
    }
    if let Some(terminal) = detection.terminal {
        rows.push(["terminal".into(), terminal.to_string().into()]);
    }
    if let Some(parent) = &detection.parent {
        rows.push(["runs in".into(), parent.as_str().into()]);
    }
    rows.push(["state".into(), place(&detection.id, world).into()]);
    ui.aligned(&rows);
}

/// The file in which the session's state lives.
fn place(id: &SessionId, world: &World) -> String {
    match world.home() {
        Some(home) => {
            home.join("sessions").join(id.file_name("session.json")).display().to_string()
        }
        None => "nowhere: set HOME, or OSM_HOME to a folder".to_owned(),
    }
}
