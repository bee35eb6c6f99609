//! `osm claim guard`: git refuses what is done with a claim that was lost.

mod hook;
mod script;
mod step;

use std::path::{Path, PathBuf};
use std::process::Command;

use osm_claims::rules::Standing;
use osm_claims::{End, Error, Reason, Refused, Scope};
use osm_identity::{ProcessSource, Repository, System};

use self::hook::{Hook, Plan};
use super::desk::Desk;
use crate::cli::{ClaimPlace, Guard};
use crate::error::{CommandError, Exit};
use crate::invocation::Invocation;
use crate::render::Ui;

/// The hooks that are guarded: before something becomes part of the history, here and elsewhere.
const HOOKS: [&str; 3] = ["pre-commit", "pre-merge-commit", "pre-push"];

pub(super) fn run(
    command: &Guard,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    match command {
        Guard::Install { require } => each(|hook| hook.install(*require), ui),
        Guard::Remove => each(Hook::remove, ui),
        Guard::Check { require, place } => check(*require, place, invocation, ui),
    }
}

fn each(
    plan: impl Fn(&Hook) -> Result<Plan, CommandError>,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let folder = hooks_folder()?;
    let hooks = HOOKS.map(|name| Hook { path: folder.join(name) });
    // If one hook is refused, none is changed.
    let plans = hooks.iter().map(plan).collect::<Result<Vec<_>, _>>()?;
    for (hook, plan) in hooks.iter().zip(&plans) {
        hook.carry_out(plan)?;
        ui.line(format!("{}: {}", hook.path.display(), plan.said));
    }
    Ok(())
}

/// Where git looks for hooks, which only git knows.
fn hooks_folder() -> Result<PathBuf, CommandError> {
    let failed = |what: &str| {
        CommandError::failed(format!("git does not tell where its hooks are: {what}"))
            .with_hint("run this inside a repository, with git installed")
    };
    let output = Command::new("git")
        .args(["rev-parse", "--path-format=absolute", "--git-path", "hooks"])
        .output()
        .map_err(|error| failed(&error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).trim_end()));
    }
    let mut line = output.stdout;
    line.pop_if(|last| *last == b'\n');
    Ok(path(line))
}

/// A path is bytes: as text it may be another one.
#[cfg(unix)]
fn path(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).trim_end().into()
}

/// What the hooks run.
fn check(
    require: bool,
    place: &ClaimPlace,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let desk = open(place, invocation, ui)?;
    desk.close(examine(&desk, require), ui)
}

/// The desk of the repository that git works on.
///
/// The folder that a hook runs in need not be in it: `git --git-dir=A --work-tree=B`.
fn open<'a>(
    place: &ClaimPlace,
    invocation: &'a Invocation<'a>,
    ui: &mut Ui,
) -> Result<Desk<'a>, CommandError> {
    let is_named = place.scope.is_some() || invocation.world.claim_scope().is_some();
    let Some(repository) = elsewhere(invocation).filter(|_| !is_named) else {
        return Desk::open(place, invocation, ui);
    };
    let boot = System.host().map(|host| host.boot).unwrap_or_default();
    // We may be in no repository at all.
    let mut desk = Desk::open_for(true, place, invocation, ui)?;
    desk.asker.scope = Scope::of(&repository, &boot);
    Ok(desk)
}

/// The repository that git names to its hooks, if it is not the one around us.
fn elsewhere(invocation: &Invocation) -> Option<Repository> {
    let git = invocation.world.environment.get("GIT_DIR").map(Path::new)?;
    let named = Repository::around(git)?;
    let here = invocation.world.folder().and_then(|folder| Repository::around(&folder));
    here.is_none_or(|here| here.common != named.common).then_some(named)
}

fn examine(desk: &Desk, require: bool) -> Result<(), CommandError> {
    let given = under(desk)?;
    let losses = match desk.claims.losses(&desk.asker, false) {
        // Whoever is nobody has lost nothing.
        Err(error) if error.refusal().is_some_and(|it| it.reason == Reason::NoIdentity) => {
            Vec::new()
        }
        losses => losses?,
    };
    let mut lost = losses.into_iter().map(|loss| (loss.claim, Reason::Stale));
    let mut mine = desk.claims.list(&desk.asker, false)?;
    mine.retain(|it| it.is_mine);
    // Nobody has taken them yet; but anybody may, and has a right to.
    let mut expired = mine
        .iter()
        .filter(|it| it.standing == Standing::Free(End::Expired))
        .map(|it| (it.claim.clone(), Reason::LeaseOver));
    if let Some((claim, reason)) = lost.next().or_else(|| expired.next()) {
        return Err(Error::from(Refused {
            resource: Some(claim.resource.clone()),
            claim: Some(Box::new(claim)),
            ..Refused::because(reason)
        })
        .into());
    }
    let holds = given || mine.iter().any(|it| !matches!(it.standing, Standing::Free(_)));
    if require && !holds {
        return Err(nothing_held(desk));
    }
    Ok(())
}

/// Whether git works under a claim of `osm claim run`; refused if that is over.
fn under(desk: &Desk) -> Result<bool, CommandError> {
    let Some((name, _)) = desk.invocation.world.given_claim() else { return Ok(false) };
    let Some(token) = desk.given(name) else { return Ok(false) };
    let resource = osm_claims::Resource::new(name.as_encoded_bytes())
        .map_err(|_| Error::from(Reason::UnknownEpoch))?;
    desk.claims.check(&desk.asker, &resource, Some(token))?;
    Ok(true)
}

/// That nothing is held at all: the words for one resource would not say what is meant.
fn nothing_held(desk: &Desk) -> CommandError {
    let reason = Reason::NotHeld;
    if desk.json {
        return Error::from(reason).into();
    }
    CommandError::failed(format!(
        "this session has claimed nothing in {}, and the guard requires it",
        desk.asker.scope.shown()
    ))
    .with_hint("claim what you work on, and try again: osm claim NAME")
    .exiting(Exit::Claim(reason))
}
