//! What was seen of a folder, and whether two sightings can be of one folder.
//!
//! A sighting is text in the ledger: `boot:device:inode:born`, then what kind of file system it is
//! on. Earlier versions wrote no kind; what they wrote proves little, but is found.

use std::fmt;
use std::str::FromStr;

/// A folder, as it was seen once.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Folder {
    /// The boot in which it was seen; empty if that could not be read.
    pub(super) boot: String,
    pub(super) device: u64,
    pub(super) inode: u64,
    /// The time of birth in nanoseconds, if it could be read.
    pub(super) born: Option<u128>,
    pub(super) kind: Kind,
}

/// What the file system promises.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A folder keeps its inode and its time of birth.
    Lasting(Top),
    /// Both may change while the folder stays.
    Changing {
        /// The id of the file system; empty if it is not known.
        file_system: String,
        /// The path of the folder inside the file system; empty if it is not known.
        place: String,
    },
    /// It was not recorded.
    Unrecorded,
}

/// The folder that contains `.git`: the top of the first worktree.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Top {
    /// The repository is bare, or its folder lies elsewhere.
    Absent,
    /// It could not be looked at, or its file system promises nothing.
    Unknown,
    /// Its inode and its time of birth.
    Known(u64, u128),
}

impl Folder {
    /// Whether both sightings are of one folder, wherever it was.
    pub(super) fn is(&self, other: &Self) -> bool {
        if self.device != other.device {
            return false;
        }
        if let (Kind::Lasting(_), Kind::Lasting(_)) = (&self.kind, &other.kind) {
            return self.inode == other.inode && self.born == other.born;
        }
        if !self.may_share_boot(other) || !self.may_share_file_system(other) {
            return false;
        }
        if self.inode == other.inode {
            // The device is the same, so if one sighting was of a lasting folder, both were.
            let is_lasting = [self, other].iter().any(|it| matches!(it.kind, Kind::Lasting(_)));
            return !is_lasting
                || self.born.is_none()
                || other.born.is_none()
                || self.born == other.born;
        }
        matches!((&self.kind, &other.kind),
            (Kind::Changing { place: here, .. }, Kind::Changing { place: there, .. })
                if here == there && !here.is_empty())
    }

    /// Whether two sightings at one path are proven to be of two repositories: both the folder of
    /// the repository and the top of its worktree are others.
    pub(super) fn is_proven_another(&self, other: &Self) -> bool {
        let (Kind::Lasting(top), Kind::Lasting(other_top)) = (&self.kind, &other.kind) else {
            return false;
        };
        let is_same_boot = !self.boot.is_empty() && self.boot == other.boot;
        is_same_boot
            && (self.inode, self.born) != (other.inode, other.born)
            && match (top, other_top) {
                (Top::Absent, Top::Absent) => true,
                (Top::Known(..), Top::Known(..)) => top != other_top,
                _ => false,
            }
    }

    /// Whether both are of one folder, and only this sighting can prove more than that.
    pub(super) fn tells_more_than(&self, other: &Self) -> bool {
        let is_lasting = |it: &Self| matches!(it.kind, Kind::Lasting(_));
        is_lasting(self) && !is_lasting(other) && self.is(other)
    }

    fn may_share_boot(&self, other: &Self) -> bool {
        self.boot.is_empty() || other.boot.is_empty() || self.boot == other.boot
    }

    fn may_share_file_system(&self, other: &Self) -> bool {
        match (&self.kind, &other.kind) {
            (Kind::Changing { file_system: it, .. }, Kind::Changing { file_system: at, .. }) => {
                it.is_empty() || at.is_empty() || it == at
            }
            _ => true,
        }
    }

    /// What every sighting of this folder in this boot begins with, and nothing else does, unless
    /// the inode is not a lasting one.
    pub(crate) fn prefix(&self) -> String {
        format!("{}:{}:{}:", self.boot, self.device, self.inode)
    }

    /// What every sighting of this folder contains.
    pub(crate) fn mark(&self) -> String {
        format!(":{}:", self.device)
    }
}

/// The text is not a sighting.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not the sighting of a folder")]
pub struct NotAFolder;

impl FromStr for Folder {
    type Err = NotAFolder;

    fn from_str(text: &str) -> Result<Self, NotAFolder> {
        let mut parts = text.splitn(7, ':');
        let boot = parts.next().unwrap_or_default().to_owned();
        let mut number = || parts.next().and_then(|part| part.parse().ok()).ok_or(NotAFolder);
        let (device, inode) = (number()?, number()?);
        let born = parts.next().unwrap_or_default().parse().ok().filter(|born| *born != 0);
        let kind = match (parts.next(), parts.next(), parts.next()) {
            (Some("lasting"), Some(top), None) => Kind::Lasting(Top::read(top)),
            (Some("changing"), Some(file_system), Some(place)) => {
                Kind::Changing { file_system: file_system.into(), place: place.into() }
            }
            _ => Kind::Unrecorded,
        };
        Ok(Self { boot, device, inode, born, kind })
    }
}

impl Top {
    fn read(text: &str) -> Self {
        if text.is_empty() {
            return Self::Absent;
        }
        let numbers = text.split_once('.').map(|(inode, born)| (inode.parse(), born.parse()));
        match numbers {
            Some((Ok(inode), Ok(born))) => Self::Known(inode, born),
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.prefix(), self.born.unwrap_or_default())?;
        match &self.kind {
            Kind::Lasting(Top::Absent) => f.write_str(":lasting:"),
            Kind::Lasting(Top::Unknown) => f.write_str(":lasting:?"),
            Kind::Lasting(Top::Known(inode, born)) => write!(f, ":lasting:{inode}.{born}"),
            Kind::Changing { file_system, place } => {
                write!(f, ":changing:{file_system}:{place}")
            }
            Kind::Unrecorded => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGHTINGS: [&str; 7] = [
        "boot:1:2:3",
        "boot:1:2:0",
        "boot:1:2:3:lasting:",
        "boot:1:2:3:lasting:?",
        "boot:1:2:3:lasting:4.5",
        "boot:1:2:3:changing:a0b1:/x: y",
        "boot:1:2:0:changing::",
    ];

    fn folder(text: &str) -> Folder {
        text.parse().unwrap()
    }

    #[test]
    fn a_sighting_is_read_as_it_was_written() {
        for text in SIGHTINGS {
            assert_eq!(folder(text).to_string(), text);
        }
        assert_eq!(folder("boot:1:2").to_string(), "boot:1:2:0", "before times of birth");
        for text in ["", "boot", "boot:x:2:3", "boot:1::3"] {
            assert_eq!(text.parse::<Folder>(), Err(NotAFolder), "{text:?}");
        }
    }

    /// Whether the second sighting is of the folder of the first, and, at the same path, proven to be
    /// of another repository.
    #[test]
    fn evidence_is_weighed() {
        for (one, other, is, is_another) in [
            // On a lasting file system all is certain.
            ("b:1:2:3:lasting:4.5", "b:1:2:3:lasting:4.5", true, false),
            ("b:1:2:3:lasting:4.5", "b:1:2:9:lasting:4.9", false, true),
            ("b:1:2:3:lasting:4.5", "b:7:8:9:lasting:4.9", false, true),
            ("b:1:2:3:lasting:", "b:1:8:9:lasting:", false, true),
            // `.git` was made again in the same worktree, in which sessions go on.
            ("b:1:2:3:lasting:4.5", "b:1:2:9:lasting:4.5", false, false),
            ("b:1:2:3:lasting:4.5", "b:1:2:9:lasting:?", false, false),
            // After a restart the path decides; a folder that was moved is found.
            ("b:1:2:3:lasting:4.5", "c:1:2:3:lasting:6.7", true, false),
            ("b:1:2:3:lasting:4.5", "c:1:2:9:lasting:4.9", false, false),
            ("b:1:2:0:changing::", "c:1:2:0:changing::", false, false),
            // Where nothing lasts nothing is proven.
            ("b:1:2:3:changing:f:/x", "b:1:2:9:changing:f:/x", true, false),
            ("b:1:2:3:changing:f:/x", "b:1:8:9:changing:f:/x", true, false),
            ("b:1:2:3:changing:f:/x", "b:1:2:3:changing:f:/y", true, false),
            ("b:1:2:3:changing:f:/x", "b:1:8:9:changing:f:/y", false, false),
            ("b:1:2:3:changing:f:/x", "b:1:2:3:changing:g:/x", false, false),
            ("b:1:2:3:changing:f:/x", "b:1:2:3:changing::", true, false),
            ("b:1:2:0:changing::", "b:1:8:0:changing::", false, false),
            ("b:1:2:3:changing:f:/x", "b:9:2:3:changing:f:/x", false, false),
            // `statx` was refused to one of them.
            ("b:1:2:3:lasting:4.5", "b:1:2:0:changing:f:/x", true, false),
            ("b:1:2:3:lasting:4.5", "b:1:8:0:changing:f:/x", false, false),
            // An earlier version wrote one of them.
            ("b:1:2:3", "b:1:2:3:lasting:4.5", true, false),
            ("b:1:2:0", "b:1:2:3:lasting:4.5", true, false),
            ("b:1:2:9", "b:1:2:3:lasting:4.5", false, false),
            ("b:1:2:9", "b:1:2:3:changing:f:/x", true, false),
            // The boot could not be read.
            (":1:2:3:changing:f:/x", "b:1:2:3:changing:f:/x", true, false),
            (":1:2:3:lasting:", ":1:2:9:lasting:", false, false),
        ] {
            let (one, other) = (&folder(one), &folder(other));
            for (one, other) in [(one, other), (other, one)] {
                assert_eq!(one.is(other), is, "{one} is {other}");
                assert_eq!(one.is_proven_another(other), is_another, "{one} is not {other}");
            }
        }
    }
}
