//! The log: one event for every change of a claim, written in the same transaction.
//!
//! A claim changes by a [`Transition`] and in no other way, so that repeating all transitions in
//! their order gives the claims as they are: [`replay`].

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::claim::{Claim, End, Ended, Hold, Mode, Offer, Worktree};
use crate::epoch::Epoch;
use crate::owner::OwnerId;
use crate::resource::Resource;
use crate::scope::ScopeId;

/// One change of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its place in the log.
    pub number: u64,
    /// When, for people.
    pub at: Timestamp,
    /// Where.
    pub scope: ScopeId,
    /// What was claimed.
    pub resource: Resource,
    /// Which grant.
    pub epoch: Epoch,
    /// The session that did it.
    pub by: String,
    /// The change.
    pub transition: Transition,
}

/// A change of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transition {
    /// It was granted.
    Granted {
        /// To this owner.
        owner: OwnerId,
        /// By this session's name.
        session: String,
        /// Kept by this.
        hold: Hold,
        /// With this mode.
        #[serde(default, skip_serializing_if = "Mode::is_default")]
        mode: Mode,
        /// While its owner worked there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worktree: Option<Worktree>,
    },
    /// Its lease restarted, or another process keeps it.
    Renewed(Hold),
    /// It excludes something else from now on, and this keeps it.
    Altered(Mode, Hold),
    /// It was offered.
    Offered(Offer),
    /// The offer was withdrawn.
    Withdrawn,
    /// Its note was changed; `None` removes it.
    Noted(Option<String>),
    /// It ended.
    Ended(Ended),
}

impl Transition {
    /// The stable name, for machines.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Granted { .. } => "granted",
            Self::Renewed(_) => "renewed",
            Self::Altered(..) => "altered",
            Self::Offered(_) => "offered",
            Self::Withdrawn => "withdrawn",
            Self::Noted(_) => "noted",
            Self::Ended(ended) => ended.how.name(),
        }
    }

    /// The evidence for it, or the note that came with it.
    #[must_use]
    pub fn evidence(&self) -> Option<&str> {
        match self {
            Self::Ended(ended) => ended.evidence.as_deref(),
            Self::Offered(offer) => offer.note.as_deref(),
            Self::Noted(note) => note.as_deref(),
            Self::Granted { .. } | Self::Renewed(_) | Self::Altered(..) | Self::Withdrawn => None,
        }
    }

    /// The transition that creates a claim.
    #[must_use]
    pub fn granted(claim: &Claim, worktree: Option<Worktree>) -> Self {
        Self::Granted {
            owner: claim.owner.id,
            session: claim.owner.session.clone(),
            hold: claim.hold.clone(),
            mode: claim.mode,
            worktree,
        }
    }

    /// Applies it to an open claim.
    pub fn apply(&self, claim: &mut Claim) {
        match self {
            Self::Granted { .. } => {}
            Self::Renewed(hold) => claim.hold = hold.clone(),
            Self::Altered(mode, hold) => (claim.mode, claim.hold) = (*mode, hold.clone()),
            Self::Offered(offer) => claim.offer = Some(offer.clone()),
            Self::Withdrawn => claim.offer = None,
            Self::Noted(note) => claim.note.clone_from(note),
            Self::Ended(ended) => claim.ended = Some(ended.clone()),
        }
    }
}

/// An open claim, as the events tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Where.
    pub scope: ScopeId,
    /// What is claimed.
    pub resource: Resource,
    /// Whose.
    pub owner: OwnerId,
    /// What it excludes.
    pub mode: Mode,
    /// What keeps it.
    pub hold: Hold,
    /// To whom it is offered.
    pub offer: Option<Offer>,
}

impl Standing {
    /// Whether a claim is the one that the events tell of.
    #[must_use]
    pub fn is_of(&self, claim: &Claim) -> bool {
        (self.scope, &self.resource, self.owner, self.mode)
            == (claim.scope, &claim.resource, claim.owner.id, claim.mode)
            && self.hold == claim.hold
    }
}

/// Why events cannot be what happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Inconsistency {
    /// A resource was granted while it was held.
    #[error("epoch {0} was granted while another owner held the resource")]
    TwoOwners(Epoch),
    /// Epochs did not grow.
    #[error("epoch {0} was granted after a later one")]
    EpochWentBack(Epoch),
    /// A claim was changed that was not open.
    #[error("epoch {0} was changed while it was not open")]
    NotOpen(Epoch),
}

/// The open claims that events lead to, by their epochs.
///
/// A resource has one owner, or several that share it. That claims of different paths do not collide
/// is not seen here: the events of one resource are enough.
pub fn replay<'a>(
    events: impl IntoIterator<Item = &'a Event>,
) -> Result<BTreeMap<Epoch, Standing>, Inconsistency> {
    let mut open: BTreeMap<Epoch, Standing> = BTreeMap::new();
    let mut holders: BTreeMap<(ScopeId, Resource), Vec<Epoch>> = BTreeMap::new();
    let mut last = Epoch(0);
    for event in events {
        let key = (event.scope, event.resource.clone());
        if let Transition::Granted { owner, hold, mode, .. } = &event.transition {
            if event.epoch <= last {
                return Err(Inconsistency::EpochWentBack(event.epoch));
            }
            last = event.epoch;
            let others = holders.entry(key).or_default();
            let shares = |it: &Epoch| open.get(it).is_some_and(|it| it.mode.shared);
            let is_free = others.is_empty() || mode.shared && others.iter().all(shares);
            if !is_free {
                return Err(Inconsistency::TwoOwners(event.epoch));
            }
            others.push(event.epoch);
            let standing = Standing {
                scope: event.scope,
                resource: event.resource.clone(),
                owner: *owner,
                mode: *mode,
                hold: hold.clone(),
                offer: None,
            };
            open.insert(event.epoch, standing);
            continue;
        }
        let is_it = |it: &&mut Standing| (it.scope, &it.resource) == (key.0, &key.1);
        let Some(claim) = open.get_mut(&event.epoch).filter(is_it) else {
            return Err(Inconsistency::NotOpen(event.epoch));
        };
        match &event.transition {
            Transition::Granted { .. } | Transition::Noted(_) => {}
            Transition::Renewed(hold) => claim.hold = hold.clone(),
            Transition::Altered(mode, hold) => (claim.mode, claim.hold) = (*mode, hold.clone()),
            Transition::Offered(offer) => claim.offer = Some(offer.clone()),
            Transition::Withdrawn => claim.offer = None,
            Transition::Ended(_) => {
                open.remove(&event.epoch);
                holders.entry(key).or_default().retain(|it| *it != event.epoch);
            }
        }
    }
    Ok(open)
}

/// Which events to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only in this scope.
    pub scope: Option<ScopeId>,
    /// Only of this resource.
    pub resource: Option<Resource>,
    /// Only by or about this session.
    pub session: Option<String>,
    /// Only of this kind.
    pub kind: Option<String>,
    /// Only at or after this time.
    pub since: Option<Timestamp>,
    /// Only at or before this time.
    pub until: Option<Timestamp>,
    /// Only the last so many.
    pub last: Option<usize>,
}

impl Filter {
    /// Whether an event is to be shown.
    #[must_use]
    pub fn admits(&self, event: &Event) -> bool {
        let session = |wanted: &String| {
            event.by == *wanted
                || matches!(&event.transition, Transition::Granted { session, .. } if session == wanted)
        };
        self.scope.is_none_or(|scope| scope == event.scope)
            && self.resource.as_ref().is_none_or(|resource| *resource == event.resource)
            && self.session.as_ref().is_none_or(session)
            && self.kind.as_ref().is_none_or(|kind| kind == event.transition.name())
            && self.since.is_none_or(|since| event.at >= since)
            && self.until.is_none_or(|until| event.at <= until)
    }
}

/// The names of all kinds of events.
pub const KINDS: &[&str] = &[
    "granted",
    "renewed",
    "altered",
    "offered",
    "withdrawn",
    "noted",
    End::Released.name(),
    End::Completed.name(),
    End::Died.name(),
    End::Expired.name(),
    End::HandedOff.name(),
    End::Taken.name(),
];
