//! A file to begin a goal of one's own with.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::{CommandError, Exit};
use crate::goals::{self, Form};
use crate::invocation::Invocation;
use crate::render::Ui;

pub(super) fn new(
    name: &str,
    description: Option<&str>,
    here: bool,
    json_file: bool,
    invocation: &Invocation,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let usage = |reason: String| CommandError::failed(reason).exiting(Exit::Usage);
    goals::check_name(name).map_err(usage)?;
    if description.is_some_and(|text| text.trim().is_empty()) {
        return Err(usage("the description is empty".into()));
    }
    let folder = folder(here, invocation)?;
    let form = if json_file { Form::Json } else { Form::PromptFile };
    let file = folder.join(form.file_name(name));
    write(&folder, &file, &goals::scaffold(form, name, description), here)?;
    ui.value(&file.display().to_string());
    if goals::built_in_names().any(|built_in| built_in == name) {
        ui.hint(&if here {
            format!("there is a built-in goal of that name: this one is {name}@tree")
        } else {
            format!("it takes the place of the built-in goal, which is {name}@builtin now")
        });
    }
    if here && json_file {
        ui.hint(&format!("its code runs after: osm trust {}", super::quoted(&file)));
    }
    Ok(())
}

fn folder(here: bool, invocation: &Invocation) -> Result<PathBuf, CommandError> {
    if !here {
        return Ok(invocation.home()?.join("goals"));
    }
    let folder = invocation.world.folder();
    let folder = folder.ok_or_else(|| CommandError::failed("the working directory is gone"))?;
    Ok(folder.join(".osm").join("goals"))
}

/// Writes a file that must not exist. What is for others is as readable as anything in a repository.
fn write(folder: &Path, file: &Path, text: &str, for_others: bool) -> Result<(), CommandError> {
    let cannot = |action: &str, path: &Path, error: &std::io::Error| {
        CommandError::failed(format!("cannot {action} {}: {error}", path.display()))
    };
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if !for_others {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    #[cfg(not(unix))]
    let _everywhere_the_same = for_others;
    builder.create(folder).map_err(|error| cannot("make", folder, &error))?;
    let mut opened = options.open(file).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            CommandError::failed(format!("{} exists: it was left as it is", file.display()))
                .with_hint("edit it, or choose another name")
        }
        _ => cannot("write", file, &error),
    })?;
    opened
        .write_all(text.as_bytes())
        .and_then(|()| opened.sync_all())
        .map_err(|error| cannot("write", file, &error))
}
