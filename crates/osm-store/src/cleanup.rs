//! Cleanups: survey a store, decide, remove with care, report.
//!
//! [`retention`] decides; this module carries it out while other processes work.
//! One lock keeps cleanups apart, and the backend removes each session in one step in which no process
//! can open or change it. A session stays if a process has it open or if it is no longer the version
//! that the plan saw. The order of locks is always the same, cleanup then session, and a cleanup does
//! not wait for an open session.
//!
//! Archives go first, so that a full disk has space for what moves into the trash. An item that
//! cannot be removed does not keep the others. The audit log gets every removal, a few hundred to a
//! line, while the cleanup runs. Ages count by the store's clock.
//!
//! Cleanups also run by themselves, once per interval over all processes: [`Cleaner::run_if_due`]
//! looks at the shared record, takes the lock without waiting, and looks again. It fits on a
//! background thread: when told to stop it ends with the current item, and since the record is
//! written at the end only, the next process continues.

mod apply;
mod report;
mod survey;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};
use osm_identity::{ProcessSource, SessionId};

pub use apply::{Options, apply};
pub use report::{DamagedSession, Failed, Item, Progress, Report, Skip, Skipped, Stage, Warning};

use crate::backend::{Backend, Guard, Holder, Wait};
use crate::error::{Error, Result};
use crate::metadata::Metadata;
use crate::retention::{self, ClockRecord, Mode, Policy, Uptime};

/// How often a lock of another cleanup is tried.
const PAUSE: Duration = Duration::from_millis(10);

/// Everything that a cleanup needs to know.
#[derive(Clone, Copy)]
pub struct Cleaner<'a> {
    /// What is cleaned.
    pub backend: &'a dyn Backend,
    /// What is kept.
    pub policy: &'a Policy,
    /// Who cleans.
    pub holder: &'a Holder,
    /// The sessions that the caller works in, its own first: they stay.
    pub current: &'a [SessionId],
    /// Tells whether the process that a session belongs to still runs.
    pub processes: &'a dyn ProcessSource,
    /// How long the machine has been up: tells a jump of the clock from time that passed.
    pub uptime: &'a Uptime,
}

/// What became of an automatic cleanup.
#[derive(Debug)]
#[must_use]
pub enum Turn {
    /// It is switched off, or one ran not long ago.
    NotDue,
    /// Another process is at it.
    Taken,
    /// It ran.
    Ran(Box<Report>),
}

/// Whether an automatic cleanup is due.
///
/// A last cleanup in the future counts like one as far in the past: a clock that was set back by a
/// little does not start two, and one that was a year ahead does not hold up the next for a year.
#[must_use]
pub fn due(metadata: &Metadata, policy: &Policy, now: Timestamp) -> bool {
    let interval = SignedDuration::from_hours(policy.cleanup_interval_hours.into());
    policy.auto_cleanup_enabled
        && metadata.last_cleanup.is_none_or(|last| now.duration_since(last).abs() >= interval)
}

impl Cleaner<'_> {
    /// Cleans up, or with [`Options::dry_run`] tells what that would do.
    ///
    /// [`Error::CleanupRunning`] if another cleanup does not end in time.
    pub fn clean_up(
        &self,
        mode: Mode,
        options: &Options,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Report> {
        if options.dry_run {
            return self.clean(mode, options, progress);
        }
        let _turn = lock(self.backend, self.holder, options.wait, options.stop)?
            .ok_or(Error::CleanupRunning)?;
        self.clean(mode, options, progress)
    }

    /// Cleans up if it is due and no other cleanup runs.
    pub fn run_if_due(&self, stop: &AtomicBool) -> Result<Turn> {
        let is_due = || -> Result<bool> {
            let found = Metadata::read(self.backend)?;
            Ok(due(&found.metadata, self.policy, self.backend.now()?))
        };
        // Most of the time it is not due, and that must cost no lock.
        if !is_due()? {
            return Ok(Turn::NotDue);
        }
        let Some(_turn) = self.backend.lock_cleanup(self.holder)? else {
            return Ok(Turn::Taken);
        };
        if !is_due()? {
            return Ok(Turn::NotDue);
        }
        let options = Options { stop: Some(stop), reason: Some("automatic"), ..Options::default() };
        let report = self.clean(Mode::Clean, &options, &mut |_| {})?;
        Ok(Turn::Ran(Box::new(report)))
    }

    /// Cleans up; the caller has the lock, or wants a dry run.
    fn clean(
        &self,
        mode: Mode,
        options: &Options,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Report> {
        let now = self.backend.now()?;
        let (mut survey, clock, failed) = survey::take(self, now)?;
        if let Some(shown) = options.only {
            survey::recall(&mut survey, shown);
        }
        let mut plan = retention::plan(&survey, self.policy, mode);
        let mut damaged = Vec::new();
        if options.thorough && mode == Mode::Clean {
            let mut checked = |done, total| {
                progress(Progress { stage: Stage::Checking, done, total, bytes: 0 });
            };
            let backend = self.backend;
            damaged = survey::check(backend, &mut survey, &plan, options.stop, &mut checked);
            // What is damaged has its own limit.
            plan = retention::plan(&survey, self.policy, mode);
            damaged.retain(|it| plan.removals.iter().all(|removal| removal.id != it.id));
        }
        if let Some(shown) = options.only {
            plan.keep_only(&shown.removed, &shown.discarded);
        }
        let session = options.session.or(self.current.first());
        let options = Options { session, ..options.clone() };
        let mut report = apply::carry_out(self.backend, self.holder, &plan, &options, progress);
        report.failed.splice(0..0, failed);
        report.damaged = damaged;
        if !options.dry_run && !report.stopped {
            self.note(now, &clock, &mut report);
        }
        Ok(report)
    }

    /// Notes in the shared record that a cleanup ran.
    fn note(&self, now: Timestamp, clock: &ClockRecord, report: &mut Report) {
        let mut quarantined = None;
        let noted = self.backend.transact(self.holder, Wait::USUAL, &mut |transaction| {
            quarantined = Metadata::change(transaction, |it| {
                it.last_cleanup = Some(now);
                it.clock = Some(clock.clone());
            })?;
            Ok(())
        });
        match noted {
            Ok(()) => report.warnings.extend(quarantined.map(Warning::RecordQuarantined)),
            Err(error) => report.warnings.push(Warning::NotRecorded(error)),
        }
    }
}

/// Takes the lock of cleanups, waiting for others; `None` if they do not let go in time.
pub(crate) fn lock(
    backend: &dyn Backend,
    holder: &Holder,
    wait: Wait,
    stop: Option<&AtomicBool>,
) -> Result<Option<Box<dyn Guard>>> {
    let started = Instant::now();
    loop {
        if let Some(turn) = backend.lock_cleanup(holder)? {
            return Ok(Some(turn));
        }
        let left = wait.0.saturating_sub(started.elapsed());
        if left.is_zero() || is_stopped(stop) {
            return Ok(None);
        }
        thread::sleep(left.min(PAUSE));
    }
}

fn is_stopped(stop: Option<&AtomicBool>) -> bool {
    stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_once_per_interval_whatever_the_clock_does() {
        let now: Timestamp = "2026-06-01T12:00:00Z".parse().unwrap();
        let hours = SignedDuration::from_hours;
        let second = SignedDuration::from_secs(1);
        let day = Policy::default();
        let always = Policy { cleanup_interval_hours: 0, ..Policy::default() };
        let off = Policy { auto_cleanup_enabled: false, ..Policy::default() };
        for (last, policy, expected) in [
            (None, &day, true),
            (None, &off, false),
            (Some(now - hours(24)), &day, true),
            (Some(now - hours(24) + second), &day, false),
            (Some(now - hours(24)), &off, false),
            (Some(now), &day, false),
            (Some(now), &always, true),
            // Another process that started a moment after us was faster.
            (Some(now + second), &day, false),
            // The clock was ahead, or is behind now.
            (Some(now + hours(24 * 365)), &day, true),
            (Some(now - hours(24 * 365 * 100)), &day, true),
        ] {
            let metadata = Metadata { last_cleanup: last, ..Metadata::default() };
            assert_eq!(due(&metadata, policy, now), expected, "{last:?} {policy:?}");
        }
    }
}
