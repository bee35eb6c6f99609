//! The one hash of the crate: SHA-256, printed as lower-case hexadecimal digits.

use std::ffi::OsStr;

use sha2::{Digest, Sha256};

use crate::instance::ProcessInstance;

/// How many digits an id carries: 64 bits.
pub(crate) const SHORT: usize = 16;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// The hash of `bytes`.
pub(crate) fn bytes(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The first `digits` digits of the hash of `bytes`.
pub(crate) fn hex(bytes: &[u8], digits: usize) -> String {
    let nibbles = self::bytes(bytes).into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    nibbles.take(digits).map(|nibble| char::from(DIGITS[usize::from(nibble)])).collect()
}

/// Whether the hash of `bytes` begins with these digits: for lists of a hundred thousand ids.
pub(crate) fn begins_with(bytes: &[u8], digits: &str) -> bool {
    let nibbles = self::bytes(bytes).into_iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.bytes().zip(nibbles).all(|(digit, nibble)| digit == DIGITS[usize::from(nibble)])
}

/// Parts of an identity, joined so that no two lists of parts give the same bytes.
///
/// The separator is the colon of the formula `boot:namespace:tty:pid:start`.
#[derive(Debug, Default)]
pub(crate) struct Key(Vec<u8>);

impl Key {
    /// Begins with the kind of identity, so that kinds never meet.
    pub(crate) fn new(kind: &str) -> Self {
        Self(kind.as_bytes().to_vec())
    }

    /// Adds a part.
    pub(crate) fn with(mut self, part: impl AsRef<[u8]>) -> Self {
        if !self.0.is_empty() {
            self.0.push(b':');
        }
        self.0.extend_from_slice(part.as_ref());
        self
    }

    /// Adds a part where there is one.
    pub(crate) fn with_some(self, part: Option<impl AsRef<[u8]>>) -> Self {
        match part {
            Some(part) => self.with(part),
            None => self,
        }
    }

    /// Adds a part that another program chose, and that may hold a colon: no value of a variable
    /// holds a NUL.
    pub(crate) fn with_free(mut self, part: impl AsRef<OsStr>) -> Self {
        self.0.push(0);
        self.0.extend_from_slice(part.as_ref().as_encoded_bytes());
        self
    }

    /// Adds an exact process.
    pub(crate) fn with_instance(self, instance: &ProcessInstance) -> Self {
        self.with(&instance.boot)
            .with(&instance.namespace)
            .with(instance.pid.to_string())
            .with(instance.start.to_string())
            .with_some(instance.inode.map(|inode| inode.to_string()))
    }

    /// The short hash of all parts.
    pub(crate) fn digest(&self) -> String {
        hex(&self.0, SHORT)
    }

    /// The short hash of all parts and of what tells sub-agents apart.
    pub(crate) fn digest_in(&self, context: Option<&[u8]>) -> String {
        match context {
            Some(context) => hex(&[&self.0, &b"\0context\0"[..], context].concat(), SHORT),
            None => self.digest(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_vector() {
        assert_eq!(
            hex(b"abc", 64),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn a_key_is_its_parts_between_colons() {
        let key = Key::new("ssh").with("a").with_some(None::<&str>).with_some(Some("b"));
        assert_eq!(key.digest(), hex(b"ssh:a:b", SHORT));
        let keys = [Key::new("x").with_free("a:b"), Key::new("x").with_free("a").with_free("b")];
        assert_ne!(keys[0].digest(), keys[1].digest());
        assert_ne!(keys[0].digest(), keys[0].digest_in(Some(b"sub")));
    }
}
