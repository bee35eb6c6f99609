//! A job of a CI runner: the runner lives on, so the job's own name is the session.

use std::ffi::{OsStr, OsString};

use super::{Found, Identity, Verdict, describe, show};
use crate::detection::{Confidence, Source};
use crate::digest::Key;
use crate::scene::{Boundary, Scene};

pub(super) fn detect(scene: &mut Scene, _explicit: Option<&OsStr>) -> Verdict {
    let (at, boundary) = scene.boundary();
    let Boundary::Runner(row) = boundary else {
        let boundary = describe(scene, at, boundary);
        return Err(format!("no CI runner between this process and {boundary}"));
    };
    let value = |name: &&str| {
        scene.evidence(at, name).ok_or_else(|| format!("{} does not set {name}", row.name))
    };
    let job: Vec<OsString> = row.job.iter().map(value).collect::<Result<_, _>>()?;
    let names: Vec<String> =
        row.job.iter().zip(&job).map(|(name, value)| format!("{name}={}", show(value))).collect();
    Ok(Found {
        identity: Identity::Key {
            namespace: "ci",
            label: String::new(),
            key: job.iter().fold(Key::new("ci").with(row.name), Key::with_free),
        },
        source: Source::Runner,
        confidence: Confidence::Confirmed,
        agent: None,
        context: None,
        anchor: Some(at),
        reason: format!("{} is an ancestor process, and {}", row.name, names.join(" ")),
    })
}
