//! `osm claim …`, `osm release`, `osm claims`: one file for each thing that can be done.

mod desk;
mod grant;
mod guard;
mod hand;
mod log;
mod look;
mod report;
mod run;
mod sweep;

use std::ffi::OsStr;

use clap::Subcommand;

use self::desk::Desk;
use crate::cli::{Claim, ClaimCommand, ClaimList, Release};
use crate::error::{CommandError, Exit};
use crate::invocation::Invocation;
use crate::render::Ui;

pub(super) fn run(line: &Claim, invocation: &Invocation, ui: &mut Ui) -> Result<(), CommandError> {
    let Some(command) = &line.command else {
        let resource = line.resource.as_deref().expect("the parser requires it");
        is_no_command(resource, invocation)?;
        let desk = Desk::open(&line.place, invocation, ui)?;
        return desk.close(grant::claim(&desk, resource, &line.grant, ui), ui);
    };
    let mut at = |place| Desk::open(place, invocation, ui);
    match command {
        ClaimCommand::Next { candidates, from, grant, place } => {
            let desk = at(place)?;
            desk.close(grant::next(&desk, candidates, from.as_deref(), grant, ui), ui)
        }
        ClaimCommand::Check(held) => {
            let desk = at(&held.place)?;
            desk.close(grant::check(&desk, held, ui), ui)
        }
        ClaimCommand::Renew { held, ttl } => {
            let desk = at(&held.place)?;
            desk.close(grant::renew(&desk, held, *ttl, ui), ui)
        }
        ClaimCommand::Run { resource, grant, place, command } => {
            let desk = at(place)?;
            desk.close(run::run(&desk, resource, grant, command, ui), ui)
        }
        ClaimCommand::Handoff { held, to, cancel: _, term, note } => {
            let desk = at(&held.place)?;
            desk.close(hand::offer(&desk, held, to.as_deref(), *term, note.clone(), ui), ui)
        }
        ClaimCommand::Accept { resource, grant, place } => {
            let desk = at(place)?;
            desk.close(hand::accept(&desk, resource, grant, ui), ui)
        }
        ClaimCommand::Resume { resources, place } => {
            let desk = at(place)?;
            desk.close(hand::resume(&desk, resources, ui), ui)
        }
        ClaimCommand::Take { resource, reason, even_if_alive, dry_run, place } => {
            let desk = at(place)?;
            let take = hand::Take { reason, even_if_alive: *even_if_alive, dry_run: *dry_run };
            desk.close(hand::take(&desk, resource, &take, ui), ui)
        }
        ClaimCommand::Mine { place } => {
            let desk = Desk::open_for(true, place, invocation, ui)?;
            desk.close(look::mine(&desk, ui), ui)
        }
        ClaimCommand::Why { resource, place } => {
            let desk = at(place)?;
            desk.close(look::why(&desk, resource, ui), ui)
        }
        ClaimCommand::Log { place, all, .. } => {
            let desk = Desk::open_for(*all, place, invocation, ui)?;
            desk.close(log::run(&desk, command, ui), ui)
        }
        ClaimCommand::Sweep { all, dry_run, place } => {
            let desk = Desk::open_for(*all, place, invocation, ui)?;
            desk.close(sweep::run(&desk, *all, *dry_run, ui), ui)
        }
        ClaimCommand::Guard(command) => guard::run(command, invocation, ui),
    }
}

/// Behind an option the parser takes a command for a resource. Nobody means that, unless `--` is
/// before it.
fn is_no_command(resource: &OsStr, invocation: &Invocation) -> Result<(), CommandError> {
    let Some(name) = resource.to_str().filter(|it| ClaimCommand::has_subcommand(it)) else {
        return Ok(());
    };
    if invocation.world.arguments.iter().any(|word| word == "--") {
        return Ok(());
    }
    Err(CommandError::failed(format!("`{name}` is a command, which comes before its options"))
        .with_hint(format!("osm claim {name} …; a resource of that name: osm claim -- {name}"))
        .exiting(Exit::Usage))
}

pub(super) fn release(
    line: &Release,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let desk = Desk::open(&line.place, invocation, ui)?;
    desk.close(grant::release(&desk, line, ui), ui)
}

pub(super) fn list(
    line: &ClaimList,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let desk = Desk::open_for(line.all, &line.place, invocation, ui)?;
    desk.close(look::list(&desk, line.all, ui), ui)
}
