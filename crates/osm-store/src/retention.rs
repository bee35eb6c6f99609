//! What is no longer kept: rules without effects.
//!
//! [`plan`] is shown all sessions and archives, and decides which are removed and why.
//! It looks at nothing else, so the same survey gives the same plan, and what would happen can be
//! shown before it does. [`cleanup`](crate::cleanup) surveys a store and carries plans out.
//!
//! # Sessions
//!
//! The sessions that the caller works in and those that anybody has open are *protected*: they
//! never go, whatever the limits say. Of the others, a session goes if
//!
//! 1. it was not changed for `max_age_days`;
//! 2. it was neither opened nor changed for `max_idle_days`;
//! 3. its terminal or agent is provably gone, and it was not used for `defunct_age_days`, or its
//!    document is damaged and was not changed for `quarantine_days`;
//! 4. more than `max_count` sessions are left, and it is the oldest;
//! 5. those left take more than `max_size_mb`, and it is the oldest.
//!
//! Protected sessions count for 4 and 5, since the limits are about the disk: with 100 allowed and
//! 30 open, 70 others stay. No session goes if the limit stays exceeded all the same: if those that
//! are protected exceed it alone, the others stay, and one that alone takes more than `max_size_mb`
//! goes before any older one. A document that is too large to be read counts for no limit and does
//! not go: it could not be kept in the trash.
//! "Older" means changed earlier; sessions of one instant go in the order of their ids.
//!
//! [`Mode::Purge`] takes every session that is not protected, and the trash with them.
//!
//! # Archives
//!
//! Archives have an age, a count and a size of their own, and no archive counts for the
//! sessions. Quarantine, recovered documents and trash have an age each.
//!
//! # When the clock is wrong
//!
//! A time in the future makes nothing old: what was changed "tomorrow" was changed now. A clock
//! that runs ahead would make everything old at once. After a jump, which `clock.rs` recognises,
//! nothing goes for its age and nothing is deleted for good ([`Plan::leap`]).

mod clock;
mod policy;
mod reason;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};
use osm_identity::SessionId;
use serde::{Serialize, Serializer};

pub use clock::{ClockRecord, Doubt, Uptime};
pub use policy::{KEYS, Key, Policy, Setting};
pub use reason::{Leap, Reason};

use crate::backend::{ArchiveKind, Stamp};
use crate::layout::LARGEST_DOCUMENT;

/// Everything that a plan is made from.
#[derive(Clone, Debug)]
pub struct Survey {
    /// All sessions.
    pub sessions: Vec<Candidate>,
    /// All archives.
    pub archived: Vec<ArchivedCandidate>,
    /// The sessions that the caller works in.
    pub current: Vec<SessionId>,
    /// The clock is in doubt, so ages do not count.
    pub leap: Option<Leap>,
    /// The time that counts as now.
    pub now: Timestamp,
}

/// A session that may go.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Whose it is.
    pub id: SessionId,
    /// Bytes of its document.
    pub size: u64,
    /// When it was last changed.
    pub modified: Timestamp,
    /// When it was last opened, if that is known.
    pub last_used: Option<Timestamp>,
    /// Its document can be read, and with that kept in the trash.
    pub readable: bool,
    /// Its document can be read, but makes no sense.
    pub damaged: bool,
    /// A process has it open.
    pub active: bool,
    /// The state of the process that it belongs to.
    pub anchor: AnchorLife,
    /// The version that was seen: another one is another session.
    pub stamp: Stamp,
}

/// The state of the process that a session belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnchorLife {
    /// It provably ended, and with it whatever could be detected as this session.
    Gone,
    /// It lives.
    Alive,
    /// That cannot be told, or the session does not hang on a process.
    Unknown,
}

/// An archive that may be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedCandidate {
    /// Where it lies.
    pub kind: ArchiveKind,
    /// Its name there.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// When it was put there.
    pub modified: Timestamp,
}

/// How much is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// What the limits say.
    Clean,
    /// Every session that is not in use, for good, and the trash.
    Purge,
}

impl Mode {
    /// The stable name, for machines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Purge => "purge",
        }
    }
}

/// What goes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How much was to go.
    pub mode: Mode,
    /// The time that counted as now.
    pub now: Timestamp,
    /// Sessions, the oldest first.
    pub removals: Vec<Removal>,
    /// Archives: kind by kind, the oldest first.
    pub discards: Vec<Discard>,
    /// The clock was in doubt, so ages did not count.
    pub leap: Option<Leap>,
}

impl Plan {
    /// Drops what was not shown before, or is no longer the version that was shown.
    pub(crate) fn keep_only(&mut self, removals: &[Removal], discards: &[Discard]) {
        let shown: BTreeMap<&SessionId, Stamp> =
            removals.iter().map(|it| (&it.id, it.stamp)).collect();
        self.removals.retain(|it| shown.get(&it.id) == Some(&it.stamp));
        let shown: BTreeSet<(&str, &str)> =
            discards.iter().map(|it| (it.kind.name(), it.name.as_str())).collect();
        self.discards.retain(|it| shown.contains(&(it.kind.name(), it.name.as_str())));
    }
}

/// A session that goes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Removal {
    /// Whose it is.
    #[serde(serialize_with = "as_text")]
    pub id: SessionId,
    /// Bytes of its document.
    pub size: u64,
    /// When it was last changed.
    pub modified: Timestamp,
    /// Why it goes.
    pub reason: Reason,
    /// The version that goes: a newer one stays.
    #[serde(skip)]
    pub stamp: Stamp,
}

/// An archive that is removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Discard {
    /// Where it lies.
    #[serde(serialize_with = "kind_name")]
    pub kind: ArchiveKind,
    /// Its name there.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// When it was put there.
    pub modified: Timestamp,
    /// Why it goes.
    pub reason: Reason,
}

/// Decides what goes.
#[must_use]
pub fn plan(survey: &Survey, policy: &Policy, mode: Mode) -> Plan {
    let leap = survey.leap;
    Plan {
        mode,
        now: survey.now,
        removals: match mode {
            Mode::Clean => removals(survey, policy, leap.is_none()),
            Mode::Purge => purged(survey),
        },
        discards: ArchiveKind::ALL
            .into_iter()
            .flat_map(|kind| match (mode, kind) {
                (Mode::Purge, ArchiveKind::Trash) => emptied(survey, kind),
                // What is discarded is gone for good: that needs a clock that can be believed.
                _ if leap.is_some() => Vec::new(),
                _ => discards(survey, kind, policy),
            })
            .collect(),
        leap,
    }
}

impl Survey {
    fn is_protected(&self, session: &Candidate) -> bool {
        session.active || self.current.contains(&session.id)
    }

    fn oldest_first(&self) -> Vec<&Candidate> {
        let mut sessions: Vec<&Candidate> = self.sessions.iter().collect();
        sessions.sort_by(|a, b| (a.modified, &a.id).cmp(&(b.modified, &b.id)));
        sessions
    }
}

fn of_kind(survey: &Survey, kind: ArchiveKind) -> Vec<&ArchivedCandidate> {
    let mut items: Vec<_> = survey.archived.iter().filter(|item| item.kind == kind).collect();
    items.sort_by(|a, b| (a.modified, &a.name).cmp(&(b.modified, &b.name)));
    items
}

/// Whole days since `then`, if they are over a limit that is on.
pub(crate) fn over(limit: u32, then: Timestamp, now: Timestamp) -> Option<u64> {
    let elapsed = now.duration_since(then);
    let allowed = SignedDuration::from_hours(24 * i64::from(limit));
    (limit > 0 && elapsed > allowed).then(|| elapsed.as_secs().unsigned_abs() / (24 * 60 * 60))
}

fn removals(survey: &Survey, policy: &Policy, ages_count: bool) -> Vec<Removal> {
    let mut removals = Vec::new();
    let mut left = Vec::new();
    for session in survey.oldest_first().into_iter().filter(|session| session.readable) {
        let reason = (ages_count && !survey.is_protected(session))
            .then(|| too_old(session, policy, survey.now))
            .flatten();
        match reason {
            Some(reason) => removals.push(removal(session, reason)),
            None => left.push(session),
        }
    }
    let sizes: Vec<_> = left.iter().map(|it| (it.size, survey.is_protected(it))).collect();
    let limit = policy::bytes(policy.max_size_mb);
    for (at, excess) in excess(&sizes, policy.max_count, limit) {
        removals.push(removal(
            left[at],
            match excess {
                Excess::Count { held, limit } => Reason::Count { held, limit },
                Excess::Size { held, limit } => Reason::Size { held, limit },
            },
        ));
    }
    removals.sort_by(|a, b| (a.modified, &a.id).cmp(&(b.modified, &b.id)));
    removals
}

/// Which of the limits on time a session is over.
fn too_old(session: &Candidate, policy: &Policy, now: Timestamp) -> Option<Reason> {
    let used = session.last_used.map_or(session.modified, |used| used.max(session.modified));
    let age = |limit| over(limit, session.modified, now).map(|days| Reason::Age { days, limit });
    let idle = |limit| over(limit, used, now).map(|days| Reason::Idle { days, limit });
    let defunct = |limit| {
        let is_gone = session.anchor == AnchorLife::Gone;
        let days = over(limit, used, now).filter(|_| is_gone)?;
        Some(Reason::Defunct { days, limit })
    };
    let damaged = |limit| {
        let days = over(limit, session.modified, now).filter(|_| session.damaged)?;
        Some(Reason::Damaged { days, limit })
    };
    age(policy.max_age_days)
        .or_else(|| idle(policy.max_idle_days))
        .or_else(|| defunct(policy.defunct_age_days))
        .or_else(|| damaged(policy.quarantine_days))
}

fn purged(survey: &Survey) -> Vec<Removal> {
    let sessions = survey.oldest_first().into_iter();
    sessions
        .filter(|session| !survey.is_protected(session))
        .map(|session| removal(session, Reason::Purged))
        .collect()
}

fn discards(survey: &Survey, kind: ArchiveKind, policy: &Policy) -> Vec<Discard> {
    let (limit, count, megabytes) = match kind {
        ArchiveKind::Archive => {
            (policy.archive_max_age_days, policy.archive_max_count, policy.archive_max_size_mb)
        }
        ArchiveKind::Quarantine => (policy.quarantine_days, 0, 0),
        ArchiveKind::Recovered => (policy.recovered_days, 0, 0),
        ArchiveKind::Trash => (policy.trash_days, 0, 0),
    };
    let items = of_kind(survey, kind);
    // They are in the order of their age, so those that are too old come first.
    let mut discards: Vec<Discard> = items
        .iter()
        .map_while(|item| Some((item, over(limit, item.modified, survey.now)?)))
        .map(|(item, days)| discard(item, Reason::ArchiveAge { days, limit }))
        .collect();
    let readable = |item: &&&ArchivedCandidate| item.size <= LARGEST_DOCUMENT;
    let left: Vec<_> = items[discards.len()..].iter().filter(readable).collect();
    let sizes: Vec<_> = left.iter().map(|item| (item.size, false)).collect();
    for (at, excess) in excess(&sizes, count, policy::bytes(megabytes)) {
        discards.push(discard(
            left[at],
            match excess {
                Excess::Count { held, limit } => Reason::ArchiveCount { held, limit },
                Excess::Size { held, limit } => Reason::ArchiveSize { held, limit },
            },
        ));
    }
    discards
}

fn emptied(survey: &Survey, kind: ArchiveKind) -> Vec<Discard> {
    of_kind(survey, kind).into_iter().map(|item| discard(item, Reason::Purged)).collect()
}

/// Which limit of a group something is over.
enum Excess {
    Count { held: u64, limit: u32 },
    Size { held: u64, limit: u64 },
}

/// What must go for a group to be within its limits, of items that are the oldest first and each
/// have a size and may be protected. Nothing goes for a limit that cannot be kept.
fn excess(items: &[(u64, bool)], count: u32, bytes: Option<u64>) -> Vec<(usize, Excess)> {
    let size = |at: usize| u128::from(items[at].0);
    let (kept, free): (Vec<usize>, Vec<usize>) = (0..items.len()).partition(|at| items[*at].1);
    let count = Some(count).filter(|limit| *limit > 0 && kept.len() as u64 <= u64::from(*limit));
    let kept_bytes: u128 = kept.iter().map(|at| size(*at)).sum();
    let bytes = bytes.filter(|limit| kept_bytes <= u128::from(*limit));
    let mut held = items.len() as u64;
    let mut taken: u128 = (0..items.len()).map(size).sum();
    // As long as one is there that alone exceeds the limit, nothing else that goes makes room.
    let is_too_large = |at: usize| bytes.filter(|limit| size(at) > u128::from(*limit));
    let (first, rest): (Vec<usize>, Vec<usize>) =
        free.iter().partition(|at| is_too_large(**at).is_some());
    let mut gone = Vec::new();
    for at in first.into_iter().chain(rest) {
        let over_count = count.filter(|limit| held > u64::from(*limit));
        let over_size = bytes.filter(|limit| taken > u128::from(*limit));
        let excess = match (is_too_large(at), over_count, over_size) {
            (Some(limit), ..) | (None, None, Some(limit)) => {
                Excess::Size { held: as_u64(taken), limit }
            }
            (None, Some(limit), _) => Excess::Count { held, limit },
            (None, None, None) => break,
        };
        gone.push((at, excess));
        held -= 1;
        taken -= size(at);
    }
    gone
}

fn as_u64(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

fn removal(session: &Candidate, reason: Reason) -> Removal {
    Removal {
        id: session.id.clone(),
        size: session.size,
        modified: session.modified,
        reason,
        stamp: session.stamp,
    }
}

fn discard(item: &ArchivedCandidate, reason: Reason) -> Discard {
    Discard {
        kind: item.kind,
        name: item.name.clone(),
        size: item.size,
        modified: item.modified,
        reason,
    }
}

pub(crate) fn as_text<S: Serializer>(id: &SessionId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(id.as_str())
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
pub(crate) fn kind_name<S: Serializer>(
    kind: &ArchiveKind,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.name())
}

#[cfg(test)]
mod tests;
