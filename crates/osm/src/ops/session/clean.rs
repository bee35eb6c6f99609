//! Retention, carried out by a command.

use osm_identity::System;
use osm_store::cleanup::{Cleaner, Options, Report, Skip};
use osm_store::retention::Mode;

use super::tally::question;
use super::{Consent, SessionError, warn_of_skipped};
use crate::interaction::{Interaction, confirm};
use crate::invocation::Invocation;

/// How much to remove.
#[derive(Clone, Copy, Debug)]
pub struct CleanRequest {
    /// What the limits no longer allow, or every session that is not in use.
    pub mode: Mode,
    /// Whether to ask.
    pub consent: Consent,
}

/// Removes sessions. Before it asks, it says what would go, and removes nothing else then.
pub fn clean(
    invocation: &Invocation,
    request: &CleanRequest,
    interaction: &mut dyn Interaction,
) -> Result<Report, SessionError> {
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
    let mut shown = None;
    if !yes && !dry_run {
        let options = Options { dry_run: true, ..Options::default() };
        let would = cleaner.clean_up(request.mode, &options, &mut |_| {})?;
        // Stray files of crashed processes are nothing to ask about.
        if !would.removed.is_empty() || !would.discarded.is_empty() {
            confirm(false, &question(&would), interaction)?;
        }
        shown = Some(would);
    }
    let options = Options { dry_run, only: shown.as_ref(), ..Options::default() };
    let report = cleaner.clean_up(request.mode, &options, &mut |it| {
        interaction.progress(it.done, it.total);
    })?;
    let elsewhere = report.skipped.iter().find_map(|it| match &it.why {
        Skip::Elsewhere(holders) => holders.first(),
        _ => None,
    });
    if let Some(holder) = elsewhere {
        warn_of_skipped(holder, interaction);
    }
    Ok(report)
}
