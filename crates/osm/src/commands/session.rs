//! `osm session …`: one file for each thing that can be done with sessions.

use crate::cli::Session;
use crate::context::Context;
use crate::error::CommandError;
use crate::ui::Ui;

mod background;
mod clean;
mod delete;
mod diff;
mod elsewhere;
pub(super) mod format;
mod history;
mod id;
mod info;
mod list;
mod reset;
mod shelves;
mod transfer;

pub(super) use background::Background;

pub(super) fn run(command: &Session, context: &Context, ui: &mut Ui) -> Result<(), CommandError> {
    // A command that removes sessions needs no other beside it.
    let quiet = matches!(
        command,
        Session::Id { .. } | Session::Path { .. } | Session::Clean { .. } | Session::Purge { .. }
    );
    let _cleanup = (!quiet).then(|| background::Background::start(context));
    match command {
        Session::Id { explain, format } => {
            id::run(&context.explain(), *explain, *format, ui);
            Ok(())
        }
        Session::List(arguments) => list::run(arguments, context, ui),
        Session::Info { id, format } => info::run(id.as_deref(), *format, context, ui),
        Session::Path { id } => info::path(id.as_deref(), context, ui),
        Session::History { id, format } => history::run(id.as_deref(), *format, context, ui),
        Session::Diff { one, other, format } => {
            diff::run(one.as_deref(), other.as_deref(), *format, context, ui)
        }
        Session::Delete { ids, force, sure } => delete::run(ids, *force, *sure, context, ui),
        Session::Clean { sure, format } => clean::run(false, *sure, *format, context, ui),
        Session::Purge { sure, format } => clean::run(true, *sure, *format, context, ui),
        Session::Reset(arguments) => reset::run(arguments, context, ui),
        Session::Archives { format } => shelves::list(*format, context, ui),
        Session::Restore { name, id, force, sure } => {
            shelves::restore(name, id.as_deref(), *force, *sure, context, ui)
        }
        Session::Export { id, output } => {
            transfer::export(id.as_deref(), output.as_deref(), context, ui)
        }
        Session::Import { files, id, force, sure } => {
            transfer::import(files, id.as_deref(), *force, *sure, context, ui)
        }
    }
}
