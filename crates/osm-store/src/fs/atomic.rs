//! A file is replaced whole, or not at all.
//!
//! # The promise
//!
//! After [`replace`] returned, the file has the new content, also after a power failure. If it
//! fails, or the process is killed, or the machine stops at any moment, the file has the old content
//! or the new one: never a part, a mixture or nothing. [`add`] promises the same of a new file, and
//! that it never takes the name of another file. Readers need no lock: a process that opened the file
//! before keeps reading the old content.
//!
//! # How
//!
//! 1. A temporary file is made in the same folder (a rename does not cross file systems), under a
//!    name that must be free and is not followed if it is a link, closed to others.
//! 2. All of it is written and synced. Were it renamed before, the file system could put the new
//!    name to disk first and leave an empty file behind.
//! 3. It is renamed over the old file: readers see the one or the other.
//! 4. The folder is synced. Without that the rename itself can be lost, and with it a save that was
//!    acknowledged.
//!
//! On an error before step 3 the temporary file is removed and the old one was not touched. An error
//! in step 4 is reported too, though the new content is in place: it may not survive.
//!
//! # Two saves within one tick
//!
//! A [`Stamp`](crate::backend::Stamp) must differ whenever the content does, or a process takes an
//! old document for the newest and overwrites another's change. An inode that was given back is
//! soon used again, sizes repeat, and clocks of file systems tick every few milliseconds (some every
//! second, and all of them can be set back). So a save whose time is not later than that of the
//! file that it replaces is given a time one step later. The exception is a clock that was set back
//! by more than an hour: there the new time is the truth, and differs anyhow.
//!
//! # Limits
//!
//! - A drive that claims to have written what it has not breaks any promise.
//! - On Windows there is no way to sync a folder; NTFS keeps renames in its journal, in order. A
//!   rename can fail while a scanner has the file open (before Windows 10, and under Wine, any
//!   process); it is tried again for half a second, and no reader of ours takes that long.
//! - A crash leaves the temporary file behind. Its name tells who wrote it (`pid_space.rs`), and a
//!   cleanup removes it (`stray.rs`).
//! - Owner, group, access lists and hard links of the old file are not carried over: a store's files
//!   are ours alone, and a second name for one keeps the old content.

use std::fs::File;
use std::io::{self, Write as _};
use std::time::{Duration, SystemTime};

use super::folder::{Facts, Folder, is_unsupported};
use super::large_file;
use super::pid_space::PidSpace;
use crate::error::{Error, Result};
use crate::pieces::Pieces;

/// How far a clock may have been set back before we go along.
const SET_BACK: Duration = Duration::from_hours(1);

/// How far one save is moved past another: the least that the file system can tell apart. The
/// coarsest that is in use counts two seconds.
const STEPS: [Duration; 4] = [
    if cfg!(windows) { Duration::from_nanos(100) } else { Duration::from_nanos(1) },
    Duration::from_micros(1),
    Duration::from_secs(1),
    Duration::from_secs(2),
];

/// Replaces a file; `before` is what is there now, as the caller, who excludes others, saw it.
pub(crate) fn replace(
    folder: &Folder,
    pid_space: &PidSpace,
    name: &str,
    pieces: &Pieces,
    before: Option<&Facts>,
) -> Result<()> {
    let content = |file: &File| large_file::write(pieces, file);
    let temporary = Temporary::write(folder, pid_space, &content, before)?;
    folder.rename(&temporary.name, name).map_err(|error| folder.error("replace", name, error))?;
    temporary.was_renamed();
    folder.sync()
}

/// Adds a file under the first of `names` that is free; returns that name.
pub(crate) fn add(
    folder: &Folder,
    pid_space: &PidSpace,
    names: impl Iterator<Item = String>,
    bytes: &[u8],
) -> Result<String> {
    let content = |mut file: &File| file.write_all(bytes);
    let temporary = Temporary::write(folder, pid_space, &content, None)?;
    let mut tried = String::new();
    for name in names {
        match temporary.take_name(&name) {
            Ok(()) => {
                drop(temporary);
                folder.sync()?;
                return Ok(name);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => tried = name,
            Err(error) => return Err(folder.error("create", &name, error)),
        }
    }
    Err(folder.error("create", &tried, io::ErrorKind::AlreadyExists.into()))
}

/// A file that was written and has no proper name yet; removed when dropped.
struct Temporary<'a> {
    folder: &'a Folder,
    name: String,
}

impl<'a> Temporary<'a> {
    fn write(
        folder: &'a Folder,
        pid_space: &PidSpace,
        content: &dyn Fn(&File) -> io::Result<()>,
        before: Option<&Facts>,
    ) -> Result<Self> {
        let (this, file) = Self::create(folder, pid_space)?;
        let written = content(&file)
            .and_then(|()| before.map_or(Ok(()), |before| move_on(&file, before)))
            .and_then(|()| file.sync_data());
        match written {
            Ok(()) => Ok(this),
            Err(error) => Err(folder.error("write", &this.name, error)),
        }
    }

    fn create(folder: &'a Folder, pid_space: &PidSpace) -> Result<(Self, File)> {
        loop {
            let name = pid_space.temporary();
            match folder.create_new(&name) {
                Ok(file) => return Ok((Self { folder, name }, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    let path = folder.path().to_owned();
                    return Err(Error::Io { action: "create a file in", path, source: error });
                }
            }
        }
    }

    /// Gives it a second name that must be free.
    ///
    /// A link is one step and leaves nothing to clean up but the temporary name. Where there are no
    /// links, the name is taken by an empty file, which no reader takes for a document.
    fn take_name(&self, name: &str) -> io::Result<()> {
        match self.folder.link(&self.name, name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists && lacks_links(&error) => {
                drop(self.folder.create_new(name)?);
                self.folder.rename(&self.name, name)
            }
            result => result,
        }
    }

    /// There is nothing left to remove.
    fn was_renamed(mut self) {
        self.name.clear();
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            // What cannot be removed now is a stray file, and found as such later.
            let _removed = self.folder.remove(&self.name);
        }
    }
}

fn lacks_links(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::TooManyLinks)
        || is_unsupported(error)
}

/// Makes a file's time later than that of the one that it is to replace.
fn move_on(file: &File, before: &Facts) -> io::Result<()> {
    let last = SystemTime::from(before.modified);
    let now = file.metadata()?.modified()?;
    // An error says that `now` is later than `last`.
    if last.duration_since(now).map_or(true, |ahead| ahead > SET_BACK) {
        return Ok(());
    }
    for step in STEPS {
        file.set_modified(last + step)?;
        if file.metadata()?.modified()? > last {
            break;
        }
    }
    Ok(())
}
