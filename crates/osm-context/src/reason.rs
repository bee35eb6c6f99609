//! Why a file is not in the prompt.

use std::fs::FileType;
use std::io;
use std::time::Duration;

/// Why a file is not in the prompt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// It has a NUL near its start.
    #[error("binary")]
    Binary,
    /// It is not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// It is larger than the limit.
    #[error("too large: {}", compared(*size, *limit))]
    TooLarge {
        /// Its size, in bytes.
        size: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// The folder has more files than the limit.
    #[error("more than {limit} files")]
    TooManyFiles {
        /// The limit.
        limit: usize,
    },
    /// It does not exist.
    #[error("not found")]
    NotFound,
    /// The system refuses to read it.
    #[error("cannot read: {0}")]
    Unreadable(String),
    /// It is a FIFO, a socket or a device.
    #[error("not a regular file: {0}")]
    Special(&'static str),
    /// It is a symbolic link that leads back to itself, or that took the place of a file.
    #[error("symbolic link loop")]
    LinkLoop,
    /// It is a symbolic link that leads out of the folder that was added.
    #[error("symbolic link out of the folder")]
    LinkOutside,
    /// It is a symbolic link to a folder.
    #[error("symbolic link to a folder")]
    LinkToFolder,
    /// It is a symbolic link whose target does not exist.
    #[error("broken symbolic link")]
    BrokenLink,
    /// Its path leads elsewhere than when it was added: a link took the place of a part of it.
    #[error("symbolic link to another place than when it was added; remove it and add it again")]
    Elsewhere,
    /// Its name is not UTF-8, so that a session cannot hold it.
    #[error("file name is not UTF-8")]
    NameNotUtf8,
    /// It is in a `.git` folder.
    #[error("in a .git folder")]
    InGit,
}

impl Reason {
    pub(crate) fn of_error(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::NotFound,
            _ if is_loop(error) => Self::LinkLoop,
            _ => Self::Unreadable(error.to_string()),
        }
    }

    /// Whether the file is one that should be in the prompt, if the system let us read it.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self, Self::NotFound | Self::Unreadable(_) | Self::TooManyFiles { .. })
    }

    /// Why a file of this type cannot be read; `None` for files, folders and links.
    pub(crate) fn of_type(kind: FileType) -> Option<Self> {
        if kind.is_file() || kind.is_dir() || kind.is_symlink() {
            return None;
        }
        Some(Self::Special(special(kind)))
    }
}

/// A size and its limit, exact where they would look the same.
fn compared(size: u64, limit: u64) -> String {
    match (bytes(size), bytes(limit)) {
        (size_text, limit_text) if size_text == limit_text => {
            format!("{size} bytes, limit {limit}")
        }
        (size, limit) => format!("{size}, limit {limit}"),
    }
}

/// A size with its unit, rounded down.
pub(crate) fn bytes(size: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let Some((unit, name)) = UNITS.into_iter().find(|(unit, _)| size >= *unit) else {
        return format!("{size} bytes");
    };
    // Ten times the largest size is more than 64 bits hold.
    let tenths = u128::from(size) * 10 / u128::from(unit);
    if tenths.is_multiple_of(10) || tenths >= 1000 {
        format!("{} {name}", size / unit)
    } else {
        format!("{}.{} {name}", tenths / 10, tenths % 10)
    }
}

/// A time with its unit.
pub(crate) fn time(time: Duration) -> String {
    match time.subsec_millis() {
        0 => format!("{} s", time.as_secs()),
        _ => format!("{} ms", time.as_millis()),
    }
}

#[cfg(unix)]
fn special(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_fifo() {
        "FIFO"
    } else if kind.is_socket() {
        "socket"
    } else {
        "device"
    }
}

#[cfg(not(unix))]
fn special(_kind: FileType) -> &'static str {
    "device"
}

#[cfg(unix)]
fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_loop(_error: &io::Error) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::{Reason, bytes};

    #[test]
    fn sizes_are_rounded_down() {
        for (size, text) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (2047, "1.9 KiB"),
            (61_440, "60 KiB"),
            (1_000_000, "976 KiB"),
            (1 << 20, "1 MiB"),
            (5_000_000_000, "4.6 GiB"),
            (u64::MAX, "17179869183 GiB"),
        ] {
            assert_eq!(bytes(size), text);
        }
    }

    #[test]
    fn a_size_never_looks_like_its_limit() {
        let text = |size, limit| Reason::TooLarge { size, limit }.to_string();
        assert_eq!(text(2_000_000, 1_000_000), "too large: 1.9 MiB, limit 976 KiB");
        assert_eq!(text(1_000_001, 1_000_000), "too large: 1000001 bytes, limit 1000000");
    }
}
