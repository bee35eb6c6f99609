//! Linux: `/proc`, and a pidfd where the kernel has a file system for them.
//!
//! `/proc` belongs to the mount namespace: it can be the table of another pid namespace than ours
//! ([`table`]). And a time namespace moves the start times that it shows ([`clock`]).

use std::ffi::{CStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid as RawPid, PidfdFlags};
use rustix::time::{ClockId, clock_gettime};

use crate::parse::{linux_stat, linux_status, nul_list, proc_mount};
use crate::process::{
    BootClock, Census, Host, Pid, Process, ProcessSource, ReadError, StartTime, Terminal,
};

mod clock;
mod device;
mod record;
mod table;

/// `f_type` of the file system of pidfds. Before Linux 6.9 a pidfd was an anonymous inode, all of
/// which share one number; that must not pass for an identity.
const PIDFS_MAGIC: i64 = 0x5049_4446;

/// What we read of a command line or an environment: the kernel's own bound on one argument is
/// 128 KiB, and what identity looks for stands near the front.
const MOST_BYTES: u64 = 1 << 20;

/// The running system's processes.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl System {
    /// Opens the running system.
    #[must_use]
    pub fn new() -> Self {
        Self
    }

    fn bytes(pid: Pid, file: &str) -> Result<Vec<u8>, ReadError> {
        let mut file = open(pid, file)?;
        // Most fit at once, and what does not fill the room is all there is.
        let mut room = [0; 4096];
        let length = file.read(&mut room)?;
        let mut bytes = room[..length].to_vec();
        if length == room.len() {
            file.take(MOST_BYTES - 4096).read_to_end(&mut bytes)?;
        }
        Ok(bytes)
    }
}

/// Opens a file that the table has of a process.
///
/// This is done for every ancestor. So the path is written without an allocation, and the system is called
/// directly: `open` of musl makes a second call, although the first has set `O_CLOEXEC`.
fn open(pid: Pid, file: &str) -> Result<File, ReadError> {
    table::check()?;
    let mut path = [0; 64];
    let mut room = &mut path[..];
    write!(room, "/proc/{pid}/{file}\0")?;
    let path = CStr::from_bytes_until_nul(&path).expect("a NUL was just written");
    Ok(rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).map_err(io::Error::from)?.into())
}

impl ProcessSource for System {
    fn host(&self) -> Result<Host, ReadError> {
        // Neither changes in the life of a process, and a command asks several times.
        static HOST: OnceLock<Host> = OnceLock::new();
        if let Some(host) = HOST.get() {
            return Ok(host.clone());
        }
        let mut buffer = [0; 64];
        let length = File::open("/proc/sys/kernel/random/boot_id")?.read(&mut buffer)?;
        let boot = std::str::from_utf8(&buffer[..length])
            .map_err(|_| ReadError::Malformed("boot_id is not text"))?
            .trim();
        if boot.is_empty() {
            return Err(ReadError::Malformed("boot_id is empty"));
        }
        let (namespace, contained) = table::namespace()?;
        let host = Host { boot: boot.to_owned(), namespace, contained };
        Ok(HOST.get_or_init(|| host).clone())
    }

    fn own_pid(&self, pid: Pid) -> Pid {
        let own = table::own_pid().filter(|_| pid.0 == std::process::id());
        own.map_or(pid, Pid)
    }

    fn process(&self, pid: Pid) -> Result<Process, ReadError> {
        // 15 bytes of name (64 for a kernel worker) and at most 50 numbers: one read gets it all.
        let mut buffer = [0; 2048];
        let length = open(pid, "stat")?.read(&mut buffer)?;
        let process = linux_stat::parse(&buffer[..length], pid)?;
        Ok(Process { start: StartTime(clock::unshifted(process.start.0)), ..process })
    }

    fn arguments(&self, pid: Pid) -> Result<Vec<OsString>, ReadError> {
        let bytes = Self::bytes(pid, "cmdline")?;
        Ok(nul_list::items(&bytes).map(|item| OsString::from_vec(item.to_vec())).collect())
    }

    fn executable(&self, pid: Pid) -> Result<PathBuf, ReadError> {
        table::check()?;
        Ok(std::fs::read_link(format!("/proc/{pid}/exe"))?)
    }

    fn open_terminal(&self, pid: Pid, number: u32) -> Result<Option<Terminal>, ReadError> {
        table::check()?;
        // By its device: its name may be out of reach here, or gone.
        let file = std::fs::metadata(format!("/proc/{pid}/fd/{number}"))?;
        Ok(file.file_type().is_char_device().then(|| device::terminal(file.rdev())).flatten())
    }

    fn variable(&self, pid: Pid, name: &str) -> Result<Option<OsString>, ReadError> {
        let bytes = Self::bytes(pid, "environ")?;
        Ok(nul_list::variable(&bytes, name).map(|value| OsString::from_vec(value.to_vec())))
    }

    fn record(&self, pid: Pid, path: &Path) -> Result<Vec<u8>, ReadError> {
        table::check()?;
        record::read(pid, path)
    }

    fn inode(&self, pid: Pid) -> Option<u64> {
        // The kernel would take the number for one of our own namespace.
        if !table::is_ours() {
            return None;
        }
        let raw = RawPid::from_raw(i32::try_from(pid.0).ok()?)?;
        let descriptor = rustix::process::pidfd_open(raw, PidfdFlags::empty()).ok()?;
        let kind = rustix::fs::fstatfs(&descriptor).ok()?.f_type;
        if kind != PIDFS_MAGIC {
            return None;
        }
        rustix::fs::fstat(&descriptor).ok().map(|stat| stat.st_ino)
    }

    fn machine(&self) -> Option<String> {
        static MACHINE: OnceLock<Option<String>> = OnceLock::new();
        let read = |path| std::fs::read_to_string(path).ok();
        let id = || {
            let id = read("/etc/machine-id").or_else(|| read("/var/lib/dbus/machine-id"))?;
            let id = id.trim();
            // systemd writes this while a machine has no id yet.
            (!id.is_empty() && id != "uninitialized").then(|| id.to_owned())
        };
        MACHINE.get_or_init(id).clone()
    }

    fn boot_clock(&self) -> Option<BootClock> {
        let uptime = i128::from(clock_gettime(ClockId::Boottime).tv_sec);
        let now = i128::from(clock_gettime(ClockId::Realtime).tv_sec);
        let started = now - (uptime - clock::offset() / 1_000_000_000);
        Some(BootClock { started: u64::try_from(started).ok()?, now: u64::try_from(now).ok()? })
    }

    fn clock(&self) -> Option<String> {
        clock::name()
    }

    fn census(&self) -> Result<Census, ReadError> {
        // In the first namespace, with our own number, it can only be that one's table.
        let is_complete = table::is_ours()
            && !self.host()?.contained
            && proc_mount::shows_all(&std::fs::read_to_string("/proc/self/mountinfo")?);
        let mut pids = Vec::new();
        for entry in std::fs::read_dir("/proc")? {
            pids.extend(entry?.file_name().to_str().and_then(|name| name.parse().ok()).map(Pid));
        }
        Ok(Census { pids, is_complete })
    }

    fn nested_pids(&self, pid: Pid) -> Result<Vec<Pid>, ReadError> {
        linux_status::nested_pids(&Self::bytes(pid, "status")?)
    }

    fn exists(&self, pid: Pid) -> Option<bool> {
        if !table::is_ours() {
            return None;
        }
        let raw = RawPid::from_raw(i32::try_from(pid.0).ok()?)?;
        match rustix::process::test_kill_process(raw) {
            Ok(()) | Err(rustix::io::Errno::PERM) => Some(true),
            Err(rustix::io::Errno::SRCH) => Some(false),
            Err(_) => None,
        }
    }
}
