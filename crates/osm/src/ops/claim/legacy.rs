//! What the session before left of a piece of work: where it worked, and what it did not commit.
//!
//! The ledger has the worktree of each grant. Everything else is read when the claim changes hands,
//! because the owner may have made a branch after it got the claim. A session that released its
//! claim left nothing behind.

use std::path::Path;

use osm_claims::{Claim, Worktree};
use osm_context::{Setting, git};
use osm_identity::Repository;
use serde::Serialize;

use super::client::Client;
use crate::bare::repository_around;

/// What a session left behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Legacy {
    /// The top of the worktree that it used.
    pub worktree: String,
    /// Whether that is there.
    pub exists: bool,
    /// The branch that is checked out there; if it is gone, the branch of the time of the claim.
    pub branch: Option<String>,
    /// The files there that are not committed, as `git status --short` names them; `None` if Git
    /// cannot be asked.
    pub uncommitted: Option<Vec<String>>,
}

/// Where the caller works, for a new claim; `None` if its name cannot be stored.
pub(super) fn here(client: &Client) -> Option<Worktree> {
    worktree(client.invocation.repository()?)
}

/// A worktree as the ledger stores it.
pub(super) fn worktree(repository: &Repository) -> Option<Worktree> {
    let path = repository.worktree.to_str()?.to_owned();
    Some(Worktree { path, branch: repository.branch.clone() })
}

/// What the owner of a claim left; `None` if the ledger does not know where it worked.
pub(super) fn of(client: &Client, claim: &Claim) -> Option<Legacy> {
    client.claims.worktree(claim).ok()?.map(left_in)
}

/// What was left in a worktree.
pub(super) fn left_in(worktree: Worktree) -> Legacy {
    let Worktree { path, branch } = worktree;
    let folder = Path::new(&path);
    // The folder may be part of another repository by now.
    let found = repository_around(folder).filter(|it| it.worktree == folder);
    let Some(repository) = found else {
        return Legacy { worktree: path, exists: false, branch, uncommitted: None };
    };
    let uncommitted = git::uncommitted(folder, &Setting::new(folder)).ok();
    Legacy { worktree: path, exists: true, branch: repository.branch, uncommitted }
}
