//! `osm store`: where sessions are kept.

use osm_store::JournalEntry;
use serde_json::json;

use crate::cli::Store;
use crate::error::{CommandError, Exit};
use crate::invocation::Invocation;
use crate::ops::store::{self, Checked, Status};
use crate::render::Ui;

type Answer = Result<(), CommandError>;

pub(super) fn run(line: &Store, invocation: &Invocation, ui: &mut Ui) -> Answer {
    match line {
        Store::Status { format } => {
            let status = match store::status(invocation) {
                Ok(status) => status,
                Err(error) => {
                    // What waits for the server is most wanted while the server is away.
                    if !format.json {
                        list_journals(&store::journals(invocation).unwrap_or_default(), ui);
                    }
                    return Err(error.into());
                }
            };
            if format.json {
                ui.json(&status);
            } else {
                show(&status, ui);
            }
            Ok(())
        }
        Store::Migrate { format } => {
            let applied = store::migrate(invocation)?;
            if format.json {
                ui.json(&json!({ "applied": applied }));
            } else if applied.is_empty() {
                ui.line("the tables are up to date");
            }
            if !format.json {
                for name in applied {
                    ui.line(format!("applied: {name}"));
                }
            }
            Ok(())
        }
        Store::Copy { from, to, format } => copy(invocation, from, to, format.json, ui),
        Store::Check { format } => {
            let checked = store::check(invocation, ui)?;
            if format.json {
                ui.json(&checked);
            } else {
                list(&checked, ui);
            }
            if checked.damaged.is_empty() {
                return Ok(());
            }
            let message = format!("{} of {} cannot be read", checked.damaged.len(), checked.read);
            Err(CommandError::failed("damaged", message)
                .with_hint("opening a damaged session quarantines it and starts an empty one")
                .exiting(Exit::Partial))
        }
    }
}

fn show(status: &Status, ui: &mut Ui) {
    ui.line(format!("store     {}", status.store));
    ui.line(format!("place     {}", status.place));
    for (name, schema) in [("tables", &status.schema), ("claims", &status.claims)] {
        let Some(schema) = schema else { continue };
        let osm = if schema.state == "current" {
            String::new()
        } else {
            format!(" (this osm uses version {})", schema.known)
        };
        ui.line(format!("{name}    {}, version {}{osm}", schema.state, schema.version));
    }
    if let Some(generation) = status.schema.as_ref().and_then(|it| it.generation.as_ref()) {
        ui.line(format!("id        {generation}"));
    }
    if let (Some(sessions), Some(archives)) = (status.sessions, status.archives) {
        ui.line(format!("sessions  {sessions}"));
        ui.line(format!("archives  {archives}"));
    }
    list_journals(&status.journals, ui);
}

/// Changes of sessions that wait on this machine for a server.
fn list_journals(journals: &[JournalEntry], ui: &mut Ui) {
    for journal in journals {
        let path = journal.path.display();
        let line = match (&journal.damage, &journal.session) {
            (Some(damage), _) => format!("journal   {path}: cannot be replayed: {damage}"),
            (None, session) => {
                let session = session.as_deref().unwrap_or_default();
                let store = journal.store.as_deref().unwrap_or_default();
                let open = if journal.open { ", open" } else { "" };
                format!("journal   {path}: session {session}, for {store}{open}")
            }
        };
        ui.line(line);
    }
}

fn copy(invocation: &Invocation, from: &str, to: &str, json: bool, ui: &mut Ui) -> Answer {
    let report = store::copy(invocation, from, to, ui)?;
    let left = |it: &osm_store::copy::Left| json!({ "name": it.name, "reason": it.why });
    if json {
        ui.json(&json!({
            "copied": report.copied,
            "same": report.same,
            "left": report.left.iter().map(left).collect::<Vec<_>>(),
            "complete": !report.is_stopped,
        }));
    } else {
        ui.line(format!("copied: {}, already there: {}", report.copied, report.same));
        for left in &report.left {
            ui.line(format!("not copied: {}: {}", left.name, left.why));
        }
    }
    if report.is_stopped {
        return Err(CommandError::failed("interrupted", "the copy was interrupted")
            .with_hint("run the same command again: it continues")
            .exiting(Exit::Partial));
    }
    if !report.left.is_empty() {
        let message = format!("{} not copied", report.left.len());
        return Err(CommandError::failed("not_copied", message)
            .with_hint("delete what the target has, or use `osm session export` and `import`")
            .exiting(Exit::Partial));
    }
    Ok(())
}

fn list(checked: &Checked, ui: &mut Ui) {
    ui.line(format!("read {} sessions and archives", checked.read));
    for damaged in &checked.damaged {
        ui.line(format!("damaged: {}: {}", damaged.name, damaged.reason));
    }
}
