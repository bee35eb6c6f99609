//! `osm session delete`: sessions by name, into the trash.

use osm_store::backend::Current;

use super::elsewhere;
use crate::cli::{Force, Sure};
use crate::error::CommandError;
use crate::interaction::confirm;
use crate::invocation::Invocation;
use crate::render::Ui;

pub(super) fn run(
    names: &[String],
    force: Force,
    sure: Sure,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let store = invocation.store_to_change(force.force)?;
    let ids: Vec<_> = names.iter().map(|name| invocation.named(Some(name))).collect();
    for id in &ids {
        if matches!(store.backend().load(id, None)?, Current::Missing) {
            return Err(osm_store::Error::NotFound(id.clone()).into());
        }
    }
    if sure.dry_run {
        for id in ids {
            ui.line(format!("would delete {id}"));
        }
        return Ok(());
    }
    let question = match ids.as_slice() {
        [id] => format!("Delete session {id}?"),
        _ => format!("Delete {} sessions?", ids.len()),
    };
    elsewhere::warn(&store, &ids, ui);
    confirm(sure.yes, &question, ui)?;
    let mut failure = None;
    for id in ids {
        match store.delete(&id) {
            Ok(()) => ui.line(format!("deleted {id}")),
            // One that is in use does not save the others.
            Err(error) => {
                let error = CommandError::from(error);
                if let Some(earlier) = failure.replace(error) {
                    ui.fail(&earlier);
                }
            }
        }
    }
    failure.map_or(Ok(()), Err)
}
