//! Deleting and resetting sessions.

use osm_identity::SessionId;
use osm_store::backend::ArchiveKind;

use super::{Consent, SessionError, named, warn_of_foreign_holders};
use crate::interaction::{Interaction, confirm};
use crate::invocation::Invocation;

/// Which sessions to delete.
#[derive(Clone, Debug, Default)]
pub struct DeleteRequest {
    /// The sessions.
    pub ids: Vec<String>,
    /// Break locks whose holders are proven dead.
    pub force: bool,
    /// Whether to ask.
    pub consent: Consent,
}

/// What was deleted, or would be.
#[derive(Debug)]
pub struct Deleted {
    /// The sessions that are in the trash now.
    pub deleted: Vec<SessionId>,
    /// The sessions that could not be deleted, and why.
    pub failed: Vec<(SessionId, osm_store::Error)>,
    /// Nothing was changed.
    pub dry_run: bool,
}

/// Deletes sessions, into the trash. One that is in use does not prevent the others.
pub fn delete(
    invocation: &Invocation,
    request: &DeleteRequest,
    interaction: &mut dyn Interaction,
) -> Result<Deleted, SessionError> {
    let store = invocation.store_to_change(request.force)?;
    let named = request.ids.iter().map(|name| named(invocation, &store, Some(name)));
    let ids = named.collect::<Result<Vec<_>, _>>()?;
    for id in &ids {
        if !store.contains(id)? {
            return Err(osm_store::Error::NotFound(id.clone()).into());
        }
    }
    let dry_run = request.consent.dry_run;
    if dry_run {
        return Ok(Deleted { deleted: ids, failed: Vec::new(), dry_run });
    }
    let question = match ids.as_slice() {
        [id] => format!("Delete session {}?", id.label()),
        _ => format!("Delete {} sessions?", ids.len()),
    };
    warn_of_foreign_holders(&store, &ids, interaction);
    confirm(request.consent.yes, &question, interaction)?;
    let mut result = Deleted { deleted: Vec::new(), failed: Vec::new(), dry_run };
    for id in ids {
        match store.delete(&id) {
            Ok(()) => result.deleted.push(id),
            Err(error) => result.failed.push((id, error)),
        }
    }
    Ok(result)
}

/// Which session to reset.
#[derive(Clone, Debug, Default)]
pub struct ResetRequest {
    /// The session.
    pub id: Option<String>,
    /// Whether to archive its document; by default as the settings say.
    pub archive: Option<bool>,
    /// Break locks whose holders are proven dead.
    pub force: bool,
    /// Whether to ask.
    pub consent: Consent,
}

/// A session that was reset, or would be.
#[derive(Clone, Debug)]
pub struct Reset {
    /// The session.
    pub id: SessionId,
    /// Where its old document is.
    pub archived: Option<(ArchiveKind, String)>,
    /// Nothing was changed.
    pub dry_run: bool,
}

/// Empties a session; its document goes to the archive, or to quarantine if it is damaged.
pub fn reset(
    invocation: &Invocation,
    request: &ResetRequest,
    interaction: &mut dyn Interaction,
) -> Result<Reset, SessionError> {
    let store = invocation.store_to_change(request.force)?;
    let id = named(invocation, &store, request.id.as_deref())?;
    match store.read(&id) {
        // A reset repairs that.
        Err(osm_store::Error::Corrupt { .. }) => {}
        read => drop(read?),
    }
    let dry_run = request.consent.dry_run;
    if dry_run {
        return Ok(Reset { id, archived: None, dry_run });
    }
    warn_of_foreign_holders(&store, std::slice::from_ref(&id), interaction);
    let archive = request.archive.unwrap_or(invocation.settings.keep_archives);
    if !archive {
        let question = format!("Reset {} without an archive?", id.label());
        confirm(request.consent.yes, &question, interaction)?;
    }
    let archived = store.reset(&id, archive)?;
    Ok(Reset { id, archived, dry_run })
}
