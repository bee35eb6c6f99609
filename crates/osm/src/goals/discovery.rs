//! Finds the files of goals.
//!
//! The working tree may come from another author. So the number, depth and size of files are limited,
//! and no symbolic link leads out of its folder.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::prompt_file::SUFFIX;
use crate::bare::repository_around;
use crate::ownership;

/// The size of the largest file.
const MAX_BYTES: u64 = 1 << 20;
/// The number of entries in a folder and all folders below.
const MAX_ENTRIES: usize = 10_000;
/// The number of nested folders.
const MAX_DEPTH: usize = 10;

/// The folders of a working tree that hold goals; those of editors come last.
const IN_TREES: [(&str, Kind); 3] =
    [("osm-goals", Kind::Goals), (".osm/goals", Kind::Goals), (".github/prompts", Kind::Prompts)];

/// Where a goal comes from, the first origin wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// The folder `goals` in the user's configuration folder.
    User,
    /// A folder in the setting `goal.paths`.
    Config,
    /// The program.
    BuiltIn,
    /// The working tree.
    Tree,
}

impl Origin {
    /// What comes after `@` to name a goal of this origin.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Config => "config",
            Self::BuiltIn => "builtin",
            Self::Tree => "tree",
        }
    }

    /// The origin of a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        [Self::User, Self::Config, Self::BuiltIn, Self::Tree]
            .into_iter()
            .find(|it| it.name() == name)
    }
}

/// What a folder holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Goals of osm.
    Goals,
    /// Prompts of editors.
    Prompts,
}

/// A folder in which osm looks for goals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GoalFolder {
    pub(crate) origin: Origin,
    pub(crate) kind: Kind,
    pub(crate) path: PathBuf,
}

/// What decides in which folders osm looks for goals.
#[derive(Clone, Debug, Default)]
pub(crate) struct SearchPaths {
    /// The user's configuration folder.
    pub(crate) home: Option<PathBuf>,
    /// The setting `goal.paths`.
    pub(crate) configured: Vec<PathBuf>,
    /// The working directory.
    pub(crate) folder: Option<PathBuf>,
}

/// The file of a goal.
#[derive(Debug)]
pub(super) struct GoalFile {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

/// A problem with a file or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    /// The origin of the goal that cannot be used because of it; `None` for a remark on a goal, and for a
    /// problem with a folder.
    pub(crate) broken: Option<Origin>,
    pub(crate) path: PathBuf,
    pub(crate) line: Option<usize>,
    pub(crate) reason: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl SearchPaths {
    /// The folders in which osm looks for goals, in order.
    pub(crate) fn folders(&self) -> Vec<GoalFolder> {
        let mut folders = Vec::new();
        if let Some(home) = &self.home {
            let path = home.join("goals");
            folders.push(GoalFolder { origin: Origin::User, kind: Kind::Goals, path });
        }
        let trees = self.trees();
        let root = self.tree();
        for path in &self.configured {
            // A configured folder in the working tree is part of the tree: its code needs trust.
            let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            let in_tree = root.as_ref().is_some_and(|root| real.starts_with(root));
            let origin = if in_tree { Origin::Tree } else { Origin::Config };
            folders.push(GoalFolder { origin, kind: Kind::Goals, path: path.clone() });
        }
        for tree in trees {
            for (name, kind) in IN_TREES {
                folders.push(GoalFolder { origin: Origin::Tree, kind, path: tree.join(name) });
            }
        }
        folders
    }

    /// The root of the working tree, as a real path.
    pub(crate) fn tree(&self) -> Option<PathBuf> {
        self.trees().last().and_then(|root| std::fs::canonicalize(root).ok())
    }

    /// The working directory and the folders above it, up to the root of its repository.
    fn trees(&self) -> Vec<PathBuf> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let root = repository_around(folder).map(|it| it.worktree);
        let inside = |it: &&Path| root.as_ref().is_some_and(|root| it.starts_with(root));
        let above = folder.ancestors().skip(1).take_while(inside);
        std::iter::once(folder.as_path()).chain(above).map(Path::to_owned).collect()
    }
}

impl GoalFolder {
    /// Reads the files in order. Files that cannot be used become problems.
    pub(super) fn files(&self, problems: &mut Vec<Problem>) -> Vec<GoalFile> {
        let mut search = Search { within: self, entries: 0, seen: HashSet::new(), problems };
        let mut found = Vec::new();
        match std::fs::canonicalize(&self.path) {
            Ok(root) => {
                let above = || self.above().and_then(|it| std::fs::canonicalize(it).ok());
                if self.origin == Origin::Tree && above().is_some_and(|it| !root.starts_with(it)) {
                    search.complain(&self.path, "ignored: links out of the working tree");
                } else if let Err(reason) = self.check_owner(&root) {
                    search.complain(&self.path, &format!("ignored: {reason}"));
                } else if root.is_dir() {
                    search.folder(&root, &root, 0, &mut found);
                } else {
                    search.complain(&self.path, "not a folder");
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => search.complain(&self.path, &error.to_string()),
        }
        found
    }

    /// Whether no other user can put goals here: into the real folder, or by a link in its place.
    fn check_owner(&self, root: &Path) -> Result<(), String> {
        ownership::check_folder(self.path.parent().unwrap_or(root))?;
        ownership::check_folder(root)
    }

    /// The folder of the working tree that this one must be in.
    fn above(&self) -> Option<&Path> {
        let name = IN_TREES.iter().find(|(name, _)| self.path.ends_with(name))?.0;
        self.path.ancestors().nth(Path::new(name).components().count())
    }

    fn wants(&self, name: &str) -> bool {
        name.ends_with(SUFFIX) || (self.kind == Kind::Goals && without_json(name).is_some())
    }
}

/// The name that a goal's file stands for, if nothing in the file says another.
pub(crate) fn name_of(file: &str) -> &str {
    file.strip_suffix(SUFFIX).or_else(|| without_json(file)).unwrap_or(file)
}

fn without_json(file: &str) -> Option<&str> {
    let (stem, extension) = file.rsplit_once('.')?;
    (!stem.is_empty() && extension.eq_ignore_ascii_case("json")).then_some(stem)
}

struct Search<'a> {
    within: &'a GoalFolder,
    entries: usize,
    seen: HashSet<PathBuf>,
    problems: &'a mut Vec<Problem>,
}

impl Search<'_> {
    /// Adds a problem with a folder.
    fn complain(&mut self, path: &Path, reason: &str) {
        self.add(path, reason, None);
    }

    /// Adds a file that cannot be used as a goal.
    fn refuse(&mut self, path: &Path, reason: &str) {
        self.add(path, reason, Some(self.within.origin));
    }

    fn add(&mut self, path: &Path, reason: &str, broken: Option<Origin>) {
        let (path, reason) = (path.to_owned(), reason.to_owned());
        self.problems.push(Problem { broken, path, line: None, reason });
    }

    fn folder(&mut self, folder: &Path, root: &Path, depth: usize, found: &mut Vec<GoalFile>) {
        // Two links may lead to one folder, or a link to a folder above.
        if !self.seen.insert(folder.to_owned()) {
            return;
        }
        let listed = match std::fs::read_dir(folder) {
            Ok(listed) => listed,
            Err(error) => return self.complain(folder, &error.to_string()),
        };
        let mut paths = Vec::new();
        for entry in listed.flatten() {
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                let reason = format!("more than {MAX_ENTRIES} entries: the others are ignored");
                return self.complain(root, &reason);
            }
            paths.push(entry.path());
        }
        paths.sort();
        for path in paths {
            self.entry(&path, root, depth, found);
        }
    }

    fn entry(&mut self, path: &Path, root: &Path, depth: usize, found: &mut Vec<GoalFile>) {
        let Some(name) = path.file_name() else { return };
        let name = name.to_string_lossy();
        let is_hidden = name.starts_with('.');
        let Ok(about) = std::fs::metadata(path) else {
            if self.within.wants(&name) {
                self.refuse(path, "broken symbolic link");
            }
            return;
        };
        if about.is_dir() && is_hidden || !about.is_dir() && !self.within.wants(&name) {
            return;
        }
        let real = match std::fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) => return self.refuse(path, &error.to_string()),
        };
        if !real.starts_with(root) {
            let broken = (!about.is_dir()).then_some(self.within.origin);
            return self.add(path, "ignored: links out of its folder", broken);
        }
        if about.is_dir() {
            if depth + 1 < MAX_DEPTH {
                self.folder(&real, root, depth + 1, found);
            } else {
                self.complain(path, &format!("ignored: nested deeper than {MAX_DEPTH} folders"));
            }
        } else if !about.is_file() {
            self.refuse(path, "not a file");
        } else if about.len() > MAX_BYTES {
            self.refuse(path, &format!("larger than {MAX_BYTES} bytes"));
        } else {
            match ownership::read(&real, MAX_BYTES) {
                Ok(Some(bytes)) => found.push(GoalFile { path: path.to_owned(), bytes }),
                Ok(None) => {}
                Err(reason) => self.refuse(path, &format!("ignored: {reason}")),
            }
        }
    }
}
