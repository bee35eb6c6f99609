//! The list of all sessions, quickly.
//!
//! A list shows what the first line of each document says. If that is known from the last time
//! (`summaries.rs`), one look at the file tells; otherwise it is opened, looked at, read once and
//! closed. These calls disturb no other process. They are spread over the processors, for most of the
//! time goes into the kernel, and the kernel lets readers of one folder work side by side.
//!
//! A list is a sum of moments. A file that vanishes meanwhile is left out; one that cannot be read is
//! shown without its first line; nothing makes the whole list fail but the folder itself.

use std::collections::HashSet;
use std::io::Read;
use std::sync::Arc;
use std::thread;

use osm_identity::SessionId;

use super::activity::Activity;
use super::folder::{Access, Facts, Folder, Kind};
use super::lock::FileLock;
use super::summaries::Index;
use crate::backend::{Entry, FirstLine, Listing, Page};
use crate::error::Result;
use crate::layout;
use crate::spread::spread;

/// The longest first line that is read.
const LONGEST_LINE: usize = 4096;
/// What nearly all first lines fit into: more would be copied for nothing.
const USUAL_LINE: usize = 1024;

/// A page of the sessions of a folder, in the order of their ids, and how many of them had to be
/// read because nothing is known of them.
pub(crate) fn entries(
    folder: &Arc<Folder>,
    known: &Index,
    page: &Page,
) -> Result<(Listing<Entry>, usize)> {
    // The system takes some milliseconds to tell what is locked, most of which it waits.
    let (names, activity) = thread::scope(|scope| {
        let look = thread::Builder::new().spawn_scoped(scope, || Activity::of(folder));
        let names = Names::of(folder);
        let activity = match look {
            Ok(look) => look.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => Activity::of(folder),
        };
        (names, activity)
    });
    let Names { mut ids, others } = names?;
    let open = match &activity {
        Activity::Known(locked) => others.open(locked),
        Activity::Unknown => HashSet::new(),
    };
    ids.sort_unstable();
    let Listing { items: ids, next } = Listing::part(ids, page, |id| id.as_str().to_owned());

    let shares = spread(ids, |ids| {
        let mut reader = Reader::new(folder, known);
        let mut entries = Vec::with_capacity(ids.len());
        for id in ids {
            let active = match &activity {
                Activity::Known(_) => !open.is_empty() && open.contains(&id),
                Activity::Unknown => is_open(folder, &id),
            };
            entries.extend(reader.entry(id, active));
        }
        (entries, reader.read)
    });
    let read = shares.iter().map(|(_, read)| read).sum();
    let items = shares.into_iter().flat_map(|(entries, _)| entries).collect();
    Ok((Listing { items, next }, read))
}

/// What is in a folder.
struct Names {
    /// The sessions.
    ids: Vec<SessionId>,
    others: Others,
}

/// The names of all other files, one after the other, with the inode and the end of each.
#[derive(Default)]
struct Others {
    text: String,
    files: Vec<(u64, usize)>,
}

impl Names {
    fn of(folder: &Folder) -> Result<Self> {
        let mut names = Self { ids: Vec::new(), others: Others::default() };
        folder.each_name(&mut |name, inode| {
            if let Some(id) = layout::document_id(name) {
                names.ids.push(id);
            } else {
                names.others.text.push_str(name);
                names.others.files.push((inode, names.others.text.len()));
            }
        })?;
        Ok(names)
    }
}

impl Others {
    /// The sessions whose presence lock is among the files that are locked.
    fn open(&self, locked: &HashSet<u64>) -> HashSet<SessionId> {
        let mut start = 0;
        let mut open = HashSet::new();
        for (inode, end) in &self.files {
            if locked.contains(inode) {
                open.extend(layout::presence_id(&self.text[start..*end]));
            }
            start = *end;
        }
        open
    }
}

/// Whether a session is open, asked of its lock. One whose lock does not tell is left in peace.
fn is_open(folder: &Arc<Folder>, id: &SessionId) -> bool {
    FileLock::is_held(folder, &layout::presence_lock(id)).unwrap_or(true)
}

/// Reads one document after the other, into the same memory.
struct Reader<'a> {
    folder: &'a Folder,
    known: &'a Index,
    /// Where in it the next session is expected.
    next: usize,
    buffer: Vec<u8>,
    /// How many were read.
    read: usize,
}

impl<'a> Reader<'a> {
    fn new(folder: &'a Folder, known: &'a Index) -> Self {
        Self { folder, known, next: 0, buffer: vec![0; LONGEST_LINE], read: 0 }
    }

    fn entry(&mut self, id: SessionId, active: bool) -> Option<Entry> {
        let name = layout::document(&id);
        let (facts, summary) = match self.look(&id, &name) {
            Some((facts, line)) => (facts, Some(line)),
            None => self.open(&name)?,
        };
        if facts.kind != Kind::File {
            return None;
        }
        Some(Entry {
            id,
            size: facts.size,
            modified: facts.modified,
            stamp: facts.stamp,
            active,
            summary,
        })
    }

    /// What is known of a document whose first line need not be read again.
    fn look(&mut self, id: &SessionId, name: &str) -> Option<(Facts, FirstLine)> {
        if self.known.is_empty() {
            return None;
        }
        let facts = self.folder.checked_facts(name).ok()??;
        Some((facts, self.known.line(id, facts.stamp, &mut self.next)?))
    }

    fn open(&mut self, name: &str) -> Option<(Facts, Option<FirstLine>)> {
        self.read += 1;
        match self.folder.open_file(name, Access::Read) {
            Ok(file) => file
                .map(|(file, facts)| (facts, self.first_line(&file, &facts).map(FirstLine::from))),
            Err(_) => Some((self.folder.facts(name).ok()??, None)),
        }
    }

    /// The first line of a document; `None` if it is longer than the first line of ours can be.
    fn first_line(&mut self, mut file: impl Read, facts: &Facts) -> Option<Vec<u8>> {
        let mut length = 0;
        loop {
            let end = if length < USUAL_LINE { USUAL_LINE } else { LONGEST_LINE };
            let read = file.read(&mut self.buffer[length..end]).ok()?;
            let fresh = &self.buffer[length..length + read];
            if let Some(at) = fresh.iter().position(|byte| *byte == b'\n') {
                return Some(self.buffer[..length + at].to_vec());
            }
            length += read;
            if length == LONGEST_LINE {
                return None;
            }
            if read == 0 || length as u64 >= facts.size {
                return Some(self.buffer[..length].to_vec());
            }
        }
    }
}
