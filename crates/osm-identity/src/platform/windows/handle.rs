//! A handle to a process, and what can be asked of it.
#![expect(unsafe_code, reason = "the Windows API")]

use std::ffi::OsString;
use std::mem::offset_of;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::PathBuf;
use std::ptr::{null_mut, without_provenance};

use windows_sys::Wdk::System::Threading::{
    NtQueryInformationProcess, PROCESSINFOCLASS, ProcessBasicInformation,
    ProcessCommandLineInformation,
};
use windows_sys::Win32::Foundation::{
    ERROR_INVALID_PARAMETER, FILETIME, HANDLE, NTSTATUS, STATUS_ACCESS_DENIED,
    STATUS_INVALID_INFO_CLASS, STATUS_NOT_IMPLEMENTED, STATUS_SUCCESS, STILL_ACTIVE,
    UNICODE_STRING, WAIT_OBJECT_0, WAIT_TIMEOUT,
};
use windows_sys::Win32::System::Diagnostics::Debug::ReadProcessMemory;
use windows_sys::Win32::System::Threading::{
    GetExitCodeProcess, GetProcessId, GetProcessTimes, OpenProcess, PEB, PROCESS_BASIC_INFORMATION,
    PROCESS_NAME_WIN32, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE, PROCESS_VM_READ,
    QueryFullProcessImageNameW, RTL_USER_PROCESS_PARAMETERS, WaitForSingleObject,
};

use super::{error, last_error};
use crate::parse::{command_line, toolhelp};
use crate::process::{Pid, ReadError, StartTime, State};

/// The longest path that Windows can name, in UTF-16 units.
const LONGEST_PATH: usize = 32_768;

/// The longest command line, in bytes: its length has sixteen bits.
const LONGEST_LINE: usize = u16::MAX as usize;

/// A process that cannot hand its number to another while we hold this.
pub(super) struct Handle(OwnedHandle);

impl Handle {
    pub(super) fn open(pid: Pid) -> Result<Self, ReadError> {
        let handle = Self::open_for(pid, PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE)
            // The right to wait is refused more often than the right to look.
            .or_else(|error| match error {
                ReadError::Denied => Self::open_for(pid, PROCESS_QUERY_LIMITED_INFORMATION),
                error => Err(error),
            })?;
        // Windows takes 5 for 4: numbers are multiples of four, and it drops the rest.
        // SAFETY: the handle is open.
        if unsafe { GetProcessId(handle.raw()) } == pid.0 {
            Ok(handle)
        } else {
            Err(ReadError::Absent)
        }
    }

    fn open_for(pid: Pid, rights: u32) -> Result<Self, ReadError> {
        // SAFETY: takes numbers, gives a handle of ours or null.
        let raw = unsafe { OpenProcess(rights, 0, pid.0) };
        if raw.is_null() {
            return Err(match last_error() {
                ERROR_INVALID_PARAMETER => ReadError::Absent,
                code => error(code),
            });
        }
        // SAFETY: `raw` is a valid handle without another owner.
        Ok(Self(unsafe { OwnedHandle::from_raw_handle(raw) }))
    }

    fn raw(&self) -> HANDLE {
        self.0.as_raw_handle()
    }

    pub(super) fn created(&self) -> Result<StartTime, ReadError> {
        let mut times = [FILETIME::default(); 4];
        let [created, exited, kernel, user] = &mut times;
        // SAFETY: the handle is open; the four times are ours and live through the call.
        let done = unsafe { GetProcessTimes(self.raw(), created, exited, kernel, user) };
        if done == 0 {
            return Err(error(last_error()));
        }
        Ok(toolhelp::file_time(created.dwLowDateTime, created.dwHighDateTime))
    }

    pub(super) fn state(&self) -> State {
        // SAFETY: the handle is open; no time to wait.
        match unsafe { WaitForSingleObject(self.raw(), 0) } {
            WAIT_OBJECT_0 => return State::Zombie,
            WAIT_TIMEOUT => return State::Active,
            _ => {}
        }
        // Without the right to wait only the exit code tells, and 259 tells nothing.
        let mut code = 0;
        // SAFETY: the handle is open; `code` is ours and lives through the call.
        let known = unsafe { GetExitCodeProcess(self.raw(), &raw mut code) } != 0;
        if known && code != STILL_ACTIVE.cast_unsigned() { State::Zombie } else { State::Active }
    }

    pub(super) fn executable(&self) -> Result<PathBuf, ReadError> {
        let mut path = vec![0; LONGEST_PATH];
        let mut length = u32::try_from(path.len()).unwrap_or(u32::MAX);
        // SAFETY: the handle is open; `path` has room for `length` units.
        let done = unsafe {
            QueryFullProcessImageNameW(
                self.raw(),
                PROCESS_NAME_WIN32,
                path.as_mut_ptr(),
                &raw mut length,
            )
        };
        if done == 0 {
            return Err(error(last_error()));
        }
        let path = path.get(..length as usize).ok_or(ReadError::Malformed("path too long"))?;
        Ok(PathBuf::from(OsString::from_wide(path)))
    }

    /// The command line, as the process that started it wrote it.
    pub(super) fn command_line(pid: Pid) -> Result<Vec<u16>, ReadError> {
        match Self::open(pid)?.told_command_line() {
            // Wine 8 does not know the question; then it stands where Windows keeps it, too.
            Err(ReadError::Unsupported) => {
                let rights = PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_VM_READ;
                Self::open_for(pid, rights)?.kept_command_line()
            }
            told => told,
        }
    }

    fn told_command_line(&self) -> Result<Vec<u16>, ReadError> {
        // A header, then the text. Words of pointer size, so that the header is aligned.
        let size = size_of::<UNICODE_STRING>() + LONGEST_LINE;
        let mut room = vec![0_usize; size.div_ceil(size_of::<usize>())];
        self.query(ProcessCommandLineInformation, &mut room)?;
        let bytes: Vec<u8> = room.iter().flat_map(|word| word.to_ne_bytes()).collect();
        command_line::counted(&bytes, room.as_ptr().addr())
    }

    fn kept_command_line(&self) -> Result<Vec<u16>, ReadError> {
        const WORD: usize = size_of::<usize>();
        let mut basic = [0_usize; size_of::<PROCESS_BASIC_INFORMATION>() / WORD];
        self.query(ProcessBasicInformation, &mut basic)?;
        let block = basic[offset_of!(PROCESS_BASIC_INFORMATION, PebBaseAddress) / WORD];

        let at = block.wrapping_add(offset_of!(PEB, ProcessParameters));
        let parameters = usize::from_ne_bytes(self.memory(at)?);

        let at = parameters.wrapping_add(offset_of!(RTL_USER_PROCESS_PARAMETERS, CommandLine));
        let length = u16::from_ne_bytes(self.memory(at)?);
        let at = at.wrapping_add(offset_of!(UNICODE_STRING, Buffer));
        let text = usize::from_ne_bytes(self.memory(at)?);

        let mut bytes = vec![0; usize::from(length)];
        self.read_memory(text, &mut bytes)?;
        let pairs = bytes.chunks_exact(2);
        Ok(pairs.map(|pair| u16::from_ne_bytes([pair[0], pair[1]])).collect())
    }

    fn query(&self, question: PROCESSINFOCLASS, room: &mut [usize]) -> Result<(), ReadError> {
        let size = u32::try_from(size_of_val(room)).map_err(|_| ReadError::Unsupported)?;
        // SAFETY: the handle is open; `room` holds `size` bytes, aligned for every structure that
        // is asked for here.
        let status = unsafe {
            NtQueryInformationProcess(
                self.raw(),
                question,
                room.as_mut_ptr().cast(),
                size,
                null_mut(),
            )
        };
        succeed(status)
    }

    /// A few bytes of the process's memory.
    fn memory<const LENGTH: usize>(&self, at: usize) -> Result<[u8; LENGTH], ReadError> {
        let mut bytes = [0; LENGTH];
        self.read_memory(at, &mut bytes)?;
        Ok(bytes)
    }

    fn read_memory(&self, at: usize, room: &mut [u8]) -> Result<(), ReadError> {
        // SAFETY: the handle is open; `at` is an address of the other process and not used here;
        // `room` is ours, and its length is told.
        let done = unsafe {
            ReadProcessMemory(
                self.raw(),
                without_provenance(at),
                room.as_mut_ptr().cast(),
                room.len(),
                null_mut(),
            )
        };
        if done == 0 { Err(error(last_error())) } else { Ok(()) }
    }
}

fn succeed(status: NTSTATUS) -> Result<(), ReadError> {
    match status {
        STATUS_SUCCESS => Ok(()),
        STATUS_ACCESS_DENIED => Err(ReadError::Denied),
        STATUS_INVALID_INFO_CLASS | STATUS_NOT_IMPLEMENTED => Err(ReadError::Unsupported),
        _ => Err(ReadError::Malformed("the kernel refused the question")),
    }
}
