//! `osm claim …`, `osm release`, `osm claims`: arguments to requests, results to text or JSON.

mod log;
mod repair;
mod sweep;
mod text;
mod verbs;

use std::ffi::{OsStr, OsString};

use clap::Subcommand;
use osm_claims::rules::Change;
use osm_claims::{Mode, Resource};
use serde_json::json;

use crate::cli::{
    Claim, ClaimCommand, ClaimGrant, ClaimHeld, ClaimList, ClaimPlace, Guard, Release,
};
use crate::documents::claim as documents;
use crate::error::{CommandError, Exit, Failure};
use crate::invocation::Invocation;
use crate::ops::claim::{
    self as ops, Batch, ClaimAllRequest, ClaimRequest, Claimed, Error, GrantOptions, HeldRequest,
    NextRequest, OfferRequest, ReleaseRequest, Resources, ResumeRequest, RunRequest, Source,
    TakeRequest, Taken, WorkList, guard, tell_notices as notices, tell_resumable as resumable,
    words,
};
use crate::ops::identity::name::handle_of;
use crate::render::Ui;

/// How commands about claims end.
type Answer = Result<(), CommandError>;

pub(super) fn run(line: &Claim, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let Some(command) = &line.command else {
        return claim(line, invocation, ui);
    };
    match command {
        ClaimCommand::Next { candidates, from, from_command, field, grant, place } => {
            let mut candidates = resources(candidates, place, invocation)?;
            let source = from.clone().map(Source::File);
            let source = source.or_else(|| from_command.clone().map(Source::Command));
            let list = source.map(|source| WorkList { source, field: field.clone() });
            let list = match list {
                None if candidates.is_empty() => Some(ops::configured(invocation)?),
                list => list,
            };
            let (options, scope) = (options(grant), place.scope.clone());
            if let Some(list) = list {
                candidates.extend(ops::candidates(invocation, &list, scope.as_deref(), ui)?);
            }
            let request = NextRequest { candidates, options, scope };
            let answer = ops::next(invocation, &request, ui);
            claimed(answer, true, place.format.json, invocation, ui).map(drop)
        }
        ClaimCommand::Path { paths, shared, everywhere, grant, place } => {
            let (shared, everywhere) = (*shared, *everywhere);
            let mode = Mode { shared, everywhere, automatic: false };
            let options = GrantOptions { mode, ..options(grant) };
            claim_paths(paths, options, place, invocation, ui)
        }
        ClaimCommand::Check(line) => check(line, invocation, ui),
        ClaimCommand::Renew { held: line, ttl } => {
            let answer = ops::renew(invocation, &held(line, invocation)?, *ttl, ui);
            claimed(answer, false, line.place.format.json, invocation, ui).map(drop)
        }
        ClaimCommand::Note { held: line, text } => {
            let answer = ops::note(invocation, &held(line, invocation)?, text, ui);
            claimed(answer, false, line.place.format.json, invocation, ui).map(drop)
        }
        ClaimCommand::Run { resource: name, grant, place, command } => {
            let (resource, scope) = (resource(name, place, invocation)?, place.scope.clone());
            let (options, command) = (options(grant), command.clone());
            let request = RunRequest { resource, options, command, scope };
            let ran =
                finish(ops::run(invocation, &request, ui), place.format.json, invocation, ui)?;
            notices(&ran.notices, invocation, ui);
            match ran.code {
                0 => Ok(()),
                code => Err(CommandError::Told(Exit::Command(code))),
            }
        }
        ClaimCommand::Handoff { held: line, to, cancel: _, term, note } => {
            let (to, term, note) = (to.clone(), *term, note.clone());
            let request = OfferRequest { held: held(line, invocation)?, to, term, note };
            offer(&request, line.place.format.json, invocation, ui)
        }
        ClaimCommand::Accept { resource: name, grant, place } => {
            let (resource, scope) = (resource(name, place, invocation)?, place.scope.clone());
            let request = ClaimRequest { resource, options: options(grant), scope };
            accept(&request, place.format.json, invocation, ui)
        }
        ClaimCommand::Resume { resources, place } => resume(resources, place, invocation, ui),
        ClaimCommand::Take { resource: name, reason, even_if_alive, dry_run, place } => {
            let request = TakeRequest {
                resource: resource(name, place, invocation)?,
                reason: reason.clone(),
                even_if_alive: *even_if_alive,
                dry_run: *dry_run,
                scope: place.scope.clone(),
            };
            take(&request, place.format.json, invocation, ui)
        }
        ClaimCommand::Mine { place } => mine(place, invocation, ui),
        ClaimCommand::Why { resource, place } => why(resource, place, invocation, ui),
        ClaimCommand::Log { .. } => log::run(command, invocation, ui),
        ClaimCommand::Sweep { all, dry_run, place } => {
            sweep::run(place, *all, *dry_run, invocation, ui)
        }
        ClaimCommand::Repair { sure, format } => repair::run(*sure, *format, invocation, ui),
        ClaimCommand::Guard(command) => guard(command, invocation, ui),
    }
}

/// Renews the leases of a session.
pub(super) fn keep(invocation: &Invocation) -> Answer {
    Ok(ops::keep(invocation)?)
}

/// Claims all resources of a line, or none.
fn claim(line: &Claim, invocation: &Invocation, ui: &mut Ui) -> Answer {
    are_no_commands(&line.resources, invocation)?;
    let resources = resources(&line.resources, &line.place, invocation)?;
    claim_all(resources, options(&line.grant), &line.place, invocation, ui)
}

/// Claims all paths of a line, or none.
fn claim_paths(
    paths: &[OsString],
    options: GrantOptions,
    place: &ClaimPlace,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Answer {
    let scope = place.scope.as_deref();
    let resource = |it: &OsString| ops::path_resource(invocation, it, scope);
    let resources = paths.iter().map(resource).collect::<Result<Vec<_>, _>>()?;
    claim_all(resources, options, place, invocation, ui)
}

fn claim_all(
    resources: Vec<Resource>,
    options: GrantOptions,
    place: &ClaimPlace,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Answer {
    let (scope, json) = (place.scope.clone(), place.format.json);
    if resources.len() > 1 && options.request_id.is_some() {
        let message = "--request is for one resource: a request id is answered with one claim";
        return Err(CommandError::failed("usage", message).exiting(Exit::Usage));
    }
    let request = ClaimAllRequest { resources, options, scope };
    let all = finish(ops::claim_all(invocation, &request, ui), json, invocation, ui)?;
    let told = all.last().map(|it| it.outcome.notices.clone()).unwrap_or_default();
    if json {
        ui.json(&documents::claimed_all(&all));
    } else {
        for one in &all {
            text::outcome(one, ui);
        }
    }
    resumable(&told, invocation, ui);
    Ok(())
}

/// Behind an option the parser takes a command for a resource, and it knows no verbs of other tools.
/// A resource of such a name needs `--`.
fn are_no_commands(words: &[OsString], invocation: &Invocation) -> Result<(), CommandError> {
    if invocation.world.arguments.iter().any(|word| word == "--") {
        return Ok(());
    }
    for (place, name) in words.iter().enumerate() {
        let Some(name) = name.to_str() else { continue };
        let (message, meant) = if ClaimCommand::has_subcommand(name) {
            (format!("`{name}` is a command: write it first"), format!("osm claim {name} …"))
        } else if let Some(meant) = verbs::meant(name, place == 0 && words.len() > 1) {
            (format!("`{name}` is not a command of `osm claim`"), meant.to_owned())
        } else {
            continue;
        };
        return Err(CommandError::failed("usage", message)
            .with_hint(format!("{meant}; a resource of that name: osm claim -- {name}"))
            .exiting(Exit::Usage));
    }
    Ok(())
}

pub(super) fn release(line: &Release, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let named = || resources(&line.resources, &line.place, invocation);
    let request = ReleaseRequest {
        resources: if line.all { Resources::All } else { Resources::Named(named()?) },
        epoch: line.epoch,
        done: line.done,
        scope: line.place.scope.clone(),
    };
    let json = line.place.format.json;
    let batch = finish(ops::release(invocation, &request, ui), json, invocation, ui)?;
    several(batch, "released", json, invocation, ui)
}

pub(super) fn list(line: &ClaimList, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let (scope, json) = (line.place.scope.as_deref(), line.place.format.json);
    let look = if line.done { ops::done } else { ops::list };
    let list = finish(look(invocation, scope, line.all, ui), json, invocation, ui)?;
    if json {
        ui.json(&documents::list(&list));
    } else if list.claims.is_empty() {
        let name = list.scope.name();
        let place = if line.all { "in any scope".to_owned() } else { format!("in {name}") };
        let what = if line.done { "no finished work" } else { "no open claims" };
        text::line(ui, &format!("{what} {place}"));
    } else if line.done {
        text::done(&list.claims, line.all, invocation.world.now(), ui);
    } else {
        text::table(&list.claims, line.all, invocation.world.now(), ui);
    }
    if let (Some(server), false) = (&list.server, json) {
        text::shared(list.scope.shared.as_ref().filter(|_| !line.all), server, ui);
    }
    notices(&list.notices, invocation, ui);
    Ok(())
}

fn offer(request: &OfferRequest, json: bool, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let offered = claimed(ops::offer(invocation, request, ui), false, json, invocation, ui)?;
    if let (Some(offer), false) = (&offered.outcome.claim.offer, json) {
        let (name, to) = (words::quoted(&request.held.resource), handle_of(&offer.to));
        text::line(ui, &format!("  {to} accepts it with: osm claim accept {name}"));
    }
    Ok(())
}

fn accept(request: &ClaimRequest, json: bool, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let accepted = claimed(ops::accept(invocation, request, ui), false, json, invocation, ui)?;
    let offer = accepted.outcome.ended.as_ref().and_then(|it| it.offer.as_ref());
    if let (Some(note), false) = (offer.and_then(|it| it.note.as_deref()), json) {
        text::line(ui, &format!("  note: {note}"));
    }
    Ok(())
}

fn resume(names: &[OsString], place: &ClaimPlace, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let resources = resources(names, place, invocation)?;
    let request = ResumeRequest { resources, scope: place.scope.clone() };
    let json = place.format.json;
    let batch = finish(ops::resume(invocation, &request, ui), json, invocation, ui)?;
    if batch.outcomes.is_empty() && batch.failed.is_none() && !json {
        ui.line("this session has no claims to resume");
    }
    several(batch, "resumed", json, invocation, ui)
}

fn mine(place: &ClaimPlace, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let answer = ops::mine(invocation, place.scope.as_deref(), ui);
    let mine = finish(answer, place.format.json, invocation, ui)?;
    if place.format.json {
        ui.json(&documents::mine(&mine));
    } else {
        text::mine(&mine, invocation.world.now(), ui);
    }
    notices(&mine.notices, invocation, ui);
    Ok(())
}

fn why(name: &OsStr, place: &ClaimPlace, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let resource = resource(name, place, invocation)?;
    let answer = ops::why(invocation, place.scope.as_deref(), &resource, ui);
    let status = finish(answer, place.format.json, invocation, ui)?;
    if place.format.json {
        ui.json(&documents::status(&resource, &status));
    } else {
        text::status(&status, &resource.to_string(), ui);
    }
    notices(&status.notices, invocation, ui);
    Ok(())
}

fn check(line: &ClaimHeld, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let checked = finish(
        ops::check(invocation, &held(line, invocation)?, ui),
        line.place.format.json,
        invocation,
        ui,
    )?;
    if line.place.format.json {
        ui.json(&documents::checked(&checked));
    } else {
        text::claim(&checked.claim, "is yours", ui);
    }
    notices(&checked.notices, invocation, ui);
    Ok(())
}

fn take(request: &TakeRequest, json: bool, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let answer = ops::take(invocation, request, ui);
    match finish(answer, json, invocation, ui)? {
        Taken::Done(taken) => claimed(Ok(*taken), false, json, invocation, ui).map(drop),
        Taken::Preview { claim, change, notices: told } => {
            let resource = &request.resource;
            if json {
                ui.json(&json!({
                    "dry_run": true,
                    "would_take": matches!(change, Change::Grant(_)),
                    "overrides": claim.as_deref().map(documents::row),
                }));
            } else {
                text::line(
                    ui,
                    &match (change, claim) {
                        (Change::Grant(_), Some(claim)) => {
                            format!("{resource} would be taken: {}", words::fate(&claim))
                        }
                        (Change::Grant(_), None) => {
                            format!("{resource} would be claimed: it is free")
                        }
                        _ => format!("{resource} is yours already"),
                    },
                );
            }
            notices(&told, invocation, ui);
            Ok(())
        }
    }
}

fn guard(command: &Guard, invocation: &Invocation, ui: &mut Ui) -> Answer {
    let hooks = match command {
        Guard::Install { require } => guard::install(invocation, *require)?,
        Guard::Remove => guard::remove(invocation)?,
        Guard::Committed { format } => {
            let released = finish(guard::committed(invocation), format.json, invocation, ui)?;
            if format.json {
                ui.json(&released);
            }
            for resource in released.iter().filter(|_| !format.json) {
                text::line(ui, &format!("{resource} is released: the last commit contains it"));
            }
            return Ok(());
        }
        Guard::Check { require, staged, place } => {
            let (require, staged, scope) = (*require, *staged, place.scope.clone());
            let request = guard::CheckRequest { require, staged, scope };
            let answer = guard::check(invocation, &request, ui);
            let told = finish(answer, place.format.json, invocation, ui)?;
            notices(&told, invocation, ui);
            return Ok(());
        }
    };
    for hook in hooks {
        text::line(ui, &format!("{}: {}", hook.path.display(), hook.state));
    }
    Ok(())
}

/// Shows what a request for a claim got.
fn claimed(
    answer: Result<Claimed, Error>,
    with_resumable: bool,
    json: bool,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<Claimed, CommandError> {
    let claimed = finish(answer, json, invocation, ui)?;
    if json {
        ui.json(&documents::claimed(&claimed));
    } else {
        text::outcome(&claimed, ui);
    }
    let told = &claimed.outcome.notices;
    if with_resumable {
        resumable(told, invocation, ui);
    } else {
        notices(told, invocation, ui);
    }
    Ok(claimed)
}

/// Shows what was done to several claims, and the first refusal: one document for programs.
fn several(batch: Batch, done: &str, json: bool, invocation: &Invocation, ui: &mut Ui) -> Answer {
    notices(&batch.notices, invocation, ui);
    if !json {
        for outcome in &batch.outcomes {
            text::outcome(outcome, ui);
        }
    } else if let Some(document) = documents::batch(&batch, done) {
        ui.json(&document);
        let refusal = batch.failed.as_ref().and_then(Error::refusal);
        return refusal.map_or(Ok(()), |it| Err(CommandError::Told(Exit::Claim(it.reason))));
    }
    batch.failed.map_or(Ok(()), |error| Err(error.into()))
}

/// The result of an operation. A refusal is a document, too, for programs.
pub(super) fn finish<T>(
    answer: Result<T, Error>,
    json: bool,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<T, CommandError> {
    let error = match answer {
        Ok(result) => return Ok(result),
        Err(error) => error,
    };
    if let Some(refused) = error.refusal() {
        notices(&refused.notices, invocation, ui);
    }
    match documents::refusal(&error).filter(|_| json) {
        Some(document) => {
            ui.json(&document);
            Err(CommandError::Told(error.exit()))
        }
        None => Err(error.into()),
    }
}

fn resource(
    word: &OsStr,
    place: &ClaimPlace,
    invocation: &Invocation,
) -> Result<Resource, CommandError> {
    Ok(ops::resource(invocation, word, place.scope.as_deref())?)
}

fn resources(
    words: &[OsString],
    place: &ClaimPlace,
    invocation: &Invocation,
) -> Result<Vec<Resource>, CommandError> {
    words.iter().map(|it| resource(it, place, invocation)).collect()
}

fn options(line: &ClaimGrant) -> GrantOptions {
    GrantOptions {
        wait: line.wait,
        ttl: line.ttl,
        note: line.note.clone(),
        request_id: line.request.clone(),
        reopen: line.reopen,
        mode: Mode::default(),
    }
}

fn held(line: &ClaimHeld, invocation: &Invocation) -> Result<HeldRequest, CommandError> {
    let resource = resource(&line.resource, &line.place, invocation)?;
    let scope = line.place.scope.clone();
    Ok(HeldRequest { resource, epoch: line.epoch, scope })
}
