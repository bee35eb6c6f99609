//! Runs git for diffs, changed files, names of commits and the place of hooks.
//!
//! Git is started without a shell. Arguments that make it write files, run programs or read files out of
//! the repository are refused, and programs that a repository names are turned off (`isolation.rs`).

mod isolation;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::progress::Step;
use crate::reason::Reason;
use crate::resolve::{self, Found};
use crate::run::{self, Captured, End, Kept, Streams};
use crate::section::Skipped;
use crate::setting::Setting;
use crate::walk;

/// With every diff.
const DIFF: &[&str] =
    &["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty"];

/// With every list of files.
const NAMES: &[&str] = &["--name-only", "-z", "--no-relative", "--diff-filter=d"];

/// Long options that do more than to compare, and what that is. Git takes any beginning of them, too.
const REFUSED: &[(&str, &str)] = &[
    ("--output", "it writes a file"),
    ("--ext-diff", "it runs a program"),
    ("--textconv", "it runs a program"),
    ("--no-index", OUTSIDE),
    ("--submodule", "it runs git in submodules"),
    ("--ignore-submodules", "it runs git in submodules"),
    ("--alternate-refs", "it runs a program"),
    ("--remerge-diff", "it runs a program"),
    ("--diff-merges", "it runs a program"),
];

/// Why paths out of the repository are refused.
const OUTSIDE: &str = "it reads files outside of Git; add the files themselves";

/// Options that begin like refused ones and are allowed.
const ALLOWED: &[&str] = &["--no", "--text", "--exit-code", "--output-indicator", "--diff"];

/// Short options that take what follows them as their value.
const WITH_VALUE: &[char] = &['B', 'C', 'G', 'I', 'M', 'S', 'U', 'X', 'l'];

/// How many commits are offered.
const COMMITS: &str = "-10";
/// How many branches and tags are offered, of each.
const REFS: &str = "--count=500";

/// A diff, or as much of it as is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// The text.
    pub text: String,
    /// How many bytes more there are.
    pub beyond: u64,
    /// Whether it has bytes that are not UTF-8; they are replaced.
    pub replaced: bool,
}

/// The files that changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changed {
    /// Those that are there.
    pub found: Vec<Found>,
    /// Which of them are left out, and why.
    pub skipped: Vec<Skipped>,
}

/// Where git looks for the hooks of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hooks {
    /// The folder.
    pub folder: PathBuf,
    /// The folder without the setting `core.hooksPath`.
    pub own: PathBuf,
    /// That setting, and whose configuration it is in, as git calls it.
    pub setting: Option<(String, PathBuf)>,
}

/// Something that a diff can be taken against.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ref {
    /// What to type.
    pub name: String,
    /// What it is: `branch`, `tag`, or the subject of a commit.
    pub about: String,
}

/// The diff for some arguments of `git diff`.
///
/// Without any: what is not committed; if all is, the last commit.
pub fn diff(arguments: &[String], folder: &Path, setting: &Setting) -> Result<Diff> {
    check_options(arguments)?;
    let git = Git::new(folder, setting)?;
    let arguments = git.checked(arguments)?;
    let mut captured = git.ask(&[DIFF, &words(&arguments)].concat(), setting.limits.diff)?;
    let (text, replaced) = captured.output.take_text();
    Ok(Diff { text, beyond: captured.output.beyond, replaced })
}

/// An error if git does not take some arguments of `git diff`: an unknown revision, an option that is
/// refused, a path that is not tracked and not in the diff either.
pub fn check(arguments: &[String], folder: &Path, setting: &Setting) -> Result<()> {
    check_options(arguments)?;
    let git = Git::new(folder, setting)?;
    let arguments = git.checked(arguments)?;
    git.has_changes(&words(&arguments))?;
    let Some(end) = arguments.iter().position(|word| word == "--") else { return Ok(()) };
    let (options, paths) = (words(&arguments[..end]), words(&arguments[end + 1..]));
    for path in paths {
        if let Err(unknown) = git.text(&["ls-files", "--error-unmatch", "--", path])
            && !git.has_changes(&[options.as_slice(), &["--", path]].concat())?
        {
            return Err(unknown);
        }
    }
    Ok(())
}

/// The files that changed, by the same arguments; of what is not there, nothing is said.
///
/// The author of a branch chose the names, so the rules for folders hold: links out of the repository
/// and links to folders are left out.
pub fn changed(arguments: &[String], folder: &Path, setting: &Setting) -> Result<Changed> {
    check_options(arguments)?;
    let git = Git::new(folder, setting)?;
    let arguments = git.checked(arguments)?;
    let root = PathBuf::from(git.line(&["rev-parse", "--show-toplevel"])?);
    let paths = arguments.iter().position(|word| word == "--").unwrap_or(arguments.len());
    let (options, paths) = arguments.split_at(paths);
    let asked = [DIFF, &words(options), NAMES, &words(paths)].concat();
    let names = git.ask(&asked, usize::MAX)?.output.bytes;
    // Of a merge, a file can be told twice.
    let names: BTreeSet<&[u8]> = names.split(|byte| *byte == 0).collect();
    let real_root = root.canonicalize().map_err(|_| Error::NotFound(root.clone()))?;
    let mut changed = Changed::default();
    for name in names.into_iter().filter(|name| !name.is_empty()).map(path) {
        let path = root.join(&name);
        // A submodule is a folder.
        if path.symlink_metadata().map_or(true, |it| it.is_dir()) {
            continue;
        }
        let reason = match walk::follow(&path, &real_root) {
            Err(reason) => reason,
            Ok(real) => match resolve::found(&path, &real, false, setting) {
                Ok(found) => {
                    changed.found.push(found);
                    continue;
                }
                Err(_) => Reason::NameNotUtf8,
            },
        };
        changed.skipped.push(Skipped::new(walk::with_slashes(&name), &reason));
    }
    Ok(changed)
}

/// The files of a worktree that differ from its commit, as `git status --short` names them.
pub fn uncommitted(worktree: &Path, setting: &Setting) -> Result<Vec<String>> {
    let git = Git::new(worktree, setting)?;
    git.check_paths(&[])?;
    let status = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=all"];
    Ok(git.text(&status)?.lines().map(str::to_owned).collect())
}

/// The files that the next commit would change, from the top of the worktree; of a rename, both names.
/// Git compares the index with a commit, and reads no file of the worktree, wherever that is.
pub fn staged(worktree: &Path, setting: &Setting) -> Result<Vec<String>> {
    let git = Git::new(worktree, setting)?;
    let asked =
        [DIFF, &["--cached", "--name-only", "-z", "--no-relative", "--no-renames"]].concat();
    let names = git.ask(&asked, usize::MAX)?.output.bytes;
    let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

/// The files that the last commit changed, from the top of the worktree; of a rename, both names; of a merge,
/// those that differ from any of its parents. None if there is no commit.
pub fn committed(worktree: &Path, setting: &Setting) -> Result<Vec<String>> {
    let git = Git::new(worktree, setting)?;
    if !git.has("HEAD") {
        return Ok(Vec::new());
    }
    let options = ["--root", "-r", "-m", "--no-commit-id", "--name-only", "-z", "--no-renames"];
    let asked = [&["diff-tree"], &options[..], &["HEAD"]].concat();
    let names = git.ask(&asked, usize::MAX)?.output.bytes;
    let names = names.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    Ok(names.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

/// What a diff can be taken against: the last commits, branches and tags.
pub fn refs(folder: &Path, setting: &Setting) -> Result<Vec<Ref>> {
    let git = Git::new(folder, setting)?;
    if !git.has("HEAD") {
        return Ok(Vec::new());
    }
    let mut refs = Vec::new();
    let log = git.text(&["log", COMMITS, "--no-show-signature", "--format=%h%x09%s"])?;
    let commits: Vec<(&str, &str)> = log.lines().filter_map(|it| it.split_once('\t')).collect();
    for (name, back) in [("HEAD", 0), ("HEAD~1", 1), ("HEAD~2", 2), ("HEAD~3", 3)] {
        // In the order of a log, the first parents are not always the next lines.
        if back == 0 || git.has(name) {
            let subject = git.text(&["log", "-1", "--no-show-signature", "--format=%s", name])?;
            refs.push(Ref { name: name.into(), about: subject.trim_end().to_owned() });
        }
    }
    for (kind, folder) in [("branch", "heads"), ("remote", "remotes"), ("tag", "tags")] {
        let folder = format!("refs/{folder}");
        let newest = "--sort=-creatordate";
        let format = "--format=%(refname:short)";
        let names = git.text(&["for-each-ref", REFS, newest, format, &folder])?;
        refs.extend(names.lines().map(|name| Ref { name: name.into(), about: kind.into() }));
    }
    let commits = commits.into_iter();
    refs.extend(commits.map(|(name, about)| Ref { name: name.into(), about: about.into() }));
    Ok(refs)
}

/// Where git looks for the hooks of the repository around a folder. No hook runs.
pub fn hooks(folder: &Path, setting: &Setting) -> Result<Hooks> {
    let git = Git { asked: Some("core.hooksPath"), ..Git::new(folder, setting)? };
    let place = |name: &[&str]| {
        let asked = [&["rev-parse", "--path-format=absolute"], name].concat();
        git.ask(&asked, usize::MAX).map(|asked| path(line(&asked.output.bytes)))
    };
    let named = ["config", "-z", "--show-scope", "--type=path", "--get", "core.hooksPath"];
    let named = match git.ask(&named, usize::MAX) {
        Ok(asked) => asked.output.bytes,
        // Git says nothing, and exits with 1, if there is no such setting.
        Err(Error::Git(said)) if said == SILENT => Vec::new(),
        Err(error) => return Err(error),
    };
    let mut parts = named.split(|byte| *byte == 0);
    let shared = match (parts.next(), parts.next()) {
        (Some(scope), Some(folder)) => {
            Some((String::from_utf8_lossy(scope).into_owned(), path(folder)))
        }
        _ => None,
    };
    Ok(Hooks {
        folder: place(&["--git-path", "hooks"])?,
        own: place(&["--git-common-dir"])?.join("hooks"),
        setting: shared,
    })
}

/// The only line.
fn line(bytes: &[u8]) -> &[u8] {
    bytes.strip_suffix(b"\n").unwrap_or(bytes)
}

/// What is said of a git that fails and says nothing.
const SILENT: &str = "failed without a message";

struct Git<'a> {
    folder: &'a Path,
    setting: &'a Setting<'a>,
    /// Options that turn off programs of the repository.
    overrides: Vec<String>,
    /// The setting that the repository is asked for.
    asked: Option<&'static str>,
}

impl<'a> Git<'a> {
    /// Git in the repository around a folder; an error without a repository, or if its working tree is
    /// elsewhere.
    fn new(folder: &'a Path, setting: &'a Setting<'a>) -> Result<Self> {
        let mut git = Self { folder, setting, overrides: Vec::new(), asked: None };
        git.line(&["rev-parse", "--git-dir"])?;
        let listed = git.ask(isolation::LIST, usize::MAX)?.output.bytes;
        if isolation::has_unusable_names(&listed) {
            return Err(Error::Git(
                "a setting of the repository has a name that is not UTF-8".into(),
            ));
        }
        git.overrides = isolation::overrides(&listed);
        Ok(git)
    }

    /// The arguments, if they read nothing out of the repository; the usual ones if there are none.
    fn checked(&self, arguments: &[String]) -> Result<Vec<String>> {
        self.check_paths(arguments)?;
        if arguments.is_empty() { self.usual() } else { Ok(arguments.to_vec()) }
    }

    /// An error if files out of the repository would be read.
    fn check_paths(&self, arguments: &[String]) -> Result<()> {
        // In a folder without a working tree there are no files to compare with.
        let Ok(root) = self.line(&["rev-parse", "--show-toplevel"]) else { return Ok(()) };
        let root = PathBuf::from(root);
        if !isolation::is_own_root(&root, self.folder) {
            let elsewhere =
                format!("core.worktree leads out of the repository: {}", root.display());
            return Err(Error::Git(elsewhere));
        }
        let (root, folder) = (root.canonicalize().unwrap_or(root), self.folder);
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        match arguments.iter().find(|word| isolation::leads_out(word, &folder, &root)) {
            None => Ok(()),
            Some(word) => Err(Error::Refused { argument: word.clone(), reason: OUTSIDE }),
        }
    }

    /// Whether a diff shows anything. Git stops at the first change.
    fn has_changes(&self, arguments: &[&str]) -> Result<bool> {
        let asked = [DIFF, &["--quiet"], arguments].concat();
        let mut captured = self.capture(&asked, self.setting.limits.diff)?;
        match captured.end {
            // `--check` has its own number for a difference.
            End::Exited(1..=3) if captured.errors.bytes.is_empty() => Ok(true),
            // With this option, git ends well even if it does not know another one.
            End::Exited(0) if captured.errors.bytes.starts_with(b"error: ") => {
                Err(Error::Git(complaint(&mut captured.errors)))
            }
            _ => self.judged(captured).map(|_| false),
        }
    }

    fn usual(&self) -> Result<Vec<String>> {
        if !self.has("HEAD") {
            return Err(Error::NoCommits(self.folder.to_owned()));
        }
        // One name tells enough.
        let changes = self.ask(&[DIFF, &["--name-only", "HEAD"]].concat(), 1)?;
        if !changes.output.bytes.is_empty() {
            return Ok(vec!["HEAD".into()]);
        }
        if self.has("HEAD~1") {
            return Ok(vec!["HEAD~1".into()]);
        }
        // Its name depends on how the repository makes names.
        let nothing = self.line(&["hash-object", "-t", "tree", "--stdin"])?;
        Ok(vec![nothing, "HEAD".into()])
    }

    fn has(&self, commit: &str) -> bool {
        let commit = format!("{commit}^{{commit}}");
        self.line(&["rev-parse", "--verify", "--quiet", &commit]).is_ok()
    }

    fn line(&self, arguments: &[&str]) -> Result<String> {
        self.text(arguments).map(|text| text.trim_end_matches(['\r', '\n']).to_owned())
    }

    fn text(&self, arguments: &[&str]) -> Result<String> {
        self.ask(arguments, self.setting.limits.diff).map(|mut asked| asked.output.take_text().0)
    }

    /// What git says, unless it complains.
    fn ask(&self, arguments: &[&str], most: usize) -> Result<Captured> {
        self.judged(self.capture(arguments, most)?)
    }

    fn capture(&self, arguments: &[&str], most: usize) -> Result<Captured> {
        let mut command = Command::new(self.setting.git);
        isolation::isolate(&mut command, &self.overrides, self.asked);
        command.args(arguments);
        (self.setting.progress)(Step::Running("git"));
        run::capture(command, self.folder, Streams::Apart, most, self.setting)
    }

    fn judged(&self, mut captured: Captured) -> Result<Captured> {
        let complaint = complaint(&mut captured.errors);
        match captured.end {
            End::Exited(0) => Ok(captured),
            // `--exit-code` and `--check` tell of differences so.
            End::Exited(1..=3) if complaint.is_empty() && !captured.output.bytes.is_empty() => {
                Ok(captured)
            }
            End::TimedOut => {
                Err(Error::TimedOut { program: "git".into(), after: self.setting.limits.time })
            }
            _ if complaint.contains("not a git repository") => {
                Err(Error::NoRepository(self.folder.to_owned()))
            }
            _ if complaint.is_empty() => Err(Error::Git(SILENT.into())),
            _ => Err(Error::Git(complaint)),
        }
    }
}

/// What git said that went wrong, without its word for it.
fn complaint(errors: &mut Kept) -> String {
    let (text, _) = errors.take_text();
    let text = text.trim();
    ["fatal: ", "error: "].iter().find_map(|it| text.strip_prefix(it)).unwrap_or(text).to_owned()
}

/// An error if an option does more than to compare.
fn check_options(arguments: &[String]) -> Result<()> {
    for argument in arguments.iter().take_while(|argument| *argument != "--") {
        if let Some(reason) = refusal(argument) {
            return Err(Error::Refused { argument: argument.clone(), reason });
        }
    }
    Ok(())
}

/// Why an argument is refused, if it is.
fn refusal(argument: &str) -> Option<&'static str> {
    if argument.starts_with("--") {
        let name = argument.split('=').next().unwrap_or(argument);
        let beginning = |(option, reason): &(&str, &'static str)| {
            (name.len() > 2 && option.starts_with(name)).then_some(*reason)
        };
        return REFUSED.iter().filter(|_| !ALLOWED.contains(&name)).find_map(beginning);
    }
    // Short ones can stand together: -pO is -p -O.
    let letters = argument.strip_prefix('-')?.chars();
    let mut own = letters.take_while(|letter| !WITH_VALUE.contains(letter));
    own.any(|letter| letter == 'O').then_some("it reads a file that is not part of the diff")
}

fn words(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

#[cfg(unix)]
fn path(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}

#[cfg(not(unix))]
fn path(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::refusal;

    #[test]
    fn what_does_more_than_to_compare_is_refused() {
        for refused in [
            "--output",
            "--output=x",
            "--outp=x",
            "--o",
            "--ext-diff",
            "--ext",
            "--textconv",
            "--textc",
            "--no-index",
            "--no-ind",
            "-Ofile",
            "-O",
            "-pOfile",
            "-DOfile",
            "--submodule=diff",
            "--subm",
            "--ignore-submodules=none",
            "--alternate-refs",
            "--remerge-diff",
            "--diff-merges=remerge",
        ] {
            assert!(refusal(refused).is_some(), "{refused}");
        }
        for allowed in [
            "HEAD",
            "main..x",
            "--",
            "--staged",
            "--cached",
            "--stat",
            "--name-only",
            "-U10",
            "-SOO",
            "-p",
            "--text",
            "--exit-code",
            "-M50%",
            "--output-indicator-new=x",
            "--no-prefix",
            "--diff-filter=d",
            "--ignore-all-space",
            "-",
            "",
            "-w",
            "a-O",
            "-UO",
        ] {
            assert_eq!(refusal(allowed), None, "{allowed}");
        }
    }
}
