//! Deleting sessions and archives, and resetting sessions.

use osm_identity::SessionId;
use osm_store::Store;
use osm_store::backend::ArchiveKind;

use super::archives::{find, is_archived};
use super::{Consent, SessionError, named, warn_of_foreign_holders};
use crate::interaction::{Interaction, Unconfirmed, confirm};
use crate::invocation::Invocation;

/// What to delete.
#[derive(Clone, Debug, Default)]
pub struct DeleteRequest {
    /// Sessions, or names of archived documents.
    pub ids: Vec<String>,
    /// Break locks whose holders are proven dead.
    pub force: bool,
    /// Whether to ask.
    pub consent: Consent,
}

/// A session or an archived document that is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeletedItem {
    /// A session, into the trash.
    Session(SessionId),
    /// An archived document, for good.
    Archived(ArchiveKind, String),
}

impl DeletedItem {
    /// Its name for people.
    #[must_use]
    pub fn label(&self) -> String {
        match self {
            Self::Session(id) => id.label(),
            Self::Archived(kind, name) => format!("{}/{name}", kind.name()),
        }
    }
}

/// What was deleted, or would be.
#[derive(Debug)]
pub struct Deleted {
    /// What is deleted now.
    pub deleted: Vec<DeletedItem>,
    /// What could not be deleted, and why.
    pub failed: Vec<(DeletedItem, osm_store::Error)>,
    /// Nothing was changed.
    pub dry_run: bool,
}

/// Deletes sessions, into the trash, and archived documents, for good. One that is in use does not
/// prevent the others.
pub fn delete(
    invocation: &Invocation,
    request: &DeleteRequest,
    interaction: &mut dyn Interaction,
) -> Result<Deleted, SessionError> {
    let store = invocation.store_to_change(request.force)?;
    let items = request.ids.iter().map(|name| meant(invocation, &store, name));
    let items = items.collect::<Result<Vec<_>, _>>()?;
    let dry_run = request.consent.dry_run;
    if dry_run {
        return Ok(Deleted { deleted: items, failed: Vec::new(), dry_run });
    }
    let ids: Vec<SessionId> = items
        .iter()
        .filter_map(|item| match item {
            DeletedItem::Session(id) => Some(id.clone()),
            DeletedItem::Archived(..) => None,
        })
        .collect();
    warn_of_foreign_holders(&store, &ids, interaction);
    confirm(request.consent.yes, &question(&items, ids.len()), interaction)?;
    let mut result = Deleted { deleted: Vec::new(), failed: Vec::new(), dry_run };
    for item in items {
        let done = match &item {
            DeletedItem::Session(id) => store.delete(id),
            DeletedItem::Archived(kind, name) => store.delete_archived(*kind, name),
        };
        match done {
            Ok(()) => result.deleted.push(item),
            Err(error) => result.failed.push((item, error)),
        }
    }
    Ok(result)
}

/// The session or the archived document that a name means.
fn meant(invocation: &Invocation, store: &Store, name: &str) -> Result<DeletedItem, SessionError> {
    if is_archived(name) {
        let (kind, _) = find(store, name)?;
        return Ok(DeletedItem::Archived(kind, name.to_owned()));
    }
    let id = named(invocation, store, Some(name))?;
    if store.contains(&id)? {
        Ok(DeletedItem::Session(id))
    } else {
        Err(osm_store::Error::NotFound(id).into())
    }
}

fn question(items: &[DeletedItem], sessions: usize) -> String {
    let counted = |number: usize, one: &str| match number {
        1 => format!("1 {one}"),
        number => format!("{number} {one}s"),
    };
    let archives = items.len() - sessions;
    match (items, sessions, archives) {
        ([DeletedItem::Session(id)], ..) => format!("Delete session {}?", id.label()),
        ([item], ..) => format!("Delete {} for good?", item.label()),
        (_, _, 0) => format!("Delete {}?", counted(sessions, "session")),
        (_, 0, _) => format!("Delete {} for good?", counted(archives, "archive")),
        _ => format!(
            "Delete {}, and {} for good?",
            counted(sessions, "session"),
            counted(archives, "archive")
        ),
    }
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

/// Empties a session; its document goes to the archive, or to quarantine if it is damaged. Asks if
/// other processes have it open: they continue with the empty one, and are told.
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
    let archived = match store.reset(&id, archive) {
        Err(error @ osm_store::Error::Busy { .. }) => {
            let question = format!("{error}. Reset it all the same?");
            match confirm(request.consent.yes, &question, interaction) {
                Err(Unconfirmed::CannotAsk) => {
                    return Err(SessionError::OpenElsewhere(Box::new(error)));
                }
                answer => answer?,
            }
            store.reset_shared(&id, archive)?.map(|name| (ArchiveKind::Archive, name))
        }
        done => done?,
    };
    Ok(Reset { id, archived, dry_run })
}
