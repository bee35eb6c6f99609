//! What is done to a hook, one step at a time; each leaves a whole hook behind.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::path::Path;

use tempfile::NamedTempFile;

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

/// A file beside the hook that can take its place at once.
fn prepare(
    path: &Path,
    text: &str,
    permissions: Option<&Permissions>,
) -> io::Result<NamedTempFile> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    match permissions {
        Some(permissions) => file.as_file().set_permissions(permissions.clone())?,
        None => make_executable(file.as_file())?,
    }
    file.as_file().sync_all()?;
    Ok(file)
}

#[expect(clippy::disallowed_methods, reason = "a hook is no user data of ours: git owns it")]
fn rename(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::rename(from, to)
}

#[expect(clippy::disallowed_methods, reason = "nothing is left in it but our own block")]
fn remove(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

#[cfg(unix)]
fn make_executable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_executable(_file: &File) -> io::Result<()> {
    Ok(())
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
