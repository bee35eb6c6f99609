//! OpenBSD.

use std::ffi::{OsString, c_int};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use super::{boot_by_messages, sysctl};
use crate::parse::kinfo::{self, Layout};
use crate::parse::{bsd_kinfo, procargs};
use crate::process::{Host, ReadError, StartTime};

pub(super) const LAYOUT: Layout = bsd_kinfo::OPENBSD;

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<libc::kinfo_proc>() >= LAYOUT.size);
    assert!(offset_of!(libc::kinfo_proc, p_pid) == LAYOUT.pid.offset);
    assert!(offset_of!(libc::kinfo_proc, p_ppid) == LAYOUT.parent.offset);
    assert!(offset_of!(libc::kinfo_proc, p_tdev) == LAYOUT.terminal.offset);
    assert!(offset_of!(libc::kinfo_proc, p_ustart_sec) == LAYOUT.start_seconds.offset);
    assert!(offset_of!(libc::kinfo_proc, p_ustart_usec) == LAYOUT.start_micros.offset);
    assert!(offset_of!(libc::kinfo_proc, p_stat) == LAYOUT.state.offset);
    assert!(offset_of!(libc::kinfo_proc, p_comm) == LAYOUT.name);
    assert!(offset_of!(libc::kinfo_proc, p_wmesg) == LAYOUT.name + LAYOUT.name_length);
    match LAYOUT.session {
        Some(session) => assert!(offset_of!(libc::kinfo_proc, p_sid) == session.offset),
        None => panic!("OpenBSD tells the session"),
    }
};

/// The kernel gives as much of the structure as is asked for.
pub(super) fn row(pid: c_int) -> Result<Vec<u8>, ReadError> {
    let size = c_int::try_from(LAYOUT.size).map_err(|_| ReadError::Unsupported)?;
    let question = [libc::CTL_KERN, libc::KERN_PROC, libc::KERN_PROC_PID, pid, size, 1];
    sysctl::read(&question, LAYOUT.size)
}

/// See [`kinfo::since_boot`]. The kernel adds nanoseconds and then cuts, so that the last
/// microsecond may go either way: steps of 10 ms, as on Linux, hide that.
pub(super) fn start(start: StartTime) -> Result<StartTime, ReadError> {
    let boot = sysctl::read(&[libc::CTL_KERN, libc::KERN_BOOTTIME], 16)?;
    kinfo::since_boot(start, &boot, 10_000)
}

pub(super) fn arguments(pid: c_int) -> Result<Vec<OsString>, ReadError> {
    vector(pid, libc::KERN_PROC_ARGV)
}

pub(super) fn environment(pid: c_int) -> Result<Vec<OsString>, ReadError> {
    vector(pid, libc::KERN_PROC_ENV)
}

fn vector(pid: c_int, which: c_int) -> Result<Vec<OsString>, ReadError> {
    let bytes = sysctl::read_all(&[libc::CTL_KERN, libc::KERN_PROC_ARGS, pid, which])?;
    let strings = procargs::openbsd(&bytes, bytes.as_ptr().addr());
    Ok(strings.iter().map(|item| OsString::from_vec(item.to_vec())).collect())
}

/// OpenBSD does not tell, on purpose.
pub(super) fn executable(_pid: c_int) -> Result<PathBuf, ReadError> {
    Err(ReadError::Unsupported)
}

/// The kernel has no name for a boot.
pub(super) fn host() -> Result<Host, ReadError> {
    let boot = boot_by_messages().ok_or(ReadError::Unsupported)?;
    Ok(Host { boot, namespace: String::new(), contained: false })
}

/// Processes cannot be hidden here.
pub(super) fn nothing_is_hidden() -> bool {
    true
}
