//! `osm session id`, as fast as it can be.
//!
//! Prompts and agents ask this before every command, and it must cost less than starting
//! `/bin/true`. So it is known by its exact words, before an argument parser is built, and reads
//! the configuration only if there is one.

use std::ffi::OsString;

use osm_identity::{Confidence, Request, SessionId, identify};

use crate::World;
use crate::config;
use crate::render::Ui;

/// Whether the command line is `osm session id` and nothing else.
pub(crate) fn is_session_id(arguments: &[OsString]) -> bool {
    matches!(arguments, [session, id] if session == "session" && id == "id")
}

/// Whether the command line is `osm --short` and nothing else, as shell prompts ask it.
pub(crate) fn is_short(arguments: &[OsString]) -> bool {
    matches!(arguments, [short] if short == "--short")
}

/// Prints the id.
pub(crate) fn session_id(world: &World, ui: &mut Ui) {
    let (catalogue, problems) = config::catalogue(world);
    for problem in problems {
        ui.warn(&problem);
    }
    let (id, confidence) = identify(&Request {
        explicit: None,
        environment: &world.environment,
        source: world.processes,
        catalogue: &catalogue,
    });
    print(&id, confidence, ui);
}

/// Prints an id, and says so if it is worth nothing.
pub(crate) fn print(id: &SessionId, confidence: Confidence, ui: &mut Ui) {
    ui.value(id.as_str());
    let problem = match confidence {
        Confidence::None => {
            "nothing identifies this session: the id is random and changes with every call"
        }
        Confidence::OneCommand => {
            "osm sees only the command of this sandbox: the id changes with every command"
        }
        _ => return,
    };
    ui.warn(problem);
    ui.hint("set OSM_SESSION, or see why with `osm session id --explain`");
}
