//! What happened to sessions: one line of JSON for every change of consequence.
//!
//! Saves are not events; resets, removals, restores and everything forced are. A line holds what a
//! person needs afterwards to understand where something went: who, when, what, before, after. It
//! is written after the fact. Lines are read with patience: one that was cut by a crash, or has
//! fields that we do not know, costs nothing but itself.

use std::fmt;

use jiff::Timestamp;
use osm_identity::SessionId;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::backend::Holder;

/// One change of consequence.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// Who did it.
    pub who: Who,
    /// What was done.
    pub what: Action,
    /// To which session, if it was one.
    #[serde(serialize_with = "as_text", skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// What was there.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub before: Value,
    /// The state after the change.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub after: Value,
    /// Something that stood in the way was overridden.
    pub forced: bool,
    /// Why, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Who did something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Who {
    /// The process.
    pub pid: u32,
    /// The machine's name.
    pub host: String,
    /// What it ran.
    pub command: String,
    /// The session that it worked in.
    #[serde(serialize_with = "as_text", skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// A session was emptied.
    Reset,
    /// A session was copied to the archive.
    Archive,
    /// A session was brought back.
    Restore,
    /// A session was removed by name.
    Delete,
    /// Sessions were removed by the limits.
    Clean,
    /// All sessions were removed for good.
    Purge,
    /// A session came from elsewhere.
    Import,
    /// A damaged document was quarantined.
    Quarantine,
    /// A document was brought to a newer form.
    Migrate,
    /// A session that was kept in memory was written down.
    Recover,
    /// The lock of a dead owner was broken.
    Force,
    /// A setting was changed.
    Configure,
    /// Something that another version of osm does.
    Other(String),
}

/// Every action that has a name of its own.
const ACTIONS: [(Action, &str); 12] = [
    (Action::Reset, "reset"),
    (Action::Archive, "archive"),
    (Action::Restore, "restore"),
    (Action::Delete, "delete"),
    (Action::Clean, "clean"),
    (Action::Purge, "purge"),
    (Action::Import, "import"),
    (Action::Quarantine, "quarantine"),
    (Action::Migrate, "migrate"),
    (Action::Recover, "recover"),
    (Action::Force, "force"),
    (Action::Configure, "configure"),
];

impl Event {
    /// An event that has happened, with nothing more to tell.
    #[must_use]
    pub fn new(at: Timestamp, who: Who, what: Action) -> Self {
        Self {
            at,
            who,
            what,
            session: None,
            before: Value::Null,
            after: Value::Null,
            forced: false,
            reason: None,
        }
    }

    /// Reads a line; `None` if it does not even tell what happened and when.
    #[must_use]
    pub fn parse(line: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let id = |value: &Value| value.as_str()?.parse().ok();
        let who = &value["who"];
        Some(Self {
            at: value["at"].as_str()?.parse().ok()?,
            who: Who {
                pid: who["pid"].as_u64().and_then(|pid| pid.try_into().ok()).unwrap_or_default(),
                host: text(&who["host"]),
                command: text(&who["command"]),
                session: id(&who["session"]),
            },
            what: Action::named(value["what"].as_str()?),
            session: id(&value["session"]),
            before: value["before"].clone(),
            after: value["after"].clone(),
            forced: value["forced"].as_bool().unwrap_or_default(),
            reason: value["reason"].as_str().map(str::to_owned),
        })
    }
}

/// The line, without its end.
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(self).map_err(|_| fmt::Error)?)
    }
}

impl Who {
    /// The process that `holder` is, at work in a session.
    #[must_use]
    pub fn new(holder: &Holder, session: Option<&SessionId>) -> Self {
        Self {
            pid: holder.process.pid.0,
            host: holder.host.clone(),
            command: holder.command.clone(),
            session: session.cloned(),
        }
    }
}

impl Action {
    /// The stable name, for machines.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Other(name) => name,
            known => ACTIONS.iter().find(|(action, _)| action == known).map_or("", |row| row.1),
        }
    }

    /// The action of that name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let known = ACTIONS.iter().find(|(_, other)| *other == name);
        known.map_or_else(|| Self::Other(name.to_owned()), |(action, _)| action.clone())
    }
}

impl Serialize for Action {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[expect(clippy::ref_option, reason = "serde passes fields by reference")]
fn as_text<S: Serializer>(
    id: &Option<SessionId>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    id.as_ref().map(SessionId::as_str).serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event() -> Event {
        Event {
            session: Some(SessionId::explicit("a".as_ref())),
            before: json!({"path": "a\nb"}),
            after: json!({"archive": "x"}),
            forced: true,
            reason: Some("said \"so\"\r\n\u{2028}".into()),
            ..Event::new(
                Timestamp::from_second(5).unwrap(),
                Who {
                    pid: 7,
                    host: "h".into(),
                    command: "osm session reset".into(),
                    session: Some(SessionId::explicit("b".as_ref())),
                },
                Action::Reset,
            )
        }
    }

    #[test]
    fn one_line_there_and_back() {
        let line = event().to_string();
        assert_eq!(line.lines().count(), 1, "{line}");
        assert_eq!(Event::parse(&line), Some(event()));
        let bare = Event::new(Timestamp::UNIX_EPOCH, Who::default(), Action::Clean);
        assert_eq!(
            bare.to_string(),
            r#"{"at":"1970-01-01T00:00:00Z","who":{"pid":0,"host":"","command":""},"what":"clean","forced":false}"#
        );
        assert_eq!(Event::parse(&bare.to_string()), Some(bare));
    }

    #[test]
    fn every_action_has_a_name() {
        for (action, name) in ACTIONS {
            assert_eq!(action.name(), name);
            assert_eq!(Action::named(name), action);
        }
        assert_eq!(Action::named("dance"), Action::Other("dance".into()));
        assert_eq!(Action::named("dance").name(), "dance");
    }

    #[test]
    fn lines_are_read_with_patience() {
        let line = event().to_string();
        for at in 0..line.len() {
            if line.is_char_boundary(at) {
                assert_eq!(Event::parse(&line[..at]), None);
            }
        }
        for line in ["", "{}", "[]", "7", r#"{"at":"x","what":"reset"}"#, r#"{"what":"reset"}"#] {
            assert_eq!(Event::parse(line), None, "{line}");
        }
        let odd = r#"{"at":"1970-01-01T00:00:00Z","what":"dance","who":3,"session":"no id","new":1,
            "forced":"yes"}"#;
        let event = Event::parse(odd).unwrap();
        assert_eq!(event.what, Action::Other("dance".into()));
        assert_eq!((event.who, event.session, event.forced), (Who::default(), None, false));
    }
}
