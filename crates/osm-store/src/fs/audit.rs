//! What happened to sessions, one line of JSON for each event.
//!
//! A line is appended by one write, so that lines of several processes never mix. A file that has
//! become large is set aside under a number, the numbers move up, and the oldest goes. A process that
//! opened the file before still appends to it under its new name: nothing is lost.
//!
//! # Platform specific behavior
//!
//! Wine looks for the end of a file and writes there in two steps, so on Windows writers take turns.

use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use std::time::Duration;

use super::folder::{Access, Folder};
use super::lock::{Attempt, FileLock, IfMissing, Mode};
use crate::audit::Event;
use crate::error::Result;
use crate::layout;

/// When a file is set aside.
const LARGE: u64 = 4 << 20;
/// How many older ones are kept.
const KEPT: u32 = 3;

/// How long a writer waits for its turn. To lose a line in a rare race is better than to lose it for
/// sure.
const TURN: Duration = Duration::from_secs(5);

/// Appends an event, which is one line of JSON.
pub(crate) fn append(folder: &Arc<Folder>, event: &Event) -> Result<()> {
    let (name, line) = (layout::AUDIT, event.to_string());
    let turn = if cfg!(windows) { take_turn(folder, TURN)? } else { None };
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
    if facts.size + (text.len() as u64) < LARGE {
        return Ok(());
    }
    let turn = if turn.is_some() { turn } else { take_turn(folder, Duration::ZERO)? };
    // The process that has the turn is just doing that.
    turn.map_or(Ok(()), |turn| rotate(folder, &turn))
}

/// The right to set the file aside, if others let go of it in time.
fn take_turn(folder: &Arc<Folder>, patience: Duration) -> Result<Option<FileLock>> {
    let (mode, missing) = (Mode::Alone, IfMissing::Create);
    match FileLock::acquire(folder, layout::AUDIT_LOCK, mode, missing, patience)? {
        Attempt::Held(lock) => Ok(Some(lock)),
        Attempt::Contended | Attempt::Missing => Ok(None),
    }
}

/// Sets the file aside.
fn rotate(folder: &Arc<Folder>, _turn: &FileLock) -> Result<()> {
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
