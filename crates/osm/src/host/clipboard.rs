//! The clipboard: a command of the user's, the terminal itself (OSC 52), or the platform's tools.
//!
//! Which ways there are is decided by a pure function of what is seen ([`Scene`]). They are tried in
//! turn. If none leads there, what was to be copied is kept in a file: nothing that took minutes to
//! make is lost because there is no clipboard.

mod osc52;
mod tool;

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use crate::desk::Desk;
use crate::private;
use crate::ui::Screen;

/// What the choice depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is something that is there or not")]
struct Scene<'a> {
    /// The user's own command.
    command: Option<&'a str>,
    /// There is a terminal to write to.
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

/// A way to the clipboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way<'a> {
    /// A command of the shell.
    Command(&'a str),
    /// Through the terminal, which may be far away.
    Terminal(osc52::Wrap),
    /// A program.
    Tool(&'static [&'static str]),
}

/// How many texts that could not be copied are kept.
const MOST_KEPT: usize = 20;

/// What gives tmux a text.
const TMUX: &[&str] = &["tmux", "load-buffer", "-w", "-"];

/// The ways to copy, in the order in which they are tried.
fn ways<'a>(scene: &Scene<'a>) -> Vec<Way<'a>> {
    // Whoever names a command wants that one: its failure is not covered up by another.
    if let Some(command) = scene.command {
        return vec![Way::Command(command)];
    }
    let mut ways = Vec::new();
    // It keeps the text, and passes it on to the terminal as far as its settings allow.
    if scene.tmux {
        ways.push(Way::Tool(TMUX));
    }
    // Our display is not the user's there, or not the only one.
    if scene.terminal && (scene.ssh || scene.tmux || scene.screen) {
        ways.push(Way::Terminal(match (scene.tmux, scene.screen) {
            (true, _) => osc52::Wrap::Tmux,
            (false, true) => osc52::Wrap::Screen,
            (false, false) => osc52::Wrap::None,
        }));
    }
    let tools: [(bool, &'static [&'static str]); 6] = [
        (scene.system == System::Mac, &["pbcopy"]),
        (scene.system == System::Windows, &["clip.exe"]),
        (scene.wayland, &["wl-copy"]),
        (scene.system == System::Android, &["termux-clipboard-set"]),
        (scene.x11, &["xclip", "-selection", "clipboard"]),
        (scene.x11, &["xsel", "--clipboard", "--input"]),
    ];
    ways.extend(tools.into_iter().filter(|(there, _)| *there).map(|(_, words)| Way::Tool(words)));
    ways
}

/// The tools that print what is on the clipboard.
fn pasting(scene: &Scene) -> Vec<&'static [&'static str]> {
    let tools: [(bool, &'static [&'static str]); 6] = [
        (scene.system == System::Mac, &["pbpaste"]),
        (scene.system == System::Windows, &["powershell.exe", "-NoProfile", "-c", "Get-Clipboard"]),
        (scene.wayland, &["wl-paste", "--no-newline"]),
        (scene.system == System::Android, &["termux-clipboard-get"]),
        (scene.x11, &["xclip", "-selection", "clipboard", "-o"]),
        (scene.x11, &["xsel", "--clipboard", "--output"]),
    ];
    tools.into_iter().filter(|(there, _)| *there).map(|(_, words)| words).collect()
}

fn scene<'a>(desk: &Desk, command: Option<&'a str>) -> Scene<'a> {
    let has = |name: &str| desk.variable(name).is_some();
    Scene {
        command,
        terminal: Screen::to_terminal(b"").is_ok(),
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

/// Copies a text. The error says where it is kept instead.
pub(super) fn copy(desk: &Desk, text: &str) -> Result<(), String> {
    let command = desk.variable("OSM_CLIPBOARD");
    let mut failures = Vec::new();
    for way in ways(&scene(desk, command.as_deref())) {
        let tried = match way {
            Way::Command(command) => {
                tool::give_shell(command, text, desk).map_err(|it| format!("OSM_CLIPBOARD: {it}"))
            }
            Way::Terminal(wrap) => osc52::sequence(text, wrap).and_then(|bytes| {
                Screen::to_terminal(&bytes).map_err(|error| format!("the terminal: {error}"))
            }),
            Way::Tool(words) => tool::give(words, text, desk),
        };
        match tried {
            Ok(()) => return Ok(()),
            Err(failure) => failures.push(failure),
        }
    }
    if failures.is_empty() {
        failures.push("there is none; set OSM_CLIPBOARD to a command that takes it".to_owned());
    }
    let why = failures.join("; ");
    match keep(desk, text) {
        Ok(path) => Err(format!("the clipboard was not reached ({why}): kept in {path}")),
        Err(error) => {
            Err(format!("the clipboard was not reached ({why}), and it cannot be kept: {error}"))
        }
    }
}

/// What is on the clipboard.
pub(super) fn paste(desk: &Desk) -> Result<String, String> {
    if let Some(command) = desk.variable("OSM_CLIPBOARD_PASTE") {
        let taken = tool::take_shell(&command, desk);
        return taken.map_err(|error| format!("OSM_CLIPBOARD_PASTE: {error}"));
    }
    let mut failures = Vec::new();
    for words in pasting(&scene(desk, None)) {
        match tool::take(words, desk) {
            Ok(text) => return Ok(text),
            Err(failure) => failures.push(failure),
        }
    }
    if failures.is_empty() {
        return Err("there is no clipboard to read; set OSM_CLIPBOARD_PASTE".into());
    }
    Err(format!("the clipboard cannot be read ({})", failures.join("; ")))
}

/// Keeps a text in a file of its own, for our eyes only.
fn keep(desk: &Desk, text: &str) -> io::Result<String> {
    let home = desk.home.as_deref().unwrap_or(&desk.temporary);
    let folder = home.join("prompts");
    private::folder(&folder)?;
    let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%SZ").to_string();
    for number in 0..1000 {
        let path = folder.join(format!("{time}--{number:03}.md"));
        match private::open(File::options().write(true).create_new(true), &path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => {
                if let Err(error) = opened?.write_all(text.as_bytes()) {
                    // Half a prompt is none; what cannot be removed either is left.
                    drop(remove(&path));
                    return Err(error);
                }
                drop(forget_oldest(&folder));
                return Ok(path.display().to_string());
            }
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Removes all but the newest files that [`keep`] wrote; whatever else is in the folder is not ours.
fn forget_oldest(folder: &Path) -> io::Result<()> {
    let mut ours = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_file() && name.to_str().is_some_and(is_kept) {
            ours.push(name);
        }
    }
    ours.sort();
    let oldest = ours.len().saturating_sub(MOST_KEPT);
    ours[..oldest].iter().try_for_each(|name| remove(&folder.join(name)))
}

/// Whether a name is one that [`keep`] gives: a time, a number, and nothing else.
fn is_kept(name: &str) -> bool {
    let pattern = b"0000-00-00T00-00-00Z--000.md";
    name.len() == pattern.len()
        && name.bytes().zip(pattern).all(|(byte, like)| match like {
            b'0' => byte.is_ascii_digit(),
            like => byte == *like,
        })
}

#[expect(
    clippy::disallowed_methods,
    reason = "what could not be copied is kept here alone, and by us"
)]
fn remove(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use super::osc52::Wrap;
    use super::*;

    #[test]
    fn which_way() {
        let here = Scene { terminal: true, ..Scene::default() };
        let desktop = Scene { wayland: true, x11: true, ..here };
        for (scene, expected) in [
            (here, vec![]),
            (
                desktop,
                vec![
                    Way::Tool(&["wl-copy"]),
                    Way::Tool(&["xclip", "-selection", "clipboard"]),
                    Way::Tool(&["xsel", "--clipboard", "--input"]),
                ],
            ),
            (Scene { command: Some("tee x"), tmux: true, ..desktop }, vec![Way::Command("tee x")]),
            (Scene { ssh: true, ..here }, vec![Way::Terminal(Wrap::None)]),
            (
                Scene { ssh: true, tmux: true, ..here },
                vec![Way::Tool(TMUX), Way::Terminal(Wrap::Tmux)],
            ),
            (Scene { screen: true, ..here }, vec![Way::Terminal(Wrap::Screen)]),
            (Scene { ssh: true, ..Scene::default() }, vec![]),
            (
                Scene { tmux: true, system: System::Mac, ..here },
                vec![Way::Tool(TMUX), Way::Terminal(Wrap::Tmux), Way::Tool(&["pbcopy"])],
            ),
            (Scene { system: System::Mac, ..here }, vec![Way::Tool(&["pbcopy"])]),
            (Scene { system: System::Windows, ..here }, vec![Way::Tool(&["clip.exe"])]),
            (Scene { system: System::Android, ..here }, vec![Way::Tool(&["termux-clipboard-set"])]),
        ] {
            assert_eq!(ways(&scene), expected, "{scene:?}");
        }
    }

    #[test]
    fn only_our_oldest_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let time = "2026-01-02T03-04-05Z";
        let ours: Vec<String> =
            (0..MOST_KEPT + 2).map(|it| format!("{time}--{it:03}.md")).collect();
        let others = ["mine.md".to_owned(), format!("{time}--1.md"), format!("{time}--000.txt")];
        for name in ours.iter().chain(&others) {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        // A folder of such a name is somebody's.
        std::fs::create_dir(folder.path().join("2000-01-01T00-00-00Z--000.md")).unwrap();
        forget_oldest(folder.path()).unwrap();
        let left = |name: &String| folder.path().join(name).exists();
        assert!(!left(&ours[0]) && !left(&ours[1]) && ours[2..].iter().all(left));
        assert!(others.iter().all(left));
        assert!(folder.path().join("2000-01-01T00-00-00Z--000.md").is_dir());
    }

    #[test]
    fn every_way_in_has_a_way_out() {
        for system in [System::Unix, System::Android, System::Mac, System::Windows] {
            let scene = Scene { system, wayland: true, x11: true, ..Scene::default() };
            assert_eq!(ways(&scene).len(), pasting(&scene).len(), "{scene:?}");
        }
    }
}
