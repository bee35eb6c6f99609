//! What commands write with: results to standard output, everything else to standard error.
//!
//! A command's results are collected and written with as few system calls as possible; a reader
//! that closes the pipe early is no error.

use std::ffi::OsString;
use std::io::Write as _;

use osm_store::Export;
use serde::Serialize;

use super::{ProgressLine, Screen, Table, Text, ToText, aligned, escape};
use crate::World;
use crate::error::{CommandError, Exit};
use crate::interaction::{CannotAsk, Interaction, Progress};
use crate::interrupt::Interrupt;

/// The writer of a command.
pub(crate) struct Ui<'a> {
    out: String,
    world: &'a World,
    /// Errors are JSON, too.
    json: bool,
    /// What standard error shows of long work.
    progress: ProgressLine,
}

impl<'a> Ui<'a> {
    pub(crate) fn new(world: &'a World, json: bool) -> Self {
        Self { out: String::new(), world, json, progress: ProgressLine::new(world, json) }
    }

    /// A writer that writes at once, for a mode.
    pub(crate) fn screen(&mut self) -> Result<Screen, CommandError> {
        self.finish()?;
        Ok(Screen::new(self.world, self.progress.clone()))
    }

    /// Adds a line for people.
    pub(crate) fn line<'t>(&mut self, text: impl Into<Text<'t>>) {
        text.into().write_lines(&mut self.out, self.world.wants_color());
        self.out.push('\n');
    }

    /// Adds a line that programs read, too: exact in a pipe, escaped on a terminal.
    pub(crate) fn value(&mut self, text: &str) {
        self.document(text);
        self.out.push('\n');
    }

    /// Adds a whole document: exact in a pipe, escaped on a terminal.
    pub(crate) fn document(&mut self, text: &str) {
        if self.world.stdout_is_terminal() {
            self.out.push_str(&escape::lines(text));
        } else {
            self.out.push_str(text);
        }
    }

    /// Adds the answer to another program, exactly as that program reads it.
    pub(crate) fn payload(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Adds a value as JSON.
    pub(crate) fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        let text = serde_json::to_string_pretty(value).expect("results are JSON");
        if self.world.stdout_is_terminal() {
            self.out.push_str(&escape::json(&text));
        } else {
            self.out.push_str(&text);
        }
        self.out.push('\n');
    }

    /// Writes a session as JSON. One that is large is not collected first.
    pub(crate) fn export(&mut self, export: &Export) -> Result<(), CommandError> {
        match export {
            Export::Plain(value) => self.json(value),
            Export::Stored(pieces) if self.world.stdout_is_terminal() => {
                let text = pieces.clone().join();
                self.out.push_str(&escape::json(&String::from_utf8_lossy(&text)));
            }
            Export::Stored(pieces) => {
                self.finish()?;
                let _line = self.progress.hold();
                let mut stdout = std::io::stdout().lock();
                pieces.write_to(&mut stdout)?;
                stdout.flush()?;
            }
        }
        Ok(())
    }

    /// Adds a table with a heading.
    pub(crate) fn table(&mut self, table: &Table) {
        table.write(&mut self.out, self.world.wants_color(), self.world.columns());
    }

    /// Adds rows of cells with their columns aligned.
    pub(crate) fn aligned<Row: AsRef<[Cell]>, Cell: ToText>(&mut self, rows: &[Row]) {
        let text = aligned(rows, self.world.wants_color(), self.world.columns());
        self.out.push_str(&text);
    }

    /// Tells of something on standard error that is not an error.
    pub(crate) fn warn(&mut self, text: &str) {
        self.message("warning", text);
    }

    /// Tells on standard error what was done besides.
    pub(crate) fn note(&mut self, text: &str) {
        self.message("note", text);
    }

    /// Tells on standard error what to do next.
    pub(crate) fn hint(&mut self, text: &str) {
        self.message("hint", text);
    }

    fn message(&mut self, kind: &str, text: &str) {
        // If standard error is closed, there is no way left to say so.
        // Further lines are indented: a line end in a file's name cannot make it look like a message.
        let text = escape::lines(text).replace('\n', "\n  ");
        let _line = self.progress.hold();
        drop(writeln!(std::io::stderr(), "osm: {kind}: {text}"));
    }

    /// Writes what was collected.
    pub(crate) fn finish(&mut self) -> Result<(), CommandError> {
        let out = std::mem::take(&mut self.out);
        let _line = self.progress.hold();
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(out.as_bytes())?;
        stdout.flush()?;
        Ok(())
    }

    /// Says that the command failed: on standard error, or as JSON on standard output.
    pub(crate) fn fail(&mut self, error: &CommandError) -> Exit {
        if let Some(report) = error.report().filter(|_| self.json) {
            self.json(&report);
            drop(self.finish());
            return error.exit();
        }
        if let CommandError::Arguments(error) = error {
            // The argument parser repeats what was typed, among its own styles.
            let is_unsafe = |it: &OsString| it.to_string_lossy().contains(escape::is_unsafe);
            if self.world.arguments.iter().any(is_unsafe) {
                let text = error.render().to_string();
                drop(std::io::stderr().write_all(escape::lines(&text).as_bytes()));
            } else {
                drop(error.print());
            }
        } else if let Some(message) = error.message() {
            self.message("error", &message);
            for hint in error.hints() {
                self.hint(&hint);
            }
        }
        error.exit()
    }
}

impl Interaction for Ui<'_> {
    fn begin(&mut self, what: &str) -> Progress {
        self.progress.begin(what, Some(Interrupt::catch()))
    }

    fn confirm(&mut self, question: &str) -> Result<bool, CannotAsk> {
        if !self.world.stdin_is_terminal() {
            return Err(CannotAsk);
        }
        let is_written = self.finish().is_ok();
        let _line = self.progress.hold();
        let asked =
            is_written && write!(std::io::stderr(), "{} (y/N) ", escape::lines(question)).is_ok();
        let mut answer = String::new();
        if !asked || std::io::stdin().read_line(&mut answer).is_err() {
            return Err(CannotAsk);
        }
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    fn note(&mut self, text: &str) {
        Ui::note(self, text);
    }

    fn warn(&mut self, text: &str) {
        Ui::warn(self, text);
    }

    fn hint(&mut self, text: &str) {
        Ui::hint(self, text);
    }
}
