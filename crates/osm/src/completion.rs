//! Completion in shells: which words can follow on a command line.
//!
//! Shells ask osm itself, with the hidden command `osm complete`, so that they also offer what exists
//! now: sessions, archives, claims, goals. A generated script could only offer commands and options.
//!
//! `line.rs` reads the command line with the tree of the argument parser, `kind.rs` is the table of
//! what each argument takes, and `ops/completion.rs` looks up what exists. Completing changes nothing,
//! runs no code of a working tree, and offers no name that controls a terminal.

mod kind;
mod line;
mod shell;

pub(crate) use kind::{Kind, WhichClaims};
pub(crate) use line::{Place, commands, read};
pub(crate) use shell::Shell;

/// A word that can stand at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) value: String,
    /// What it is, in a few words.
    pub(crate) about: String,
}

impl Candidate {
    pub(crate) fn new(value: impl Into<String>, about: impl Into<String>) -> Self {
        Self { value: value.into(), about: about.into() }
    }
}

/// What a shell adds to the candidates from its own knowledge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShellOffers {
    Nothing,
    Files,
    Programs,
}

impl ShellOffers {
    /// The word for it in the answer.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Files => "files",
            Self::Programs => "programs",
        }
    }
}

/// What can stand at the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) shell: ShellOffers,
    pub(crate) candidates: Vec<Candidate>,
}
