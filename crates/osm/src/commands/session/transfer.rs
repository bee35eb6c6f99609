//! `osm session export` and `osm session import`: sessions out and in, as plain JSON.

use std::path::{Path, PathBuf};

use osm_store::backend::Current;
use osm_store::layout::LARGEST_DOCUMENT;

use super::elsewhere;
use crate::cli::{Force, Sure};
use crate::error::CommandError;
use crate::interaction::confirm;
use crate::invocation::Invocation;
use crate::render::Ui;

pub(super) fn export(
    id: Option<&str>,
    output: Option<&Path>,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let id = invocation.named(id);
    let session = invocation.store()?.read(&id)?;
    let Some(path) = output else {
        ui.json(&session.to_export());
        return Ok(());
    };
    let json = serde_json::to_string_pretty(&session.to_export()).expect("a session is JSON");
    let failed = |error: std::io::Error| {
        CommandError::failed(format!("cannot write {}: {error}", path.display()))
            .with_hint("name a file that does not exist yet, in a folder of yours")
    };
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path).map_err(failed)?;
    std::io::Write::write_all(&mut file, format!("{json}\n").as_bytes()).map_err(failed)?;
    file.sync_all().map_err(failed)?;
    ui.line(format!("exported {id} to {}", path.display()));
    Ok(())
}

pub(super) fn import(
    files: &[PathBuf],
    id: Option<&str>,
    force: Force,
    sure: Sure,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let store = invocation.store_to_change(force.force)?;
    if id.is_some() && files.len() > 1 {
        return Err(CommandError::failed("one --as cannot name several sessions")
            .with_hint("import the files one by one")
            .exiting(crate::Exit::Usage));
    }
    for file in files {
        let bytes = read(file)?;
        let place = file.display().to_string();
        let session = store.snapshot(bytes.clone(), &place)?;
        let target = id.map_or_else(|| session.id.clone(), |id| invocation.named(Some(id)));
        if sure.dry_run {
            ui.line(format!("would import {place} as {target}"));
            continue;
        }
        elsewhere::warn(&store, std::slice::from_ref(&target), ui);
        if !matches!(store.backend().load(&target, None)?, Current::Missing) {
            let question =
                format!("Session {target} exists. Archive it and put {place} in its place?");
            confirm(sure.yes, &question, ui)?;
        }
        let (imported, archived) = store.import(bytes, &place, Some(&target))?;
        ui.line(format!("imported {place} as {imported}"));
        if let Some(archived) = archived {
            ui.line(format!("what was there is archived as {archived}"));
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<Vec<u8>, CommandError> {
    let failed = |reason: String| {
        CommandError::failed(format!("cannot read {}: {reason}", file.display()))
            .with_hint("name a session's file or an export of one")
    };
    let about = std::fs::metadata(file).map_err(|error| failed(error.to_string()))?;
    if !about.is_file() {
        return Err(failed("not a file".into()));
    }
    if about.len() > LARGEST_DOCUMENT {
        return Err(failed(format!("larger than {LARGEST_DOCUMENT} bytes")));
    }
    std::fs::read(file).map_err(|error| failed(error.to_string()))
}
