//! Stray files of crashed processes, and how they are recognised.
//!
//! | stray file | recognised by |
//! |---|---|
//! | a temporary file | its writer is proven dead, or it is an hour old |
//! | the lock of a session that is gone, also of one with the name of another tool | no document, not used for five seconds, and no process holds it |
//! | the name of an archive that was never written | it is empty, and an hour old |
//!
//! A lock is removed by its holder only (see `lock.rs`), so a sweep takes it first, and then looks
//! again whether there is a document. A process that opens the session at that moment notices that the lock
//! that it was granted has no name any more.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::folder::{Folder, Kind};
use super::holder_list;
use super::lock::{Attempt, FileLock, IfMissing, Mode};
use super::pid_space::PidSpace;
use crate::error::Result;
use crate::layout::{self, Temporary};

/// No save takes that long.
const OLD: SignedDuration = SignedDuration::from_hours(1);
/// Between making a lock and saving a first document.
const JUST_MADE: SignedDuration = SignedDuration::from_secs(5);

/// Sweeps temporary files out of any folder; returns how many there were.
pub(crate) fn remove_temporary(
    folder: &Folder,
    pid_space: &PidSpace,
    now: Timestamp,
    dry_run: bool,
) -> Result<usize> {
    let mut found = Vec::new();
    folder.each_name(&mut |name, _| {
        if let Some(writer) = Temporary::parse(name) {
            found.push((name.to_owned(), writer));
        }
    })?;
    let mut count = 0;
    for (name, writer) in found {
        let Some(facts) = folder.facts(&name)? else { continue };
        let is_stray = facts.kind == Kind::File
            && (pid_space.is_gone(&writer) || now.duration_since(facts.modified) > OLD);
        if is_stray && (dry_run || folder.remove(&name)?) {
            count += 1;
        }
    }
    Ok(count)
}

/// Removes empty files: names of archives that were taken and never written.
pub(crate) fn remove_unfilled(folder: &Folder, now: Timestamp, dry_run: bool) -> Result<usize> {
    let mut found = Vec::new();
    folder.each_name(&mut |name, _| {
        if name.contains(".session.json") && !name.starts_with('.') {
            found.push(name.to_owned());
        }
    })?;
    let mut count = 0;
    for name in found {
        let Some(facts) = folder.facts(&name)? else { continue };
        let is_stray =
            facts.kind == Kind::File && facts.size == 0 && now.duration_since(facts.modified) > OLD;
        if is_stray && (dry_run || folder.remove(&name)?) {
            count += 1;
        }
    }
    Ok(count)
}

/// Sweeps the locks of sessions that are gone.
pub(crate) fn remove_locks(folder: &Arc<Folder>, now: Timestamp, dry_run: bool) -> Result<usize> {
    let mut locks = Vec::new();
    folder.each_name(&mut |name, _| {
        if let Some(document) = layout::document_of_lock(name) {
            locks.push((name.to_owned(), document));
        }
    })?;
    let is_gone = |document: &str| folder.facts(document).map(|facts| facts.is_none());
    let mut count = 0;
    for (name, document) in locks {
        let Some(facts) = folder.facts(&name)? else { continue };
        if facts.kind != Kind::File
            || now.duration_since(facts.modified) <= JUST_MADE
            || !is_gone(&document)?
        {
            continue;
        }
        // Who is about to remove a lock must not be taken for the dead in its holder_list.
        let mut sign = |lock: &FileLock| if dry_run { Ok(()) } else { holder_list::empty(lock) };
        let (mode, missing, patience) = (Mode::Alone, IfMissing::GiveUp, Duration::ZERO);
        let attempt = FileLock::acquire_signed(folder, &name, mode, missing, patience, &mut sign)?;
        if let Attempt::Held(lock) = attempt
            && is_gone(&document)?
            && (dry_run || lock.remove_file()?)
        {
            count += 1;
        }
    }
    Ok(count)
}
