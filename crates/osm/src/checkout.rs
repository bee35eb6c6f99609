//! Which checkout of a repository a folder lies in: what `osm session list` shows and filters by.
//!
//! Read from Git's own files, of which three tell everything: `.git` (a folder, or in a second
//! worktree and in a submodule a file that names one), `HEAD` in it, and `commondir`, which leads
//! from a worktree's folder to the repository's. No program is started, nothing is changed, and what
//! cannot be read is not told.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// No file of these is longer.
const LONGEST: u64 = 4096;

/// A checkout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Checkout {
    /// The folder of the repository: where its first worktree is, or the bare repository.
    pub(crate) repository: PathBuf,
    /// The folder of this worktree.
    pub(crate) worktree: PathBuf,
    /// The branch; `None` if a commit is checked out.
    pub(crate) branch: Option<String>,
}

impl Checkout {
    /// The checkout that a folder lies in.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(|worktree| {
            let git = git_folder(worktree)?;
            let head = line(&git.join("HEAD"))?;
            let common = line(&git.join("commondir")).map_or(git.clone(), |path| git.join(path));
            let common = fs::canonicalize(&common).unwrap_or(common);
            let repository = match common.file_name() {
                Some(name) if name == ".git" => common.parent().unwrap_or(&common).to_owned(),
                _ => common,
            };
            Some(Self {
                repository,
                worktree: worktree.to_owned(),
                branch: head.strip_prefix("ref: refs/heads/").map(str::to_owned),
            })
        })
    }
}

/// The folder with Git's files of a worktree, if it is one.
fn git_folder(worktree: &Path) -> Option<PathBuf> {
    let git = worktree.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let named = line(&git)?;
    Some(worktree.join(named.strip_prefix("gitdir: ")?))
}

/// The first line of a short file.
fn line(path: &Path) -> Option<String> {
    // A FIFO of that name would wait for ever.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut text = String::new();
    fs::File::open(path).ok()?.take(LONGEST).read_to_string(&mut text).ok()?;
    text.lines().next().map(|line| line.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn git(folder: &Path, arguments: &[&str]) {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let mut command = Command::new("git");
        command.current_dir(folder).args(identity).args(arguments).env("GIT_CONFIG_GLOBAL", "");
        assert!(command.output().expect("git").status.success(), "{arguments:?}");
    }

    #[test]
    fn worktrees_branches_and_commits() {
        if Command::new("git").arg("--version").output().is_err() {
            return; // Nothing to compare with.
        }
        let home = tempfile::tempdir().expect("a folder");
        let home = fs::canonicalize(home.path()).expect("its path");
        let (first, second) = (home.join("first"), home.join("second"));
        fs::create_dir_all(first.join("deep/below")).expect("folders");
        assert_eq!(Checkout::of(&first), None);
        git(&first, &["init", "-b", "main"]);
        let expected = Checkout {
            repository: first.clone(),
            worktree: first.clone(),
            branch: Some("main".into()),
        };
        assert_eq!(Checkout::of(&first.join("deep/below")), Some(expected.clone()));

        git(&first, &["commit", "--allow-empty", "-m", "x"]);
        git(&first, &["worktree", "add", "-b", "feature/x", "../second"]);
        let other = Checkout {
            worktree: second.clone(),
            branch: Some("feature/x".into()),
            ..expected.clone()
        };
        assert_eq!(Checkout::of(&second), Some(other));
        git(&first, &["checkout", "--detach"]);
        assert_eq!(Checkout::of(&first), Some(Checkout { branch: None, ..expected }));
    }

    #[test]
    fn what_is_no_repository_is_none() {
        let home = tempfile::tempdir().expect("a folder");
        for text in ["", "gitdir: /nowhere", "gitdir: ", "rubbish\0"] {
            fs::write(home.path().join(".git"), text).expect("a file");
            assert_eq!(Checkout::of(home.path()), None, "{text:?}");
        }
    }
}
