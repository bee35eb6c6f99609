//! Opens the file of a new goal, which must not exist.
//!
//! The working tree can be a stranger's. So in it no link is followed, not even one that another process
//! puts there at this moment. The user's own folder can be a link, such as to a repository of settings.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::private;

/// In a folder of the user's. Only the user can read the file.
pub(crate) fn own(folder: &Path, name: &str) -> io::Result<File> {
    private::folder(folder)?;
    private::open(File::options().write(true).create_new(true), &folder.join(name))
}

/// In folders below the working directory, with the user's default permissions.
pub(crate) fn shared(base: &Path, folders: &[&str], name: &str) -> io::Result<File> {
    platform::open_below(base, folders, name)
}

#[cfg(unix)]
mod platform {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    use rustix::io::Errno;

    pub(super) fn open_below(base: &Path, folders: &[&str], name: &str) -> io::Result<File> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut here = openat(CWD, base, flags, Mode::empty())?;
        for folder in folders {
            match mkdirat(&here, *folder, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            here = openat(&here, *folder, flags | OFlags::NOFOLLOW, Mode::empty())?;
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(openat(&here, name, flags, Mode::from_raw_mode(0o666))?.into())
    }
}

#[cfg(not(unix))]
mod platform {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn open_below(base: &Path, folders: &[&str], name: &str) -> io::Result<File> {
        let mut here = base.to_owned();
        for folder in folders {
            here.push(folder);
            if here.is_symlink() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
        }
        std::fs::create_dir_all(&here)?;
        File::options().write(true).create_new(true).open(here.join(name))
    }
}
