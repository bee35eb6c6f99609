//! The entries of a history: each the JSON of one command, parsed only on demand.
//!
//! A session with hundreds of commands is opened to add one. In the file each entry is on a line of its own, and a
//! JSON string contains no line feed; so the lines of the document that was read stay one range of its bytes, which
//! is neither parsed nor copied. Damage in a line is met when that entry is read, as damage in a value is.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use serde_json::value::RawValue;

use crate::pieces::Pieces;

const SEPARATOR: &[u8] = b",\n";

/// The entries, oldest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    /// The document that was read.
    file: Arc<Vec<u8>>,
    /// The lines of it that are still remembered.
    lines: Range<usize>,
    /// What was added since.
    added: VecDeque<Vec<u8>>,
}

impl Entries {
    /// The entries on these lines of a document.
    pub(super) fn in_file(file: &Arc<Vec<u8>>, lines: Range<usize>) -> Self {
        Self { file: Arc::clone(file), lines, added: VecDeque::new() }
    }

    fn read(&self) -> &[u8] {
        &self.file[self.lines.clone()]
    }

    /// The JSON of each entry.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.read();
        let lines = std::iter::from_fn(move || {
            let line;
            (line, rest) = split_line(rest)?;
            Some(line)
        });
        lines.chain(self.added.iter().map(Vec::as_slice))
    }

    pub(super) fn len(&self) -> usize {
        let read = self.read();
        let separators = memchr::memchr_iter(b'\n', read).count();
        self.added.len() + separators + usize::from(!read.is_empty())
    }

    pub(super) fn first(&self) -> Option<&[u8]> {
        self.iter().next()
    }

    pub(super) fn last(&self) -> Option<&[u8]> {
        let read = || {
            let read = self.read();
            let line = memchr::memrchr(b'\n', read).map_or(read, |at| &read[at + 1..]);
            (!line.is_empty()).then_some(line)
        };
        self.added.back().map(Vec::as_slice).or_else(read)
    }

    pub(super) fn push(&mut self, entry: Vec<u8>) {
        self.added.push_back(entry);
    }

    /// Forgets the oldest entries.
    pub(super) fn forget(&mut self, mut count: usize) {
        while let Some((_, rest)) = split_line(self.read()).filter(|_| count > 0) {
            self.lines.start = self.lines.end - rest.len();
            count -= 1;
        }
        self.added.drain(..count.min(self.added.len()));
    }

    /// All bytes of the entries, to look for references in them.
    pub(super) fn bytes(&self) -> impl Iterator<Item = &[u8]> {
        [self.read()].into_iter().chain(self.added.iter().map(Vec::as_slice))
    }

    /// Writes the entries as lines.
    pub(super) fn write(&self, pieces: &mut Pieces) {
        let mut is_first = self.lines.is_empty();
        if !is_first {
            pieces.share(&self.file, self.lines.clone());
        }
        for entry in &self.added {
            if !std::mem::take(&mut is_first) {
                pieces.add(SEPARATOR);
            }
            pieces.add(entry);
        }
    }
}

/// The first line, and what follows it.
fn split_line(lines: &[u8]) -> Option<(&[u8], &[u8])> {
    if lines.is_empty() {
        return None;
    }
    Some(match memchr::memchr(b'\n', lines) {
        Some(end) => {
            let line = &lines[..end];
            (line.strip_suffix(b",").unwrap_or(line), &lines[end + 1..])
        }
        None => (lines, &[]),
    })
}

impl FromIterator<Vec<u8>> for Entries {
    fn from_iter<T: IntoIterator<Item = Vec<u8>>>(entries: T) -> Self {
        Self { added: entries.into_iter().collect(), ..Self::default() }
    }
}

impl From<Vec<Box<RawValue>>> for Entries {
    fn from(entries: Vec<Box<RawValue>>) -> Self {
        entries
            .into_iter()
            .map(|entry| String::from(Box::<str>::from(entry)).into_bytes())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_the_file_and_new_ones_are_one_list() {
        let text = "[{\"a\":1},\n{\"b\":\",\\n\"},\n{}]";
        for read in [0, 1, 2, 3] {
            let all: Vec<&[u8]> = vec![b"{\"a\":1}", b"{\"b\":\",\\n\"}", b"{}", b"new", b"newer"];
            let end = [1, 8, 21, 25][read];
            let mut entries = Entries::in_file(&Arc::new(text.into()), 1..end);
            for entry in &all[read..] {
                entries.push(entry.to_vec());
            }
            for forgotten in 0..=all.len() {
                let mut entries = entries.clone();
                entries.forget(forgotten);
                let rest = &all[forgotten..];
                assert_eq!(entries.iter().collect::<Vec<_>>(), rest, "{read} {forgotten}");
                assert_eq!(entries.len(), rest.len());
                assert_eq!(entries.first(), rest.first().copied());
                assert_eq!(entries.last(), rest.last().copied());
                let mut pieces = Pieces::default();
                entries.write(&mut pieces);
                assert_eq!(pieces.join(), rest.join(SEPARATOR));
            }
            entries.forget(usize::MAX);
            assert_eq!(entries.len(), 0);
        }
    }
}
