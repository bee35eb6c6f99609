//! The records of trusted files, `trust.json`.
//!
//! The user trusts a content: the SHA-256 of a file's bytes at its real path. If either changes, the
//! file must be trusted again. If the records cannot be read, no file is trusted. What a trusted file
//! loads must be trusted, too (`trust/modules.rs`).

mod modules;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::World;
use crate::config::{self, ChangeError, Problem};
use crate::error::{Exit, Failure};

pub(crate) use modules::{GoalModules, MAX_BYTES, ModuleRules, with_modules};

/// The version of the file.
const VERSION: u32 = 1;

/// All trusted files.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    pub(crate) records: Vec<Record>,
}

/// Why the records cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecordsError {
    /// There is no folder for them.
    #[error("no folder for the trusted files: neither HOME nor OSM_HOME is set")]
    NoHome,
    /// They cannot be read.
    #[error("{}: {problem}; no file is trusted", .path.display())]
    Invalid { path: PathBuf, problem: Problem },
    /// They cannot be changed.
    #[error(transparent)]
    Change(#[from] ChangeError),
}

impl Failure for RecordsError {
    fn reason(&self) -> &'static str {
        match self {
            Self::NoHome => "no_home",
            Self::Invalid { .. } => "invalid_file",
            Self::Change(error) => error.reason(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Change(error) => error.exit(),
            _ => Exit::Failure,
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::NoHome => vec!["set HOME, or OSM_HOME to a folder".into()],
            Self::Invalid { .. } => {
                vec!["fix the file, or remove it and trust your files again".into()]
            }
            Self::Change(error) => error.hints(),
        }
    }

    fn unwritable(&self) -> Option<&Path> {
        match self {
            Self::Change(error) => error.unwritable(),
            _ => None,
        }
    }
}

/// A trusted content.
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
    /// It was never trusted.
    Unknown,
    /// Another content of it was trusted.
    Changed,
}

impl Verdict {
    /// Why it may not, as a predicate of the file.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Unknown => "not trusted",
            Self::Changed => "changed since it was trusted",
        }
    }
}

impl Trust {
    /// Reads the records. Without a home folder there are none.
    pub(crate) fn load(world: &World) -> Result<Self, RecordsError> {
        let Some(path) = file(world) else { return Ok(Self::default()) };
        let text = config::read(&path);
        match text.and_then(|text| parse(&text.unwrap_or_default()).map_err(Problem::whole)) {
            Ok(records) => Ok(Self { records }),
            Err(problem) => Err(RecordsError::Invalid { path, problem }),
        }
    }

    /// Whether the content of a file and of all modules that it names is trusted, and which file says
    /// so: the first that is not trusted, or the file itself.
    pub(crate) fn verdict_with_modules(&self, path: &Path, bytes: &[u8]) -> (Verdict, PathBuf) {
        let verdict = self.verdict(path, bytes);
        if let (Verdict::Trusted, Ok(real)) = (verdict, std::fs::canonicalize(path)) {
            for (file, bytes) in with_modules(real, bytes.to_vec()).into_iter().skip(1) {
                let verdict = self.verdict(&file, &bytes);
                if verdict != Verdict::Trusted {
                    return (verdict, file);
                }
            }
        }
        (verdict, path.to_owned())
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

/// Changes the records.
pub(crate) fn change(
    world: &World,
    edit: impl FnOnce(&mut Vec<Record>),
) -> Result<(), RecordsError> {
    Trust::load(world)?;
    let path = file(world).ok_or(RecordsError::NoHome)?;
    config::change(&path, |text| {
        let mut trusted = parse(text).map_err(Problem::whole)?;
        edit(&mut trusted);
        trusted.sort_by(|one, other| one.path.cmp(&other.path));
        let file = File { version: VERSION, trusted };
        Ok(serde_json::to_string_pretty(&file).expect("records are JSON") + "\n")
    })?;
    Ok(())
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
        return Err(format!("unsupported version {}", file.version));
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
        let trust = Trust { records: vec![record] };
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
