//! The ledger's file: private to its user, and never a link or another user's.

use std::io;
use std::path::{Path, PathBuf};

pub(super) use platform::{file_facts, is_shared, keep_private, sync};

use super::mark;
use crate::error::{Corruption, Error, Hazard, Result};

/// Its name.
pub(super) const NAME: &str = "claims.db";

/// What tells a file from another one, and from itself after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileFacts {
    /// Its file system, which can have another number after a restart.
    pub(super) device: u64,
    /// Its number there; 0 where files have none.
    pub(super) inode: u64,
    /// How long it is.
    pub(super) length: u64,
    /// When its content last changed.
    pub(super) modified: u64,
    /// When anything of it last changed.
    pub(super) changed: u64,
}

impl FileFacts {
    /// What it has in common with no other file while it exists.
    pub(super) fn id(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// Whether it is the same file with the same content.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        Self { device: 0, ..*self } == Self { device: 0, ..*other }
    }
}

/// Makes sure that the ledger of a folder is there and is what it must be; returns its path.
pub(super) fn prepare(folder: &Path) -> Result<PathBuf> {
    make_folder(folder).map_err(|error| Error::io("create the folder of", error))?;
    // The folder may be reached by links, the ledger itself may be none.
    let folder = folder.canonicalize().map_err(|error| Error::io("find the folder of", error))?;
    let path = folder.join(NAME);
    if is_shared(&folder) {
        return Err(Error::Unsafe(Hazard::NetworkFileSystem));
    }
    not_in_repair(&path)?;
    if !inspect(&path)? {
        no_remains(&path)?;
        not_lost(&path)?;
        make(&folder, &path)?;
        inspect(&path)?;
    }
    Ok(path)
}

/// Whether the file is there; an error if it is something else than a file of ours.
pub(super) fn inspect(path: &Path) -> Result<bool> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(Error::io("look at", error)),
    };
    if metadata.is_symlink() {
        return Err(Error::Unsafe(Hazard::SymbolicLink));
    }
    if !metadata.is_file() {
        return Err(Error::Unsafe(Hazard::NotAFile));
    }
    platform::protect(path, &metadata)?;
    Ok(true)
}

/// The folder with the files of a ledger while its repair is under way (`repair.rs`).
pub(super) fn in_repair(ledger: &Path) -> PathBuf {
    ledger.with_extension("repairing")
}

/// Refuses a ledger whose repair is under way, or was interrupted.
pub(super) fn not_in_repair(ledger: &Path) -> Result<()> {
    match in_repair(ledger).symlink_metadata() {
        Ok(_) => Err(Corruption::Interrupted.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::io("look at", error)),
    }
}

/// Refuses to make a ledger where one was removed without its log: the log would be taken for the
/// new one's.
fn no_remains(path: &Path) -> Result<()> {
    let log = path.with_extension("db-wal");
    // Another process may just have created the ledger, and its log.
    if !log.exists() || inspect(path)? {
        return Ok(());
    }
    Err(Corruption::LogWithoutLedger.into())
}

/// Refuses to make a ledger in the place of one that had claims.
fn not_lost(path: &Path) -> Result<()> {
    match mark::recorded(path)?.filter(|newest| newest.events > 0) {
        // Another process may have created the ledger and changed it by now.
        Some(newest) if !inspect(path)? => {
            Err(Corruption::Missing { recorded: newest.events }.into())
        }
        _ => Ok(()),
    }
}

/// Creates the ledger under another name and renames it, so that no process ever sees half of one,
/// and the first of several wins.
fn make(folder: &Path, path: &Path) -> Result<()> {
    let error = |error| Error::io("create", error);
    let name = temporary_name()?;
    let file =
        tempfile::Builder::new().prefix(&name).rand_bytes(0).tempfile_in(folder).map_err(error)?;
    super::create(file.path()).map_err(|error| super::fault::explain(path, error))?;
    file.as_file().sync_all().map_err(error)?;
    // Closed before it can be opened as a ledger: closing it would drop the locks that SQLite has
    // for another thread (`lock.rs`).
    match file.into_temp_path().persist_noclobber(path) {
        Ok(()) => platform::sync(folder).map_err(error),
        Err(lost) if lost.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(lost) => Err(error(lost.error)),
    }
}

/// A name that the cleanup of sessions takes for what a crash left behind, after an hour.
pub(super) fn temporary_name() -> Result<String> {
    let random = u64::from_ne_bytes(crate::ledger::random()?);
    Ok(format!(".tmp-{}-{:016x}-{:016x}", std::process::id(), 0, random))
}

/// The files of a ledger: the database, its log, its mark.
pub(super) fn files(ledger: &Path) -> [PathBuf; 3] {
    ["db", "db-wal", "mark"].map(|extension| ledger.with_extension(extension))
}

/// Creates a folder for the user alone; an error if it exists.
pub(super) fn make_new_folder(folder: &Path) -> io::Result<()> {
    if folder.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    make_folder(folder)
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)
}

#[cfg(unix)]
mod platform {
    use std::fs::{Metadata, Permissions};
    use std::io;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::path::Path;

    use super::FileFacts;
    use crate::error::{Error, Hazard, Result};

    /// Refuses what is not ours, and closes what is open to others.
    pub(super) fn protect(path: &Path, metadata: &Metadata) -> Result<()> {
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(Error::Unsafe(Hazard::AnotherUser));
        }
        if metadata.nlink() > 1 {
            return Err(Error::Unsafe(Hazard::HardLink));
        }
        if metadata.mode() & 0o077 != 0 {
            std::fs::set_permissions(path, Permissions::from_mode(0o600))
                .map_err(|error| Error::io("protect", error))?;
        }
        Ok(())
    }

    pub(in super::super) fn sync(folder: &Path) -> io::Result<()> {
        std::fs::File::open(folder)?.sync_all()
    }

    pub(in super::super) fn file_facts(path: &Path) -> Option<FileFacts> {
        let time = |seconds: i64, nanoseconds: i64| {
            seconds.wrapping_mul(1_000_000_000).wrapping_add(nanoseconds).cast_unsigned()
        };
        path.symlink_metadata().ok().map(|it| FileFacts {
            device: it.dev(),
            inode: it.ino(),
            length: it.len(),
            modified: time(it.mtime(), it.mtime_nsec()),
            changed: time(it.ctime(), it.ctime_nsec()),
        })
    }

    /// Opens no link, and creates for the user alone.
    pub(in super::super) fn keep_private(options: &mut std::fs::OpenOptions) {
        use std::os::unix::fs::OpenOptionsExt;
        let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        options.mode(0o600).custom_flags(no_link);
    }

    /// Whether another machine may have the folder, too. Its processes would share neither our
    /// locks nor the memory in which writers meet, and nothing could be proven of them.
    #[cfg(target_os = "linux")]
    pub(in super::super) fn is_shared(folder: &Path) -> bool {
        /// NFS, SMB, CIFS, SMB 2, AFS, Coda, Ceph, 9P, OCFS2, GFS2, Lustre, GPFS, `BeeGFS`, `OrangeFS`;
        /// folders of a virtual machine's host (FUSE with virtiofs, `VirtualBox`, `VMware`). FUSE is
        /// also what sshfs and the like are, and nothing tells them from those of this machine alone.
        const SHARED: [u32; 17] = [
            0x6969,
            0x517b,
            0xff53_4d42,
            0xfe53_4d42,
            0x5346_414f,
            0x7375_7245,
            0x00c3_6400,
            0x0102_1997,
            0x7461_636f,
            0x0116_1970,
            0x0bd0_0bd0,
            0x4750_4653,
            0x1983_0326,
            0x2003_0528,
            0x6573_5546,
            0x786f_4256,
            0xbacb_acbc,
        ];
        // The kind is a number of 32 bits; its type is wider, and signed, on some machines.
        let is_it = |kind: u32, found: i64| i64::from(kind) == found & 0xffff_ffff;
        rustix::fs::statfs(folder)
            .is_ok_and(|facts| SHARED.iter().any(|kind| is_it(*kind, facts.f_type)))
    }

    /// Elsewhere nothing tells.
    #[cfg(not(target_os = "linux"))]
    pub(in super::super) fn is_shared(_folder: &Path) -> bool {
        false
    }
}

#[cfg(not(unix))]
mod platform {
    use std::fs::Metadata;
    use std::io;
    use std::path::Path;

    use super::FileFacts;
    use crate::error::Result;

    /// A user's own folder is closed to others by what it inherits.
    pub(super) fn protect(_path: &Path, _metadata: &Metadata) -> Result<()> {
        Ok(())
    }

    /// Nothing tells.
    pub(in super::super) fn is_shared(_folder: &Path) -> bool {
        false
    }

    /// A file that is open cannot be removed or replaced, so that it needs no number.
    pub(in super::super) fn file_facts(path: &Path) -> Option<FileFacts> {
        let metadata = path.symlink_metadata().ok()?;
        let since = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        let modified = u64::try_from(since.as_nanos()).unwrap_or(0);
        Some(FileFacts { device: 0, inode: 0, length: metadata.len(), modified, changed: 0 })
    }

    /// A user's own folder is closed to others.
    pub(in super::super) fn keep_private(_options: &mut std::fs::OpenOptions) {}

    /// The file system's journal keeps the order.
    pub(in super::super) fn sync(_folder: &Path) -> io::Result<()> {
        Ok(())
    }
}
