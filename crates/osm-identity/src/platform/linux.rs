//! Linux: `/proc`, and a pidfd where the kernel has a file system for them.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use rustix::process::{Pid as RawPid, PidfdFlags};
use rustix::time::{ClockId, clock_gettime};

use crate::parse::{linux_stat, linux_status, nul_list, proc_mount, time_offsets};
use crate::process::{BootClock, Census, Host, Pid, Process, ProcessSource, ReadError};

/// The inode of the first pid namespace of every Linux machine (`PROC_PID_INIT_INO`).
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

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
        let mut bytes = Vec::new();
        File::open(format!("/proc/{pid}/{file}"))?.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
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
        let namespace = std::fs::read_link("/proc/self/ns/pid")?.to_string_lossy().into_owned();
        let contained = namespace != FIRST_PID_NAMESPACE;
        let host = Host { boot: boot.to_owned(), namespace, contained };
        Ok(HOST.get_or_init(|| host).clone())
    }

    fn process(&self, pid: Pid) -> Result<Process, ReadError> {
        // 15 bytes of name (64 for a kernel worker) and at most 50 numbers: one read gets it all.
        let mut buffer = [0; 2048];
        let length = File::open(format!("/proc/{pid}/stat"))?.read(&mut buffer)?;
        linux_stat::parse(&buffer[..length], pid)
    }

    fn arguments(&self, pid: Pid) -> Result<Vec<OsString>, ReadError> {
        let bytes = Self::bytes(pid, "cmdline")?;
        Ok(nul_list::items(&bytes).map(|item| OsString::from_vec(item.to_vec())).collect())
    }

    fn executable(&self, pid: Pid) -> Result<PathBuf, ReadError> {
        Ok(std::fs::read_link(format!("/proc/{pid}/exe"))?)
    }

    fn variable(&self, pid: Pid, name: &str) -> Result<Option<OsString>, ReadError> {
        let bytes = Self::bytes(pid, "environ")?;
        Ok(nul_list::variable(&bytes, name).map(|value| OsString::from_vec(value.to_vec())))
    }

    fn inode(&self, pid: Pid) -> Option<u64> {
        let raw = RawPid::from_raw(i32::try_from(pid.0).ok()?)?;
        let descriptor = rustix::process::pidfd_open(raw, PidfdFlags::empty()).ok()?;
        let kind = rustix::fs::fstatfs(&descriptor).ok()?.f_type;
        if kind != PIDFS_MAGIC {
            return None;
        }
        rustix::fs::fstat(&descriptor).ok().map(|stat| stat.st_ino)
    }

    fn machine(&self) -> Option<String> {
        let read = |path| std::fs::read_to_string(path).ok();
        let id = read("/etc/machine-id").or_else(|| read("/var/lib/dbus/machine-id"))?;
        let id = id.trim();
        // systemd writes this while a machine has no id yet.
        (!id.is_empty() && id != "uninitialized").then(|| id.to_owned())
    }

    fn boot_clock(&self) -> Option<BootClock> {
        let uptime = i128::from(clock_gettime(ClockId::Boottime).tv_sec);
        let now = i128::from(clock_gettime(ClockId::Realtime).tv_sec);
        let offsets = std::fs::read_to_string("/proc/self/timens_offsets").ok();
        let offset = offsets.and_then(|text| time_offsets::boot(&text)).unwrap_or(0);
        let started = now - (uptime - offset / 1_000_000_000);
        Some(BootClock { started: u64::try_from(started).ok()?, now: u64::try_from(now).ok()? })
    }

    fn clock(&self) -> Option<String> {
        Some(std::fs::read_link("/proc/self/ns/time").ok()?.to_string_lossy().into_owned())
    }

    fn census(&self) -> Result<Census, ReadError> {
        // The table is that of our namespace or of one above it, as we are in it ourselves: in the
        // first namespace it can only be that one's.
        let is_complete = !self.host()?.contained
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
        let raw = RawPid::from_raw(i32::try_from(pid.0).ok()?)?;
        match rustix::process::test_kill_process(raw) {
            Ok(()) | Err(rustix::io::Errno::PERM) => Some(true),
            Err(rustix::io::Errno::SRCH) => Some(false),
            Err(_) => None,
        }
    }
}
