//! Sessions out and in, as plain JSON.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use osm_identity::SessionId;
use osm_store::layout::LARGEST_DOCUMENT;
use osm_store::{Export, Snapshot, Store};

use super::{Consent, SessionError, warn_of_foreign_holders};
use crate::interaction::{Interaction, confirm};
use crate::invocation::Invocation;

/// The largest export in plain JSON. A longer one is written as the session is stored, with each long
/// value once: 200 states written out would not fit into memory.
const LARGEST_PLAIN: u64 = 16 << 20;

/// A session in a form that can be imported.
pub fn export(session: &Snapshot) -> Result<Export, SessionError> {
    Ok(session.export(LARGEST_PLAIN)?)
}

/// Writes an export to a new file that only its owner can read.
pub fn export_to(path: &Path, session: &Snapshot) -> Result<(), SessionError> {
    let export = export(session)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| {
        match &export {
            Export::Plain(value) => {
                let mut json = serde_json::to_vec_pretty(value)?;
                json.push(b'\n');
                file.write_all(&json)?;
            }
            Export::Stored(pieces) => pieces.write_to(&mut file)?,
        }
        file.sync_all()
    });
    written.map_err(|source| SessionError::Unwritable { path: path.to_owned(), source })
}

/// What to import.
#[derive(Clone, Debug, Default)]
pub struct ImportRequest {
    /// Exports, session files, or files of the upstream tool.
    pub files: Vec<PathBuf>,
    /// The session to import one file as; by default the one that it was.
    pub id: Option<String>,
    /// Break locks whose holders are proven dead.
    pub force: bool,
    /// Whether to ask before a session is replaced.
    pub consent: Consent,
}

/// A session that was imported, or would be.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The file.
    pub file: PathBuf,
    /// The session.
    pub id: SessionId,
    /// The archive of the session that it replaced.
    pub archived: Option<String>,
    /// Nothing was changed.
    pub dry_run: bool,
}

/// What became of several imports.
#[derive(Debug)]
pub struct Imports {
    /// The sessions that were imported.
    pub imported: Vec<Imported>,
    /// The error of the next file, after which no other was imported.
    pub failure: Option<SessionError>,
}

/// Imports sessions, one after the other, up to the first that fails.
pub fn import(
    invocation: &Invocation,
    request: &ImportRequest,
    interaction: &mut dyn Interaction,
) -> Result<Imports, SessionError> {
    let store = invocation.store_to_change(request.force)?;
    if request.id.is_some() && request.files.len() > 1 {
        return Err(SessionError::SeveralFiles);
    }
    let mut imports = Imports { imported: Vec::new(), failure: None };
    for file in &request.files {
        match import_one(&store, request, file, interaction) {
            Ok(imported) => imports.imported.push(imported),
            Err(error) => {
                imports.failure = Some(error);
                break;
            }
        }
    }
    Ok(imports)
}

fn import_one(
    store: &Store,
    request: &ImportRequest,
    file: &Path,
    interaction: &mut dyn Interaction,
) -> Result<Imported, SessionError> {
    let bytes =
        read(file).map_err(|source| SessionError::Unreadable { path: file.to_owned(), source })?;
    let place = file.display().to_string();
    let document = store.read_import(bytes, &place)?;
    let id = request
        .id
        .as_deref()
        .map_or_else(|| document.id().clone(), |id| SessionId::explicit(id.as_ref()));
    let (mut archived, dry_run) = (None, request.consent.dry_run);
    if !dry_run {
        warn_of_foreign_holders(store, std::slice::from_ref(&id), interaction);
        if store.contains(&id)? {
            let session = id.label();
            let question =
                format!("Session {session} exists. Archive it and replace it by {place}?");
            confirm(request.consent.yes, &question, interaction)?;
        }
        archived = store.replace_by(&document, &id)?;
    }
    Ok(Imported { file: file.to_owned(), id, archived, dry_run })
}

fn read(file: &Path) -> io::Result<Vec<u8>> {
    let about = fs::metadata(file)?;
    if !about.is_file() {
        return Err(io::Error::other("not a file"));
    }
    if about.len() > LARGEST_DOCUMENT {
        return Err(io::Error::other(format!("larger than {LARGEST_DOCUMENT} bytes")));
    }
    fs::read(file)
}
