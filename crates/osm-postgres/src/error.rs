//! What went wrong, by the sort of trouble.
//!
//! Every error names the server, as user, host, port and database. None has a password in it: messages of the server
//! and of the system do not repeat what was sent, and an address that cannot be parsed is not repeated here.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use tokio_postgres::error::SqlState;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// The sort of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// The address or a setting of the connection is invalid. Nothing was sent.
    Settings,
    /// The server does not answer, or the connection ended. Nothing was changed.
    Unreachable,
    /// The server refused the user, the password, or the right to do this.
    Denied,
    /// No encrypted connection that can be trusted.
    Tls,
    /// The server can only be read: a replica, or set to read-only.
    ReadOnly,
    /// The server has no connection left.
    TooManyConnections,
    /// The server has no space left.
    DiskFull,
    /// The tables are not there yet.
    MissingSchema,
    /// The tables are of an older version of osm and must be migrated.
    OlderSchema,
    /// The tables are of a newer version of osm.
    NewerSchema,
    /// A lock was not released in time.
    LockTimeout,
    /// The statement was cancelled: by an administrator, or because it took too long.
    Cancelled,
    /// Another transaction came in between; the same transaction can be tried again.
    Conflict,
    /// A constraint of a table forbids the change.
    Constraint,
    /// The reply was lost: the change may or may not have been carried out.
    OutcomeUnknown,
    /// Any other refusal of the server.
    Refused,
}

impl Kind {
    /// What failed, for people.
    fn words(self) -> &'static str {
        match self {
            Self::Settings => "invalid connection settings",
            Self::Unreachable => "cannot reach the server",
            Self::Denied => "access denied",
            Self::Tls => "no trusted TLS connection",
            Self::ReadOnly => "the server is read-only",
            Self::TooManyConnections => "the server has no free connection",
            Self::DiskFull => "the server has no space left",
            Self::MissingSchema => "the tables of osm do not exist",
            Self::OlderSchema => "the tables are of an older osm",
            Self::NewerSchema => "the tables are of a newer osm",
            Self::LockTimeout => "another transaction keeps a lock",
            Self::Cancelled => "the statement was cancelled",
            Self::Conflict => "the transaction conflicts with another",
            Self::Constraint => "the change violates a constraint",
            Self::OutcomeUnknown => "no reply, so the change may or may not be saved",
            Self::Refused => "the server refused a statement",
        }
    }
}

/// An error, with the server that it is about.
#[derive(Clone, Debug)]
pub struct Error {
    kind: Kind,
    place: String,
    reason: String,
    state: Option<SqlState>,
}

impl Error {
    /// An error about a server.
    #[must_use]
    pub fn new(kind: Kind, place: impl fmt::Display, reason: impl Into<String>) -> Self {
        Self { kind, place: place.to_string(), reason: reason.into(), state: None }
    }

    /// The sort of trouble.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The server, without a password: `user@host:port/database`.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.place
    }

    /// The words of the system or of the server.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The server's own code (`SQLSTATE`), if it sent one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.state.as_ref().map(SqlState::code)
    }

    /// Of a statement, or of connecting.
    pub(crate) fn of(place: impl fmt::Display, error: &tokio_postgres::Error) -> Self {
        let state = error.code().cloned();
        let kind = state.as_ref().map_or_else(|| kind_without_state(error), kind_of_state);
        Self { kind, place: place.to_string(), reason: reason(error), state }
    }

    /// Of a change that is sent and not acknowledged: what ended the connection does not tell whether it was
    /// carried out.
    pub(crate) fn of_unacknowledged(self) -> Self {
        let is_unknown = match &self.state {
            None => self.kind != Kind::Refused,
            Some(_) => self.ends_connection(),
        };
        Self { kind: if is_unknown { Kind::OutcomeUnknown } else { self.kind }, ..self }
    }

    /// Whether the server ended the connection with it.
    pub(crate) fn ends_connection(&self) -> bool {
        self.code().is_some_and(|code| code.starts_with("08") || code.starts_with("57P"))
    }

    /// Whether the same transaction can simply be tried again.
    pub(crate) fn is_conflict(&self) -> bool {
        self.kind == Kind::Conflict
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgreSQL at {}: {}: {}", self.place, self.kind.words(), self.reason)
    }
}

impl StdError for Error {}

/// An error of a transaction's body: our own, or the caller's, who may have put ours into it.
pub trait OfServer: From<Error> {
    /// The server's error, if it is one.
    fn of_server(&self) -> Option<&Error>;
}

impl OfServer for Error {
    fn of_server(&self) -> Option<&Error> {
        Some(self)
    }
}

/// The codes of the server that mean something to us; the first that fits counts. A code ends with `*` if it stands
/// for all that begin so.
const STATES: &[(&str, Kind)] = &[
    ("08*", Kind::Unreachable),
    ("22*", Kind::Constraint),
    ("23*", Kind::Constraint),
    ("25006", Kind::ReadOnly),
    ("28*", Kind::Denied),
    ("3D000", Kind::Denied),
    ("3F000", Kind::MissingSchema),
    ("40001", Kind::Conflict),
    ("40P01", Kind::Conflict),
    ("42501", Kind::Denied),
    ("42P01", Kind::MissingSchema),
    ("53100", Kind::DiskFull),
    ("53300", Kind::TooManyConnections),
    ("55P03", Kind::LockTimeout),
    ("57014", Kind::Cancelled),
    ("57P*", Kind::Unreachable),
];

fn kind_of_state(state: &SqlState) -> Kind {
    let code = state.code();
    let fits = |pattern: &str| match pattern.strip_suffix('*') {
        Some(beginning) => code.starts_with(beginning),
        None => code == pattern,
    };
    STATES.iter().find(|(pattern, _)| fits(pattern)).map_or(Kind::Refused, |(_, kind)| *kind)
}

/// Of an error that no server sent.
fn kind_without_state(error: &tokio_postgres::Error) -> Kind {
    let mut cause: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<rustls::Error>() || error.is::<crate::tls::Refused>() {
            return Kind::Tls;
        }
        if let Some(io) = error.downcast_ref::<io::Error>()
            && let Some(inner) = io.get_ref()
            && inner.is::<rustls::Error>()
        {
            return Kind::Tls;
        }
        cause = error.source();
    }
    // The library has no other way to tell.
    let text = error.to_string();
    match () {
        () if text.contains("TLS") => Kind::Tls,
        () if text.starts_with("authentication error") => Kind::Denied,
        () if text.starts_with("invalid configuration") => Kind::Denied,
        () if text.starts_with("error serializing") => Kind::Refused,
        () => Kind::Unreachable,
    }
}

/// The innermost words: those around them only say that something failed.
fn reason(error: &tokio_postgres::Error) -> String {
    if let Some(database) = error.as_db_error() {
        let hint = database.hint().map(|hint| format!(" ({hint})")).unwrap_or_default();
        return format!("{}{hint}", database.message());
    }
    let mut cause: &(dyn StdError + 'static) = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_the_server_have_kinds() {
        for (code, kind) in [
            ("08006", Kind::Unreachable),
            ("57P01", Kind::Unreachable),
            ("57014", Kind::Cancelled),
            ("28P01", Kind::Denied),
            ("40001", Kind::Conflict),
            ("53300", Kind::TooManyConnections),
            ("53100", Kind::DiskFull),
            ("25006", Kind::ReadOnly),
            ("42601", Kind::Refused),
        ] {
            assert_eq!(kind_of_state(&SqlState::from_code(code)), kind, "{code}");
        }
    }

    #[test]
    fn only_the_end_of_the_connection_leaves_the_outcome_open() {
        for (code, kind) in [
            (None, Kind::OutcomeUnknown),
            (Some("57P01"), Kind::OutcomeUnknown),
            (Some("08006"), Kind::OutcomeUnknown),
            (Some("40001"), Kind::Conflict),
            (Some("53100"), Kind::DiskFull),
            (Some("25P03"), Kind::Refused),
        ] {
            let state = code.map(SqlState::from_code);
            let known = state.as_ref().map_or(Kind::Unreachable, kind_of_state);
            let error = Error { state, ..Error::new(known, "place", "reason") };
            assert_eq!(error.of_unacknowledged().kind(), kind, "{code:?}");
        }
    }
}
