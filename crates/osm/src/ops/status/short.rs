//! `osm --short`: one line for shell prompts and for the status lines of agents.
//!
//! A prompt pays for it after every command. So it starts no program, reads no session and no repository, and
//! opens the ledger only if there is one. A prompt is no place for errors either: what cannot be read is
//! left out, and bare `osm` tells why.

use osm_identity::{Confidence, Handle};
use serde::Serialize;

use crate::invocation::Invocation;
use crate::ops::claim;

/// This session in one line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Short {
    /// The handle of the session; `None` if nothing identifies it, so that it would change every time.
    pub handle: Option<String>,
    /// How many claims it holds.
    pub held: usize,
    /// How many are offered to it.
    pub offered: usize,
    /// How many its dead process left, which it can resume.
    pub resumable: usize,
    /// How many it lost and has not acknowledged.
    pub lost: usize,
}

impl Short {
    /// The line: `swift-otter: 2 held, 1 offered`. Empty if nothing is known.
    #[must_use]
    pub fn text(&self) -> String {
        let Some(handle) = &self.handle else { return String::new() };
        let counts = [
            (self.held, "held"),
            (self.offered, "offered"),
            (self.resumable, "to resume"),
            (self.lost, "lost"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        if counts.is_empty() { handle.clone() } else { format!("{handle}: {}", counts.join(", ")) }
    }
}

/// Looks at this session and its claims.
#[must_use]
pub fn short(invocation: &Invocation) -> Short {
    let found = invocation.detection();
    if found.confidence == Confidence::None {
        return Short::default();
    }
    let owned = claim::concerns(invocation).ok().flatten().unwrap_or_default();
    Short {
        handle: Some(Handle::of(&found.id).to_string()),
        held: owned.held.len(),
        offered: owned.offered.len(),
        resumable: owned.resumable.len(),
        lost: owned.lost.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_there_is() {
        let handle = Some("swift-otter".to_owned());
        let none = Short { handle, ..Short::default() };
        assert_eq!(none.text(), "swift-otter");
        let some = Short { held: 2, lost: 1, ..none };
        assert_eq!(some.text(), "swift-otter: 2 held, 1 lost");
        assert_eq!(Short::default().text(), "");
    }
}
