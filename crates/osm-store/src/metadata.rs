//! The small record that all processes share: when the last cleanup ran, and the last resets.
//!
//! It is a convenience: losing it costs an early cleanup and a shorter list, never a session. So a
//! damaged record counts as an empty one; its bytes are quarantined when it is next written, and the
//! writer is told. Fields of a newer osm survive.
//!
//! Each change is part of a transaction of the backend: none is lost to another, however long a
//! cleanup takes.

use jiff::Timestamp;
use osm_identity::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::backend::{ArchiveKind, Backend, Current, Holder, Stored, Transaction};
use crate::error::Result;
use crate::retention::ClockRecord;

/// How many resets are remembered.
const MOST_RESETS: usize = 100;

/// What all processes share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Metadata {
    /// When the last cleanup ran to its end.
    #[serde(
        rename = "last_cleanup_run",
        alias = "lastCleanupRun",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub last_cleanup: Option<Timestamp>,
    /// The clock as the last cleanup found it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockRecord>,
    /// When osm offered to import the sessions of the upstream tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream_offered: Option<Timestamp>,
    /// The last resets, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resets: Vec<ResetRecord>,
    /// What others put there.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// One reset of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ResetRecord {
    /// Which session; text, so that what another version wrote can be kept.
    pub session: String,
    /// When.
    pub at: Timestamp,
    /// The archive of the old document, if it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archive: Option<String>,
    /// Who did it.
    #[serde(default)]
    pub by: String,
    /// What others put there.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

impl ResetRecord {
    /// The record of a reset.
    #[must_use]
    pub fn new(session: &SessionId, at: Timestamp, archive: Option<String>, by: &Holder) -> Self {
        let session = session.to_string();
        Self { session, at, archive, by: by.to_string(), other: Map::new() }
    }
}

/// The record as it was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// What it says; nothing, if it is damaged.
    pub metadata: Metadata,
    /// What is wrong with it.
    pub damage: Option<String>,
}

impl Metadata {
    /// Reads the record. Changes nothing, even if it is damaged.
    pub fn read(backend: &dyn Backend) -> Result<Found> {
        Ok(match backend.load(Stored::Record, None)? {
            Current::Found(bytes, _) => Self::parse(&bytes),
            _ => Found::default(),
        })
    }

    /// Changes the record within a transaction. A damaged record is quarantined first, and the name
    /// that it has there is returned.
    pub fn change(
        transaction: &mut dyn Transaction,
        edit: impl FnOnce(&mut Self),
    ) -> Result<Option<String>> {
        let bytes = transaction.record()?;
        let mut found = bytes.as_deref().map_or_else(Found::default, Self::parse);
        let mut quarantined = None;
        if let (Some(bytes), Some(_)) = (&bytes, &found.damage) {
            let kind = ArchiveKind::Quarantine;
            quarantined = Some(transaction.archive(kind, "metadata", bytes)?);
        }
        edit(&mut found.metadata);
        let resets = &mut found.metadata.resets;
        resets.drain(..resets.len().saturating_sub(MOST_RESETS));
        transaction.set_record(found.metadata.to_bytes())?;
        Ok(quarantined)
    }

    fn parse(bytes: &[u8]) -> Found {
        match serde_json::from_slice(bytes) {
            Ok(metadata) => Found { metadata, damage: None },
            Err(error) => Found { metadata: Self::default(), damage: Some(error.to_string()) },
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("times and texts become JSON");
        bytes.push(b'\n');
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn what_others_wrote_survives() {
        let text = br#"{"last_cleanup_run":"2026-01-02T03:04:05Z","theme":{"x":[1]},
            "resets":[{"session":"not an id","at":"2026-01-01T00:00:00Z","new":true}]}"#;
        let found = Metadata::parse(text);
        assert_eq!(found.damage, None);
        assert_eq!(found.metadata.last_cleanup, Some(at(1_767_323_045)));
        let again = Metadata::parse(&found.metadata.to_bytes());
        assert_eq!(again, found);
        assert_eq!(again.metadata.other["theme"]["x"][0], 1);
        assert_eq!(again.metadata.resets[0].other["new"], true);
    }

    #[test]
    fn the_upstream_spelling_is_understood() {
        let found = Metadata::parse(br#"{"lastCleanupRun":"1970-01-01T00:00:09Z"}"#);
        assert_eq!(found.metadata.last_cleanup, Some(at(9)));
    }

    #[test]
    fn damage_is_an_empty_record_and_a_reason() {
        let deep = [b"[".repeat(5000), b"]".repeat(5000)].concat();
        for bytes in [
            &b""[..],
            b"{",
            b"[]",
            b"null",
            b"\xff\xfe",
            b"{\"last_cleanup_run\":17}",
            b"{\"resets\":{}}",
            b"{\"resets\":[],\"resets\":[]}",
            &deep,
        ] {
            let found = Metadata::parse(bytes);
            assert_eq!(found.metadata, Metadata::default());
            assert!(found.damage.is_some(), "{:?}", String::from_utf8_lossy(bytes));
        }
        assert_eq!(Metadata::parse(b"{}"), Found::default());
    }
}
