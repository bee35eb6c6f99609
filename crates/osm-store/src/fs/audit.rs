//! What happened to sessions, one line of JSON for each event.
//!
//! A line is appended by one write, so that lines of several processes never mix. A file that has
//! become large is set aside under a number, the numbers move up, and the oldest goes. Whoever
//! opened the file before that still appends to it under its new name: nothing is lost.

use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::time::Duration;

use super::folder::{Access, Folder};
use super::lock::{Attempt, FileLock, IfMissing, Mode};
use crate::error::{Error, Result};
use crate::layout;

/// When a file is set aside.
const LARGE: u64 = 4 << 20;
/// How many older ones are kept.
const KEPT: u32 = 3;

/// Appends an event.
pub(crate) fn append(folder: &Arc<Folder>, line: &str) -> Result<()> {
    if line.contains(['\n', '\r']) {
        return Err(Error::Invalid("an event of the audit is one line".into()));
    }
    let name = layout::AUDIT;
    let Some((mut file, facts)) = folder.open_file(name, Access::Append)? else {
        return Err(folder.error("open", name, std::io::ErrorKind::NotFound.into()));
    };
    let mut text = Vec::with_capacity(line.len() + 2);
    let mut last = [b'\n'];
    let written = (|| {
        if facts.size > 0 {
            // A line that was cut short by a full disk must not swallow the next one.
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        if last != *b"\n" {
            text.push(b'\n');
        }
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
        file.write_all(&text)
    })();
    written.map_err(|error| folder.error("append to", name, error))?;
    if facts.size + text.len() as u64 >= LARGE { rotate(folder) } else { Ok(()) }
}

/// Sets the file aside, unless somebody else is just doing that.
fn rotate(folder: &Arc<Folder>) -> Result<()> {
    let lock = layout::AUDIT_LOCK;
    let attempt = FileLock::acquire(folder, lock, Mode::Alone, IfMissing::Create, Duration::ZERO)?;
    let Attempt::Held(_lock) = attempt else {
        return Ok(());
    };
    if folder.facts(layout::AUDIT)?.is_none_or(|facts| facts.size < LARGE) {
        return Ok(()); // It was done while we came.
    }
    let move_up = |from: &str, to: &str| match folder.rename(from, to) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(folder.error("rename", from, error))
        }
        _ => Ok(()),
    };
    for number in (1..KEPT).rev() {
        move_up(&layout::older_audit(number), &layout::older_audit(number + 1))?;
    }
    move_up(layout::AUDIT, &layout::older_audit(1))
}
