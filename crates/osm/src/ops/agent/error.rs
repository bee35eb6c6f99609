//! Why hooks were not installed or removed.

use std::io;
use std::path::{Path, PathBuf};

use crate::agent::table::AGENTS;
use crate::config::nearest::nearest;
use crate::error::{Exit, Failure};
use crate::interaction::Unconfirmed;
use crate::invocation::InvocationError;
use crate::unwritable_home::is_refusal;

/// An operation on agents that did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// No such agent.
    #[error("unknown agent {name:?}")]
    Unknown {
        /// What was typed.
        name: String,
        /// What was meant, perhaps.
        nearest: Option<&'static str>,
    },
    /// No agent has a folder of settings.
    #[error("no coding agent found: no folder of settings in the home of this user")]
    NoneFound,
    /// The user's home is not known.
    #[error("no folder for the settings of agents: HOME is not set")]
    NoHome,
    /// There is no project here.
    #[error("not a Git repository: {}", .0.display())]
    NoProject(PathBuf),
    /// The run is not what its options ask for.
    #[error(transparent)]
    Invocation(#[from] InvocationError),
    /// The user did not confirm it.
    #[error(transparent)]
    Unconfirmed(#[from] Unconfirmed),
    /// A file of the user's cannot be changed safely.
    #[error("cannot change {}: {reason}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A link leads out of the folder.
    #[error("cannot change {}: the link leads to {}, outside of {}", path.display(), target.display(), base.display())]
    LinkLeadsOut {
        /// The file.
        path: PathBuf,
        /// Where the link leads.
        target: PathBuf,
        /// Where it should lead.
        base: PathBuf,
    },
    /// A file has the name of osm's, and is not.
    #[error("{} already exists, and osm did not write it", .0.display())]
    Foreign(PathBuf),
    /// A file changed while it was being changed.
    #[error("{} was changed by another program just now", .0.display())]
    Raced(PathBuf),
    /// The record is damaged.
    #[error("cannot read the record of installed hooks {}: {reason}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Another process installs hooks.
    #[error("another process changes the hooks of agents: {} is locked", .0.display())]
    Busy(PathBuf),
    /// The system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl AgentError {
    pub(super) fn unknown(name: &str) -> Self {
        let nearest = nearest(name, AGENTS.iter().map(|agent| agent.name));
        Self::Unknown { name: name.to_owned(), nearest }
    }

    pub(super) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

impl Failure for AgentError {
    fn reason(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_agent",
            Self::NoneFound => "no_agent",
            Self::NoHome => "no_home",
            Self::NoProject(_) => "no_repository",
            Self::Invocation(error) => error.reason(),
            Self::Unconfirmed(error) => error.reason(),
            Self::Invalid { .. } => "invalid_file",
            Self::LinkLeadsOut { .. } => "link_leads_out",
            Self::Foreign(_) => "file_exists",
            Self::Raced(_) => "file_changed",
            Self::Record { .. } => "invalid_record",
            Self::Busy(_) => "busy",
            Self::Io { .. } => "cannot_write",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Unknown { .. } => Exit::Usage,
            Self::NoneFound => Exit::NotFound,
            Self::Busy(_) => Exit::Busy,
            Self::Invocation(error) => error.exit(),
            Self::Unconfirmed(error) => error.exit(),
            _ => Exit::Failure,
        }
    }

    fn hints(&self) -> Vec<String> {
        let hint = match self {
            Self::Unknown { nearest: Some(nearest), .. } => format!("did you mean {nearest}?"),
            Self::Unknown { nearest: None, .. } => {
                let names: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
                format!("osm knows {}", names.join(", "))
            }
            Self::NoneFound => "name an agent: osm agent install claude".into(),
            Self::NoHome => "set HOME to your home folder".into(),
            Self::NoProject(_) => "run osm in a repository, or use --user".into(),
            Self::Invalid { .. } => "fix the file, then try again; no file was changed".into(),
            Self::LinkLeadsOut { target, .. } => {
                format!("change {} yourself, or replace the link by a file", target.display())
            }
            Self::Foreign(path) => format!("move {} away, then try again", path.display()),
            Self::Raced(_) => "try again".into(),
            Self::Record { path, .. } => {
                format!("move {} away; osm then finds its hooks by their command", path.display())
            }
            Self::Busy(_) => "try again when that process has ended".into(),
            Self::Invocation(error) => return error.hints(),
            Self::Unconfirmed(error) => return error.hints(),
            Self::Io { .. } => return Vec::new(),
        };
        vec![hint]
    }

    fn unwritable(&self) -> Option<&Path> {
        match self {
            Self::Io { path, source, .. } if is_refusal(source) => Some(path),
            _ => None,
        }
    }
}
