//! What is left of a file that was replaced: its space, which another hand gives back.
//!
//! To give back the space of the old content takes a file system up to a third as long as all else
//! that a save does, and no caller waits for it. So the old file is held open while another one
//! takes its name, and a thread lets go of it. The next save waits for that thread: on a full
//! disk there is no other space.

use std::fs::File;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};

/// The old content that is being given back.
#[derive(Debug, Default)]
pub(crate) struct DelayedClose(Mutex<Option<JoinHandle<()>>>);

impl DelayedClose {
    /// Gives back a file, soon.
    pub(crate) fn leave(&self, old: File) {
        // Without a thread the file is closed here, with the closure that holds it.
        let thread = thread::Builder::new().name("delayed_close".into()).spawn(move || drop(old));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = thread.ok();
    }

    /// Waits until everything is given back.
    pub(crate) fn wait(&self) {
        let thread = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // To close a file cannot panic.
            let _closed = thread.join();
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_is_gone_after_a_wait() {
        use std::os::fd::AsRawFd as _;

        let delayed_close = DelayedClose::default();
        delayed_close.wait();
        let file = tempfile::tempfile().unwrap();
        let (link, inode) = (format!("/proc/self/fd/{}", file.as_raw_fd()), inode(&file));
        delayed_close.leave(file);
        delayed_close.wait();
        // Another file may have the number by now.
        assert!(File::open(link).map_or(true, |other| self::inode(&other) != inode));
    }

    fn inode(file: &File) -> u64 {
        std::os::unix::fs::MetadataExt::ino(&file.metadata().unwrap())
    }
}
