//! Carrying a plan out.

use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

use osm_identity::SessionId;
use serde_json::{Value, json};

use super::{Failed, Item, Progress, Report, Skip, Skipped, Stage, Warning, is_stopped, lock};
use crate::audit::{Action, Event, Who};
use crate::backend::{self, Backend, Holder, Stored, Wait};
use crate::error::{Error, Result};
use crate::retention::{Discard, Mode, Plan, Removal};

/// How many items are removed at a time, and reported by one event of the audit log.
const BATCH: usize = 500;
/// How often the removal of an item whose reply was lost is sent.
const ATTEMPTS: u32 = 5;

/// How a plan is carried out.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// Sessions go to the trash. Not if all are purged: that is for good.
    pub keep_in_trash: bool,
    /// Nothing is done; the report tells what would be.
    pub dry_run: bool,
    /// Documents that stay are read, and damaged ones reported. Not if all are purged.
    pub thorough: bool,
    /// Nothing goes but what this dry run told of, in the version that it saw.
    pub only: Option<&'a Report>,
    /// How long to wait for another cleanup.
    pub wait: Wait,
    /// Ends the cleanup early, between two items.
    pub stop: Option<&'a AtomicBool>,
    /// The session of the process that cleans, for the audit log.
    pub session: Option<&'a SessionId>,
    /// Why it is done, for the audit.
    pub reason: Option<&'a str>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            keep_in_trash: true,
            dry_run: false,
            thorough: false,
            only: None,
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
        holder,
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
            damaged: Vec::new(),
            stray_files: 0,
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
    holder: &'a Holder,
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

impl<'a> Run<'a> {
    fn all(&mut self, progress: &mut dyn FnMut(Progress)) {
        let plan = self.plan;
        let discards = plan.discards.iter().map(Step::Discard);
        let steps: Vec<Step> = discards.chain(plan.removals.iter().map(Step::Remove)).collect();
        let mut counter = Counter { done: 0, total: steps.len(), progress };
        for chunk in steps.chunks(BATCH) {
            self.chunk(chunk, &mut counter);
            if self.report.stopped {
                return;
            }
            if !self.options.dry_run && self.untold() >= BATCH {
                self.tell(false);
            }
        }
        if is_stopped(self.options.stop) {
            self.report.stopped = true;
            return;
        }
        let Some(files) = self.backend.files() else { return };
        match files.remove_stray_files(plan.now, self.options.dry_run) {
            Ok(stray_files) => self.report.stray_files = stray_files,
            Err(error) => self.report.failed.push(Failed { item: Item::StrayFiles, error }),
        }
    }

    /// Removes some items. One whose reply was lost is removed again: it is removed only if it is
    /// still the version of the plan, so that does no harm, and if it is gone it was removed.
    fn chunk(&mut self, steps: &[Step<'a>], counter: &mut Counter<'_>) {
        let mut left: Vec<&Step> = Vec::new();
        for step in steps {
            match self.open_elsewhere(step) {
                Some(holders) => {
                    self.skip(step.item(), Skip::Elsewhere(holders));
                    counter.step(&self.report);
                }
                None => left.push(step),
            }
        }
        for attempt in 1..=ATTEMPTS {
            if left.is_empty() || self.report.stopped {
                return;
            }
            let (batch, keep) = (std::mem::take(&mut left), self.keep);
            let (backend, options) = (self.backend, self.options);
            let removals: Vec<_> = batch.iter().map(|step| step.removal(keep)).collect();
            let mut done = |number: usize, result: Result<()>| {
                let step = batch[number];
                match result {
                    Err(Error::UnknownOutcome(_)) if attempt < ATTEMPTS => left.push(step),
                    result => {
                        self.note(step, result, attempt > 1);
                        counter.step(&self.report);
                    }
                }
                if is_stopped(options.stop) {
                    return ControlFlow::Break(());
                }
                ControlFlow::Continue(())
            };
            if is_stopped(options.stop) {
                self.report.stopped = true;
            } else if options.dry_run {
                let _ended = (0..removals.len()).try_for_each(|number| done(number, Ok(())));
            } else {
                backend.remove(&removals, &mut done);
            }
        }
    }

    /// The holders of a session on other machines whose locks cannot be seen here.
    fn open_elsewhere(&self, step: &Step) -> Option<Vec<Holder>> {
        let Step::Remove(removal) = step else { return None };
        let holders = self.backend.files()?.foreign_holders(&removal.id, &self.who.host);
        holders.ok().filter(|holders| !holders.is_empty())
    }

    /// Puts into the report how a removal ended; `again` if it was tried before.
    fn note(&mut self, step: &Step, result: Result<()>, again: bool) {
        let result = match result {
            Err(Error::NotFound(_) | Error::ArchiveNotFound(_)) if again => Ok(()),
            result => result,
        };
        let report = &mut self.report;
        match (result, step) {
            (Ok(()), Step::Discard(discard)) => {
                report.bytes_freed = report.bytes_freed.saturating_add(discard.size);
                report.discarded.push((*discard).clone());
            }
            (Ok(()), Step::Remove(removal)) => {
                let bytes =
                    if self.keep { &mut report.bytes_trashed } else { &mut report.bytes_freed };
                *bytes = bytes.saturating_add(removal.size);
                report.removed.push((*removal).clone());
            }
            (Err(error), step) => match error {
                Error::Busy { holders, .. } => self.skip(step.item(), Skip::InUse(holders)),
                Error::Orphaned { .. } => self.skip(step.item(), Skip::InUse(Vec::new())),
                Error::Changed(_) => self.skip(step.item(), Skip::Changed),
                Error::NotFound(_) | Error::ArchiveNotFound(_) => {
                    self.skip(step.item(), Skip::Gone);
                }
                error => report.failed.push(Failed { item: step.item(), error }),
            },
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
                "stray_files": report.stray_files,
                "bytes_freed": report.bytes_freed,
                "bytes_trashed": report.bytes_trashed,
                "leap": report.leap,
                "stopped": report.stopped,
            })
        } else {
            Value::Null
        };
        if let Err(error) = self.backend.audit(self.holder, &event)
            && !self.report.warnings.iter().any(|it| matches!(it, Warning::NotAudited(_)))
        {
            self.report.warnings.push(Warning::NotAudited(error));
        }
    }
}

/// One item of a plan.
enum Step<'a> {
    Discard(&'a Discard),
    Remove(&'a Removal),
}

impl Step<'_> {
    fn item(&self) -> Item {
        match self {
            Self::Discard(discard) => Item::Archived(discard.kind, discard.name.clone()),
            Self::Remove(removal) => Item::Session(removal.id.clone()),
        }
    }

    fn removal(&self, keep: bool) -> backend::Removal<'_> {
        match self {
            Self::Discard(discard) => backend::Removal {
                what: Stored::Archived(discard.kind, &discard.name),
                expected: None,
                keep: false,
            },
            Self::Remove(removal) => backend::Removal {
                what: Stored::Session(&removal.id),
                expected: Some(removal.stamp),
                keep,
            },
        }
    }
}

/// Counts for the caller.
struct Counter<'a> {
    done: usize,
    total: usize,
    progress: &'a mut dyn FnMut(Progress),
}

impl Counter<'_> {
    fn step(&mut self, report: &Report) {
        self.done += 1;
        let bytes = report.bytes_freed.saturating_add(report.bytes_trashed);
        let stage = Stage::Removing;
        (self.progress)(Progress { stage, done: self.done, total: self.total, bytes });
    }
}
