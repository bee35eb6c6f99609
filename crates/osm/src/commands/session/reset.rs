//! `osm session reset`.

use osm_store::backend::ArchiveKind;

use crate::cli::ResetArguments;
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::ops::session::{self, ResetRequest};
use crate::render::Ui;

pub(super) fn run(
    arguments: &ResetArguments,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let archive = match (arguments.keep_archives, arguments.no_archive) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    };
    let request = ResetRequest {
        id: arguments.id.clone(),
        archive,
        force: arguments.force.force,
        consent: super::consent(arguments.sure),
    };
    let result = session::reset(invocation, &request, ui)?;
    let id = result.id.label();
    if result.dry_run {
        ui.line(format!("would reset {id}"));
        return Ok(());
    }
    match result.archived {
        Some((ArchiveKind::Archive, name)) => {
            ui.line(format!("reset {id}"));
            ui.line(format!("archived as {name}"));
        }
        Some((kind, name)) => {
            ui.line(format!("reset {id}"));
            ui.line(format!("the session was damaged; the damaged file is {}/{name}", kind.name()));
        }
        None => ui.line(format!("reset {id}, without an archive")),
    }
    Ok(())
}
