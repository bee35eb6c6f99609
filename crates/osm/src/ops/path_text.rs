//! Paths as JSON: bytes that are no text are replaced. By itself, serde refuses such a path.

use std::path::{Path, PathBuf};

use serde::Serializer;

pub(super) fn one<S: Serializer>(path: impl AsRef<Path>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.as_ref().display())
}

#[expect(clippy::ref_option, reason = "serde passes the field")]
pub(super) fn optional<S: Serializer>(
    path: &Option<PathBuf>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => one(path, serializer),
        None => serializer.serialize_none(),
    }
}
