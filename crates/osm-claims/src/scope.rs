//! Where claims count: the repository around the working directory, or a name that people agree on.
//!
//! One repository is one scope from every worktree, sub-folder, symlink and bind mount: it is known
//! by the folder that all worktrees share, and that folder by its path and by its inode.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::repository::Repository;

/// The number of a scope in its ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScopeId(pub i64);

/// A scope, as a ledger knows it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// `repo:PATH` or `name:NAME`.
    pub key: String,
    /// The folder's device, inode and boot: the same folder may have other paths.
    pub folder: Option<String>,
}

impl Scope {
    /// The scope that people gave a name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Self { key: format!("name:{name}"), folder: None }
    }

    /// The scope that a repository is.
    #[must_use]
    pub fn of(repository: &Repository, boot: &str) -> Self {
        Self {
            key: format!("repo:{}", repository.common.display()),
            folder: inode(&repository.common).map(|inode| format!("{boot}:{inode}")),
        }
    }

    /// What it is, for people.
    #[must_use]
    pub fn shown(&self) -> String {
        let shown = match self.key.split_once(':') {
            Some(("repo", path)) => path.strip_suffix("/.git").unwrap_or(path),
            Some((_, name)) => name,
            None => &self.key,
        };
        shown.chars().flat_map(char::escape_debug).collect()
    }
}

#[cfg(unix)]
fn inode(folder: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let metadata = folder.metadata().ok()?;
    Some(format!("{}:{}", metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn inode(_folder: &Path) -> Option<String> {
    None
}
