//! What was found, and why.

use std::fmt;

use crate::SessionId;
use crate::ancestry::End;
use crate::instance::ProcessInstance;
use crate::likeness::UnlistedAgent;
use crate::process::{Process, Terminal};
use crate::scene::Role;

/// The session, and how it was found.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Detection {
    /// The session's id.
    pub id: SessionId,
    /// Which detector found it.
    pub source: Source,
    /// How sure that is.
    pub confidence: Confidence,
    /// The agent that we run under.
    pub agent: Option<AgentFound>,
    /// What tells this sub-agent from others of the same agent.
    pub context: Option<String>,
    /// The terminal of the process that the session hangs on.
    pub terminal: Option<Terminal>,
    /// The session that this one runs in: an agent's terminal, a sub-agent's agent. Known only
    /// after [`explain`](crate::explain).
    pub parent: Option<SessionId>,
    /// The process whose life is the session's.
    pub anchor: Option<ProcessInstance>,
    /// What every detector that was asked said, in order.
    pub trail: Vec<Finding>,
    /// All ancestors, ourselves first. Known only after [`explain`](crate::explain).
    pub ancestry: Vec<Ancestor>,
    /// A program above us that behaves like an agent and is not in the catalogue. Known only after
    /// [`explain`](crate::explain).
    pub unlisted: Option<UnlistedAgent>,
    /// Why the walk up ended. Known only after [`explain`](crate::explain).
    pub end: Option<End>,
}

/// An agent above us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentFound {
    /// Its name in the catalogue.
    pub name: &'static str,
    /// Its process, if that is in sight.
    pub pid: Option<crate::Pid>,
    /// The conversation, as the agent names it.
    pub conversation: Option<String>,
    /// Its process serves several conversations at once.
    pub concurrent: bool,
}

/// One ancestor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ancestor {
    /// Its row of the process table.
    pub process: Process,
    /// What it is to identity.
    pub role: Role,
}

/// What one detector said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The detector's name.
    pub detector: &'static str,
    /// Whether it decided.
    pub outcome: Outcome,
    /// Why, for people.
    pub reason: String,
}

/// How a detector fared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It found the session.
    Won,
    /// It found one too, but an earlier detector decided.
    Outranked,
    /// It found nothing that holds.
    Passed,
}

impl Outcome {
    /// The stable name, for machines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Won => "won",
            Self::Outranked => "outranked",
            Self::Passed => "passed",
        }
    }
}

/// Where an id came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The caller gave it.
    ExplicitFlag,
    /// A variable gave it.
    ExplicitVariable,
    /// An agent's conversation.
    AgentConversation,
    /// An agent's process.
    AgentProcess,
    /// A pane of a multiplexer.
    Multiplexer,
    /// A job of a CI runner.
    Runner,
    /// A remote login.
    Ssh,
    /// A tab of a terminal emulator.
    Terminal,
    /// The process at the top of our terminal, or of our part of the tree.
    Anchor,
    /// Nothing: it is random, and another one every time.
    Random,
}

impl Source {
    /// The stable name, for machines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ExplicitFlag => "explicit-flag",
            Self::ExplicitVariable => "explicit-env",
            Self::AgentConversation => "agent-conversation",
            Self::AgentProcess => "agent-process",
            Self::Multiplexer => "multiplexer",
            Self::Runner => "ci",
            Self::Ssh => "ssh",
            Self::Terminal => "terminal",
            Self::Anchor => "anchor",
            Self::Random => "random",
        }
    }
}

/// How sure a detection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Confidence {
    /// The user chose it.
    Explicit,
    /// The process behind it was seen.
    Confirmed,
    /// It rests on variables whose owner cannot be seen.
    Unconfirmed,
    /// It lasts no longer than the one command that a sandbox or container runs.
    OneCommand,
    /// It is random.
    None,
}

impl Confidence {
    /// The stable name, for machines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Explicit => "explicit",
            Self::Confirmed => "confirmed",
            Self::Unconfirmed => "unconfirmed",
            Self::OneCommand => "one-command",
            Self::None => "none",
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
