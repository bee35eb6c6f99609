//! What is done to a hook, one step at a time; each leaves a whole hook behind.

use std::fs::Permissions;
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::replacing;

/// One change to a hook.
pub(super) enum Step {
    /// It has this text, and these permissions; those of a new program if none are given.
    Write(String, Option<Permissions>),
    /// It gets its other name, and a program with this text stands in its place.
    SetAside(String),
    /// It gets its own name back.
    BringBack,
    /// It is removed.
    Remove,
}

impl Step {
    /// Makes the change to the hook at `path`, whose other name is `aside`.
    pub(super) fn make(&self, path: &Path, aside: &Path) -> io::Result<()> {
        match self {
            Self::Write(text, permissions) => {
                let file = prepare(path, text, permissions.as_ref())?;
                file.persist(path).map_err(|error| error.error)?;
                Ok(())
            }
            Self::SetAside(text) => {
                let file = prepare(path, text, None)?;
                rename(path, aside)?;
                file.persist(path).map(drop).or_else(|error| {
                    rename(aside, path)?;
                    Err(error.error)
                })
            }
            Self::BringBack => rename(aside, path),
            Self::Remove => remove(path),
        }
    }

    /// What it is, for an error.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Write(..) => "write",
            Self::SetAside(_) => "set aside",
            Self::BringBack => "bring back",
            Self::Remove => "remove",
        }
    }
}

/// A file beside the hook that can take its place at once; a program, if no permissions are given.
fn prepare(
    path: &Path,
    text: &str,
    permissions: Option<&Permissions>,
) -> io::Result<NamedTempFile> {
    let program = replacing::shared_permissions(true);
    replacing::prepare(path, text.as_bytes(), permissions.or(program.as_ref()))
}

#[expect(clippy::disallowed_methods, reason = "a hook is no user data of ours: git owns it")]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

#[expect(clippy::disallowed_methods, reason = "nothing is left in it but our own block")]
fn remove(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

/// Whether git runs a hook with these permissions.
#[cfg(unix)]
pub(super) fn is_executable(permissions: &Permissions) -> bool {
    use std::os::unix::fs::PermissionsExt;
    permissions.mode() & 0o100 != 0
}

#[cfg(not(unix))]
pub(super) fn is_executable(_permissions: &Permissions) -> bool {
    true
}
