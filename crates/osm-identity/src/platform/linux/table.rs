//! Whose process table `/proc` is.
//!
//! It is mounted for one pid namespace, and a process of another can see it: `unshare --pid`
//! without a mount, `nsenter --pid`, `nsenter --mount`, many sandboxes. There, `/proc/N` for our
//! own number N is a stranger. `/proc/self` is always right: it is our number in that table, and
//! dangles if we are not in it.

use std::path::Path;
use std::sync::OnceLock;

use crate::parse::linux_status;
use crate::process::{Pid, ProcessSource, ReadError};

use super::System;

/// The first pid namespace of every Linux machine (`PROC_PID_INIT_INO`).
const FIRST: &str = "pid:[4026531836]";

/// Our number in the table; `None` if we are not in it, and nothing in it can be told.
pub(super) fn own_pid() -> Option<u32> {
    static OWN: OnceLock<Option<u32>> = OnceLock::new();
    *OWN.get_or_init(|| std::fs::read_link("/proc/self").ok()?.to_str()?.parse().ok())
}

/// Fails if we are not in the table: its numbers are of processes that we know nothing about.
pub(super) fn check() -> Result<(), ReadError> {
    match own_pid() {
        Some(_) => Ok(()),
        None if Path::new("/proc/self").is_symlink() => Err(ReadError::AnotherNamespace),
        None => Err(ReadError::Absent),
    }
}

/// Whether the table's numbers are those that system calls take.
pub(super) fn is_ours() -> bool {
    own_pid() == Some(std::process::id())
}

/// The pid namespace that the table shows, and whether it is another than the machine's first.
pub(super) fn namespace() -> Result<(String, bool), ReadError> {
    let ours = link("/proc/self/ns/pid")?;
    if is_ours() {
        let contained = ours != FIRST;
        return Ok((ours, contained));
    }
    // The first process of a table is in its namespace, but often another user's.
    match link("/proc/1/ns/pid").ok().or_else(ancestors).or_else(by_kernel_threads) {
        Some(shown) => {
            let contained = shown != FIRST;
            Ok((shown, contained))
        }
        // Without a name of its own it is the one around ours; its first process is not ours.
        None => Ok((format!("around {ours}"), false)),
    }
}

/// The namespace of the nearest ancestor that has no number but the table's.
fn ancestors() -> Option<String> {
    let mut pid = Pid(own_pid()?);
    for _ in 0..crate::ancestry::MOST_STEPS {
        let status = std::fs::read(format!("/proc/{pid}/status")).ok()?;
        if linux_status::nested_pids(&status).is_ok_and(|pids| pids.len() == 1) {
            return link(format!("/proc/{pid}/ns/pid")).ok();
        }
        pid = System.process(pid).ok()?.parent;
    }
    None
}

/// Only the machine's first namespace shows the kernel's own processes.
fn by_kernel_threads() -> Option<String> {
    let process = System.process(Pid(2)).ok()?;
    (process.parent == Pid(0) && process.name == "kthreadd").then(|| FIRST.to_owned())
}

fn link(path: impl AsRef<Path>) -> Result<String, ReadError> {
    Ok(std::fs::read_link(path)?.to_string_lossy().into_owned())
}
