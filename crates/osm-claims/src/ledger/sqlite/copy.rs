//! Copies of a ledger's files.
//!
//! No connection of this process may have the ledger open meanwhile: closing a file that was copied
//! drops the locks that SQLite has on it (`lock.rs`).

use std::io;
use std::path::Path;
use std::time::Duration;

use super::lock;
use super::place::{self, FileFacts};
use crate::error::{Error, Result};

/// What the files of a ledger were; `None` for one that was not there, or had no content: opening a
/// ledger makes an empty log.
pub(super) type Facts = [Option<FileFacts>; 3];

/// How often files that other processes write to are copied.
const MOST_COPIES: usize = 50;

const PAUSE: Duration = Duration::from_millis(20);

/// What the files of a ledger are now, as far as writing to them changes it. Opening a log as root sets
/// its owner again, and so the time of the last change of its inode.
pub(super) fn facts(ledger: &Path) -> Facts {
    place::files(ledger).map(|file| {
        let facts = place::file_facts(&file).filter(|it| it.length > 0);
        facts.map(|it| FileFacts { changed: 0, ..it })
    })
}

/// Makes a folder with the files of a ledger as they were at one moment; and what they were then.
pub(super) fn at_one_moment(ledger: &Path, folder: &Path) -> Result<Facts> {
    let error = |error| Error::io("copy", error);
    for attempt in 0..MOST_COPIES {
        if attempt > 0 {
            std::fs::remove_dir_all(folder).map_err(error)?;
            std::thread::sleep(PAUSE);
        }
        let before = facts(ledger);
        place::make_new_folder(folder).map_err(error)?;
        files(ledger, folder).map_err(error)?;
        if facts(ledger) == before {
            return Ok(before);
        }
    }
    Err(Error::Busy { writer: lock::writer(ledger) })
}

/// Copies the files of a ledger that are there, under their names, and syncs them.
pub(super) fn files(ledger: &Path, folder: &Path) -> io::Result<()> {
    for file in place::files(ledger) {
        let Some(name) = file.file_name() else { continue };
        let to = folder.join(name);
        match std::fs::copy(&file, &to) {
            Ok(_) => std::fs::File::open(&to)?.sync_all()?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    place::sync(folder)
}
