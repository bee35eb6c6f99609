//! macOS: `sysctl` for nearly everything, `libproc` for the path of an executable.
//!
//! `libproc` could tell more, but hides zombies and the processes of other users; `login`, which
//! stands between a terminal and its shell, is one.
#![expect(unsafe_code, reason = "getsid, proc_pidpath")]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use crate::parse::{darwin_kinfo, kinfo, nul_list, procargs};
use crate::process::{Host, Pid, Process, ProcessSource, ReadError};

#[path = "sysctl.rs"]
mod sysctl;

/// The room that the system gives to arguments and environment together (`ARG_MAX`).
///
/// All of it is offered every time: with less than it needs, the system leaves out the front and
/// says nothing.
const ARGUMENT_ROOM: usize = 1 << 20;

/// The longest path that `proc_pidpath` tells (`PROC_PIDPATHINFO_MAXSIZE`); it takes no more.
const PATH_ROOM: usize = 4096;

/// The running system's processes.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl System {
    /// Opens the running system.
    #[must_use]
    pub fn new() -> Self {
        Self
    }

    fn procargs(pid: Pid) -> Result<Vec<u8>, ReadError> {
        let question = [libc::CTL_KERN, libc::KERN_PROCARGS2, sysctl::number(pid)?];
        sysctl::read(&question, ARGUMENT_ROOM).map_err(|error| match error {
            // "Invalid" is all that it says of processes that are gone, and of other users'.
            ReadError::Io(std::io::ErrorKind::InvalidInput) => match sysctl::exists(pid) {
                Some(false) => ReadError::Absent,
                _ => ReadError::Denied,
            },
            error => error,
        })
    }
}

impl ProcessSource for System {
    fn host(&self) -> Result<Host, ReadError> {
        let bytes = sysctl::read_named(c"kern.bootsessionuuid", 64)?;
        let boot = nul_list::items(&bytes).next().unwrap_or_default();
        let boot = std::str::from_utf8(boot)
            .map_err(|_| ReadError::Malformed("bootsessionuuid is not text"))?;
        if boot.is_empty() {
            return Err(ReadError::Malformed("bootsessionuuid is empty"));
        }
        Ok(Host { boot: boot.to_owned(), namespace: String::new(), contained: false })
    }

    fn process(&self, pid: Pid) -> Result<Process, ReadError> {
        let number = sysctl::number(pid)?;
        let question = [libc::CTL_KERN, libc::KERN_PROC, libc::KERN_PROC_PID, number];
        let bytes = sysctl::read(&question, darwin_kinfo::LAYOUT.size)?;
        let mut process = kinfo::parse(&bytes, pid, &darwin_kinfo::LAYOUT)?;
        // SAFETY: takes and gives a number.
        let session = unsafe { libc::getsid(number) };
        process.session = u32::try_from(session).ok().filter(|session| *session != 0).map(Pid);
        Ok(process)
    }

    fn arguments(&self, pid: Pid) -> Result<Vec<OsString>, ReadError> {
        let bytes = Self::procargs(pid)?;
        let arguments = procargs::darwin(&bytes)?.arguments;
        Ok(arguments.iter().map(|word| OsString::from_vec(word.to_vec())).collect())
    }

    fn executable(&self, pid: Pid) -> Result<PathBuf, ReadError> {
        let number = sysctl::number(pid)?;
        let mut path = vec![0_u8; PATH_ROOM];
        let size = u32::try_from(path.len()).unwrap_or(0);
        // SAFETY: `path` has room for `size` bytes.
        let length = unsafe { libc::proc_pidpath(number, path.as_mut_ptr().cast(), size) };
        match usize::try_from(length) {
            Ok(length) if length > 0 => {
                path.truncate(length);
                Ok(PathBuf::from(OsString::from_vec(path)))
            }
            _ => Err(sysctl::last_error()),
        }
    }

    fn variable(&self, pid: Pid, name: &str) -> Result<Option<OsString>, ReadError> {
        let bytes = Self::procargs(pid)?;
        let environment = procargs::darwin(&bytes)?.environment;
        if environment.is_empty() {
            // Kept back, as for every program that comes with the system: that is not "unset".
            return Err(ReadError::Denied);
        }
        Ok(nul_list::variable(environment, name).map(|value| OsString::from_vec(value.to_vec())))
    }

    fn inode(&self, _pid: Pid) -> Option<u64> {
        None
    }

    fn exists(&self, pid: Pid) -> Option<bool> {
        sysctl::exists(pid)
    }
}
