//! Sessions and archived documents in lists, and the pages that lists come in.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

use jiff::Timestamp;
use osm_identity::SessionId;

/// Tells one version of a document from the next; its content is up to the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(pub [u64; 4]);

/// Which part of a list is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Where the last page ended; `None` for the first one.
    pub after: Option<Cursor>,
    /// The most items that the caller wants at a time; the backend may give fewer.
    pub limit: Option<usize>,
    /// Every item must be read now, not taken from what an earlier list remembered: for callers
    /// that remove what they see.
    pub exact: bool,
}

/// The end of a page; only the backend that made it understands it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub String);

/// One page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing<T> {
    /// The items.
    pub items: Vec<T>,
    /// Where the next page begins; `None` if this is the last one.
    pub next: Option<Cursor>,
}

impl<T> Listing<T> {
    /// A list that fits on one page.
    #[must_use]
    pub fn whole(items: Vec<T>) -> Self {
        Self { items, next: None }
    }

    /// The part of a whole list that a page asks for; `cursor` gives an item's place in the order,
    /// as text that sorts like the list.
    pub(crate) fn part(items: Vec<T>, page: &Page, cursor: impl Fn(&T) -> String) -> Self {
        let mut items = items;
        if let Some(Cursor(after)) = &page.after {
            items.retain(|item| cursor(item) > *after);
        }
        match page.limit {
            Some(limit) if limit < items.len() => {
                items.truncate(limit.max(1));
                let next = items.last().map(|last| Cursor(cursor(last)));
                Self { items, next }
            }
            _ => Self::whole(items),
        }
    }
}

/// A session in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The session.
    pub id: SessionId,
    /// Bytes of the document.
    pub size: u64,
    /// When the document was last replaced.
    pub modified: Timestamp,
    /// Which version this is.
    pub stamp: Stamp,
    /// A process has it open.
    pub active: bool,
    /// The first line of the document (see `document.rs`), if it could be read.
    pub summary: Option<FirstLine>,
}

/// The first line of a document. A list has very many of them, and most come from one file: they
/// are slices of that file, not copies.
#[derive(Clone)]
pub struct FirstLine {
    whole: Arc<Vec<u8>>,
    range: Range<usize>,
}

impl FirstLine {
    /// A part of some bytes; empty if the range is out of bounds.
    pub(crate) fn part(whole: &Arc<Vec<u8>>, range: Range<usize>) -> Self {
        Self { whole: Arc::clone(whole), range }
    }
}

impl From<Vec<u8>> for FirstLine {
    fn from(bytes: Vec<u8>) -> Self {
        Self { range: 0..bytes.len(), whole: Arc::new(bytes) }
    }
}

impl Deref for FirstLine {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.whole.get(self.range.clone()).unwrap_or_default()
    }
}

impl PartialEq for FirstLine {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl fmt::Debug for FirstLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(self))
    }
}

/// The kinds of archived documents. Each kind has its own folder and its own retention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ArchiveKind {
    /// Copies from before a reset, a restore or an upgrade.
    Archive,
    /// Documents that could not be read.
    Quarantine,
    /// Sessions that could only be kept in memory, because the store could not be used.
    Recovered,
    /// Sessions that were removed; compressed.
    Trash,
}

impl ArchiveKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Archive, Self::Quarantine, Self::Recovered, Self::Trash];

    /// Its name, which is also its folder's.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::Quarantine => "quarantine",
            Self::Recovered => "recovered",
            Self::Trash => "trash",
        }
    }
}

/// An archived document in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchivedDocument {
    /// Its name among those of its kind.
    pub name: String,
    /// The session that it was, if the name tells.
    pub id: Option<SessionId>,
    /// Bytes, as stored.
    pub size: u64,
    /// When it was archived.
    pub modified: Timestamp,
}
