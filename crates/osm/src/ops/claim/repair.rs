//! `osm claim repair`: going on with a ledger that is damaged.

use std::path::PathBuf;
use std::sync::Arc;

use osm_claims::clock::SystemClock;
use osm_claims::repair::{self, Findings};
use osm_identity::System;

use super::Error;
use crate::interaction::{Interaction, confirm};
use crate::invocation::Invocation;

/// How to repair.
#[derive(Clone, Copy, Debug)]
pub struct RepairRequest {
    /// Do not ask.
    pub yes: bool,
    /// Only look.
    pub dry_run: bool,
}

/// What was found, and done.
#[derive(Debug)]
pub struct Repair {
    /// What was found; `None` if there is no ledger in a file.
    pub findings: Option<Findings>,
    /// The folder with the damaged files, if the ledger was repaired.
    pub copy: Option<PathBuf>,
}

/// Makes a ledger of what can be read of a damaged one, with higher epochs.
pub fn repair(
    invocation: &Invocation,
    request: RepairRequest,
    interaction: &mut dyn Interaction,
) -> Result<Repair, Error> {
    let Some(folder) = invocation.ledger_folder()?.filter(|it| it.exists()) else {
        return Ok(Repair { findings: None, copy: None });
    };
    let error = |error| Error::ledger(invocation, error);
    let clock = SystemClock::new(&System).map_err(osm_claims::Error::Processes);
    let clock = Arc::new(clock.map_err(error)?);
    let findings = repair::examine(&folder, Arc::clone(&clock) as _).map_err(error)?;
    if findings.damage.is_none() || request.dry_run {
        return Ok(Repair { findings: Some(findings), copy: None });
    }
    let held = match findings.claims.len() {
        0 => "No claim can be read".to_owned(),
        1 => "1 claim can be read and stays held".to_owned(),
        count => format!("{count} claims can be read and stay held"),
    };
    let question = format!(
        "{held}; all others are lost, and can be granted again. Repair {}?",
        invocation.ledger_place()
    );
    confirm(request.yes, &question, interaction)?;
    let repaired = repair::repair(&folder, clock).map_err(error)?;
    Ok(Repair { findings: Some(repaired.findings), copy: repaired.copy })
}
