//! The program `osm` as a library: everything but the capture of the outside world is a function
//! of a [`World`], so that tests can call it.
//!
//! [`run`] has two ways. `osm session id` is asked by prompts and agents all the time, so it is
//! answered before an argument parser is even built (`hot.rs`). Everything else goes through
//! `cli.rs` (what was typed), `commands/` (what it does) and `ui.rs` (what is shown).

mod cli;
mod commands;
mod config;
mod context;
mod error;
mod goals;
mod hot;
#[cfg(unix)]
mod ignored;
mod log;
mod private;
mod repl;
mod script_host;
mod session_host;
mod trust;
mod ui;
mod world;

pub use error::Exit;
pub use world::{VARIABLES, World};

use error::CommandError;
use ui::Ui;

/// Runs one command line and says how it went.
#[must_use]
pub fn run(world: &World) -> Exit {
    let mut ui = Ui::new(world);
    // What was said before an error is part of the answer.
    let answer = answer(world, &mut ui);
    match answer.and_then(|()| ui.finish()) {
        Ok(()) => Exit::Success,
        Err(error) => {
            drop(ui.finish());
            ui.fail(&error)
        }
    }
}

fn answer(world: &World, ui: &mut Ui) -> Result<(), CommandError> {
    if hot::is_session_id(&world.arguments) {
        hot::session_id(world, ui);
    } else {
        commands::run(&cli::parse(&world.arguments)?, world, ui)?;
    }
    Ok(())
}
