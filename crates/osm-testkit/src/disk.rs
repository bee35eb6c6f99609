//! A disk that loses power.
//!
//! A disk is an ext4 file system in an image file, mounted where only the programs that are started
//! through [`Disk::command`] see it. What a program has written and not synced is in the memory of
//! the file system alone: a copy of the image is what a machine finds when it starts again.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

use crate::tools::{self, Skipped};

const SIZE: u64 = 8 << 20;
/// How often an image is read until two readings are equal: the file system's own threads may write.
const MOST_READINGS: usize = 50;
/// Where images lie if it can be had: memory, for every sync would wait for a real disk otherwise.
const MEMORY: &str = "/dev/shm";

/// A file system in an image file; unmounted when dropped, or when this process ends.
pub struct Disk {
    folder: TempDir,
    /// The process whose mounts the disk is among; it ends with its standard input.
    namespace: Child,
}

impl Disk {
    /// An empty disk.
    pub fn new() -> Result<Self, Skipped> {
        tools::root()?;
        for program in ["mkfs.ext4", "nsenter", "unshare", "mount"] {
            tools::program(program)?;
        }
        let broken = |error: io::Error| Skipped(format!("no disk can be made: {error}"));
        let folder = folder().map_err(broken)?;
        let image = folder.path().join("image");
        fs::File::create_new(&image).and_then(|file| file.set_len(SIZE)).map_err(broken)?;
        let mut format = Command::new(tools::program("mkfs.ext4")?);
        // Nothing is left for a thread of the system to do later.
        format.args(["-q", "-F", "-b", "1024", "-E", "lazy_itable_init=0,lazy_journal_init=0"]);
        succeed(format.arg(&image)).map_err(broken)?;
        Self::mounted(folder).map_err(broken)
    }

    fn mounted(folder: TempDir) -> io::Result<Self> {
        fs::create_dir(folder.path().join("disk"))?;
        let namespace = Command::new("unshare")
            .args(["--mount", "--propagation", "private", "cat"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut disk = Self { folder, namespace };
        disk.wait_for_namespace()?;
        // No commit by time: what is not synced stays in memory.
        let mut mount = disk.command("mount");
        mount.args(["-o", "loop,noatime,commit=300"]);
        succeed(mount.arg(disk.image()).arg(disk.path()))?;
        Ok(disk)
    }

    /// Waits until `unshare` has become `cat`, which repeats what it is told.
    fn wait_for_namespace(&mut self) -> io::Result<()> {
        use std::io::{Read, Write};
        let (input, output) = (self.namespace.stdin.as_mut(), self.namespace.stdout.as_mut());
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        input.ok_or_else(gone)?.write_all(b"x")?;
        output.ok_or_else(gone)?.read_exact(&mut [0])
    }

    /// Where the disk is mounted, for the programs that are started through [`Self::command`].
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("disk")
    }

    fn image(&self) -> PathBuf {
        self.folder.path().join("image")
    }

    /// The words that start a program which sees the disk.
    #[must_use]
    pub fn launcher(&self) -> Vec<OsString> {
        let process = self.namespace.id().to_string();
        ["nsenter", "--target", &process, "--mount", "--"].map(OsString::from).into()
    }

    /// A program that sees the disk.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut words = self.launcher().into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).arg(program).stdin(Stdio::null());
        command
    }

    /// Has everything written that is only in memory.
    pub fn sync(&self) -> io::Result<()> {
        succeed(self.command("sync").arg("--file-system").arg(self.path()))
    }

    /// The disk as it is found after the power failed just now.
    pub fn after_power_loss(&self) -> io::Result<Self> {
        let folder = folder()?;
        fs::write(folder.path().join("image"), self.settled_image()?)?;
        Self::mounted(folder)
    }

    fn settled_image(&self) -> io::Result<Vec<u8>> {
        let mut before = fs::read(self.image())?;
        for _ in 0..MOST_READINGS {
            let now = fs::read(self.image())?;
            if now == before {
                return Ok(now);
            }
            before = now;
        }
        Err(io::Error::other("the image does not come to rest"))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(self.namespace.stdin.take());
        drop(self.namespace.wait());
    }
}

fn folder() -> io::Result<TempDir> {
    let memory = Path::new(MEMORY);
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }
}

fn succeed(command: &mut Command) -> io::Result<()> {
    let Output { status, stderr, .. } = command.output()?;
    if status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!("{command:?}: {}", String::from_utf8_lossy(&stderr).trim())))
}
