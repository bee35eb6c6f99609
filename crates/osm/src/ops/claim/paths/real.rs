//! The real name of a path: links of what exists are resolved, the rest is folded as text.
//!
//! `..` behind a link means the folder above the target, as it does for the system. A link whose target
//! is missing means that target: an edit would create it.

use std::fs;
use std::path::{Component, Path, PathBuf};

/// The most links whose target is missing that are followed.
const MOST_LINKS: usize = 40;

/// A path without links and without `.` and `..`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Real {
    /// The path.
    pub(super) path: PathBuf,
    /// The part of it that exists.
    pub(super) existing: PathBuf,
    /// It is a folder.
    pub(super) is_folder: bool,
    /// The device and the inode, if it is a file with several names.
    pub(super) link: Option<(u64, u64)>,
}

impl Real {
    /// The real name of an absolute path. Nothing is opened or written.
    pub(super) fn of(path: &Path) -> Self {
        if let Ok(path) = fs::canonicalize(path) {
            return Self::existing(path);
        }
        let mut real = PathBuf::new();
        walk(path, &mut real, MOST_LINKS);
        let existing = real.ancestors().find(|it| it.symlink_metadata().is_ok());
        let existing = existing.unwrap_or(Path::new("/")).to_owned();
        if existing == real {
            return Self::existing(real);
        }
        Self { path: real, existing, is_folder: false, link: None }
    }

    fn existing(path: PathBuf) -> Self {
        let metadata = path.metadata().ok();
        let is_folder = metadata.as_ref().is_some_and(fs::Metadata::is_dir);
        let link = metadata.as_ref().and_then(link);
        Self { existing: path.clone(), path, is_folder, link }
    }

    /// The same path with the names of the part that exists as their folders have them. In a folder that
    /// folds case, several spellings find one file.
    pub(super) fn as_stored(&self) -> Self {
        let mut stored = PathBuf::new();
        for component in self.existing.components() {
            let name = component.as_os_str();
            let folded = |it: &std::ffi::OsStr| it.to_string_lossy().to_lowercase();
            let entries = match component {
                Component::Normal(_) => fs::read_dir(&stored).ok(),
                _ => None,
            };
            let names: Vec<_> =
                entries.into_iter().flatten().flatten().map(|it| it.file_name()).collect();
            let is_there = names.iter().any(|it| it == name);
            let other = names.iter().find(|it| !is_there && folded(it) == folded(name));
            stored.push(other.map_or(name, |it| it.as_os_str()));
        }
        let rest = self.path.strip_prefix(&self.existing).unwrap_or(Path::new(""));
        Self {
            path: if rest.as_os_str().is_empty() { stored.clone() } else { stored.join(rest) },
            existing: stored,
            ..self.clone()
        }
    }
}

/// Adds a path to a real one, name by name.
fn walk(path: &Path, real: &mut PathBuf, links: usize) {
    for component in path.components() {
        match component {
            Component::Prefix(_) | Component::RootDir => real.push(component),
            Component::CurDir => {}
            Component::ParentDir => drop(real.pop()),
            Component::Normal(name) => {
                real.push(name);
                if let Ok(resolved) = fs::canonicalize(&*real) {
                    *real = resolved;
                } else if let (Ok(target), 1..) = (fs::read_link(&*real), links) {
                    real.pop();
                    if target.is_absolute() {
                        *real = PathBuf::new();
                    }
                    walk(&target, real, links - 1);
                }
            }
        }
    }
}

#[cfg(unix)]
fn link(metadata: &fs::Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    (metadata.is_file() && metadata.nlink() > 1).then(|| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn link(_metadata: &fs::Metadata) -> Option<(u64, u64)> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn spellings_of_one_path() {
        let home = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(home.path()).unwrap();
        fs::create_dir_all(top.join("a/deep")).unwrap();
        fs::write(top.join("a/x"), "").unwrap();
        symlink("a/deep", top.join("to-deep")).unwrap();
        symlink("a/new", top.join("to-new")).unwrap();
        symlink("loop", top.join("loop")).unwrap();
        for (typed, real) in [
            ("a/x", "a/x"),
            ("./a//x", "a/x"),
            ("a/deep/../x", "a/x"),
            ("missing/../a/x", "a/x"),
            ("to-deep/../x", "a/x"),
            ("to-deep/new.rs", "a/deep/new.rs"),
            ("to-new", "a/new"),
            ("to-new/below", "a/new/below"),
            ("a/missing/./deep/..", "a/missing"),
            ("loop", "loop"),
        ] {
            let found = Real::of(&top.join(typed));
            assert_eq!(found.path, top.join(real), "{typed}");
            assert!(found.path.starts_with(&found.existing), "{typed}");
        }
        assert!(Real::of(&top.join("to-deep")).is_folder);
        assert_eq!(Real::of(&top.join("a/x")).link, None);
        fs::hard_link(top.join("a/x"), top.join("y")).unwrap();
        let (one, other) = (Real::of(&top.join("a/x")), Real::of(&top.join("y")));
        assert!(one.link.is_some() && one.link == other.link);
        let upper = Real { path: top.join("A/X/new"), existing: top.join("A/X"), ..one };
        assert_eq!(upper.as_stored().path, top.join("a/x/new"), "as far as the folders exist");
    }
}
