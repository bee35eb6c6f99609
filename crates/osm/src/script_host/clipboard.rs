//! The clipboard: a command that the user names, a platform tool, or the terminal itself (OSC 52).
//!
//! [`methods`] decides which of them to try, in which order, from the [`Capabilities`] of the
//! environment. If all fail, the text is saved to a file, so that a prompt that took minutes to build is
//! not lost.

mod osc52;
mod tool;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::private;
use crate::render::Screen;
use crate::session_host::SessionHost;

/// What the environment offers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an independent capability")]
struct Capabilities<'a> {
    /// The user's command (`OSM_CLIPBOARD`).
    command: Option<&'a str>,
    /// A terminal can be written to, and is not one that shows escape sequences.
    terminal: bool,
    ssh: bool,
    tmux: bool,
    screen: bool,
    wayland: bool,
    x11: bool,
    system: System,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum System {
    #[default]
    Unix,
    Android,
    Mac,
    Windows,
}

/// A method to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method<'a> {
    /// A shell command.
    Command(&'a str),
    /// An escape sequence to the terminal, which may be remote.
    Terminal(osc52::Wrap),
    /// A program with its arguments.
    Tool(&'static [&'static str]),
}

/// Shown when the terminal was asked: it may be one that ignores the sequence.
const UNCONFIRMED: &str = "Sent to the terminal's clipboard (OSC 52). Terminals do not confirm it: if your \
     paste is empty, set OSM_CLIPBOARD to a command that reads standard input.";

/// The number of saved prompts kept.
const MAX_SAVED: usize = 20;

/// Loads tmux's paste buffer from standard input.
const TMUX: &[&str] = &["tmux", "load-buffer", "-w", "-"];

/// The methods to copy, in the order of trying.
fn methods<'a>(capabilities: &Capabilities<'a>) -> Vec<Method<'a>> {
    // A command that the user names is the only method, so that its failure is seen.
    if let Some(command) = capabilities.command {
        return vec![Method::Command(command)];
    }
    let mut methods = Vec::new();
    // Tmux keeps the text and passes it to the terminal, if its settings allow that.
    if capabilities.tmux {
        methods.push(Method::Tool(TMUX));
    }
    let wrap = match (capabilities.tmux, capabilities.screen) {
        (true, _) => osc52::Wrap::Tmux,
        (false, true) => osc52::Wrap::Screen,
        (false, false) => osc52::Wrap::None,
    };
    let terminal = capabilities.terminal.then_some(Method::Terminal(wrap));
    // The local display is not the user's, or not the only one.
    let is_elsewhere = capabilities.ssh || capabilities.tmux || capabilities.screen;
    methods.extend(terminal.filter(|_| is_elsewhere));
    let tools: [(bool, &'static [&'static str]); 6] = [
        (capabilities.system == System::Mac, &["pbcopy"]),
        (capabilities.system == System::Windows, &["clip.exe"]),
        (capabilities.wayland, &["wl-copy"]),
        (capabilities.system == System::Android, &["termux-clipboard-set"]),
        (capabilities.x11, &["xclip", "-selection", "clipboard"]),
        (capabilities.x11, &["xsel", "--clipboard", "--input"]),
    ];
    methods.extend(
        tools.into_iter().filter(|(there, _)| *there).map(|(_, words)| Method::Tool(words)),
    );
    // On a local terminal a tool is better, because it says whether it worked.
    methods.extend(terminal.filter(|_| !is_elsewhere));
    methods
}

/// The tools that print the clipboard's content.
fn paste_tools(capabilities: &Capabilities) -> Vec<&'static [&'static str]> {
    let tools: [(bool, &'static [&'static str]); 6] = [
        (capabilities.system == System::Mac, &["pbpaste"]),
        (
            capabilities.system == System::Windows,
            &["powershell.exe", "-NoProfile", "-c", "Get-Clipboard"],
        ),
        (capabilities.wayland, &["wl-paste", "--no-newline"]),
        (capabilities.system == System::Android, &["termux-clipboard-get"]),
        (capabilities.x11, &["xclip", "-selection", "clipboard", "-o"]),
        (capabilities.x11, &["xsel", "--clipboard", "--output"]),
    ];
    tools.into_iter().filter(|(there, _)| *there).map(|(_, words)| words).collect()
}

fn capabilities<'a>(host: &SessionHost, command: Option<&'a str>) -> Capabilities<'a> {
    let has = |name: &str| host.variable(name).is_some();
    Capabilities {
        command,
        terminal: !shows_sequences(host) && Screen::to_terminal(b"").is_ok(),
        ssh: has("SSH_CONNECTION") || has("SSH_TTY"),
        tmux: has("TMUX"),
        screen: has("STY"),
        wayland: has("WAYLAND_DISPLAY"),
        x11: has("DISPLAY"),
        system: match () {
            () if cfg!(target_os = "macos") => System::Mac,
            () if cfg!(windows) => System::Windows,
            () if cfg!(target_os = "android") || has("TERMUX_VERSION") => System::Android,
            () => System::Unix,
        },
    }
}

/// Whether a terminal would show an escape sequence as text, or is not known. Windows has no `TERM`.
fn shows_sequences(host: &SessionHost) -> bool {
    let term = host.variable("TERM");
    term.map_or(!cfg!(windows), |term| term == "dumb")
}

/// Copies a text. The error says where it was saved instead.
pub(super) fn copy(host: &SessionHost, text: &str) -> Result<(), String> {
    let command = host.variable("OSM_CLIPBOARD");
    let mut failures = Vec::new();
    for method in methods(&capabilities(host, command.as_deref())) {
        let tried = match method {
            Method::Command(command) => tool::write_to_shell(command, text, host)
                .map_err(|it| format!("OSM_CLIPBOARD: {it}")),
            Method::Terminal(wrap) => osc52::sequence(text, wrap).and_then(|bytes| {
                let sent = host.screen.send_to_terminal(&bytes);
                sent.map_err(|error| format!("the terminal: {error}"))?;
                host.screen.tell(UNCONFIRMED);
                Ok(())
            }),
            Method::Tool(words) => tool::write_to(words, text, host),
        };
        match tried {
            Ok(()) => return Ok(()),
            Err(failure) => failures.push(failure),
        }
    }
    if failures.is_empty() {
        failures.push(
            "no clipboard found; set OSM_CLIPBOARD to a command that reads standard input"
                .to_owned(),
        );
    }
    let why = failures.join("; ");
    match save(host, text) {
        Ok(path) => Err(format!("cannot copy to the clipboard ({why}); saved to {path}")),
        Err(error) => Err(format!(
            "cannot copy to the clipboard ({why}); cannot save it to a file either: {error}"
        )),
    }
}

/// The content of the clipboard.
pub(super) fn paste(host: &SessionHost) -> Result<String, String> {
    if let Some(command) = host.variable("OSM_CLIPBOARD_PASTE") {
        let taken = tool::read_from_shell(&command, host);
        return taken.map_err(|error| format!("OSM_CLIPBOARD_PASTE: {error}"));
    }
    let mut failures = Vec::new();
    for words in paste_tools(&capabilities(host, None)) {
        match tool::read_from(words, host) {
            Ok(text) => return Ok(text),
            Err(failure) => failures.push(failure),
        }
    }
    if failures.is_empty() {
        return Err(
            "no clipboard found; set OSM_CLIPBOARD_PASTE to a command that prints it".into()
        );
    }
    Err(format!("cannot read the clipboard ({})", failures.join("; ")))
}

/// Saves a text to a new file that only the user can read.
fn save(host: &SessionHost, text: &str) -> io::Result<String> {
    let home = host.home.as_deref().unwrap_or(&host.temporary);
    let folder = home.join("prompts");
    private::folder(&folder)?;
    let time = (host.clock)().strftime("%Y-%m-%dT%H-%M-%SZ").to_string();
    for number in 0..1000 {
        let path = folder.join(format!("{time}--{number:03}.md"));
        match private::open(File::options().write(true).create_new(true), &path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => {
                let mut file = opened?;
                let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
                if let Err(error) = written.and_then(|()| private::sync_folder(&folder)) {
                    // A partial prompt is useless; it stays only if it cannot be removed.
                    drop(remove(&path));
                    return Err(error);
                }
                drop(prune(&folder));
                return Ok(path.display().to_string());
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Removes all but the newest files that [`save`] wrote; other files in the folder stay.
fn prune(folder: &Path) -> io::Result<()> {
    let mut ours = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_file() && name.to_str().is_some_and(is_saved_prompt) {
            ours.push(name);
        }
    }
    ours.sort();
    let oldest = ours.len().saturating_sub(MAX_SAVED);
    ours[..oldest].iter().try_for_each(|name| remove(&folder.join(name)))
}

/// Whether a file name is one that [`save`] gives: a time and a number.
fn is_saved_prompt(name: &str) -> bool {
    let pattern = b"0000-00-00T00-00-00Z--000.md";
    name.len() == pattern.len()
        && name.bytes().zip(pattern).all(|(byte, like)| match like {
            b'0' => byte.is_ascii_digit(),
            like => byte == *like,
        })
}

#[expect(clippy::disallowed_methods, reason = "removes only prompts that this module has saved")]
fn remove(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use super::osc52::Wrap;
    use super::*;

    #[test]
    fn which_method() {
        let here = Capabilities { terminal: true, ..Capabilities::default() };
        let terminal = Method::Terminal(Wrap::None);
        let desktop = Capabilities { wayland: true, x11: true, ..here };
        for (capabilities, expected) in [
            (Capabilities::default(), vec![]),
            (here, vec![terminal]),
            (
                desktop,
                vec![
                    Method::Tool(&["wl-copy"]),
                    Method::Tool(&["xclip", "-selection", "clipboard"]),
                    Method::Tool(&["xsel", "--clipboard", "--input"]),
                    terminal,
                ],
            ),
            (
                Capabilities { terminal: false, wayland: false, ..desktop },
                vec![
                    Method::Tool(&["xclip", "-selection", "clipboard"]),
                    Method::Tool(&["xsel", "--clipboard", "--input"]),
                ],
            ),
            (
                Capabilities { command: Some("tee x"), tmux: true, ..desktop },
                vec![Method::Command("tee x")],
            ),
            (Capabilities { ssh: true, ..here }, vec![terminal]),
            (
                Capabilities { ssh: true, tmux: true, ..here },
                vec![Method::Tool(TMUX), Method::Terminal(Wrap::Tmux)],
            ),
            (Capabilities { screen: true, ..here }, vec![Method::Terminal(Wrap::Screen)]),
            (Capabilities { ssh: true, ..Capabilities::default() }, vec![]),
            (
                Capabilities { tmux: true, system: System::Mac, ..here },
                vec![Method::Tool(TMUX), Method::Terminal(Wrap::Tmux), Method::Tool(&["pbcopy"])],
            ),
            (
                Capabilities { system: System::Mac, ..here },
                vec![Method::Tool(&["pbcopy"]), terminal],
            ),
            (
                Capabilities { system: System::Windows, ..here },
                vec![Method::Tool(&["clip.exe"]), terminal],
            ),
            (
                Capabilities { system: System::Android, ..here },
                vec![Method::Tool(&["termux-clipboard-set"]), terminal],
            ),
        ] {
            assert_eq!(methods(&capabilities), expected, "{capabilities:?}");
        }
    }

    #[test]
    fn only_the_oldest_saved_prompts_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let time = "2026-01-02T03-04-05Z";
        let ours: Vec<String> =
            (0..MAX_SAVED + 2).map(|it| format!("{time}--{it:03}.md")).collect();
        let others = ["mine.md".to_owned(), format!("{time}--1.md"), format!("{time}--000.txt")];
        for name in ours.iter().chain(&others) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        // A folder of such a name is not a saved prompt.
        std::fs::create_dir(folder.path().join("2000-01-01T00-00-00Z--000.md")).unwrap();
        prune(folder.path()).unwrap();
        let left = |name: &String| folder.path().join(name).exists();
        assert!(!left(&ours[0]) && !left(&ours[1]) && ours[2..].iter().all(left));
        assert!(others.iter().all(left));
        assert!(folder.path().join("2000-01-01T00-00-00Z--000.md").is_dir());
    }

    #[test]
    fn every_copy_tool_has_a_paste_tool() {
        for system in [System::Unix, System::Android, System::Mac, System::Windows] {
            let capabilities =
                Capabilities { system, wayland: true, x11: true, ..Capabilities::default() };
            assert_eq!(
                methods(&capabilities).len(),
                paste_tools(&capabilities).len(),
                "{capabilities:?}"
            );
        }
    }
}
