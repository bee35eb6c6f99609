//! What is set aside: written once, never replaced, read back whole.
//!
//! The trash is compressed: what a cleanup removed is kept for a week, just in case, and should not
//! take the room that the cleanup was to make.

use super::atomic;
use super::folder::{Folder, Kind};
use super::realm::Realm;
use crate::backend::{Shelf, Shelved};
use crate::error::{Damaged, Error, Result};
use crate::{gzip, layout};

/// Puts a document on a shelf; returns its name there.
pub(crate) fn add(
    folder: &Folder,
    realm: &Realm,
    shelf: Shelf,
    stem: &str,
    document: &[u8],
) -> Result<String> {
    let names = layout::shelf_names(shelf, stem)?;
    let bytes = if layout::is_compressed(shelf) { gzip::pack(document) } else { document.to_vec() };
    atomic::add(folder, realm, names, &bytes.into())
}

/// What lies on a shelf, oldest first.
pub(crate) fn list(folder: &Folder, shelf: Shelf) -> Result<Vec<Shelved>> {
    let mut found = Vec::new();
    folder.each_name(&mut |name, _| {
        if layout::check_shelved(shelf, name).is_ok()
            && let Ok(Some(facts)) = folder.facts(name)
            && facts.kind == Kind::File
            && facts.size > 0
        // An empty one is a name that was taken and not yet filled (`atomic.rs`).
        {
            found.push(Shelved {
                name: name.to_owned(),
                id: layout::shelved_id(shelf, name),
                size: facts.size,
                modified: facts.modified,
            });
        }
    })?;
    found.sort_unstable_by(|a, b| (a.modified, &a.name).cmp(&(b.modified, &b.name)));
    Ok(found)
}

/// Reads what lies on a shelf.
pub(crate) fn read(folder: &Folder, shelf: Shelf, name: &str) -> Result<Vec<u8>> {
    let Some((bytes, _)) = folder.read(name)? else {
        return Err(Error::NotShelved(name.to_owned()));
    };
    if !layout::is_compressed(shelf) {
        return Ok(bytes);
    }
    gzip::unpack(&bytes, layout::LARGEST_DOCUMENT).map_err(|error| Error::Corrupt {
        what: Damaged::Shelved,
        place: folder.path_of(name).display().to_string(),
        reason: format!("it cannot be unpacked: {error}"),
    })
}

/// Removes what lies on a shelf, for good.
pub(crate) fn discard(folder: &Folder, name: &str) -> Result<()> {
    // A folder or a link of that name is not ours to remove.
    if folder.checked_facts(name)?.is_some() && folder.remove(name)? {
        return Ok(());
    }
    Err(Error::NotShelved(name.to_owned()))
}
