//! The built-in goals.

use super::Goal;
use super::prompt_file::{self, Written};

macro_rules! goals {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../assets/goals/", $name, ".prompt.md")))),*]
    };
}

/// Their names and files.
pub(super) const FILES: &[(&str, &str)] = goals![
    "adaptive-editor",
    "bug-buster",
    "cite-sources",
    "code-explainer",
    "code-optimizer",
    "comment-stripper",
    "commit-message",
    "data-to-json",
    "doc-generator",
    "document-refiner",
    "implementation-plan",
    "meeting-notes",
    "morale-improver",
    "pii-scrubber",
    "prose-polisher",
    "report-analyzer",
    "review-classifier",
    "sql-generator",
    "test-generator",
    "which-one-is-better",
];

/// Their names.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// One of them.
pub(super) fn read(name: &str, text: &str) -> Goal {
    prompt_file::parse(text, name, Written::ForUs).expect("a test reads every built-in goal")
}

#[cfg(test)]
mod tests;
