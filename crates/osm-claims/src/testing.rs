//! Values that tests of several modules use.

use osm_identity::{Pid, ProcessInstance, StartTime};

/// A process of a machine that does not exist.
pub(crate) fn process(pid: u32) -> ProcessInstance {
    ProcessInstance {
        pid: Pid(pid),
        start: StartTime(1),
        boot: "boot".into(),
        namespace: "pid:[1]".into(),
        inode: Some(u64::from(pid)),
        machine: Some("machine".into()),
        seen: None,
        clock: None,
        name: "agent".into(),
    }
}
