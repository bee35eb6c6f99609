//! How much a prompt is.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::render::Prompt;
use crate::section::Subject;
use crate::setting::Setting;
use crate::tokens;

/// How much a prompt is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stats {
    /// How many bytes.
    pub bytes: u64,
    /// How many lines; one that does not end is one, too.
    pub lines: u64,
    /// How many files are in it.
    pub files: u64,
    /// How many tokens, if they were counted.
    pub tokens: Option<u64>,
    /// How many tokens it may have, if there is a limit.
    pub budget: Option<u64>,
}

impl Stats {
    /// How many tokens are too many.
    #[must_use]
    pub fn over_budget(&self) -> Option<u64> {
        self.tokens?.checked_sub(self.budget?).filter(|over| *over > 0)
    }
}

impl Prompt {
    /// How much it is, with the text before and after it. Tokens are counted if the setting has an
    /// encoding; only that can be interrupted.
    pub fn stats(&self, setting: &Setting, budget: Option<u64>) -> Result<Stats> {
        let pieces = self.pieces();
        let texts: Vec<&str> = pieces.iter().collect();
        let files = self.blocks().filter(|block| block.subject == Subject::File).count();
        let count =
            |encoding| tokens::count_all(&texts, encoding, setting.interrupted, setting.progress);
        Ok(Stats {
            bytes: texts.iter().map(|text| text.len() as u64).sum(),
            lines: self.lines(&pieces),
            files: files as u64,
            tokens: setting.encoding.map(count).transpose()?,
            budget,
        })
    }
}

/// The number of lines of a text.
pub(crate) fn lines(text: &str) -> u64 {
    line_ends(text) + u64::from(!text.is_empty() && !text.ends_with('\n'))
}

pub(crate) fn line_ends(text: &str) -> u64 {
    memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Encoding, Section};
    use std::path::Path;

    #[test]
    fn all_of_it_counts() {
        let sections = vec![
            Section::Block(Block::new(Subject::File, "a", "one\ntwo")),
            Section::Block(Block::new(Subject::Note, "n", "")),
        ];
        let silent = Setting::new(Path::new("/"));
        let counting = Setting { encoding: Some(Encoding::O200k), ..silent };
        for (head, tail) in [("", ""), ("head", "\n\ntail"), ("", "tail\n")] {
            let prompt = Prompt::new(sections.clone()).within(head, tail);
            let text = prompt.to_string();
            let stats = prompt.stats(&counting, Some(3)).unwrap();
            assert_eq!((stats.bytes, stats.files), (text.len() as u64, 1));
            assert_eq!(stats.lines, text.lines().count() as u64);
            assert_eq!(stats.over_budget(), stats.tokens.map(|tokens| tokens - 3));
        }
        let stats = Prompt::default().stats(&silent, Some(3)).unwrap();
        assert_eq!(stats, Stats { budget: Some(3), ..Stats::default() });
        assert_eq!(stats.over_budget(), None);
    }

    #[test]
    fn a_budget_is_held_to_the_last_token() {
        let stats = Stats { tokens: Some(7), budget: Some(7), ..Stats::default() };
        assert_eq!(stats.over_budget(), None);
        assert_eq!(Stats { tokens: Some(8), ..stats }.over_budget(), Some(1));
    }
}
