//! Sets of paths, and whether two of them have a path in common.
//!
//! A [`PathPattern`] is a file (`src/main.rs`), a folder with everything below it (`src/auth`), or a glob
//! (`src/*.rs`, `**/migrations/**`). It is compared as text: which folder `src` is, and where links
//! lead, is decided before, by the program.
//!
//! Whether two patterns meet is decided exactly, and not by the files that exist: a claim of `src/*.rs`
//! is also one of the file that will be created in a minute. `*.rs` and `*.md` never meet; `a*` and
//! `*b` do, in `ab`.

mod braces;
mod claimed;
mod segment;
mod sequence;
#[cfg(test)]
mod tests;

use std::fmt;

pub use self::claimed::{ClaimedPath, PathKind, SPELLING};
use self::segment::Segment;
use self::sequence::{Element, meet};

/// A set of paths below one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    text: String,
    /// A path is in the set if it fits one of them.
    alternatives: Vec<Vec<Part>>,
}

/// What stands between two slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    /// One name.
    One(Segment),
    /// Any number of names, also none.
    Any,
}

/// How the names of a folder are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// `A` and `a` are two names.
    #[default]
    Distinct,
    /// `A` and `a` are one name.
    Folded,
}

/// Why a text is not a pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPattern {
    /// It is longer than [`PathPattern::MOST_BYTES`].
    #[error("a path has at most {most} bytes, this one has {0}", most = PathPattern::MOST_BYTES)]
    TooLong(usize),
    /// It has more alternatives than [`PathPattern::MOST_ALTERNATIVES`].
    #[error("a pattern has at most {most} alternatives in braces", most = PathPattern::MOST_ALTERNATIVES)]
    TooManyAlternatives,
    /// A name is `.` or `..`.
    #[error("a path in a claim must not contain {0:?}")]
    NotPlain(String),
    /// A bracket or brace is not closed.
    #[error("{0:?} is not closed; to match the character itself, write [{0}]")]
    NotClosed(char),
    /// A range ends before it starts.
    #[error("the range {0}-{1} ends before it starts")]
    ReversedRange(char, char),
}

impl PathPattern {
    /// The longest pattern, in bytes.
    pub const MOST_BYTES: usize = 1024;

    /// The most alternatives that braces may stand for.
    pub const MOST_ALTERNATIVES: usize = 64;

    /// One file. Slashes separate the names of its path.
    pub fn file(text: &str, case: Case) -> Result<Self, InvalidPattern> {
        limited(text)?;
        let parts = plain_names(text)?.map(|name| Part::One(Segment::name(name, case)));
        Ok(Self { text: text.to_owned(), alternatives: vec![parts.collect()] })
    }

    /// A folder with everything below it; the empty path is everything.
    pub fn folder(text: &str, case: Case) -> Result<Self, InvalidPattern> {
        let mut folder = Self::file(text, case)?;
        folder.alternatives[0].push(Part::Any);
        Ok(folder)
    }

    /// The paths that fit a glob: `*` and `?` within a name, `[a-z]`, `[!a-z]`, `{a,b}`, and `**` for
    /// any number of names. A glob that ends with a slash means everything below, too.
    pub fn glob(text: &str, case: Case) -> Result<Self, InvalidPattern> {
        limited(text)?;
        let mut alternatives = Vec::new();
        for text in braces::expand(text)? {
            let mut parts = Vec::new();
            for name in plain_names(&text)? {
                match name {
                    "**" if parts.last() == Some(&Part::Any) => {}
                    "**" => parts.push(Part::Any),
                    name => parts.push(Part::One(Segment::glob(name, case)?)),
                }
            }
            if text.ends_with('/') && parts.last() != Some(&Part::Any) {
                parts.push(Part::Any);
            }
            alternatives.push(parts);
        }
        Ok(Self { text: text.to_owned(), alternatives })
    }

    /// Whether a text would be read as a glob by a person who types it.
    #[must_use]
    pub fn looks_like_glob(text: &str) -> bool {
        text.contains(['*', '?', '[', '{'])
    }

    /// Whether some path is in both sets, whether a file has that path or not.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        let meets = |one: &[Part]| other.alternatives.iter().any(|other| meet(one, other));
        self.alternatives.iter().any(|one| meets(one))
    }

    /// The names that every path in the set starts with, joined by slashes. A ledger finds by it the
    /// few patterns that can meet another.
    #[must_use]
    pub fn prefix(&self) -> String {
        let names = |parts: &[Part]| {
            let name = |part: &Part| match part {
                Part::One(segment) => segment.literal(),
                Part::Any => None,
            };
            parts.iter().map_while(name).collect::<Vec<String>>()
        };
        let mut all = self.alternatives.iter().map(|parts| names(parts));
        let mut common = all.next().unwrap_or_default();
        for names in all {
            let same = common.iter().zip(&names).take_while(|(one, other)| one == other).count();
            common.truncate(same);
        }
        common.join("/")
    }
}

/// The pattern as it was written.
impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.text)
    }
}

fn limited(text: &str) -> Result<(), InvalidPattern> {
    match text.len() {
        length if length > PathPattern::MOST_BYTES => Err(InvalidPattern::TooLong(length)),
        _ => Ok(()),
    }
}

/// The names of a path. Empty ones, from two slashes or one at an end, do not count.
fn plain_names(text: &str) -> Result<impl Iterator<Item = &str>, InvalidPattern> {
    let names = || text.split('/').filter(|name| !name.is_empty());
    match names().find(|name| matches!(*name, "." | "..")) {
        Some(name) => Err(InvalidPattern::NotPlain(name.to_owned())),
        None => Ok(names()),
    }
}

impl Element for Part {
    fn is_any(&self) -> bool {
        *self == Self::Any
    }

    fn meets(&self, other: &Self) -> bool {
        matches!((self, other), (Self::One(one), Self::One(other)) if one.meets(other))
    }
}
