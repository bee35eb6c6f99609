//! What each command does: one file each.

use crate::World;
use crate::cli::{self, Command, Line};
use crate::config::Settings;
use crate::context::Context;
use crate::error::CommandError;
use crate::ui::Ui;

mod claim;
mod completion;
mod config;
mod goal;
mod mode;
mod report;
mod script;
mod session;
mod status;
mod trust;
mod whoami;

pub(crate) use session::format::brief;

/// Runs what was typed.
pub(crate) fn run(line: &Line, world: &World, ui: &mut Ui) -> Result<(), CommandError> {
    let context = |ui: &mut Ui| Context { line, world, settings: Settings::load(world, ui) };
    match &line.command {
        None => status::run(&context(ui).explain(), world, ui),
        Some(Command::Whoami { format }) => {
            whoami::run(&context(ui).explain(), *format, world, ui);
        }
        Some(Command::Session(command)) => session::run(command, &context(ui), ui)?,
        Some(Command::Goal(line)) => goal::run(line, &context(ui), ui)?,
        Some(Command::Trust(line)) => trust::run(line, world, ui)?,
        Some(Command::CodeReview(line)) => mode::run("code-review", line, &context(ui), ui)?,
        Some(Command::PromptFlow(line)) => mode::run("prompt-flow", line, &context(ui), ui)?,
        Some(Command::Script(line)) => script::run(line, &context(ui), ui)?,
        Some(Command::Claim(line)) => claim::run(line, &context(ui), ui)?,
        Some(Command::Release(line)) => claim::release(line, &context(ui), ui)?,
        Some(Command::Claims(line)) => claim::list(line, &context(ui), ui)?,
        Some(Command::Config(command)) => config::run(command, world, ui)?,
        Some(Command::Completion { shell }) => completion::run(*shell, cli::command(), ui),
    }
    Ok(())
}
