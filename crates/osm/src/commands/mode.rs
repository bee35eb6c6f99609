//! The built-in modes: `osm code-review`, `osm prompt-flow`.

use std::io::IsTerminal;
use std::rc::Rc;

use crate::cli::{LogArguments, ModeArguments};
use crate::config::Prompting;
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::ops::session::BackgroundCleanup;
use crate::render::Ui;
use crate::repl::{BuiltInScript, Catalogue, CommandFailure, CommandSource, Repl, ScriptLauncher};
use crate::session_host::SessionHost;

use super::session::finish_cleanup;
use super::upstream;

/// Runs the mode of that name.
pub(super) fn run(
    name: &str,
    arguments: &ModeArguments,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let unknown = || CommandError::failed("unknown_mode", format!("unknown mode {name}"));
    let script = BuiltInScript::of_mode(name, invocation).ok_or_else(unknown)?;
    run_script(script, arguments, invocation, ui)
}

/// Runs a built-in script.
pub(super) fn run_script(
    script: BuiltInScript,
    arguments: &ModeArguments,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let source = command_source(arguments, invocation);
    if source == CommandSource::Terminal {
        upstream::offer(invocation, ui);
    }
    let host = Rc::new(SessionHost::open(invocation, settings(arguments, invocation), ui)?);
    let mode = script.mode().to_owned();
    let launcher = ScriptLauncher::built_in(host, script);
    let runtime = launcher.launch().map_err(|error| CommandFailure::from(error).into_error())?;
    let catalogue = Catalogue::of(invocation);
    let cleanup = (source == CommandSource::Terminal).then(|| BackgroundCleanup::start(invocation));
    let ended = Repl::new(launcher, runtime, catalogue, source, arguments.fail_fast).run(&mode);
    finish_cleanup(cleanup, invocation, ui);
    ended
}

/// Where the commands come from.
pub(super) fn command_source<'a>(
    arguments: &'a ModeArguments,
    invocation: &Invocation,
) -> CommandSource<'a> {
    let has_terminal =
        invocation.world.stdin_is_terminal() && invocation.world.stderr_is_terminal();
    match (arguments.commands.as_slice(), has_terminal) {
        ([], true) if std::io::stdout().is_terminal() => CommandSource::Terminal,
        ([], true) => CommandSource::Redirected,
        ([], false) => CommandSource::Stdin,
        (commands, _) => CommandSource::Arguments(commands),
    }
}

/// The settings, overridden by the command line.
pub(super) fn settings(arguments: &ModeArguments, invocation: &Invocation) -> Prompting {
    let mut settings = invocation.settings.prompting.clone();
    settings.tokens &= !arguments.no_tokens;
    settings.complete = arguments.fail_fast;
    settings.budget = arguments.budget.or(settings.budget).filter(|budget| *budget > 0);
    let LogArguments { log_file, log_level } = &arguments.log;
    if let Some(file) = log_file {
        settings.log.file = Some(invocation.world.folder().unwrap_or_default().join(file));
    }
    if let Some(level) = log_level {
        settings.log.level = osm_script::Level::named(level);
        // A level without a file logs to the default file.
        let file = settings.log.file.take().unwrap_or_else(|| "osm.log".into());
        settings.log.file = Some(file);
    }
    settings
}
