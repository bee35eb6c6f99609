//! What a user says goes, whatever would be detected.

use std::ffi::OsStr;

use super::{Found, Identity, Verdict, show};
use crate::SessionId;
use crate::detection::{Confidence, Source};
use crate::environment::is_blank;
use crate::scene::Scene;

/// The variables, in the order in which they count.
const VARIABLES: [&str; 2] = ["OSM_SESSION", "OSM_SESSION_ID"];

pub(super) fn flag(_scene: &mut Scene, explicit: Option<&OsStr>) -> Verdict {
    match explicit {
        Some(value) if !is_blank(value) => {
            Ok(found(value, Source::ExplicitFlag, "--session".into()))
        }
        Some(_) => Err("--session is blank".into()),
        None => Err("no --session".into()),
    }
}

pub(super) fn variable(scene: &mut Scene, _explicit: Option<&OsStr>) -> Verdict {
    VARIABLES
        .iter()
        .find_map(|name| scene.variable(name).map(|value| (name, value)))
        .map(|(name, value)| {
            found(&value, Source::ExplicitVariable, format!("{name}={}", show(&value)))
        })
        .ok_or_else(|| format!("neither {} nor {} is set", VARIABLES[0], VARIABLES[1]))
}

fn found(value: &OsStr, source: Source, reason: String) -> Found {
    Found {
        identity: Identity::Id(SessionId::explicit(value)),
        source,
        confidence: Confidence::Explicit,
        agent: None,
        context: None,
        anchor: None,
        reason,
    }
}
