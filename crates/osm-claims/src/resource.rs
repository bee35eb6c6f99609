//! The name of a piece of work: bytes that mean something to the people who share them.

use std::fmt::{self, Write};

use serde::{Serialize, Serializer};

use crate::plain::plain;

/// What is claimed: a task, a file, a role. Two names are the same if their bytes are.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Resource(Vec<u8>);

/// Why a name is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvalidResource {
    /// It has no bytes.
    Empty,
    /// It has more bytes than [`Resource::MOST_BYTES`].
    TooLong(usize),
}

impl Resource {
    /// The longest name.
    pub const MOST_BYTES: usize = 1024;

    /// Takes a name as it is: nothing is trimmed, folded or interpreted.
    pub fn new(name: impl Into<Vec<u8>>) -> Result<Self, InvalidResource> {
        let name = name.into();
        match name.len() {
            0 => Err(InvalidResource::Empty),
            length if length > Self::MOST_BYTES => Err(InvalidResource::TooLong(length)),
            _ => Ok(Self(name)),
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

impl Resource {
    /// As a shell takes it, if it is text.
    #[must_use]
    pub fn quoted(&self) -> String {
        let shown = self.to_string();
        let is_plain = |c: char| c.is_alphanumeric() || "-_./:@%+=,".contains(c);
        if shown.chars().all(is_plain) && !shown.starts_with('-') {
            return shown;
        }
        format!("'{}'", shown.replace('\'', r"'\''"))
    }
}

/// For people: on one line, and nothing that a terminal would obey.
impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = String::new();
        for chunk in self.0.utf8_chunks() {
            shown.push_str(&plain(chunk.valid()));
            for byte in chunk.invalid() {
                write!(shown, "\\x{byte:02x}")?;
            }
        }
        f.pad(&shown)
    }
}

/// For programs: the text as it is, or as it is shown if it is none.
impl Serialize for Resource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.text() {
            Some(text) => serializer.serialize_str(text),
            None => serializer.collect_str(self),
        }
    }
}

impl std::error::Error for InvalidResource {}

impl fmt::Display for InvalidResource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the name of a resource must not be empty"),
            Self::TooLong(length) => write!(
                f,
                "the name of a resource has {length} bytes, the longest may have {}",
                Resource::MOST_BYTES
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_are_a_name_and_none_of_them_reaches_a_terminal() {
        let shown = |bytes: &[u8]| Resource::new(bytes).unwrap().to_string();
        assert_eq!(shown(b"TASK-7"), "TASK-7");
        assert_eq!(shown("Größe".as_bytes()), "Größe");
        assert_eq!(shown(b"a\nb\x1b[2J"), "a\\nb\\u{1b}[2J");
        assert_eq!(shown(b"\xff\xfe"), "\\xff\\xfe");
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
