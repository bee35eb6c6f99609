//! What is written at once: a program that is talked to cannot collect what it says.

use std::cell::Cell;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::rc::Rc;

use osm_context::shown_lines;

use super::Style;
use crate::World;
use crate::error::CommandError;

/// A writer that many hold.
#[derive(Clone)]
pub(crate) struct Screen {
    color: bool,
    /// Somebody sits there: messages need not say who talks.
    is_watched: bool,
    /// Nothing is printed for now.
    hushed: Rc<Cell<bool>>,
    /// The reader of our output went away, or it cannot be written.
    broken: Rc<Cell<Option<io::ErrorKind>>>,
}

impl Screen {
    pub(super) fn new(world: &World) -> Self {
        Self {
            color: world.wants_color(),
            is_watched: world.can_ask() && world.is_watched(),
            hushed: Rc::default(),
            broken: Rc::default(),
        }
    }

    pub(crate) fn wants_color(&self) -> bool {
        self.color
    }

    /// Has nothing printed, or everything again.
    pub(crate) fn hush(&self, hush: bool) {
        self.hushed.set(hush);
    }

    /// Writes a text that is a line or more.
    pub(crate) fn print(&self, text: &str) {
        if self.hushed.get() {
            return;
        }
        let end = if text.ends_with('\n') { "" } else { "\n" };
        self.write(|to| to.write_all(text.as_bytes()).and_then(|()| to.write_all(end.as_bytes())));
    }

    /// Has somebody write what is too large for one text.
    pub(crate) fn write(&self, write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>) {
        let mut stdout = io::stdout().lock();
        if let Err(error) = write(&mut stdout).and_then(|()| stdout.flush()) {
            self.broken.set(Some(error.kind()));
        }
    }

    /// Why nothing can be written any more; told once.
    pub(crate) fn take_failure(&self) -> Option<CommandError> {
        self.broken.take().map(|kind| CommandError::from(io::Error::from(kind)))
    }

    /// Writes that something was done.
    pub(crate) fn tell(&self, text: &str) {
        if !self.hushed.get() {
            self.complain(text);
        }
    }

    /// Writes a text that is no result.
    #[expect(clippy::unused_self, reason = "whoever talks holds the one writer")]
    pub(crate) fn complain(&self, text: &str) {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        // There is nobody to tell if this fails.
        drop(io::stderr().lock().write_all(format!("{text}{end}").as_bytes()));
    }

    /// Says that something failed, and what to do. Here and in what follows, names from anywhere are part
    /// of the message, and the terminal must not obey them.
    pub(crate) fn error(&self, message: &str, hints: &[String]) {
        let mut text = format!("{}{}", self.label("error", 31), shown_lines(message));
        for hint in hints {
            let _infallible = write!(text, "\n{}{}", self.label("hint", 2), shown_lines(hint));
        }
        self.complain(&text);
    }

    pub(crate) fn warn(&self, message: &str) {
        self.complain(&format!("{}{}", self.label("warning", 33), shown_lines(message)));
    }

    pub(crate) fn hint(&self, message: &str) {
        self.complain(&format!("{}{}", self.label("hint", 2), shown_lines(message)));
    }

    /// Who talks, and how.
    fn label(&self, kind: &str, code: u8) -> String {
        match (self.is_watched, self.color) {
            (false, _) => format!("osm: {kind}: "),
            (true, false) => format!("{kind}: "),
            (true, true) => format!("\x1b[{code}m{kind}:\x1b[0m "),
        }
    }

    /// A text set off, if colours are welcome.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        if self.color { style.around(text) } else { text.to_owned() }
    }

    /// Asks for a line, if somebody can type one.
    pub(crate) fn ask(&self, prompt: &str) -> Option<String> {
        if !self.is_watched {
            return None;
        }
        let mut stderr = io::stderr().lock();
        stderr.write_all(prompt.as_bytes()).and_then(|()| stderr.flush()).ok()?;
        drop(stderr);
        let mut line = String::new();
        let length = io::stdin().read_line(&mut line).ok()?;
        (length > 0).then(|| line.trim_end_matches(['\n', '\r']).to_owned())
    }

    /// Writes to the terminal itself, wherever the streams lead.
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
