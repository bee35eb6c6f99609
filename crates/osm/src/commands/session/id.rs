//! `osm session id`: the id, and with `--explain` how it came about.

use osm_identity::{Confidence, Outcome, UnlistedAgent};

use crate::cli::Format;
use crate::documents::session::Report;
use crate::fast_path;
use crate::ops::identity::Identity;
use crate::render::{Style, Text, Ui};

pub(super) fn run(identity: &Identity, explain: bool, format: Format, ui: &mut Ui) {
    if format.json {
        return ui.json(&Report::new(identity));
    }
    let detection = &identity.detection;
    if explain {
        return show(identity, ui);
    }
    fast_path::print(&detection.id, detection.confidence, ui);
}

fn show(identity: &Identity, ui: &mut Ui) {
    let detection = &identity.detection;
    let handle = Style::Faint.of(format!("  ({})", identity.handle));
    ui.line(Style::Strong.of(detection.id.as_str()).then(handle));
    ui.line("");
    ui.line("Detectors, in order");
    let rows: Vec<[Text; 3]> = detection
        .trail
        .iter()
        .map(|finding| {
            let mark = match finding.outcome {
                Outcome::Won => Style::Strong.of("won"),
                Outcome::Outranked => "outranked".into(),
                Outcome::Passed => Style::Faint.of("no"),
            };
            [finding.detector.into(), mark, finding.reason.as_str().into()]
        })
        .collect();
    ui.aligned(&rows);

    ui.line("");
    ui.line("Ancestors of this process");
    let anchor = detection.anchor.as_ref().map(|anchor| anchor.pid);
    let rows: Vec<[Text; 4]> = detection
        .ancestry
        .iter()
        .map(|ancestor| {
            let process = &ancestor.process;
            let terminal =
                process.terminal.map_or_else(|| "-".to_owned(), |terminal| terminal.to_string());
            let mut role = Text::from(ancestor.role.to_string());
            if Some(process.pid) == anchor {
                role =
                    role.then(Style::Strong.of("  <- the session's claims end with this process"));
            }
            [process.pid.to_string().into(), process.name.as_str().into(), terminal.into(), role]
        })
        .collect();
    ui.aligned(&rows);
    if let Some(end) = &detection.end {
        ui.line(Text::from("  ").then(Style::Faint.of(format!("({end})"))));
    }
    if let Some(parent) = &detection.parent {
        ui.line("");
        ui.line(format!("Runs in {}", parent.label()));
    }
    if let Some(agent) = &detection.unlisted {
        suggest(agent, ui);
    }
    let limit = match detection.confidence {
        Confidence::Unconfirmed => {
            "Unconfirmed: osm cannot see the process that this id depends on."
        }
        Confidence::OneCommand => {
            "One command: osm sees only the command of this sandbox, and another gets another id."
        }
        _ => return,
    };
    ui.line("");
    ui.line(limit);
}

/// Says which program above us behaves like an agent, and how to make it one.
fn suggest(agent: &UnlistedAgent, ui: &mut Ui) {
    let UnlistedAgent { pid, program, behaviour, .. } = agent;
    ui.line("");
    ui.line(format!(
        "{program} (pid {pid}) behaves like a coding agent: it {}.",
        behaviour.join(", ")
    ));
    ui.line("If it is one, add this to the file that `osm config path` prints:");
    ui.line("");
    for line in crate::config::describe_agent(agent).lines() {
        ui.line(format!("  {line}"));
    }
}
