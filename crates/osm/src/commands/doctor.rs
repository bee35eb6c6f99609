//! `osm doctor`: what is wrong, why it matters, and how to fix it.

use crate::cli::Format;
use crate::error::{CommandError, Exit};
use crate::invocation::Invocation;
use crate::ops::doctor::{Finding, Severity, diagnose, fix};
use crate::render::{Style, Text, Ui};

pub(super) fn run(
    invocation: &Invocation,
    wants_fix: bool,
    format: Format,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let mut diagnosis = diagnose(invocation, ui);
    if wants_fix {
        fix(&mut diagnosis, invocation, ui);
    }
    if format.json {
        ui.json(&diagnosis);
    } else {
        let found = format!(" ({}), {}, {}", diagnosis.id, diagnosis.source, diagnosis.confidence);
        ui.aligned(&[[Text::from("session"), Style::Strong.of(&diagnosis.handle).then(found)]]);
        for finding in &diagnosis.findings {
            ui.line("");
            show(finding, ui);
        }
        ui.line("");
        ui.line(match diagnosis.findings.len() {
            0 => format!("{} checks found no problem", diagnosis.checks),
            1 => format!("{} checks have 1 finding", diagnosis.checks),
            count => format!("{} checks have {count} findings", diagnosis.checks),
        });
    }
    if diagnosis.findings.iter().any(Finding::is_open_problem) {
        return Err(CommandError::Told(Exit::Problems));
    }
    Ok(())
}

fn show(finding: &Finding, ui: &mut Ui) {
    let word = match finding.severity {
        Severity::Problem => Style::Bad.of("problem"),
        Severity::Notice => Style::Caution.of("notice"),
    };
    ui.line(word.then(format!(": {}: ", finding.check)).then(Style::Strong.of(&finding.what)));
    ui.line(format!("  why: {}", finding.why));
    if finding.fixed == Some(true) {
        return ui.line(Style::Good.of("  fixed"));
    }
    if let Some(failure) = &finding.failure {
        ui.line(Style::Bad.of(format!("  not fixed: {failure}")));
    }
    ui.line(format!("  fix: {}", finding.fix));
}
