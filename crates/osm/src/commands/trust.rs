//! `osm trust`: allows scripts in a working tree to run.

use crate::cli::{Format, Trust as Line, TrustCommand};
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::ops::trust::{self, Trusted};
use crate::render::{Style, Ui};

pub(super) fn run(line: &Line, invocation: &Invocation, ui: &mut Ui) -> Result<(), CommandError> {
    match &line.command {
        None => {
            let added = trust::add(invocation, &line.paths)?;
            show(&added, "trusted", line.format, ui);
        }
        Some(TrustCommand::List { format }) => list(&trust::list(invocation)?, *format, ui),
        Some(TrustCommand::Revoke { paths, format }) => {
            let revoked = trust::revoke(invocation, paths)?;
            show(&revoked, "no longer trusted", *format, ui);
        }
    }
    Ok(())
}

fn show(files: &[Trusted], state: &str, format: Format, ui: &mut Ui) {
    if format.json {
        ui.json(files);
        return;
    }
    for file in files {
        ui.line(format!("{state}: {}", file.path.display()));
    }
}

fn list(files: &[Trusted], format: Format, ui: &mut Ui) {
    if format.json {
        ui.json(files);
        return;
    }
    if files.is_empty() {
        ui.line("no trusted files");
        return;
    }
    let mut table = vec![["STATE", "SHA-256", "PATH"].map(|name| Style::Faint.of(name)).to_vec()];
    for file in files {
        let short = file.sha256.get(..12).unwrap_or(&file.sha256).to_owned();
        let path = file.path.display().to_string();
        table.push(vec![file.state.name().into(), short.into(), path.into()]);
    }
    ui.aligned(&table);
}
