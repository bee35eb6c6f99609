//! `osm man`: manual pages, made from the tree of commands.

use std::path::Path;

use clap::Command;

use crate::cli;
use crate::error::{CommandError, Exit};
use crate::render::Ui;

/// Prints the page of a command, or writes those of all commands into a folder.
pub(super) fn run(
    words: &[String],
    folder: Option<&Path>,
    ui: &mut Ui,
) -> Result<(), CommandError> {
    let root = cli::command();
    let Some(folder) = folder else {
        ui.document(&page(find(&root, words)?)?);
        return Ok(());
    };
    let failed = |what: &str, path: &Path, error: std::io::Error| {
        CommandError::failed("io", format!("cannot {what} {}: {error}", path.display()))
            .with_hint("name a folder that you can write to")
    };
    std::fs::create_dir_all(folder).map_err(|error| failed("create", folder, error))?;
    let mut pages = Vec::new();
    collect("osm", &root, &mut pages)?;
    for (name, text) in &pages {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|error| failed("write", &path, error))?;
    }
    ui.line(format!("{} pages written to {}", pages.len(), folder.display()));
    Ok(())
}

/// The command that some words name.
fn find<'a>(root: &'a Command, words: &[String]) -> Result<&'a Command, CommandError> {
    words.iter().try_fold(root, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            CommandError::failed("usage", format!("no command {:?}", words.join(" ")))
                .with_hint("list the commands: osm help")
                .exiting(Exit::Usage)
        })
    })
}

/// The pages of a command and of all below it, with the names of their files.
fn collect(
    name: &str,
    command: &Command,
    pages: &mut Vec<(String, String)>,
) -> Result<(), CommandError> {
    pages.push((format!("{name}.1"), page(command)?));
    let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
    for below in shown.filter(|it| it.get_name() != "help") {
        collect(&format!("{name}-{}", below.get_name()), below, pages)?;
    }
    Ok(())
}

/// One page, in the format of man.
fn page(command: &Command) -> Result<String, CommandError> {
    let page = clap_mangen::Man::new(command.clone())
        .section("1")
        .source(concat!("osm ", env!("CARGO_PKG_VERSION")))
        .manual("osm");
    let mut text = Vec::new();
    page.render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
