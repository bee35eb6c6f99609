//! `osm session id`: the id, and with `--explain` how it came about.

use osm_identity::{Confidence, Detection, Outcome};

use crate::cli::Format;
use crate::commands::report::Report;
use crate::fast_path;
use crate::render::{Style, Text, Ui};

pub(super) fn run(detection: &Detection, explain: bool, format: Format, ui: &mut Ui) {
    if format.json {
        return ui.json(&Report::new(detection));
    }
    if explain {
        return show(detection, ui);
    }
    fast_path::print(&detection.id, detection.confidence, ui);
}

fn show(detection: &Detection, ui: &mut Ui) {
    ui.line(Style::Strong.of(detection.id.as_str()));
    ui.line("");
    ui.line("Candidates, in the order in which they are asked");
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
    ui.line("Ancestors, from this process up");
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
                role = role.then(Style::Strong.of("  <- the session hangs on this"));
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
        ui.line(format!("Runs in {parent}"));
    }
    if detection.confidence == Confidence::Unconfirmed {
        ui.line("");
        ui.line("Unconfirmed: the process behind it is out of sight.");
    }
}
