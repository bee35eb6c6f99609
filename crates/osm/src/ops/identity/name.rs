//! Which session a name means.
//!
//! An argument that names a session is an id, the value that was given to `--session`, a unique
//! prefix of an id, or a handle, which is followed by digits where two sessions share it
//! (`swift-otter-3f`). Any other name is refused with the nearest sessions: only `--session`,
//! `OSM_SESSION` and `--as` make a new session of a name.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use osm_identity::{Handle, SessionId};
use strsim::levenshtein;

use crate::error::{Exit, Failure};

/// How many candidates a refusal shows.
const MOST_SHOWN: usize = 5;
/// How many digits tell sessions with one handle apart: 24 bits beside the 20 of the handle.
const DIGITS_SHOWN: usize = 6;

/// What a name means among the sessions that are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// This session.
    Found(SessionId),
    /// Any of these.
    Ambiguous(Vec<SessionId>),
    /// None; these are the nearest.
    Unknown(Vec<SessionId>),
}

/// A name that does not mean one session.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Several sessions have such a name.
    #[error("{name:?} means {} sessions: {}", .candidates.len(), Shown(.candidates))]
    Ambiguous {
        /// The name.
        name: String,
        /// The sessions.
        candidates: Vec<SessionId>,
    },
    /// No session has that name.
    #[error("session {name:?} not found")]
    Unknown {
        /// The name.
        name: String,
        /// The sessions with similar names.
        nearest: Vec<SessionId>,
    },
}

impl Failure for NameError {
    fn reason(&self) -> &'static str {
        match self {
            Self::Ambiguous { .. } => "ambiguous_session",
            Self::Unknown { .. } => "session_not_found",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Ambiguous { .. } => Exit::Usage,
            Self::Unknown { .. } => Exit::NotFound,
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::Ambiguous { .. } => vec!["give more of the id".into()],
            Self::Unknown { nearest, .. } if nearest.is_empty() => {
                vec!["see `osm session list`".into()]
            }
            Self::Unknown { nearest, .. } => {
                vec![format!("did you mean {}?", Shown(nearest)), "see `osm session list`".into()]
            }
        }
    }
}

/// Sessions in an error: the handle and the id of each.
struct Shown<'a>(&'a [SessionId]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, id) in self.0.iter().take(MOST_SHOWN).enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(f, "{separator}{}", id.label())?;
        }
        match self.0.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// The session that a name means among `known`, or why there is not exactly one.
pub fn found(name: &str, known: &[SessionId]) -> Result<SessionId, NameError> {
    let name_text = || name.to_owned();
    match resolve(name, known) {
        Resolution::Found(id) => Ok(id),
        Resolution::Ambiguous(candidates) => {
            Err(NameError::Ambiguous { name: name_text(), candidates })
        }
        Resolution::Unknown(nearest) => Err(NameError::Unknown { name: name_text(), nearest }),
    }
}

/// What a name means among `known`, which has no session twice.
#[must_use]
pub fn resolve(name: &str, known: &[SessionId]) -> Resolution {
    let chosen = SessionId::explicit(name.as_ref());
    if !name.is_empty() && known.contains(&chosen) {
        return Resolution::Found(chosen);
    }
    let by_prefix = |id: &&SessionId| !name.is_empty() && id.as_str().starts_with(name);
    let mut candidates: Vec<SessionId> = match handle(name) {
        Some((handle, digits)) => {
            let has_it = |id: &&SessionId| {
                Handle::of(id) == handle && Handle::digits(id).starts_with(digits)
            };
            known.iter().filter(has_it).cloned().collect()
        }
        None => known.iter().filter(by_prefix).cloned().collect(),
    };
    match candidates.len() {
        0 => Resolution::Unknown(nearest(name, known)),
        1 => Resolution::Found(candidates.swap_remove(0)),
        _ => Resolution::Ambiguous(candidates),
    }
}

/// The handle that a name is, and the digits after it.
fn handle(name: &str) -> Option<(Handle, &str)> {
    if let Ok(handle) = name.parse() {
        return Some((handle, ""));
    }
    let (handle, digits) = name.rsplit_once('-')?;
    let is_hex = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    Some((handle.parse().ok().filter(|_| is_hex)?, digits))
}

/// The handle of a session with digits, where another session shares it.
#[must_use]
pub fn with_digits(id: &SessionId) -> String {
    let digits: String = Handle::digits(id).chars().take(DIGITS_SHOWN).collect();
    format!("{}-{digits}", Handle::of(id))
}

/// The handle of a session that a ledger recorded as text. A text that is not an id, which only
/// another program can have written, is shown as it was recorded.
#[must_use]
pub fn handle_of(session: &str) -> String {
    session.parse().map_or_else(|_| session.to_owned(), |id| Handle::of(&id).to_string())
}

/// The handle and the id of a session that a ledger recorded as text.
#[must_use]
pub fn label(session: &str) -> String {
    session.parse().map_or_else(|_| session.to_owned(), |id: SessionId| id.label())
}

/// The handles of sessions that are shown together, with digits where two of them share one.
#[derive(Clone, Debug, Default)]
pub struct Handles {
    counts: HashMap<Handle, usize>,
}

impl Handles {
    /// The handles of sessions that a ledger recorded as text, however often it names each.
    #[must_use]
    pub fn among<'a>(sessions: impl IntoIterator<Item = &'a str>) -> Self {
        let sessions: BTreeSet<&str> = sessions.into_iter().collect();
        let mut counts = HashMap::new();
        for id in sessions.into_iter().filter_map(|it| it.parse().ok()) {
            *counts.entry(Handle::of(&id)).or_default() += 1;
        }
        Self { counts }
    }

    /// The handle of one of them.
    #[must_use]
    pub fn of(&self, session: &str) -> String {
        let Ok(id) = session.parse() else { return session.to_owned() };
        match self.counts.get(&Handle::of(&id)) {
            Some(2..) => with_digits(&id),
            _ => Handle::of(&id).to_string(),
        }
    }
}

/// The sessions whose id, handle or chosen name is nearly `name`, nearest first.
fn nearest(name: &str, known: &[SessionId]) -> Vec<SessionId> {
    let far = 2 + name.chars().count() / 5;
    let distance = |id: &SessionId| {
        let payload = id.as_str().split_once("--").map_or("", |(_, payload)| payload);
        let chosen = payload.rsplit_once('_').map_or(payload, |(chosen, _)| chosen);
        let handle = Handle::of(id).to_string();
        [id.as_str(), chosen, handle.as_str()].map(|it| levenshtein(name, it)).into_iter().min()
    };
    let mut near: Vec<(usize, &SessionId)> =
        known.iter().filter_map(|id| Some((distance(id)?, id))).filter(|it| it.0 < far).collect();
    near.sort();
    near.into_iter().take(MOST_SHOWN).map(|(_, id)| id.clone()).collect()
}

#[cfg(test)]
mod tests;
