//! What of other people's code may run.
//!
//! Trust is in a content: the SHA-256 of a file's bytes, at its real path. If either changes, it has to
//! be given again. The records are in `trust.json`; if that cannot be read, nothing is trusted.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::World;
use crate::config::{self, Problem};
use crate::error::CommandError;

/// The version of the file.
const VERSION: u32 = 1;

/// What may run.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    pub(crate) records: Vec<Record>,
    /// Why the file does not count.
    pub(crate) problem: Option<String>,
}

/// A content that is trusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) path: PathBuf,
    pub(crate) sha256: String,
    pub(crate) at: Timestamp,
}

#[derive(Serialize, Deserialize)]
struct File {
    version: u32,
    trusted: Vec<Record>,
}

/// Whether a file's code may run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It may.
    Trusted,
    /// Nobody said so.
    Unknown,
    /// It was trusted with another content.
    Changed,
}

impl Verdict {
    /// Why it may not.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Unknown => "not trusted",
            Self::Changed => "changed since it was trusted",
        }
    }
}

impl Trust {
    /// What is trusted, as far as it can be known.
    pub(crate) fn load(world: &World) -> Self {
        let Some(path) = file(world) else { return Self::default() };
        let read = config::read(&path).map_err(|problem| problem.to_string());
        match read.and_then(|text| parse(&text.unwrap_or_default())) {
            Ok(records) => Self { records, problem: None },
            Err(reason) => {
                let problem = format!("{}: {reason}; nothing is trusted", path.display());
                Self { records: Vec::new(), problem: Some(problem) }
            }
        }
    }

    /// Whether the content of a file is trusted.
    pub(crate) fn verdict(&self, path: &Path, bytes: &[u8]) -> Verdict {
        let Ok(real) = std::fs::canonicalize(path) else { return Verdict::Unknown };
        let record = self.records.iter().find(|record| record.path == real);
        match record {
            Some(record) if record.sha256 == digest(bytes) => Verdict::Trusted,
            Some(_) => Verdict::Changed,
            None => Verdict::Unknown,
        }
    }
}

/// The SHA-256 of bytes, in hexadecimal digits.
pub(crate) fn digest(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string succeeds");
        text
    })
}

/// Changes what is trusted, whole or not at all.
pub(crate) fn change(
    world: &World,
    edit: impl FnOnce(&mut Vec<Record>),
) -> Result<(), CommandError> {
    let path = file(world).ok_or_else(|| {
        CommandError::failed("there is no folder for what is trusted")
            .with_hint("set HOME, or OSM_HOME to a folder")
    })?;
    config::change(&path, |text| {
        let mut trusted = parse(text).map_err(Problem::whole)?;
        edit(&mut trusted);
        trusted.sort_by(|one, other| one.path.cmp(&other.path));
        let file = File { version: VERSION, trusted };
        Ok(serde_json::to_string_pretty(&file).expect("texts are JSON") + "\n")
    })
}

fn file(world: &World) -> Option<PathBuf> {
    world.home().map(|home| home.join("trust.json"))
}

fn parse(text: &str) -> Result<Vec<Record>, String> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if file.version != VERSION {
        return Err(format!("version {} is not known to this osm", file.version));
    }
    Ok(file.trusted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trust_is_in_a_content_at_a_path() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        std::fs::write(&one, "a").unwrap();
        std::fs::write(&other, "a").unwrap();
        let path = std::fs::canonicalize(&one).unwrap();
        let record = Record { path, sha256: digest(b"a"), at: Timestamp::UNIX_EPOCH };
        let trust = Trust { records: vec![record], problem: None };
        assert_eq!(trust.verdict(&one, b"a"), Verdict::Trusted);
        assert_eq!(trust.verdict(&folder.path().join("./one"), b"a"), Verdict::Trusted);
        assert_eq!(trust.verdict(&one, b"b"), Verdict::Changed);
        assert_eq!(trust.verdict(&other, b"a"), Verdict::Unknown);
        assert_eq!(trust.verdict(&folder.path().join("none"), b"a"), Verdict::Unknown);
    }

    #[test]
    fn a_file_that_is_not_understood_trusts_nothing() {
        assert_eq!(parse(""), Ok(Vec::new()));
        for text in
            ["{}", "[]", "{\"version\": 2, \"trusted\": []}", "{\"version\": 1, \"trusted\": [{}]}"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
        assert_eq!(digest(b"").get(..8), Some("e3b0c442"));
    }
}
