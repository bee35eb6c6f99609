//! Which sessions are open, told for all of them at once.
//!
//! A session is open while a process shares its presence lock. To ask each lock is to take it for a
//! moment, which costs three system calls a session and makes an opener who comes just then sleep a
//! millisecond. Linux prints all locks of the machine in one file, by device and inode, and a
//! folder's listing has the inodes of its files: two reads answer for a hundred thousand sessions,
//! and no process is disturbed.
//!
//! The file is believed only where it must be complete and its numbers must be those of the folder:
//!
//! - in the machine's first pid namespace (elsewhere the locks of processes outside are left out),
//! - on file systems that are known to print the device and the inodes that they list (btrfs and
//!   overlayfs have others),
//! - if a lock that we take for this purpose on the folder itself is there,
//! - if it was read in one piece, or twice with the same result: the system hands out a page at a
//!   time, and a lock that is released between two pages moves another one out of sight.
//!
//! Otherwise each lock is asked. Either answer is of the past when it arrives: a removal takes the
//! lock, whatever a list said.

use std::collections::HashSet;

use super::folder::Folder;

/// What is known of the locks of a folder.
#[derive(Debug)]
pub(crate) enum Activity {
    /// The inodes of all files in it that are locked.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "no other system tells"))]
    Known(HashSet<u64>),
    /// Nothing: each lock must be asked.
    Unknown,
}

impl Activity {
    /// Looks at the locks of a folder.
    #[cfg(target_os = "linux")]
    pub(crate) fn of(folder: &Folder) -> Self {
        linux::look(folder).map_or(Self::Unknown, Self::Known)
    }

    /// No other system tells.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of(_folder: &Folder) -> Self {
        Self::Unknown
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::HashSet;
    use std::fs::File;
    use std::io::{self, Read};

    use osm_identity::{ProcessSource, System};
    use rustix::fs::{Mode, OFlags};

    use super::super::folder::Folder;
    use super::{Held, locks};

    const EXT: u64 = 0xef53;
    const F2FS: u64 = 0xf2f5_2010;
    const TMPFS: u64 = 0x0102_1994;
    const XFS: u64 = 0x5846_5342;

    pub(super) fn look(folder: &Folder) -> Option<HashSet<u64>> {
        let kind = rustix::fs::fstatfs(folder.handle()).ok()?.f_type;
        if ![EXT, F2FS, TMPFS, XFS].contains(&u64::try_from(kind).ok()?) {
            return None;
        }
        if System::new().host().ok()?.contained {
            return None;
        }
        // A descriptor of its own, for a lock belongs to what was opened.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let probe =
            File::from(rustix::fs::openat(folder.handle(), ".", flags, Mode::empty()).ok()?);
        probe.try_lock_shared().ok()?;
        let text = all_locks()?;
        drop(probe);

        let (device, inode) = folder.identity();
        let device = (rustix::fs::major(device), rustix::fs::minor(device));
        let ours = Held { pid: std::process::id(), device, inode };
        let (mut found_ours, mut inodes) = (false, HashSet::new());
        for held in locks(&text).filter(|held| held.device == device) {
            found_ours |= held == ours;
            inodes.insert(held.inode);
        }
        found_ours.then_some(inodes)
    }

    /// How often the list of locks is read before it counts as too restless to be believed.
    const MOST_READINGS: usize = 4;
    /// More than the system hands out in one piece.
    const PIECE: usize = 1 << 16;

    /// The text of `/proc/locks`, if no lock can be missing in it.
    fn all_locks() -> Option<Vec<u8>> {
        let mut before = None;
        for _ in 0..MOST_READINGS {
            let (text, pieces) = read_locks().ok()?;
            if pieces <= 1 || before.as_ref() == Some(&text) {
                return Some(text);
            }
            before = Some(text);
        }
        None
    }

    /// The text of `/proc/locks`, and in how many pieces it came.
    fn read_locks() -> io::Result<(Vec<u8>, usize)> {
        let mut file = File::open("/proc/locks")?;
        let (mut text, mut pieces) = (Vec::new(), 0);
        let mut piece = vec![0; PIECE];
        loop {
            match file.read(&mut piece)? {
                0 => return Ok((text, pieces)),
                size => text.extend_from_slice(&piece[..size]),
            }
            pieces += 1;
        }
    }
}

/// One lock of a whole file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    pid: u32,
    device: (u32, u32),
    inode: u64,
}

/// Reads the locks of `flock` out of the text of `/proc/locks`:
///
/// ```text
/// 1: FLOCK  ADVISORY  WRITE 708 fd:00:131073 0 EOF
/// 1: -> FLOCK  ADVISORY  WRITE 709 fd:00:131073 0 EOF       one who waits
/// ```
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "parsing is portable"))]
fn locks(text: &[u8]) -> impl Iterator<Item = Held> {
    text.split(|byte| *byte == b'\n').filter_map(|line| {
        let line = std::str::from_utf8(line).ok()?;
        let mut words = line.split_ascii_whitespace().skip(1);
        if words.next()? != "FLOCK" {
            return None;
        }
        let pid = words.nth(2)?.parse().ok()?;
        let mut file = words.next()?.split(':');
        let major = u32::from_str_radix(file.next()?, 16).ok()?;
        let minor = u32::from_str_radix(file.next()?, 16).ok()?;
        Some(Held { pid, device: (major, minor), inode: file.next()?.parse().ok()? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_granted_locks_of_whole_files_count() {
        let text = b"1: FLOCK  ADVISORY  WRITE 708 fd:1f:131073 0 EOF\n\
            1: -> FLOCK  ADVISORY  WRITE 709 fd:1f:131073 0 EOF\n\
            2: POSIX  ADVISORY  READ  5433 08:01:7864448 128 128\n\
            3: FLOCK  ADVISORY  READ  10 08:01:9 0 EOF\n\
            4: OFDLCK ADVISORY  READ  -1 08:01:10 0 EOF\n\
            5: LEASE  ACTIVE    READ  77 08:01:11 0 EOF\n\
            6: FLOCK\n\nrubbish \xff\n7: FLOCK  ADVISORY  READ  10 08:01\n";
        let found: Vec<_> = locks(text).collect();
        assert_eq!(
            found,
            [
                Held { pid: 708, device: (0xfd, 0x1f), inode: 131_073 },
                Held { pid: 10, device: (8, 1), inode: 9 },
            ]
        );
    }
}
