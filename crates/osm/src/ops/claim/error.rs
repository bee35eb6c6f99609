//! Why an operation on claims failed.

use std::path::{Path, PathBuf};

use osm_claims::event::Inconsistency;
use osm_claims::{InvalidResource, Reason, Refused, SharedScopeError};

use super::guard::GuardError;
use super::message::MessageError;
use super::paths::PathError;
use super::words;
use crate::error::{Exit, Failure};
use crate::interaction::{Interrupted, Unconfirmed};
use crate::invocation::{Invocation, InvocationError};
use crate::ops::identity::name::NameError;
use crate::unwritable_home::is_refusal;

/// An operation on claims that did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The rules refuse it.
    #[error("{}", words::refusal(.0))]
    Refused(Box<Refused>),
    /// The guard requires a claim, and the session holds none.
    #[error("this session holds no claim in {scope}, and the guard requires one")]
    NothingHeld {
        /// Where it looked.
        scope: String,
    },
    /// The claim was lost while a command ran under it.
    #[error("{0}; the command was stopped")]
    Lost(String),
    /// The process that renews leases cannot do so.
    #[error("the keeper cannot {action}: {source}")]
    Keeper {
        /// What was tried, as a verb.
        action: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The repository has nothing by which its clones on other machines know it.
    #[error("claims of {} cannot be shared with other machines: {source}", folder.display())]
    NoSharedScope {
        /// The repository.
        folder: PathBuf,
        /// Why.
        source: SharedScopeError,
    },
    /// The ledger cannot be used.
    #[error("{}", words::ledger(place, source))]
    Ledger {
        /// The ledger's file.
        place: String,
        /// What went wrong.
        source: osm_claims::Error,
    },
    /// The run is not what its options ask for.
    #[error(transparent)]
    Invocation(#[from] InvocationError),
    /// Claims count in a repository, and this folder is in none.
    #[error("not a Git repository: {}", .0.display())]
    NoRepository(PathBuf),
    /// Bytes that cannot be the name of a resource.
    #[error(transparent)]
    Resource(#[from] InvalidResource),
    /// A path that cannot be claimed.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The name does not mean one session.
    #[error(transparent)]
    Session(#[from] NameError),
    /// Events that cannot be what happened.
    #[error("the log contradicts itself: {0}")]
    Log(#[from] Inconsistency),
    /// The command of `osm claim run` cannot be started.
    #[error("cannot run {}: {source}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The command of `osm claim run` cannot be watched.
    #[error("cannot {action} the command: {source}")]
    Command {
        /// What was tried, as a verb.
        action: &'static str,
        /// What the system said.
        source: std::io::Error,
    },
    /// The user did not confirm it.
    #[error(transparent)]
    Unconfirmed(#[from] Unconfirmed),
    /// The user stopped it.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
    /// The hooks cannot be guarded.
    #[error(transparent)]
    Guard(#[from] GuardError),
    /// A message is not sent.
    #[error(transparent)]
    Message(#[from] MessageError),
}

impl Error {
    /// An error of the ledger that a run uses.
    pub(crate) fn ledger(invocation: &Invocation, error: osm_claims::Error) -> Self {
        match error {
            osm_claims::Error::Refused(refused) => Self::Refused(refused),
            source => Self::Ledger { place: invocation.ledger_place(), source },
        }
    }

    /// The refusal, if the rules refused it.
    #[must_use]
    pub fn refusal(&self) -> Option<&Refused> {
        match self {
            Self::Refused(refused) => Some(refused),
            _ => None,
        }
    }
}

impl Failure for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Refused(refused) => refused.reason.code(),
            Self::NothingHeld { .. } => Reason::NotHeld.code(),
            Self::Lost(_) => "lost",
            Self::Keeper { .. } => "keeper_failed",
            Self::NoSharedScope { .. } => "no_shared_scope",
            Self::Ledger { source, .. } => words::ledger_reason(source),
            Self::Invocation(error) => error.reason(),
            Self::Session(error) => error.reason(),
            Self::NoRepository(_) => "no_repository",
            Self::Resource(_) => "invalid_resource",
            Self::Path(_) => "invalid_path",
            Self::Log(_) => "inconsistent_log",
            Self::Start { .. } | Self::Command { .. } => "command_failed",
            Self::Unconfirmed(error) => error.reason(),
            Self::Interrupted(error) => error.reason(),
            Self::Guard(_) => "guard_failed",
            Self::Message(error) => error.reason(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Refused(refused) => Exit::Claim(refused.reason),
            Self::NothingHeld { .. } => Exit::Claim(Reason::NotHeld),
            Self::Lost(_) => Exit::Lost,
            Self::Ledger { source: osm_claims::Error::Busy { .. }, .. } => Exit::Busy,
            Self::Invocation(error) => error.exit(),
            Self::Session(error) => error.exit(),
            Self::Message(error) => error.exit(),
            Self::Unconfirmed(error) => error.exit(),
            Self::Interrupted(error) => error.exit(),
            Self::Resource(_) | Self::Path(_) => Exit::Usage,
            // As a shell says that a program is missing, or cannot be run.
            Self::Start { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
                Exit::Command(127)
            }
            Self::Start { .. } => Exit::Command(126),
            _ => Exit::Failure,
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::Refused(refused) => vec![words::remedy(refused)],
            Self::NothingHeld { .. } => {
                vec!["claim what you work on, and try again: osm claim NAME".into()]
            }
            Self::Ledger { place, source } => {
                words::ledger_hint(place, source).into_iter().collect()
            }
            Self::Invocation(error) => error.hints(),
            Self::Session(error) => error.hints(),
            Self::Unconfirmed(error) => error.hints(),
            Self::Interrupted(error) => error.hints(),
            Self::NoRepository(_) => {
                vec!["run osm in a repository, or name a scope with --scope NAME".into()]
            }
            Self::Path(error) => error.hint().into_iter().collect(),
            Self::Log(_) => {
                vec!["`osm claim log` shows it; the ledger may have been edited by hand".into()]
            }
            Self::Guard(error) => error.hint().into_iter().collect(),
            Self::Message(error) => error.hint().into_iter().collect(),
            Self::NoSharedScope { .. } => vec![
                "give the repository a name that is the same in all its clones: git config osm.scope NAME".into(),
            ],
            Self::Keeper { .. } | Self::Lost(_) | Self::Resource(_) | Self::Start { .. } | Self::Command { .. } => {
                Vec::new()
            }
        }
    }

    fn unwritable(&self) -> Option<&Path> {
        match self {
            Self::Ledger { place, source: osm_claims::Error::Io { source, .. } }
                if is_refusal(source) =>
            {
                Some(Path::new(place))
            }
            _ => None,
        }
    }
}
