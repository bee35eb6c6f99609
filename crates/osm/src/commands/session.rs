//! `osm session …`: arguments become requests, and results become text or JSON.

use osm_store::retention::Mode;

use crate::cli::{ListArguments, Session, Sure};
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::ops::identity;
use crate::ops::session::{BackgroundCleanup, Consent, ImportRequest};
use crate::render::Ui;

mod archives;
mod clean;
mod delete;
mod diff;
mod history;
mod id;
mod info;
mod list;
mod reset;
mod transfer;

pub(super) fn run(
    command: Option<&Session>,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    // A command that removes sessions needs no cleanup in its background.
    let quiet = matches!(
        command,
        Some(
            Session::Id { .. }
                | Session::Path { .. }
                | Session::Clean { .. }
                | Session::Purge { .. }
        )
    );
    let cleanup = (!quiet).then(|| BackgroundCleanup::start(invocation));
    let ended = match command {
        None => list::run(&ListArguments::default(), invocation, ui),
        Some(command) => run_command(command, invocation, ui),
    };
    finish_cleanup(cleanup, invocation, ui);
    ended
}

/// Ends an automatic cleanup, and says in one line what it removed.
pub(super) fn finish_cleanup(
    cleanup: Option<BackgroundCleanup>,
    invocation: &Invocation,
    ui: &mut Ui,
) {
    if let Some(report) = cleanup.and_then(BackgroundCleanup::finish) {
        let days = invocation.settings.policy().trash_days;
        if let Some(note) = clean::automatic(&report, days) {
            ui.note(&note);
        }
    }
}

fn run_command(
    command: &Session,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    match command {
        Session::Id { explain, format } => {
            id::run(&identity::explain(invocation), *explain, *format, ui);
            Ok(())
        }
        Session::List(arguments) => list::run(arguments, invocation, ui),
        Session::Info { id, format } => info::run(id.as_deref(), *format, invocation, ui),
        Session::Path { id, folder } => info::path(id.as_deref(), *folder, invocation, ui),
        Session::History { id, format } => history::run(id.as_deref(), *format, invocation, ui),
        Session::Diff { one, other, format } => {
            diff::run(one.as_deref(), other.as_deref(), *format, invocation, ui)
        }
        Session::Delete { ids, force, sure } => delete::run(ids, *force, *sure, invocation, ui),
        Session::Clean { sure, format } => clean::run(Mode::Clean, *sure, *format, invocation, ui),
        Session::Purge { sure, format } => clean::run(Mode::Purge, *sure, *format, invocation, ui),
        Session::Reset(arguments) => reset::run(arguments, invocation, ui),
        Session::Archives { format } => archives::list(*format, invocation, ui),
        Session::Restore { name, id, force, sure } => {
            archives::restore(name, id.as_deref(), *force, *sure, invocation, ui)
        }
        Session::Export { id, output } => {
            transfer::export(id.as_deref(), output.as_deref(), invocation, ui)
        }
        Session::Import { files, upstream, id, force, sure } => {
            let request = ImportRequest {
                files: files.clone(),
                upstream: *upstream,
                id: id.clone(),
                force: force.force,
                consent: consent(*sure),
            };
            transfer::import(&request, invocation, ui)
        }
    }
}

fn consent(sure: Sure) -> Consent {
    Consent { yes: sure.yes, dry_run: sure.dry_run }
}
