//! A claim: who may work on a resource, by which grant, and how long.

use std::sync::Arc;

use jiff::Timestamp;
use osm_identity::ProcessInstance;
use serde::{Deserialize, Serialize};

use crate::clock::{Lease, Moment};
use crate::epoch::{Epoch, Seal, Token};
use crate::owner::Owner;
use crate::resource::Resource;
use crate::scope::ScopeId;

/// One grant of a resource, open or ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Where it counts.
    pub scope: ScopeId,
    /// What is claimed.
    pub resource: Resource,
    /// Which grant this is.
    pub epoch: Epoch,
    /// What tells it from a grant of the same number in another life of the ledger.
    pub seal: Seal,
    /// Whose it is.
    pub owner: Arc<Owner>,
    /// What it excludes.
    pub mode: Mode,
    /// What keeps it.
    pub hold: Hold,
    /// Since when.
    pub since: Timestamp,
    /// What the owner said about it.
    pub note: Option<String>,
    /// The request that it answers; a retry of that is answered with the same claim.
    pub request: Option<String>,
    /// To whom the owner offered it.
    pub offer: Option<Offer>,
    /// How it ended.
    pub ended: Option<Ended>,
}

/// What a claim of paths excludes, and how long it lasts. A claim of a name has the default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Mode {
    /// Other sessions may share it, and none may change anything.
    pub shared: bool,
    /// It counts in all worktrees of the repository, not only in its own.
    pub everywhere: bool,
    /// osm made it for an edit. It ends when it is not used for a while.
    pub automatic: bool,
}

impl Mode {
    /// Whether it is the default, which events do not mention.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// As a number, for ledgers.
    pub(crate) fn bits(self) -> u8 {
        u8::from(self.shared) | u8::from(self.everywhere) << 1 | u8::from(self.automatic) << 2
    }

    /// The mode of a number; `None` if no mode has it.
    pub(crate) fn from_bits(bits: i64) -> Option<Self> {
        let has = |bit: i64| bits & bit != 0;
        let mode = Self { shared: has(1), everywhere: has(2), automatic: has(4) };
        (i64::from(mode.bits()) == bits).then_some(mode)
    }
}

/// What keeps a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Hold {
    /// The life of the process that the owner's session hangs on.
    Session,
    /// The life of a process that was started to hold it (`osm claim run`).
    Process(ProcessInstance),
    /// A lease: no process is seen.
    Lease(Lease),
    /// The life of the process of the owner's session, which other machines know by a lease that the
    /// owner's machine renews. Only ledgers that several machines use have these.
    SessionLease(Lease),
    /// The life of a process that was started to hold it, which other machines know by a lease in the
    /// same way.
    ProcessLease(ProcessInstance, Lease),
    /// The life of the process of the owner's session, and use: a lease restarts whenever the owner uses
    /// the claim, and after it any session may have it.
    WhileUsed(Lease),
}

impl Hold {
    /// The lease, if it has one.
    #[must_use]
    pub fn lease(&self) -> Option<&Lease> {
        match self {
            Self::Lease(lease)
            | Self::SessionLease(lease)
            | Self::ProcessLease(_, lease)
            | Self::WhileUsed(lease) => Some(lease),
            Self::Session | Self::Process(_) => None,
        }
    }

    /// The process that was started to hold it.
    #[must_use]
    pub fn started(&self) -> Option<&ProcessInstance> {
        match self {
            Self::Process(process) | Self::ProcessLease(process, _) => Some(process),
            Self::Session | Self::Lease(_) | Self::SessionLease(_) | Self::WhileUsed(_) => None,
        }
    }

    /// The lease by which other machines know that a process of the owner's machine lives. That machine
    /// renews it.
    #[must_use]
    pub fn presence(&self) -> Option<&Lease> {
        self.lease().filter(|_| matches!(self, Self::SessionLease(_) | Self::ProcessLease(..)))
    }

    /// The same with a lease that started at another time.
    pub(crate) fn restarted(&self, since: &Moment) -> Self {
        let again = |lease: &Lease| Lease { term: lease.term, since: since.clone() };
        match self {
            Self::Lease(lease) => Self::Lease(again(lease)),
            Self::SessionLease(lease) => Self::SessionLease(again(lease)),
            Self::ProcessLease(process, lease) => Self::ProcessLease(process.clone(), again(lease)),
            Self::WhileUsed(lease) => Self::WhileUsed(again(lease)),
            Self::Session | Self::Process(_) => self.clone(),
        }
    }
}

/// A claim that its owner would hand to a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The session that may take it up.
    pub to: String,
    /// How long it may.
    pub lease: Lease,
    /// What the owner said about it.
    pub note: Option<String>,
}

/// Where an owner worked when it got a claim, for the session that continues the work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// The top of the worktree.
    pub path: String,
    /// The branch; `None` if a commit was checked out.
    pub branch: Option<String>,
}

/// How a claim ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// In which way.
    pub how: End,
    /// When, for people.
    pub at: Timestamp,
    /// The session that ended it.
    pub by: String,
    /// What that rested on: the proof of death, the reason of a take-over.
    pub evidence: Option<String>,
}

/// The ways in which a claim ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Its owner released it.
    Released,
    /// Its owner released it, and the work is done.
    Completed,
    /// Its owner was proven dead.
    Died,
    /// Its lease ran out.
    Expired,
    /// Its owner handed it to another session.
    HandedOff,
    /// Another session took it, with a reason.
    Taken,
}

impl End {
    /// The stable name, for machines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Released => "released",
            Self::Completed => "completed",
            Self::Died => "died",
            Self::Expired => "expired",
            Self::HandedOff => "handed_off",
            Self::Taken => "taken",
        }
    }

    /// Whether the owner did not end it itself, and has to be told.
    #[must_use]
    pub fn is_loss(self) -> bool {
        matches!(self, Self::Died | Self::Expired | Self::Taken)
    }
}

impl Claim {
    /// What its owner presents.
    #[must_use]
    pub fn token(&self) -> Token {
        Token { epoch: self.epoch, seal: Some(self.seal) }
    }

    /// Whether it has not ended.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.ended.is_none()
    }

    /// Whether it ended without its owner, who has to be told. That a command which held it ended
    /// is nothing that happened to its session.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        let of_a_command = self.hold.started().is_some();
        self.ended
            .as_ref()
            .is_some_and(|it| it.how.is_loss() && !(it.how == End::Died && of_a_command))
    }

    /// Whether it ended by going to another session.
    #[must_use]
    pub fn is_handed_off(&self) -> bool {
        self.ended.as_ref().is_some_and(|ended| ended.how == End::HandedOff)
    }

    /// The process whose life it hangs on.
    #[must_use]
    pub fn process(&self) -> Option<&ProcessInstance> {
        match &self.hold {
            Hold::Session | Hold::SessionLease(_) | Hold::WhileUsed(_) => {
                self.owner.process.as_ref()
            }
            Hold::Process(process) | Hold::ProcessLease(process, _) => Some(process),
            Hold::Lease(_) => None,
        }
    }
}
