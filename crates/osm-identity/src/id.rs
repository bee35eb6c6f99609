//! How a session id is spelled, cut and suffixed: the only way to make, check and print one.
//!
//! ```text
//! {namespace}--{payload}[_{suffix}]        at most 80 bytes of  A-Z a-z 0-9 . - _
//! ```
//!
//! The namespace tells how the id came about, and a file name is the id plus an extension, so an
//! id can be used as a key everywhere. A value that a *user* chose can hold anything and be of any
//! length; three rules make it an id:
//!
//! 1. A value that is an id already means itself, so every id that `osm` prints can be given back
//!    to it. A text is an id only in a form in which ids are printed: [`FromStr`] accepts exactly
//!    the values that this rule leaves as they are.
//! 2. Text before the first `--` is a namespace if it has the form of one; otherwise the whole
//!    value is the payload of `ex`.
//! 3. The payload is made safe, one `_` for each character outside the alphabet, and gets a suffix
//!    from the SHA-256 of its original bytes: two digits where nothing was lost, sixteen where
//!    something was replaced or cut. The short one keeps a user's value apart from detected ids
//!    (they have the forms of rule 1); the long one keeps values apart that look the same once they
//!    are safe.

use std::ffi::OsStr;
use std::fmt;
use std::str::FromStr;

use crate::Handle;
use crate::digest;

/// The longest id, in bytes.
pub const MAX_LENGTH: usize = 80;

const DELIMITER: &str = "--";
const MAX_NAMESPACE: usize = 40;
const MINI_SUFFIX: usize = 2;

/// Namespaces whose payload is nothing but a hash.
const HASH_ALONE: &[&str] = &[
    "anchor", "ssh", "terminal", "ci", "screen", "zellij", "wezterm", "shpool", "abduco", "dtach",
    "herdr",
];

/// A checked session id.
///
/// ```
/// use osm_identity::SessionId;
///
/// let id = SessionId::explicit("user/name".as_ref());
/// assert_eq!(id.as_str(), "ex--user_name_94d046a42abcfaae");
/// assert_eq!(SessionId::explicit(id.as_str().as_ref()), id);
/// assert_eq!(id.as_str().parse(), Ok(id));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(String);

/// Why a text is not a session id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidId {
    /// There is no `--` after a namespace of 1 to 40 letters, digits, `-` and `_`.
    Namespace,
    /// A character is outside the alphabet.
    Alphabet(char),
    /// It is longer than [`MAX_LENGTH`] bytes.
    Length(usize),
    /// It does not end as printed ids of its namespace do: in a hash that matches.
    Suffix,
}

impl std::error::Error for InvalidId {}

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace => f.write_str("a session id begins with a namespace and `--`"),
            Self::Alphabet(character) => {
                write!(f, "a session id has no {character:?}, only letters, digits, `.`, `-`, `_`")
            }
            Self::Length(length) => {
                write!(f, "a session id has at most {MAX_LENGTH} bytes, not {length}")
            }
            Self::Suffix => f.write_str("a session id ends in a hash, and this one does not match"),
        }
    }
}

impl SessionId {
    /// The session that a user names, by any value.
    #[must_use]
    pub fn explicit(value: &OsStr) -> Self {
        if let Some(text) = value.to_str()
            && let Ok(id) = text.parse()
        {
            return id;
        }
        let bytes = value.as_encoded_bytes();
        let (namespace, payload) = split(bytes).unwrap_or(("ex", bytes));
        let safe = sanitize(payload);
        let room = MAX_LENGTH - namespace.len() - DELIMITER.len();
        let suffix = if safe.as_bytes() == payload && safe.len() + 1 + MINI_SUFFIX <= room {
            MINI_SUFFIX
        } else {
            digest::SHORT
        };
        let kept = &safe[..safe.len().min(room - 1 - suffix)];
        Self::assemble(namespace, &format!("{kept}_{}", digest::hex(payload, suffix)))
    }

    /// A detected id; the payload is made of parts that are safe by construction.
    pub(crate) fn detected(namespace: &str, payload: &str) -> Self {
        Self::assemble(namespace, payload)
    }

    fn assemble(namespace: &str, payload: &str) -> Self {
        let id = format!("{namespace}{DELIMITER}{payload}");
        debug_assert_eq!(check(&id), Ok(()));
        Self(id)
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text before the first `--`: how the id came about.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.0.split_once(DELIMITER).map_or("", |(namespace, _)| namespace)
    }

    /// The session in a sentence for people: its handle, and the id in parentheses.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{} ({self})", Handle::of(self))
    }

    /// The name of this session's file with an extension such as `session.json`.
    #[must_use]
    pub fn file_name(&self, extension: &str) -> String {
        format!("{}.{extension}", self.0)
    }

    /// The session that a file of that name belongs to: the inverse of
    /// [`file_name`](Self::file_name).
    #[must_use]
    pub fn from_file_name(name: &str, extension: &str) -> Option<Self> {
        name.strip_suffix(extension)?.strip_suffix('.')?.parse().ok()
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl AsRef<str> for SessionId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl FromStr for SessionId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        check(text).map(|()| Self(text.to_owned()))
    }
}

fn check(text: &str) -> Result<(), InvalidId> {
    if text.len() > MAX_LENGTH {
        return Err(InvalidId::Length(text.len()));
    }
    if let Some(at) = text.bytes().position(|byte| !is_safe(char::from(byte))) {
        // Bytes before it are ASCII, so a character begins here.
        return Err(InvalidId::Alphabet(text[at..].chars().next().unwrap_or_default()));
    }
    let (namespace, payload) = split(text.as_bytes()).ok_or(InvalidId::Namespace)?;
    let payload = &text[text.len() - payload.len()..];
    if is_printed(namespace, payload) { Ok(()) } else { Err(InvalidId::Suffix) }
}

/// Splits a value at its first `--`, if the text before it is a namespace.
fn split(value: &[u8]) -> Option<(&str, &[u8])> {
    let at = value.windows(DELIMITER.len()).position(|window| window == DELIMITER.as_bytes())?;
    let namespace = std::str::from_utf8(&value[..at]).ok()?;
    let fits = (1..=MAX_NAMESPACE).contains(&namespace.len())
        && namespace.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    fits.then(|| (namespace, &value[at + DELIMITER.len()..]))
}

fn is_safe(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_')
}

/// One `_` for every character outside the alphabet, and for every byte that is no character.
fn sanitize(payload: &[u8]) -> String {
    let mut safe = String::with_capacity(payload.len().min(MAX_LENGTH));
    for chunk in payload.utf8_chunks() {
        safe.extend(chunk.valid().chars().map(|c| if is_safe(c) { c } else { '_' }));
        safe.extend(chunk.invalid().iter().map(|_| '_'));
        if safe.len() > MAX_LENGTH {
            break; // All that is kept is known; the value may be a megabyte.
        }
    }
    safe
}

/// Whether `{namespace}--{payload}` has a form in which ids are printed. Both are safe.
fn is_printed(namespace: &str, payload: &str) -> bool {
    if HASH_ALONE.contains(&namespace) && is_hash(payload) {
        return true;
    }
    if namespace == "uuid" && is_uuid(payload) {
        return true;
    }
    match payload.rsplit_once('_') {
        Some((_, suffix)) if is_hash(suffix) => true,
        Some((text, suffix)) if suffix.len() == MINI_SUFFIX => {
            digest::begins_with(text.as_bytes(), suffix)
        }
        // The form of tmux ids before they carried an incarnation.
        Some((pane, server)) => namespace == "tmux" && is_number(pane) && is_number(server),
        None => false,
    }
}

fn is_hash(text: &str) -> bool {
    text.len() == digest::SHORT
        && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
        })
}

#[cfg(test)]
mod tests;
