//! The name of a resource: bytes that mean something to the sessions that share it, or paths.

use std::cmp::Ordering;
use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::path::{ClaimedPath, SPELLING};

/// What is claimed: a name (a task, a role) or paths of a worktree. Two names are the same if their
/// bytes are; two paths, if worktree, text and kind are.
#[derive(Clone, Debug)]
pub struct Resource {
    /// What the ledger stores, and all by which two resources are told apart.
    stored: Arc<[u8]>,
    path: Option<Arc<Spelled>>,
    link: Option<Link>,
}

/// A path, and how it is typed.
#[derive(Debug)]
struct Spelled {
    path: ClaimedPath,
    text: String,
}

/// The device and the inode of a file that has several names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The device.
    pub device: u64,
    /// The inode.
    pub inode: u64,
}

/// Why bytes are not the name of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidResource {
    /// There are none.
    #[error("a resource name must not be empty")]
    Empty,
    /// There are more than [`Resource::MOST_BYTES`].
    #[error("a resource name has at most {most} bytes, this one has {0}", most = Resource::MOST_BYTES)]
    TooLong(usize),
    /// The first one is null, as in what ledgers store of paths.
    #[error("a resource name must not start with a null byte")]
    StartsWithNull,
}

impl Resource {
    /// The longest name.
    pub const MOST_BYTES: usize = 1024;

    /// A name of these bytes. Nothing is trimmed, folded or interpreted.
    pub fn new(name: impl AsRef<[u8]>) -> Result<Self, InvalidResource> {
        let name = name.as_ref();
        match name {
            [] => Err(InvalidResource::Empty),
            [0, ..] => Err(InvalidResource::StartsWithNull),
            _ if name.len() > Self::MOST_BYTES => Err(InvalidResource::TooLong(name.len())),
            _ => Ok(Self { stored: name.into(), path: None, link: None }),
        }
    }

    /// Paths of a worktree. A file that has several names is known by its link, too, which is not part
    /// of what the resource is: a file that is saved again may be another one of the same path.
    #[must_use]
    pub fn of_path(path: ClaimedPath, link: Option<Link>) -> Self {
        let stored = path.stored().into_bytes().into();
        let text = format!("{SPELLING}{path}");
        Self { stored, path: Some(Arc::new(Spelled { path, text })), link }
    }

    /// The resource that a ledger stored.
    pub(crate) fn from_stored(bytes: &[u8], link: Option<Link>) -> Result<Self, InvalidResource> {
        match ClaimedPath::read(bytes) {
            Some(path) => Ok(Self::of_path(path, link)),
            None => Self::new(bytes),
        }
    }

    /// The bytes that a ledger stores.
    pub(crate) fn stored(&self) -> &[u8] {
        &self.stored
    }

    /// The bytes that are typed for it.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.path.as_ref().map_or(&self.stored, |it| it.text.as_bytes())
    }

    /// What is typed for it, if that is text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(self.as_bytes()).ok()
    }

    /// The paths, if it is not a name.
    #[must_use]
    pub fn path(&self) -> Option<&ClaimedPath> {
        self.path.as_ref().map(|it| &it.path)
    }

    /// The file, if it has several names.
    #[must_use]
    pub fn link(&self) -> Option<Link> {
        self.link
    }
}

impl PartialEq for Resource {
    fn eq(&self, other: &Self) -> bool {
        self.stored == other.stored
    }
}

impl Eq for Resource {}

impl PartialOrd for Resource {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Resource {
    fn cmp(&self, other: &Self) -> Ordering {
        self.stored.cmp(&other.stored)
    }
}

impl Hash for Resource {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.stored.hash(state);
    }
}

/// The text of the name, with bytes that are not UTF-8 spelled out. It may contain control
/// characters, which the program escapes when it writes to a terminal.
impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = self.text() {
            return f.pad(text);
        }
        let mut shown = String::new();
        for chunk in self.as_bytes().utf8_chunks() {
            shown.push_str(chunk.valid());
            for byte in chunk.invalid() {
                write!(shown, "\\x{byte:02x}")?;
            }
        }
        f.pad(&shown)
    }
}

/// The text of the name, or as it is displayed if it is not UTF-8.
impl Serialize for Resource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.text() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_str(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_are_a_name() {
        let shown = |bytes: &[u8]| Resource::new(bytes).unwrap().to_string();
        assert_eq!(shown(b"TASK-7"), "TASK-7");
        assert_eq!(shown("Größe".as_bytes()), "Größe");
        assert_eq!(shown(b"a\nb"), "a\nb");
        assert_eq!(shown(b"a\xff\xfe"), "a\\xff\\xfe");
        assert_eq!(shown(b" "), " ");
    }

    #[test]
    fn limits() {
        assert_eq!(Resource::new(""), Err(InvalidResource::Empty));
        assert!(Resource::new(vec![b'x'; Resource::MOST_BYTES]).is_ok());
        assert_eq!(
            Resource::new(vec![b'x'; Resource::MOST_BYTES + 1]),
            Err(InvalidResource::TooLong(1025))
        );
        assert_eq!(Resource::new("\0path"), Err(InvalidResource::StartsWithNull));
    }

    #[test]
    fn a_path_is_stored_and_typed() {
        use crate::path::{Case, PathKind};

        for (kind, text, case, typed) in [
            (PathKind::File, "src//main.rs", Case::Distinct, "path:src/main.rs"),
            (PathKind::Folder, "src/", Case::Folded, "path:src/"),
            (PathKind::Folder, "", Case::Distinct, "path:./"),
            (PathKind::Glob, "src/*/", Case::Distinct, "path:src/*/"),
        ] {
            let path = ClaimedPath::new("second", kind, text, case).unwrap();
            let resource = Resource::of_path(path.clone(), None);
            assert_eq!(resource.to_string(), typed);
            let read = Resource::from_stored(resource.stored(), None).unwrap();
            assert_eq!((read.path(), &read), (Some(&path), &resource));
            let first = ClaimedPath::new("", kind, text, case).unwrap();
            assert_ne!(Resource::of_path(first, None), resource, "another worktree");
        }
        let link = Some(Link { device: 1, inode: 2 });
        let path = ClaimedPath::new("", PathKind::File, "a", Case::Distinct).unwrap();
        assert_eq!(Resource::of_path(path.clone(), link), Resource::of_path(path, None));
        assert_eq!(Resource::new("path:a").unwrap().path(), None, "a name stays one");
    }
}
