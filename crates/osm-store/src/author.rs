//! Who ran a command: written into the history, and into the note of a reset.
//!
//! The session that a command changed says nothing about its author: `--session` lets several
//! terminals and agents work in one. So the author is the process, with the session that osm detects
//! for it without such a choice.

use osm_identity::{Pid, ProcessInstance, SessionId, StartTime};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::backend::Holder;
use crate::document::Usage;

/// The process that ran a command, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Author {
    /// The process.
    pub pid: Pid,
    /// When it started, by the clock of its boot.
    #[serde(default)]
    pub start: Option<StartTime>,
    /// The boot of its machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub boot: String,
    /// The machine's name.
    #[serde(default)]
    pub host: String,
    /// The session of the terminal or agent in which it ran, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent, if it was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl Author {
    /// The author that a process is.
    #[must_use]
    pub fn new(holder: &Holder, usage: Option<&Usage>) -> Self {
        Self {
            pid: holder.process.pid,
            start: Some(holder.process.start),
            boot: holder.process.boot.clone(),
            host: holder.host.clone(),
            session: usage.and_then(|it| it.detected.as_ref()).map(|it| it.as_str().to_owned()),
            agent: usage.and_then(|it| it.agent.clone()),
        }
    }

    /// Whether it is this process.
    #[must_use]
    pub fn is_process(&self, process: &ProcessInstance) -> bool {
        self.pid == process.pid && self.start == Some(process.start) && self.boot == process.boot
    }

    /// Whether both are the same process.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        (self.pid, self.start, &self.boot) == (other.pid, other.start, &other.boot)
    }

    /// Whether both ran in the same terminal or agent of one machine.
    #[must_use]
    pub fn is_beside(&self, other: &Self) -> bool {
        self.host == other.host && self.session == other.session
    }

    /// The session of the terminal or agent in which it ran.
    #[must_use]
    pub fn session_id(&self) -> Option<SessionId> {
        self.session.as_deref()?.parse().ok()
    }

    /// Reads what a document has; another tool may have written anything.
    pub(crate) fn read(value: Option<&Value>) -> Option<Self> {
        Self::deserialize(value?).ok()
    }
}
