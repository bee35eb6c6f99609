//! Folders of Windows: names are joined to the folder's path.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;

use super::{Access, Facts, Kind};
use crate::backend::Stamp;

/// Nothing is held: an open folder could not be renamed or removed by its user.
pub(super) type Handle = ();

const OPEN_REPARSE_POINT: u32 = 0x0020_0000;
const SHARE_READ_AND_WRITE: u32 = 0x1 | 0x2;

const ACCESS_DENIED: i32 = 5;
const SHARING_VIOLATION: i32 = 32;
const LOCK_VIOLATION: i32 = 33;
const INVALID_FUNCTION: i32 = 1;
const NOT_SUPPORTED: i32 = 50;

/// The pauses between attempts to do what a virus scanner or an indexer is in the way of: they let
/// go within milliseconds, rarely within a second.
const PAUSES: [u64; 8] = [1, 2, 5, 10, 25, 50, 100, 250];

pub(super) fn user() -> u32 {
    0
}

pub(super) fn open_root(path: &Path) -> io::Result<(Handle, Facts)> {
    if_folder(facts_of_root(path)?)
}

pub(super) fn open_folder(folder: &Handle, path: &Path, name: &str) -> io::Result<(Handle, Facts)> {
    if_folder(facts(folder, path, name)?)
}

fn if_folder(facts: Facts) -> io::Result<(Handle, Facts)> {
    match facts.kind {
        Kind::Folder => Ok(((), facts)),
        _ => Err(io::ErrorKind::NotADirectory.into()),
    }
}

pub(super) fn make_root(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

pub(super) fn make_folder((): &Handle, path: &Path, name: &str) -> io::Result<()> {
    std::fs::create_dir(path.join(name))
}

#[expect(clippy::unnecessary_wraps, reason = "the twin of Unix can fail")]
pub(super) fn tighten((): &Handle) -> io::Result<()> {
    Ok(())
}

pub(super) fn facts_of_root(path: &Path) -> io::Result<Facts> {
    Ok(read_facts(&std::fs::metadata(path)?))
}

pub(super) fn facts((): &Handle, path: &Path, name: &str) -> io::Result<Facts> {
    Ok(read_facts(&std::fs::symlink_metadata(path.join(name))?))
}

pub(super) fn facts_of_file(file: &File) -> io::Result<Facts> {
    Ok(read_facts(&file.metadata()?))
}

pub(super) fn open_file((): &Handle, path: &Path, name: &str, access: Access) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(OPEN_REPARSE_POINT);
    match access {
        Access::Read => {}
        // Without the right to delete: a lock that a process has open cannot lose its name, so
        // handle and path are the same file for as long as the handle is open.
        Access::Write => {
            options.write(true).share_mode(SHARE_READ_AND_WRITE);
        }
        Access::Create => {
            options.write(true).create(true).truncate(false).share_mode(SHARE_READ_AND_WRITE);
        }
        Access::Append => {
            options.append(true).create(true);
        }
    }
    let path = path.join(name);
    match options.open(&path) {
        // Waiting does not make a file of a folder.
        Err(error) if path.is_dir() => Err(error),
        Err(_) => persevere(|| options.open(&path)),
        opened => opened,
    }
}

/// Reads as much as there is room for.
pub(super) fn read(file: &File, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let room = bytes.capacity() - bytes.len();
    file.take(room as u64).read_to_end(bytes)
}

pub(super) fn read_at(file: &File, bytes: &mut [u8], place: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, place)
}

/// Renaming over a file that is open fails.
pub(super) fn hold((): &Handle, _name: &str) -> Option<File> {
    None
}

pub(super) fn create_new((): &Handle, path: &Path, name: &str) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path.join(name))
}

#[expect(clippy::disallowed_methods, reason = "this is the one home of renaming on Windows")]
pub(super) fn rename((): &Handle, path: &Path, from: &str, to: &str) -> io::Result<()> {
    persevere(|| std::fs::rename(path.join(from), path.join(to)))
}

pub(super) fn link((): &Handle, path: &Path, from: &str, to: &str) -> io::Result<()> {
    std::fs::hard_link(path.join(from), path.join(to))
}

#[expect(clippy::disallowed_methods, reason = "this is the one home of removal on Windows")]
pub(super) fn remove((): &Handle, path: &Path, name: &str) -> io::Result<()> {
    std::fs::remove_file(path.join(name))
}

/// Windows has no such call; the file system's own journal keeps the order of renames.
#[expect(clippy::unnecessary_wraps, reason = "the twin of Unix can fail")]
pub(super) fn sync((): &Handle) -> io::Result<()> {
    Ok(())
}

pub(super) fn each_name(
    (): &Handle,
    path: &Path,
    each: &mut dyn FnMut(&str, u64),
) -> io::Result<()> {
    for entry in std::fs::read_dir(path)? {
        if let Some(name) = entry?.file_name().to_str() {
            each(name, 0);
        }
    }
    Ok(())
}

pub(super) fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(INVALID_FUNCTION | NOT_SUPPORTED))
}

/// Tries again for half a second while another process has the file open in a way that forbids it.
fn persevere<T>(mut action: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for pause in PAUSES {
        match action() {
            Err(error)
                if matches!(
                    error.raw_os_error(),
                    Some(ACCESS_DENIED | SHARING_VIOLATION | LOCK_VIOLATION)
                ) =>
            {
                std::thread::sleep(Duration::from_millis(pause));
            }
            result => return result,
        }
    }
    action()
}

fn read_facts(metadata: &Metadata) -> Facts {
    let kind = match metadata.file_type() {
        kind if kind.is_symlink() => Kind::Link,
        kind if kind.is_dir() => Kind::Folder,
        kind if kind.is_file() => Kind::File,
        _ => Kind::Other,
    };
    let modified = metadata.modified().ok().and_then(|time| Timestamp::try_from(time).ok());
    Facts {
        kind,
        size: metadata.file_size(),
        modified: modified.unwrap_or(Timestamp::UNIX_EPOCH),
        stamp: Stamp([
            metadata.creation_time(),
            metadata.file_size(),
            metadata.last_write_time(),
            0,
        ]),
        identity: (0, 0),
        owner: 0,
        permissions: 0o700,
    }
}
