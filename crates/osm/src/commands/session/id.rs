//! `osm session id`: the id, and with `--explain` how it came about.

use osm_identity::{Confidence, Detection, Outcome};

use crate::cli::Format;
use crate::commands::report::Report;
use crate::hot;
use crate::ui::{Style, Ui};

pub(super) fn run(detection: &Detection, explain: bool, format: Format, ui: &mut Ui) {
    if format.json {
        return ui.line(&Report::new(detection).to_json());
    }
    if explain {
        return show(detection, ui);
    }
    hot::print(&detection.id, detection.confidence, ui);
}

fn show(detection: &Detection, ui: &mut Ui) {
    ui.line(&ui.styled(Style::Strong, detection.id.as_str()));
    ui.line("");
    ui.line("Candidates, in the order in which they are asked");
    let rows: Vec<Vec<String>> = detection
        .trail
        .iter()
        .map(|finding| {
            let mark = match finding.outcome {
                Outcome::Won => ui.styled(Style::Strong, "won"),
                Outcome::Outranked => "outranked".into(),
                Outcome::Passed => ui.styled(Style::Faint, "no"),
            };
            vec![finding.detector.to_owned(), mark, finding.reason.clone()]
        })
        .collect();
    ui.table(&rows);

    ui.line("");
    ui.line("Ancestors, from this process up");
    let anchor = detection.anchor.as_ref().map(|anchor| anchor.pid);
    let rows: Vec<Vec<String>> = detection
        .ancestry
        .iter()
        .map(|ancestor| {
            let process = &ancestor.process;
            let terminal =
                process.terminal.map_or_else(|| "-".to_owned(), |terminal| terminal.to_string());
            let mut role = ancestor.role.to_string();
            if Some(process.pid) == anchor {
                role.push_str(&ui.styled(Style::Strong, "  <- the session hangs on this"));
            }
            vec![process.pid.to_string(), printable(&process.name), terminal, role]
        })
        .collect();
    ui.table(&rows);
    if let Some(end) = &detection.end {
        ui.line(&format!("  {}", ui.styled(Style::Faint, &format!("({end})"))));
    }
    if let Some(parent) = &detection.parent {
        ui.line("");
        ui.line(&format!("Runs in {parent}"));
    }
    if detection.confidence == Confidence::Unconfirmed {
        ui.line("");
        ui.line("Unconfirmed: the process behind it is out of sight.");
    }
}

/// A process chooses its own name, so it may hold anything.
fn printable(name: &str) -> String {
    name.chars().flat_map(char::escape_debug).collect()
}
