//! FreeBSD 12 and later.

use std::ffi::{CStr, OsString, c_int};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use super::{boot_by_messages, path, strings, sysctl};
use crate::parse::kinfo::{self, Layout};
use crate::parse::{bsd_kinfo, nul_list};
use crate::process::{Host, ReadError, StartTime};

pub(super) const LAYOUT: Layout = bsd_kinfo::FREEBSD;

#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<libc::kinfo_proc>() == LAYOUT.size);
    assert!(offset_of!(libc::kinfo_proc, ki_pid) == LAYOUT.pid.offset);
    assert!(offset_of!(libc::kinfo_proc, ki_ppid) == LAYOUT.parent.offset);
    assert!(offset_of!(libc::kinfo_proc, ki_tdev) == LAYOUT.terminal.offset);
    assert!(offset_of!(libc::kinfo_proc, ki_start) == LAYOUT.start_seconds.offset);
    assert!(offset_of!(libc::timeval, tv_usec) == 8 && size_of::<libc::timeval>() == 16);
    assert!(offset_of!(libc::kinfo_proc, ki_stat) == LAYOUT.state.offset);
    assert!(offset_of!(libc::kinfo_proc, ki_comm) == LAYOUT.name);
    assert!(offset_of!(libc::kinfo_proc, ki_emul) == LAYOUT.name + LAYOUT.name_length);
    match LAYOUT.session {
        Some(session) => assert!(offset_of!(libc::kinfo_proc, ki_sid) == session.offset),
        None => panic!("FreeBSD tells the session"),
    }
};

pub(super) fn row(pid: c_int) -> Result<Vec<u8>, ReadError> {
    sysctl::read(&[libc::CTL_KERN, libc::KERN_PROC, libc::KERN_PROC_PID, pid], LAYOUT.size)
}

/// See [`kinfo::since_boot`]. The kernel adds microseconds to microseconds, so nothing is lost.
pub(super) fn start(start: StartTime) -> Result<StartTime, ReadError> {
    let boot = sysctl::read(&[libc::CTL_KERN, libc::KERN_BOOTTIME], 16)?;
    kinfo::since_boot(start, &boot, 1)
}

pub(super) fn arguments(pid: c_int) -> Result<Vec<OsString>, ReadError> {
    let question = [libc::CTL_KERN, libc::KERN_PROC, libc::KERN_PROC_ARGS, pid];
    Ok(strings(&sysctl::read_all(&question)?))
}

pub(super) fn environment(pid: c_int) -> Result<Vec<OsString>, ReadError> {
    let question = [libc::CTL_KERN, libc::KERN_PROC, libc::KERN_PROC_ENV, pid];
    Ok(strings(&sysctl::read_all(&question)?))
}

pub(super) fn executable(pid: c_int) -> Result<PathBuf, ReadError> {
    let question = [libc::CTL_KERN, libc::KERN_PROC, libc::KERN_PROC_PATHNAME, pid];
    path(&sysctl::read_all(&question)?)
}

/// Pids are the machine's, but a jail sees only its own. A jail is told apart by its root
/// directory, because it does not know its own number.
pub(super) fn host() -> Result<Host, ReadError> {
    let contained = is_set(c"security.jail.jailed") == Some(true);
    let namespace = if contained {
        let root = std::fs::metadata("/")?;
        format!("jail:{}:{}", root.dev(), root.ino())
    } else {
        String::new()
    };
    Ok(Host { boot: boot()?, namespace, contained })
}

/// Sixteen random bytes since FreeBSD 13; before, the best that there is.
fn boot() -> Result<String, ReadError> {
    let random = sysctl::read_named(c"kern.boot_id", 16).ok();
    if let Some(random) = random.and_then(|bytes| <[u8; 16]>::try_from(bytes).ok()) {
        return Ok(format!("{:032x}", u128::from_be_bytes(random)));
    }
    let machine = sysctl::read_named(c"kern.hostuuid", 64)?;
    let machine = nul_list::items(&machine).next().unwrap_or_default();
    let boot = boot_by_messages().ok_or(ReadError::Unsupported)?;
    Ok(format!("{}:{boot}", String::from_utf8_lossy(machine)))
}

/// Jails, and switches of the administrator, make processes of others look as if there were none.
pub(super) fn nothing_is_hidden() -> bool {
    is_set(c"security.jail.jailed") == Some(false)
        && is_set(c"security.bsd.see_other_uids") == Some(true)
        && is_set(c"security.bsd.see_other_gids") == Some(true)
        && is_set(c"security.bsd.see_jail_proc") != Some(false)
}

/// A switch of the kernel, an `int`.
fn is_set(name: &CStr) -> Option<bool> {
    let bytes = sysctl::read_named(name, size_of::<c_int>()).ok()?;
    Some(c_int::from_ne_bytes(bytes.try_into().ok()?) != 0)
}
