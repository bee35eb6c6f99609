//! The built-in modes: `osm code-review`, `osm prompt-flow`.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::cli::{LogArguments, ModeArguments};
use crate::config::Prompting;
use crate::error::CommandError;
use crate::invocation::Invocation;
use crate::ops;
use crate::ops::session::BackgroundCleanup;
use crate::render::Ui;
use crate::repl::{CommandFailure, CommandSource, Repl, Script, ScriptLauncher};
use crate::session_host::SessionHost;
use crate::trust::ModuleRules;

use super::session::finish_cleanup;

/// A built-in mode.
pub(super) struct Mode {
    /// Its name, which is also the name of the command.
    pub(super) name: &'static str,
    script: &'static str,
}

/// All built-in modes.
pub(super) const MODES: &[Mode] = &[
    Mode { name: "code-review", script: include_str!("../../assets/modes/code-review.js") },
    Mode { name: "prompt-flow", script: include_str!("../../assets/modes/prompt-flow.js") },
];

/// The prompt templates of the modes; scripts see them as the global `PROMPTS`.
const PROMPTS: &[(&str, &str)] = &[
    ("codeReview", ops::prompt::CODE_REVIEW),
    ("flowMeta", include_str!("../../assets/prompts/flow-meta.md")),
    ("flowFinal", include_str!("../../assets/prompts/flow-final.md")),
];

/// Runs the mode of that name.
pub(super) fn run(
    name: &str,
    arguments: &ModeArguments,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let mode = MODES.iter().find(|mode| mode.name == name);
    let unknown = || CommandError::failed("unknown_mode", format!("unknown mode {name}"));
    let mode = mode.ok_or_else(unknown)?;
    let prompts: serde_json::Map<String, Value> =
        PROMPTS.iter().map(|(name, text)| ((*name).to_owned(), json!(text))).collect();
    let globals = vec![("PROMPTS".to_owned(), Value::Object(prompts))];
    let (text, modules) = (mode.script, ModuleRules::Trusted);
    let script = BuiltInScript { name: mode.name, text, globals, folder: None, modules };
    run_script(script, arguments, invocation, ui)
}

/// A built-in script that registers a mode.
pub(super) struct BuiltInScript<'a> {
    /// The name of the mode.
    pub(super) name: &'a str,
    pub(super) text: &'a str,
    pub(super) globals: Vec<(String, Value)>,
    /// The folder in which the code of a goal finds modules.
    pub(super) folder: Option<PathBuf>,
    /// Which modules may run.
    pub(super) modules: ModuleRules,
}

/// Runs a built-in script.
pub(super) fn run_script(
    script: BuiltInScript,
    arguments: &ModeArguments,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let BuiltInScript { name, text, mut globals, folder, modules } = script;
    globals.push(("config".to_owned(), json!({ "name": name })));
    let host = Rc::new(SessionHost::open(invocation, settings(arguments, invocation), ui)?);
    let script = Script::BuiltIn(name.to_owned(), text.to_owned());
    let launcher = ScriptLauncher::new(host, script, &[], globals).loading(
        modules,
        ops::goal::module_paths(invocation),
        folder,
    );
    let runtime = launcher.launch().map_err(|error| CommandFailure::from(error).into_error())?;
    let source = command_source(arguments, invocation);
    let cleanup = (source == CommandSource::Terminal).then(|| BackgroundCleanup::start(invocation));
    let ended = Repl::new(launcher, runtime, source, arguments.fail_fast).run(name);
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
