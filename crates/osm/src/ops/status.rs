//! Bare `osm`: this session, its claims, those of the others, its prompt, and what to do next.
//!
//! It is a look: it creates no file, changes nothing, and runs nothing but git, and that only for the
//! worktrees of owners that are gone. What cannot be read is named and does not hide the rest.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use osm_claims::Listed;
use osm_identity::{Confidence, Outcome};
use serde::Serialize;

use super::claim::{self, OtherOwner, words};
use super::identity::{self, Identity};
use super::prompt::{self, Collected};
use crate::error::Failure;
use crate::invocation::Invocation;

mod next;
mod short;

pub use next::NextStep;
pub use short::{Short, short};

/// Everything at a glance.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Whether nothing is stored in the home yet.
    pub first_run: bool,
    /// This session.
    pub session: StatusSession,
    /// The repository around the folder.
    pub repository: Option<StatusRepository>,
    /// What concerns this session in all scopes.
    pub claims: Vec<StatusClaim>,
    /// The other sessions with claims in the repository.
    pub others: Vec<StatusOwner>,
    /// What the prompt has collected.
    pub prompt: Option<Collected>,
    /// What cannot be read, and why.
    pub problems: Vec<StatusProblem>,
    /// What to do next, the most urgent first.
    pub next: Vec<NextStep>,
}

/// This session.
#[derive(Clone, Debug, Serialize)]
pub struct StatusSession {
    /// Its id.
    pub id: String,
    /// Its handle.
    pub handle: String,
    /// The detector that found it.
    pub source: &'static str,
    /// How sure that is.
    pub confidence: &'static str,
    /// Why it is this one.
    pub because: String,
    /// The agent that runs here.
    pub agent: Option<&'static str>,
    /// The terminal.
    pub terminal: Option<String>,
}

/// The repository around the folder.
#[derive(Clone, Debug, Serialize)]
pub struct StatusRepository {
    /// Its folder.
    #[serde(serialize_with = "super::path_text::one")]
    pub folder: PathBuf,
    /// The worktree.
    #[serde(serialize_with = "super::path_text::one")]
    pub worktree: PathBuf,
    /// The branch; `None` if a commit is checked out.
    pub branch: Option<String>,
}

/// A claim that concerns this session.
#[derive(Clone, Debug, Serialize)]
pub struct StatusClaim {
    /// What it is to this session.
    pub relation: Relation,
    /// The resource.
    pub resource: String,
    /// The resource as a shell reads it.
    #[serde(skip)]
    pub quoted: String,
    /// Where it counts, by its key.
    pub scope: String,
    /// The note of its holder, or of the offer.
    pub note: Option<String>,
    /// Since when its holder has it.
    pub since: Timestamp,
    /// How it ended, if it was lost.
    pub fate: Option<String>,
}

/// What a claim is to this session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Another session offers it to this one.
    Offered,
    /// An earlier process of this session held it when it died.
    Resumable,
    /// This session lost it and has not acknowledged that.
    Lost,
    /// This session holds it.
    Held,
}

/// Another session with claims.
#[derive(Clone, Debug, Serialize)]
pub struct StatusOwner {
    /// Its id.
    pub session: String,
    /// Its agent.
    pub agent: Option<String>,
    /// The state of its process: alive, stopped, dead, unknown; or that of its lease.
    pub state: &'static str,
    /// What the state rests on.
    pub evidence: &'static str,
    /// Whether any session may have its claims.
    pub is_gone: bool,
    /// Since when it holds its oldest open claim.
    pub since: Timestamp,
    /// Its open claims.
    pub resources: Vec<String>,
    /// The first of them as a shell reads it.
    #[serde(skip)]
    pub quoted: String,
    /// The worktree where it got the last of them.
    pub worktree: Option<String>,
    /// The branch there.
    pub branch: Option<String>,
    /// How many files are not committed there; known only of an owner that is gone.
    pub uncommitted: Option<usize>,
}

/// Something that could not be read.
#[derive(Clone, Debug, Serialize)]
pub struct StatusProblem {
    /// What happened, to which file.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl StatusProblem {
    fn of(failure: &dyn Failure) -> Self {
        Self { message: failure.to_string(), hint: failure.hints().into_iter().next() }
    }
}

/// Looks at everything.
#[must_use]
pub fn status(invocation: &Invocation) -> Status {
    let identity = identity::explain(invocation);
    let mut problems = Vec::new();
    let mut noted = |failure: &dyn Failure| problems.push(StatusProblem::of(failure));
    let overview = claim::overview(invocation).unwrap_or_else(|error| {
        noted(&error);
        None
    });
    let overview = overview.unwrap_or_default();
    let prompt = prompt::collected(invocation).unwrap_or_else(|error| {
        noted(&error);
        None
    });
    if identity.detection.confidence == Confidence::None {
        problems.push(StatusProblem {
            message: "nothing identifies this session: its id changes with every command".into(),
            hint: Some("set OSM_SESSION, or see `osm session id --explain`".into()),
        });
    }
    let owned = &overview.owned;
    let relations = [
        (Relation::Offered, &owned.offered),
        (Relation::Resumable, &owned.resumable),
        (Relation::Lost, &owned.lost),
        (Relation::Held, &owned.held),
    ];
    let claims = relations
        .into_iter()
        .flat_map(|(relation, list)| list.iter().map(move |it| claim_row(relation, it)));
    let mut status = Status {
        first_run: is_new(invocation.home().ok().as_deref()),
        session: session_row(&identity),
        repository: invocation.repository().map(|it| StatusRepository {
            folder: it.folder().to_owned(),
            worktree: it.worktree.clone(),
            branch: it.branch.clone(),
        }),
        claims: claims.collect(),
        others: overview.others.iter().filter_map(owner_row).collect(),
        prompt,
        problems,
        next: Vec::new(),
    };
    status.next = next::steps(&status);
    status
}

/// Whether osm has not stored anything in a home.
fn is_new(home: Option<&Path>) -> bool {
    home.is_some_and(|home| match home.read_dir() {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    })
}

fn session_row(identity: &Identity) -> StatusSession {
    let found = &identity.detection;
    let won = found.trail.iter().find(|it| it.outcome == Outcome::Won);
    StatusSession {
        id: found.id.to_string(),
        handle: identity.handle.to_string(),
        source: found.source.name(),
        confidence: found.confidence.name(),
        because: won.map(|it| it.reason.clone()).unwrap_or_default(),
        agent: found.agent.as_ref().map(|it| it.name),
        terminal: found.terminal.map(|it| it.to_string()),
    }
}

fn claim_row(relation: Relation, listed: &Listed) -> StatusClaim {
    let claim = &listed.claim;
    let offer = claim.offer.as_ref().filter(|_| relation == Relation::Offered);
    StatusClaim {
        relation,
        resource: claim.resource.to_string(),
        quoted: words::quoted(&claim.resource),
        scope: listed.scope.key.clone(),
        note: offer.and_then(|it| it.note.clone()).or_else(|| claim.note.clone()),
        since: claim.since,
        fate: (relation == Relation::Lost).then(|| words::fate(claim)),
    }
}

fn owner_row(other: &OtherOwner) -> Option<StatusOwner> {
    let (first, last) = (other.claims.first()?, other.claims.last()?);
    let owner = &last.claim.owner;
    let branch = match &other.left {
        Some(left) => left.branch.clone(),
        None => other.worktree.as_ref().and_then(|it| it.branch.clone()),
    };
    Some(StatusOwner {
        session: owner.session.clone(),
        agent: owner.agent.clone(),
        state: other.state(),
        evidence: last.verdict.evidence(),
        is_gone: other.is_gone(),
        since: first.claim.since,
        resources: other.claims.iter().map(|it| it.claim.resource.to_string()).collect(),
        quoted: words::quoted(&last.claim.resource),
        worktree: other.worktree.as_ref().map(|it| it.path.clone()),
        branch,
        uncommitted: other.left.as_ref().and_then(|it| Some(it.uncommitted.as_ref()?.len())),
    })
}
