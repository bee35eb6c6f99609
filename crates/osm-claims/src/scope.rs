//! Where claims count: the repository around the working directory, or a name that people agree on.
//!
//! One repository is one scope from every worktree, sub-folder, symlink and bind mount, and when it
//! is moved: it is known by the folder that all worktrees share. Machines that share a ledger know
//! it by its [`SharedScope`].
//!
//! Two sessions must never hold one resource, so two sightings are of one repository unless it is
//! proven that they are not. What is seen of a folder can change while sessions work in it: overlayfs
//! gives it another time of birth, and sometimes another inode, when it is copied up; a sandbox
//! refuses `statx`; a container has a boot id of its own. So the rule is:
//!
//! 1. The same folder is the same scope: the same inode on the same device, or the same place
//!    inside a file system that changes inodes. That an inode was reused is proven by the time of
//!    birth, and only on a file system that never changes it (ext4, XFS, Btrfs, F2FS, tmpfs).
//! 2. Otherwise the same path is the same scope, unless it is proven that another repository is
//!    there now: in the same boot, on such file systems, both `.git` and the folder around it are
//!    others. If only `.git` was made again, sessions may still work on the files around it.
//! 3. What was once taken for the same stays the same: a scope keeps each sighting of this boot in
//!    which a request succeeded.
//!
//! Evidence that is missing or changed keeps a claim held. The price: where nothing is proven, a new
//! repository at an old path shows the claims of the old one.

mod folder;
#[cfg(any(target_os = "linux", test))] // Only Linux has this table.
mod mounts;
mod shared;
mod sight;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use self::folder::{Folder, NotAFolder};
pub use self::shared::{SharedScope, SharedScopeError};
use osm_identity::Repository;

/// How many sightings a scope keeps. Each run of a container that has its own overlay file system
/// adds one.
const MOST_SIGHTINGS: usize = 64;

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
    /// The folder itself, whatever its path is: as it is seen now, or, in a ledger, all that was seen
    /// of it, the latest last.
    pub folders: Vec<Folder>,
    /// The identity that clones of the repository on other machines have, too. Reading it takes
    /// a program, so that it is `None` unless a ledger needs it.
    pub shared: Option<SharedScope>,
}

impl Scope {
    /// A scope with a name that people agreed on, which is the same on every machine.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let shared = Some(SharedScope::Named(name.to_owned()));
        Self { key: format!("name:{name}"), folders: Vec::new(), shared }
    }

    /// The scope of a repository, by its local identity.
    #[must_use]
    pub fn of(repository: &Repository, boot: &str) -> Self {
        let path = &repository.common;
        let key = match path.to_str() {
            Some(path) => format!("repo:{path}"),
            None => format!("raw:{}", path.as_os_str().as_encoded_bytes().escape_ascii()),
        };
        let top = Some(repository.folder()).filter(|top| *top != path);
        let folders = sight::look(path, top, boot).into_iter().collect();
        Self { key, folders, shared: None }
    }

    /// The scope of a caller outside any repository: nothing is claimed there.
    #[must_use]
    pub fn nowhere() -> Self {
        Self { key: "nowhere:".into(), folders: Vec::new(), shared: None }
    }

    /// Whether a scope of a ledger has the folder that is seen now, whatever its path is.
    pub(crate) fn has_folder_of(&self, known: &Self) -> bool {
        self.folders.iter().any(|now| known.folders.iter().any(|before| now.is(before)))
    }

    /// Whether a scope of a ledger with the same path may be this one.
    pub(crate) fn may_be(&self, known: &Self) -> bool {
        let is_another = |now: &Folder| known.folders.iter().all(|it| now.is_proven_another(it));
        known.folders.is_empty() || !self.folders.iter().any(is_another)
    }

    /// The scope as it is to be known from now on, if it was known as `before`: a folder that was
    /// moved has its new path, one that has two keeps the first.
    pub(crate) fn known_as(&self, before: &Self) -> Self {
        let Some(now) = self.folders.last() else {
            return Self { folders: before.folders.clone(), ..before.clone() };
        };
        let path = before.key.strip_prefix("repo:").map(Path::new);
        let stays = || path.and_then(|path| sight::look(path, None, &now.boot));
        let is_moved = before.key != self.key && !stays().is_some_and(|there| now.is(&there));
        let key = if is_moved { &self.key } else { &before.key };
        let mut folders = before.folders.clone();
        if !folders.iter().any(|it| it == now || it.tells_more_than(now)) {
            // What was seen in another boot decides nothing any more.
            folders.retain(|it| it.boot == now.boot && !now.tells_more_than(it));
            folders.drain(..folders.len().saturating_sub(MOST_SIGHTINGS - 1));
            folders.push(now.clone());
        }
        Self { key: key.clone(), folders, shared: self.shared.clone() }
    }

    /// The key of a scope whose path another folder has now.
    pub(crate) fn retired(&self) -> String {
        let folders = self.sightings().unwrap_or_default();
        format!("{} (before: {})", self.key, folders.replace('\n', " "))
    }

    /// The folders as a ledger stores them.
    pub(crate) fn sightings(&self) -> Option<String> {
        let lines: Vec<_> = self.folders.iter().map(Folder::to_string).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }

    /// The scope that a ledger stores.
    pub(crate) fn stored(key: String, sightings: Option<&str>) -> Self {
        let lines = sightings.unwrap_or_default().lines();
        Self { key, folders: lines.filter_map(|line| line.parse().ok()).collect(), shared: None }
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
