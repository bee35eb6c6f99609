//! `osm claim guard`: git refuses what is done with a claim that was lost.

mod hook;

use std::path::PathBuf;
use std::process::Command;

use osm_claims::{Error, Reason, Refused};

use self::hook::Hook;
use super::desk::Desk;
use crate::cli::{ClaimPlace, Guard};
use crate::context::Context;
use crate::error::CommandError;
use crate::ui::Ui;

/// The hooks that are guarded: before something becomes part of the history, here and elsewhere.
const HOOKS: [&str; 2] = ["pre-commit", "pre-push"];

pub(super) fn run(command: &Guard, context: &Context, ui: &mut Ui) -> Result<(), CommandError> {
    match command {
        Guard::Install { require } => each(|hook| hook.install(*require), ui),
        Guard::Remove => each(Hook::remove, ui),
        Guard::Check { require, place } => check(*require, place, context, ui),
    }
}

fn each(
    act: impl Fn(&Hook) -> Result<&'static str, CommandError>,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let folder = hooks_folder()?;
    for name in HOOKS {
        let hook = Hook { path: folder.join(name) };
        let done = act(&hook)?;
        ui.line(&format!("{}: {done}", hook.path.display()));
    }
    Ok(())
}

/// Where git looks for hooks, which only git knows.
fn hooks_folder() -> Result<PathBuf, CommandError> {
    let failed = |what: String| {
        CommandError::failed(format!("git does not tell where its hooks are: {what}"))
            .with_hint("run this inside a repository, with git installed")
    };
    let output = Command::new("git")
        .args(["rev-parse", "--path-format=absolute", "--git-path", "hooks"])
        .output()
        .map_err(|error| failed(error.to_string()))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    if !output.status.success() {
        return Err(failed(text(&output.stderr)));
    }
    Ok(text(&output.stdout).into())
}

/// What the hooks run.
fn check(
    require: bool,
    place: &ClaimPlace,
    context: &Context,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let desk = Desk::open(place, context, ui)?;
    desk.close(examine(&desk, require).map_err(CommandError::from), ui)
}

fn examine(desk: &Desk, require: bool) -> Result<(), Error> {
    if let Some((name, token)) = desk.context.world.given_claim() {
        let resource = osm_claims::Resource::new(name.as_encoded_bytes())
            .map_err(|_| Error::from(Reason::UnknownEpoch))?;
        desk.claims.check(&desk.asker, &resource, Some(token))?;
    }
    let losses = match desk.claims.losses(&desk.asker, false) {
        // Whoever is nobody has lost nothing.
        Err(error) if error.refusal().is_some_and(|it| it.reason == Reason::NoIdentity) => {
            Vec::new()
        }
        losses => losses?,
    };
    if let Some(loss) = losses.into_iter().next() {
        return Err(Refused {
            resource: Some(loss.claim.resource.clone()),
            claim: Some(Box::new(loss.claim)),
            ..Refused::because(Reason::Stale)
        }
        .into());
    }
    if require && !desk.claims.list(&desk.asker, false)?.iter().any(|it| it.is_mine) {
        return Err(Reason::NotHeld.into());
    }
    Ok(())
}
