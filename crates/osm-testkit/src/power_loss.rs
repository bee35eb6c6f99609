//! A power failure at every call by which a command writes.
//!
//! The command runs on a copy of a [`Disk`], is killed at the call, and the power fails before the
//! file system has written more; and once it runs to its end, and the power fails right after.

use std::io;
use std::path::{Path, PathBuf};

use crate::disk::Disk;
use crate::stops::{FolderBy, Stops};

/// The calls by which files change, and the one by which the command finds its folder.
const CALLS: &str = "openat,write,pwrite64,writev,pwritev,fsync,fdatasync,rename,renameat,renameat2,unlink,\
    unlinkat,mkdir,mkdirat,ftruncate,fallocate,linkat,link";

/// A command that works in the folder `home` of a disk.
pub struct PowerLoss<'a> {
    /// The program.
    pub program: PathBuf,
    /// How it learns its folder.
    pub folder_by: FolderBy,
    /// What it is told to do.
    pub arguments: &'a [&'a str],
}

/// What a disk is found with after the power failed.
pub struct Found {
    /// The disk.
    pub disk: Disk,
    /// Whether the command had ended with success.
    pub acknowledged: bool,
    /// Where it was killed.
    pub point: String,
}

/// The folder on a disk in which the command works.
#[must_use]
pub fn home(disk: &Disk) -> PathBuf {
    disk.path().join("home")
}

impl PowerLoss<'_> {
    /// Lets the power fail at every write on a copy of a disk, and shows what is found each time.
    /// Returns how often that was.
    pub fn everywhere(&self, disk: &Disk, show: &mut dyn FnMut(&Found)) -> io::Result<usize> {
        disk.sync()?;
        let log = tempfile::NamedTempFile::new()?;
        let complete = disk.after_power_loss()?;
        let mut points: Vec<_> = self
            .stops(&complete, log.path())
            .points(&home(&complete), self.arguments)?
            .into_iter()
            .filter(|point| point.contains("signal=KILL") && !point.starts_with("openat:"))
            .map(Some)
            .collect();
        points.push(None);
        for point in &points {
            let copy = disk.after_power_loss()?;
            let stops = self.stops(&copy, log.path());
            let output = stops.run(&home(&copy), self.arguments, point.as_deref())?;
            let acknowledged = output.status.success();
            let point = point.clone().unwrap_or_else(|| "at its end".into());
            show(&Found { disk: copy.after_power_loss()?, acknowledged, point });
        }
        Ok(points.len())
    }

    /// The same at the end of a command whose syncs do nothing: proof that a loss is seen.
    pub fn without_syncs(&self, disk: &Disk) -> io::Result<Found> {
        disk.sync()?;
        let (log, copy) = (tempfile::NamedTempFile::new()?, disk.after_power_loss()?);
        let none = "fsync,fdatasync,sync_file_range,syncfs,msync:retval=0";
        let output = self.stops(&copy, log.path()).run(&home(&copy), self.arguments, Some(none))?;
        let acknowledged = output.status.success();
        Ok(Found { disk: copy.after_power_loss()?, acknowledged, point: none.into() })
    }

    fn stops(&self, disk: &Disk, log: &Path) -> Stops {
        let (program, folder_by) = (self.program.clone(), self.folder_by);
        let (launcher, log) = (disk.launcher(), log.to_owned());
        Stops { launcher, program, folder_by, calls: CALLS, log }
    }
}
