//! The first lines of all documents in one file, so that a list need not open each of them.
//!
//! One line for each session, in the order of their ids:
//!
//! ```text
//! ex--build_44 5f1c0b7de3a94420 {"version":"1.0.0","session_id":"ex--build_44",…
//! ```
//!
//! The number is a digest of the id, of the document's [`Stamp`] and of the line. A line is believed
//! only if its digest, computed with the stamp that the document has now, is the one that stands
//! there: so what is stale, torn, or was copied from another machine is no different from what is
//! missing, and the document is read. Nothing but the speed of a list hangs on this file, and only a
//! list uses it: a removal looks at the documents.
//!
//! It is replaced when much of it is of no use any more, and removed with any session: what is gone
//! is to be found nowhere. A store of a few sessions has none.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use osm_identity::SessionId;

use super::atomic;
use super::folder::Folder;
use super::pid_space::PidSpace;
use crate::backend::{Entry, FirstLine, Stamp};
use crate::error::Result;
use crate::layout::SUMMARIES;

/// Fewer sessions than this are read as quickly without.
const WORTH_A_FILE: usize = 200;
/// Rewritten if more than this part of the sessions had to be read.
const MUCH: usize = 8;

/// What the file says.
#[derive(Default)]
pub(crate) struct Summaries {
    bytes: Arc<Vec<u8>>,
}

/// The same, to be looked into.
#[derive(Default)]
pub(crate) struct Index {
    bytes: Arc<Vec<u8>>,
    lines: Vec<Line>,
}

/// Where a line is: its beginning, the end of the id in it, and its own end.
struct Line {
    start: usize,
    id_end: usize,
    end: usize,
}

impl Summaries {
    /// Reads the file; one that cannot be read says nothing.
    pub(crate) fn read(root: &Folder) -> Self {
        let found = root.read(SUMMARIES).ok().flatten();
        Self { bytes: Arc::new(found.map(|(bytes, _)| bytes).unwrap_or_default()) }
    }

    /// Removes the file.
    pub(crate) fn remove(root: &Folder) -> Result<()> {
        root.remove(SUMMARIES).map(drop)
    }

    /// Where the line of each session is.
    pub(crate) fn index(&self) -> Index {
        let ends = memchr::memchr_iter(b'\n', &self.bytes);
        let mut next = 0;
        let line = |end| {
            let start = std::mem::replace(&mut next, end + 1);
            let id_end = start + memchr::memchr(b' ', &self.bytes[start..end])?;
            Some(Line { start, id_end, end })
        };
        Index { lines: ends.filter_map(line).collect(), bytes: Arc::clone(&self.bytes) }
    }

    /// Writes the file if that is worth it. Whether it succeeds makes no difference but in speed.
    pub(crate) fn keep(self, root: &Folder, pid_space: &PidSpace, entries: &[Entry], read: usize) {
        let mut there = entries.iter().map(|entry| entry.id.as_str().as_bytes());
        let index = self.index();
        let has_vanished = index.lines.iter().any(|line| {
            let id = index.id(line);
            !there.any(|other| other == id)
        });
        let is_worth_it = entries.len() >= WORTH_A_FILE && read * MUCH > entries.len();
        if !has_vanished && !is_worth_it {
            return;
        }
        let _kept = atomic::replace(root, pid_space, SUMMARIES, &encode(entries).into(), None);
    }
}

impl Index {
    /// There is nothing to be found.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    fn id(&self, line: &Line) -> &[u8] {
        &self.bytes[line.start..line.id_end]
    }

    /// The first line of a document, if that document is the one that it was read from.
    ///
    /// `next` is where the search begins, and is moved behind the line that was found: who asks in the
    /// order of ids finds each at once.
    pub(crate) fn line(&self, id: &SessionId, stamp: Stamp, next: &mut usize) -> Option<FirstLine> {
        let name = id.as_str().as_bytes();
        let at = match self.lines.get(*next).filter(|line| self.id(line) == name) {
            Some(_) => *next,
            None => self.lines.binary_search_by_key(&name, |line| self.id(line)).ok()?,
        };
        *next = at + 1;
        let found = &self.lines[at];
        let (known, start) = (found.id_end + 1, found.id_end + 2 + DIGITS);
        let known = self.bytes[..found.end].get(known..known + DIGITS)?;
        let known = u64::from_str_radix(std::str::from_utf8(known).ok()?, 16).ok()?;
        let line = self.bytes[..found.end].get(start..)?;
        (known == digest(id, stamp, line)).then(|| FirstLine::part(&self.bytes, start..found.end))
    }
}

/// How long a digest is as text.
const DIGITS: usize = 16;

/// The standard library may change what it computes with any version; then everything is read once.
fn digest(id: &SessionId, stamp: Stamp, line: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (id.as_str(), stamp.0, line).hash(&mut hasher);
    hasher.finish()
}

fn encode(entries: &[Entry]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in entries {
        let Some(line) = &entry.summary else { continue };
        let digest = digest(&entry.id, entry.stamp, line);
        bytes.extend_from_slice(format!("{} {digest:0DIGITS$x} ", entry.id).as_bytes());
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::Timestamp;

    fn entry(name: &str, summary: Option<&str>) -> Entry {
        Entry {
            id: SessionId::explicit(name.as_ref()),
            size: 7,
            modified: Timestamp::UNIX_EPOCH,
            stamp: Stamp([1, 7, 3, 4]),
            active: false,
            summary: summary.map(|line| line.as_bytes().to_vec().into()),
        }
    }

    #[test]
    fn a_line_is_believed_of_that_very_document_alone() {
        let all =
            [entry("ex--a", Some("{ a line,")), entry("ex--b", None), entry("ex--c", Some(""))];
        let summaries = Summaries { bytes: encode(&all).into() };
        let index = summaries.index();
        for entry in &all {
            assert_eq!(index.line(&entry.id, entry.stamp, &mut 0), entry.summary);
            for changed in 0..4 {
                let mut stamp = entry.stamp;
                stamp.0[changed] += 1;
                assert_eq!(index.line(&entry.id, stamp, &mut 0), None);
            }
        }
    }

    #[test]
    fn no_damage_is_believed() {
        let all = ["ex--a", "ex--b", "ex--c"].map(|name| entry(name, Some("{\"a\": \"line\",")));
        let good = encode(&all);
        let at = |summaries: &Summaries, entry: &Entry| {
            summaries.index().line(&entry.id, entry.stamp, &mut 0)
        };
        for at_byte in 0..good.len() {
            for byte in [0, b' ', b'\n', b'f', 0xff] {
                let mut bytes = good.clone();
                bytes[at_byte] = byte;
                let damaged = Summaries { bytes: bytes.into() };
                let found = all.iter().filter_map(|entry| Some((entry, at(&damaged, entry)?)));
                for (entry, line) in found {
                    assert_eq!(Some(line), entry.summary, "byte {at_byte} is {byte}");
                }
            }
            let torn = Summaries { bytes: good[..at_byte].to_vec().into() };
            assert_eq!(at(&torn, &all[2]), None);
        }
    }
}
