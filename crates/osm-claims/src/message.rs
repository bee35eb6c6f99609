//! Messages between sessions: a question to the holder of a claim, a word to everybody at work here.
//!
//! A ledger keeps a message beside its claims, so that the two are seen by the same sessions. It is
//! unread by each recipient until that one says that it knows it: delivery alone proves nothing, as
//! a model may never see what a hook printed.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::resource::Resource;
use crate::scope::ScopeId;

/// How long a message to all sessions of a scope is delivered. A session that starts later was not
/// meant.
pub const DELIVERED_FOR: Duration = Duration::from_hours(24);

/// What a session says to others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Where the work is that it is about.
    pub scope: ScopeId,
    /// When it was written.
    pub at: Timestamp,
    /// The session that sends it.
    pub from: String,
    /// The session that it is for; `None` for every other session of the scope.
    pub to: Option<String>,
    /// What the recipient is to do about it.
    pub kind: MessageKind,
    /// The resource that it is about.
    pub about: Option<Resource>,
    /// The words.
    pub text: String,
}

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its place among all messages.
    pub number: u64,
    /// What it says.
    pub draft: Draft,
}

impl std::ops::Deref for Message {
    type Target = Draft;

    fn deref(&self) -> &Draft {
        &self.draft
    }
}

/// What the recipient of a message is to do about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageKind {
    /// To answer.
    Asked,
    /// To know it.
    Told,
    /// To read a file again that another program changed.
    Changed,
}

impl MessageKind {
    /// Every kind, once.
    pub const ALL: [Self; 3] = [Self::Asked, Self::Told, Self::Changed];

    /// The stable name, for ledgers and machines.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Told => "told",
            Self::Changed => "changed",
        }
    }

    /// The kind of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}
