//! `osm trust`: say whose code may run.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::World;
use crate::cli::{Format, Trust as Line, TrustCommand};
use crate::error::{CommandError, Exit};
use crate::render::{Style, Ui};
use crate::trust::{self, Record, Trust, Verdict};

/// Nothing that is larger is code that somebody has read.
const MOST_BYTES: u64 = 1 << 20;

pub(super) fn run(line: &Line, world: &World, ui: &mut Ui) -> Result<(), CommandError> {
    match &line.command {
        None => give(&line.paths, line.format, world, ui),
        Some(TrustCommand::List { format }) => list(*format, world, ui),
        Some(TrustCommand::Revoke { paths, format }) => revoke(paths, *format, world, ui),
    }
}

fn give(paths: &[PathBuf], format: Format, world: &World, ui: &mut Ui) -> Result<(), CommandError> {
    let records = paths
        .iter()
        .map(|path| record(path, world))
        .collect::<Result<Vec<Record>, CommandError>>()?;
    trust::change(world, |trusted| {
        trusted.retain(|old| records.iter().all(|new| new.path != old.path));
        trusted.extend(records.iter().cloned());
    })?;
    if format.json {
        let rows: Vec<_> = records.iter().map(|record| to_json(record, Verdict::Trusted)).collect();
        ui.json(&rows);
        return Ok(());
    }
    for record in &records {
        ui.line(format!("trusted as it is now: {}", record.path.display()));
    }
    Ok(())
}

fn record(path: &Path, world: &World) -> Result<Record, CommandError> {
    let cannot = |reason: &str| {
        CommandError::failed(format!("{}: {reason}", path.display()))
            .with_hint("nothing was changed")
    };
    let real = std::fs::canonicalize(path).map_err(|error| {
        let exit = match error.kind() {
            std::io::ErrorKind::NotFound => Exit::NotFound,
            _ => Exit::Failure,
        };
        cannot(&error.to_string()).exiting(exit)
    })?;
    let about = std::fs::metadata(&real).map_err(|error| cannot(&error.to_string()))?;
    if !about.is_file() {
        return Err(cannot("trust is in the content of a file: name the files"));
    }
    if about.len() > MOST_BYTES {
        return Err(cannot(&format!("larger than {MOST_BYTES} bytes")));
    }
    let bytes = std::fs::read(&real).map_err(|error| cannot(&error.to_string()))?;
    Ok(Record { path: real, sha256: trust::digest(&bytes), at: world.now() })
}

fn list(format: Format, world: &World, ui: &mut Ui) -> Result<(), CommandError> {
    let trust = usable(world)?;
    let rows: Vec<(&Record, Verdict)> =
        trust.records.iter().map(|record| (record, state(&trust, record))).collect();
    if format.json {
        let rows: Vec<_> = rows.iter().map(|(record, state)| to_json(record, *state)).collect();
        ui.json(&rows);
        return Ok(());
    }
    if rows.is_empty() {
        ui.line("nothing is trusted");
        return Ok(());
    }
    let mut table = vec![["STATE", "SHA-256", "PATH"].map(|name| Style::Faint.of(name)).to_vec()];
    for (record, state) in rows {
        let short = record.sha256.get(..12).unwrap_or(&record.sha256).to_owned();
        let path = record.path.display().to_string();
        table.push(vec![word(state).into(), short.into(), path.into()]);
    }
    ui.aligned(&table);
    Ok(())
}

fn revoke(
    paths: &[PathBuf],
    format: Format,
    world: &World,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    usable(world)?;
    let folder = world.folder().unwrap_or_default();
    // What is gone can be named as it was.
    let named: Vec<PathBuf> = paths
        .iter()
        .map(|path| std::fs::canonicalize(path).unwrap_or_else(|_| lexical(&folder.join(path))))
        .collect();
    let is_meant = |record: &Record| named.iter().any(|path| record.path.starts_with(path));
    let mut gone = Vec::new();
    trust::change(world, |trusted| {
        gone = trusted.extract_if(.., |record| is_meant(record)).collect();
    })?;
    if gone.is_empty() {
        return Err(CommandError::failed("none of that is trusted")
            .with_hint("see `osm trust list`")
            .exiting(Exit::NotFound));
    }
    if format.json {
        let rows: Vec<_> = gone.iter().map(|record| to_json(record, Verdict::Unknown)).collect();
        ui.json(&rows);
        return Ok(());
    }
    for record in &gone {
        ui.line(format!("no longer trusted: {}", record.path.display()));
    }
    Ok(())
}

/// A path without `.` and `..`, for what cannot be looked at.
fn lexical(path: &Path) -> PathBuf {
    use std::path::Component;
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// What is trusted, unless the file cannot be understood.
fn usable(world: &World) -> Result<Trust, CommandError> {
    let trust = Trust::load(world);
    match &trust.problem {
        Some(problem) => Err(CommandError::failed(problem.clone())
            .with_hint("mend the file, or remove it to begin anew")),
        None => Ok(trust),
    }
}

fn state(trust: &Trust, record: &Record) -> Verdict {
    match std::fs::read(&record.path) {
        Ok(bytes) => trust.verdict(&record.path, &bytes),
        Err(_) => Verdict::Unknown,
    }
}

fn word(state: Verdict) -> &'static str {
    match state {
        Verdict::Trusted => "trusted",
        Verdict::Changed => "changed",
        Verdict::Unknown => "gone",
    }
}

fn to_json(record: &Record, state: Verdict) -> serde_json::Value {
    json!({
        "path": record.path,
        "sha256": record.sha256,
        "at": record.at,
        "state": word(state),
    })
}
