//! Windows: one Toolhelp snapshot for a whole walk, and handles for what it does not tell.
//!
//! The snapshot has parents and names, a handle has the creation time. The two are read at
//! different moments, so a row is believed only for a process that is older than the snapshot (see
//! [`toolhelp`]); otherwise a new one is taken. So the snapshot can be kept as long as one likes
//! without telling stale facts, and there is one for the whole program.
//!
//! Processes have no controlling terminal here and belong to no session in the sense of Unix. What
//! comes nearest is the named pipe of a `MinTTY` window behind our own standard streams:
//! [`named_terminal`](ProcessSource::named_terminal).
#![expect(unsafe_code, reason = "the Windows API")]

use std::ffi::OsString;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::PathBuf;
use std::ptr::{null, null_mut};
use std::sync::{Mutex, PoisonError};

use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_FILE_NOT_FOUND, ERROR_NO_MORE_FILES, ERROR_SUCCESS, FILETIME,
    GetLastError, INVALID_HANDLE_VALUE, WIN32_ERROR,
};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_NAME_INFO, FILE_TYPE_PIPE, FileNameInfo, GetFileInformationByHandleEx, GetFileType,
};
use windows_sys::Win32::System::Console::{
    GetStdHandle, STD_ERROR_HANDLE, STD_HANDLE, STD_INPUT_HANDLE, STD_OUTPUT_HANDLE,
};
use windows_sys::Win32::System::Diagnostics::ToolHelp::{
    CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW, TH32CS_SNAPPROCESS,
};
use windows_sys::Win32::System::Registry::{
    HKEY, HKEY_LOCAL_MACHINE, KEY_QUERY_VALUE, KEY_WOW64_64KEY, RRF_RT_REG_SZ, RegCloseKey,
    RegGetValueW, RegOpenKeyExW,
};
use windows_sys::Win32::System::SystemInformation::GetSystemTimePreciseAsFileTime;
use windows_sys::w;

use self::handle::Handle;
use crate::parse::toolhelp::{self, Found, Row, Snapshot};
use crate::parse::{command_line, mintty};
use crate::process::{Host, Pid, Process, ProcessSource, ReadError, StartTime, State};

mod handle;

/// The last snapshot that was taken, for all to use that it is not too old for.
static SNAPSHOT: Mutex<Option<Snapshot>> = Mutex::new(None);

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
        Ok(Host { boot: machine_guid()?, namespace: String::new(), contained: false })
    }

    fn process(&self, pid: Pid) -> Result<Process, ReadError> {
        if toolhelp::is_root(pid) {
            let start = StartTime(0);
            return Ok(process(row(pid, start)?, start, State::Active));
        }
        // While the handle is open, the number stays that of the process whose start it tells.
        let handle = Handle::open(pid)?;
        let start = handle.created()?;
        Ok(process(row(pid, start)?, start, handle.state()))
    }

    fn arguments(&self, pid: Pid) -> Result<Vec<OsString>, ReadError> {
        let line = Handle::command_line(pid)?;
        Ok(command_line::split(&line).iter().map(|word| OsString::from_wide(word)).collect())
    }

    fn executable(&self, pid: Pid) -> Result<PathBuf, ReadError> {
        Handle::open(pid)?.executable()
    }

    fn variable(&self, _pid: Pid, _name: &str) -> Result<Option<OsString>, ReadError> {
        // It stands in the memory of the process alone, in a place that is not documented.
        Err(ReadError::Unsupported)
    }

    fn inode(&self, _pid: Pid) -> Option<u64> {
        None
    }

    fn machine(&self) -> Option<String> {
        machine_guid().ok()
    }

    fn exists(&self, pid: Pid) -> Option<bool> {
        match Handle::open(pid) {
            // While anybody holds a handle, the number of an ended process can still be opened.
            Ok(handle) => Some(handle.state() != State::Zombie),
            Err(ReadError::Denied) => Some(true),
            Err(ReadError::Absent) => Some(toolhelp::is_root(pid)),
            Err(_) => None,
        }
    }

    fn named_terminal(&self) -> Option<String> {
        // A query waits for a process that is reading from the same pipe, so the streams
        // that are written to come first; they are also redirected less often.
        [STD_ERROR_HANDLE, STD_OUTPUT_HANDLE, STD_INPUT_HANDLE]
            .into_iter()
            .find_map(|stream| mintty::pseudo_terminal(&pipe_name(stream)?))
    }
}

fn process(row: Row, start: StartTime, state: State) -> Process {
    Process {
        pid: row.pid,
        parent: row.parent,
        start,
        name: row.name,
        terminal: None,
        session: None,
        state,
    }
}

/// The row of a process that was created at that time, from the kept snapshot or a new one.
fn row(pid: Pid, created: StartTime) -> Result<Row, ReadError> {
    // A panic elsewhere cannot leave half a snapshot here.
    let mut kept = SNAPSHOT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(Found::Row(row)) = kept.as_ref().map(|snapshot| snapshot.find(pid, created)) {
        return Ok(row.clone());
    }
    // In a fresh snapshot the row is right whatever the clock says, which may have been set.
    let fresh = kept.insert(take_snapshot()?);
    fresh.row(pid).cloned().ok_or(ReadError::Absent)
}

fn take_snapshot() -> Result<Snapshot, ReadError> {
    let mut now = FILETIME::default();
    // SAFETY: `now` is ours and lives through the call.
    unsafe { GetSystemTimePreciseAsFileTime(&raw mut now) };
    let taken = toolhelp::file_time(now.dwLowDateTime, now.dwHighDateTime);

    // SAFETY: takes numbers, gives a handle of ours or the invalid one.
    let raw = unsafe { CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0) };
    if raw == INVALID_HANDLE_VALUE {
        return Err(error(last_error()));
    }
    // SAFETY: `raw` is a valid handle without another owner.
    let snapshot = unsafe { OwnedHandle::from_raw_handle(raw) };
    let mut entry = PROCESSENTRY32W {
        dwSize: u32::try_from(size_of::<PROCESSENTRY32W>()).unwrap_or(0),
        ..Default::default()
    };
    let mut rows = Vec::new();
    // SAFETY: the handle is open; `entry` is ours, tells its size and lives through the calls.
    let mut more = unsafe { Process32FirstW(snapshot.as_raw_handle(), &raw mut entry) };
    while more != 0 {
        rows.push(Row::new(entry.th32ProcessID, entry.th32ParentProcessID, &entry.szExeFile));
        // SAFETY: as above.
        more = unsafe { Process32NextW(snapshot.as_raw_handle(), &raw mut entry) };
    }
    match last_error() {
        ERROR_NO_MORE_FILES => Ok(Snapshot::new(taken, rows)),
        code => Err(error(code)),
    }
}

/// What Windows set up for this machine when it was installed.
fn machine_guid() -> Result<String, ReadError> {
    let mut key: HKEY = null_mut();
    // SAFETY: the path is a literal that ends in NUL; `key` is ours.
    let opened = unsafe {
        RegOpenKeyExW(
            HKEY_LOCAL_MACHINE,
            w!("SOFTWARE\\Microsoft\\Cryptography"),
            0,
            // Programs of 32 bits would otherwise be shown another key of that name, without it.
            KEY_QUERY_VALUE | KEY_WOW64_64KEY,
            &raw mut key,
        )
    };
    if opened != ERROR_SUCCESS {
        return Err(error(opened));
    }
    let mut value = [0_u16; 128];
    let mut size = u32::try_from(size_of_val(&value)).unwrap_or(0);
    // SAFETY: the key is open; the name is a literal that ends in NUL; `value` holds `size` bytes.
    let read = unsafe {
        RegGetValueW(
            key,
            null(),
            w!("MachineGuid"),
            RRF_RT_REG_SZ,
            null_mut(),
            value.as_mut_ptr().cast(),
            &raw mut size,
        )
    };
    // SAFETY: the key is open and used no more.
    unsafe { RegCloseKey(key) };
    if read != ERROR_SUCCESS {
        return Err(error(read));
    }
    let guid = toolhelp::text(&value).trim().to_owned();
    if guid.is_empty() {
        return Err(ReadError::Malformed("MachineGuid is empty"));
    }
    Ok(guid)
}

/// The name of the pipe behind a standard stream.
fn pipe_name(stream: STD_HANDLE) -> Option<String> {
    // SAFETY: takes a number; the handle that comes stays the process's.
    let handle = unsafe { GetStdHandle(stream) };
    if handle.is_null() || handle == INVALID_HANDLE_VALUE {
        return None;
    }
    // SAFETY: a handle that is not valid makes the call fail, nothing worse.
    if unsafe { GetFileType(handle) } != FILE_TYPE_PIPE {
        return None;
    }
    // Words, so that the header is aligned. Names of pipes have at most 256 units.
    let mut room = [0_u32; 256];
    let size = u32::try_from(size_of_val(&room)).unwrap_or(0);
    // SAFETY: `room` is aligned for the header and holds `size` bytes.
    let done = unsafe {
        GetFileInformationByHandleEx(handle, FileNameInfo, room.as_mut_ptr().cast(), size)
    };
    if done == 0 {
        return None;
    }
    let length = usize::try_from(room[0]).ok()?;
    let bytes: Vec<u8> = room.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let from = std::mem::offset_of!(FILE_NAME_INFO, FileName);
    let text = bytes.get(from..from.checked_add(length)?)?;
    let units: Vec<u16> =
        text.chunks_exact(2).map(|pair| u16::from_ne_bytes([pair[0], pair[1]])).collect();
    Some(toolhelp::text(&units))
}

fn last_error() -> WIN32_ERROR {
    // SAFETY: reads a number of this thread.
    unsafe { GetLastError() }
}

fn error(code: WIN32_ERROR) -> ReadError {
    match code {
        ERROR_ACCESS_DENIED => ReadError::Denied,
        ERROR_FILE_NOT_FOUND => ReadError::Absent,
        code => ReadError::Io(std::io::Error::from_raw_os_error(code.cast_signed()).kind()),
    }
}
