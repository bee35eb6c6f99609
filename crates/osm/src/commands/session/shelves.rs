//! `osm session archives` and `osm session restore`: what was set aside, and back again.

use osm_identity::SessionId;
use osm_store::Store;
use osm_store::backend::{Shelf, Shelved};
use serde_json::{Value, json};

use super::elsewhere;
use crate::cli::{Force, Format, Sure};
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::render::Ui;
use crate::render::size;
use crate::render::time::age;

pub(super) fn list(
    format: Format,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let store = invocation.store()?;
    let mut all: Vec<(Shelf, Shelved)> = Vec::new();
    for shelf in Shelf::ALL {
        all.extend(store.backend().shelved(shelf)?.into_iter().map(|it| (shelf, it)));
    }
    if format.json {
        let rows: Vec<Value> = all
            .iter()
            .map(|(shelf, it)| {
                json!({
                    "shelf": shelf.name(),
                    "name": it.name,
                    "session": it.id.as_ref().map(ToString::to_string),
                    "size": it.size,
                    "at": it.modified,
                })
            })
            .collect();
        ui.json(&rows);
        return Ok(());
    }
    if all.is_empty() {
        ui.line("Nothing was set aside");
        return Ok(());
    }
    let now = invocation.world.now();
    let mut rows = vec![["SHELF", "AGE", "SIZE", "NAME"].map(str::to_owned).to_vec()];
    for (shelf, it) in all {
        rows.push(vec![shelf.name().to_owned(), age(it.modified, now), size(it.size), it.name]);
    }
    ui.aligned(&rows);
    Ok(())
}

/// The shelf on which something lies, and whose it is.
pub(super) fn find(store: &Store, name: &str) -> osm_store::Result<(Shelf, Option<SessionId>)> {
    for shelf in Shelf::ALL {
        if let Some(it) = store.backend().shelved(shelf)?.into_iter().find(|it| it.name == name) {
            return Ok((shelf, it.id));
        }
    }
    Err(osm_store::Error::NotShelved(name.to_owned()))
}

pub(super) fn restore(
    name: &str,
    id: Option<&str>,
    force: Force,
    sure: Sure,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let store = invocation.store_to_change(force.force)?;
    let (shelf, was) = find(&store, name)?;
    let id = match (id, was) {
        (Some(id), _) => invocation.named(Some(id)),
        (None, Some(id)) => id,
        (None, None) => store.read_shelved(shelf, name)?.id,
    };
    if sure.dry_run {
        ui.line(format!("would restore {name} as {id}"));
        return Ok(());
    }
    elsewhere::warn(&store, std::slice::from_ref(&id), ui);
    let archived = store.restore(shelf, name, &id)?;
    ui.line(format!("restored {id}"));
    if let Some(archived) = archived {
        ui.line(format!("what was there is archived as {archived}"));
    }
    Ok(())
}
