//! A prompt, and how it is written.
//!
//! ````text
//! ### File: src/a.rs
//!
//! ```rust
//! fn main() {}
//! ```
//!
//! ### Left out
//!
//! - src/logo.png: binary
//! ````
//!
//! Every body stands in a fence, and a blank line between two sections. A body that does not end
//! with a line end gets one, and the word `no-eol` after the language says so. The bodies are written
//! from where they are: of ten thousand files no second copy is made.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IoSlice, Write};

use crate::label;
use crate::section::{Block, CUT_SHORT, Outcome, Section, Skipped, Subject};

/// The word that tells that the last line end is not the body's.
pub(crate) const NO_EOL: &str = "no-eol";
/// The heading of what is not there.
pub(crate) const LEFT_OUT: &str = "Left out";
/// What every heading begins with.
pub(crate) const HEADING: &str = "### ";
/// More pieces than this are not taken by one call of the system.
const AT_ONCE: usize = 1024;

/// A prompt: sections, and text of the caller's before and after them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    head: String,
    sections: Vec<Section>,
    tail: String,
}

impl Prompt {
    /// A prompt of some sections.
    #[must_use]
    pub fn new(sections: Vec<Section>) -> Self {
        Self { sections, ..Self::default() }
    }

    /// The same with text before and after, as it is.
    #[must_use]
    pub fn within(mut self, head: impl Into<String>, tail: impl Into<String>) -> Self {
        (self.head, self.tail) = (head.into(), tail.into());
        self
    }

    /// Its sections, in order.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Its blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.sections.iter().filter_map(|section| match section {
            Section::Block(block) => Some(block),
            Section::LeftOut(_) => None,
        })
    }

    /// What is not in it, and why.
    pub fn skipped(&self) -> impl Iterator<Item = &Skipped> {
        self.sections.iter().flat_map(|section| match section {
            Section::Block(_) => &[],
            Section::LeftOut(skipped) => skipped.as_slice(),
        })
    }

    /// Why a block failed: what stopped its command, or else its complaint. What a command printed
    /// before it was stopped is no reason.
    #[must_use]
    pub fn failure_of<'a>(&'a self, block: &'a Block) -> Option<&'a str> {
        if block.outcome != Outcome::Failed {
            return None;
        }
        let mut of_block = self.skipped().filter(|it| it.path == block.label);
        let cut = of_block.find_map(|it| it.reason.strip_prefix(CUT_SHORT));
        cut.filter(|_| block.subject == Subject::Output).or_else(|| block.body().lines().next())
    }

    /// Its text in pieces, in order; none of them is empty.
    #[must_use]
    pub fn pieces(&self) -> Vec<Cow<'_, str>> {
        let mut pieces = Vec::with_capacity(self.sections.len() * 3 + 2);
        pieces.push(Cow::Borrowed(self.head.as_str()));
        let mut before = "";
        for section in &self.sections {
            match section {
                Section::Block(block) => add_block(&mut pieces, before, block),
                Section::LeftOut(skipped) => pieces.push(Cow::Owned(left_out(before, skipped))),
            }
            before = "\n";
        }
        pieces.push(Cow::Borrowed(self.tail.as_str()));
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    /// Writes all of it.
    pub fn write_to(&self, to: &mut dyn Write) -> io::Result<()> {
        let pieces = self.pieces();
        let mut slices: Vec<IoSlice> =
            pieces.iter().map(|piece| IoSlice::new(piece.as_bytes())).collect();
        let mut left = slices.as_mut_slice();
        while !left.is_empty() {
            let now = left.len().min(AT_ONCE);
            match to.write_vectored(&left[..now]) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => IoSlice::advance_slices(&mut left, written),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl fmt::Display for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().iter().try_for_each(|piece| f.write_str(piece))
    }
}

fn add_block<'a>(pieces: &mut Vec<Cow<'a, str>>, before: &str, block: &'a Block) {
    let body = block.body();
    let fence = "`".repeat(block.fence());
    let outcome = match block.outcome {
        Outcome::Fine => Cow::Borrowed(""),
        Outcome::ExitCode(code) => Cow::Owned(format!(" (exit code {code})")),
        Outcome::Failed => Cow::Borrowed(" (failed)"),
    };
    let word = block.subject.word();
    let (label, language) = (label::escape(&block.label), &block.language);
    let ended = body.is_empty() || body.ends_with('\n');
    let (space, note, end) = if ended { ("", "", "") } else { (" ", NO_EOL, "\n") };
    let opening =
        format!("{before}{HEADING}{word}{outcome}: {label}\n\n{fence}{language}{space}{note}\n");
    pieces.push(Cow::Owned(opening));
    pieces.push(Cow::Borrowed(body));
    pieces.push(Cow::Owned(format!("{end}{fence}\n")));
}

fn left_out(before: &str, skipped: &[Skipped]) -> String {
    let mut text = format!("{before}{HEADING}{LEFT_OUT}\n\n");
    for Skipped { path, reason } in skipped {
        // The first colon with a space after it ends the path.
        let path = label::escape(path).replace(": ", r":\u{20}");
        text.extend(["- ", &path, ": ", &label::escape(reason), "\n"]);
    }
    text
}
