//! `osm session export` and `osm session import`.

use std::path::{Path, PathBuf};

use crate::cli::{Force, Sure};
use crate::error::CommandError;
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
    files: &[PathBuf],
    id: Option<&str>,
    force: Force,
    sure: Sure,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let request = ImportRequest {
        files: files.to_vec(),
        id: id.map(str::to_owned),
        force: force.force,
        consent: super::consent(sure),
    };
    let result = session::import(invocation, &request, ui)?;
    for it in result.imported {
        let verb = if it.dry_run { "would import" } else { "imported" };
        ui.line(format!("{verb} {} as {}", it.file.display(), it.id.label()));
        if let Some(archived) = it.archived {
            ui.line(format!("the session that it replaced is archived as {archived}"));
        }
    }
    result.failure.map_or(Ok(()), |error| Err(error.into()))
}
