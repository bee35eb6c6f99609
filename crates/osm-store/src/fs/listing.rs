//! The list of all sessions, quickly.
//!
//! A list shows what the first line of each document says, so each file is opened, looked at, read
//! once and closed: four calls that touch nobody else's. They are spread over the processors, for
//! most of the time goes into the kernel, and the kernel lets readers of one folder work side by
//! side.
//!
//! A list is a sum of moments. A file that vanishes meanwhile is left out; one that cannot be read is
//! shown without its first line; nothing makes the whole list fail but the folder itself.

use std::collections::HashSet;
use std::io::Read;
use std::num::NonZero;
use std::sync::Arc;

use osm_identity::SessionId;

use super::activity::Activity;
use super::folder::{Access, Facts, Folder, Kind};
use super::lock::FileLock;
use crate::backend::Entry;
use crate::error::Result;
use crate::layout;

/// The longest first line that is read.
const LONGEST_LINE: usize = 4096;
/// What nearly all first lines fit into: more would be copied for nothing.
const USUAL_LINE: usize = 1024;
/// Fewer sessions than this are not worth a thread.
const WORTH_A_THREAD: usize = 500;
/// More threads than this only wait for each other.
const MOST_THREADS: usize = 16;

/// All sessions of a folder, in the order of their ids.
pub(crate) fn entries(folder: &Arc<Folder>) -> Result<Vec<Entry>> {
    let activity = Activity::of(folder);
    let mut ids = Vec::new();
    let mut open = HashSet::new();
    folder.each_name(&mut |name, inode| {
        if let Some(id) = layout::document_id(name) {
            ids.push(id);
        } else if let Activity::Known(locked) = &activity
            && locked.contains(&inode)
        {
            open.extend(layout::presence_id(name));
        }
    })?;
    ids.sort_unstable();

    let work = |ids: Vec<SessionId>, room: usize| {
        let mut reader = Reader::new(folder);
        let mut entries = Vec::with_capacity(room);
        for id in ids {
            let active = match &activity {
                Activity::Known(_) => !open.is_empty() && open.contains(&id),
                Activity::Unknown => is_open(folder, &id),
            };
            entries.extend(reader.entry(id, active));
        }
        entries
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    let threads = threads.min(ids.len() / WORTH_A_THREAD);
    let all = ids.len();
    if threads < 2 {
        return Ok(work(ids, all));
    }
    let share = ids.len().div_ceil(threads);
    let mut later = Vec::with_capacity(threads);
    while ids.len() > share {
        later.push(ids.split_off(ids.len() - share));
    }
    Ok(std::thread::scope(|scope| {
        let others: Vec<_> =
            later.into_iter().rev().map(|ids| scope.spawn(|| work(ids, share))).collect();
        let mut entries = work(ids, all);
        for other in others {
            entries.extend(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        entries
    }))
}

/// Whether a session is open, asked of its lock. One whose lock does not tell is left in peace.
fn is_open(folder: &Arc<Folder>, id: &SessionId) -> bool {
    FileLock::is_held(folder, &layout::presence_lock(id)).unwrap_or(true)
}

/// What is known of one session; `None` if there is none, or what has its name is no file.
pub(crate) fn entry(folder: &Folder, id: SessionId, active: bool) -> Option<Entry> {
    Reader::new(folder).entry(id, active)
}

/// Reads one document after the other, into the same memory.
struct Reader<'a> {
    folder: &'a Folder,
    buffer: Vec<u8>,
}

impl<'a> Reader<'a> {
    fn new(folder: &'a Folder) -> Self {
        Self { folder, buffer: vec![0; LONGEST_LINE] }
    }

    fn entry(&mut self, id: SessionId, active: bool) -> Option<Entry> {
        let name = layout::document(&id);
        let (facts, summary) = match self.folder.open_file(&name, Access::Read) {
            Ok(None) => return None,
            Ok(Some((file, facts))) => (facts, self.first_line(&file, &facts)),
            Err(_) => (self.folder.facts(&name).ok()??, None),
        };
        if facts.kind != Kind::File {
            return None;
        }
        Some(Entry {
            path: Some(self.folder.path_of(&name)),
            lock_path: Some(self.folder.path_of(&layout::presence_lock(&id))),
            id,
            size: facts.size,
            modified: facts.modified,
            stamp: facts.stamp,
            active,
            summary,
        })
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
