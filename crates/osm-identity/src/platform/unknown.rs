//! A platform whose processes we cannot read: every question is answered with "cannot tell".

use std::ffi::OsString;
use std::path::PathBuf;

use crate::process::{Host, Pid, Process, ProcessSource, ReadError};

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
        Err(ReadError::Unsupported)
    }

    fn process(&self, _pid: Pid) -> Result<Process, ReadError> {
        Err(ReadError::Unsupported)
    }

    fn arguments(&self, _pid: Pid) -> Result<Vec<OsString>, ReadError> {
        Err(ReadError::Unsupported)
    }

    fn executable(&self, _pid: Pid) -> Result<PathBuf, ReadError> {
        Err(ReadError::Unsupported)
    }

    fn variable(&self, _pid: Pid, _name: &str) -> Result<Option<OsString>, ReadError> {
        Err(ReadError::Unsupported)
    }

    fn inode(&self, _pid: Pid) -> Option<u64> {
        None
    }

    fn exists(&self, _pid: Pid) -> Option<bool> {
        None
    }
}
