//! Processes as this crate sees them, and the one door through which they are read.
//!
//! [`Process`] holds the few facts that identity needs and nothing more, so that one read of the
//! operating system's process table fills it. [`ProcessSource`] is the door: the platform modules
//! implement it over the running system, [`FixedTable`] over a value, and everything that decides
//! works on either.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The number of a process, meaningful only within one pid namespace of one boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pid(pub u32);

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// When a process started, in a unit of the platform's own.
///
/// Comparable between processes of one host; the number itself means nothing elsewhere. Linux
/// counts clock ticks since boot (10 ms), so two processes can share one: see
/// [`ProcessSource::inode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StartTime(pub u64);

impl fmt::Display for StartTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The device number of a controlling terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Terminal(pub u64);

impl fmt::Display for Terminal {
    /// Prints the name that people know (`pts/3`, `tty1`) where the number tells it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = ((self.0 >> 8) & 0xfff, (self.0 & 0xff) | ((self.0 >> 12) & 0xfff00));
        match major {
            136..=143 if cfg!(target_os = "linux") => {
                write!(f, "pts/{}", (major - 136) * 256 + minor)
            }
            4 if cfg!(target_os = "linux") => write!(f, "tty{minor}"),
            _ => write!(f, "tty#{}", self.0),
        }
    }
}

/// What a process is doing, as far as liveness cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Running, runnable, sleeping or waiting.
    Active,
    /// Stopped by a signal or a debugger: alive, and able to go on.
    Suspended,
    /// Ended with all its threads, but not yet collected by its parent: dead.
    Zombie,
}

/// One row of the process table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: Pid,
    /// Its parent's number; 0 where it has none, or none inside this pid namespace.
    pub parent: Pid,
    /// When it started.
    pub start: StartTime,
    /// The short name the system keeps (`comm`); on Linux cut at 15 bytes.
    pub name: String,
    /// Its controlling terminal.
    pub terminal: Option<Terminal>,
    /// The leader of its session (`setsid`), where the platform has such a thing.
    pub session: Option<Pid>,
    /// Whether it runs, is stopped, or is a zombie.
    pub state: State,
}

/// The realm in which a pid and a start time mean something.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Host {
    /// Names this boot of this machine (where the platform can: Windows names the machine only,
    /// but its start times are absolute).
    pub boot: String,
    /// Names the pid namespace; empty where the platform has none.
    pub namespace: String,
    /// The pid namespace is not the machine's first: PID 1 is a container's own.
    pub contained: bool,
}

/// When the machine started and what time it is, in seconds since 1970 by one wall clock.
///
/// The wall clock can be set. Both move with it, so that they compare with each other; a time that
/// was recorded before compares with them as far as the clock was right then and is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootClock {
    /// When the machine started: the kernel itself, whatever boot a container is shown.
    pub started: u64,
    /// The time.
    pub now: u64,
}

/// The processes that are visible in a pid namespace: its own, and those of all namespaces below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Census {
    /// Their pids there.
    pub pids: Vec<Pid>,
    /// No process of the machine is missing. One that runs from the beginning of the look to its
    /// end is listed; one that starts or ends meanwhile may be.
    pub is_complete: bool,
}

/// Why a look at a process gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadError {
    /// No such process is visible from here: it ended, or it is hidden.
    Absent,
    /// It is there, but we may not look.
    Denied,
    /// The system answered something that does not parse; the text says what.
    Malformed(&'static str),
    /// This platform cannot tell.
    Unsupported,
    /// The process table is that of another pid namespace.
    AnotherNamespace,
    /// Another user can have written it; the text says why.
    Untrusted(&'static str),
    /// Any other error of the system.
    Io(std::io::ErrorKind),
}

impl std::error::Error for ReadError {}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("not visible"),
            Self::Denied => f.write_str("access denied"),
            Self::Malformed(what) => write!(f, "malformed: {what}"),
            Self::Unsupported => f.write_str("not supported on this platform"),
            Self::AnotherNamespace => {
                f.write_str("the process table is that of another pid namespace")
            }
            Self::Untrusted(why) => f.write_str(why),
            Self::Io(kind) => write!(f, "{kind}"),
        }
    }
}

impl From<std::io::Error> for ReadError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::NotFound => Self::Absent,
            std::io::ErrorKind::PermissionDenied => Self::Denied,
            std::io::ErrorKind::Unsupported => Self::Unsupported,
            kind => Self::Io(kind),
        }
    }
}

/// Where processes are read from.
///
/// Implementations look at the moment of the call and keep nothing that can go stale; a process
/// may vanish between two calls, and every caller must live with that.
pub trait ProcessSource {
    /// The realm of the pids that this source deals in.
    fn host(&self) -> Result<Host, ReadError>;

    /// The number in this table of the process that calls itself `pid` and asks.
    ///
    /// A table can be that of another pid namespace, in which the same process has another number.
    fn own_pid(&self, pid: Pid) -> Pid {
        pid
    }

    /// One row of the process table. Pid, parent and start come from one read.
    fn process(&self, pid: Pid) -> Result<Process, ReadError>;

    /// The arguments that a process was started with, its own name first.
    fn arguments(&self, pid: Pid) -> Result<Vec<OsString>, ReadError>;

    /// The file that a process executes.
    fn executable(&self, pid: Pid) -> Result<PathBuf, ReadError>;

    /// The terminal that a process has open under a number; `None` for any other file.
    fn open_terminal(&self, _pid: Pid, _number: u32) -> Result<Option<Terminal>, ReadError> {
        Err(ReadError::Unsupported)
    }

    /// The value that a variable had when the process was started.
    fn variable(&self, pid: Pid, name: &str) -> Result<Option<OsString>, ReadError>;

    /// The content of a small file that belongs to the user of a process, who alone can write it.
    fn record(&self, _pid: Pid, _path: &Path) -> Result<Vec<u8>, ReadError> {
        Err(ReadError::Unsupported)
    }

    /// A number that no other process of this boot has or will have (Linux 6.9 and later).
    fn inode(&self, pid: Pid) -> Option<u64>;

    /// Whether a process of that number exists, even one whose details are hidden from us.
    ///
    /// `None` where this cannot be told. Only `Some(false)` proves an absence.
    fn exists(&self, pid: Pid) -> Option<bool>;

    /// Names the machine, over all its boots; `None` where it has no name.
    fn machine(&self) -> Option<String> {
        None
    }

    /// When the machine started; `None` where this cannot be told.
    fn boot_clock(&self) -> Option<BootClock> {
        None
    }

    /// Names the clock that start times are shown in, where there can be several on one host.
    fn clock(&self) -> Option<String> {
        None
    }

    /// The processes that are visible here, those of other pid namespaces included.
    fn census(&self) -> Result<Census, ReadError> {
        Err(ReadError::Unsupported)
    }

    /// The pids that a process has here and in each pid namespace below.
    fn nested_pids(&self, _pid: Pid) -> Result<Vec<Pid>, ReadError> {
        Err(ReadError::Unsupported)
    }

    /// The name of the pseudo terminal behind our own standard streams, on the one platform where
    /// terminals are names instead of device numbers (`MinTTY` on Windows).
    fn named_terminal(&self) -> Option<String> {
        None
    }
}

/// A process table that is a value: for tests, and for reasoning about a captured one.
#[derive(Clone, Debug)]
pub struct FixedTable {
    host: Host,
    rows: BTreeMap<Pid, FixedRow>,
    records: BTreeMap<PathBuf, Vec<u8>>,
}

#[derive(Clone, Debug)]
struct FixedRow {
    process: Process,
    arguments: Vec<OsString>,
    executable: Option<PathBuf>,
    open: Vec<(u32, Option<Terminal>)>,
    variables: Vec<(String, OsString)>,
}

impl FixedTable {
    /// An empty table of a realm.
    #[must_use]
    pub fn new(host: Host) -> Self {
        Self { host, rows: BTreeMap::new(), records: BTreeMap::new() }
    }

    /// Adds a process with the arguments it was started with.
    #[must_use]
    pub fn with(mut self, process: Process, arguments: &[&str]) -> Self {
        let row = FixedRow {
            arguments: arguments.iter().map(OsString::from).collect(),
            executable: None,
            open: Vec::new(),
            variables: Vec::new(),
            process,
        };
        self.rows.insert(row.process.pid, row);
        self
    }

    /// Gives a process of the table the file that it executes.
    #[must_use]
    pub fn with_executable(mut self, pid: Pid, path: &str) -> Self {
        if let Some(row) = self.rows.get_mut(&pid) {
            row.executable = Some(PathBuf::from(path));
        }
        self
    }

    /// Gives a process of the table an open file, which may be a terminal.
    #[must_use]
    pub fn with_open(mut self, pid: Pid, number: u32, terminal: Option<Terminal>) -> Self {
        if let Some(row) = self.rows.get_mut(&pid) {
            row.open.push((number, terminal));
        }
        self
    }

    /// Gives a process of the table a variable in its initial environment.
    #[must_use]
    pub fn with_variable(mut self, pid: Pid, name: &str, value: &str) -> Self {
        if let Some(row) = self.rows.get_mut(&pid) {
            row.variables.push((name.to_owned(), OsString::from(value)));
        }
        self
    }

    /// Adds a file that a process writes about itself.
    #[must_use]
    pub fn with_record(mut self, path: &str, content: &str) -> Self {
        self.records.insert(PathBuf::from(path), content.as_bytes().to_vec());
        self
    }

    fn row(&self, pid: Pid) -> Result<&FixedRow, ReadError> {
        self.rows.get(&pid).ok_or(ReadError::Absent)
    }
}

impl ProcessSource for FixedTable {
    fn host(&self) -> Result<Host, ReadError> {
        Ok(self.host.clone())
    }

    fn process(&self, pid: Pid) -> Result<Process, ReadError> {
        self.row(pid).map(|row| row.process.clone())
    }

    fn arguments(&self, pid: Pid) -> Result<Vec<OsString>, ReadError> {
        self.row(pid).map(|row| row.arguments.clone())
    }

    fn executable(&self, pid: Pid) -> Result<PathBuf, ReadError> {
        self.row(pid)?.executable.clone().ok_or(ReadError::Denied)
    }

    fn open_terminal(&self, pid: Pid, number: u32) -> Result<Option<Terminal>, ReadError> {
        let open = &self.row(pid)?.open;
        let file = open.iter().find(|(at, _)| *at == number).map(|(_, terminal)| *terminal);
        // A process of which no file is known is one that may not be looked at.
        file.ok_or(if open.is_empty() { ReadError::Denied } else { ReadError::Absent })
    }

    fn variable(&self, pid: Pid, name: &str) -> Result<Option<OsString>, ReadError> {
        let row = self.row(pid)?;
        Ok(row.variables.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone()))
    }

    fn record(&self, _pid: Pid, path: &Path) -> Result<Vec<u8>, ReadError> {
        self.records.get(path).cloned().ok_or(ReadError::Absent)
    }

    fn inode(&self, _pid: Pid) -> Option<u64> {
        None
    }

    fn exists(&self, pid: Pid) -> Option<bool> {
        Some(self.rows.contains_key(&pid))
    }
}
