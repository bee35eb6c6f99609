//! The floor: only the system calls that every implementation needs.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::Path;

use osm_testkit::bench::Result;

/// Replaces a file durably: write beside it, sync, rename, sync the folder.
pub(crate) fn save(folder: &Path, bytes: &[u8]) -> Result<()> {
    let temporary = folder.join("temporary");
    let mut file = File::create_new(&temporary)?;
    file.write_all(bytes)?;
    file.sync_data()?;
    drop(file);
    fs::rename(temporary, folder.join("document"))?;
    Ok(File::open(folder)?.sync_all()?)
}

/// Reads a file into memory.
pub(crate) fn load(path: &Path) -> Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let size = usize::try_from(file.metadata()?.len())?;
    let mut bytes = Vec::with_capacity(size + 1);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a folder and looks at each document in it; says how many there are.
pub(crate) fn list(folder: &Path) -> Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().ends_with(b".session.json") {
            // Relative to the folder, without following links.
            count += usize::from(entry.metadata()?.is_file());
        }
    }
    Ok(count)
}

/// Unlinks every file of a folder.
pub(crate) fn unlink(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}
