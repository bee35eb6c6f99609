//! `sysctl(3)`: the one door to processes on macOS and the BSDs.
//!
//! Shared by the modules of these systems, which differ in the questions and in the answers.
#![expect(unsafe_code, reason = "sysctl, kill")]

use std::ffi::c_int;
use std::ptr::null_mut;

use crate::process::{Pid, ReadError};

/// Reads an answer of at most that many bytes.
pub(super) fn read(question: &[c_int], most: usize) -> Result<Vec<u8>, ReadError> {
    let mut bytes = vec![0; most];
    let length = ask(question, Some(&mut bytes))?;
    bytes.truncate(length);
    Ok(bytes)
}

/// Reads an answer of whatever length the system says it has.
///
/// What is in the result stands at the address where the system wrote it.
#[cfg(not(target_os = "macos"))]
pub(super) fn read_all(question: &[c_int]) -> Result<Vec<u8>, ReadError> {
    /// How often an answer may outgrow the room that the system itself asked for.
    const MOST_TRIES: usize = 4;

    let mut most = ask(question, None)?;
    for _ in 0..MOST_TRIES {
        let mut bytes = vec![0; most];
        match ask(question, Some(&mut bytes)) {
            Ok(length) => {
                bytes.truncate(length);
                return Ok(bytes);
            }
            Err(ReadError::Io(std::io::ErrorKind::OutOfMemory)) => most = most.max(1024) * 2,
            Err(error) => return Err(error),
        }
    }
    Err(ReadError::Malformed("an answer that keeps growing"))
}

/// Asks; gives the length of the answer.
fn ask(question: &[c_int], room: Option<&mut [u8]>) -> Result<usize, ReadError> {
    let count = question.len().try_into().map_err(|_| ReadError::Unsupported)?;
    let (at, mut length) = room.map_or((null_mut(), 0), |room| (room.as_mut_ptr(), room.len()));
    // SAFETY: `question` holds `count` numbers and is only read, whatever the type says; `at` has
    // room for `length` bytes or is null; nothing is set.
    let failed = unsafe {
        libc::sysctl(question.as_ptr().cast_mut(), count, at.cast(), &raw mut length, null_mut(), 0)
    };
    if failed == 0 { Ok(length) } else { Err(last_error()) }
}

/// Reads an answer of at most that many bytes to a question by name.
#[cfg(any(target_os = "macos", target_os = "freebsd"))]
pub(super) fn read_named(question: &std::ffi::CStr, most: usize) -> Result<Vec<u8>, ReadError> {
    let mut bytes = vec![0_u8; most];
    let mut length = bytes.len();
    // SAFETY: the name ends in NUL; `bytes` has room for `length` bytes; nothing is set.
    let failed = unsafe {
        libc::sysctlbyname(
            question.as_ptr(),
            bytes.as_mut_ptr().cast(),
            &raw mut length,
            null_mut(),
            0,
        )
    };
    if failed != 0 {
        return Err(last_error());
    }
    bytes.truncate(length);
    Ok(bytes)
}

/// Whether a process of that number can be told of a signal; nothing is sent.
pub(super) fn exists(pid: Pid) -> Option<bool> {
    let pid = libc::pid_t::try_from(pid.0).ok().filter(|pid| *pid > 0)?;
    // SAFETY: signal 0 is a question only.
    if unsafe { libc::kill(pid, 0) } == 0 {
        return Some(true);
    }
    match last_error() {
        ReadError::Denied => Some(true),
        ReadError::Absent => Some(false),
        _ => None,
    }
}

/// The number of a process in the type that questions are made of.
pub(super) fn number(pid: Pid) -> Result<c_int, ReadError> {
    c_int::try_from(pid.0).map_err(|_| ReadError::Absent)
}

/// What the last call failed with. "No such process" is no kind of error that Rust knows.
pub(super) fn last_error() -> ReadError {
    let error = std::io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ESRCH) => ReadError::Absent,
        Some(libc::EPERM | libc::EACCES) => ReadError::Denied,
        _ => error.into(),
    }
}
