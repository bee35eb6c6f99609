//! The resources: what a client can read, and hear of when it changes.

use serde_json::{Value, json};

use super::call::{Call, Voice};
use crate::documents;
use crate::invocation::Invocation;
use crate::ops::claim;
use crate::ops::prime;
use crate::ops::prompt::{self, BuildRequest};

/// A resource.
pub(super) struct Resource {
    pub(super) uri: &'static str,
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) media: &'static str,
    pub(super) changes: Changes,
    pub(super) read: fn(&Invocation) -> Result<String, Value>,
}

/// What tells that a resource changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Changes {
    /// The ledger of claims, and the ends of their holders.
    WithClaims,
    /// The stored session.
    WithSession,
}

/// Every resource.
pub(super) const RESOURCES: &[Resource] = &[
    Resource {
        uri: "osm://claims",
        name: "claims",
        about: "The open claims in this repository, as `osm claims --json` prints them",
        media: "application/json",
        changes: Changes::WithClaims,
        read: |invocation| {
            let list = claim::list(invocation, None, false, &mut Voice::default());
            Ok(json!(documents::claim::list(&Call::done(list)?)).to_string())
        },
    },
    Resource {
        uri: "osm://session",
        name: "session",
        about: "This session, what it holds and what others hold, as `osm prime --json` prints it",
        media: "application/json",
        changes: Changes::WithClaims,
        read: |invocation| Ok(json!(prime::prime(invocation)).to_string()),
    },
    Resource {
        uri: "osm://prompt",
        name: "prompt",
        about: "The prompt of this session, built from its items",
        media: "text/markdown",
        changes: Changes::WithSession,
        read: |invocation| {
            let request = BuildRequest::default();
            let built = prompt::build(invocation, &request, &mut Voice::default());
            Ok(Call::done(built)?.text)
        },
    },
];

/// The resource of that address.
pub(super) fn find(uri: &str) -> Option<&'static Resource> {
    RESOURCES.iter().find(|resource| resource.uri == uri)
}
