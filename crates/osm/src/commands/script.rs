//! `osm script`: a script that the user names. Whoever names it wants it to run.

use std::rc::Rc;

use crate::cli::ScriptArguments;
use crate::context::Context;
use crate::desk::Desk;
use crate::error::{CommandError, Exit};
use crate::repl::{Giver, Play, Repl, Stage};
use crate::ui::Ui;

use super::mode::{giver, settings};

pub(super) fn run(
    arguments: &ScriptArguments,
    context: &Context,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let desk = Rc::new(Desk::open(context, settings(&arguments.mode, context), ui)?);
    let path = desk.at(&arguments.file);
    let name = arguments.file.display().to_string();
    if !path.exists() {
        return Err(CommandError::failed(format!("there is no script {}", path.display()))
            .with_hint("check the spelling, and in which folder you are")
            .exiting(Exit::NotFound));
    }
    let stage = Stage::new(Rc::clone(&desk), Play::File(path), &arguments.arguments, Vec::new())
        .testing(arguments.test);
    let runtime = stage.begin().map_err(|error| CommandError::failed(error.to_string()))?;
    if desk.session().is_changed() {
        desk.session().record("script", &format!("script {name}"))?;
    }
    let failure = |error: osm_script::ScriptError| CommandError::failed(error.to_string());
    let mode = Stage::wanted(&runtime).map_err(failure)?;
    let giver = giver(&arguments.mode, context);
    let enters = arguments.interactive || giver != Giver::Input;
    match mode.filter(|_| enters && !arguments.test) {
        Some(mode) => Repl::new(stage, runtime, giver, arguments.mode.fail_fast).run(&mode),
        None => match desk.screen.take_failure() {
            Some(failure) => Err(failure),
            None => desk.close(),
        },
    }
}
