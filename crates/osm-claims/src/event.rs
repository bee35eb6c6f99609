//! What happened: one event for every transition, in the same transaction.
//!
//! An event says what was done to a claim. [`Deed`] is the only way in which a claim changes, so
//! doing all deeds again in their order gives the claims as they are: [`replay`].

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::claim::{Claim, End, Ended, Hold, Offer};
use crate::epoch::Epoch;
use crate::owner::OwnerId;
use crate::resource::Resource;
use crate::scope::ScopeId;

/// One transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its place in the order of all.
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
    /// What it did.
    pub deed: Deed,
}

/// What is done to a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// It was granted.
    Granted {
        /// To this owner.
        owner: OwnerId,
        /// By this session's name.
        session: String,
        /// Kept by this.
        hold: Hold,
    },
    /// What keeps it began anew.
    Renewed(Hold),
    /// It was offered.
    Offered(Offer),
    /// The offer was taken back.
    Withdrawn,
    /// It ended.
    Ended(Ended),
}

impl Deed {
    /// The stable name, for machines.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Granted { .. } => "granted",
            Self::Renewed(_) => "renewed",
            Self::Offered(_) => "offered",
            Self::Withdrawn => "withdrawn",
            Self::Ended(ended) => ended.how.name(),
        }
    }

    /// What it rests on, or what was said about it.
    #[must_use]
    pub fn evidence(&self) -> Option<&str> {
        match self {
            Self::Ended(ended) => ended.evidence.as_deref(),
            Self::Offered(offer) => offer.note.as_deref(),
            Self::Granted { .. } | Self::Renewed(_) | Self::Withdrawn => None,
        }
    }

    /// The deed that made a claim.
    #[must_use]
    pub fn granted(claim: &Claim) -> Self {
        Self::Granted {
            owner: claim.owner.id,
            session: claim.owner.session.clone(),
            hold: claim.hold.clone(),
        }
    }

    /// Does it to a claim that is open.
    pub fn apply(&self, claim: &mut Claim) {
        match self {
            Self::Granted { .. } => {}
            Self::Renewed(hold) => claim.hold = hold.clone(),
            Self::Offered(offer) => claim.offer = Some(offer.clone()),
            Self::Withdrawn => claim.offer = None,
            Self::Ended(ended) => claim.ended = Some(ended.clone()),
        }
    }
}

/// An open claim, as the events tell it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Which grant.
    pub epoch: Epoch,
    /// Whose.
    pub owner: OwnerId,
    /// What keeps it.
    pub hold: Hold,
    /// To whom it is offered.
    pub offer: Option<Offer>,
}

/// What the events do not explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// A resource was granted while somebody had it.
    TwoOwners(Epoch),
    /// Epochs did not grow.
    EpochWentBack(Epoch),
    /// Something was done to a claim that was not open.
    NotOpen(Epoch),
}

/// The open claims that events lead to.
pub fn replay<'a>(
    events: impl IntoIterator<Item = &'a Event>,
) -> Result<BTreeMap<(ScopeId, Resource), Standing>, Flaw> {
    let mut open: BTreeMap<(ScopeId, Resource), Standing> = BTreeMap::new();
    let mut last = Epoch(0);
    for event in events {
        let key = (event.scope, event.resource.clone());
        if let Deed::Granted { owner, hold, .. } = &event.deed {
            if event.epoch <= last {
                return Err(Flaw::EpochWentBack(event.epoch));
            }
            last = event.epoch;
            let (epoch, owner, hold) = (event.epoch, *owner, hold.clone());
            if open.insert(key, Standing { epoch, owner, hold, offer: None }).is_some() {
                return Err(Flaw::TwoOwners(event.epoch));
            }
            continue;
        }
        let Some(claim) = open.get_mut(&key).filter(|claim| claim.epoch == event.epoch) else {
            return Err(Flaw::NotOpen(event.epoch));
        };
        match &event.deed {
            Deed::Granted { .. } => {}
            Deed::Renewed(hold) => claim.hold = hold.clone(),
            Deed::Offered(offer) => claim.offer = Some(offer.clone()),
            Deed::Withdrawn => claim.offer = None,
            Deed::Ended(_) => drop(open.remove(&key)),
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
                || matches!(&event.deed, Deed::Granted { session, .. } if session == wanted)
        };
        self.scope.is_none_or(|scope| scope == event.scope)
            && self.resource.as_ref().is_none_or(|resource| *resource == event.resource)
            && self.session.as_ref().is_none_or(session)
            && self.kind.as_ref().is_none_or(|kind| kind == event.deed.name())
            && self.since.is_none_or(|since| event.at >= since)
            && self.until.is_none_or(|until| event.at <= until)
    }
}

/// The names of all kinds of events.
pub const KINDS: &[&str] = &[
    "granted",
    "renewed",
    "offered",
    "withdrawn",
    End::Released.name(),
    End::Completed.name(),
    End::Died.name(),
    End::Expired.name(),
    End::HandedOff.name(),
    End::Taken.name(),
];
