//! Retention, carried out by a command.

use osm_identity::System;
use osm_store::cleanup::{self, Cleaner, Options, Report, Skip, Stage};
use osm_store::retention::Mode;

use super::tally::question;
use super::{Consent, SessionError, warn_of_skipped};
use crate::interaction::{Interaction, Interrupted, Progress, confirm};
use crate::invocation::Invocation;

/// How much to remove.
#[derive(Clone, Copy, Debug)]
pub struct CleanRequest {
    /// What the limits no longer allow, or every session that is not in use.
    pub mode: Mode,
    /// Whether to ask.
    pub consent: Consent,
}

/// What became of a cleanup.
#[derive(Debug)]
pub struct Cleaned {
    /// What was removed, or would be.
    pub report: Report,
    /// The user stopped it before it was done.
    pub interrupted: Option<Interrupted>,
}

/// Removes sessions, and looks for damaged ones among those that stay. Before it asks, it says what
/// would go, and removes nothing else then.
pub fn clean(
    invocation: &Invocation,
    request: &CleanRequest,
    interaction: &mut dyn Interaction,
) -> Result<Cleaned, SessionError> {
    let store = invocation.store()?;
    let settings = &invocation.settings;
    let policy = match request.mode {
        // A purge applies no limit, so invalid limits do not prevent it.
        Mode::Purge => settings.policy(),
        Mode::Clean => settings.checked_policy()?,
    };
    let current = [invocation.session_id().clone()];
    let holder = invocation.world.holder();
    let cleaner = Cleaner {
        backend: store.backend(),
        policy,
        holder: &holder,
        current: &current,
        processes: &System,
        uptime: &invocation.uptime(),
    };
    let Consent { yes, dry_run } = request.consent;
    let thorough = Options { dry_run, thorough: true, ..Options::default() };
    let cleaned = if yes || dry_run {
        run(&cleaner, request.mode, &thorough, interaction)?
    } else {
        let options = Options { dry_run: true, ..thorough };
        let Cleaned { report: would, interrupted } =
            run(&cleaner, request.mode, &options, interaction)?;
        interrupted.map_or(Ok(()), Err)?;
        // Stray files of crashed processes are nothing to ask about.
        if !would.removed.is_empty() || !would.discarded.is_empty() {
            confirm(false, &question(&would), interaction)?;
        }
        let options = Options { only: Some(&would), ..Options::default() };
        let mut cleaned = run(&cleaner, request.mode, &options, interaction)?;
        cleaned.report.damaged = would.damaged;
        cleaned
    };
    let elsewhere = cleaned.report.skipped.iter().find_map(|it| match &it.why {
        Skip::Elsewhere(holders) => holders.first(),
        _ => None,
    });
    if let Some(holder) = elsewhere {
        warn_of_skipped(holder, interaction);
    }
    Ok(cleaned)
}

/// Runs a cleanup that the front end shows and the user can stop.
fn run(
    cleaner: &Cleaner,
    mode: Mode,
    options: &Options,
    interaction: &mut dyn Interaction,
) -> Result<Cleaned, SessionError> {
    let shown = interaction.begin("looking through sessions");
    let options = Options { stop: Some(shown.stop()), ..options.clone() };
    let report = cleaner.clean_up(mode, &options, &mut |it| show(it, &shown));
    let interrupted = shown.go_on().err();
    drop(shown);
    let report = match (report, interrupted) {
        // It gave up waiting for another cleanup.
        (Err(osm_store::Error::CleanupRunning), Some(interrupted)) => {
            return Err(interrupted.into());
        }
        (report, _) => report?,
    };
    let interrupted = interrupted.filter(|_| report.stopped);
    Ok(Cleaned { report, interrupted })
}

fn show(at: cleanup::Progress, shown: &Progress) {
    let what = match at.stage {
        Stage::Checking => "checking sessions",
        Stage::Removing => "removing sessions and archives",
    };
    shown.count(what, at.done, Some(at.total));
}
