//! What each command does: one file each.

use osm_identity::{Detection, Request, System};

use crate::World;
use crate::cli::{self, Command, Line, Session};
use crate::config;
use crate::ui::Ui;

mod completion;
mod report;
mod session_id;
mod status;
mod whoami;

/// Runs what was typed.
pub(crate) fn run(line: &Line, world: &World, ui: &mut Ui) {
    match &line.command {
        None => status::run(&explain(line, world, ui), world, ui),
        Some(Command::Whoami { format }) => {
            whoami::run(&explain(line, world, ui), *format, world, ui);
        }
        Some(Command::Session(Session::Id { explain: full, format })) => {
            session_id::run(&explain(line, world, ui), *full, *format, ui);
        }
        Some(Command::Completion { shell }) => completion::run(*shell, cli::command(), ui),
    }
}

/// The session, with everything that can be told about it.
fn explain(line: &Line, world: &World, ui: &mut Ui) -> Detection {
    osm_identity::explain(&Request {
        explicit: line.session.as_deref(),
        environment: &world.environment,
        source: &System::new(),
        catalogue: &config::catalogue(world, ui),
    })
}
