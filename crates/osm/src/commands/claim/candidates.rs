//! The candidates of `osm claim next --from FILE`.

use std::io::Read;
use std::path::{Path, PathBuf};

use osm_claims::Resource;

use crate::error::{Exit, Failure};
use crate::ops::claim as ops;

/// The most bytes that a list may have.
const MOST_BYTES: u64 = 256 << 20;

/// Why a list of candidates cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum CandidatesError {
    #[error("cannot read the candidates in {}: {source}", file.display())]
    Io { file: PathBuf, source: std::io::Error },
    #[error("the list of candidates in {} is larger than 256 MB", .0.display())]
    TooLong(PathBuf),
    #[error("invalid candidate on line {line} of {}: {source}", file.display())]
    Line { file: PathBuf, line: usize, source: Box<ops::Error> },
}

impl Failure for CandidatesError {
    fn reason(&self) -> &'static str {
        match self {
            Self::Io { .. } => "unreadable_candidates",
            Self::TooLong(_) => "too_many_candidates",
            Self::Line { .. } => "invalid_candidate",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Line { .. } => Exit::Usage,
            _ => Exit::Failure,
        }
    }
}

/// The candidates in a file, one on each line; `-` is standard input.
pub(super) fn read(
    file: &Path,
    resource: impl Fn(&[u8]) -> Result<Resource, ops::Error>,
) -> Result<Vec<Resource>, CandidatesError> {
    let error = |source| CandidatesError::Io { file: file.to_owned(), source };
    let mut text = Vec::new();
    if file == Path::new("-") {
        std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut text).map_err(error)?;
    } else {
        let open = std::fs::File::open(file).map_err(error)?;
        open.take(MOST_BYTES + 1).read_to_end(&mut text).map_err(error)?;
    }
    if text.len() as u64 > MOST_BYTES {
        return Err(CandidatesError::TooLong(file.to_owned()));
    }
    let lines =
        text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines
        .zip(1..)
        .filter(|(line, _)| !line.is_empty())
        .map(|(text, line)| {
            resource(text).map_err(|source| CandidatesError::Line {
                file: file.to_owned(),
                line,
                source: Box::new(source),
            })
        })
        .collect()
}
