//! Opens a file whose path must not lead through a link.
//!
//! Links are resolved when a file is planned (`plan.rs`, `walk.rs`), and then it is decided whether a
//! link may be followed. Since then another process can have replaced a folder of the path by a link to
//! anywhere. So the system is asked to follow none: at once where it can (`openat2`), else step by step.
//!
//! Systems other than Linux only refuse a link in place of the file itself.

use std::fs::File;
use std::io;
use std::path::Path;

/// Opens a file for reading, by a path without links. A link in it is an error, and a FIFO does not
/// block.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    platform::open(path)
}

#[cfg(target_os = "linux")]
mod platform {
    use std::fs::File;
    use std::io;
    use std::os::fd::OwnedFd;
    use std::path::{Component, Path};

    use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, openat, openat2, statat};
    use rustix::io::Errno;

    /// How the file is opened.
    const FLAGS: OFlags = OFlags::RDONLY
        .union(OFlags::CLOEXEC)
        .union(OFlags::NONBLOCK)
        .union(OFlags::NOFOLLOW)
        .union(OFlags::NOCTTY);

    pub(super) fn open(path: &Path) -> io::Result<File> {
        open_by(at_once, path)
    }

    type Opener = fn(&Path) -> rustix::io::Result<OwnedFd>;

    /// Opens a file in one step, or step by step where that is not possible: older systems do not know
    /// the call, and some sandboxes refuse it.
    pub(super) fn open_by(one_step: Opener, path: &Path) -> io::Result<File> {
        let opened = match one_step(path) {
            Err(Errno::NOSYS | Errno::PERM) => step_by_step(path),
            opened => opened,
        };
        Ok(File::from(opened?))
    }

    pub(super) fn at_once(path: &Path) -> rustix::io::Result<OwnedFd> {
        openat2(CWD, path, FLAGS, Mode::empty(), ResolveFlags::NO_SYMLINKS)
    }

    fn step_by_step(path: &Path) -> rustix::io::Result<OwnedFd> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return openat(CWD, path, FLAGS, Mode::empty());
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut here: Option<OwnedFd> = None;
        for part in folder.components() {
            let name = if part == Component::RootDir { "/".as_ref() } else { part.as_os_str() };
            let next = match &here {
                Some(here) => openat(here, name, flags, Mode::empty()).map_err(|error| {
                    let is_link = statat(here, name, AtFlags::SYMLINK_NOFOLLOW)
                        .is_ok_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::Symlink);
                    if error == Errno::NOTDIR && is_link { Errno::LOOP } else { error }
                }),
                None => openat(CWD, name, flags, Mode::empty()),
            };
            here = Some(next?);
        }
        match here {
            Some(here) => openat(here, name, FLAGS, Mode::empty()),
            None => openat(CWD, name, FLAGS, Mode::empty()),
        }
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
mod platform {
    use std::fs::{File, OpenOptions};
    use std::io;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    use rustix::fs::OFlags;

    pub(super) fn open(path: &Path) -> io::Result<File> {
        let flags = OFlags::NONBLOCK.union(OFlags::NOFOLLOW).union(OFlags::NOCTTY).bits();
        OpenOptions::new().read(true).custom_flags(flags.cast_signed()).open(path)
    }
}

#[cfg(not(unix))]
mod platform {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn open(path: &Path) -> io::Result<File> {
        File::open(path)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use rustix::io::Errno;

    use super::*;

    /// Every way to open a file, also those of systems without the one step.
    const WAYS: [fn(&Path) -> io::Result<File>; 3] = [
        |path| platform::open_by(platform::at_once, path),
        |path| platform::open_by(|_| Err(Errno::NOSYS), path),
        |path| platform::open_by(|_| Err(Errno::PERM), path),
    ];

    #[test]
    fn no_link_is_followed_in_any_place() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), "text").unwrap();
        symlink("a", root.join("link")).unwrap();
        symlink(&root, root.join("a/up")).unwrap();
        symlink("file", root.join("a/b/other")).unwrap();
        for open in WAYS {
            let mut text = String::new();
            open(&root.join("a/b/file")).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "text");
            for (path, error) in [
                ("link/b/file", Errno::LOOP),
                ("a/up/a/b/file", Errno::LOOP),
                ("a/b/other", Errno::LOOP),
                ("a/b/file/below", Errno::NOTDIR),
                ("a/b/file/below/it", Errno::NOTDIR),
                ("a/none/file", Errno::NOENT),
                ("a/b/none", Errno::NOENT),
            ] {
                let refused = open(&root.join(path)).unwrap_err();
                assert_eq!(refused.raw_os_error(), Some(error.raw_os_error()), "{path}");
            }
            assert!(open(Path::new("/")).unwrap().metadata().unwrap().is_dir());
        }
    }
}
