//! Where claims count: the repository around the working directory, or a name that people agree on.
//!
//! One repository is one scope from every worktree, sub-folder, symlink and bind mount, and when it
//! is moved: it is known by the folder that all worktrees share, and that folder by its device,
//! inode and time of birth while the machine runs. After a restart its path decides. Machines that
//! share a ledger know it by its [`SharedScope`].

mod shared;

use std::path::Path;
#[cfg(unix)]
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

pub use self::shared::{SharedScope, SharedScopeError};
use osm_identity::Repository;

/// The number of a scope in its ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ScopeId(pub i64);

/// Where claims count.
///
/// It has a local identity, which the ledger of one machine uses, and, where machines share a
/// ledger, a common one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// `repo:PATH`, `raw:PATH` if that is not UTF-8, or `name:NAME`.
    pub key: String,
    /// The folder itself, whatever its path is: boot, device, inode and time of birth.
    pub folder: Option<String>,
    /// The identity that clones of the repository on other machines have, too. Reading it takes
    /// a program, so that it is `None` unless a ledger needs it.
    pub shared: Option<SharedScope>,
}

impl Scope {
    /// A scope with a name that people agreed on, which is the same on every machine.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let shared = Some(SharedScope::Named(name.to_owned()));
        Self { key: format!("name:{name}"), folder: None, shared }
    }

    /// The scope of a repository, by its local identity.
    #[must_use]
    pub fn of(repository: &Repository, boot: &str) -> Self {
        let path = &repository.common;
        let key = match path.to_str() {
            Some(path) => format!("repo:{path}"),
            None => format!("raw:{}", path.as_os_str().as_encoded_bytes().escape_ascii()),
        };
        let folder = inode(path).map(|inode| format!("{boot}:{inode}"));
        Self { key, folder, shared: None }
    }

    /// The scope of a caller outside any repository: nothing is claimed there.
    #[must_use]
    pub fn nowhere() -> Self {
        Self { key: "nowhere:".into(), folder: None, shared: None }
    }

    /// Whether a folder that has this scope's path now may be the one that had it before: an inode
    /// is given to another folder when the first is gone, but never with the same time of birth. The
    /// device has another number whenever it is mounted, and after a restart nothing is certain.
    pub(crate) fn may_be(&self, before: Option<&str>) -> bool {
        fn parts(folder: &str) -> Option<(&str, &str)> {
            let (boot, rest) = folder.split_once(':')?;
            let (_device, lasting) = rest.split_once(':')?;
            Some((boot, lasting))
        }
        match (self.folder.as_deref().and_then(parts), before.and_then(parts)) {
            (Some((boot, now)), Some((other_boot, before))) => boot != other_boot || now == before,
            _ => true,
        }
    }

    /// The scope as it is to be known from now on, if it was known as `before`: a folder that was
    /// moved has its new path, one that has two keeps the first.
    pub(crate) fn known_as(&self, before: &Self) -> Self {
        let path = before.key.strip_prefix("repo:").map(Path::new);
        let there = path.and_then(inode);
        let here = self.folder.as_deref().and_then(|it| it.split_once(':')).map(|it| it.1);
        let key = if here.is_some() && there.as_deref() != here { &self.key } else { &before.key };
        let folder = self.folder.clone().or_else(|| before.folder.clone());
        Self { key: key.clone(), folder, shared: self.shared.clone() }
    }

    /// The key of a scope whose path another folder has now.
    pub(crate) fn retired(key: &str, folder: Option<&str>) -> String {
        format!("{key} (before: {})", folder.unwrap_or_default())
    }

    /// The name of the scope: the folder of a repository, or the name that people agreed on. It
    /// may contain control characters.
    #[must_use]
    pub fn name(&self) -> &str {
        match self.key.split_once(':') {
            Some(("repo", path)) => path.strip_suffix("/.git").unwrap_or(path),
            Some((_, name)) => name,
            None => &self.key,
        }
    }
}

#[cfg(unix)]
fn inode(folder: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let metadata = folder.metadata().ok()?;
    let born = metadata.created().ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
    let born = born.unwrap_or_default().as_nanos();
    Some(format!("{}:{}:{born}", metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn inode(_folder: &Path) -> Option<String> {
    None
}
