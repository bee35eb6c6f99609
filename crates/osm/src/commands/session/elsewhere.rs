//! Two machines in one folder whose locks do not reach each other: said once, with what to do.

use osm_identity::SessionId;
use osm_store::Store;
use osm_store::cleanup::{Report, Skip};

use crate::render::Ui;

/// Warns of sessions that are about to be changed here and are open on another machine.
pub(super) fn warn(store: &Store, ids: &[SessionId], ui: &mut Ui) {
    let open = ids.iter().find_map(|id| {
        let holders = store.foreign_holders(id).unwrap_or_default();
        holders.into_iter().next().map(|holder| (id, holder))
    });
    if let Some((id, holder)) = open {
        tell(&format!("session {id} is open in {holder}"), ui);
    }
}

/// Warns of sessions that a cleanup left, because they are open on another machine.
pub(super) fn warn_after(report: &Report, ui: &mut Ui) {
    let open = report.skipped.iter().find_map(|it| match &it.why {
        Skip::Elsewhere(holders) => holders.first(),
        _ => None,
    });
    if let Some(holder) = open {
        tell(&format!("this store is in use by {holder}"), ui);
    }
}

fn tell(what: &str, ui: &mut Ui) {
    ui.warn(&format!("{what}, and its locks cannot be seen here: changes of both can be lost"));
    ui.hint(
        "give each machine its own OSM_HOME, or share it by a file system that passes locks on",
    );
}
