//! The configuration file, `config.toml`.
//!
//! Two promises shape this module. Identity works whatever is in the file: what cannot be read or
//! understood is a warning with its place and the reason, and the built-in tables stand. And nothing
//! is removed on the strength of a file that was not understood: whoever wrote `max_count = 1O00`
//! wanted to keep more than the default allows, so until that is mended no limit counts at all
//! ([`Settings::policy`]).
//!
//! | for | see |
//! |---|---|
//! | every setting, its default and what it may be | `keys.rs` |
//! | what a file says, with every problem in it | `reading.rs` |
//! | what commands get from it | `settings.rs`; modes and scripts: `prompting.rs` |
//! | wrappers, shells and agents | `identity.rs` |
//! | changes that leave the rest of the file as it is | `edit.rs` |
//! | reading, locking and replacing the file | `file.rs` |
//! | the limits of the tool that came before | `upstream.rs` |

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
pub(crate) use file::{change, read};
pub(crate) use prompting::Prompting;
pub(crate) use reading::{Entry, Problem, Reading};
pub(crate) use settings::{Settings, UNTIL_MENDED};

use crate::World;

/// The catalogue with the user's additions, and what is wrong with them. Nothing else is read:
/// `osm session id` has no time for more.
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
