//! NetBSD.

use std::ffi::{OsString, c_int};
use std::path::PathBuf;

use super::{boot_by_messages, path, strings, sysctl};
use crate::parse::kinfo::Layout;
use crate::parse::{bsd_kinfo, nul_list};
use crate::process::{Host, ReadError, StartTime};

pub(super) const LAYOUT: Layout = bsd_kinfo::NETBSD;

const _: () = {
    use std::mem::offset_of;
    assert!(size_of::<libc::kinfo_proc2>() >= LAYOUT.size);
    assert!(offset_of!(libc::kinfo_proc2, p_pid) == LAYOUT.pid.offset);
    assert!(offset_of!(libc::kinfo_proc2, p_ppid) == LAYOUT.parent.offset);
    assert!(offset_of!(libc::kinfo_proc2, p_tdev) == LAYOUT.terminal.offset);
    assert!(offset_of!(libc::kinfo_proc2, p_ustart_sec) == LAYOUT.start_seconds.offset);
    assert!(offset_of!(libc::kinfo_proc2, p_ustart_usec) == LAYOUT.start_micros.offset);
    assert!(offset_of!(libc::kinfo_proc2, p_realstat) == LAYOUT.state.offset);
    assert!(offset_of!(libc::kinfo_proc2, p_comm) == LAYOUT.name);
    assert!(offset_of!(libc::kinfo_proc2, p_wmesg) == LAYOUT.name + LAYOUT.name_length);
    match LAYOUT.session {
        Some(session) => assert!(offset_of!(libc::kinfo_proc2, p_sid) == session.offset),
        None => panic!("NetBSD tells the session"),
    }
};

/// The kernel gives as much of the structure as is asked for.
pub(super) fn row(pid: c_int) -> Result<Vec<u8>, ReadError> {
    let size = c_int::try_from(LAYOUT.size).map_err(|_| ReadError::Unsupported)?;
    let question = [libc::CTL_KERN, libc::KERN_PROC2, libc::KERN_PROC_PID, pid, size, 1];
    sysctl::read(&question, LAYOUT.size)
}

/// The wall clock's at the moment of the fork, which stays what it is.
#[expect(clippy::unnecessary_wraps, reason = "the other systems have to ask")]
pub(super) fn start(start: StartTime) -> Result<StartTime, ReadError> {
    Ok(start)
}

pub(super) fn arguments(pid: c_int) -> Result<Vec<OsString>, ReadError> {
    about(pid, libc::KERN_PROC_ARGV).map(|bytes| strings(&bytes))
}

pub(super) fn environment(pid: c_int) -> Result<Vec<OsString>, ReadError> {
    about(pid, libc::KERN_PROC_ENV).map(|bytes| strings(&bytes))
}

pub(super) fn executable(pid: c_int) -> Result<PathBuf, ReadError> {
    path(&about(pid, libc::KERN_PROC_PATHNAME)?)
}

fn about(pid: c_int, what: c_int) -> Result<Vec<u8>, ReadError> {
    sysctl::read_all(&[libc::CTL_KERN, libc::KERN_PROC_ARGS, pid, what])
}

/// Start times are absolute here, so the name of the machine would do to tell one boot from the
/// next.
pub(super) fn host() -> Result<Host, ReadError> {
    let boot = boot_by_messages().map_or_else(host_name, Ok)?;
    Ok(Host { boot, namespace: String::new(), contained: false })
}

fn host_name() -> Result<String, ReadError> {
    let name = sysctl::read(&[libc::CTL_KERN, libc::KERN_HOSTNAME], 256)?;
    let name = nul_list::items(&name).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(name).into_owned())
}

/// Signals tell a process that is hidden from one that is not there.
pub(super) fn nothing_is_hidden() -> bool {
    true
}
