//! Looking at a folder.

use std::path::Path;

use super::folder::Folder;

/// What can be seen of the folder of a repository, and of the top of its worktree.
#[cfg(unix)]
pub(super) fn look(folder: &Path, top: Option<&Path>, boot: &str) -> Option<Folder> {
    use std::fs::Metadata;
    use std::os::unix::fs::MetadataExt;
    use std::time::UNIX_EPOCH;

    use super::folder::{Kind, Top};

    let born = |metadata: &Metadata| {
        let born = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
        Some(born).filter(|born| *born != 0)
    };
    let metadata = folder.metadata().ok()?;
    let kind = if born(&metadata).is_some() && platform::is_lasting(folder) {
        Kind::Lasting(match top {
            None => Top::Absent,
            Some(top) => top
                .metadata()
                .ok()
                .filter(|it| it.dev() == metadata.dev() || platform::is_lasting(top))
                .and_then(|it| Some(Top::Known(it.ino(), born(&it)?)))
                .unwrap_or(Top::Unknown),
        })
    } else {
        platform::changing(folder, metadata.dev())
    };
    let (device, inode) = (metadata.dev(), metadata.ino());
    Some(Folder { boot: boot.to_owned(), device, inode, born: born(&metadata), kind })
}

/// Elsewhere a folder is known by its path alone.
#[cfg(not(unix))]
pub(super) fn look(_folder: &Path, _top: Option<&Path>, _boot: &str) -> Option<Folder> {
    None
}

#[cfg(target_os = "linux")]
mod platform {
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use super::super::folder::Kind;
    use super::super::mounts;

    /// ext2 to ext4, XFS, Btrfs, F2FS, tmpfs: no call changes the inode or the time of birth of a
    /// folder there. overlayfs is not among them: its folders get a time of birth, and on two file
    /// systems an inode, whenever they are copied up or leave the cache.
    const LASTING: [u32; 5] = [0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0x0102_1994];

    pub(super) fn is_lasting(folder: &Path) -> bool {
        // The kind is a number of 32 bits; its type is wider, and signed, on some machines.
        let is_it = |kind: u32, found: i64| i64::from(kind) == found & 0xffff_ffff;
        rustix::fs::statfs(folder)
            .is_ok_and(|facts| LASTING.iter().any(|kind| is_it(*kind, facts.f_type)))
    }

    pub(super) fn changing(folder: &Path, device: u64) -> Kind {
        let file_system = rustix::fs::statvfs(folder).ok().map(|facts| facts.f_fsid);
        let file_system = file_system.filter(|id| *id != 0).map(|id| format!("{id:x}"));
        let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
        let table = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
        let place = mounts::place(&table, &number, folder.as_os_str().as_bytes());
        let place = place.map(|place| place.escape_ascii().to_string());
        Kind::Changing {
            file_system: file_system.unwrap_or_default(),
            place: place.unwrap_or_default(),
        }
    }
}

/// Elsewhere no file system is known to promise anything: on macOS a time of birth can be set.
#[cfg(all(unix, not(target_os = "linux")))]
mod platform {
    use std::path::Path;

    use super::super::folder::Kind;

    pub(super) fn is_lasting(_folder: &Path) -> bool {
        false
    }

    pub(super) fn changing(_folder: &Path, _device: u64) -> Kind {
        Kind::Changing { file_system: String::new(), place: String::new() }
    }
}
