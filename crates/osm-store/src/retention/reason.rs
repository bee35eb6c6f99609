//! Why something goes, with the numbers that decided: for people and for machines.

use std::fmt;

use jiff::Timestamp;
use serde::Serialize;

/// Why something goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "rule", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// It was not changed for too long.
    Age {
        /// Whole days since then.
        days: u64,
        /// Days that are allowed.
        limit: u32,
    },
    /// It was not used for too long.
    Idle {
        /// Whole days since then.
        days: u64,
        /// Days that are allowed.
        limit: u32,
    },
    /// Its terminal or agent is gone, and it was not used for long enough.
    Defunct {
        /// Whole days since then.
        days: u64,
        /// Days that are allowed.
        limit: u32,
    },
    /// Its document is damaged, and was not changed for long enough.
    Damaged {
        /// Whole days since then.
        days: u64,
        /// Days that are allowed.
        limit: u32,
    },
    /// There are too many, and it is the oldest.
    Count {
        /// How many there are.
        held: u64,
        /// How many are allowed.
        limit: u32,
    },
    /// All together take too much, and it is the oldest.
    Size {
        /// Bytes that they take.
        held: u64,
        /// Bytes that are allowed.
        limit: u64,
    },
    /// Everything was to go.
    Purged,
    /// It was archived too long ago.
    ArchiveAge {
        /// Whole days since it was put there.
        days: u64,
        /// Days that are allowed.
        limit: u32,
    },
    /// There are too many archives of its kind, and it is the oldest.
    ArchiveCount {
        /// How many there are.
        held: u64,
        /// How many are allowed.
        limit: u32,
    },
    /// Archives of its kind take too much space, and it is the oldest.
    ArchiveSize {
        /// Bytes that are there.
        held: u64,
        /// Bytes that are allowed.
        limit: u64,
    },
}

impl Reason {
    /// The stable name, for machines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Age { .. } => "age",
            Self::Idle { .. } => "idle",
            Self::Defunct { .. } => "defunct",
            Self::Damaged { .. } => "damaged",
            Self::Count { .. } => "count",
            Self::Size { .. } => "size",
            Self::Purged => "purged",
            Self::ArchiveAge { .. } => "archive-age",
            Self::ArchiveCount { .. } => "archive-count",
            Self::ArchiveSize { .. } => "archive-size",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Age { days, limit } => {
                write!(f, "not changed for {} (limit {limit})", Days(days))
            }
            Self::Idle { days, limit } => write!(f, "not used for {} (limit {limit})", Days(days)),
            Self::Defunct { days, limit } => write!(
                f,
                "its terminal or agent ended, not used for {} (limit {limit})",
                Days(days)
            ),
            Self::Damaged { days, limit } => {
                write!(f, "damaged, not changed for {} (limit {limit})", Days(days))
            }
            Self::Count { held, limit } => {
                write!(f, "the oldest of {held} sessions (limit {limit})")
            }
            Self::Size { held, limit } => {
                write!(f, "the oldest of {} of sessions (limit {})", Bytes(held), Bytes(limit))
            }
            Self::Purged => f.write_str("purged"),
            Self::ArchiveAge { days, limit } => {
                write!(f, "there for {} (limit {limit})", Days(days))
            }
            Self::ArchiveCount { held, limit } => {
                write!(f, "the oldest of {held} there (limit {limit})")
            }
            Self::ArchiveSize { held, limit } => {
                write!(f, "the oldest of {} there (limit {})", Bytes(held), Bytes(limit))
            }
        }
    }
}

/// The clock is too far from where it was last seen to remove anything for its age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Leap {
    /// The last time that is known from before.
    pub from: Timestamp,
    /// The time that it shows now.
    pub to: Timestamp,
}

impl fmt::Display for Leap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the clock jumped from {} to {}; osm removes nothing for its age, and deletes nothing for \
             good, until a cleanup finds the same clock after another day of uptime",
            self.from.strftime("%Y-%m-%d"),
            self.to.strftime("%Y-%m-%d"),
        )
    }
}

struct Days(u64);

impl fmt::Display for Days {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, if self.0 == 1 { "day" } else { "days" })
    }
}

/// Bytes in the unit of the limits.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MEGABYTE: u64 = 1024 * 1024;
        let tenths = u128::from(self.0) * 10 / u128::from(MEGABYTE);
        write!(f, "{}.{} MB", tenths / 10, tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn for_people_and_for_machines() {
        for (reason, text, json) in [
            (
                Reason::Age { days: 91, limit: 90 },
                "not changed for 91 days (limit 90)",
                r#"{"rule":"age","days":91,"limit":90}"#,
            ),
            (
                Reason::Idle { days: 1, limit: 1 },
                "not used for 1 day (limit 1)",
                r#"{"rule":"idle","days":1,"limit":1}"#,
            ),
            (
                Reason::Defunct { days: 20, limit: 14 },
                "its terminal or agent ended, not used for 20 days (limit 14)",
                r#"{"rule":"defunct","days":20,"limit":14}"#,
            ),
            (
                Reason::Damaged { days: 31, limit: 30 },
                "damaged, not changed for 31 days (limit 30)",
                r#"{"rule":"damaged","days":31,"limit":30}"#,
            ),
            (
                Reason::Count { held: 101, limit: 100 },
                "the oldest of 101 sessions (limit 100)",
                r#"{"rule":"count","held":101,"limit":100}"#,
            ),
            (
                Reason::Size { held: 3 << 19, limit: 1 << 20 },
                "the oldest of 1.5 MB of sessions (limit 1.0 MB)",
                r#"{"rule":"size","held":1572864,"limit":1048576}"#,
            ),
            (Reason::Purged, "purged", r#"{"rule":"purged"}"#),
            (
                Reason::ArchiveAge { days: 8, limit: 7 },
                "there for 8 days (limit 7)",
                r#"{"rule":"archive-age","days":8,"limit":7}"#,
            ),
            (
                Reason::ArchiveCount { held: 51, limit: 50 },
                "the oldest of 51 there (limit 50)",
                r#"{"rule":"archive-count","held":51,"limit":50}"#,
            ),
            (
                Reason::ArchiveSize { held: u64::MAX, limit: 0 },
                "the oldest of 17592186044415.9 MB there (limit 0.0 MB)",
                r#"{"rule":"archive-size","held":18446744073709551615,"limit":0}"#,
            ),
        ] {
            assert_eq!(reason.to_string(), text);
            assert_eq!(serde_json::to_string(&reason).unwrap(), json);
            assert!(json.contains(&format!("\"rule\":\"{}\"", reason.name())), "{json}");
        }
    }

    #[test]
    fn a_leap_tells_what_to_do() {
        let leap = Leap {
            from: "2026-01-02T03:04:05Z".parse().unwrap(),
            to: "2099-01-01T00:00:00Z".parse().unwrap(),
        };
        assert_eq!(
            leap.to_string(),
            "the clock jumped from 2026-01-02 to 2099-01-01; osm removes nothing for its age, and \
             deletes nothing for good, until a cleanup finds the same clock after another day of \
             uptime"
        );
    }
}
