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

use std::fmt;
use std::io::{self, IoSlice, Write};

use crate::label;
use crate::section::{Block, CUT_SHORT, Outcome, Section, Skipped, Subject};
use crate::stats::line_ends;

/// The word that tells that the last line end is not the body's.
pub(crate) const NO_EOL: &str = "no-eol";
/// The heading of what is not there.
pub(crate) const LEFT_OUT: &str = "Left out";
/// What every heading begins with.
pub(crate) const HEADING: &str = "### ";
/// The usual size of a block's heading and fences, in bytes.
const FRAME: usize = 96;
/// The most pieces that one system call takes.
const AT_ONCE: usize = 1024;

/// A prompt: sections, and text of the caller's before and after them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    head: String,
    sections: Vec<Section>,
    tail: String,
    /// Of what is not in it, what should be.
    missed: Vec<Skipped>,
}

impl Prompt {
    /// A prompt of some sections.
    #[must_use]
    pub fn new(sections: Vec<Section>) -> Self {
        Self { sections, ..Self::default() }
    }

    /// The same without something that was asked for.
    pub(crate) fn missing(mut self, missed: Vec<Skipped>) -> Self {
        self.missed = missed;
        self
    }

    /// What was asked for and could not be taken, and why: failed diffs and commands, and files that are
    /// missing or cannot be read. Files that a folder leaves out by its rules are not among them.
    #[must_use]
    pub fn missed(&self) -> Vec<Skipped> {
        let failed = self.blocks().filter_map(|block| {
            let reason = self.failure_of(block)?;
            Some(Skipped { path: block.label.clone(), reason: reason.to_owned() })
        });
        failed.chain(self.missed.iter().cloned()).collect()
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

    /// Its text as a list of pieces, without copies of the bodies.
    #[must_use]
    pub fn pieces(&self) -> Pieces<'_> {
        let mut pieces = Pieces {
            frames: String::with_capacity(self.sections.len() * FRAME),
            list: Vec::with_capacity(self.sections.len() * 2 + 3),
        };
        pieces.list.push(Piece::Body(&self.head));
        for (at, section) in self.sections.iter().enumerate() {
            let before = if at == 0 { "" } else { "\n" };
            match section {
                Section::Block(block) => pieces.add_block(before, block),
                Section::LeftOut(skipped) => {
                    pieces.frame(|frames| frames.push_str(&left_out(before, skipped)));
                }
            }
        }
        pieces.list.push(Piece::Body(&self.tail));
        pieces
    }

    /// Whether its text is empty or ends with a line end.
    #[must_use]
    pub fn ends_with_line_end(&self) -> bool {
        // Every section ends with a line end.
        match (self.tail.as_str(), self.head.as_str()) {
            ("", head) => !self.sections.is_empty() || head.is_empty() || head.ends_with('\n'),
            (tail, _) => tail.ends_with('\n'),
        }
    }

    /// The number of lines; a last line without a line end counts too.
    pub(crate) fn lines(&self, pieces: &Pieces) -> u64 {
        let bodies: u64 = self.blocks().map(Block::line_ends).sum();
        let others = [&self.head, &self.tail, &pieces.frames].map(|text| line_ends(text));
        bodies + others.iter().sum::<u64>() + u64::from(!self.ends_with_line_end())
    }

    /// Writes the whole prompt.
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

/// The text of a prompt in pieces: bodies where they are, and headings and fences in one buffer.
#[derive(Debug)]
pub struct Pieces<'a> {
    frames: String,
    list: Vec<Piece<'a>>,
}

#[derive(Debug)]
enum Piece<'a> {
    Body(&'a str),
    /// A part of the buffer, up to this place.
    FrameTo(usize),
}

impl<'a> Pieces<'a> {
    /// The pieces in order; none of them is empty.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let mut from = 0;
        let text = move |piece: &Piece<'a>| match *piece {
            Piece::Body(body) => body,
            Piece::FrameTo(to) => &self.frames[std::mem::replace(&mut from, to)..to],
        };
        self.list.iter().map(text).filter(|piece| !piece.is_empty())
    }

    fn frame(&mut self, write: impl FnOnce(&mut String)) {
        write(&mut self.frames);
        self.list.push(Piece::FrameTo(self.frames.len()));
    }

    fn add_block(&mut self, before: &str, block: &'a Block) {
        let (body, ended) = (block.body(), block.ended());
        self.frame(|text| {
            text.extend([before, HEADING, block.subject.word()]);
            match block.outcome {
                Outcome::Fine => {}
                Outcome::ExitCode(code) => text.extend([" (exit code ", &code.to_string(), ")"]),
                Outcome::Failed => text.push_str(" (failed)"),
            }
            text.extend([": ", &label::escape(&block.label), "\n\n"]);
            text.extend(std::iter::repeat_n('`', block.fence()));
            text.push_str(&block.language);
            text.extend(if ended { ["", "", "\n"] } else { [" ", NO_EOL, "\n"] });
        });
        self.list.push(Piece::Body(body));
        self.frame(|text| {
            text.push_str(if ended { "" } else { "\n" });
            text.extend(std::iter::repeat_n('`', block.fence()));
            text.push('\n');
        });
    }
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
