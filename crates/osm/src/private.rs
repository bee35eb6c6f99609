//! Files and folders that only the user can read.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

/// Removes the user's own permissions from the umask.
///
/// A umask such as 0277 would make files that osm, `SQLite` and Git cannot write to a second time. The
/// umask is one for the process, so this runs once, before there is a second thread.
pub(crate) fn keep_own_permissions() {
    #[cfg(unix)]
    {
        use rustix::fs::Mode;
        use rustix::process::umask;
        let mask = umask(Mode::RWXG | Mode::RWXO);
        umask(mask - Mode::RWXU);
    }
}

/// Creates a folder and its missing parents with mode 0700.
pub(crate) fn folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens a file with `options`; a file that this creates has mode 0600.
pub(crate) fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options.open(path)
}

/// Makes sure that the names of new files in a folder survive a power failure. Windows does so by
/// itself.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}
