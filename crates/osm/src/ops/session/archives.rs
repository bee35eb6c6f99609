//! Archived documents, and restoring them.

use osm_identity::SessionId;
use osm_store::Store;
use osm_store::backend::{ArchiveKind, ArchivedDocument};

use super::{Consent, SessionError, warn_of_foreign_holders};
use crate::interaction::Interaction;
use crate::invocation::Invocation;

/// An archived document and its kind.
#[derive(Clone, Debug)]
pub struct Archive {
    /// Its kind.
    pub kind: ArchiveKind,
    /// The document.
    pub document: ArchivedDocument,
}

/// All archived documents, kind by kind, the oldest first.
pub fn archives(invocation: &Invocation) -> Result<Vec<Archive>, SessionError> {
    let store = invocation.store()?;
    let mut all = Vec::new();
    for kind in ArchiveKind::ALL {
        let documents = store.backend().all_archived(kind)?;
        all.extend(documents.into_iter().map(|document| Archive { kind, document }));
    }
    Ok(all)
}

/// Whether a name is that of an archived document, and not of a session.
pub(super) fn is_archived(name: &str) -> bool {
    name.contains(".session.json")
}

/// The kind of an archived document, and the session that it was.
pub(super) fn find(
    store: &Store,
    name: &str,
) -> osm_store::Result<(ArchiveKind, Option<SessionId>)> {
    for kind in ArchiveKind::ALL {
        let documents = store.backend().all_archived(kind)?;
        if let Some(it) = documents.into_iter().find(|it| it.name == name) {
            return Ok((kind, it.id));
        }
    }
    Err(osm_store::Error::ArchiveNotFound(name.to_owned()))
}

/// What to restore.
#[derive(Clone, Debug, Default)]
pub struct RestoreRequest {
    /// The name of the archived document.
    pub name: String,
    /// The session to restore it as; by default the one that it was.
    pub id: Option<String>,
    /// Break locks whose holders are proven dead.
    pub force: bool,
    /// Whether to change anything.
    pub consent: Consent,
}

/// A session that was restored, or would be.
#[derive(Clone, Debug)]
pub struct Restored {
    /// The session.
    pub id: SessionId,
    /// The archive of the session that it replaced.
    pub archived: Option<String>,
    /// Nothing was changed.
    pub dry_run: bool,
}

/// Restores an archived document.
pub fn restore(
    invocation: &Invocation,
    request: &RestoreRequest,
    interaction: &mut dyn Interaction,
) -> Result<Restored, SessionError> {
    let store = invocation.store_to_change(request.force)?;
    let (kind, was) = find(&store, &request.name)?;
    let id = match (request.id.as_deref(), was) {
        (Some(id), _) => SessionId::explicit(id.as_ref()),
        (None, Some(id)) => id,
        (None, None) => store.read_archived(kind, &request.name)?.id,
    };
    let dry_run = request.consent.dry_run;
    if dry_run {
        return Ok(Restored { id, archived: None, dry_run });
    }
    warn_of_foreign_holders(&store, std::slice::from_ref(&id), interaction);
    let archived = store.restore(kind, &request.name, &id)?;
    Ok(Restored { id, archived, dry_run })
}
