//! Changes of a session in files.
//!
//! A document is replaced by a rename, which Linux reports for the folder (inotify). Other systems
//! do not report it, and network file systems do not report what other machines do, so the document
//! is also looked at from time to time; that look alone decides whether it changed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use osm_identity::SessionId;

use super::FileStore;
use crate::backend::{Stamp, Wait, Watch};
use crate::error::Result;
use crate::fs::folder::Folder;
use crate::layout;

/// How often the document is looked at where nothing reports changes.
const POLL: Duration = Duration::from_millis(100);
/// How often it is looked at although the system reports changes.
#[cfg(target_os = "linux")]
const RARE_POLL: Duration = Duration::from_secs(1);

pub(super) struct FileWatch {
    store: Arc<FileStore>,
    name: String,
    seen: Option<Stamp>,
    #[cfg(target_os = "linux")]
    reports: Option<linux::Reports>,
}

impl FileWatch {
    pub(super) fn new(store: &Arc<FileStore>, id: &SessionId) -> Result<Self> {
        let mut watch = Self {
            store: Arc::clone(store),
            name: layout::document(id),
            seen: None,
            #[cfg(target_os = "linux")]
            reports: None,
        };
        // Reports begin before the first look, so that no change falls in between.
        let folder = watch.prepare()?;
        watch.seen = watch.look(folder.as_deref())?;
        Ok(watch)
    }

    /// The folder, and reports of it if it is new to us.
    fn prepare(&mut self) -> Result<Option<Arc<Folder>>> {
        let folder = self.store.sessions.existing()?;
        #[cfg(target_os = "linux")]
        match &folder {
            Some(folder) if self.reports.as_ref().is_none_or(|it| !it.is_of(folder)) => {
                self.reports = linux::Reports::of(folder);
            }
            Some(_) => {}
            None => self.reports = None,
        }
        Ok(folder)
    }

    fn look(&self, folder: Option<&Folder>) -> Result<Option<Stamp>> {
        let Some(folder) = folder else { return Ok(None) };
        Ok(folder.checked_facts(&self.name)?.map(|facts| facts.stamp))
    }

    fn pause(&self, left: Duration) {
        #[cfg(target_os = "linux")]
        if let Some(reports) = &self.reports {
            return reports.wait(left.min(RARE_POLL));
        }
        std::thread::sleep(left.min(POLL));
    }
}

impl Watch for FileWatch {
    fn changed(&mut self, wait: Wait) -> Result<bool> {
        let began = Instant::now();
        loop {
            let folder = self.prepare()?;
            let found = self.look(folder.as_deref())?;
            if found != self.seen {
                self.seen = found;
                return Ok(true);
            }
            let left = wait.0.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            self.pause(left);
        }
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::mem::MaybeUninit;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};

    use crate::fs::folder::Folder;

    /// What the system reports of a folder.
    pub(super) struct Reports {
        queue: OwnedFd,
        folder: (u64, u64),
    }

    impl Reports {
        /// `None` where the system has no more of them to give.
        pub(super) fn of(folder: &Folder) -> Option<Self> {
            let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
            // By its descriptor: the path may lead elsewhere by now.
            let path = format!("/proc/self/fd/{}", folder.handle().as_raw_fd());
            let flags = WatchFlags::MOVED_TO
                | WatchFlags::DELETE
                | WatchFlags::MOVE_SELF
                | WatchFlags::DELETE_SELF;
            inotify::add_watch(&queue, path, flags).ok()?;
            Some(Self { queue, folder: folder.identity() })
        }

        pub(super) fn is_of(&self, folder: &Folder) -> bool {
            self.folder == folder.identity()
        }

        /// Waits for a report, and takes all that are there.
        pub(super) fn wait(&self, wait: Duration) {
            let Ok(wait) = Timespec::try_from(wait) else { return };
            let mut fds = [PollFd::new(&self.queue, PollFlags::IN)];
            // Whatever ends the wait, the caller looks.
            if poll(&mut fds, Some(&wait)) == Ok(0) {
                return;
            }
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = inotify::Reader::new(&self.queue, &mut buffer);
            while reader.next().is_ok() {}
        }
    }
}
