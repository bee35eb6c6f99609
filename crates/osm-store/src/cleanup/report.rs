//! What a cleanup did, for people and for machines.

use std::fmt;

use osm_identity::SessionId;
use serde::{Serialize, Serializer};

use crate::backend::{ArchiveKind, Holder};
use crate::error::{By, Damage, Error};
use crate::retention::{Discard, Leap, Mode, Removal};

/// What a cleanup did; or would do, if it was a dry run.
#[derive(Debug, Serialize)]
#[must_use]
pub struct Report {
    /// How much was to go.
    #[serde(serialize_with = "mode_name")]
    pub mode: Mode,
    /// Nothing was really done.
    pub dry_run: bool,
    /// Sessions that went.
    pub removed: Vec<Removal>,
    /// What went from the archives.
    pub discarded: Vec<Discard>,
    /// What was to go and stayed.
    pub skipped: Vec<Skipped>,
    /// What could not be removed, or not even be looked at.
    pub failed: Vec<Failed>,
    /// Sessions that stay and are damaged; only a thorough cleanup looks for them.
    pub damaged: Vec<DamagedSession>,
    /// How many temporary files and locks of sessions that are gone were removed.
    pub stray_files: usize,
    /// Bytes that are gone for good.
    pub bytes_freed: u64,
    /// Bytes that moved into the trash, before compression.
    pub bytes_trashed: u64,
    /// The clock was in doubt, so ages did not count.
    pub leap: Option<Leap>,
    /// It was told to stop before it was done.
    pub stopped: bool,
    /// What else went wrong.
    pub warnings: Vec<Warning>,
}

impl Report {
    /// Nothing had to go, and nothing went wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.removed.is_empty()
            && self.discarded.is_empty()
            && self.skipped.is_empty()
            && self.failed.is_empty()
            && self.stray_files == 0
            && self.warnings.is_empty()
    }
}

/// A session whose document is damaged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DamagedSession {
    /// The session.
    #[serde(serialize_with = "as_text")]
    pub id: SessionId,
    /// What is wrong with it.
    #[serde(serialize_with = "as_text")]
    pub reason: Damage,
}

/// One thing that a cleanup deals with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A session.
    Session(SessionId),
    /// An archived document.
    Archived(ArchiveKind, String),
    /// All archives of a kind.
    Archive(ArchiveKind),
    /// Temporary files and locks of sessions that are gone.
    StrayFiles,
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(id) => id.fmt(f),
            Self::Archived(place, name) => write!(f, "{}/{name}", place.name()),
            Self::Archive(place) => write!(f, "{}/", place.name()),
            Self::StrayFiles => f.write_str("stray files of crashed processes"),
        }
    }
}

impl Serialize for Item {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Something that was to go and stayed.
#[derive(Debug, PartialEq, Serialize)]
pub struct Skipped {
    /// What it is.
    pub item: Item,
    /// Why it stayed.
    pub why: Skip,
}

/// Why something stayed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Skip {
    /// A process opened it: the registered holders.
    InUse(Vec<Holder>),
    /// A process on another machine has it open, whose lock cannot be seen here.
    Elsewhere(Vec<Holder>),
    /// It was changed after the plan was made.
    Changed,
    /// Another process removed it.
    Gone,
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse(holders) | Self::Elsewhere(holders) => {
                write!(f, "in use{}", By(holders))
            }
            Self::Changed => f.write_str("changed meanwhile"),
            Self::Gone => f.write_str("gone already"),
        }
    }
}

impl Serialize for Skip {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Something that could not be removed.
#[derive(Debug, Serialize)]
pub struct Failed {
    /// What it is.
    pub item: Item,
    /// What went wrong.
    #[serde(serialize_with = "as_text")]
    pub error: Error,
}

/// Something that went wrong without keeping anything from being removed.
#[derive(Debug, thiserror::Error)]
pub enum Warning {
    /// The shared record was damaged and has this name in quarantine now.
    #[error("the shared record was damaged and is now quarantine/{0}")]
    RecordQuarantined(String),
    /// That a cleanup ran could not be recorded.
    #[error("cannot record the time of this cleanup: {0}")]
    NotRecorded(Error),
    /// The audit log could not be written.
    #[error("cannot write the audit log: {0}")]
    NotAudited(Error),
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What a cleanup is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It reads the documents that stay.
    Checking,
    /// It removes what goes.
    Removing,
}

/// How far a cleanup is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What it is at.
    pub stage: Stage,
    /// Things that were dealt with.
    pub done: usize,
    /// Things that are to be dealt with.
    pub total: usize,
    /// Bytes that went so far, for good or into the trash.
    pub bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn mode_name<S: Serializer>(mode: &Mode, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(mode.name())
}

fn as_text<T: fmt::Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}
