//! How long sessions are kept: the numbers that a user can set.
//!
//! Every number has one row in [`KEYS`], which the configuration, its documentation and its
//! completion go through, and one field in [`Policy`], which the rules read. A number of 0 switches
//! its limit off.

use std::fmt;

use crate::error::{Error, Result};

/// Bytes in one of the megabytes in which limits are given.
const MEGABYTE: u64 = 1024 * 1024;

/// How long what is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Days after its last change after which a session goes.
    pub max_age_days: u32,
    /// Sessions that stay, the newest.
    pub max_count: u32,
    /// Megabytes that all sessions together may take.
    pub max_size_mb: u32,
    /// Days after it was last opened or changed after which a session goes; off by default.
    pub max_idle_days: u32,
    /// Days after its last use after which a session goes whose terminal or agent is provably
    /// gone, so that no process will be detected as this session again.
    pub defunct_age_days: u32,
    /// Days that an archive stays.
    pub archive_max_age_days: u32,
    /// Archives that stay, the newest.
    pub archive_max_count: u32,
    /// Megabytes that all archives together may take.
    pub archive_max_size_mb: u32,
    /// Days that a damaged document stays in quarantine.
    pub quarantine_days: u32,
    /// Days that a document stays which was written when the store could not be opened.
    pub recovered_days: u32,
    /// Days that a session which a cleanup removed can still be brought back.
    pub trash_days: u32,
    /// Whether cleanups run by themselves.
    pub auto_cleanup_enabled: bool,
    /// Hours between two cleanups that run by themselves; with 0 they run whenever they can.
    pub cleanup_interval_hours: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            max_age_days: 90,
            max_count: 100,
            max_size_mb: 500,
            max_idle_days: 0,
            defunct_age_days: 14,
            archive_max_age_days: 30,
            archive_max_count: 50,
            archive_max_size_mb: 200,
            quarantine_days: 30,
            recovered_days: 90,
            trash_days: 7,
            auto_cleanup_enabled: true,
            cleanup_interval_hours: 24,
        }
    }
}

impl Policy {
    /// The policy that removes nothing: for when the user's own cannot be read.
    #[must_use]
    pub fn keep_everything() -> Self {
        Self {
            max_age_days: 0,
            max_count: 0,
            max_size_mb: 0,
            max_idle_days: 0,
            defunct_age_days: 0,
            archive_max_age_days: 0,
            archive_max_count: 0,
            archive_max_size_mb: 0,
            quarantine_days: 0,
            recovered_days: 0,
            trash_days: 0,
            auto_cleanup_enabled: false,
            cleanup_interval_hours: 0,
        }
    }
}

/// A limit as the rules use it: bytes, or `None` if it is off.
pub(super) fn bytes(megabytes: u32) -> Option<u64> {
    (megabytes > 0).then(|| u64::from(megabytes) * MEGABYTE)
}

/// One setting of a [`Policy`].
pub struct Key {
    /// Its name in the configuration.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub doc: &'static str,
    field: Field,
}

/// Where a setting is kept.
enum Field {
    Number(fn(&mut Policy) -> &mut u32),
    Switch(fn(&mut Policy) -> &mut bool),
}

/// What a setting is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// A whole number, 0 for "no limit".
    Number(u32),
    /// Yes or no.
    Switch(bool),
}

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Switch(switch) => switch.fmt(f),
        }
    }
}

impl Key {
    /// The key of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }

    /// Its default value.
    #[must_use]
    pub fn default_value(&self) -> Setting {
        self.get(&Policy::default())
    }

    /// What it is set to.
    #[must_use]
    pub fn get(&self, policy: &Policy) -> Setting {
        let mut policy = policy.clone();
        match self.field {
            Field::Number(field) => Setting::Number(*field(&mut policy)),
            Field::Switch(field) => Setting::Switch(*field(&mut policy)),
        }
    }

    /// Sets it to what a user wrote; says what is wrong with that otherwise.
    pub fn set(&self, policy: &mut Policy, text: &str) -> Result<()> {
        let text = text.trim();
        let expected = match self.field {
            Field::Number(field) => match text.parse() {
                Ok(number) => {
                    *field(policy) = number;
                    return Ok(());
                }
                Err(_) => "a whole number from 0 to 4294967295",
            },
            Field::Switch(field) => match text.parse() {
                Ok(switch) => {
                    *field(policy) = switch;
                    return Ok(());
                }
                Err(_) => "true or false",
            },
        };
        Err(Error::InvalidSetting { name: self.name, expected, found: text.to_owned() })
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.name)
    }
}

/// Every setting, in the order in which they are shown.
pub static KEYS: &[Key] = &[
    Key {
        name: "session.max_age_days",
        doc: "Remove sessions that were not changed for this many days (0: no limit).",
        field: Field::Number(|policy| &mut policy.max_age_days),
    },
    Key {
        name: "session.max_count",
        doc: "Keep at most this many sessions, the newest (0: no limit).",
        field: Field::Number(|policy| &mut policy.max_count),
    },
    Key {
        name: "session.max_size_mb",
        doc: "Remove the oldest sessions until all use at most this many megabytes (0: no limit).",
        field: Field::Number(|policy| &mut policy.max_size_mb),
    },
    Key {
        name: "session.max_idle_days",
        doc: "Remove sessions that were neither opened nor changed for this many days (0: no limit).",
        field: Field::Number(|policy| &mut policy.max_idle_days),
    },
    Key {
        name: "session.defunct_age_days",
        doc: "Remove sessions of ended terminals and agents after this many days without use (0: no limit).",
        field: Field::Number(|policy| &mut policy.defunct_age_days),
    },
    Key {
        name: "session.archive_max_age_days",
        doc: "Remove archives older than this many days (0: no limit).",
        field: Field::Number(|policy| &mut policy.archive_max_age_days),
    },
    Key {
        name: "session.archive_max_count",
        doc: "Keep at most this many archives, the newest (0: no limit).",
        field: Field::Number(|policy| &mut policy.archive_max_count),
    },
    Key {
        name: "session.archive_max_size_mb",
        doc: "Remove the oldest archives until all use at most this many megabytes (0: no limit).",
        field: Field::Number(|policy| &mut policy.archive_max_size_mb),
    },
    Key {
        name: "session.quarantine_days",
        doc: "Keep damaged sessions and quarantined documents for this many days (0: forever).",
        field: Field::Number(|policy| &mut policy.quarantine_days),
    },
    Key {
        name: "session.recovered_days",
        doc: "Keep sessions that were recovered from memory for this many days (0: forever).",
        field: Field::Number(|policy| &mut policy.recovered_days),
    },
    Key {
        name: "session.trash_days",
        doc: "Keep deleted sessions in the trash for this many days (0: forever).",
        field: Field::Number(|policy| &mut policy.trash_days),
    },
    Key {
        name: "session.auto_cleanup_enabled",
        doc: "Remove old sessions automatically, in the background of modes and `osm session` commands.",
        field: Field::Switch(|policy| &mut policy.auto_cleanup_enabled),
    },
    Key {
        name: "session.cleanup_interval_hours",
        doc: "Wait this many hours between two automatic cleanups of all processes (0: do not wait).",
        field: Field::Number(|policy| &mut policy.cleanup_interval_hours),
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_reaches_a_field_of_its_own() {
        let mut policy = Policy::keep_everything();
        for (at, key) in KEYS.iter().enumerate() {
            let text = match key.get(&policy) {
                Setting::Number(_) => (at + 1).to_string(),
                Setting::Switch(_) => "true".into(),
            };
            key.set(&mut policy, &format!(" {text} ")).unwrap();
        }
        for (at, key) in KEYS.iter().enumerate() {
            assert!(std::ptr::eq(Key::named(key.name).unwrap(), key));
            assert!(key.name.starts_with("session."), "{key:?}");
            match key.get(&policy) {
                Setting::Number(number) => assert_eq!(number as usize, at + 1, "{key:?}"),
                Setting::Switch(switch) => assert!(switch, "{key:?}"),
            }
        }
        assert!(Key::named("session.max").is_none());
    }

    #[test]
    fn defaults() {
        let shown: Vec<String> =
            KEYS.iter().map(|key| format!("{} = {}", key.name, key.default_value())).collect();
        assert_eq!(
            shown,
            [
                "session.max_age_days = 90",
                "session.max_count = 100",
                "session.max_size_mb = 500",
                "session.max_idle_days = 0",
                "session.defunct_age_days = 14",
                "session.archive_max_age_days = 30",
                "session.archive_max_count = 50",
                "session.archive_max_size_mb = 200",
                "session.quarantine_days = 30",
                "session.recovered_days = 90",
                "session.trash_days = 7",
                "session.auto_cleanup_enabled = true",
                "session.cleanup_interval_hours = 24",
            ]
        );
    }

    #[test]
    fn nonsense_changes_nothing_and_is_explained() {
        let mut policy = Policy::default();
        let error = Key::named("session.max_count").unwrap().set(&mut policy, "-1").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`session.max_count` must be a whole number from 0 to 4294967295, not \"-1\""
        );
        let key = Key::named("session.auto_cleanup_enabled").unwrap();
        let error = key.set(&mut policy, "yes").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`session.auto_cleanup_enabled` must be true or false, not \"yes\""
        );
        assert_eq!(policy, Policy::default());
    }
}
