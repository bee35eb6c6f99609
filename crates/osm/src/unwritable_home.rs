//! A home that cannot be written, as in the sandbox of an agent.
//!
//! A sandbox lets a program write to some folders only, and osm's folder is often not among them. The
//! system then refuses a file that the user never heard of. So every error about such a file is explained
//! here, in one place: it names the folder that must be allowed, and it has one reason for programs.

use std::io;
use std::path::{Path, PathBuf};

use crate::error::{CommandError, Exit, Failure};

/// The reason of all these errors, for programs.
pub(crate) const REASON: &str = "home_not_writable";

/// Osm's folder cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write to osm's folder {}: {cause}", .folder.display())]
struct UnwritableHome {
    folder: PathBuf,
    cause: Box<dyn Failure>,
}

impl Failure for UnwritableHome {
    fn reason(&self) -> &'static str {
        REASON
    }

    fn exit(&self) -> Exit {
        self.cause.exit()
    }

    fn hints(&self) -> Vec<String> {
        vec![hint(&self.folder)]
    }

    fn unwritable(&self) -> Option<&Path> {
        Some(&self.folder)
    }
}

/// What to do about it.
pub(crate) fn hint(folder: &Path) -> String {
    format!(
        "in a sandbox (Codex, Claude Code, a container), allow writing to {}; or set OSM_HOME to a \
         folder that osm can write to",
        folder.display()
    )
}

/// Whether the system refuses to write.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// Whether a failure is that a file in osm's folder, or the folder itself, cannot be written.
pub(crate) fn is_cause(failure: &dyn Failure, home: &Path) -> bool {
    // A home that does not exist cannot be created in a folder around it.
    failure.unwritable().is_some_and(|path| path.starts_with(home) || home.starts_with(path))
}

/// The error, explained if it is about osm's folder.
pub(crate) fn explain(error: CommandError, home: Option<PathBuf>) -> CommandError {
    match (error, home) {
        (CommandError::Failure(cause), Some(folder)) if is_cause(&*cause, &folder) => {
            UnwritableHome { folder, cause }.into()
        }
        (error, _) => error,
    }
}
