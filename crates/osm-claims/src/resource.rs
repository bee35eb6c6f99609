//! The name of a resource: bytes that mean something to the sessions that share it.

use std::fmt::{self, Write};
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// The name of what is claimed: a task, a file, a role. Two names are the same if their bytes are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource(Arc<[u8]>);

/// Why bytes are not the name of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidResource {
    /// There are none.
    #[error("a resource name must not be empty")]
    Empty,
    /// There are more than [`Resource::MOST_BYTES`].
    #[error("a resource name has at most {most} bytes, this one has {0}", most = Resource::MOST_BYTES)]
    TooLong(usize),
}

impl Resource {
    /// The longest name.
    pub const MOST_BYTES: usize = 1024;

    /// A name of these bytes. Nothing is trimmed, folded or interpreted.
    pub fn new(name: impl AsRef<[u8]>) -> Result<Self, InvalidResource> {
        let name = name.as_ref();
        match name.len() {
            0 => Err(InvalidResource::Empty),
            length if length > Self::MOST_BYTES => Err(InvalidResource::TooLong(length)),
            _ => Ok(Self(name.into())),
        }
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The name, if it is text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
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
        for chunk in self.0.utf8_chunks() {
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
    }
}
