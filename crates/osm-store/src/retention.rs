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
//! 3. its terminal or agent is provably gone, and it was not used for `defunct_age_days`;
//! 4. more than `max_count` sessions are left, and it is the oldest;
//! 5. those left take more than `max_size_mb`, and it is the oldest.
//!
//! Protected sessions count for 4 and 5, since the limits are about the disk: with 100 allowed and
//! 30 open, 70 others stay. Once nothing but protected sessions is left, a limit may stay exceeded.
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
//! that runs ahead would make everything old at once, so ages count only while the clock is
//! credible: the last cleanup is known and at most a year ago (or two intervals, if they are set
//! longer), or none ran before and something was changed within five years. Otherwise this cleanup applies the other limits only and says so
//! ([`Plan::leap`]). It is noted like any other, so the next one finds the clock credible: a
//! machine that lay in a drawer for two years is cleaned one cleanup later, and a clock that was
//! wrong for an hour has cost nothing. Sessions that are in use count for nothing here, since the
//! wrong clock itself may have dated them.

mod policy;
mod reason;

use jiff::{SignedDuration, Timestamp};
use osm_identity::SessionId;
use serde::{Serialize, Serializer};

pub use policy::{KEYS, Key, Policy, Setting};
pub use reason::{Leap, Reason};

use crate::backend::{ArchiveKind, Stamp};

/// Further than this after the last cleanup, the clock is in doubt.
const CREDIBLE_AFTER_CLEANUP: SignedDuration = SignedDuration::from_hours(24 * 366);
/// Further than this after the last change of anything, the clock is in doubt.
const CREDIBLE_AFTER_CHANGE: SignedDuration = SignedDuration::from_hours(24 * 366 * 5);

/// Everything that a plan is made from.
#[derive(Clone, Debug)]
pub struct Survey {
    /// All sessions.
    pub sessions: Vec<Candidate>,
    /// All archives.
    pub archived: Vec<ArchivedCandidate>,
    /// The sessions that the caller works in.
    pub current: Vec<SessionId>,
    /// When the last cleanup ran, if that is known.
    pub last_cleanup: Option<Timestamp>,
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
    let leap = leap(survey, policy);
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
                _ => discards(survey, kind, policy, leap.is_none()),
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

/// Whether the clock is too far ahead to be believed.
fn leap(survey: &Survey, policy: &Policy) -> Option<Leap> {
    let (from, credible) = if let Some(last) = survey.last_cleanup {
        let interval = SignedDuration::from_hours(policy.cleanup_interval_hours.into());
        (last, CREDIBLE_AFTER_CLEANUP.max(interval * 2))
    } else {
        let idle = survey.sessions.iter().filter(|session| !survey.is_protected(session));
        let archived = survey.archived.iter().map(|item| item.modified);
        let newest = idle.map(|session| session.modified).chain(archived).max()?;
        (newest, CREDIBLE_AFTER_CHANGE)
    };
    let to = survey.now;
    (to.duration_since(from) > credible).then_some(Leap { from, to })
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
    for session in survey.oldest_first() {
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
    age(policy.max_age_days)
        .or_else(|| idle(policy.max_idle_days))
        .or_else(|| defunct(policy.defunct_age_days))
}

fn purged(survey: &Survey) -> Vec<Removal> {
    let sessions = survey.oldest_first().into_iter();
    sessions
        .filter(|session| !survey.is_protected(session))
        .map(|session| removal(session, Reason::Purged))
        .collect()
}

fn discards(survey: &Survey, kind: ArchiveKind, policy: &Policy, ages_count: bool) -> Vec<Discard> {
    let (days, count, megabytes) = match kind {
        ArchiveKind::Archive => {
            (policy.archive_max_age_days, policy.archive_max_count, policy.archive_max_size_mb)
        }
        ArchiveKind::Quarantine => (policy.quarantine_days, 0, 0),
        ArchiveKind::Recovered => (policy.recovered_days, 0, 0),
        ArchiveKind::Trash => (policy.trash_days, 0, 0),
    };
    let limit = if ages_count { days } else { 0 };
    let items = of_kind(survey, kind);
    // They are in the order of their age, so those that are too old come first.
    let mut discards: Vec<Discard> = items
        .iter()
        .map_while(|item| Some((item, over(limit, item.modified, survey.now)?)))
        .map(|(item, days)| discard(item, Reason::ArchiveAge { days, limit }))
        .collect();
    let left = &items[discards.len()..];
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
/// have a size and may be protected.
fn excess(items: &[(u64, bool)], count: u32, bytes: Option<u64>) -> Vec<(usize, Excess)> {
    let mut held = items.len() as u64;
    let mut taken: u128 = items.iter().map(|(size, _)| u128::from(*size)).sum();
    let mut gone = Vec::new();
    for (at, (size, is_protected)) in items.iter().enumerate() {
        if *is_protected {
            continue;
        }
        if count > 0 && held > u64::from(count) {
            gone.push((at, Excess::Count { held, limit: count }));
        } else if let Some(limit) = bytes.filter(|limit| taken > u128::from(*limit)) {
            let held = u64::try_from(taken).unwrap_or(u64::MAX);
            gone.push((at, Excess::Size { held, limit }));
        } else {
            break;
        }
        held -= 1;
        taken -= u128::from(*size);
    }
    gone
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
