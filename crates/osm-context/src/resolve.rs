//! Resolves a path or pattern that the user typed.
//!
//! A name that exists is taken literally, whatever characters it has; otherwise it can be a pattern.
//! Results have absolute paths, because a session can continue in another folder.

use std::path::{Component, Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::plan::Planner;
use crate::progress::Step;
use crate::reason::Reason;
use crate::section::Skipped;
use crate::setting::Setting;
use crate::walk::{self, Scope};

/// A file or a folder that the user named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Where it is: absolute.
    pub path: String,
    /// Where that really is: no link leads there.
    pub real: String,
    /// How it is called: as seen from the folder, if it is below it.
    pub label: String,
    /// Whether it is a folder.
    pub folder: bool,
}

/// What was meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    /// The files and folders: one, or for a pattern one or more.
    pub found: Vec<Found>,
    /// What matches a pattern and is left out, and why.
    pub skipped: Vec<Skipped>,
}

/// The files and folders that were meant.
pub fn resolve(typed: &str, setting: &Setting) -> Result<Resolved> {
    if typed.is_empty() {
        return Err(Error::EmptyPath);
    }
    let path = absolute(typed, setting)?;
    match Planner::new(setting).locate(&path) {
        Ok((real, is_folder)) => {
            let found = vec![found(&path, &real, is_folder, setting)?];
            Ok(Resolved { found, skipped: Vec::new() })
        }
        Err(reason @ (Reason::BrokenLink | Reason::Special(_))) => {
            Err(Error::Unusable { path, reason })
        }
        Err(_) if has_pattern(typed) => matches(typed, &path, setting),
        Err(Reason::NotFound) => Err(Error::NotFound(path)),
        Err(reason) => Err(Error::Unusable { path, reason }),
    }
}

/// How a path is called, as seen from a folder: from within a repository, all of it is seen.
#[must_use]
pub fn label_of(path: &Path, folder: &Path) -> String {
    let seen = |folder: &Path| {
        let root = folder.ancestors().find(|it| it.join(".git").exists()).unwrap_or(folder);
        let shared = folder.ancestors().find(|it| path.starts_with(it) && it.starts_with(root))?;
        let up = folder.strip_prefix(shared).ok()?.components().map(|_| "..");
        let way: PathBuf = up.chain(std::iter::once("")).collect();
        let label = walk::with_slashes(&way.join(path.strip_prefix(shared).ok()?));
        let label = label.trim_end_matches('/');
        Some(if label.is_empty() { ".".to_owned() } else { label.to_owned() })
    };
    seen(folder)
        .or_else(|| seen(&folder.canonicalize().ok()?))
        .unwrap_or_else(|| walk::with_slashes(path))
}

/// The absolute path that was typed.
pub(crate) fn absolute(typed: &str, setting: &Setting) -> Result<PathBuf> {
    Ok(cleaned(&setting.folder.join(expanded(typed, setting)?)))
}

fn expanded(typed: &str, setting: &Setting) -> Result<PathBuf> {
    let below = match typed.strip_prefix('~') {
        Some("") => "",
        Some(rest) if rest.starts_with(std::path::is_separator) => &rest[1..],
        _ => return Ok(PathBuf::from(typed)),
    };
    Ok(setting.home.ok_or(Error::NoHome)?.join(below))
}

/// A path without `.` and `..`. Where a `..` comes after a link, only the system knows where it leads.
fn cleaned(path: &Path) -> PathBuf {
    let parts: Vec<Component> = path.components().collect();
    let Some(last) = parts.iter().rposition(|part| *part == Component::ParentDir) else {
        return parts.iter().collect();
    };
    let (before, rest) = parts.split_at(last + 1);
    let before: PathBuf = before.iter().collect();
    let mut cleaned = before.canonicalize().unwrap_or(before);
    cleaned.extend(rest);
    cleaned
}

/// A file or folder that is to be kept; an error if its name is no text.
pub(crate) fn found(path: &Path, real: &Path, folder: bool, setting: &Setting) -> Result<Found> {
    let label = label_of(path, setting.folder);
    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or_else(|| unnameable(path));
    Ok(Found { path: text(path)?, real: text(real)?, label, folder })
}

fn unnameable(path: &Path) -> Error {
    Error::Unusable { path: path.to_owned(), reason: Reason::NameNotUtf8 }
}

fn has_pattern(text: &str) -> bool {
    text.contains(['*', '?', '[', '{'])
}

/// The files that match a pattern; ignore rules count.
fn matches(typed: &str, path: &Path, setting: &Setting) -> Result<Resolved> {
    let parts: Vec<Component> = path.components().collect();
    let is_pattern = |part: &Component| part.as_os_str().to_str().is_none_or(has_pattern);
    let first = parts.iter().position(is_pattern).unwrap_or(parts.len());
    let (base, pattern) = parts.split_at(first);
    let base: PathBuf = base.iter().collect();
    let pattern = walk::with_slashes(&pattern.iter().collect::<PathBuf>());
    let matcher = matcher(typed, &pattern)?;

    let Ok(root) = base.canonicalize() else { return Err(Error::NotFound(base)) };
    let scope = Scope {
        hidden: pattern.split('/').any(|part| part.starts_with('.')),
        depth: (!pattern.contains("**")).then(|| pattern.split('/').count()),
    };
    let walked = walk::walk(&root, scope, setting)?;
    if let [(name, reason @ Reason::TooManyFiles { .. })] = walked.skipped.as_slice() {
        return Err(Error::Unusable { path: base.join(name), reason: reason.clone() });
    }
    let files = walked.files.iter().filter(|file| matcher.is_match(&file.name));
    // One name that cannot be kept is no reason to refuse the others.
    let (named, unnamed): (Vec<_>, Vec<_>) = files.partition(|file| file.path.to_str().is_some());
    let all = named.iter().enumerate().map(|(at, file)| {
        setting.report(at, Step::Items { done: at, total: named.len() });
        setting.go_on()?;
        found(&base.join(&file.name), &file.path, false, setting)
    });
    let all: Vec<Found> = all.collect::<Result<_>>()?;
    match (all.is_empty(), unnamed.first()) {
        (true, None) => Err(Error::NoMatch(typed.to_owned())),
        (true, Some(file)) => Err(unnameable(&file.path)),
        (false, _) => {
            let label = |path: &Path| label_of(path, setting.folder);
            let skip = |file: &&walk::Walk| Skipped::new(label(&file.path), &Reason::NameNotUtf8);
            Ok(Resolved { found: all, skipped: unnamed.iter().map(skip).collect() })
        }
    }
}

fn matcher(typed: &str, pattern: &str) -> Result<GlobMatcher> {
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    let glob =
        glob.map_err(|source| Error::InvalidPattern { pattern: typed.to_owned(), source })?;
    Ok(glob.compile_matcher())
}
