//! Folders of Unix: everything is relative to a descriptor of the folder.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use jiff::Timestamp;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{Access, Facts, Kind};
use crate::backend::Stamp;

pub(super) type Handle = File;

const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);
const ANY_FILE: OFlags = OFlags::NOFOLLOW
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

pub(super) fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

pub(super) fn open_root(path: &Path) -> io::Result<(Handle, Facts)> {
    let handle = File::from(rustix::fs::openat(CWD, path, FOLDER, Mode::empty())?);
    let facts = facts_of_file(&handle)?;
    Ok((handle, facts))
}

pub(super) fn open_folder(
    folder: &Handle,
    _path: &Path,
    name: &str,
) -> io::Result<(Handle, Facts)> {
    let flags = FOLDER | OFlags::NOFOLLOW;
    let handle = File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?);
    let facts = facts_of_file(&handle)?;
    Ok((handle, facts))
}

pub(super) fn make_root(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).recursive(true).create(path)?;
    // What lies in it is as lasting as its name.
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => sync(&File::open(parent)?),
        _ => Ok(()),
    }
}

pub(super) fn make_folder(folder: &Handle, _path: &Path, name: &str) -> io::Result<()> {
    Ok(rustix::fs::mkdirat(folder, name, Mode::RWXU)?)
}

/// Closes a folder to others. Where nothing can be written that cannot be done, and need not: what
/// is inside is closed anyhow.
pub(super) fn tighten(handle: &Handle) -> io::Result<()> {
    match rustix::fs::fchmod(handle, Mode::RWXU) {
        Err(Errno::ROFS) => Ok(()),
        result => Ok(result?),
    }
}

pub(super) fn facts_of_root(path: &Path) -> io::Result<Facts> {
    Ok(read_facts(&rustix::fs::statat(CWD, path, AtFlags::empty())?))
}

pub(super) fn facts(folder: &Handle, _path: &Path, name: &str) -> io::Result<Facts> {
    Ok(read_facts(&rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?))
}

pub(super) fn facts_of_file(file: &File) -> io::Result<Facts> {
    Ok(read_facts(&rustix::fs::fstat(file)?))
}

pub(super) fn open_file(
    folder: &Handle,
    _path: &Path,
    name: &str,
    access: Access,
) -> io::Result<File> {
    let flags = match access {
        Access::Read => OFlags::RDONLY,
        Access::Write => OFlags::RDWR,
        Access::Create => OFlags::RDWR | OFlags::CREATE,
        Access::Append => OFlags::RDWR | OFlags::CREATE | OFlags::APPEND,
    };
    Ok(rustix::fs::openat(folder, name, flags | ANY_FILE, PRIVATE_FILE)?.into())
}

/// Reads once, into the room that is left; nothing is written there before.
pub(super) fn read(file: &File, bytes: &mut Vec<u8>) -> io::Result<usize> {
    Ok(rustix::io::read(file, rustix::buffer::spare_capacity(bytes))?)
}

pub(super) fn read_at(file: &File, bytes: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, place)
}

pub(super) fn hold(folder: &Handle, name: &str) -> Option<File> {
    let flags = OFlags::RDONLY | ANY_FILE;
    rustix::fs::openat(folder, name, flags, Mode::empty()).ok().map(File::from)
}

pub(super) fn create_new(folder: &Handle, _path: &Path, name: &str) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | ANY_FILE;
    Ok(rustix::fs::openat(folder, name, flags, PRIVATE_FILE)?.into())
}

pub(super) fn rename(folder: &Handle, _path: &Path, from: &str, to: &str) -> io::Result<()> {
    Ok(rustix::fs::renameat(folder, from, folder, to)?)
}

pub(super) fn link(folder: &Handle, _path: &Path, from: &str, to: &str) -> io::Result<()> {
    Ok(rustix::fs::linkat(folder, from, folder, to, AtFlags::empty())?)
}

pub(super) fn remove(folder: &Handle, _path: &Path, name: &str) -> io::Result<()> {
    Ok(rustix::fs::unlinkat(folder, name, AtFlags::empty())?)
}

/// Some file systems have nothing to sync in a folder and say that the call makes no sense.
pub(super) fn sync(folder: &Handle) -> io::Result<()> {
    match folder.sync_all() {
        Err(error) if is_unsupported(&error) => Ok(()),
        result => result,
    }
}

pub(super) fn each_name(
    folder: &Handle,
    _path: &Path,
    each: &mut dyn FnMut(&str, u64),
) -> io::Result<()> {
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().to_str()
            && !matches!(name, "." | "..")
        {
            each(name, entry.ino());
        }
    }
    Ok(())
}

pub(super) fn is_unsupported(error: &io::Error) -> bool {
    // Two of them are one number on some systems.
    [Errno::NOLCK, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS, Errno::INVAL]
        .iter()
        .any(|errno| Errno::from_io_error(error) == Some(*errno))
}

#[allow(
    clippy::cast_lossless,
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::unnecessary_cast,
    reason = "each system has its own types for these numbers; all of them fit"
)]
fn read_facts(stat: &Stat) -> Facts {
    let (modified_part, changed_part) = (stat.st_mtime_nsec, stat.st_ctime_nsec);
    let modified = Timestamp::new(stat.st_mtime as i64, modified_part as i32);
    let nanoseconds = |seconds: i64, part: u64| (seconds as u64).wrapping_mul(1_000_000_000) + part;
    let size = stat.st_size as u64;
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    };
    Facts {
        kind,
        size,
        modified: modified.unwrap_or(Timestamp::UNIX_EPOCH),
        stamp: Stamp([
            stat.st_ino as u64,
            size,
            nanoseconds(stat.st_mtime as i64, modified_part as u64),
            nanoseconds(stat.st_ctime as i64, changed_part as u64),
        ]),
        identity: (stat.st_dev as u64, stat.st_ino as u64),
        owner: stat.st_uid,
        permissions: stat.st_mode as u32 & 0o7777,
    }
}
