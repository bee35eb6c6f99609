//! `osm session export` and `osm session import`.

use std::path::Path;

use crate::error::{CommandError, Exit};
use crate::invocation::Invocation;
use crate::ops::session::{self, ImportRequest};
use crate::render::Ui;

pub(super) fn export(
    id: Option<&str>,
    output: Option<&Path>,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let snapshot = session::read(invocation, id)?;
    let Some(path) = output else {
        return ui.export(&session::export(&snapshot)?);
    };
    session::export_to(path, &snapshot, ui)?;
    ui.line(format!("exported {} to {}", snapshot.id.label(), path.display()));
    Ok(())
}

pub(super) fn import(
    request: &ImportRequest,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let result = session::import(invocation, request, ui)?;
    for it in result.imported {
        let verb = if it.dry_run { "would import" } else { "imported" };
        ui.line(format!("{verb} {} as {}", it.file.display(), it.id.label()));
        if let Some(archived) = it.archived {
            ui.line(format!("the session that it replaced is archived as {archived}"));
        }
    }
    for error in &result.left_out {
        ui.warn(&error.to_string());
    }
    match (result.failure, result.left_out.len()) {
        (Some(error), _) => Err(error.into()),
        (None, 0) => Ok(()),
        (None, count) => {
            let sessions = if count == 1 { "session" } else { "sessions" };
            let message = format!("{count} {sessions} of the upstream tool could not be imported");
            Err(CommandError::failed("partial", message).exiting(Exit::Partial))
        }
    }
}
