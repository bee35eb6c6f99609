//! Where goals are looked for, and what is found there.
//!
//! Everything is bounded, and nothing is followed out of its folder: the working tree may be
//! somebody else's.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use osm_identity::Repository;

use super::prompt_file::SUFFIX;

/// No file is larger.
const MOST_BYTES: u64 = 1 << 20;
/// No place has more entries.
const MOST_ENTRIES: usize = 10_000;
/// No place is deeper.
const MOST_DEPTH: usize = 10;

/// Folders of a working tree that hold goals; those of editors come last.
const IN_TREES: [(&str, Kind); 3] =
    [("osm-goals", Kind::Goals), (".osm/goals", Kind::Goals), (".github/prompts", Kind::Prompts)];

/// Who put a goal where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Origin {
    /// The user: the folder `goals` in `OSM_HOME`.
    User,
    /// The user named the folder in `goal.paths`.
    Config,
    /// We.
    BuiltIn,
    /// Whoever wrote the working tree.
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

/// A folder in which goals are looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) origin: Origin,
    pub(crate) kind: Kind,
    pub(crate) folder: PathBuf,
}

/// From where one looks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    /// `OSM_HOME`.
    pub(crate) home: Option<PathBuf>,
    /// `goal.paths`.
    pub(crate) paths: Vec<PathBuf>,
    /// The working directory.
    pub(crate) folder: Option<PathBuf>,
}

/// A file that was found.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

/// What is wrong with a file or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) path: PathBuf,
    pub(crate) line: Option<usize>,
    pub(crate) reason: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let plain = super::plain;
        f.write_str(&plain(&self.path.display().to_string()))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", plain(&self.reason))
    }
}

impl Scene {
    /// The folders in which goals are looked for, the first first.
    pub(crate) fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        if let Some(home) = &self.home {
            let folder = home.join("goals");
            places.push(Place { origin: Origin::User, kind: Kind::Goals, folder });
        }
        let trees = self.trees();
        let root = trees.last().and_then(|root| std::fs::canonicalize(root).ok());
        for path in &self.paths {
            // A folder of the tree stays one of the tree, whoever names it.
            let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
            let in_tree = root.as_ref().is_some_and(|root| real.starts_with(root));
            let origin = if in_tree { Origin::Tree } else { Origin::Config };
            places.push(Place { origin, kind: Kind::Goals, folder: path.clone() });
        }
        for tree in trees {
            for (name, kind) in IN_TREES {
                places.push(Place { origin: Origin::Tree, kind, folder: tree.join(name) });
            }
        }
        places
    }

    /// From the working directory up to the root of its repository.
    fn trees(&self) -> Vec<PathBuf> {
        let Some(folder) = &self.folder else { return Vec::new() };
        let root = Repository::around(folder).map(|it| it.worktree);
        let inside = |it: &&Path| root.as_ref().is_some_and(|root| it.starts_with(root));
        let above = folder.ancestors().skip(1).take_while(inside);
        std::iter::once(folder.as_path()).chain(above).map(Path::to_owned).collect()
    }
}

impl Place {
    /// The files here, in order, and what is wrong with the others.
    pub(super) fn files(&self, problems: &mut Vec<Problem>) -> Vec<Found> {
        let mut search = Search { place: self, entries: 0, seen: HashSet::new(), problems };
        let mut found = Vec::new();
        match std::fs::canonicalize(&self.folder) {
            Ok(root) => {
                let above = || self.above().and_then(|it| std::fs::canonicalize(it).ok());
                if self.origin == Origin::Tree && above().is_some_and(|it| !root.starts_with(it)) {
                    search.complain(&self.folder, "it leads out of the working tree: left out");
                } else if root.is_dir() {
                    search.folder(&root, &root, 0, &mut found);
                } else {
                    search.complain(&self.folder, "not a folder");
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => search.complain(&self.folder, &error.to_string()),
        }
        found
    }

    /// The folder that a place of a tree must not lead out of.
    fn above(&self) -> Option<&Path> {
        let name = IN_TREES.iter().find(|(name, _)| self.folder.ends_with(name))?.0;
        self.folder.ancestors().nth(Path::new(name).components().count())
    }

    fn wants(&self, name: &str) -> bool {
        name.ends_with(SUFFIX)
            || (self.kind == Kind::Goals
                && Path::new(name).extension().is_some_and(|it| it.eq_ignore_ascii_case("json")))
    }
}

struct Search<'a> {
    place: &'a Place,
    entries: usize,
    seen: HashSet<PathBuf>,
    problems: &'a mut Vec<Problem>,
}

impl Search<'_> {
    fn complain(&mut self, path: &Path, reason: &str) {
        self.problems.push(Problem {
            path: path.to_owned(),
            line: None,
            reason: reason.to_owned(),
        });
    }

    fn folder(&mut self, folder: &Path, root: &Path, depth: usize, found: &mut Vec<Found>) {
        // Two links to one folder, or one to a folder above.
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
            if self.entries > MOST_ENTRIES {
                let reason = format!("more than {MOST_ENTRIES} entries: the rest is left out");
                return self.complain(root, &reason);
            }
            paths.push(entry.path());
        }
        paths.sort();
        for path in paths {
            self.entry(&path, root, depth, found);
        }
    }

    fn entry(&mut self, path: &Path, root: &Path, depth: usize, found: &mut Vec<Found>) {
        let Some(name) = path.file_name() else { return };
        let name = name.to_string_lossy();
        let is_hidden = name.starts_with('.');
        let Ok(about) = std::fs::metadata(path) else {
            if self.place.wants(&name) {
                self.complain(path, "a link to nothing");
            }
            return;
        };
        if about.is_dir() && is_hidden || !about.is_dir() && !self.place.wants(&name) {
            return;
        }
        let real = match std::fs::canonicalize(path) {
            Ok(real) => real,
            Err(error) => return self.complain(path, &error.to_string()),
        };
        if !real.starts_with(root) {
            return self.complain(path, "it leads out of its folder: left out");
        }
        if about.is_dir() {
            if depth + 1 < MOST_DEPTH {
                self.folder(&real, root, depth + 1, found);
            } else {
                self.complain(path, &format!("deeper than {MOST_DEPTH} folders: left out"));
            }
        } else if !about.is_file() {
            self.complain(path, "not a file");
        } else if about.len() > MOST_BYTES {
            self.complain(path, &format!("larger than {MOST_BYTES} bytes"));
        } else {
            match std::fs::read(&real) {
                Ok(bytes) => found.push(Found { path: path.to_owned(), bytes }),
                Err(error) => self.complain(path, &error.to_string()),
            }
        }
    }
}
