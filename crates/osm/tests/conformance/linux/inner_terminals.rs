//! A terminal inside a terminal: a shell on a pty of its own is a session, wherever it runs.

use osm_testkit::lab::{Lab, Typist};
use osm_testkit::screen::Screen;
use osm_testkit::terminal::Terminal;
use osm_testkit::tmux::Tmux;
use osm_testkit::tools::program;

use super::situation::{Ids, Situation, Stop, ask, id, in_one_terminal};

/// A program that opens another terminal, and what it runs there.
const INNER: &[&str] = &[
    "script -q /dev/null -c 'bash --norc -i'",
    "script -q /dev/null -c 'sh -c \"bash --norc -i; true\"'",
    "vim -u NONE -c 'terminal bash --norc -i'",
    "dvtm -M 'bash --norc -i'",
];

pub(crate) const SITUATIONS: &[Situation] = &[
    Situation::differ(
        "terminals inside a tmux pane, against that pane",
        &["multiplexer tmux", "anchor"],
        |lab| {
            program("tmux")?;
            let (tmux, first) = Tmux::start(lab, &[])?;
            let mut pane = tmux.pane(first);
            let mut ids = id(lab, &mut pane)?;
            for inner in INNER {
                let mut pane = tmux.split()?;
                ids.extend(inside(lab, &mut pane, inner)?);
            }
            Ok(ids)
        },
    ),
    Situation::differ(
        "a terminal inside a screen window, against that window",
        &["multiplexer screen", "anchor"],
        |lab| {
            program("screen")?;
            let screen = Screen::start(lab, "inner", &[])?;
            let mut window = screen.window(0);
            let mut ids = id(lab, &mut window)?;
            ids.extend(inside(lab, &mut window, INNER[0])?);
            Ok(ids)
        },
    ),
    Situation::differ(
        "a terminal inside a tab that names itself, against that tab",
        &["terminal", "anchor"],
        |lab| {
            let mut tab = tab(lab)?;
            let mut ids = id(lab, &mut tab)?;
            ids.extend(inside(lab, &mut tab, INNER[0])?);
            Ok(ids)
        },
    ),
    Situation::differ("terminals inside a terminal", &["anchor"], |lab| {
        let mut ids = in_one_terminal(lab, &["OSM session id"])?;
        for inner in INNER {
            ids.extend(inside(lab, &mut lab.terminal()?, inner)?);
        }
        Ok(ids)
    }),
    Situation::same(
        "a command on a pty of its own, in a tmux pane",
        &["multiplexer tmux"],
        |lab| {
            program("tmux")?;
            let (tmux, first) = Tmux::start(lab, &[])?;
            commands(lab, &mut tmux.pane(first))
        },
    ),
    Situation::same("a command on a pty of its own, in a named tab", &["terminal"], |lab| {
        commands(lab, &mut tab(lab)?)
    }),
    Situation::same("a command on a pty of its own, in a terminal", &["anchor"], |lab| {
        commands(lab, &mut lab.terminal()?)
    }),
    Situation::differ(
        "scripts in two windows of one unknown terminal program",
        &["anchor"],
        |lab| windows(lab, "my-terminal", "setsid -w"),
    ),
    Situation::differ("scripts in two windows of mate-terminal", &["anchor"], |lab| {
        windows(lab, "mate-terminal", "")
    }),
];

/// The session inside a terminal that a program opens.
fn inside(lab: &Lab, shell: &mut dyn Typist, open: &str) -> Ids {
    program(open.split(' ').next().unwrap_or_default())?;
    shell.type_line(&lab.spell(open))?;
    id(lab, shell)
}

fn commands(lab: &Lab, shell: &mut dyn Typist) -> Ids {
    program("script")?;
    program("make")?;
    program("expect")?;
    lab.file("Makefile", "all:\n\t@OSM session id >LAB/made\n")?;
    lab.file("talk", "spawn -noecho sh -c {OSM session id >LAB/talked; true}\nexpect eof\n")?;
    ask(
        lab,
        shell,
        "OSM session id; script -qec 'OSM session id' /dev/null; \
         script -qec 'sh -c \"OSM session id; true\"' /dev/null; \
         script -qec 'make -s -f LAB/Makefile' /dev/null; cat LAB/made; \
         expect LAB/talk >/dev/null; cat LAB/talked",
    )
}

/// A tab of a terminal emulator, which here is `script` under another name.
fn tab(lab: &Lab) -> Result<Terminal, Stop> {
    let emulator = lab.copy(&program("script")?, "kitty")?;
    let open = format!(
        "KITTY_WINDOW_ID=1 exec {} -q /dev/null -c 'exec bash --norc -i'",
        emulator.display()
    );
    Ok(lab.terminal_running(&["sh", "-c", &open])?)
}

/// Scripts in two windows of a terminal program, which here is python under another name.
fn windows(lab: &Lab, name: &str, launcher: &str) -> Ids {
    // A link, so that it finds its library; to the program itself, not to a script that finds it.
    std::os::unix::fs::symlink("/usr/bin/python3", lab.path().join(name))?;
    lab.file("script.sh", "OSM session id >LAB/$1.tmp; mv LAB/$1.tmp LAB/$1; sleep 0.2\n")?;
    lab.file(
        "emulator.py",
        "import os, pty
for window in 'one', 'other':
    if pty.fork()[0] == 0:
        os.execlp('bash', 'bash', 'LAB/script.sh', window)
for window in 'one', 'other':
    os.wait()
",
    )?;
    let mut terminal = lab.terminal()?;
    ask(
        lab,
        &mut terminal,
        &format!("{launcher} LAB/{name} LAB/emulator.py </dev/null; cat LAB/one LAB/other"),
    )
}
