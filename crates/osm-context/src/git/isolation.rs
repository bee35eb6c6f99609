//! Keeps git from running what a repository names.
//!
//! A repository may come from a stranger. Its configuration, attributes, hooks, submodules and remotes
//! can name programs. Git has no switch for all of them: most are overridden by options (`GLOBAL`,
//! `VARIABLES`), and those whose names the repository chooses, such as filters, are looked up first and
//! overridden one by one. Filters that the user configured globally stay on, such as that of Git LFS.
//! Git asks a changed submodule by running itself there, under that submodule's configuration, without
//! these options; so changes inside of submodules are not looked at.

use std::path::{Component, Path, PathBuf};
use std::process::Command;

/// Before every command.
const GLOBAL: &[&str] = &["--no-pager", "--no-optional-locks"];

/// Settings that a repository cannot change.
const SETTINGS: &[&str] = &[
    "color.ui=false",
    "core.alternateRefsCommand=false",
    "core.askPass=",
    "core.fsmonitor=false",
    "core.gitProxy=",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "credential.helper=",
    "diff.ignoreSubmodules=dirty",
    "diff.submodule=short",
    "gc.auto=0",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "log.showSignature=false",
    "maintenance.auto=false",
    "protocol.allow=never",
    "safe.bareRepository=explicit",
    "submodule.recurse=false",
];

/// Variables for every command: nothing is fetched, and nothing is asked. What git says is looked at, so
/// it must not depend on the user's language.
const VARIABLES: &[(&str, &str)] = &[
    ("GIT_ALLOW_PROTOCOL", "none"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
    (EMPTY, ""),
    (FALSE, "false"),
];

/// Variables that hold a setting's value: `-c` cannot set a name with `=` in it.
const EMPTY: &str = "OSM_GIT_EMPTY";
const FALSE: &str = "OSM_GIT_FALSE";

/// Settings that run a program, by the first and last part of their names, and the variable with the
/// value that turns them off.
const PROGRAMS: &[(&str, &str, &str)] = &[
    ("credential", "helper", EMPTY),
    ("diff", "command", FALSE),
    ("diff", "textconv", FALSE),
    ("filter", "clean", EMPTY),
    ("filter", "process", EMPTY),
    ("filter", "required", FALSE),
    ("filter", "smudge", EMPTY),
    ("merge", "driver", FALSE),
];

/// The command that lists all settings with their scopes.
pub(super) const LIST: &[&str] = &["config", "--list", "--null", "--show-scope"];

/// Adds options and variables to a command: the common ones, and those for settings of the repository.
/// The setting `asked` is not overridden: a command that asks for it must see it.
pub(super) fn isolate(command: &mut Command, overrides: &[String], asked: Option<&str>) {
    command.args(GLOBAL);
    let is_asked = |setting: &str| setting.split('=').next() == asked;
    for setting in SETTINGS.iter().filter(|setting| !is_asked(setting)) {
        command.args(["-c", setting]);
    }
    command.args(overrides);
    command.envs(VARIABLES.iter().copied());
}

/// Options that turn off the programs of the repository, from the output of [`LIST`].
pub(super) fn overrides(listed: &[u8]) -> Vec<String> {
    let mut parts = listed.split(|byte| *byte == 0);
    let mut options = Vec::new();
    while let (Some(scope), Some(setting)) = (parts.next(), parts.next()) {
        if !matches!(scope, b"local" | b"worktree") {
            continue;
        }
        let name = setting.split(|byte| *byte == b'\n').next().unwrap_or_default();
        // Names that are not UTF-8 are refused before: `has_unusable_names`.
        let name = String::from_utf8_lossy(name);
        options.extend(off(&name).map(|value| format!("--config-env={name}={value}")));
    }
    options.sort();
    options.dedup();
    options
}

/// The variable with the value that turns off a setting, if it runs a program.
fn off(name: &str) -> Option<&'static str> {
    let (first, rest) = name.split_once('.')?;
    let (_, last) = rest.rsplit_once('.')?;
    PROGRAMS.iter().find(|it| it.0 == first && it.1 == last).map(|it| it.2)
}

/// Whether a setting that runs a program has a name that is not UTF-8, which cannot be overridden.
pub(super) fn has_unusable_names(listed: &[u8]) -> bool {
    let is_program = |name: &[u8]| off(&String::from_utf8_lossy(name)).is_some();
    listed
        .split(|byte| *byte == 0)
        .map(|part| part.split(|byte| *byte == b'\n').next().unwrap_or_default())
        .any(|name| std::str::from_utf8(name).is_err() && is_program(name))
}

/// Whether a word of `git diff` is a path out of the repository: with two paths, of which one is
/// outside, git compares any files.
pub(super) fn leads_out(word: &str, folder: &Path, root: &Path) -> bool {
    let path = Path::new(word);
    let climbs = path.components().any(|part| part == Component::ParentDir);
    if !path.is_absolute() && !climbs && !word.starts_with('/') {
        return false;
    }
    let joined = folder.join(path);
    let real = joined.canonicalize().unwrap_or_else(|_| cleaned(&joined));
    !real.starts_with(root)
}

/// A path without `.` and `..`.
fn cleaned(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(cleaned.pop()),
            part => cleaned.push(part),
        }
    }
    cleaned
}

/// Whether the root of the working tree is the folder with `.git` in it, as it is unless `core.worktree`
/// leads elsewhere. Without such a folder, the user's variables name the repository.
pub(super) fn is_own_root(root: &Path, folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else { return false };
    let own = folder.ancestors().find(|it| it.join(".git").symlink_metadata().is_ok());
    own.is_none_or(|own| root.canonicalize().is_ok_and(|root| root == own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_the_repository_are_overridden() {
        let listed = b"global\0filter.lfs.clean\ngit lfs\0local\0filter.a=b.c.clean\nx\0\
                       local\0filter.a=b.c.clean\ny\0worktree\0diff.x.textconv\nx\0\
                       local\0core.bare\nfalse\0local\0user.name\0";
        let expected = [
            "--config-env=diff.x.textconv=OSM_GIT_FALSE",
            "--config-env=filter.a=b.c.clean=OSM_GIT_EMPTY",
        ];
        assert_eq!(overrides(listed), expected);
        assert!(overrides(b"").is_empty() && !has_unusable_names(listed));
        assert!(has_unusable_names(b"local\0filter.\xff.clean\nx\0"));
    }

    #[cfg(unix)]
    #[test]
    fn paths_that_lead_out() {
        let (folder, root) = (Path::new("/r/sub"), Path::new("/r"));
        for out in ["/dev/null", "/etc/passwd", "../../x", "../..", "a/../../../x", "/"] {
            assert!(leads_out(out, folder, root), "{out}");
        }
        for inside in ["x", "../x", "HEAD..main", "HEAD", "/r/x", "/r", "main:../x", "..."] {
            assert!(!leads_out(inside, folder, root), "{inside}");
        }
    }
}
