//! `osm session reset`: begin anew; what was there goes to the archive.

use super::elsewhere;
use crate::cli::ResetArguments;
use crate::context::Context;
use crate::error::CommandError;
use crate::ui::Ui;

pub(super) fn run(
    arguments: &ResetArguments,
    context: &Context,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let id = context.named(arguments.id.as_deref());
    let store = context.store_to_change(arguments.force)?;
    store.read(&id)?;
    if arguments.sure.dry_run {
        ui.line(&format!("would reset {id}"));
        return Ok(());
    }
    elsewhere::warn(&store, std::slice::from_ref(&id), ui);
    let archive =
        arguments.keep_archives || (context.settings.keep_archives && !arguments.no_archive);
    if !archive {
        context.confirm(arguments.sure.yes, &format!("Reset {id} and keep nothing of it?"), ui)?;
    }
    match store.reset(&id, archive)? {
        Some(name) => {
            ui.line(&format!("reset {id}"));
            ui.line(&format!("archived as {name}"));
        }
        None => ui.line(&format!("reset {id}, without an archive")),
    }
    Ok(())
}
