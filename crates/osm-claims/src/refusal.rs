//! Why a request is refused, and what that rests on.

use std::time::Duration;

use crate::claim::Claim;
use crate::notices::Notices;
use crate::resource::Resource;
use osm_identity::{Liveness, ProcessInstance};

/// Why a request was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A running session holds it.
    Held,
    /// The holder's process is stopped and may continue.
    Suspended,
    /// It is not known whether the holder is alive.
    Unknown,
    /// It is reserved for a session that it was offered to.
    Reserved,
    /// The work is done.
    Completed,
    /// The epoch is over.
    Stale,
    /// The ledger never granted that epoch.
    UnknownEpoch,
    /// The caller does not hold it.
    NotHeld,
    /// It was not offered to the caller.
    NotOffered,
    /// The caller's lease ran out.
    LeaseOver,
    /// The holder is alive, and the caller did not say that it knows.
    HolderAlive,
    /// The session is random, another one at every call.
    NoIdentity,
    /// The session's process cannot be seen.
    Unconfirmed,
    /// Another live process has this session.
    SessionElsewhere,
    /// It is not known whether the process that had this session is alive.
    SessionUnknown,
    /// The session's process ended.
    AnchorGone,
    /// None of the candidates is free.
    NothingFree,
    /// The request was answered before, and cannot be answered so again.
    RequestReused,
    /// The process that held it ended.
    ProcessOver,
    /// A session that wants to change it waits, and is granted it before others share it.
    WriterWaits,
}

impl Reason {
    /// Every reason, once.
    pub const ALL: &[Self] = &[
        Self::Held,
        Self::Suspended,
        Self::Unknown,
        Self::Reserved,
        Self::Completed,
        Self::Stale,
        Self::UnknownEpoch,
        Self::NotHeld,
        Self::NotOffered,
        Self::LeaseOver,
        Self::HolderAlive,
        Self::NoIdentity,
        Self::Unconfirmed,
        Self::SessionElsewhere,
        Self::SessionUnknown,
        Self::AnchorGone,
        Self::NothingFree,
        Self::RequestReused,
        Self::ProcessOver,
        Self::WriterWaits,
    ];

    /// The stable name, for programs.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Suspended => "suspended",
            Self::Unknown => "unknown_holder",
            Self::Reserved => "reserved",
            Self::Completed => "completed",
            Self::Stale => "stale",
            Self::UnknownEpoch => "unknown_epoch",
            Self::NotHeld => "not_held",
            Self::NotOffered => "not_offered",
            Self::LeaseOver => "lease_over",
            Self::HolderAlive => "holder_alive",
            Self::NoIdentity => "no_identity",
            Self::Unconfirmed => "unconfirmed",
            Self::SessionElsewhere => "session_elsewhere",
            Self::SessionUnknown => "session_unknown",
            Self::AnchorGone => "anchor_gone",
            Self::NothingFree => "nothing_free",
            Self::RequestReused => "request_reused",
            Self::ProcessOver => "process_over",
            Self::WriterWaits => "writer_waits",
        }
    }
}

/// A refusal, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("refused: {}", .reason.code())]
pub struct Refused {
    /// The reason.
    pub reason: Reason,
    /// The resource that was asked for.
    pub resource: Option<Resource>,
    /// The claim of another owner, or the one that the caller lost.
    pub claim: Option<Box<Claim>>,
    /// The processes behind it.
    pub holders: Vec<ProcessInstance>,
    /// What is known of the first of them.
    pub verdict: Option<Liveness>,
    /// How long its lease, or its offer, still runs.
    pub left: Option<Duration>,
    /// How many candidates were refused for which reason.
    pub tally: Vec<(Reason, usize)>,
    /// What the caller must be told beside the refusal.
    pub notices: Notices,
}

impl Refused {
    /// A refusal without evidence.
    #[must_use]
    pub fn because(reason: Reason) -> Self {
        Self {
            reason,
            resource: None,
            claim: None,
            holders: Vec::new(),
            verdict: None,
            left: None,
            tally: Vec::new(),
            notices: Notices::default(),
        }
    }

    /// The processes whose end would change it: the end of a dead one has no effect any more.
    pub(crate) fn living(&self) -> &[ProcessInstance] {
        match self.verdict {
            Some(Liveness::Dead(_)) => &[],
            _ => &self.holders,
        }
    }

    /// Whether time alone can change it.
    #[must_use]
    pub fn can_change(&self) -> bool {
        match self.reason {
            Reason::Held
            | Reason::Suspended
            | Reason::Unknown
            | Reason::Reserved
            | Reason::WriterWaits
            | Reason::NotOffered => true,
            // Finished work stays finished, and the caller's own claims are not free for it.
            Reason::NothingFree => {
                let waits = |it: &(Reason, usize)| {
                    matches!(
                        it.0,
                        Reason::Suspended
                            | Reason::Unknown
                            | Reason::Reserved
                            | Reason::WriterWaits
                    )
                };
                !self.holders.is_empty() || self.left.is_some() || self.tally.iter().any(waits)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_reason_has_its_own_code() {
        let codes: BTreeSet<_> = Reason::ALL.iter().map(|it| it.code()).collect();
        assert_eq!(codes.len(), Reason::ALL.len());
        assert_eq!(Reason::ALL.len(), Reason::WriterWaits as usize + 1);
    }
}
