//! The writer of a mode. It flushes every text at once, because a person waits for it.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::rc::Rc;

use super::escape::lines;
use super::{ProgressLine, Text, ToText, aligned};
use crate::World;
use crate::error::CommandError;
use crate::interaction::{CannotAsk, Interaction, Progress};

/// A writer that several owners share.
#[derive(Clone)]
pub(crate) struct Screen {
    color: bool,
    /// Results go to a terminal of this width, and are escaped.
    columns: Option<usize>,
    /// A person works at a terminal: messages need not name the program.
    is_watched: bool,
    /// Results and messages are not printed.
    muted: Rc<Cell<bool>>,
    /// Why standard output cannot be written: usually its reader has closed it.
    broken: Rc<Cell<Option<io::ErrorKind>>>,
    /// What standard error shows of long work.
    progress: ProgressLine,
}

impl Screen {
    pub(super) fn new(world: &World, progress: ProgressLine) -> Self {
        Self {
            color: world.wants_color(),
            columns: world.columns(),
            is_watched: world.stdin_is_terminal() && world.stderr_is_terminal(),
            muted: Rc::default(),
            broken: Rc::default(),
            progress,
        }
    }

    /// Begins long work of a command, which Ctrl-C stops in its own way.
    pub(crate) fn begin(&self, what: &str) -> Progress {
        self.progress.begin(what, None)
    }

    /// The line that shows long work.
    pub(crate) fn progress_line(&self) -> ProgressLine {
        self.progress.clone()
    }

    pub(crate) fn wants_color(&self) -> bool {
        self.color
    }

    /// Suppresses all results and messages, or prints them again; errors are always printed.
    pub(crate) fn mute(&self, mute: bool) {
        self.muted.set(mute);
    }

    /// Writes a text of one or more lines: exact in a pipe, escaped on a terminal.
    pub(crate) fn print(&self, text: &str) {
        if self.muted.get() {
            return;
        }
        let end = if text.ends_with('\n') { "" } else { "\n" };
        self.write(|to| to.write_all(text.as_bytes()).and_then(|()| to.write_all(end.as_bytes())));
    }

    /// Writes a text for people.
    pub(crate) fn show<'t>(&self, text: impl Into<Text<'t>>) {
        if self.muted.get() {
            return;
        }
        let mut shown = String::new();
        text.into().write_lines(&mut shown, self.color);
        if !shown.ends_with('\n') {
            shown.push('\n');
        }
        self.write_exact(|to| to.write_all(shown.as_bytes()));
    }

    /// Writes rows of cells with their columns aligned.
    pub(crate) fn show_aligned<Row: AsRef<[Cell]>, Cell: ToText>(&self, rows: &[Row]) {
        if !self.muted.get() {
            let text = aligned(rows, self.color, self.columns);
            self.write_exact(|to| to.write_all(text.as_bytes()));
        }
    }

    /// Lets `write` write a large result: exact in a pipe, escaped on a terminal.
    pub(crate) fn write(&self, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) {
        if self.columns.is_none() {
            return self.write_exact(write);
        }
        let mut bytes = Vec::new();
        self.write_exact(|to| {
            write(&mut bytes)?;
            to.write_all(lines(&String::from_utf8_lossy(&bytes)).as_bytes())
        });
    }

    fn write_exact(&self, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) {
        let _line = self.progress.hold();
        let mut stdout = io::stdout().lock();
        if let Err(error) = write(&mut stdout).and_then(|()| stdout.flush()) {
            self.broken.set(Some(error.kind()));
        }
    }

    /// Why standard output cannot be written; returned once.
    pub(crate) fn take_failure(&self) -> Option<CommandError> {
        self.broken.take().map(|kind| CommandError::from(io::Error::from(kind)))
    }

    /// Writes a message about progress to standard error.
    pub(crate) fn tell(&self, text: &str) {
        if !self.muted.get() {
            self.write_error(text);
        }
    }

    /// Writes a text to standard error.
    pub(crate) fn write_error(&self, text: &str) {
        self.write_styled_error(&lines(text));
    }

    fn write_styled_error(&self, text: &str) {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        let _line = self.progress.hold();
        // If standard error is closed, there is no way left to say so.
        drop(io::stderr().lock().write_all(format!("{text}{end}").as_bytes()));
    }

    /// Writes an error and its hints.
    pub(crate) fn error(&self, message: &str, hints: &[String]) {
        let mut text = format!("{}{}", self.label("error", 31), lines(message));
        for hint in hints {
            let _infallible = write!(text, "\n{}{}", self.label("hint", 2), lines(hint));
        }
        self.write_styled_error(&text);
    }

    pub(crate) fn note(&self, message: &str) {
        self.write_styled_error(&format!("{}{}", self.label("note", 36), lines(message)));
    }

    pub(crate) fn warn(&self, message: &str) {
        self.write_styled_error(&format!("{}{}", self.label("warning", 33), lines(message)));
    }

    pub(crate) fn hint(&self, message: &str) {
        self.write_styled_error(&format!("{}{}", self.label("hint", 2), lines(message)));
    }

    /// The beginning of a message: the program, unless a person sees that it is osm, and the kind.
    fn label(&self, kind: &str, code: u8) -> String {
        match (self.is_watched, self.color) {
            (false, _) => format!("osm: {kind}: "),
            (true, false) => format!("{kind}: "),
            (true, true) => format!("\x1b[{code}m{kind}:\x1b[0m "),
        }
    }

    /// Asks for a line, if a person can type one.
    pub(crate) fn ask(&self, prompt: &str) -> Option<String> {
        if !self.is_watched {
            return None;
        }
        let _line = self.progress.hold();
        let mut stderr = io::stderr().lock();
        stderr.write_all(lines(prompt).as_bytes()).and_then(|()| stderr.flush()).ok()?;
        drop(stderr);
        let mut line = String::new();
        let length = io::stdin().read_line(&mut line).ok()?;
        (length > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned())
    }

    /// Writes to the terminal without a line about long work in between.
    pub(crate) fn send_to_terminal(&self, bytes: &[u8]) -> io::Result<()> {
        let _line = self.progress.hold();
        Self::to_terminal(bytes)
    }

    /// Writes to the terminal, even if the standard streams are redirected.
    pub(crate) fn to_terminal(bytes: &[u8]) -> io::Result<()> {
        #[cfg(unix)]
        {
            let mut terminal = std::fs::File::options().write(true).open("/dev/tty")?;
            terminal.write_all(bytes)
        }
        #[cfg(not(unix))]
        {
            let mut terminal = io::stderr().lock();
            terminal.write_all(bytes).and_then(|()| terminal.flush())
        }
    }
}

impl Interaction for Screen {
    fn begin(&mut self, what: &str) -> Progress {
        Screen::begin(self, what)
    }

    fn confirm(&mut self, question: &str) -> Result<bool, CannotAsk> {
        let answer = self.ask(&format!("{question} (y/N) ")).ok_or(CannotAsk)?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    fn note(&mut self, message: &str) {
        Screen::note(self, message);
    }

    fn warn(&mut self, message: &str) {
        Screen::warn(self, message);
    }

    fn hint(&mut self, message: &str) {
        Screen::hint(self, message);
    }
}
