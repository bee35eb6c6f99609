//! The line editor at a terminal; only this file and those below use reedline.
//!
//! Reedline requires completers to be `Send`, which the script engine is not. A line is read on the
//! thread that asks for it, so the completer is kept in a thread-local variable.

mod shown;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use reedline::{
    Color, ColumnarMenu, Completer, CompletionResult, DefaultHinter, EditCommand, Emacs,
    FileBackedHistory, HistoryItem, KeyCode, KeyModifiers, MenuBuilder, Reedline, ReedlineEvent,
    ReedlineMenu, Signal, Span, ValidationResult, Validator, default_emacs_keybindings,
};

use self::shown::{Colors, Recalled, Shown};
use super::history;
use super::prompt::{Complete, Prompt};
use super::source::{Input, LineSource};
use super::syntax::{Commands, Reach, Syntax};
use super::typeahead;
use crate::render::{Screen, escape};

/// How often a wait for a key checks whether it should end.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

const MENU: &str = "completion";

thread_local! {
    static COMPLETE: RefCell<Option<Complete>> = const { RefCell::new(None) };
}

/// The line editor, and lines that were typed before it asked.
pub(crate) struct Terminal {
    editor: Option<Reedline>,
    /// The mode whose history and keys the editor has.
    mode: Option<(String, Vec<String>)>,
    /// Osm's home folder, for the history; without it, history lasts as long as the process.
    home: Option<PathBuf>,
    color: bool,
    wake: Arc<AtomicBool>,
    /// Further commands that were pasted with the last one.
    pasted: VecDeque<String>,
    /// Commands that were typed while another one ran.
    ahead: VecDeque<String>,
    /// The start of a command, typed after those.
    begun: String,
}

impl Terminal {
    pub(crate) fn new(home: Option<PathBuf>, color: bool, wake: Arc<AtomicBool>) -> Self {
        let (pasted, ahead, begun) = (VecDeque::new(), VecDeque::new(), String::new());
        Self { editor: None, mode: None, home, color, wake, pasted, ahead, begun }
    }

    /// The next command that was typed while another one ran. The terminal does not tell then what was
    /// pasted, so a text ends with its line.
    fn typed_ahead(&mut self, syntax: &Syntax) -> Option<String> {
        while self.ahead.is_empty() {
            let line = typeahead::read();
            if line.is_empty() {
                return None;
            }
            self.begun.push_str(&line);
            if let Some(end) = self.begun.rfind('\n') {
                let typing = self.begun.split_off(end + 1);
                let Commands { whole, begun } = syntax.split(&self.begun[..end], Reach::Line);
                self.ahead = whole;
                self.begun = begun.map(|begun| begun + "\n").unwrap_or_default() + &typing;
            }
        }
        self.ahead.pop_front()
    }

    /// Creates the editor for a mode.
    fn editor(&self, prompt: &Prompt) -> Reedline {
        let menu = ColumnarMenu::default().with_name(MENU).with_marker("");
        let mut editor = Reedline::create()
            .with_menu(ReedlineMenu::EngineCompleter(Box::new(menu)))
            .with_completer(Box::new(ThreadCompleter))
            .with_quick_completions(true)
            .with_partial_completions(true)
            .with_ansi_colors(self.color)
            .use_bracketed_paste(true)
            .with_break_signal(Arc::clone(&self.wake))
            .with_poll_interval(POLL_INTERVAL)
            .with_edit_mode(Box::new(Emacs::new(keys(&prompt.keys))));
        if self.color {
            let faint = Color::DarkGray.normal();
            editor = editor.with_hinter(Box::new(DefaultHinter::default().with_style(faint)));
        }
        // Without a file, the history is kept in memory.
        let history = self.history(&prompt.mode).unwrap_or_default();
        editor.with_history(Box::new(Recalled(history)))
    }

    fn history(&self, mode: &str) -> Option<FileBackedHistory> {
        let path = history::file(self.home.as_ref()?, mode).ok()?;
        FileBackedHistory::with_file(history::MAX_LINES, path).ok()
    }
}

impl LineSource for Terminal {
    fn next(&mut self, prompt: &Prompt) -> Input {
        if let Some(line) = self.pasted.pop_front() {
            return Input::Line(line);
        }
        if !has_columns() {
            return plain_line();
        }
        let wanted = (prompt.mode.clone(), prompt.keys.clone());
        let old = self.editor.take().filter(|_| self.mode.as_ref() == Some(&wanted));
        let editor = old.unwrap_or_else(|| self.editor(prompt));
        self.mode = Some(wanted);
        COMPLETE.set(prompt.complete.clone());
        let commands = if self.color { prompt.commands.clone() } else { Vec::new() };
        let syntax = prompt.syntax.clone();
        let colors = Colors { commands, syntax: syntax.clone(), color: self.color };
        let editor = editor.with_validator(Box::new(WholeLines(syntax)));
        let mut editor = editor.with_highlighter(Box::new(colors));
        let signal = if let Some(command) = self.typed_ahead(&prompt.syntax) {
            // Shown and remembered as if typed at the prompt; a failure of either does not stop it.
            let shown = escape::lines(&command);
            drop(Screen::to_terminal(format!("{}{shown}\n", prompt.text).as_bytes()));
            drop(editor.history_mut().save(HistoryItem::from_command_line(&command)));
            Ok(Signal::Success(command))
        } else {
            if !self.begun.is_empty() {
                let begun = std::mem::take(&mut self.begun);
                editor.run_edit_commands(&[EditCommand::InsertString(begun)]);
            }
            editor.read_line(&Shown(prompt.text.clone()))
        };
        // The history is on disk before the command runs. A failure to write it does not stop the
        // command.
        drop(editor.sync_history());
        self.editor = Some(editor);
        match signal {
            Ok(Signal::Success(text)) => {
                let Commands { whole, begun } = prompt.syntax.split(&text, Reach::Everything);
                self.pasted = whole;
                self.pasted.extend(begun);
                Input::Line(self.pasted.pop_front().unwrap_or_default())
            }
            Ok(Signal::HostCommand(key)) => {
                // Keeps the line on the screen; the key's output follows below it.
                drop(Screen::to_terminal(b"\n"));
                Input::Key(key)
            }
            Ok(Signal::CtrlC) => Input::Cancelled,
            Ok(Signal::CtrlD) => Input::End,
            Ok(Signal::ExternalBreak(_)) => Input::Gone,
            Ok(other) => Input::Failed(format!("{other:?}")),
            Err(error) => Input::Failed(error.to_string()),
        }
    }

    fn place(&self) -> Option<String> {
        None
    }

    fn is_interactive(&self) -> bool {
        true
    }
}

/// Whether the terminal has at least one column; reedline divides by the width.
fn has_columns() -> bool {
    #[cfg(unix)]
    {
        let size = rustix::termios::tcgetwinsize(std::io::stderr());
        // 0 × 0 means that the size is unknown.
        size.is_ok_and(|size| size.ws_col > 0 || size.ws_row == 0)
    }
    #[cfg(not(unix))]
    true
}

/// Reads a line that the terminal itself edits.
fn plain_line() -> Input {
    let mut line = String::new();
    match std::io::stdin().read_line(&mut line) {
        Ok(0) => Input::End,
        Ok(_) => Input::Line(line.trim_end_matches(['\n', '\r']).to_owned()),
        Err(error) => Input::Failed(error.to_string()),
    }
}

/// The key bindings: Emacs keys, Tab, and the keys that scripts have bound.
fn keys(bound: &[String]) -> reedline::Keybindings {
    let mut keys = default_emacs_keybindings();
    let tab = ReedlineEvent::UntilFound(vec![
        ReedlineEvent::Menu(MENU.to_owned()),
        ReedlineEvent::MenuNext,
    ]);
    keys.add_binding(KeyModifiers::NONE, KeyCode::Tab, tab);
    keys.add_binding(KeyModifiers::SHIFT, KeyCode::BackTab, ReedlineEvent::MenuPrevious);
    let newline = ReedlineEvent::Edit(vec![EditCommand::InsertNewline]);
    keys.add_binding(KeyModifiers::ALT, KeyCode::Enter, newline);
    for name in bound {
        if let Some((modifiers, code)) = key(name) {
            keys.add_binding(modifiers, code, ReedlineEvent::ExecuteHostCommand(name.clone()));
        }
    }
    keys
}

/// The key of a name such as `ctrl-t`, `alt+x`, `f5`, `shift-tab`.
fn key(name: &str) -> Option<(KeyModifiers, KeyCode)> {
    let name = name.to_lowercase();
    let mut words: Vec<&str> = name.split(['-', '+']).collect();
    let last = words.pop()?;
    let mut modifiers = KeyModifiers::NONE;
    for word in words {
        modifiers |= match word {
            "ctrl" | "control" | "c" => KeyModifiers::CONTROL,
            "alt" | "meta" | "m" => KeyModifiers::ALT,
            "shift" | "s" => KeyModifiers::SHIFT,
            _ => return None,
        };
    }
    let mut letters = last.chars();
    let code = match (last, letters.next(), letters.next()) {
        ("space", ..) => KeyCode::Char(' '),
        ("enter" | "return", ..) => KeyCode::Enter,
        ("tab", ..) => KeyCode::Tab,
        ("esc" | "escape", ..) => KeyCode::Esc,
        ("up", ..) => KeyCode::Up,
        ("down", ..) => KeyCode::Down,
        ("left", ..) => KeyCode::Left,
        ("right", ..) => KeyCode::Right,
        ("home", ..) => KeyCode::Home,
        ("end", ..) => KeyCode::End,
        ("pageup", ..) => KeyCode::PageUp,
        ("pagedown", ..) => KeyCode::PageDown,
        ("delete", ..) => KeyCode::Delete,
        (_, Some(letter), None) => KeyCode::Char(letter),
        (_, Some('f'), Some(_)) => KeyCode::F(last.get(1..)?.parse().ok()?),
        _ => return None,
    };
    Some((modifiers, code))
}

/// A line continues while a quote is unclosed, or after a backslash.
struct WholeLines(Syntax);

impl Validator for WholeLines {
    fn validate(&self, line: &str) -> ValidationResult {
        match self.0.split(line, Reach::Everything).begun {
            Some(_) => ValidationResult::Incomplete,
            None => ValidationResult::Complete,
        }
    }
}

/// Calls the completer of this thread.
struct ThreadCompleter;

impl Completer for ThreadCompleter {
    fn complete(&mut self, line: &str, place: usize) -> CompletionResult {
        let complete = COMPLETE.with_borrow(Clone::clone);
        let found = complete.map(|complete| complete(line, place)).unwrap_or_default();
        let shown = found.into_iter().map(|it| reedline::Suggestion {
            value: it.value,
            description: it.description,
            span: Span::new(it.range.start, it.range.end),
            append_whitespace: it.is_whole,
            ..reedline::Suggestion::default()
        });
        CompletionResult::fresh(shown.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_keys() {
        for (name, expected) in [
            ("ctrl-t", Some((KeyModifiers::CONTROL, KeyCode::Char('t')))),
            ("Alt+X", Some((KeyModifiers::ALT, KeyCode::Char('x')))),
            ("f5", Some((KeyModifiers::NONE, KeyCode::F(5)))),
            ("ctrl-shift-up", Some((KeyModifiers::CONTROL | KeyModifiers::SHIFT, KeyCode::Up))),
            ("hyper-x", None),
            ("fx", None),
            ("", None),
        ] {
            assert_eq!(key(name), expected, "{name}");
        }
    }
}
