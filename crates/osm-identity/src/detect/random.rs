//! Nothing at all is known: a random id, which says so by its namespace.
//!
//! Where the system refuses random numbers (a sandbox), the id is made of the process itself.

use std::ffi::OsStr;
use std::fmt::Write;

use super::{Found, Identity, Verdict};
use crate::SessionId;
use crate::detection::{Confidence, Source};
use crate::digest;
use crate::scene::Scene;

#[expect(clippy::unnecessary_wraps, reason = "a detector among others")]
pub(super) fn detect(scene: &mut Scene, _explicit: Option<&OsStr>) -> Verdict {
    let mut bytes = [0; 16];
    let is_random = getrandom::fill(&mut bytes).is_ok();
    if !is_random {
        bytes = of_process(scene);
    }
    Ok(Found {
        identity: Identity::Id(SessionId::detected("uuid", &uuid(bytes))),
        source: Source::Random,
        confidence: Confidence::None,
        agent: None,
        context: None,
        anchor: None,
        reason: if is_random {
            "nothing identifies this session: the id is random and changes with every call".into()
        } else {
            "nothing identifies this session, and the system gives no random numbers: the id is made of this \
             process and changes with every call"
                .into()
        },
    })
}

/// The process that asks, and when it began, where that is known.
fn of_process(scene: &Scene) -> [u8; 16] {
    let own = scene.ancestry.known().first();
    let text = match own {
        Some(own) => format!("{} {}", own.pid, own.start),
        None => scene.environment.pid().to_string(),
    };
    let digest = digest::bytes(text.as_bytes());
    std::array::from_fn(|at| digest[at])
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
