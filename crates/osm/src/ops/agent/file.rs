//! Reading and replacing a file of the user's.

use std::fs::Permissions;
use std::path::{Path, PathBuf};

use super::AgentError;
use crate::replacing;

/// Larger files are refused: no settings are.
const MOST_BYTES: u64 = 8 << 20;

/// A file as it is now.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Its real path, which a link may lead to.
    pub(super) real: PathBuf,
    /// Its text; `None` if it does not exist.
    pub(super) text: Option<String>,
    permissions: Option<Permissions>,
}

impl Found {
    /// Reads a file below `base`, if there is one.
    pub(super) fn read(path: &Path, base: &Path) -> Result<Self, AgentError> {
        let real = real(path, base)?;
        let invalid =
            |reason: &str| AgentError::Invalid { path: path.to_owned(), reason: reason.into() };
        let about = match std::fs::metadata(&real) {
            Ok(about) => about,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { real, text: None, permissions: None });
            }
            Err(error) => return Err(AgentError::io("read", path)(error)),
        };
        if !about.is_file() {
            return Err(invalid("not a file"));
        }
        if about.len() > MOST_BYTES {
            return Err(invalid("larger than 8 MB"));
        }
        let bytes = std::fs::read(&real).map_err(AgentError::io("read", path))?;
        let text = String::from_utf8(bytes).map_err(|_| invalid("not UTF-8"))?;
        Ok(Self { real, text: Some(text), permissions: Some(about.permissions()) })
    }

    /// Refuses a file that its owner may not write to: replacing it would ignore that.
    pub(super) fn check_writable(&self, path: &Path) -> Result<(), AgentError> {
        match &self.permissions {
            Some(permissions) if permissions.readonly() => {
                Err(AgentError::Invalid { path: path.to_owned(), reason: "it is read-only".into() })
            }
            _ => Ok(()),
        }
    }

    /// Replaces the text, or removes the file. The permissions stay.
    pub(super) fn replace(
        &self,
        text: Option<&str>,
        new: Option<Permissions>,
    ) -> Result<(), AgentError> {
        let now = match std::fs::read(&self.real) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(AgentError::io("read", &self.real)(error)),
        };
        if now.as_deref() != self.text.as_ref().map(String::as_bytes) {
            return Err(AgentError::Raced(self.real.clone()));
        }
        match text {
            Some(text) => {
                let permissions = self.permissions.clone().or(new);
                replacing::replace(&self.real, text.as_bytes(), permissions.as_ref())
                    .map_err(AgentError::io("write", &self.real))
            }
            None => remove(&self.real).map_err(AgentError::io("remove", &self.real)),
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a file that osm wrote, and that has nothing else in it"
)]
fn remove(path: &Path) -> std::io::Result<()> {
    std::fs::remove_file(path)
}

/// The file that a path means. Links are followed as long as they stay below `base`.
fn real(path: &Path, base: &Path) -> Result<PathBuf, AgentError> {
    let mut existing = path;
    let mut missing = Vec::new();
    // A link whose target is missing exists, too.
    while existing.symlink_metadata().is_err() {
        let (Some(name), Some(parent)) = (existing.file_name(), existing.parent()) else { break };
        missing.push(name);
        existing = parent;
    }
    let found =
        std::fs::canonicalize(existing).map_err(AgentError::io("follow the link", existing))?;
    let base = std::fs::canonicalize(base).unwrap_or_else(|_| base.to_owned());
    // Where the base itself is missing, no link can lead anywhere.
    if !found.starts_with(&base) && !base.starts_with(&found) {
        return Err(AgentError::LinkLeadsOut { path: path.to_owned(), target: found, base });
    }
    Ok(missing.into_iter().rev().fold(found, |path, name| path.join(name)))
}

/// Creates the folders above a file, and returns those that were missing, the outermost first.
pub(super) fn make_folders(path: &Path, is_private: bool) -> Result<Vec<PathBuf>, AgentError> {
    let Some(folder) = path.parent() else { return Ok(Vec::new()) };
    let made = missing_folders(path);
    let created =
        if is_private { crate::private::folder(folder) } else { std::fs::create_dir_all(folder) };
    created.map_err(AgentError::io("create", folder))?;
    Ok(made)
}

/// The folders above a file that do not exist, the outermost first.
pub(super) fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let above =
        path.ancestors().skip(1).take_while(|it| !it.as_os_str().is_empty() && !it.exists());
    let mut missing: Vec<PathBuf> = above.map(Path::to_owned).collect();
    missing.reverse();
    missing
}

/// Removes folders that osm created, if nothing else is in them.
pub(super) fn remove_folders(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // A folder that is not empty stays: the user has put something there.
        if std::fs::remove_dir(folder).is_err() {
            return;
        }
    }
}
