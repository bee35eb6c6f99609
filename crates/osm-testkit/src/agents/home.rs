//! A home directory for agents that takes what they leave running with it.

use std::fs;
use std::io;
use std::ops::Deref;
use std::path::Path;

use tempfile::TempDir;

use super::conduct;

/// A fresh home directory. When it is dropped, every process that has it as its `HOME` is killed,
/// because Codex on a terminal leaves two that stay for ever.
#[derive(Debug)]
pub struct Home(TempDir);

impl Home {
    /// Creates one.
    pub fn new() -> io::Result<Self> {
        tempfile::Builder::new().prefix("osm-agent-").tempdir().map(Self)
    }
}

impl Deref for Home {
    type Target = Path;

    fn deref(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // Only Linux shows the environment of a process as a file.
        let Ok(processes) = fs::read_dir("/proc") else {
            return;
        };
        let ours = format!("HOME={}", self.0.path().display());
        for process in processes.flatten() {
            let Ok(environ) = fs::read(process.path().join("environ")) else {
                continue;
            };
            if environ.split(|&byte| byte == 0).any(|entry| entry == ours.as_bytes()) {
                conduct::kill(&process.file_name().to_string_lossy());
            }
        }
    }
}
