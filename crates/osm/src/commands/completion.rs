//! `osm completion` prints a script for a shell, and `osm complete` is what that script asks. `osm shell-init`
//! prints all that a shell loads when it starts.
//!
//! The answer's first line says what the shell adds itself (`files`, `programs` or `nothing`). Each
//! further line is a word and, after a tab, what it is.

use std::ffi::OsString;
use std::fmt::Write as _;

use crate::completion::{Shell, read};
use crate::error::CommandError;
use crate::invocation::{Invocation, Options};
use crate::ops::completion;
use crate::render::Ui;
use crate::{World, cli};

pub(super) fn script(shell: Shell, ui: &mut Ui) {
    ui.document(shell.script());
}

/// Prints what a shell loads when it starts.
pub(super) fn init(shell: Shell, wants_prompt: bool, ui: &mut Ui) -> Result<(), CommandError> {
    let prompt = match shell.prompt() {
        _ if !wants_prompt => "",
        Some(prompt) => prompt,
        None => {
            let message = format!("no prompt for {}", shell.name());
            let hint = "put the output of `osm --short` into the prompt yourself";
            return Err(CommandError::failed("no_prompt", message).with_hint(hint));
        }
    };
    ui.document(shell.preparation());
    ui.document(shell.script());
    ui.document(prompt);
    Ok(())
}

pub(super) fn complete(words: &[OsString], world: &World, ui: &mut Ui) {
    let root = cli::command();
    let place = read(&root, words);
    let options = Options {
        session: place.option("session").map(OsString::from),
        store: place.option("store").map(str::to_owned),
    };
    let answer = completion::complete(&Invocation::new(world, options), &place, &root);
    let mut text = format!("{}\n", answer.shell.name());
    for candidate in &answer.candidates {
        writeln!(text, "{}\t{}", candidate.value, candidate.about)
            .expect("writing to a string succeeds");
    }
    ui.document(&text);
}
