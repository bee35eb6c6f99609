//! The Git repository that a folder belongs to, read from Git's own files.
//!
//! Three of them suffice: `.git` (a folder, or in a second worktree and in a submodule a file that
//! names one), `HEAD` in it, and `commondir`, which leads from a worktree's folder to the folder that
//! all worktrees share. Git is not run and its configuration is not read, so a repository of another
//! user is no danger; a repository that cannot be read counts as none.
//!
//! It is here because sessions note where they are used and claims count per repository: both
//! crates build on this one, and on nothing else in common.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// None of these files is longer.
const LONGEST: u64 = 4096;

/// A repository, seen from one of its worktrees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// What all its worktrees share: Git's folder of the first one.
    pub common: PathBuf,
    /// The top of this worktree.
    pub worktree: PathBuf,
    /// The branch; `None` if a commit is checked out.
    pub branch: Option<String>,
}

impl Repository {
    /// The repository that a folder belongs to.
    #[must_use]
    pub fn around(folder: &Path) -> Option<Self> {
        let folder = fs::canonicalize(folder).ok()?;
        folder.ancestors().find_map(|worktree| {
            let git = git_folder(worktree).or_else(|| bare(worktree))?;
            let head = line(&git.join("HEAD"))?;
            let common = line(&git.join("commondir")).map(|path| git.join(path));
            Some(Self {
                common: common.and_then(|path| fs::canonicalize(path).ok()).unwrap_or(git),
                worktree: worktree.to_owned(),
                branch: head.strip_prefix("ref: refs/heads/").map(str::to_owned),
            })
        })
    }

    /// The folder for people: its first worktree, or the repository itself if it is bare.
    #[must_use]
    pub fn folder(&self) -> &Path {
        match (self.common.file_name(), self.common.parent()) {
            (Some(name), Some(parent)) if name == ".git" => parent,
            _ => &self.common,
        }
    }

    /// Whether it belongs to another user.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        is_foreign(&self.common)
    }
}

/// The folder with Git's files of a worktree, if this is one.
fn git_folder(worktree: &Path) -> Option<PathBuf> {
    let git = worktree.join(".git");
    let folder = match line(&git) {
        Some(named) => worktree.join(named.strip_prefix("gitdir: ")?),
        None => git,
    };
    fs::canonicalize(folder).ok().filter(|it| it.is_dir())
}

/// A repository without a worktree is its own folder.
fn bare(folder: &Path) -> Option<PathBuf> {
    ["HEAD", "objects", "refs"].iter().all(|it| folder.join(it).exists()).then(|| folder.to_owned())
}

/// The first line of a short file.
fn line(path: &Path) -> Option<String> {
    // A FIFO of that name would wait for ever.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut text = String::new();
    fs::File::open(path).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    text.lines().next().map(|line| line.trim_end().to_owned())
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(folder: &Path, arguments: &[&str]) {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let mut command = Command::new("git");
        command.current_dir(folder).args(identity).args(arguments).env("GIT_CONFIG_GLOBAL", "");
        assert!(command.output().expect("git is installed").status.success(), "{arguments:?}");
    }

    #[cfg_attr(windows, ignore = "there is no git under Wine")]
    #[test]
    fn worktrees_branches_and_commits() {
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        let (first, second) = (home.join("first"), home.join("second"));
        fs::create_dir_all(first.join("deep/below")).unwrap();
        assert_eq!(Repository::around(&first), None);
        git(&first, &["init", "-b", "main"]);
        let expected = Repository {
            common: first.join(".git"),
            worktree: first.clone(),
            branch: Some("main".into()),
        };
        assert_eq!(Repository::around(&first.join("deep/below")), Some(expected.clone()));
        assert_eq!(expected.folder(), first);

        git(&first, &["commit", "--allow-empty", "-m", "x"]);
        git(&first, &["worktree", "add", "-b", "feature/x", "../second"]);
        let branch = Some("feature/x".into());
        let other = Repository { worktree: second.clone(), branch, ..expected.clone() };
        assert_eq!(Repository::around(&second), Some(other));
        git(&first, &["checkout", "--detach"]);
        assert_eq!(Repository::around(&first), Some(Repository { branch: None, ..expected }));

        git(&home, &["clone", "--bare", "first", "bare"]);
        let bare = Repository::around(&home.join("bare/refs")).unwrap();
        assert_eq!(bare.folder(), home.join("bare"));
    }

    #[test]
    fn malformed_git_files_are_no_repository() {
        let home = tempfile::tempdir().unwrap();
        for text in ["", "gitdir: /nowhere", "gitdir: ", "rubbish\0"] {
            fs::write(home.path().join(".git"), text).unwrap();
            assert_eq!(Repository::around(home.path()), None, "{text:?}");
        }
    }
}
