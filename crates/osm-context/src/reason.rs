//! Why a file is not in the prompt.

use std::fmt;
use std::fs::FileType;
use std::io;
use std::time::Duration;

/// Why a file is not in the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Binary,
    NotUtf8,
    TooLarge {
        size: u64,
        most: u64,
    },
    TooMany {
        most: usize,
    },
    Vanished,
    Unreadable(String),
    /// Neither a file nor a folder, but what.
    Special(&'static str),
    Loop,
    /// A link that leads out of the folder that was asked for.
    Outside,
    LinkToFolder,
    LinkToNowhere,
    NameNotUtf8,
    OfGit,
}

impl Reason {
    pub(crate) fn of_error(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Vanished,
            _ if is_loop(error) => Self::Loop,
            _ => Self::Unreadable(error.to_string()),
        }
    }

    /// What is in the way of reading it, by its type alone; folders and links are none of these.
    pub(crate) fn of_type(kind: FileType) -> Option<Self> {
        if kind.is_file() || kind.is_dir() || kind.is_symlink() {
            return None;
        }
        Some(Self::Special(special(kind)))
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Binary => f.write_str("binary"),
            Self::NotUtf8 => f.write_str("not UTF-8"),
            Self::TooLarge { size, most } => match (bytes(*size), bytes(*most)) {
                (size_text, most_text) if size_text == most_text => {
                    write!(f, "{size} bytes are more than {most}")
                }
                (size, most) => write!(f, "{size} are more than {most}"),
            },
            Self::TooMany { most } => {
                write!(f, "more than {most} files; name the folders in it that matter")
            }
            Self::Vanished => f.write_str("not found"),
            Self::Unreadable(error) => write!(f, "cannot be read: {error}"),
            Self::Special(what) => write!(f, "a {what}, no file"),
            Self::Loop => f.write_str("a link that leads back to itself"),
            Self::Outside => f.write_str("a link out of the folder"),
            Self::LinkToFolder => f.write_str("a link to a folder"),
            Self::LinkToNowhere => f.write_str("a link to nowhere"),
            Self::NameNotUtf8 => f.write_str("its name is not UTF-8"),
            Self::OfGit => f.write_str("a folder of Git's own"),
        }
    }
}

/// A size for people.
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

/// A time for people.
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
    fn sizes_for_people() {
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
    fn what_is_too_large_looks_larger() {
        let text = |size, most| Reason::TooLarge { size, most }.to_string();
        assert_eq!(text(2_000_000, 1_000_000), "1.9 MiB are more than 976 KiB");
        assert_eq!(text(1_000_001, 1_000_000), "1000001 bytes are more than 1000000");
    }
}
