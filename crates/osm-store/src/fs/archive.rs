//! Archived documents: written once, never replaced, read back whole.
//!
//! The trash is compressed: what a cleanup removed is kept for a week, just in case, and should not
//! take the room that the cleanup was to make.

use super::atomic;
use super::folder::{Folder, Kind};
use super::pid_space::PidSpace;
use crate::backend::{ArchiveKind, ArchivedDocument, Stamp};
use crate::error::{Damage, Damaged, Error, Result};
use crate::{gzip, layout};

/// Archives a document; returns its name.
pub(crate) fn add(
    folder: &Folder,
    pid_space: &PidSpace,
    kind: ArchiveKind,
    stem: &str,
    document: &[u8],
) -> Result<String> {
    let names = layout::archive_names(kind, stem)?;
    if layout::is_compressed(kind) {
        return atomic::add(folder, pid_space, names, &gzip::pack(document));
    }
    atomic::add(folder, pid_space, names, document)
}

/// The archived documents of a folder, oldest first.
pub(crate) fn list(folder: &Folder, kind: ArchiveKind) -> Result<Vec<ArchivedDocument>> {
    let mut found = Vec::new();
    folder.each_name(&mut |name, _| {
        if layout::check_archive_name(kind, name).is_ok()
            && let Ok(Some(facts)) = folder.facts(name)
            && facts.kind == Kind::File
            && facts.size > 0
        // An empty one is a name that was taken and not yet filled (`atomic.rs`).
        {
            found.push(ArchivedDocument {
                name: name.to_owned(),
                id: layout::archived_id(kind, name),
                size: facts.size,
                modified: facts.modified,
            });
        }
    })?;
    found.sort_unstable_by(|a, b| (a.modified, &a.name).cmp(&(b.modified, &b.name)));
    Ok(found)
}

/// Reads an archived document.
pub(crate) fn read(
    folder: &Folder,
    kind: ArchiveKind,
    name: &str,
) -> Result<Option<(Vec<u8>, Stamp)>> {
    let Some((bytes, facts)) = folder.read(name)? else { return Ok(None) };
    if !layout::is_compressed(kind) {
        return Ok(Some((bytes, facts.stamp)));
    }
    let unpacked =
        gzip::unpack(&bytes, layout::LARGEST_DOCUMENT).map_err(|error| Error::Corrupt {
            what: Damaged::Archive,
            place: folder.path_of(name).display().to_string(),
            reason: Damage::Compression(error.to_string()),
        })?;
    Ok(Some((unpacked, facts.stamp)))
}

/// Removes an archived document, for good.
pub(crate) fn discard(folder: &Folder, name: &str) -> Result<()> {
    // A folder or a link of that name is not ours to remove.
    if folder.checked_facts(name)?.is_some() && folder.remove(name)? {
        return Ok(());
    }
    Err(Error::ArchiveNotFound(name.to_owned()))
}
