//! How far long work is, for a caller that shows it.
//!
//! The threads that read files count them anyway, so a report costs a thread nothing but a look at its
//! number: one file in [`EVERY`] is reported, by the thread that got it. No clock is read here; how
//! often a report is worth showing is for the caller to decide.

/// One in so many files, items or parts is reported.
const EVERY: usize = 64;

/// Receives reports. Several threads report, so it must be fast.
pub type Progress<'a> = &'a (dyn Fn(Step) + Sync);

pub(crate) const UNHEARD: Progress = &|_| {};

/// What the work is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step<'a> {
    /// Looking for files; so many were found.
    Finding(usize),
    /// Reading files.
    Reading {
        /// So many were begun.
        done: usize,
        /// Of so many.
        total: usize,
    },
    /// Going through the items of a list.
    Items {
        /// So many were begun.
        done: usize,
        /// Of so many.
        total: usize,
    },
    /// Counting the tokens of a text.
    Counting {
        /// So many parts were begun.
        done: usize,
        /// Of so many.
        total: usize,
    },
    /// Running a program: its name, or the command line that an item has.
    Running(&'a str),
}

/// Whether the thing with this number is one to report.
pub(crate) fn is_due(number: usize) -> bool {
    number.is_multiple_of(EVERY)
}
