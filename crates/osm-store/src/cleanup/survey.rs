//! What a store holds, as the rules want to see it.
//!
//! Only what an age could decide is looked into: a session that was changed yesterday costs no
//! parsing and no look at a process, and that is nearly all of them.

use std::collections::HashSet;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use jiff::Timestamp;
use osm_identity::{Liveness, ProcessInstance, ProcessSource, SessionId, Source};

use super::{Cleaner, DamagedSession, Failed, Item, Report, is_stopped};
use crate::backend::{ArchiveKind, Backend, Current, Entry, Stored};
use crate::document::{Document, Origin, Summary, Unreadable};
use crate::error::{Damage, Error, Result};
use crate::layout::LARGEST_DOCUMENT;
use crate::metadata::Metadata;
use crate::retention::{
    self, AnchorLife, ArchivedCandidate, Candidate, ClockRecord, Plan, Policy, Reason, Removal,
    Survey,
};
use crate::session::place;
use crate::spread::spread;

/// How many documents are checked between two looks at whether to stop.
const CHECKED_AT_ONCE: usize = 1000;

/// How a session's id must have come about for the end of its anchor to be its own end.
///
/// These ids are made of the exact process, so no process will be detected as the session again.
/// Others come back: a conversation is resumed, a tab is restored, a name is given again. (A login
/// without a terminal is the exception: its commands share the session, and each is its anchor in
/// turn. It then takes the days without use to tell that it is not used any more.)
const BOUND: [Source; 4] = [Source::Anchor, Source::AgentProcess, Source::Multiplexer, Source::Ssh];

/// Surveys a store. Archives that cannot be read are reported, since they keep nothing else from
/// being cleaned.
pub(super) fn take(
    cleaner: &Cleaner,
    now: Timestamp,
) -> Result<(Survey, ClockRecord, Vec<Failed>)> {
    let entries = cleaner.backend.all(true)?;
    let mut failed = Vec::new();
    let mut archived = Vec::new();
    for kind in ArchiveKind::ALL {
        match cleaner.backend.all_archived(kind) {
            Ok(items) => archived.extend(items.into_iter().map(|item| ArchivedCandidate {
                kind,
                name: item.name,
                size: item.size,
                modified: item.modified,
            })),
            Err(error) => failed.push(Failed { item: Item::Archive(kind), error }),
        }
    }
    let mut sessions = Vec::with_capacity(entries.len());
    for entry in entries {
        let readable = entry.size <= LARGEST_DOCUMENT;
        if !readable {
            let place = place(cleaner.backend, &entry.id);
            let error = Error::TooLarge { place, size: entry.size };
            failed.push(Failed { item: Item::Session(entry.id.clone()), error });
        }
        let (last_used, anchor) = if is_to_be_looked_into(&entry, cleaner.policy, now) {
            look_into(entry.summary.as_deref(), cleaner.processes)
        } else {
            (None, AnchorLife::Unknown)
        };
        let damaged = readable && is_damaged(cleaner, &entry, now);
        sessions.push(Candidate {
            damaged,
            id: entry.id,
            size: entry.size,
            modified: entry.modified,
            last_used,
            readable,
            active: entry.active,
            anchor,
            stamp: entry.stamp,
        });
    }
    let current = cleaner.current.to_vec();
    let clock = observe_clock(cleaner, &sessions, &archived, now)?;
    let survey = Survey { sessions, archived, current, leap: clock.leap(), now };
    Ok((survey, clock, failed))
}

/// Looks at the clock. If no cleanup ran before, the last time that is known is the newest change of
/// what is not in use: what is in use may have been dated by a wrong clock.
fn observe_clock(
    cleaner: &Cleaner,
    sessions: &[Candidate],
    archived: &[ArchivedCandidate],
    now: Timestamp,
) -> Result<ClockRecord> {
    let known = Metadata::read(cleaner.backend)?.metadata;
    let is_idle = |it: &&Candidate| !it.active && !cleaner.current.contains(&it.id);
    let changed = sessions.iter().filter(is_idle).map(|it| it.modified);
    let newest = || changed.chain(archived.iter().map(|it| it.modified)).max();
    let before = known.last_cleanup.or_else(newest);
    let interval = Duration::from_hours(cleaner.policy.cleanup_interval_hours.into());
    Ok(ClockRecord::observe(known.clock.as_ref(), before, now, cleaner.uptime, interval))
}

/// Whether the last use or the anchor of a session can make a difference: it stays unless it was
/// last changed before a limit on either, and it goes anyway if it is over the limit on changes.
fn is_to_be_looked_into(entry: &Entry, policy: &Policy, now: Timestamp) -> bool {
    let is_over = |limit| retention::over(limit, entry.modified, now).is_some();
    !entry.active
        && !is_over(policy.max_age_days)
        && (is_over(policy.max_idle_days) || is_over(policy.defunct_age_days))
}

/// Whether a session that is old enough to go for it is damaged. A first line that can be read and
/// has the document's size spares the look at the rest.
fn is_damaged(cleaner: &Cleaner, entry: &Entry, now: Timestamp) -> bool {
    let is_over = |limit| retention::over(limit, entry.modified, now).is_some();
    let policy = cleaner.policy;
    let could_go = is_over(policy.quarantine_days) && !is_over(policy.max_age_days);
    let summary = entry.summary.as_deref().and_then(Summary::parse);
    if !could_go || entry.active || summary.is_some_and(|it| it.fits(entry.size)) {
        return false;
    }
    damage(cleaner.backend, &entry.id).is_some()
}

/// What is wrong with the document of a session. One that cannot be read now is not damaged.
fn damage(backend: &dyn Backend, id: &SessionId) -> Option<Damage> {
    let Ok(Current::Found(bytes, _)) = backend.load(Stored::Session(id), None) else { return None };
    match Document::check(bytes) {
        Err(Unreadable::Corrupt(damage)) => Some(damage),
        _ => None,
    }
}

/// Reads all documents that a plan would keep. Those that are damaged are marked in the survey, and
/// returned. `progress` hears how many were read; it ends early if `stop` says so.
pub(super) fn check(
    backend: &dyn Backend,
    survey: &mut Survey,
    plan: &Plan,
    stop: Option<&AtomicBool>,
    progress: &mut dyn FnMut(usize, usize),
) -> Vec<DamagedSession> {
    let removed: HashSet<&SessionId> = plan.removals.iter().map(|it| &it.id).collect();
    let is_kept = |it: &&mut Candidate| it.readable && !removed.contains(&it.id);
    let mut kept: Vec<&mut Candidate> = survey.sessions.iter_mut().filter(is_kept).collect();
    let total = kept.len();
    let mut damaged = Vec::new();
    while !kept.is_empty() && !is_stopped(stop) {
        progress(total - kept.len(), total);
        let some = kept.split_off(kept.len().saturating_sub(CHECKED_AT_ONCE));
        let found = spread(some, |candidates| {
            let mut found = Vec::new();
            for candidate in candidates {
                if let Some(reason) = damage(backend, &candidate.id) {
                    candidate.damaged = true;
                    found.push(DamagedSession { id: candidate.id.clone(), reason });
                }
            }
            found
        });
        damaged.extend(found.into_iter().flatten());
    }
    damaged.sort_unstable_by(|one, other| one.id.cmp(&other.id));
    damaged
}

/// Marks the sessions that an earlier, thorough look found damaged. They go only in the version that it
/// saw, so they need not be read again.
pub(super) fn recall(survey: &mut Survey, shown: &Report) {
    let is_damage = |it: &&Removal| matches!(it.reason, Reason::Damaged { .. });
    let damaged: HashSet<&SessionId> =
        shown.removed.iter().filter(is_damage).map(|it| &it.id).collect();
    for session in survey.sessions.iter_mut().filter(|it| damaged.contains(&it.id)) {
        session.damaged = true;
    }
}

/// When a session was last used and whether what it hangs on lives, as its first line tells. What
/// is missing or malformed is not known.
fn look_into(
    summary: Option<&[u8]>,
    processes: &dyn ProcessSource,
) -> (Option<Timestamp>, AnchorLife) {
    let Some(summary) = summary.and_then(Summary::parse) else {
        return (None, AnchorLife::Unknown);
    };
    let last_used = summary.last_used.and_then(|used| used.at);
    let anchor = match summary.origin {
        Some(Origin { source, anchor: Some(anchor), .. })
            if BOUND.iter().any(|bound| bound.name() == source) =>
        {
            life(&anchor, processes)
        }
        _ => AnchorLife::Unknown,
    };
    (last_used, anchor)
}

fn life(anchor: &ProcessInstance, processes: &dyn ProcessSource) -> AnchorLife {
    match anchor.liveness(processes) {
        Liveness::Alive | Liveness::Suspended => AnchorLife::Alive,
        Liveness::Dead(_) => AnchorLife::Gone,
        // Another boot proves nothing by itself: it may be that of another machine that shares the
        // folder. An instance with its machine and the time at which it was seen is dead then.
        Liveness::Unknown(_) => AnchorLife::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use osm_identity::{FixedTable, Host, Pid, Process, StartTime, State};
    use serde_json::json;

    fn table() -> FixedTable {
        let host = Host { boot: "b".into(), namespace: "n".into(), contained: false };
        let process = Process {
            pid: Pid(7),
            parent: Pid(1),
            start: StartTime(50),
            name: "bash".into(),
            terminal: None,
            session: None,
            state: State::Active,
        };
        let stopped = Process { pid: Pid(8), state: State::Suspended, ..process.clone() };
        let zombie = Process { pid: Pid(9), state: State::Zombie, ..process.clone() };
        FixedTable::new(host).with(process, &[]).with(stopped, &[]).with(zombie, &[])
    }

    fn anchor(source: &str, pid: u32, start: u64, boot: &str, namespace: &str) -> AnchorLife {
        let origin = json!({"source": source, "anchor":
            {"pid": pid, "start": start, "boot": boot, "namespace": namespace, "name": "bash"}});
        let line = format!(r#"{{"session_id":"x","origin":{origin},"#);
        look_into(Some(line.as_bytes()), &table()).1
    }

    #[test]
    fn gone_only_with_proof() {
        assert_eq!(anchor("anchor", 7, 50, "b", "n"), AnchorLife::Alive);
        assert_eq!(anchor("anchor", 8, 50, "b", "n"), AnchorLife::Alive);
        assert_eq!(anchor("anchor", 9, 50, "b", "n"), AnchorLife::Gone);
        assert_eq!(anchor("anchor", 7, 49, "b", "n"), AnchorLife::Gone);
        assert_eq!(anchor("anchor", 6, 50, "b", "n"), AnchorLife::Gone);
        assert_eq!(anchor("anchor", 6, 50, "other", "n"), AnchorLife::Unknown);
        assert_eq!(anchor("anchor", 6, 50, "b", "other"), AnchorLife::Unknown);
    }

    #[test]
    fn only_ids_that_cannot_come_back() {
        for source in ["anchor", "agent-process", "multiplexer", "ssh"] {
            assert_eq!(anchor(source, 6, 50, "b", "n"), AnchorLife::Gone, "{source}");
        }
        for source in
            ["explicit-flag", "explicit-env", "agent-conversation", "terminal", "ci", "random", ""]
        {
            assert_eq!(anchor(source, 6, 50, "b", "n"), AnchorLife::Unknown, "{source}");
        }
    }

    #[test]
    fn nothing_is_known_from_nonsense() {
        for summary in [
            &b""[..],
            b"{",
            b"[],",
            b"\xff,",
            br#"{"origin":7,"last_used":[],"#,
            br#"{"origin":{"source":"anchor","anchor":{"pid":-1}},"last_used":{"at":"soon"},"#,
            br#"{"origin":{"source":"anchor","anchor":{"pid":6,"start":1,"boot":"b"}},"#,
        ] {
            assert_eq!(look_into(Some(summary), &table()), (None, AnchorLife::Unknown));
        }
        assert_eq!(look_into(None, &table()), (None, AnchorLife::Unknown));
        let used = look_into(Some(br#"{"last_used":{"at":"1970-01-01T00:00:05Z"},"#), &table()).0;
        assert_eq!(used, Some(Timestamp::from_second(5).unwrap()));
    }
}
