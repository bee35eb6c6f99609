//! Modes of our own: `osm code-review`, `osm prompt-flow`.

use std::io::IsTerminal;
use std::rc::Rc;

use serde_json::{Value, json};

use crate::cli::{LogArguments, ModeArguments};
use crate::config::Prompting;
use crate::context::Context;
use crate::desk::Desk;
use crate::error::CommandError;
use crate::repl::{Giver, Play, Repl, Stage};
use crate::ui::Ui;

/// A mode that comes with the program.
pub(super) struct Mode {
    /// Its name, which is also the command.
    pub(super) name: &'static str,
    script: &'static str,
}

/// All of them.
pub(super) const MODES: &[Mode] = &[
    Mode { name: "code-review", script: include_str!("../../assets/modes/code-review.js") },
    Mode { name: "prompt-flow", script: include_str!("../../assets/modes/prompt-flow.js") },
];

/// The templates that modes use, as their global `PROMPTS`.
const PROMPTS: &[(&str, &str)] = &[
    ("codeReview", include_str!("../../assets/prompts/code-review.md")),
    ("flowMeta", include_str!("../../assets/prompts/flow-meta.md")),
    ("flowFinal", include_str!("../../assets/prompts/flow-final.md")),
];

/// Runs the mode of that name.
pub(super) fn run(
    name: &str,
    arguments: &ModeArguments,
    context: &Context,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let mode = MODES.iter().find(|mode| mode.name == name);
    let mode = mode.ok_or_else(|| CommandError::failed(format!("there is no mode {name}")))?;
    let prompts: serde_json::Map<String, Value> =
        PROMPTS.iter().map(|(name, text)| ((*name).to_owned(), json!(text))).collect();
    let globals = vec![("PROMPTS".to_owned(), Value::Object(prompts))];
    perform(mode.name, mode.script, globals, arguments, context, ui)
}

/// Runs a script of ours that registers the mode `name`, and gives it these globals.
pub(super) fn perform(
    name: &str,
    script: &str,
    mut globals: Vec<(String, Value)>,
    arguments: &ModeArguments,
    context: &Context,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    globals.push(("config".to_owned(), json!({ "name": name })));
    let desk = Rc::new(Desk::open(context, settings(arguments, context), ui)?);
    let play = Play::BuiltIn(name.to_owned(), script.to_owned());
    let stage = Stage::new(desk, play, &[], globals);
    let runtime = stage.begin().map_err(|error| CommandError::failed(error.to_string()))?;
    let giver = giver(arguments, context);
    let _cleanup = (giver == Giver::Person).then(|| super::session::Background::start(context));
    Repl::new(stage, runtime, giver, arguments.fail_fast).run(name)
}

/// Who gives the commands.
pub(super) fn giver<'a>(arguments: &'a ModeArguments, context: &Context) -> Giver<'a> {
    let is_person = context.world.can_ask() && context.world.is_watched();
    match (arguments.commands.as_slice(), is_person) {
        ([], true) if std::io::stdout().is_terminal() => Giver::Person,
        ([], true) => Giver::Typist,
        ([], false) => Giver::Input,
        (commands, _) => Giver::Line(commands),
    }
}

/// The settings, with what the command line says.
pub(super) fn settings(arguments: &ModeArguments, context: &Context) -> Prompting {
    let mut settings = context.settings.prompting.clone();
    settings.tokens &= !arguments.no_tokens;
    settings.budget = arguments.budget.or(settings.budget).filter(|budget| *budget > 0);
    let LogArguments { log_file, log_level } = &arguments.log;
    if let Some(file) = log_file {
        settings.log.file = Some(context.world.folder().unwrap_or_default().join(file));
    }
    if let Some(level) = log_level {
        settings.log.level = osm_script::Level::named(level);
        // Whoever asks for a log wants one.
        let file = settings.log.file.take().unwrap_or_else(|| "osm.log".into());
        settings.log.file = Some(file);
    }
    settings
}
