//! Carrying a plan out.

use std::sync::atomic::AtomicBool;

use osm_identity::SessionId;
use serde_json::{Value, json};

use super::{Failed, Item, Progress, Report, Skip, Skipped, is_stopped, lock};
use crate::audit::{Action, Event, Who};
use crate::backend::{Backend, Holder, Wait};
use crate::error::{Error, Result};
use crate::retention::{Discard, Mode, Plan, Removal};

/// How many removals one line of the audit tells of.
const BATCH: usize = 500;

/// How a plan is carried out.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Sessions go to the trash. Not if all are purged: that is for good.
    pub keep_in_trash: bool,
    /// Nothing is done; the report tells what would be.
    pub dry_run: bool,
    /// How long to wait for another cleanup.
    pub wait: Wait,
    /// Ends the cleanup early, between two items.
    pub stop: Option<&'a AtomicBool>,
    /// The session of whoever cleans, for the audit.
    pub session: Option<&'a SessionId>,
    /// Why it is done, for the audit.
    pub reason: Option<&'a str>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            keep_in_trash: true,
            dry_run: false,
            wait: Wait::NONE,
            stop: None,
            session: None,
            reason: None,
        }
    }
}

/// Carries a plan out, under the lock of cleanups.
///
/// [`Error::CleanupRunning`] if another cleanup does not end in time. What goes wrong with one item
/// is in the report, and the others go on.
pub fn apply(
    backend: &dyn Backend,
    holder: &Holder,
    plan: &Plan,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Report> {
    let _turn = if options.dry_run {
        None
    } else {
        let turn = lock(backend, holder, options.wait, options.stop)?;
        Some(turn.ok_or(Error::CleanupRunning)?)
    };
    Ok(carry_out(backend, holder, plan, options, progress))
}

/// Carries a plan out; the caller has the lock, or wants a dry run.
pub(super) fn carry_out(
    backend: &dyn Backend,
    holder: &Holder,
    plan: &Plan,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Report {
    let mut run = Run {
        backend,
        plan,
        options,
        keep: options.keep_in_trash && plan.mode == Mode::Clean,
        who: Who::new(holder, options.session),
        told: Told::default(),
        report: Report {
            mode: plan.mode,
            dry_run: options.dry_run,
            removed: Vec::new(),
            discarded: Vec::new(),
            skipped: Vec::new(),
            failed: Vec::new(),
            litter: 0,
            bytes_freed: 0,
            bytes_trashed: 0,
            leap: plan.leap,
            stopped: false,
            warnings: Vec::new(),
        },
    };
    run.all(progress);
    if !options.dry_run {
        run.tell(true);
    }
    run.report
}

/// A plan under way.
struct Run<'a> {
    backend: &'a dyn Backend,
    plan: &'a Plan,
    options: &'a Options<'a>,
    keep: bool,
    who: Who,
    told: Told,
    report: Report,
}

/// How much of the report is in the audit.
#[derive(Default)]
struct Told {
    removed: usize,
    discarded: usize,
}

impl Run<'_> {
    fn all(&mut self, progress: &mut dyn FnMut(Progress)) {
        let plan = self.plan;
        let total = plan.discards.len() + plan.removals.len();
        let discards = plan.discards.iter().map(Step::Discard);
        let steps = discards.chain(plan.removals.iter().map(Step::Remove));
        for (done, step) in (1..).zip(steps) {
            if is_stopped(self.options.stop) {
                self.report.stopped = true;
                return;
            }
            match step {
                Step::Discard(discard) => self.discard(discard),
                Step::Remove(removal) => self.remove(removal),
            }
            let bytes = self.report.bytes_freed.saturating_add(self.report.bytes_trashed);
            progress(Progress { done, total, bytes });
            if !self.options.dry_run && self.untold() >= BATCH {
                self.tell(false);
            }
        }
        if is_stopped(self.options.stop) {
            self.report.stopped = true;
            return;
        }
        match self.backend.sweep_litter(plan.now, self.options.dry_run) {
            Ok(litter) => self.report.litter = litter,
            Err(error) => self.report.failed.push(Failed { item: Item::Litter, error }),
        }
    }

    fn discard(&mut self, discard: &Discard) {
        let result = if self.options.dry_run {
            Ok(())
        } else {
            self.backend.discard(discard.shelf, &discard.name)
        };
        let item = || Item::Shelved(discard.shelf, discard.name.clone());
        match result {
            Ok(()) => {
                self.report.bytes_freed = self.report.bytes_freed.saturating_add(discard.size);
                self.report.discarded.push(discard.clone());
            }
            Err(Error::NotShelved(_)) => self.skip(item(), Skip::Gone),
            Err(error) => self.report.failed.push(Failed { item: item(), error }),
        }
    }

    fn remove(&mut self, removal: &Removal) {
        let mut doubt = None;
        let host = &self.who.host;
        let elsewhere = self.backend.foreign_holders(&removal.id, host, self.plan.now);
        if let Ok(holders) = &elsewhere
            && !holders.is_empty()
        {
            return self.skip(Item::Session(removal.id.clone()), Skip::Elsewhere(holders.clone()));
        }
        let result = if self.options.dry_run {
            Ok(true)
        } else {
            self.backend.remove(&removal.id, self.keep, self.plan.now, &mut |entry| {
                doubt = if entry.active {
                    Some(Skip::InUse(Vec::new()))
                } else if entry.stamp != removal.stamp {
                    Some(Skip::Changed)
                } else {
                    None
                };
                doubt.is_none()
            })
        };
        let item = || Item::Session(removal.id.clone());
        match result {
            Ok(true) => {
                let bytes = if self.keep {
                    &mut self.report.bytes_trashed
                } else {
                    &mut self.report.bytes_freed
                };
                *bytes = bytes.saturating_add(removal.size);
                self.report.removed.push(removal.clone());
            }
            Ok(false) => self.skip(item(), doubt.unwrap_or(Skip::Gone)),
            Err(Error::Busy { holders, .. }) => self.skip(item(), Skip::InUse(holders)),
            Err(Error::Orphaned { .. }) => self.skip(item(), Skip::InUse(Vec::new())),
            Err(Error::NotFound(_)) => self.skip(item(), Skip::Gone),
            Err(error) => self.report.failed.push(Failed { item: item(), error }),
        }
    }

    fn skip(&mut self, item: Item, why: Skip) {
        self.report.skipped.push(Skipped { item, why });
    }

    fn untold(&self) -> usize {
        let report = &self.report;
        report.removed.len() + report.discarded.len() - self.told.removed - self.told.discarded
    }

    /// Puts into the audit what went since the last time, and at the end how it went altogether.
    fn tell(&mut self, is_end: bool) {
        let report = &self.report;
        if report.stopped && report.is_empty() {
            return; // It had not begun: the next one tells.
        }
        let removed = &report.removed[self.told.removed..];
        let discarded = &report.discarded[self.told.discarded..];
        self.told = Told { removed: report.removed.len(), discarded: report.discarded.len() };
        let action = match self.plan.mode {
            Mode::Clean => Action::Clean,
            Mode::Purge => Action::Purge,
        };
        let mut event = Event::new(self.plan.now, self.who.clone(), action);
        event.reason = self.options.reason.map(str::to_owned);
        event.before = json!({ "removed": removed, "discarded": discarded });
        event.after = if is_end {
            json!({
                "removed": report.removed.len(),
                "discarded": report.discarded.len(),
                "skipped": report.skipped.len(),
                "failed": report.failed.len(),
                "litter": report.litter,
                "bytes_freed": report.bytes_freed,
                "bytes_trashed": report.bytes_trashed,
                "leap": report.leap,
                "stopped": report.stopped,
            })
        } else {
            Value::Null
        };
        if let Err(error) = event.append(self.backend) {
            let warning = format!("the audit could not be written: {error}");
            if self.report.warnings.last() != Some(&warning) {
                self.report.warnings.push(warning);
            }
        }
    }
}

/// One item of a plan.
enum Step<'a> {
    Discard(&'a Discard),
    Remove(&'a Removal),
}
