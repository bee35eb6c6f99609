//! FreeBSD, OpenBSD, NetBSD: `sysctl`.
//!
//! One [`System`] for the three; what differs (the questions, what a boot is called, what is
//! hidden) is in a module of each, all with the same functions.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::parse::kinfo;
use crate::process::{Host, Pid, Process, ProcessSource, ReadError};

#[path = "sysctl.rs"]
mod sysctl;

std::cfg_select! {
    target_os = "freebsd" => {
        mod freebsd;
        use freebsd as os;
    }
    target_os = "openbsd" => {
        mod openbsd;
        use openbsd as os;
    }
    target_os = "netbsd" => {
        mod netbsd;
        use netbsd as os;
    }
}

/// The running system's processes.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl System {
    /// Opens the running system.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl ProcessSource for System {
    fn host(&self) -> Result<Host, ReadError> {
        os::host()
    }

    fn process(&self, pid: Pid) -> Result<Process, ReadError> {
        let bytes = os::row(sysctl::number(pid)?)?;
        let process = kinfo::parse(&bytes, pid, &os::LAYOUT)?;
        Ok(Process { start: os::start(process.start)?, ..process })
    }

    fn arguments(&self, pid: Pid) -> Result<Vec<OsString>, ReadError> {
        os::arguments(sysctl::number(pid)?)
    }

    fn executable(&self, pid: Pid) -> Result<PathBuf, ReadError> {
        os::executable(sysctl::number(pid)?)
    }

    fn variable(&self, pid: Pid, name: &str) -> Result<Option<OsString>, ReadError> {
        let variables = os::environment(sysctl::number(pid)?)?;
        Ok(variables.into_iter().map(OsString::into_vec).find_map(|entry| {
            let value = entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
            Some(OsString::from_vec(value.to_vec()))
        }))
    }

    fn inode(&self, _pid: Pid) -> Option<u64> {
        None
    }

    fn exists(&self, pid: Pid) -> Option<bool> {
        // Where processes can be hidden from us, not to find one proves nothing.
        sysctl::exists(pid).filter(|found| *found || os::nothing_is_hidden())
    }
}

/// The items of a list of strings, owned.
#[cfg(not(target_os = "openbsd"))]
fn strings(bytes: &[u8]) -> Vec<OsString> {
    crate::parse::nul_list::items(bytes).map(|item| OsString::from_vec(item.to_vec())).collect()
}

/// A path that is one string; kernels leave it empty where they have forgotten it.
#[cfg(not(target_os = "openbsd"))]
fn path(bytes: &[u8]) -> Result<PathBuf, ReadError> {
    let path = strings(bytes).into_iter().next().ok_or(ReadError::Unsupported)?;
    Ok(PathBuf::from(path))
}

/// Names this boot by the file that the start-up scripts of all three write once, early on.
///
/// `kern.boottime` will not do: it changes when the clock is set, and then no running
/// process would match its record.
fn boot_by_messages() -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let file = std::fs::metadata("/var/run/dmesg.boot").ok()?;
    Some(format!("{}.{:09}", file.mtime(), file.mtime_nsec()))
}
