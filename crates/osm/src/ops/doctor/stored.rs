//! What osm has stored: the configuration, sessions, their locks, the ledger, and what it could import.

use std::fs;

use osm_claims::SqliteLedger;
use osm_store::backend::Holder;

use super::{Finding, Repair, word};
use crate::error::Failure as _;
use crate::interaction::Silence;
use crate::invocation::{Invocation, StoreName};
use crate::ops::claim::{self, RepairRequest};
use crate::ops::session::{self, ListRequest, SessionError};

/// How many of a kind are named one by one.
const MOST: usize = 5;
/// How many sessions of the upstream tool are looked at, and how large each may be.
const MOST_UPSTREAM: usize = 100;
const LARGEST_UPSTREAM: u64 = 4 << 20;

pub(super) fn config(invocation: &Invocation) -> Vec<Finding> {
    let problem = |what: &String| {
        Finding::problem(what, "osm uses the default of this setting").fix("osm config validate")
    };
    invocation.problems().iter().map(problem).collect()
}

pub(super) fn sessions(invocation: &Invocation) -> Vec<Finding> {
    let why = "osm cannot continue it";
    // What is wrong with the folder itself is another check's.
    if !invocation.home().is_ok_and(|home| home.is_dir()) {
        return Vec::new();
    }
    match session::list(invocation, &ListRequest::default()) {
        Ok(rows) => {
            let damaged: Vec<_> = rows.iter().filter(|row| row.is_damaged).collect();
            let finding = |row: &&session::Row| {
                Finding::problem(format!("session {} ({}) is damaged", row.handle, row.id), why)
                    .fix(format!("osm session reset {}, which keeps a copy", row.id))
            };
            let mut findings: Vec<Finding> = damaged.iter().take(MOST).map(finding).collect();
            if let Some(more) = damaged.len().checked_sub(MOST).filter(|more| *more > 0) {
                let what = format!("{more} more sessions are damaged");
                findings.push(Finding::problem(what, why).fix("osm session list"));
            }
            findings
        }
        Err(error) => {
            vec![Finding::problem(format!("cannot list sessions: {error}"), why).fix(hint(&error))]
        }
    }
}

/// What to do about an error of the store.
fn hint(error: &SessionError) -> String {
    error.hints().into_iter().next().unwrap_or_else(|| "osm session list".into())
}

pub(super) fn locks(invocation: &Invocation) -> Vec<Finding> {
    let Ok(store) = invocation.store() else { return Vec::new() };
    let backend = store.backend();
    let mut findings = Vec::new();
    let now = invocation.world.now();
    let stray = backend.files().and_then(|files| files.remove_stray_files(now, true).ok());
    if let Some(count) = stray.filter(|count| *count > 0) {
        let files = if count == 1 { "1 file is".into() } else { format!("{count} files are") };
        findings.push(
            Finding::problem(
                format!("{files} left in the store by crashed processes"),
                "they take space, and hide locks that matter",
            )
            .fix("osm doctor --fix")
            .safe(Repair::StrayFiles),
        );
    }
    let is_dead = |it: &Holder| it.process.liveness(invocation.world.processes).is_dead();
    for entry in store.list().unwrap_or_default().iter().filter(|it| it.active) {
        let holders = backend.holders(&entry.id).unwrap_or_default();
        if !holders.is_empty() && holders.iter().all(is_dead) {
            findings.push(
                Finding::problem(
                    format!("session {} is locked, and its holders are dead", entry.id.label()),
                    "a process that they started keeps the lock open, so the session cannot be removed",
                )
                .fix(format!("end that process; or: osm session reset --force {}", entry.id)),
            );
        }
    }
    findings
}

/// Removes what [`locks`] counted.
pub(super) fn remove_stray_files(invocation: &Invocation) -> Result<(), String> {
    let store = invocation.store().map_err(|error| error.to_string())?;
    let Some(files) = store.backend().files() else { return Ok(()) };
    let removed = files.remove_stray_files(invocation.world.now(), false);
    removed.map(drop).map_err(|error| error.to_string())
}

pub(super) fn ledger(invocation: &Invocation) -> Vec<Finding> {
    let why = "no session can claim anything";
    let folder = invocation.ledger_folder().ok().flatten();
    if !folder.is_some_and(|folder| SqliteLedger::file(&folder).exists()) {
        return Vec::new();
    }
    let look = RepairRequest { yes: false, dry_run: true };
    let damage = match claim::repair(invocation, look, &mut Silence) {
        Ok(repair) => repair.findings.and_then(|it| it.damage).map(|it| it.to_string()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(damage) = damage {
        let what = format!("the ledger of claims {}: {damage}", invocation.ledger_place());
        return vec![Finding::problem(what, why).fix("osm claim repair")];
    }
    // It is whole, and may still be refused.
    match claim::overview(invocation) {
        Err(error @ claim::Error::Ledger { .. }) => {
            let fix = error.hints().into_iter().next().unwrap_or_else(|| "osm claims".into());
            vec![Finding::problem(error.to_string(), why).fix(fix)]
        }
        _ => Vec::new(),
    }
}

/// Sessions that were not imported; those that cannot be read are no loss.
pub(super) fn upstream(invocation: &Invocation) -> Vec<Finding> {
    if invocation.store_name() != Ok(StoreName::Fs) {
        return Vec::new();
    }
    let (Some(found), Ok(store)) = (session::upstream_sessions(invocation), invocation.store())
    else {
        return Vec::new();
    };
    let is_new = |path: &&std::path::PathBuf| {
        let is_small = path.metadata().is_ok_and(|it| it.is_file() && it.len() <= LARGEST_UPSTREAM);
        let bytes = is_small.then(|| fs::read(path).ok()).flatten();
        let import = bytes.and_then(|it| store.read_import(it, &path.display().to_string()).ok());
        import.is_some_and(|import| !store.contains(import.id()).unwrap_or(true))
    };
    match found.files.iter().take(MOST_UPSTREAM).filter(is_new).count() {
        0 => Vec::new(),
        count => vec![
            Finding::notice(
                format!(
                    "sessions of the upstream tool are not imported ({count}): {}",
                    word(&found.folder)
                ),
                "osm does not see them",
            )
            .fix("osm session import --upstream"),
        ],
    }
}
