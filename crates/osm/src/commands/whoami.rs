//! `osm whoami`: the friendly form.

use osm_identity::{Detection, Outcome, SessionId};

use super::report::Report;
use crate::World;
use crate::cli::Format;
use crate::ui::{Style, Ui};

pub(super) fn run(detection: &Detection, format: Format, world: &World, ui: &mut Ui) {
    if format.json {
        return ui.line(&Report::new(detection).to_json());
    }
    describe(detection, world, ui);
}

/// The session, why it is this one, and where its state lives.
pub(super) fn describe(detection: &Detection, world: &World, ui: &mut Ui) {
    let won = detection.trail.iter().find(|finding| finding.outcome == Outcome::Won);
    let mut rows = vec![
        vec!["session".to_owned(), ui.styled(Style::Strong, detection.id.as_str())],
        vec!["because".to_owned(), won.map(|finding| finding.reason.clone()).unwrap_or_default()],
        vec!["found by".to_owned(), format!("{}, {}", detection.source, detection.confidence)],
    ];
    if let Some(agent) = &detection.agent {
        let pid = agent.pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
        rows.push(vec!["agent".to_owned(), format!("{}{pid}", agent.name)]);
    }
    if let Some(context) = &detection.context {
        rows.push(vec![
            "sub-agent".to_owned(),
            context.chars().flat_map(char::escape_debug).collect(),
        ]);
    }
    if let Some(terminal) = detection.terminal {
        rows.push(vec!["terminal".to_owned(), terminal.to_string()]);
    }
    if let Some(parent) = &detection.parent {
        rows.push(vec!["runs in".to_owned(), parent.to_string()]);
    }
    rows.push(vec!["state".to_owned(), place(&detection.id, world)]);
    ui.table(&rows);
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
