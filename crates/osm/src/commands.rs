//! One file for each command: arguments become a request, an operation runs, its result is rendered.

use crate::World;
use crate::cli::{Command, Line};
use crate::error::CommandError;
use crate::invocation::{Invocation, Options};
use crate::ops::identity;
use crate::render::Ui;

pub(crate) mod agent;
mod claim;
mod completion;
mod config;
mod doctor;
mod goal;
mod help;
mod man;
mod mcp;
mod message;
mod mode;
mod prime;
mod script;
mod session;
pub(crate) mod status;
mod store;
mod trust;
mod upstream;
mod whoami;

/// Runs what was typed.
pub(crate) fn run(line: &Line, world: &World, ui: &mut Ui) -> Result<(), CommandError> {
    let options = || Options { session: line.session.clone(), store: line.store.clone() };
    let invocation = |ui: &mut Ui| {
        let invocation = Invocation::new(world, options());
        for problem in invocation.problems() {
            ui.warn(problem);
        }
        invocation
    };
    if line.command.is_some() && (line.json || line.short) {
        let option = if line.json { "--json" } else { "--short" };
        return Err(status::misplaced(option));
    }
    match &line.command {
        None if line.short => status::short(&Invocation::new(world, options()), ui),
        None => {
            let invocation = invocation(ui);
            status::run(&invocation, line.json, ui);
            upstream::offer(&invocation, ui);
        }
        Some(Command::Whoami { format }) => {
            whoami::run(&identity::explain(&invocation(ui)), *format, ui);
        }
        Some(Command::Session { command }) => {
            session::run(command.as_deref(), &invocation(ui), ui)?;
        }
        Some(Command::Goal(line)) => goal::run(line, &invocation(ui), ui)?,
        Some(Command::Trust(line)) => trust::run(line, &Invocation::new(world, options()), ui)?,
        Some(Command::CodeReview(line)) => mode::run("code-review", line, &invocation(ui), ui)?,
        Some(Command::PromptFlow(line)) => mode::run("prompt-flow", line, &invocation(ui), ui)?,
        Some(Command::Script(line)) => script::run(line, &invocation(ui), ui)?,
        Some(Command::Claim(line)) => claim::run(line, &invocation(ui), ui)?,
        Some(Command::Release(line)) => claim::release(line, &invocation(ui), ui)?,
        Some(Command::Claims(line)) => claim::list(line, &invocation(ui), ui)?,
        Some(Command::Ask(line)) => message::ask(line, &invocation(ui), ui)?,
        Some(Command::Tell(line)) => message::tell(line, &invocation(ui), ui)?,
        Some(Command::Inbox(line)) => message::inbox(line, &invocation(ui), ui)?,
        Some(Command::Store(line)) => store::run(line, &invocation(ui), ui)?,
        Some(Command::Keep) => claim::keep(&Invocation::new(world, options()))?,
        Some(Command::Agent(line)) => agent::run(line, &invocation(ui), ui)?,
        Some(Command::Mcp) => mcp::run(world, options(), ui)?,
        // It shows the problems of the configuration itself.
        Some(Command::Doctor { fix, format }) => {
            doctor::run(&Invocation::new(world, options()), *fix, *format, ui)?;
        }
        Some(Command::Prime { format }) => prime::run(&invocation(ui), *format, ui),
        // These commands show the problems of the configuration themselves.
        Some(Command::Config(command)) => {
            config::run(command, &Invocation::new(world, options()), ui)?;
        }
        Some(Command::ShellInit { shell, prompt }) => completion::init(*shell, *prompt, ui)?,
        Some(Command::Completion { shell }) => completion::script(*shell, ui),
        // Problems of the configuration would disturb the line that is being typed.
        Some(Command::Complete { words }) => completion::complete(words, world, ui),
        Some(Command::Help { command }) => return Err(help::of(command)),
        Some(Command::Man { command, folder }) => man::run(command, folder.as_deref(), ui)?,
        Some(Command::Version { format }) => help::version(*format, ui),
    }
    Ok(())
}
