//! The processes that hold a lock, as they register themselves: for the message to a process that is
//! refused, and for the proof that a holder is dead.
//!
//! A lock tells that it is held, not by which process. So a holder writes a line of JSON into the
//! lock file once it has the lock. Whether a lock is *held* is only ever asked of the lock.
//!
//! - A process that shares a lock appends its line and blanks it on leaving. The line of a killed
//!   process stays; readers leave out processes that are proven dead, and the next to find the file
//!   large and the lock free empties it. Appending begins and ends a line, so a torn one spoils no
//!   other.
//! - A process that holds a lock alone writes over the beginning, and cuts the rest.
//!
//! Nothing is synced, and writing may fail (the disk is full): then there is a holder without a
//! record. That must show, or the lines of dead processes beside it would pass for all holders
//! (`eviction.rs`). So a process that cannot append makes the file [`FULL`], which takes no space, and
//! one that cannot write over the beginning cuts the file to nothing. A file is not cut to nothing
//! otherwise, which ext4 would take for a replacement and write out at once.
//!
//! Known holes: lines are neither reused nor removed while the session is open, so the file grows
//! with every holder; after [`FULL`] bytes later holders are not recorded.
//!
//! # Platform specific behavior
//!
//! Locks of Windows are mandatory: a process that shares one cannot write, one that is refused cannot
//! read. There the lines are in a file of their own beside the lock.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Arc;
use std::time::Duration;

use osm_identity::System;

use super::folder::{Access, Facts, Folder};
use super::lock::{Attempt, FileLock, IfMissing, Mode, Sign, Standing};
use crate::backend::{Holder, HolderState};
use crate::error::Result;

/// From this size on a list is emptied when the lock is free.
const LARGE: u64 = 16 << 10;
/// From here on nothing is added.
const FULL: u64 = 64 << 10;

/// A lock, and the line that says who we are.
pub(crate) struct Attendance {
    /// `None` once it was removed with its file.
    lock: Option<FileLock>,
    line: Option<Line>,
}

/// Where a line is.
struct Line {
    offset: u64,
    text: Vec<u8>,
}

impl Attendance {
    /// Shares a lock and registers in its list; `None` if others held it alone all the time.
    pub(crate) fn shared(
        folder: &Arc<Folder>,
        name: &str,
        holder: &Holder,
        patience: Duration,
    ) -> Result<Option<Self>> {
        let mut made_room = false;
        loop {
            let mut visitor = Visitor { holder, made_room, is_large: false, line: None };
            let (mode, missing) = (Mode::Shared, IfMissing::Create);
            let attempt =
                FileLock::acquire_signed(folder, name, mode, missing, patience, &mut visitor)?;
            let Attempt::Held(lock) = attempt else {
                return Ok(None);
            };
            if !visitor.is_large {
                return Ok(Some(Self { lock: Some(lock), line: visitor.line }));
            }
            // A shared lock cannot be made a lone one in one step; nor need it be.
            drop(lock);
            made_room = true;
            let (mode, patience) = (Mode::Alone, Duration::ZERO);
            drop(FileLock::acquire_signed(folder, name, mode, missing, patience, &mut empty)?);
        }
    }

    /// Holds a lock alone until we leave; `None` if others held it all the time.
    pub(crate) fn alone(
        folder: &Arc<Folder>,
        name: &str,
        holder: &Holder,
        patience: Duration,
    ) -> Result<Option<Self>> {
        let lock = hold_alone(folder, name, holder, patience)?;
        let line = |text| Line { offset: 0, text };
        Ok(lock.map(|lock| Self { lock: Some(lock), line: signature(holder).ok().map(line) }))
    }

    /// What stands at the lock's path now.
    pub(crate) fn standing(&self, folder: &Folder) -> Result<Standing> {
        self.lock.as_ref().map_or(Ok(Standing::Replaced), |lock| lock.standing(folder))
    }

    /// Removes the file of a lock that is held alone, and with it the lock.
    pub(crate) fn remove_file(mut self) -> Result<()> {
        self.lock.take().map_or(Ok(()), |lock| lock.remove_file().map(drop))
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        if let Some(lock) = &self.lock {
            leave(lock, self.line.as_ref());
        }
    }
}

/// One who comes to share a lock.
struct Visitor<'a> {
    holder: &'a Holder,
    made_room: bool,
    /// There are too many lines in the file: it has to be emptied first.
    is_large: bool,
    line: Option<Line>,
}

impl Sign for Visitor<'_> {
    fn sign(&mut self, lock: &FileLock) -> io::Result<()> {
        self.is_large = !self.made_room && storage::size(lock) > LARGE;
        if !self.is_large {
            self.line = append(lock, self.holder)?;
        }
        Ok(())
    }

    fn withdraw(&mut self, lock: &FileLock) {
        leave(lock, self.line.take().as_ref());
    }
}

/// Blanks a line. One that cannot be blanked is that of a process which readers can look for.
fn leave(lock: &FileLock, line: Option<&Line>) {
    let blank = |line: &Line| {
        let mut found = vec![0; line.text.len()];
        storage::read_at(lock, &mut found, line.offset)?;
        if found != line.text {
            return io::Result::Ok(());
        }
        let mut blank = vec![b' '; found.len()];
        blank[0] = b'\n';
        blank[found.len() - 1] = b'\n';
        storage::write_at(lock, &blank, line.offset)
    };
    let _left = line.map(blank);
}

/// Adds a line for one who shares a lock.
fn append(lock: &FileLock, holder: &Holder) -> io::Result<Option<Line>> {
    if storage::size(lock) >= FULL {
        return Ok(None);
    }
    let text = [b"\n", signature(holder)?.as_slice()].concat();
    match storage::append(lock, &text) {
        Ok(offset) => Ok(Some(Line { offset, text })),
        Err(_) => storage::set_size(lock, FULL).map(|()| None),
    }
}

/// Holds a lock alone, with only us in its list; `None` if others held it all the time.
///
/// The line stays: the next holder writes over it.
pub(crate) fn hold_alone(
    folder: &Arc<Folder>,
    name: &str,
    holder: &Holder,
    patience: Duration,
) -> Result<Option<FileLock>> {
    let mut sign = |lock: &FileLock| {
        let text = signature(holder)?;
        if says(lock, &text) {
            Ok(())
        } else {
            overwrite(lock, &text).or_else(|_| storage::set_size(lock, 0))
        }
    };
    let (mode, missing) = (Mode::Alone, IfMissing::Create);
    let attempt = FileLock::acquire_signed(folder, name, mode, missing, patience, &mut sign)?;
    Ok(match attempt {
        Attempt::Held(lock) => Some(lock),
        Attempt::Contended | Attempt::Missing => None,
    })
}

fn signature(holder: &Holder) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(holder)?;
    text.push(b'\n');
    Ok(text)
}

/// Whether a list is exactly this text: that of a process that held the lock before, and saves again. To read it
/// costs less than a write, which the next sync of the file system would also have to write.
fn says(lock: &FileLock, text: &[u8]) -> bool {
    let mut found = vec![0; text.len()];
    storage::size(lock) == text.len() as u64
        && storage::read_at(lock, &mut found, 0).is_ok()
        && found == text
}

/// Empties the list of a lock that is held alone: its holder is not recorded.
pub(crate) fn empty(lock: &FileLock) -> io::Result<()> {
    overwrite(lock, b"\n").or_else(|_| storage::set_size(lock, 0))
}

fn overwrite(lock: &FileLock, text: &[u8]) -> io::Result<()> {
    storage::write_at(lock, text, 0)?;
    let length = text.len() as u64;
    if storage::size(lock) > length { storage::set_size(lock, length) } else { Ok(()) }
}

/// The processes that are registered for a lock.
#[derive(Debug)]
pub(crate) struct HolderList {
    /// Everybody who is in it.
    pub(crate) holders_seen: Vec<HolderState>,
    /// No process holds the lock that is not in it.
    pub(crate) is_complete: bool,
}

impl HolderList {
    /// Opens the file that has the lines of a lock; `None` if it does not exist.
    pub(crate) fn open(folder: &Folder, name: &str) -> Result<Option<(File, Facts)>> {
        folder.open_file(&storage::name(name), Access::Read)
    }

    /// Reads it, and looks which of them run.
    pub(crate) fn read(mut file: &File) -> io::Result<Self> {
        file.rewind()?;
        let mut bytes = Vec::new();
        file.take(FULL + LARGE).read_to_end(&mut bytes)?;
        let system = System::new();
        let mut holder_list =
            Self { holders_seen: Vec::new(), is_complete: (bytes.len() as u64) < FULL };
        for line in bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
            match serde_json::from_slice(line) {
                Ok(holder) => holder_list.holders_seen.push(HolderState::look(holder, &system)),
                Err(_) => holder_list.is_complete &= line.is_empty(),
            }
        }
        Ok(holder_list)
    }

    /// Every holder of the lock is proven dead.
    pub(crate) fn proves_death(&self) -> bool {
        self.is_complete
            && !self.holders_seen.is_empty()
            && self.holders_seen.iter().all(HolderState::is_dead)
    }

    /// The list of a lock; empty if there is no file.
    pub(crate) fn of(folder: &Folder, name: &str) -> Result<Self> {
        let Some((file, _)) = Self::open(folder, name)? else {
            return Ok(Self { holders_seen: Vec::new(), is_complete: true });
        };
        Self::read(&file).map_err(|error| folder.error("read", name, error))
    }

    /// Everybody except who is proven dead.
    pub(crate) fn present(self) -> Vec<Holder> {
        let present = self.holders_seen.into_iter().filter(|seen| !seen.is_dead());
        present.map(|seen| seen.holder).collect()
    }
}

/// Removes what lies beside a lock file that is about to be removed.
pub(crate) fn remove_beside(lock: &FileLock) -> Result<()> {
    storage::remove_beside(lock)
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

    /// Appends, even if other processes do so now; returns the offset.
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
        crate::layout::holder_list_beside(lock)
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

    /// Appends, even if other processes do so now; returns the offset.
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
