//! Having claims: `claim`, `next`, `check`, `renew`, `release`.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;
use std::time::Duration;

use osm_claims::{Error, Outcome, Reason, Resource, Token, Wish};

use super::desk::{Answer, Desk};
use super::report;
use crate::cli::{ClaimGrant, ClaimHeld, Release};
use crate::error::{CommandError, Exit};
use crate::render::Ui;

pub(super) fn claim(desk: &Desk, name: &OsStr, grant: &ClaimGrant, ui: &mut Ui) -> Answer {
    let resource = Desk::resource(name)?;
    // Whoever lost it may ask for it again.
    if let Ok(Some(claim)) = desk.under(name, &resource) {
        report::claim(desk, &claim, "is yours already", ui);
        return Ok(());
    }
    let wish = desk.wish(grant, ui);
    let outcome = waiting(desk, grant, || desk.claims.claim(&desk.asker, &resource, &wish))?;
    if grant.note.is_some() && outcome.claim.note != grant.note {
        ui.warn("the claim keeps the note that it has");
    }
    report::outcome(desk, &outcome, ui);
    report::resumable(desk, ui);
    Ok(())
}

pub(super) fn next(
    desk: &Desk,
    candidates: &[OsString],
    from: Option<&Path>,
    grant: &ClaimGrant,
    ui: &mut Ui,
) -> Answer {
    let mut resources =
        candidates.iter().map(|it| Desk::resource(it)).collect::<Result<Vec<_>, _>>()?;
    if let Some(file) = from {
        resources.extend(listed(file)?);
    }
    let wish = desk.wish(grant, ui);
    let outcome = waiting(desk, grant, || desk.claims.next(&desk.asker, &resources, &wish))?;
    report::outcome(desk, &outcome, ui);
    report::resumable(desk, ui);
    Ok(())
}

/// The most that a list of candidates may have.
const MOST_BYTES: u64 = 256 << 20;

/// The candidates in a file, one each line.
fn listed(file: &Path) -> Result<Vec<Resource>, CommandError> {
    let error = |error: std::io::Error| {
        CommandError::failed(format!(
            "the candidates in {} cannot be read: {error}",
            file.display()
        ))
    };
    let mut text = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut text).map_err(error)?;
    } else {
        let open = std::fs::File::open(file).map_err(error)?;
        open.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(error)?;
    }
    if text.len() as u64 > MOST_BYTES {
        return Err(error(std::io::Error::other("it has more than 256 MB")));
    }
    let lines =
        text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines
        .zip(1..)
        .filter(|(line, _)| !line.is_empty())
        .map(|(line, number)| {
            Resource::new(line).map_err(|error| {
                let file = file.display();
                CommandError::failed(format!("{file}, line {number}: {error}")).exiting(Exit::Usage)
            })
        })
        .collect()
}

pub(super) fn check(desk: &Desk, held: &ClaimHeld, ui: &mut Ui) -> Answer {
    let resource = Desk::resource(&held.resource)?;
    let claim = desk.claims.check(&desk.asker, &resource, token(desk, held))?;
    report::claim(desk, &claim, "is yours", ui);
    Ok(())
}

pub(super) fn renew(desk: &Desk, held: &ClaimHeld, ttl: Option<Duration>, ui: &mut Ui) -> Answer {
    let resource = Desk::resource(&held.resource)?;
    desk.mention_term(ttl, ui);
    let wish = Wish { term: ttl, ..Wish::default() };
    let outcome = desk.claims.renew(&desk.asker, &resource, token(desk, held), &wish)?;
    report::outcome(desk, &outcome, ui);
    Ok(())
}

pub(super) fn release(desk: &Desk, line: &Release, ui: &mut Ui) -> Answer {
    let resources: Vec<(Resource, Option<Token>)> = if line.all {
        let held = desk.claims.list(&desk.asker, false)?;
        held.into_iter().filter(|it| it.is_mine).map(|it| (it.claim.resource, None)).collect()
    } else {
        let named =
            |name: &OsString| Ok((Desk::resource(name)?, line.epoch.or_else(|| desk.given(name))));
        line.resources.iter().map(named).collect::<Result<_, CommandError>>()?
    };
    let mut failed = None;
    let mut outcomes = Vec::new();
    for (resource, token) in &resources {
        match desk.claims.release(&desk.asker, resource, *token, line.done) {
            Ok(outcome) => outcomes.push(outcome),
            // The others are let go all the same; the first refusal is told.
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    report::several(desk, "released", &outcomes, failed, ui)
}

/// The epoch that was named, or the one that `osm claim run` gave this command.
pub(super) fn token(desk: &Desk, held: &ClaimHeld) -> Option<Token> {
    held.epoch.or_else(|| desk.given(&held.resource))
}

/// Tries, and tries again while there is time.
pub(super) fn waiting(
    desk: &Desk,
    grant: &ClaimGrant,
    attempt: impl FnMut() -> Result<Outcome, Error>,
) -> Result<Outcome, Error> {
    let mut attempt = attempt;
    match grant.wait {
        Some(time) => desk.claims.wait(time, attempt),
        None => attempt(),
    }
}

/// Whether a refusal means that somebody else came first, and there is no need to stop.
pub(super) fn is_gone(error: &Error) -> bool {
    error.refusal().is_some_and(|it| matches!(it.reason, Reason::NotHeld | Reason::Stale))
}
