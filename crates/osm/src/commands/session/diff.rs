//! `osm session diff`: what changed between two states.
//!
//! A state is a session (`ID`), what it was after one of its commands (`ID@NUMBER`, or `@NUMBER` of
//! this session), or a document that was set aside (its file name).

use osm_store::Store;
use osm_store::diff::diff;
use serde_json::{Value, json};

use super::shelves;
use crate::cli::Format;
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::render::Ui;
use crate::render::brief;

pub(super) fn run(
    one: Option<&str>,
    other: Option<&str>,
    format: Format,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let store = invocation.store()?;
    let (before, after) = match (one, other) {
        (Some(one), Some(other)) => {
            (state(&store, one, invocation)?, state(&store, other, invocation)?)
        }
        // One alone is compared with the session as it is now.
        (Some(one), None) => {
            let id = one.split('@').next().filter(|id| !id.is_empty() && !is_shelved(id));
            let id = invocation.named(id);
            (state(&store, one, invocation)?, store.read(&id)?.state)
        }
        _ => {
            let session = store.read(invocation.session_id())?;
            let before = session.history.iter().rev().nth(1).map(|entry| entry.final_state.clone());
            (before.unwrap_or_else(|| json!({"shared": {}, "script": {}})), session.state)
        }
    };
    let differences = diff(&before, &after);
    if format.json {
        let rows: Vec<Value> = differences
            .iter()
            .map(|it| json!({"path": it.path, "before": it.before, "after": it.after}))
            .collect();
        ui.json(&rows);
        return Ok(());
    }
    if differences.is_empty() {
        ui.line("No difference");
    }
    for it in differences {
        ui.line(it.path.join(" / "));
        if let Some(before) = it.before {
            ui.line(format!("  - {}", brief(&before.to_string(), 100)));
        }
        if let Some(after) = it.after {
            ui.line(format!("  + {}", brief(&after.to_string(), 100)));
        }
    }
    Ok(())
}

fn is_shelved(name: &str) -> bool {
    name.contains(".session.json")
}

fn state(store: &Store, name: &str, invocation: &Invocation) -> Result<Value, CommandError> {
    if is_shelved(name) {
        let (shelf, _) = shelves::find(store, name)?;
        return Ok(store.read_shelved(shelf, name)?.state);
    }
    let Some((id, number)) = name.rsplit_once('@') else {
        return Ok(store.read(&invocation.named(Some(name)))?.state);
    };
    let session = store.read(&invocation.named(Some(id).filter(|id| !id.is_empty())))?;
    let entry =
        number.parse::<usize>().ok().and_then(|number| session.history.get(number.checked_sub(1)?));
    entry.map(|entry| entry.final_state.clone()).ok_or_else(|| {
        CommandError::failed(format!("{} has no command number {number}", session.id))
            .with_hint(format!("see `osm session history {}`", session.id))
            .exiting(crate::Exit::NotFound)
    })
}
