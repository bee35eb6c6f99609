//! A path as a resource: which worktree, and which paths of it.
//!
//! A ledger stores it as bytes that no name of a resource has, because they start with a null byte. So
//! a resource is one value for all of the ledger: its claims, its events, its losses.

use std::fmt;

use super::{Case, InvalidPattern, PathPattern};

/// Paths of one worktree of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimedPath {
    /// The worktree: empty for the first one of the repository, else the name that Git gave it.
    pub worktree: String,
    /// The path below the top of the worktree: names joined by slashes.
    pub text: String,
    /// What the text means.
    pub kind: PathKind,
    /// How the folder compares names.
    pub case: Case,
}

/// What the text of a path means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathKind {
    /// One file.
    File,
    /// A folder with everything below it.
    Folder,
    /// Everything that the glob fits.
    Glob,
}

/// How people write a path where a resource is expected.
pub const SPELLING: &str = "path:";

/// What the stored bytes of a path start with.
const HEAD: &str = "\0path\0";

/// Kinds and how they are stored.
const KINDS: [(PathKind, char); 3] =
    [(PathKind::File, 'f'), (PathKind::Folder, 'd'), (PathKind::Glob, 'g')];

/// Ways to compare names and how they are stored.
const CASES: [(Case, char); 2] = [(Case::Distinct, '='), (Case::Folded, '~')];

impl ClaimedPath {
    /// A path of a worktree. Empty names in the text, from two slashes or one at an end, do not count.
    pub fn new(
        worktree: &str,
        kind: PathKind,
        text: &str,
        case: Case,
    ) -> Result<Self, InvalidPattern> {
        if let Some(null) = [worktree, text].into_iter().find(|it| it.contains('\0')) {
            return Err(InvalidPattern::NotPlain(null.to_owned()));
        }
        let names: Vec<&str> = text.split('/').filter(|name| !name.is_empty()).collect();
        let mut plain = names.join("/");
        // A glob that ends with a slash means everything below, too.
        if kind == PathKind::Glob && text.ends_with('/') {
            plain.push('/');
        }
        let path = Self { worktree: worktree.to_owned(), text: plain, kind, case };
        path.pattern(case)?;
        match path.stored().len() {
            length if length > PathPattern::MOST_BYTES => Err(InvalidPattern::TooLong(length)),
            _ => Ok(path),
        }
    }

    /// The path that a ledger stored; `None` if the bytes are not a path's.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut parts = std::str::from_utf8(bytes).ok()?.strip_prefix(HEAD)?.split('\0');
        let (worktree, text, how) = (parts.next()?, parts.next()?, parts.next()?);
        let mut how = how.chars();
        let (kind, case) = (how.next()?, how.next()?);
        let kind = KINDS.iter().find(|it| it.1 == kind)?.0;
        let case = CASES.iter().find(|it| it.1 == case)?.0;
        let path = Self::new(worktree, kind, text, case).ok()?;
        (path.stored().as_bytes() == bytes).then_some(path)
    }

    /// The bytes that a ledger stores.
    pub(crate) fn stored(&self) -> String {
        let kind = KINDS.iter().find(|it| it.0 == self.kind).map_or('f', |it| it.1);
        let case = CASES.iter().find(|it| it.0 == self.case).map_or('=', |it| it.1);
        format!("{HEAD}{}\0{}\0{kind}{case}", self.worktree, self.text)
    }

    /// Whether some path is in both, whichever worktrees they are in. If one of the folders folds
    /// case, names that differ in case are one.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        let case = if self.case == other.case { self.case } else { Case::Folded };
        match (self.pattern(case), other.pattern(case)) {
            (Ok(one), Ok(other)) => one.meets(&other),
            // Both were made, so both are patterns; what cannot be compared is not free.
            _ => true,
        }
    }

    /// The names that every path in it starts with, in the case by which ledgers find them.
    #[must_use]
    pub fn prefix(&self) -> String {
        self.pattern(Case::Folded).map(|it| it.prefix()).unwrap_or_default()
    }

    fn pattern(&self, case: Case) -> Result<PathPattern, InvalidPattern> {
        match self.kind {
            PathKind::File => PathPattern::file(&self.text, case),
            PathKind::Folder => PathPattern::folder(&self.text, case),
            PathKind::Glob => PathPattern::glob(&self.text, case),
        }
    }
}

/// The path as it is typed: a folder ends with a slash.
impl fmt::Display for ClaimedPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.kind, self.text.as_str()) {
            (PathKind::Folder, "") => f.write_str("./"),
            (PathKind::Folder, text) => write!(f, "{text}/"),
            (PathKind::File | PathKind::Glob, text) => f.write_str(text),
        }
    }
}
