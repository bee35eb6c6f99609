//! Decides which code of a working tree may run.

use std::io;
use std::path::{Component, Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use super::path_text;
use crate::error::{Exit, Failure};
use crate::trust::{self, MAX_BYTES, Record, Trust, Verdict};
use crate::{Invocation, World, ownership};

pub use crate::trust::RecordsError;

/// A file that is, or was, trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Trusted {
    #[serde(serialize_with = "path_text::one")]
    pub path: PathBuf,
    pub sha256: String,
    /// When it was trusted.
    pub at: Timestamp,
    pub state: State,
}

/// Whether a file's code may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It may.
    Trusted,
    /// The content changed since it was trusted.
    Changed,
    /// The file does not exist.
    Gone,
    /// It is no longer trusted.
    Revoked,
}

impl State {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Changed => "changed",
            Self::Gone => "gone",
            Self::Revoked => "revoked",
        }
    }
}

/// Why trust could not be shown or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read {}: {source}", .path.display())]
    Read { path: PathBuf, source: io::Error },
    /// Only the content of files can be trusted.
    #[error("cannot trust {}: it is not a file", .0.display())]
    NotAFile(PathBuf),
    /// The file is too large.
    #[error("cannot trust {}: it is larger than {MAX_BYTES} bytes", .0.display())]
    TooLarge(PathBuf),
    /// Another user could have written the file.
    #[error("cannot trust {}: {reason}", .path.display())]
    Unsafe { path: PathBuf, reason: String },
    /// None of the named files is trusted.
    #[error("none of these files is trusted")]
    NotTrusted,
    /// The records cannot be used.
    #[error(transparent)]
    Records(#[from] RecordsError),
}

impl Failure for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => "not_found",
            Self::Read { .. } => "cannot_read",
            Self::NotAFile(_) => "not_a_file",
            Self::TooLarge(_) => "too_large",
            Self::Unsafe { .. } => "unsafe_file",
            Self::NotTrusted => "not_trusted",
            Self::Records(error) => error.reason(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => Exit::NotFound,
            Self::NotTrusted => Exit::NotFound,
            Self::Records(error) => error.exit(),
            _ => Exit::Failure,
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::NotAFile(_) => vec!["name the files in it".into()],
            Self::NotTrusted => vec!["see `osm trust list`".into()],
            Self::Records(error) => error.hints(),
            Self::Read { .. } | Self::TooLarge(_) | Self::Unsafe { .. } => {
                vec!["nothing was changed".into()]
            }
        }
    }

    fn unwritable(&self) -> Option<&Path> {
        match self {
            Self::Records(error) => error.unwritable(),
            _ => None,
        }
    }
}

/// Trusts the present content of files and of the modules that they name: all of them, or none if one
/// cannot be read.
pub fn add(invocation: &Invocation, paths: &[PathBuf]) -> Result<Vec<Trusted>, Error> {
    let world = invocation.world;
    let mut records: Vec<Record> = Vec::new();
    for path in paths {
        for record in self::records(path, world)? {
            if records.iter().all(|known| known.path != record.path) {
                records.push(record);
            }
        }
    }
    trust::change(world, |trusted| {
        trusted.retain(|old| records.iter().all(|new| new.path != old.path));
        trusted.extend(records.iter().cloned());
    })?;
    Ok(records.into_iter().map(|record| trusted(record, State::Trusted)).collect())
}

fn records(path: &Path, world: &World) -> Result<Vec<Record>, Error> {
    let read = |source| Error::Read { path: path.to_owned(), source };
    let real = std::fs::canonicalize(path).map_err(read)?;
    let about = std::fs::metadata(&real).map_err(read)?;
    if !about.is_file() {
        return Err(Error::NotAFile(path.to_owned()));
    }
    if about.len() > MAX_BYTES {
        return Err(Error::TooLarge(path.to_owned()));
    }
    let unusable = |reason| Error::Unsafe { path: path.to_owned(), reason };
    let bytes = ownership::read(&real, MAX_BYTES).map_err(unusable)?;
    let bytes = bytes.ok_or_else(|| read(io::ErrorKind::NotFound.into()))?;
    let files = trust::with_modules(real, bytes).into_iter();
    let record = |(path, bytes): (PathBuf, Vec<u8>)| {
        if path.to_str().is_none() {
            let reason = "its path is not UTF-8, and cannot be recorded".to_owned();
            return Err(Error::Unsafe { path, reason });
        }
        let sha256 = trust::digest(&bytes);
        Ok(Record { path, sha256, at: world.now() })
    };
    files.map(record).collect()
}

/// Lists every file that was trusted, and whether its content is still the same.
pub fn list(invocation: &Invocation) -> Result<Vec<Trusted>, Error> {
    let trust = Trust::load(invocation.world)?;
    let state = |record: &Record| match ownership::read(&record.path, MAX_BYTES) {
        Ok(Some(bytes)) => match trust.verdict(&record.path, &bytes) {
            Verdict::Trusted => State::Trusted,
            Verdict::Changed => State::Changed,
            Verdict::Unknown => State::Gone,
        },
        Ok(None) => State::Gone,
        // What cannot be used is not what was trusted.
        Err(_) => State::Changed,
    };
    Ok(trust.records.iter().map(|record| trusted(record.clone(), state(record))).collect())
}

/// Revokes the trust in files, and in all files below folders.
pub fn revoke(invocation: &Invocation, paths: &[PathBuf]) -> Result<Vec<Trusted>, Error> {
    let folder = invocation.world.folder().unwrap_or_default();
    // A file that was removed is named by the path that it had.
    let named: Vec<PathBuf> = paths
        .iter()
        .map(|path| std::fs::canonicalize(path).unwrap_or_else(|_| normalized(&folder.join(path))))
        .collect();
    let is_named = |record: &Record| named.iter().any(|path| record.path.starts_with(path));
    let mut revoked = Vec::new();
    trust::change(invocation.world, |trusted| {
        revoked = trusted.extract_if(.., |record| is_named(record)).collect();
    })?;
    if revoked.is_empty() {
        return Err(Error::NotTrusted);
    }
    Ok(revoked.into_iter().map(|record| trusted(record, State::Revoked)).collect())
}

fn trusted(record: Record, state: State) -> Trusted {
    Trusted { path: record.path, sha256: record.sha256, at: record.at, state }
}

/// A path without `.` and `..`, for a file that does not exist.
fn normalized(path: &Path) -> PathBuf {
    let mut normalized = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(normalized.pop()),
            part => normalized.push(part),
        }
    }
    normalized
}
