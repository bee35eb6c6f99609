//! The conversation that an agent writes down under its pid, for commands that no variable reaches.
//!
//! A file outlives its process, and its pid is given to another. So the record counts only if it
//! names the exact process, by pid and start, and if no other user can have written it. Where it
//! does not count, the agent's process is the session, and the reason is said.

use std::ffi::OsString;
use std::path::PathBuf;

use serde_json::Value;

use crate::catalogue::{Agent, Record};
use crate::process::Process;
use crate::scene::Scene;

/// The longest id of a conversation that is believed.
const MOST_LENGTH: usize = 128;

/// The file and the conversation in it, for an agent whose processes are `at..=top`; `None` for an
/// agent that writes no record.
pub(super) fn conversation(
    scene: &Scene,
    at: usize,
    top: usize,
    agent: &Agent,
) -> Option<Result<(PathBuf, OsString), String>> {
    let record = agent.record?;
    let run = scene.ancestry.known().get(at..=top)?;
    let mut doubt = None;
    // A launcher has none; the first reason is that of the process that runs the commands.
    for process in run {
        match read(scene, process, record) {
            Ok(found) => return Some(Ok(found)),
            Err(reason) => doubt = doubt.or(Some(reason)),
        }
    }
    Some(Err(doubt.unwrap_or_default()))
}

fn read(scene: &Scene, process: &Process, record: Record) -> Result<(PathBuf, OsString), String> {
    let folder = folder(scene, process, record)
        .ok_or_else(|| format!("the home of process {} cannot be read", process.pid))?;
    let path = folder.join(record.folder).join(format!("{}.json", process.pid));
    let content = scene.source.record(process.pid, &path);
    let conversation = content
        .map_err(|error| error.to_string())
        .and_then(|content| parse(&content, process, record));
    match conversation {
        Ok(id) => Ok((path, id)),
        Err(reason) => Err(format!("{} does not count: {reason}", path.display())),
    }
}

/// The folder that the agent was told to use, not the one that we would be.
fn folder(scene: &Scene, process: &Process, record: Record) -> Option<PathBuf> {
    let moved = scene.initial(process.pid, record.moved_by).map(PathBuf::from);
    let home = || Some(PathBuf::from(scene.initial(process.pid, "HOME")?).join(record.home));
    moved.or_else(home).filter(|path| path.is_absolute())
}

fn parse(content: &[u8], process: &Process, record: Record) -> Result<OsString, String> {
    let document: Value =
        serde_json::from_slice(content).map_err(|error| format!("it is not JSON: {error}"))?;
    if document["pid"].as_u64() != Some(u64::from(process.pid.0)) {
        return Err("it names another process".into());
    }
    if document[record.start].as_str() != Some(process.start.to_string().as_str()) {
        return Err(format!("it is not of the process that started at {}", process.start));
    }
    let id = document[record.conversation].as_str().unwrap_or_default().trim();
    if id.is_empty() || id.len() > MOST_LENGTH || id.contains(char::is_control) {
        return Err(format!("it has no {}", record.conversation));
    }
    Ok(id.into())
}
