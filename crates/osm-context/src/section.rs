//! The parts of a prompt: blocks with a heading and a fence, and the list of what was left out.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::body::Body;
use crate::fence;
use crate::stats::line_ends;

/// A part of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Section {
    /// Content under a heading.
    Block(Block),
    /// What is not there, and why.
    LeftOut(Vec<Skipped>),
}

/// Content under a heading, in a fence that it cannot close.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub subject: Subject,
    /// Whether it went well.
    pub outcome: Outcome,
    /// How it is called.
    pub label: String,
    /// The language of the content, one word.
    pub language: Cow<'static, str>,
    body: Body,
    shape: Shape,
}

/// What there is to know of a content. Threads that read files find it out while the content is in
/// the processor's cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The number of backticks around it.
    fence: usize,
    /// The number of line ends in it.
    line_ends: u64,
    /// It is empty or ends with a line end.
    ended: bool,
}

impl Shape {
    pub(crate) fn of(text: &str) -> Self {
        let ended = text.is_empty() || text.ends_with('\n');
        Self { fence: fence::length(text), line_ends: line_ends(text), ended }
    }
}

impl Block {
    /// A block of something that went well.
    #[must_use]
    pub fn new(subject: Subject, label: impl Into<String>, body: impl Into<Body>) -> Self {
        let body = body.into();
        let shape = Shape::of(&body);
        Self::shaped(subject, label.into(), body, shape)
    }

    /// The same of a body whose shape is known.
    pub(crate) fn shaped(subject: Subject, label: String, body: Body, shape: Shape) -> Self {
        let language = Cow::Borrowed(match subject {
            Subject::File => crate::language::of(&label),
            Subject::Diff => "diff",
            Subject::Note | Subject::Output => "text",
        });
        Self { subject, outcome: Outcome::Fine, label, language, body, shape }
    }

    /// The content.
    #[must_use]
    pub fn body(&self) -> &str {
        &self.body
    }

    pub(crate) fn fence(&self) -> usize {
        self.shape.fence
    }

    pub(crate) fn line_ends(&self) -> u64 {
        self.shape.line_ends
    }

    /// Whether its body is empty or ends with a line end.
    pub(crate) fn ended(&self) -> bool {
        self.shape.ended
    }
}

/// What the content of a block is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A file.
    File,
    /// A note.
    Note,
    /// A diff.
    Diff,
    /// What a command printed.
    Output,
}

impl Subject {
    /// Their words in a heading.
    pub(crate) const WORDS: [(Self, &'static str); 4] = [
        (Self::File, "File"),
        (Self::Note, "Note"),
        (Self::Diff, "Diff"),
        (Self::Output, "Output"),
    ];

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::File => "File",
            Self::Note => "Note",
            Self::Diff => "Diff",
            Self::Output => "Output",
        }
    }
}

/// Whether what made the content went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It did.
    Fine,
    /// The command said so itself.
    ExitCode(i32),
    /// It could not be done, or not to the end; the content is the complaint, or what there was.
    Failed,
}

/// The reason for a file that an item before added.
pub(crate) const REPEATED: &str = "already in the prompt";

/// The start of the reason why a command's output is incomplete.
pub(crate) const CUT_SHORT: &str = "output incomplete: ";

/// Something that is not in the prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Skipped {
    /// How it is called.
    pub path: String,
    /// Why it is not there.
    pub reason: String,
}

impl Skipped {
    pub(crate) fn new(path: impl Into<String>, reason: &impl ToString) -> Self {
        Self { path: path.into(), reason: reason.to_string() }
    }

    /// Some files of an item, all for one reason; nothing if there are none.
    pub(crate) fn files(label: &str, is_folder: bool, count: usize, reason: &str) -> Option<Self> {
        let reason = match count {
            0 => return None,
            _ if !is_folder => reason.to_owned(),
            1 => format!("1 of its files is {reason}"),
            count => format!("{count} of its files are {reason}"),
        };
        Some(Self { path: label.to_owned(), reason })
    }
}
