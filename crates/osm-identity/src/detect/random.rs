//! Nothing at all is known: a random id, which says so by its namespace.

use std::ffi::OsStr;
use std::fmt::Write;

use super::{Found, Identity, Verdict};
use crate::SessionId;
use crate::detection::{Confidence, Source};
use crate::scene::Scene;

#[expect(clippy::unnecessary_wraps, reason = "a detector among others")]
pub(super) fn detect(_scene: &mut Scene, _explicit: Option<&OsStr>) -> Verdict {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("an operating system has random numbers");
    Ok(Found {
        identity: Identity::Id(SessionId::detected("uuid", &uuid(bytes))),
        source: Source::Random,
        confidence: Confidence::None,
        agent: None,
        context: None,
        anchor: None,
        reason: "nothing identifies this session: the id is random and changes with every call"
            .into(),
    })
}

/// A UUID of version 4.
fn uuid(mut bytes: [u8; 16]) -> String {
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        write!(text, "{byte:02x}").expect("writing to a string succeeds");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_of_version_four() {
        assert_eq!(uuid([0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(uuid([0; 16]), "00000000-0000-4000-8000-000000000000");
    }
}
