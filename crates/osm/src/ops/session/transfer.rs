//! Sessions out and in, as plain JSON.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use osm_identity::SessionId;
use osm_store::layout::LARGEST_DOCUMENT;
use osm_store::{Export, Snapshot, Store};

use super::{Consent, SessionError, upstream, warn_of_foreign_holders};
use crate::interaction::{Interaction, Progress, confirm};
use crate::invocation::Invocation;

/// The largest export in plain JSON. A longer one is written as the session is stored, with each long
/// value once: 200 states written out would not fit into memory.
const LARGEST_PLAIN: u64 = 16 << 20;

/// What is written between two looks at whether to stop.
const WRITTEN_AT_ONCE: usize = 1 << 20;

/// A session in a form that can be imported.
pub fn export(session: &Snapshot) -> Result<Export, SessionError> {
    Ok(session.export(LARGEST_PLAIN)?)
}

/// Writes an export to a new file that only its owner can read. An export that fails or is stopped
/// leaves no file.
pub fn export_to(
    path: &Path,
    session: &Snapshot,
    interaction: &mut dyn Interaction,
) -> Result<(), SessionError> {
    let shown = interaction.begin("exporting the session");
    let unwritable = |source| SessionError::Unwritable { path: path.to_owned(), source };
    let export = export(session)?;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path).map_err(unwritable)?;
    let written = write_export(&export, Stoppable { file: &file, shown: &shown });
    if let Err(error) = written.and_then(|()| file.sync_all()) {
        drop(file);
        discard(path);
        shown.go_on()?;
        return Err(unwritable(error));
    }
    Ok(())
}

fn write_export(export: &Export, mut to: Stoppable) -> io::Result<()> {
    match export {
        Export::Plain(value) => {
            let mut json = serde_json::to_vec_pretty(value)?;
            json.push(b'\n');
            to.write_all(&json)
        }
        Export::Stored(pieces) => pieces.write_to(&mut to),
    }
}

#[expect(clippy::disallowed_methods, reason = "an incomplete file that this process has created")]
fn discard(path: &Path) {
    // The error that made it incomplete is the one to report.
    drop(fs::remove_file(path));
}

/// A file whose writing ends when the user asks for it.
struct Stoppable<'a> {
    file: &'a File,
    shown: &'a Progress,
}

impl io::Write for Stoppable<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.shown.go_on().map_err(io::Error::other)?;
        self.file.write(&bytes[..bytes.len().min(WRITTEN_AT_ONCE)])
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// What to import.
#[derive(Clone, Debug, Default)]
pub struct ImportRequest {
    /// Exports, session files, or files of the upstream tool.
    pub files: Vec<PathBuf>,
    /// All sessions of the upstream tool, instead of files. One that cannot be read does not keep the
    /// others back.
    pub upstream: bool,
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
    /// Why sessions of the upstream tool were left out.
    pub left_out: Vec<SessionError>,
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
    let mut files = request.files.clone();
    if request.upstream {
        files = upstream::find(invocation).ok_or(SessionError::NoUpstreamSessions)?.files;
    }
    let mut imports = Imports { imported: Vec::new(), left_out: Vec::new(), failure: None };
    for at in 0..files.len() {
        match import_one(&store, request, (&files, at), interaction) {
            Ok(imported) => imports.imported.push(imported),
            Err(error) if request.upstream && !is_the_users_wish(&error) => {
                imports.left_out.push(error);
            }
            Err(error) => {
                imports.failure = Some(error);
                break;
            }
        }
    }
    if request.upstream && !request.consent.dry_run {
        // They need no offer any more.
        upstream::remember(invocation);
    }
    Ok(imports)
}

/// Whether no further file is to be imported.
fn is_the_users_wish(error: &SessionError) -> bool {
    matches!(error, SessionError::Unconfirmed(_) | SessionError::Interrupted(_))
}

/// Imports one of some files.
fn import_one(
    store: &Store,
    request: &ImportRequest,
    (files, at): (&[PathBuf], usize),
    interaction: &mut dyn Interaction,
) -> Result<Imported, SessionError> {
    let file = files[at].as_path();
    let place = file.display().to_string();
    let begin = |interaction: &mut dyn Interaction| {
        let shown = interaction.begin("importing");
        shown.count(&format!("importing {place}"), at + 1, Some(files.len()));
        shown
    };
    let shown = begin(interaction);
    let bytes =
        read(file).map_err(|source| SessionError::Unreadable { path: file.to_owned(), source })?;
    shown.go_on()?;
    let document = store.read_import(bytes, &place)?;
    // A signal that comes while the user is asked ends osm.
    drop(shown);
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
        let shown = begin(interaction);
        shown.go_on()?;
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
