//! Values that tests of several modules use.

use crate::liveness::Process;

/// A process of a machine that does not exist.
pub(crate) fn process(pid: u32) -> Process {
    Process {
        pid,
        start: 1,
        boot: "boot".into(),
        namespace: "pid:[1]".into(),
        inode: Some(u64::from(pid)),
        machine: Some("machine".into()),
        clock: None,
        name: "agent".into(),
    }
}
