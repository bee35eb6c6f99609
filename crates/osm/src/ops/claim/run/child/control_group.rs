//! A control group for one command, where the system lets us have one.
//!
//! The kernel keeps every descendant in it, and kills all of them in one step: none starts another
//! meanwhile, and those of other users (`sudo`) end as well, to whom we may send no signal. A user has
//! one below a service or a terminal that was delegated by systemd, and root nearly everywhere. Where
//! osm may not make one, and on other systems, the tree of processes must do (`family.rs`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// What the name of every group of ours begins with; the pid of its `osm` follows.
const PREFIX: &str = "osm-claim-";

/// How long a killed process may need to leave its group.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(5);

pub(super) struct ControlGroup {
    folder: PathBuf,
    /// The group that we are in ourselves.
    parent: PathBuf,
}

impl ControlGroup {
    /// Starts a command in a group of its own, if there is one to be had.
    pub(super) fn around<T>(start: impl FnOnce() -> T) -> (T, Option<Self>) {
        let group = Self::create().filter(|group| enter(&group.folder).is_ok());
        // A child begins in the group of its parent; so for this moment it is ours.
        let started = start();
        // If there were no way back, killing the group would kill us.
        (started, group.filter(|group| enter(&group.parent).is_ok()))
    }

    fn create() -> Option<Self> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let parent = own_folder(&mounts, &groups)?;
        remove_abandoned(&parent);
        let folder = parent.join(format!("{PREFIX}{}", std::process::id()));
        // Refused: not ours to divide, or read-only.
        fs::create_dir(&folder).ok()?;
        let group = Self { folder, parent };
        // Linux 5.14 and later.
        group.folder.join("cgroup.kill").exists().then_some(group)
    }

    /// Kills everything in it.
    pub(super) fn kill(&self) {
        // Whether it did is seen by the processes, which are waited for.
        let _killed = fs::write(self.folder.join("cgroup.kill"), "1");
    }

    /// Moves what is left back to our own group, and removes this one.
    fn dissolve(&self) -> io::Result<()> {
        for pid in fs::read_to_string(self.folder.join("cgroup.procs"))?.lines() {
            // One that is ending cannot be moved.
            let _ending = fs::write(self.parent.join("cgroup.procs"), pid);
        }
        fs::remove_dir(&self.folder)
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let mut waited = Duration::ZERO;
        // What stays behind is empty soon, and the next command removes it.
        while self.dissolve().is_err() && self.folder.exists() && waited < PATIENCE {
            thread::sleep(PAUSE);
            waited += PAUSE;
        }
    }
}

/// Moves this process to a group.
fn enter(group: &Path) -> io::Result<()> {
    fs::write(group.join("cgroup.procs"), "0")
}

/// Removes groups of processes that were killed. One that is in use cannot be removed.
fn remove_abandoned(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if pid.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _in_use = fs::remove_dir(entry.path());
        }
    }
}

/// The folder of our own group, from the kernel's lists of mounts and of groups.
fn own_folder(mounts: &str, groups: &str) -> Option<PathBuf> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        if kind.split(' ').next() != Some("cgroup2") {
            return None;
        }
        let mut fields = place.split(' ').skip(3);
        let (root, mount) = (fields.next()?, fields.next()?);
        // Elsewhere than below the root of the mount it cannot be seen.
        let below = Path::new(group).strip_prefix(root).ok()?;
        // A space in a mount point is written as a number: no group is looked for there.
        Some(Path::new(mount).join(below))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_group_is_found_below_its_mount() {
        let v1 = "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n";
        let unified = "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        let container = "7 3 0:9 /pod/a /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n";
        let table = [
            (unified, "4:memory:/x\n0::/user.slice/a\n", Some("/sys/fs/cgroup/unified/user.slice/a")),
            (unified, "0::/\n", Some("/sys/fs/cgroup/unified")),
            (container, "0::/pod/a/b\n", Some("/sys/fs/cgroup/b")),
            (container, "0::/pod/other\n", None),
            (v1, "0::/\n", None),
            (unified, "4:memory:/x\n", None),
            ("", "", None),
            ("nonsense - cgroup2", "0::/", None),
        ];
        for (mounts, groups, expected) in table {
            let mounts = format!("{v1}{mounts}");
            let found = own_folder(&mounts, groups);
            assert_eq!(found.as_deref(), expected.map(Path::new), "{mounts}{groups}");
        }
    }
}
