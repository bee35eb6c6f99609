//! Who holds a lock, in their own words: for people who are refused, never for decisions.
//!
//! A lock tells that it is held, not by whom. So a holder writes a line of JSON into the lock file
//! once it has the lock. Whether a lock is *held* is only ever asked of the lock.
//!
//! - Who shares a lock appends its line and blanks it on leaving. The line of a killed process
//!   stays; readers leave out whoever is proven dead, and the next to find the file large and the
//!   lock free empties it. Appending begins and ends a line, so a torn one spoils no other.
//! - Who holds a lock alone writes over the beginning. Readers take the first line.
//!
//! Writing may fail (the disk is full) and is never synced: then there is a lock without a name, and
//! that is all. A file is not cut to nothing before it is written, which ext4 would take for a
//! replacement and write out at once.
//!
//! Known holes: lines are neither reused nor removed while somebody keeps the session open, so the
//! file grows with every visitor; after [`FULL`] bytes later visitors go unnamed.
//!
//! # Platform specific behavior
//!
//! Locks of Windows are mandatory: who shares one cannot write, who is refused cannot read. There
//! the lines are in a file of their own beside the lock.

use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;

use osm_identity::{Liveness, System};

use super::folder::{Access, Folder};
use super::lock::{Attempt, FileLock, IfMissing, Mode};
use crate::backend::{Holder, Presence};
use crate::error::Result;

/// From here on a roster is emptied when nobody holds the lock.
const LARGE: u64 = 16 << 10;
/// From here on nothing is added.
const FULL: u64 = 64 << 10;
/// What is kept when a roster is emptied: the newline that every line begins with.
const EMPTIED: u64 = 1;

/// A shared lock, and the line that says who we are.
pub(crate) struct Attendance {
    lock: FileLock,
    line: Option<Line>,
}

/// Where a line is.
struct Line {
    offset: u64,
    text: Vec<u8>,
}

impl Presence for Attendance {}

impl Attendance {
    /// Shares a lock and enters its roster; `None` if others held it alone all the time.
    pub(crate) fn begin(
        folder: &Arc<Folder>,
        name: &str,
        holder: &Holder,
        patience: Duration,
    ) -> Result<Option<Self>> {
        let share = || FileLock::acquire(folder, name, Mode::Shared, IfMissing::Create, patience);
        let mut attempt = share()?;
        if let Attempt::Held(lock) = &attempt
            && storage::size(lock) > LARGE
        {
            // A shared lock cannot be made a lone one in one step; nor need it be.
            drop(attempt);
            let alone = Mode::Alone;
            if let Attempt::Held(lock) =
                FileLock::acquire(folder, name, alone, IfMissing::Create, Duration::ZERO)?
            {
                empty(&lock);
            }
            attempt = share()?;
        }
        let Attempt::Held(lock) = attempt else {
            return Ok(None);
        };
        // Without a line we are still here.
        let line = Self::write(&lock, holder).ok().flatten();
        Ok(Some(Self { lock, line }))
    }

    fn write(lock: &FileLock, holder: &Holder) -> io::Result<Option<Line>> {
        if storage::size(lock) >= FULL {
            return Ok(None);
        }
        let mut text = b"\n".to_vec();
        serde_json::to_writer(&mut text, holder)?;
        text.push(b'\n');
        Ok(Some(Line { offset: storage::append(lock, &text)?, text }))
    }

    fn leave(&mut self) -> io::Result<()> {
        let Some(line) = self.line.take() else {
            return Ok(());
        };
        let mut found = vec![0; line.text.len()];
        storage::read_at(&self.lock, &mut found, line.offset)?;
        if found != line.text {
            return Ok(());
        }
        let mut blank = vec![b' '; found.len()];
        blank[0] = b'\n';
        blank[found.len() - 1] = b'\n';
        storage::write_at(&self.lock, &blank, line.offset)
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        // A line that cannot be blanked is that of a process which readers can look for.
        let _left = self.leave();
    }
}

/// Says who holds a lock alone.
pub(crate) fn sign(lock: &FileLock, holder: &Holder) {
    let _signed = try_sign(lock, holder);
}

fn try_sign(lock: &FileLock, holder: &Holder) -> io::Result<()> {
    let mut text = serde_json::to_vec(holder)?;
    text.push(b'\n');
    storage::write_at(lock, &text, 0)?;
    let length = text.len() as u64;
    if storage::size(lock) > length { storage::set_size(lock, length) } else { Ok(()) }
}

/// Empties the roster of a lock that is held alone.
fn empty(lock: &FileLock) {
    let _emptied = storage::set_size(lock, EMPTIED);
}

/// Everybody in the roster of a shared lock, except who is proven dead.
pub(crate) fn everybody(folder: &Folder, name: &str) -> Result<Vec<Holder>> {
    let system = System::new();
    let is_there = |holder: &Holder| {
        !matches!(holder.instance().liveness(&system), Liveness::Dead(_) | Liveness::Zombie)
    };
    Ok(lines(folder, name)?.into_iter().filter(is_there).collect())
}

/// Who signed a lock last that is held alone.
pub(crate) fn signer(folder: &Folder, name: &str) -> Result<Option<Holder>> {
    Ok(lines(folder, name)?.into_iter().next())
}

/// Removes what lies beside a lock file that is about to be removed.
pub(crate) fn remove_beside(lock: &FileLock) -> Result<()> {
    storage::remove_beside(lock)
}

fn lines(folder: &Folder, name: &str) -> Result<Vec<Holder>> {
    let Some((file, _)) = folder.open_file(&storage::name(name), Access::Read)? else {
        return Ok(Vec::new());
    };
    let mut bytes = Vec::new();
    let read = (&file).take(FULL + LARGE).read_to_end(&mut bytes);
    read.map_err(|error| folder.error("read", name, error))?;
    let records = bytes.split(|byte| *byte == b'\n');
    Ok(records.filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Where the lines are.
#[cfg(unix)]
mod storage {
    use std::io::{self, Seek, Write};
    use std::os::unix::fs::FileExt;

    use rustix::fs::OFlags;

    use super::super::lock::FileLock;
    use crate::error::Result;

    pub(super) fn name(lock: &str) -> String {
        lock.to_owned()
    }

    /// As it was when the file was opened: a visitor more or less does not matter.
    pub(super) fn size(lock: &FileLock) -> u64 {
        lock.size()
    }

    pub(super) fn set_size(lock: &FileLock, size: u64) -> io::Result<()> {
        lock.file().set_len(size)
    }

    /// Appends, whoever else does so now; returns where.
    pub(super) fn append(lock: &FileLock, bytes: &[u8]) -> io::Result<u64> {
        let mut file = lock.file();
        rustix::fs::fcntl_setfl(file, OFlags::APPEND)?;
        file.write_all(bytes)?;
        // While a file appends, Linux ignores the offset of a write.
        rustix::fs::fcntl_setfl(file, OFlags::empty())?;
        Ok(file.stream_position()? - bytes.len() as u64)
    }

    pub(super) fn read_at(lock: &FileLock, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        lock.file().read_exact_at(bytes, offset)
    }

    pub(super) fn write_at(lock: &FileLock, bytes: &[u8], offset: u64) -> io::Result<()> {
        lock.file().write_all_at(bytes, offset)
    }

    #[expect(clippy::unnecessary_wraps, reason = "the twin of Windows can fail")]
    pub(super) fn remove_beside(_lock: &FileLock) -> Result<()> {
        Ok(())
    }
}

/// Where the lines are: beside the lock.
#[cfg(windows)]
mod storage {
    use std::fs::{File, OpenOptions};
    use std::io::{self, Seek, Write};
    use std::os::windows::fs::FileExt;
    use std::path::PathBuf;

    use super::super::lock::FileLock;
    use crate::error::Result;

    pub(super) fn name(lock: &str) -> String {
        crate::layout::roster_beside(lock)
    }

    fn path(lock: &FileLock) -> PathBuf {
        lock.folder().path_of(&name(lock.name()))
    }

    fn open(lock: &FileLock) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path(lock))
    }

    pub(super) fn size(lock: &FileLock) -> u64 {
        std::fs::metadata(path(lock)).map_or(0, |metadata| metadata.len())
    }

    pub(super) fn set_size(lock: &FileLock, size: u64) -> io::Result<()> {
        open(lock)?.set_len(size)
    }

    /// Appends, whoever else does so now; returns where.
    pub(super) fn append(lock: &FileLock, bytes: &[u8]) -> io::Result<u64> {
        let mut file = OpenOptions::new().append(true).create(true).open(path(lock))?;
        file.write_all(bytes)?;
        Ok(file.stream_position()? - bytes.len() as u64)
    }

    pub(super) fn read_at(lock: &FileLock, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        match open(lock)?.seek_read(bytes, offset)? {
            read if read == bytes.len() => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    pub(super) fn write_at(lock: &FileLock, bytes: &[u8], offset: u64) -> io::Result<()> {
        match open(lock)?.seek_write(bytes, offset)? {
            written if written == bytes.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }

    pub(super) fn remove_beside(lock: &FileLock) -> Result<()> {
        lock.folder().remove(&name(lock.name())).map(|_| ())
    }
}
