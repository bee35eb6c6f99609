//! The only writer to standard output and standard error.
//!
//! Standard output is data, standard error is talk. What a command says is collected and written
//! with as few system calls as possible; a reader that goes away early is no error.

use std::io::Write as _;

mod screen;

use crate::World;
use crate::error::{CommandError, Exit};

pub(crate) use screen::Screen;

/// Where output goes.
pub(crate) struct Ui<'a> {
    out: String,
    world: &'a World,
    /// When long work began.
    started: Option<std::time::Instant>,
}

/// How a piece of text is set off on a terminal.
#[derive(Clone, Copy)]
pub(crate) enum Style {
    /// What the eye should find first.
    Strong,
    /// What may be passed over.
    Faint,
}

impl Style {
    fn around(self, text: &str) -> String {
        let code = match self {
            Self::Strong => 1,
            Self::Faint => 2,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

impl<'a> Ui<'a> {
    pub(crate) fn new(world: &'a World) -> Self {
        Self { out: String::new(), world, started: None }
    }

    /// What is written at once from now on, by whoever works for a while.
    pub(crate) fn screen(&mut self) -> Result<Screen, CommandError> {
        self.finish()?;
        Ok(Screen::new(self.world))
    }

    /// Adds a line to standard output.
    pub(crate) fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// A text set off, if colours are welcome.
    pub(crate) fn styled(&self, style: Style, text: &str) -> String {
        if self.world.wants_color() { style.around(text) } else { text.to_owned() }
    }

    /// Adds rows of cells with their columns aligned; the last column is left as it is.
    pub(crate) fn table<Row: AsRef<[Cell]>, Cell: AsRef<str>>(&mut self, rows: &[Row]) {
        self.out.push_str(&table(rows));
    }

    /// Adds bytes that are a whole document already.
    pub(crate) fn document(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Says something on standard error that is no failure.
    pub(crate) fn warn(&mut self, text: &str) {
        self.talk("warning", text);
    }

    /// Says on standard error what to do about it.
    pub(crate) fn hint(&mut self, text: &str) {
        self.talk("hint", text);
    }

    #[expect(clippy::unused_self, reason = "whoever talks holds the one writer")]
    fn talk(&mut self, kind: &str, text: &str) {
        // There is nobody to tell if this fails.
        drop(writeln!(std::io::stderr(), "osm: {kind}: {text}"));
    }

    /// Asks a question on standard error and waits for the answer: only `y` and `yes` are one.
    pub(crate) fn confirm(&mut self, question: &str) -> Result<bool, CommandError> {
        self.finish()?;
        write!(std::io::stderr(), "{question} (y/N) ")?;
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Shows how far long work has come, on a terminal and not before a second has passed.
    pub(crate) fn progress(&mut self, done: usize, total: usize) {
        let started = *self.started.get_or_insert_with(std::time::Instant::now);
        if started.elapsed().as_secs() == 0 || total == 0 || !self.world.is_watched() {
            return;
        }
        let filled = 30 * done / total;
        let bar = format!("{}{}", "#".repeat(filled), ".".repeat(30 - filled));
        let end = if done == total { "\n" } else { "" };
        // There is nobody to tell if this fails.
        drop(write!(std::io::stderr(), "\r[{bar}] {done}/{total}{end}"));
    }

    /// Writes what was collected.
    pub(crate) fn finish(&mut self) -> Result<(), CommandError> {
        let out = std::mem::take(&mut self.out);
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(out.as_bytes())?;
        stdout.flush()?;
        Ok(())
    }

    /// Says that the command failed.
    pub(crate) fn fail(&mut self, error: &CommandError) -> Exit {
        match error {
            CommandError::OutputClosed | CommandError::Told(_) => {}
            CommandError::Claim(refused) => {
                self.talk("error", &refused.to_string());
                self.hint(&refused.remedy());
            }
            CommandError::Output(error) => {
                self.talk("error", &format!("cannot write the output: {error}"));
            }
            CommandError::Arguments(error) => drop(error.print()),
            CommandError::Failed { message, hints, .. } => {
                self.talk("error", message);
                for hint in hints {
                    self.hint(hint);
                }
            }
        }
        error.exit()
    }
}

/// Rows of cells as text, with their columns aligned; the last column is left as it is.
pub(crate) fn table<Row: AsRef<[Cell]>, Cell: AsRef<str>>(rows: &[Row]) -> String {
    let mut widths = Vec::new();
    for row in rows {
        let row = row.as_ref();
        widths.resize(widths.len().max(row.len()), 0);
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = width(cell.as_ref()).max(*widest);
        }
    }
    let (mut text, mut line) = (String::new(), String::new());
    for row in rows {
        let row = row.as_ref();
        line.clear();
        line.push(' ');
        for (column, cell) in row.iter().enumerate() {
            let cell = cell.as_ref();
            line.push(' ');
            line.push_str(cell);
            if column + 1 < row.len() {
                line.extend(std::iter::repeat_n(' ', widths[column] - width(cell) + 1));
            }
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The columns that a cell takes, without the codes that style it.
fn width(cell: &str) -> usize {
    if cell.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return cell.len();
    }
    let mut width = 0;
    let mut in_code = false;
    for character in cell.chars() {
        match character {
            '\x1b' => in_code = true,
            'm' if in_code => in_code = false,
            _ if in_code => {}
            _ => width += 1,
        }
    }
    width
}
