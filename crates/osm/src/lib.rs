//! The program `osm` as a library: everything but the capture of the outside world is a function of
//! a [`World`], so that tests and other front ends can call it.
//!
//! ```text
//! arguments -> cli/ -> commands/ -> ops/ -> osm-store, osm-claims, osm-context, osm-script
//!                          |                (nothing below commands/ prints, asks or exits)
//!                       render/ -> standard output, standard error
//! ```
//!
//! [`run`] has one shortcut. Shell prompts and agents ask for `osm session id` all the time, so it is
//! answered before an argument parser is built (`fast_path.rs`).

mod agent;
mod bare;
mod cli;
mod commands;
mod completion;
mod config;
mod documents;
mod error;
mod fast_path;
mod goals;
#[cfg(unix)]
mod ignored;
mod interaction;
mod interrupt;
mod invocation;
mod log;
mod mcp;
pub mod ops;
mod ownership;
mod private;
mod render;
mod repl;
mod replacing;
mod script_host;
mod session_host;
mod trust;
mod unwritable_home;
mod world;

pub use error::{Exit, Failure};
pub use interaction::{
    CannotAsk, Interaction, Interrupted, Progress, Silence, Unconfirmed, Watcher, Work, confirm,
};
pub use invocation::{Invocation, InvocationError, Options};
pub use world::{ColorChoice, VARIABLES, World};

use error::{CommandError, NO_RANDOM_NUMBERS};
use render::Ui;

/// Runs one command line and says how it went.
#[must_use]
pub fn run(world: &World) -> Exit {
    let mut ui = Ui::new(world, cli::wants_json(&world.arguments));
    // What was written before an error is part of the answer.
    let answer = answer(world, &mut ui);
    match answer.and_then(|()| ui.finish()) {
        Ok(()) => Exit::Success,
        Err(error) => {
            drop(ui.finish());
            ui.fail(&unwritable_home::explain(error, world.home()))
        }
    }
}

fn answer(world: &World, ui: &mut Ui) -> Result<(), CommandError> {
    if fast_path::is_session_id(&world.arguments) {
        fast_path::session_id(world, ui);
        return Ok(());
    }
    if fast_path::is_short(&world.arguments) {
        commands::status::short(&Invocation::new(world, Options::default()), ui);
        return Ok(());
    }
    let is_hook = commands::agent::is_hook(&world.arguments);
    // Every table in memory needs one, and would end the program without it.
    if let Err(error) = getrandom::fill(&mut [0]) {
        let message = format!("this system gives no random numbers: {error}");
        if !is_hook {
            let hint = "allow getrandom in the sandbox, or give it /dev/urandom";
            return Err(CommandError::failed(NO_RANDOM_NUMBERS, message).with_hint(hint));
        }
        // A hook lets the tool run.
        ui.warn(&message);
    } else {
        private::keep_own_permissions();
        if is_hook {
            commands::agent::answer_hook(world, ui);
        } else {
            commands::run(&cli::parse(&world.arguments)?, world, ui)?;
        }
    }
    Ok(())
}
