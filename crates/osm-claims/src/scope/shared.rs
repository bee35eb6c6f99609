//! The identity of a repository that its clones on other machines have, too.
//!
//! It is the name in `osm.scope` of the repository's own configuration, or else the root commit of
//! the history that is checked out, followed along first parents: merging an unrelated history adds
//! root commits, but not to that line. A shallow clone has no root commit, and the one that Git
//! shows instead differs from clone to clone; so it is refused, not guessed.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use osm_identity::Repository;

/// What clones of a repository have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SharedScope {
    /// A name: `--scope`, or `osm.scope` in the repository's configuration.
    Named(String),
    /// The root commit of the history.
    RootCommit(String),
}

/// Why a repository has no identity that its clones share.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SharedScopeError {
    /// The clone is shallow: its first commits are missing.
    #[error("the repository is a shallow clone, so that its root commit is not known")]
    Shallow,
    /// Nothing is committed yet.
    #[error("the repository has no commit")]
    NoCommit,
    /// Git could not be run.
    #[error("cannot run git: {0}")]
    Git(#[source] std::io::Error),
}

impl SharedScope {
    /// Reads the identity of a repository.
    ///
    /// Git reads one file and walks commits; whatever the repository's configuration could start is
    /// switched off.
    pub fn of(repository: &Repository) -> Result<Self, SharedScopeError> {
        let config = repository.common.join("config");
        let config = config.as_os_str();
        let named = git(&repository.worktree, |command| {
            command.args(["config", "--no-includes", "--file"]).arg(config);
            command.args(["--get", "osm.scope"]);
        })?;
        if let Some(name) = line(&named).filter(|name| !name.is_empty()) {
            return Ok(Self::Named(name));
        }
        let shallow = git(&repository.worktree, |command| {
            command.args(["rev-parse", "--is-shallow-repository"]);
        })?;
        if line(&shallow).as_deref() == Some("true") {
            return Err(SharedScopeError::Shallow);
        }
        let root = git(&repository.worktree, |command| {
            command.args(["rev-list", "--first-parent", "--max-parents=0", "HEAD", "--"]);
        })?;
        line(&root).map(Self::RootCommit).ok_or(SharedScopeError::NoCommit)
    }

    /// The text by which a ledger that machines share knows the scope.
    #[must_use]
    pub fn key(&self) -> String {
        match self {
            Self::Named(name) => format!("name:{name}"),
            Self::RootCommit(commit) => format!("root:{commit}"),
        }
    }
}

/// Runs git in a folder, without anything that a repository could make it run.
fn git(folder: &Path, arguments: impl FnOnce(&mut Command)) -> Result<Output, SharedScopeError> {
    let mut command = Command::new("git");
    command.current_dir(folder).stdin(Stdio::null());
    for setting in
        ["core.fsmonitor=false", "core.hooksPath=", "core.pager=", "protocol.allow=never"]
    {
        command.args(["-c", setting]);
    }
    command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_NO_REPLACE_OBJECTS", "1");
    command.env("GIT_OPTIONAL_LOCKS", "0").env("GIT_TERMINAL_PROMPT", "0");
    arguments(&mut command);
    command.output().map_err(SharedScopeError::Git)
}

/// The only line that git wrote, if it succeeded.
fn line(output: &Output) -> Option<String> {
    let text = std::str::from_utf8(&output.stdout).ok().filter(|_| output.status.success())?;
    text.lines().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(folder: &Path, arguments: &[&str]) {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let mut command = Command::new("git");
        command.current_dir(folder).args(identity).args(arguments).env("GIT_CONFIG_GLOBAL", "");
        let output = command.output().expect("git is installed");
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    fn shared(folder: &Path) -> Result<SharedScope, SharedScopeError> {
        SharedScope::of(&Repository::around(folder).unwrap())
    }

    #[cfg_attr(windows, ignore = "there is no git under Wine")]
    #[test]
    fn clones_have_one_scope() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let (first, clone, shallow) =
            (home.join("first"), home.join("clone"), home.join("shallow"));
        std::fs::create_dir(&first).unwrap();
        run(&first, &["init", "-b", "main"]);
        assert!(matches!(shared(&first), Err(SharedScopeError::NoCommit)));
        run(&first, &["commit", "--allow-empty", "-m", "one"]);
        run(&home, &["clone", "first", "clone"]);
        let scope = shared(&first).unwrap();
        assert!(matches!(&scope, SharedScope::RootCommit(commit) if commit.len() >= 40));
        assert_eq!(shared(&clone).unwrap(), scope);

        // Another history that is merged adds a root commit, and the scope stays.
        run(&clone, &["checkout", "--orphan", "other"]);
        run(&clone, &["commit", "--allow-empty", "-m", "two"]);
        run(&clone, &["checkout", "main"]);
        run(&clone, &["merge", "--allow-unrelated-histories", "-m", "both", "other"]);
        assert_eq!(shared(&clone).unwrap(), scope);

        let url = format!("file://{}", clone.display());
        run(&home, &["clone", "--depth", "1", &url, "shallow"]);
        assert!(matches!(shared(&shallow), Err(SharedScopeError::Shallow)));
        run(&shallow, &["config", "osm.scope", "team"]);
        assert_eq!(shared(&shallow).unwrap(), SharedScope::Named("team".into()));
        assert_eq!(shared(&shallow).unwrap().key(), "name:team");
    }
}
