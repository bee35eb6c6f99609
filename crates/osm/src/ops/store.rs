//! Operations on stores as a whole: their state, the tables of a server, copies, and damage.

use std::ops::ControlFlow;
use std::sync::Arc;

use osm_claims::ledger::postgres::COMPONENT as CLAIMS;
use osm_postgres::{Component, Connection, Schema, generation};
use osm_store::JournalEntry;
use osm_store::backend::postgres::COMPONENT as SESSIONS;
use osm_store::backend::{ArchiveKind, Current, Stored};
use osm_store::copy;
use serde::Serialize;

use crate::error::{Exit, Failure};
use crate::interaction::{Interaction, Interrupted};
use crate::invocation::{Invocation, InvocationError, StoreName};
use crate::ops::session::SessionError;

/// Why an operation on a store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The store refused or failed.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Only a server has tables.
    #[error("store {0:?} has no tables")]
    NoTables(&'static str),
    /// A store cannot be copied to itself.
    #[error("cannot copy store {0:?} to itself")]
    SameStore(String),
}

impl Failure for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Session(error) => error.reason(),
            Self::NoTables(_) => "no_tables",
            Self::SameStore(_) => "usage",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Session(error) => error.exit(),
            Self::NoTables(_) => Exit::Failure,
            Self::SameStore(_) => Exit::Usage,
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::Session(error) => error.hints(),
            Self::NoTables(_) => vec!["use --store postgres".into()],
            Self::SameStore(_) => vec!["name fs and postgres, in the order of the copy".into()],
        }
    }
}

impl From<osm_store::Error> for Error {
    fn from(error: osm_store::Error) -> Self {
        Self::Session(error.into())
    }
}

impl From<osm_postgres::Error> for Error {
    fn from(error: osm_postgres::Error) -> Self {
        osm_store::Error::from(error).into()
    }
}

impl From<InvocationError> for Error {
    fn from(error: InvocationError) -> Self {
        Self::Session(error.into())
    }
}

impl From<Interrupted> for Error {
    fn from(error: Interrupted) -> Self {
        Self::Session(error.into())
    }
}

/// The state of a store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Status {
    /// Its name: fs, memory or postgres.
    pub store: &'static str,
    /// The folder, or the server without a password.
    pub place: String,
    /// The tables of a server for sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema: Option<SchemaStatus>,
    /// The tables of a server for claims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claims: Option<SchemaStatus>,
    /// How many sessions there are; nothing while a server has no tables.
    pub sessions: Option<usize>,
    /// How many archived documents there are.
    pub archives: Option<usize>,
    /// Changes of sessions that wait on this machine for a server.
    pub journals: Vec<JournalEntry>,
}

/// The tables of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SchemaStatus {
    /// current, missing, older or newer.
    pub state: &'static str,
    /// Its version.
    pub version: usize,
    /// The version that this osm uses.
    pub known: usize,
    /// The random id that was made with the tables.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<String>,
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// How many sessions and archives were read.
    pub read: usize,
    /// Those that cannot be read, with the reason.
    pub damaged: Vec<Damaged>,
}

/// Something that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Damaged {
    /// A session's id, or the kind and the name of an archive.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Shows where sessions are kept, and whether the store works.
pub fn status(invocation: &Invocation) -> Result<Status, Error> {
    let name = invocation.store_name()?;
    let (place, schema, claims) = match name {
        StoreName::Fs => (invocation.home()?.display().to_string(), None, None),
        StoreName::Memory => ("in memory".to_owned(), None, None),
        StoreName::Postgres => {
            let server = Arc::new(invocation.database()?);
            let mut connection = Connection::new(&server);
            let schema = inspect(&SESSIONS, &mut connection)?;
            let claims = inspect(&CLAIMS, &mut connection)?;
            (server.to_string(), Some(schema), Some(claims))
        }
    };
    let mut status = Status {
        store: name.name(),
        place,
        schema,
        claims,
        sessions: None,
        archives: None,
        journals: journals(invocation)?,
    };
    if status.schema.as_ref().is_none_or(|schema| schema.state == "current") {
        let store = invocation.store()?;
        status.sessions = Some(store.list()?.len());
        let mut archives = 0;
        for kind in ArchiveKind::ALL {
            archives += store.backend().all_archived(kind)?.len();
        }
        status.archives = Some(archives);
    }
    Ok(status)
}

/// The changes of sessions that wait on this machine for a server; they are known while it is away, too.
pub fn journals(invocation: &Invocation) -> Result<Vec<JournalEntry>, Error> {
    Ok(invocation.journals().map_or_else(|| Ok(Vec::new()), |journals| journals.list())?)
}

fn inspect(component: &Component, connection: &mut Connection) -> Result<SchemaStatus, Error> {
    let (state, version) = match component.inspect(connection)? {
        Schema::Missing => ("missing", 0),
        Schema::Older(version) => ("older", version),
        Schema::Newer(version) => ("newer", version),
        Schema::Current => ("current", component.version()),
    };
    let generation = if version > 0 { Some(generation(connection)?) } else { None };
    Ok(SchemaStatus { state, version, known: component.version(), generation })
}

/// Creates or upgrades the tables of the server, and returns the names of the migrations that were applied.
pub fn migrate(invocation: &Invocation) -> Result<Vec<&'static str>, Error> {
    match invocation.store_name()? {
        StoreName::Postgres => {
            let mut connection = Connection::new(&Arc::new(invocation.database()?));
            let mut applied = SESSIONS.migrate(&mut connection)?;
            applied.extend(CLAIMS.migrate(&mut connection)?);
            Ok(applied)
        }
        name => Err(Error::NoTables(name.name())),
    }
}

/// Copies all sessions and archives from one store to another.
pub fn copy(
    invocation: &Invocation,
    from: &str,
    to: &str,
    interaction: &mut dyn Interaction,
) -> Result<copy::Copied, Error> {
    if from == to {
        return Err(Error::SameStore(from.to_owned()));
    }
    let (from, to) = (invocation.backend_named(from)?, invocation.backend_named(to)?);
    let holder = invocation.world.holder();
    let shown = interaction.begin("listing sessions");
    let mut go_on = |done, total| {
        shown.count("copying sessions and archives", done, Some(total));
        if shown.is_stopped() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    Ok(copy::copy(from.as_ref(), to.as_ref(), &holder, &mut go_on)?)
}

/// Reads every session and archive.
pub fn check(invocation: &Invocation, interaction: &mut dyn Interaction) -> Result<Checked, Error> {
    let store = invocation.store()?;
    let backend = store.backend();
    let sessions = store.list()?;
    let mut archives = Vec::new();
    for kind in ArchiveKind::ALL {
        // What is in quarantine is known to be damaged.
        if kind != ArchiveKind::Quarantine {
            archives.extend(backend.all_archived(kind)?.into_iter().map(|it| (kind, it.name)));
        }
    }
    let total = sessions.len() + archives.len();
    let shown = interaction.begin("reading sessions and archives");
    let mut checked = Checked::default();
    let sessions = sessions.iter().map(|it| (it.id.as_str().to_owned(), Stored::Session(&it.id)));
    let archives = archives
        .iter()
        .map(|(kind, name)| (format!("{}/{name}", kind.name()), Stored::Archived(*kind, name)));
    for (name, what) in sessions.chain(archives) {
        shown.go_on()?;
        shown.count("reading sessions and archives", checked.read, Some(total));
        let readable = match backend.load(what, None) {
            Ok(Current::Found(bytes, _)) => store.read_import(bytes, &name).map(drop),
            Ok(_) => Ok(()),
            Err(error) if error.kind().is_unavailable() => return Err(error.into()),
            Err(error) => Err(error),
        };
        checked.read += 1;
        if let Err(error) = readable {
            checked.damaged.push(Damaged { name, reason: error.to_string() });
        }
    }
    Ok(checked)
}
