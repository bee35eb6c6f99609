//! Two words for a session, made from its id: `swift-otter`.
//!
//! An id is the key everywhere; a handle is for reading and typing. It is 20 bits of the SHA-256 of
//! the id, so every machine shows the same one, and two sessions can share one: the id decides. The
//! lists are fixed for good, since people and logs remember handles; a test pins their hash. No word
//! is in both lists, and no two words of a list are one letter apart.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use crate::SessionId;
use crate::digest;

/// One word a line, in order.
const ADJECTIVES: &str = include_str!("../words/adjectives.txt");
const NOUNS: &str = include_str!("../words/nouns.txt");
/// How many bits choose a word.
const BITS: u32 = 10;
/// How many digits of the hash the two words stand for.
const DIGITS: usize = 2 * BITS as usize / 4;

/// Both lists, split when the first handle is shown or read.
static WORDS: LazyLock<[Vec<&str>; 2]> =
    LazyLock::new(|| [ADJECTIVES, NOUNS].map(|list| list.lines().collect()));

/// The handle of a session.
///
/// ```
/// use osm_identity::{Handle, SessionId};
///
/// let handle = Handle::of(&SessionId::explicit("foo".as_ref()));
/// assert_eq!(handle.to_string(), "tawny-hare");
/// assert_eq!(handle.to_string().parse(), Ok(handle));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle {
    adjective: u16,
    noun: u16,
}

/// A text that is not a handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidHandle;

impl std::error::Error for InvalidHandle {}

impl fmt::Display for InvalidHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a handle is two words of the lists, joined by `-`")
    }
}

impl Handle {
    /// The handle of a session.
    #[must_use]
    pub fn of(id: &SessionId) -> Self {
        let [one, two, three, ..] = digest::bytes(id.as_str().as_bytes());
        let bits = u32::from_be_bytes([0, one, two, three]) >> 4;
        let word = |bits: u32| u16::try_from(bits & ((1 << BITS) - 1)).unwrap_or_default();
        Self { adjective: word(bits >> BITS), noun: word(bits) }
    }

    /// The digits of the id's hash that follow those of the handle: they tell sessions apart that
    /// share one.
    #[must_use]
    pub fn digits(id: &SessionId) -> String {
        digest::hex(id.as_str().as_bytes(), digest::SHORT).split_off(DIGITS)
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [adjectives, nouns] = &*WORDS;
        let word = |list: &[&'static str], at| list.get(usize::from(at)).copied();
        let adjective = word(adjectives, self.adjective).unwrap_or_default();
        f.pad(&format!("{adjective}-{}", word(nouns, self.noun).unwrap_or_default()))
    }
}

impl FromStr for Handle {
    type Err = InvalidHandle;

    fn from_str(text: &str) -> Result<Self, InvalidHandle> {
        let place = |list: &[&str], word: &str| {
            let at = list.binary_search(&word).map_err(|_| InvalidHandle)?;
            u16::try_from(at).map_err(|_| InvalidHandle)
        };
        let (adjective, noun) = text.split_once('-').ok_or(InvalidHandle)?;
        let [adjectives, nouns] = &*WORDS;
        Ok(Self { adjective: place(adjectives, adjective)?, noun: place(nouns, noun)? })
    }
}

#[cfg(test)]
mod tests;
