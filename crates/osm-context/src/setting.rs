//! What everything here has to be told: where we are, and how much may be used up.

use std::path::Path;
use std::time::Duration;

use crate::error::{Error, Result};
use crate::progress::{Progress, Step, UNHEARD, is_due};
use crate::tokens::Encoding;

/// Where we are, and how much may be used up.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The folder that relative paths begin at; an absolute path.
    pub folder: &'a Path,
    /// What `~` stands for.
    pub home: Option<&'a Path>,
    /// The program git: a name that is looked for in `PATH`, or a path.
    pub git: &'a Path,
    /// How much may be used up.
    pub limits: Limits,
    /// In which encoding descriptions count tokens, if they do at all.
    pub encoding: Option<Encoding>,
    /// Whether the user wants it no more; it is asked often, and by several threads.
    pub interrupted: Interrupted<'a>,
    /// Hears how far long work is.
    pub progress: Progress<'a>,
}

/// Tells whether the caller wants the work to stop. Several threads ask, and often, so it must be fast.
pub type Interrupted<'a> = &'a (dyn Fn() -> bool + Sync);

const NEVER: Interrupted = &|| false;

impl<'a> Setting<'a> {
    /// A folder, with everything else as it is by default.
    #[must_use]
    pub fn new(folder: &'a Path) -> Self {
        Self {
            folder,
            home: None,
            git: Path::new("git"),
            limits: Limits::default(),
            encoding: None,
            interrupted: NEVER,
            progress: UNHEARD,
        }
    }

    /// An error if the user wants it no more.
    pub(crate) fn go_on(&self) -> Result<()> {
        if (self.interrupted)() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Reports a step of work on many things; `number` says which of them it is at.
    #[inline]
    pub(crate) fn report(&self, number: usize, step: Step) {
        if is_due(number) {
            (self.progress)(step);
        }
    }
}

/// How much may be used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The largest file of a folder, in bytes.
    pub file: u64,
    /// The largest file that was named itself, in bytes.
    pub named_file: u64,
    /// All files together, in bytes.
    pub total: u64,
    /// The most files of one folder.
    pub files: usize,
    /// What is kept of a command's output, in bytes.
    pub output: usize,
    /// What is kept of a diff, in bytes.
    pub diff: usize,
    /// How long a command, or git, may take.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file: 1 << 20,
            named_file: 32 << 20,
            total: 256 << 20,
            files: 200_000,
            output: 4 << 20,
            diff: 32 << 20,
            time: Duration::from_mins(1),
        }
    }
}
