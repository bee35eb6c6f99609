//! Where claims count: the repository around the working directory, or a name that people agree on.
//!
//! One repository is one scope from every worktree, sub-folder, symlink and bind mount: it is known
//! by the folder that all worktrees share, and that folder by its path and by its inode. Git is not
//! asked, so a repository of another user is no danger.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

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

/// A repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// What all its worktrees share.
    pub common: PathBuf,
    /// The top of the worktree.
    pub worktree: PathBuf,
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

impl Repository {
    /// The repository around a folder; `None` if there is none.
    #[must_use]
    pub fn around(folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        folder.ancestors().find_map(|worktree| {
            let git = git_folder(&worktree.join(".git"))
                .or_else(|| is_bare(worktree).then(|| worktree.to_owned()))?;
            Some(Self { common: common(&git), worktree: worktree.to_owned() })
        })
    }

    /// Whether it belongs to another user.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        is_foreign(&self.common)
    }
}

/// What `.git` is: a folder, or a file that names one.
fn git_folder(dot_git: &Path) -> Option<PathBuf> {
    if dot_git.is_dir() {
        return dot_git.join("HEAD").exists().then(|| dot_git.canonicalize().ok())?;
    }
    named_in(dot_git, "gitdir: ")
}

/// The path that a small file names after a prefix, seen from the file's folder.
fn named_in(file: &Path, prefix: &str) -> Option<PathBuf> {
    if !file.is_file() || file.metadata().ok()?.len() > 16 * 1024 {
        return None;
    }
    let text = std::fs::read_to_string(file).ok()?;
    let path = text.strip_prefix(prefix)?.trim_end_matches(['\n', '\r']);
    file.parent()?.join(path).canonicalize().ok().filter(|it| it.is_dir())
}

fn is_bare(folder: &Path) -> bool {
    ["HEAD", "objects", "refs"].iter().all(|name| folder.join(name).exists())
}

/// What a worktree's own folder shares with the others.
fn common(git: &Path) -> PathBuf {
    named_in(&git.join("commondir"), "").unwrap_or_else(|| git.to_owned())
}

#[cfg(unix)]
fn inode(folder: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let metadata = folder.metadata().ok()?;
    Some(format!("{}:{}", metadata.dev(), metadata.ino()))
}

#[cfg(unix)]
fn is_foreign(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let us = rustix::process::geteuid().as_raw();
    folder.metadata().is_ok_and(|metadata| metadata.uid() != us)
}

#[cfg(not(unix))]
fn is_foreign(_folder: &Path) -> bool {
    false
}

#[cfg(not(unix))]
fn inode(_folder: &Path) -> Option<String> {
    None
}
