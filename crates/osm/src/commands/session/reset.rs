//! `osm session reset`: begin anew; what was there goes to the archive, or to quarantine if it is
//! damaged.

use osm_store::backend::Shelf;

use super::elsewhere;
use crate::cli::ResetArguments;
use crate::error::CommandError;
use crate::interaction::confirm;
use crate::invocation::Invocation;
use crate::render::Ui;

pub(super) fn run(
    arguments: &ResetArguments,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let id = invocation.named(arguments.id.as_deref());
    let store = invocation.store_to_change(arguments.force.force)?;
    match store.read(&id) {
        // That is a reason to begin anew.
        Err(osm_store::Error::Corrupt { .. }) => {}
        read => drop(read?),
    }
    if arguments.sure.dry_run {
        ui.line(format!("would reset {id}"));
        return Ok(());
    }
    elsewhere::warn(&store, std::slice::from_ref(&id), ui);
    let archive =
        arguments.keep_archives || (invocation.settings.keep_archives && !arguments.no_archive);
    if !archive {
        confirm(arguments.sure.yes, &format!("Reset {id} and keep nothing of it?"), ui)?;
    }
    match store.reset(&id, archive)? {
        Some((Shelf::Archive, name)) => {
            ui.line(format!("reset {id}"));
            ui.line(format!("archived as {name}"));
        }
        Some((shelf, name)) => {
            ui.line(format!("reset {id}"));
            ui.line(format!("it was damaged; it is kept as {}/{name}", shelf.name()));
        }
        None => ui.line(format!("reset {id}, without an archive")),
    }
    Ok(())
}
