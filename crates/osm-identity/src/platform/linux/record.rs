//! Files that agents write about themselves, read only if no other user can have written them.

use std::fs::{File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::OFlags;

use crate::process::{Pid, ReadError};

/// Larger files are not records.
const MOST_BYTES: u64 = 64 * 1024;

/// Writable by the group or by others.
const BY_OTHERS: u32 = 0o022;

/// The content of a file that belongs to the user of a process.
pub(super) fn read(pid: Pid, path: &Path) -> Result<Vec<u8>, ReadError> {
    let user = std::fs::metadata(format!("/proc/{pid}"))?.uid();
    // A pipe in its place must not block us.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
    let file = OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path);
    let file = file.map_err(|error| match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => {
            ReadError::Untrusted("it is a symbolic link")
        }
        _ => error.into(),
    })?;
    content(&file, user)
}

fn content(file: &File, user: u32) -> Result<Vec<u8>, ReadError> {
    let about = file.metadata()?;
    let doubts = [
        (!about.is_file(), "it is not a regular file"),
        (about.uid() != user, "it belongs to another user"),
        (about.mode() & BY_OTHERS != 0, "other users can write it"),
        (about.len() > MOST_BYTES, "it is too large"),
    ];
    if let Some((_, reason)) = doubts.iter().find(|(doubt, _)| *doubt) {
        return Err(ReadError::Untrusted(reason));
    }
    let mut bytes = Vec::new();
    file.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn only_a_file_that_is_the_users_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("7.json");
        let read = |path: &Path| read(Pid(std::process::id()), path);
        assert_eq!(read(&path), Err(ReadError::Absent));
        std::fs::write(&path, "{}").unwrap();
        assert_eq!(read(&path), Ok(b"{}".to_vec()));

        let link = folder.path().join("link");
        symlink(&path, &link).unwrap();
        assert_eq!(read(&link), Err(ReadError::Untrusted("it is a symbolic link")));
        assert_eq!(read(folder.path()), Err(ReadError::Untrusted("it is not a regular file")));
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            &pipe,
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        assert_eq!(read(&pipe), Err(ReadError::Untrusted("it is not a regular file")));

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o620)).unwrap();
        assert_eq!(read(&path), Err(ReadError::Untrusted("other users can write it")));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::write(&path, vec![b' '; 70_000]).unwrap();
        assert_eq!(read(&path), Err(ReadError::Untrusted("it is too large")));
        std::fs::write(&path, "{}").unwrap();
        let about = File::open(&path).unwrap();
        let other = about.metadata().unwrap().uid() + 1;
        assert_eq!(content(&about, other), Err(ReadError::Untrusted("it belongs to another user")));
    }
}
