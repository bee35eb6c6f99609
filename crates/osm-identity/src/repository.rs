//! The Git repository that a folder belongs to, read from Git's own files.
//!
//! Three of them suffice: `.git` (a folder, or in a second worktree and in a submodule a file that
//! names one), `HEAD` in it, and `commondir`, which leads from a worktree's folder to the folder that
//! all worktrees share. A folder is a repository if Git takes it for one: its `HEAD` is valid, and
//! `objects` and `refs` are folders. Git is not run and its configuration is not read, so a
//! repository of another user is no danger. A file that Git would refuse ends the search, as it
//! does for Git: the repository further up is not the one that was meant.
//!
//! It is here because sessions note where they are used and claims count per repository: both
//! crates build on this one, and on nothing else in common.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::parse::git as parse;

/// None of these files is longer: a path of 4096 bytes with what Git writes around it.
const LONGEST: u64 = 4096 + 64;

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
        folder.ancestors().find_map(|it| Self::of(it).transpose())?.ok()
    }

    /// The repository whose top is this folder.
    fn of(worktree: &Path) -> Result<Option<Self>, Refused> {
        let git = worktree.join(".git");
        if git.is_file() {
            let named = read(&git).and_then(|bytes| path(parse::gitdir(&bytes)?));
            let named = named.ok_or(Refused)?;
            return Self::at(worktree, &worktree.join(named))?.map(Some).ok_or(Refused);
        }
        match Self::at(worktree, &git)? {
            // A repository without a worktree is its own folder.
            None => Self::at(worktree, worktree),
            found => Ok(found),
        }
    }

    /// The repository of a worktree in a folder, if Git takes that for one.
    fn at(worktree: &Path, git: &Path) -> Result<Option<Self>, Refused> {
        let Ok(git) = fs::canonicalize(git) else { return Ok(None) };
        let Some(branch) = head(&git.join("HEAD")) else { return Ok(None) };
        let common = if git.join("commondir").is_file() {
            let named = read(&git.join("commondir"));
            let named = named.and_then(|bytes| path(parse::commondir(&bytes)?));
            let common = git.join(named.ok_or(Refused)?);
            match (fs::canonicalize(&common), common.parent()) {
                (Ok(common), _) => common,
                (Err(_), Some(parent)) if parent.is_dir() => return Ok(None),
                _ => return Err(Refused),
            }
        } else {
            git
        };
        let is_repository = ["objects", "refs"].iter().all(|it| common.join(it).is_dir());
        Ok(is_repository.then(|| Self { common, worktree: worktree.to_owned(), branch }))
    }

    /// Whether it is a bare repository that was found only because the folder is inside it. With
    /// `safe.bareRepository=explicit` Git refuses it: a clone may contain one whose configuration is
    /// a stranger's. The folder `.git` and the folders in it are not meant.
    #[must_use]
    pub fn is_implicit_bare(&self) -> bool {
        self.worktree == self.common && !self.common.iter().any(|name| name == ".git")
    }

    /// The folder for people: its first worktree, or the repository itself if it is bare.
    #[must_use]
    pub fn folder(&self) -> &Path {
        match (self.common.file_name(), self.common.parent()) {
            (Some(name), Some(parent)) if name == ".git" => parent,
            _ => &self.common,
        }
    }

    /// The name that Git gave to this worktree among those of the repository; empty for the first one.
    #[must_use]
    pub fn worktree_name(&self) -> String {
        let named =
            read(&self.worktree.join(".git")).and_then(|bytes| path(parse::gitdir(&bytes)?));
        let git = named.and_then(|named| fs::canonicalize(self.worktree.join(named)).ok());
        let own = git.filter(|git| *git != self.common);
        let name = own.as_deref().and_then(Path::file_name);
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Whether it belongs to another user.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        is_foreign(&self.common)
    }
}

/// Git refuses to go on.
struct Refused;

/// The branch in a `HEAD` that Git takes for one; `Some(None)` if it names something else.
#[expect(clippy::option_option, reason = "a valid HEAD may name no branch")]
fn head(file: &Path) -> Option<Option<String>> {
    let branch = |head: parse::Head| head.branch().map(str::to_owned);
    if let Ok(target) = fs::read_link(file) {
        return parse::reference(target.as_os_str().as_encoded_bytes()).map(branch);
    }
    parse::head(&read(file)?).map(branch)
}

/// A short file.
fn read(path: &Path) -> Option<Vec<u8>> {
    // A FIFO of that name would wait for ever.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(LONGEST + 1).read_to_end(&mut bytes).ok()?;
    // Half a path is another path.
    (bytes.len() as u64 <= LONGEST).then_some(bytes)
}

/// A path of Git is bytes.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere not every path is possible")]
fn path(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Some(std::ffi::OsStr::from_bytes(bytes).into())
}

#[cfg(not(unix))]
fn path(bytes: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(bytes).ok().map(PathBuf::from)
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

    fn found_at(folder: &Path) -> Repository {
        Repository::around(folder).unwrap()
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
        assert_eq!(Repository::around(&second), Some(other.clone()));
        assert_eq!(expected.worktree_name(), "");
        assert_eq!(other.worktree_name(), "second");
        git(&first, &["checkout", "--detach"]);
        assert_eq!(Repository::around(&first), Some(Repository { branch: None, ..expected }));

        git(&home, &["clone", "--bare", "first", "bare"]);
        let bare = Repository::around(&home.join("bare/refs")).unwrap();
        assert_eq!(bare.folder(), home.join("bare"));
        assert!(bare.is_implicit_bare() && !found_at(&first).is_implicit_bare());
        assert!(!found_at(&first.join(".git/refs")).is_implicit_bare());
    }

    /// What Git says is the folder that all worktrees share.
    fn asked(folder: &Path) -> Option<PathBuf> {
        let output = Command::new("git")
            .args(["rev-parse", "--path-format=absolute", "--git-common-dir"])
            .current_dir(folder)
            .env("GIT_CONFIG_GLOBAL", "")
            .env("GIT_CEILING_DIRECTORIES", "/")
            .output()
            .expect("git is installed");
        let said = String::from_utf8(output.stdout).unwrap();
        output.status.success().then(|| fs::canonicalize(said.trim_end()).unwrap())
    }

    /// Every file of Git that a stranger may have made, in a repository and in a bare one, is taken
    /// for what Git takes it for.
    #[cfg(unix)]
    #[expect(clippy::disallowed_methods, reason = "what is removed here is no user's")]
    #[test]
    fn git_agrees() {
        const COMMIT: &[u8] = b"0123456789abcdef0123456789abcdef01234567\n";
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        git(&home, &["init", "-q", "-b", "main", "outer"]);
        git(&home, &["init", "-q", "-b", "main", "real"]);
        let inner = home.join("outer/inner");
        let real = home.join("real/.git").display().to_string();
        let compare = |what: &str| {
            let found = Repository::around(&inner).map(|it| it.common);
            assert_eq!(found, asked(&inner), "{what}");
            found.is_some()
        };
        let long = format!("gitdir: {}{real}", "/.".repeat(1 << 19));
        let mut repositories = 0;
        for text in [
            format!("gitdir: {real}"),
            format!("gitdir: {real}\r\n\n"),
            "gitdir: ../../real/.git\n".into(),
            format!("gitdir: {real}\nmore"),
            format!("gitdir:{real}"),
            format!("gitdir: {real} "),
            format!("gitdir: {}", home.display()),
            format!("GITDIR: {real}"),
            "gitdir: ".into(),
            "gitdir: /nowhere".into(),
            String::new(),
            long,
        ] {
            fs::create_dir(&inner).unwrap();
            fs::write(inner.join(".git"), &text).unwrap();
            repositories += usize::from(compare(&text[..text.len().min(80)]));
            fs::remove_dir_all(&inner).unwrap();
        }
        assert_eq!(repositories, 3);

        for below in ["", ".git"] {
            for head in [
                &b"ref: refs/heads/x\n"[..],
                b"ref:refs/heads/x",
                b"ref: x",
                b"ref: refs/",
                COMMIT,
                &COMMIT[1..],
                b"",
                b"\xff",
            ] {
                let folder = inner.join(below);
                fs::create_dir_all(folder.join("objects")).unwrap();
                fs::create_dir(folder.join("refs")).unwrap();
                fs::write(folder.join("HEAD"), head).unwrap();
                compare(&String::from_utf8_lossy(head));
                fs::remove_file(folder.join("HEAD")).unwrap();
                for target in ["refs/heads/none", "nothing", "/refs"] {
                    std::os::unix::fs::symlink(target, folder.join("HEAD")).unwrap();
                    compare(target);
                    fs::remove_file(folder.join("HEAD")).unwrap();
                }
                // A folder like this may be part of any clone.
                fs::write(folder.join("HEAD"), COMMIT).unwrap();
                for name in ["objects", "refs"] {
                    fs::remove_dir(folder.join(name)).unwrap();
                    compare("a folder is missing");
                    fs::write(folder.join(name), "").unwrap();
                    compare("a folder is a file");
                    fs::remove_file(folder.join(name)).unwrap();
                    fs::create_dir(folder.join(name)).unwrap();
                }
                for common in ["../../../real/.git", "../../real/.git", "nowhere"] {
                    fs::write(folder.join("commondir"), common).unwrap();
                    compare(common);
                }
                fs::remove_dir_all(&inner).unwrap();
            }
        }
    }

    /// `objects` and `refs` that are executable files satisfy Git, but not us.
    #[test]
    fn a_repository_has_folders() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("HEAD"), "ref: refs/heads/main").unwrap();
        for name in ["objects", "refs"] {
            let path = home.path().join(name);
            fs::write(&path, "").unwrap();
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        assert_eq!(Repository::around(home.path()), None);
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
