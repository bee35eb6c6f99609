//! What can be done with sessions: one function for each command of `osm session`.
//!
//! A request names sessions as a user does; an empty name is the session of this run.

mod archives;
mod background;
mod change;
mod clean;
mod diff;
mod error;
mod list;
mod read;
mod tally;
mod transfer;
mod upstream;

pub use archives::{Archive, RestoreRequest, Restored, archives, restore};
pub(crate) use background::BackgroundCleanup;
pub use change::{DeleteRequest, Deleted, DeletedItem, Reset, ResetRequest, delete, reset};
pub use clean::{CleanRequest, Cleaned, clean};
pub use diff::{DiffRequest, beginning, diff, difference_json};
pub use error::SessionError;
pub(crate) use error::restore_command;
pub(crate) use list::add_paths;
pub use list::{ListRequest, Order, Row, list};
pub use read::{Info, StateKey, commands, folder, info, keys, path, read};
pub use transfer::{ImportRequest, Imported, Imports, export, export_to, import};
pub(crate) use upstream::find as upstream_sessions;
pub use upstream::{UpstreamSessions, offer_upstream};

use osm_identity::SessionId;
use osm_store::Store;
use osm_store::backend::Holder;

use crate::interaction::Interaction;
use crate::invocation::Invocation;
use crate::ops::identity::name;

/// What to do with a confirmation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Consent {
    /// The user has confirmed already.
    pub yes: bool,
    /// Only find out what would be done.
    pub dry_run: bool,
}

/// The session that a request names, or the session of this run.
fn named(
    invocation: &Invocation,
    store: &Store,
    argument: Option<&str>,
) -> Result<SessionId, SessionError> {
    let Some(argument) = argument else { return Ok(invocation.session_id().clone()) };
    // An id and a name that the user chose need no list of all sessions.
    let chosen = SessionId::explicit(argument.as_ref());
    if store.contains(&chosen)? {
        return Ok(chosen);
    }
    let mut known: Vec<SessionId> = store.list()?.into_iter().map(|entry| entry.id).collect();
    known.push(invocation.session_id().clone());
    known.sort();
    known.dedup();
    Ok(name::found(argument, &known)?)
}

/// Warns of sessions that are about to be changed here and are open on another machine.
fn warn_of_foreign_holders(store: &Store, ids: &[SessionId], interaction: &mut dyn Interaction) {
    let open = ids.iter().find_map(|id| {
        let holders = store.foreign_holders(id).unwrap_or_default();
        holders.into_iter().next().map(|holder| (id, holder))
    });
    if let Some((id, holder)) = open {
        warn_of_hidden_locks(&format!("session {} is open in {holder}", id.label()), interaction);
    }
}

/// Warns of a cleanup that skipped sessions which are open on another machine.
fn warn_of_skipped(holder: &Holder, interaction: &mut dyn Interaction) {
    warn_of_hidden_locks(&format!("this store is in use by {holder}"), interaction);
}

fn warn_of_hidden_locks(what: &str, interaction: &mut dyn Interaction) {
    interaction
        .warn(&format!("{what}, and its locks cannot be seen here: changes of both can be lost"));
    interaction.hint("give each machine its own OSM_HOME, or share it by a file system with locks");
}

#[cfg(test)]
mod tests;
