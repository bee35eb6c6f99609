//! The configuration file, `config.toml`.
//!
//! Two promises shape this module. Identity detection works whatever is in the file: an entry that
//! is invalid gives a warning with its line, and the built-in tables apply. And an invalid file never
//! makes osm remove anything: a user who writes `max_count = 1O00` wants to keep more than the default
//! allows, so until the file is fixed no limit applies ([`Settings::policy`]).
//!
//! | for | see |
//! |---|---|
//! | every setting, its default and its type | `keys.rs` |
//! | the settings in a file, with every problem | `reading.rs` |
//! | the settings as commands use them | `settings.rs`; for modes and scripts: `prompting.rs` |
//! | wrappers, shells and agents | `identity.rs` |
//! | changes that keep the rest of the file | `edit.rs` |
//! | reading, locking and replacing the file | `file.rs` |
//! | the settings of the upstream tool | `upstream.rs` |

mod edit;
mod file;
mod identity;
pub(crate) mod keys;
pub(crate) mod nearest;
mod prompting;
mod reading;
mod settings;
pub(crate) mod upstream;

use osm_identity::Catalogue;

pub(crate) use edit::{set, unset};
pub use file::ChangeError;
pub(crate) use file::{change, read};
pub(crate) use identity::describe_agent;
pub(crate) use prompting::Prompting;
pub use reading::Problem;
pub(crate) use reading::{Entry, Reading};
pub use settings::InvalidLimits;
pub(crate) use settings::{
    Edits, InvalidStore, NO_CLEANUP, Settings, WorkListSettings, edits_of_repository,
};

use crate::World;

/// The catalogue with the user's additions, and the problems in them. Reads nothing else, because
/// shell prompts run `osm session id`.
pub(crate) fn catalogue(world: &World) -> (Catalogue, Vec<String>) {
    let mut catalogue = identity::built_in(&world.environment);
    let mut problems = Vec::new();
    let Some(path) = world.config_file() else {
        return (catalogue, problems);
    };
    match file::read(&path) {
        Ok(None) => {}
        Ok(Some(text)) => match file::parse(&text) {
            Ok(document) => {
                let found = identity::extend(&mut catalogue, &text, &document);
                problems.extend(found.iter().map(|it| format!("{}: {it}", path.display())));
            }
            Err(problem) => problems.push(problem.ignored(&path)),
        },
        Err(problem) => problems.push(problem.ignored(&path)),
    }
    (catalogue, problems)
}
