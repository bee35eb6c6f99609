//! `osm whoami`: the current session for people.

use osm_identity::Outcome;

use crate::cli::Format;
use crate::documents::session::Report;
use crate::ops::identity::{Identity, Place};
use crate::render::{Style, Text, Ui};

pub(super) fn run(identity: &Identity, format: Format, ui: &mut Ui) {
    if format.json {
        return ui.json(&Report::new(identity));
    }
    describe(identity, ui);
}

/// The session, why it is this one, and where its state is.
pub(super) fn describe(identity: &Identity, ui: &mut Ui) {
    let detection = &identity.detection;
    let won = detection.trail.iter().find(|finding| finding.outcome == Outcome::Won);
    let because = won.map(|finding| finding.reason.as_str()).unwrap_or_default();
    let mut rows: Vec<[Text; 2]> = vec![
        ["session".into(), Style::Strong.of(identity.handle.to_string())],
        ["id".into(), detection.id.as_str().into()],
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
        rows.push(["runs in".into(), parent.label().into()]);
    }
    let place = match &identity.place {
        Place::File(path) => path.display().to_string(),
        Place::Server(server) => format!("PostgreSQL at {server}"),
        Place::Memory => "in memory".into(),
        Place::Nowhere => "not stored: set HOME, or OSM_HOME to a folder".into(),
    };
    rows.push(["state".into(), place.into()]);
    ui.aligned(&rows);
}
