//! Runs the measuring process in a terminal of its own.
//!
//! osm looks at the processes above it, so these must be the same for every runner of the benchmark, be it
//! a person, an agent or CI. `setsid --fork` lets go of us, so that PID 1 (or the process that adopts
//! orphans here) is next; `script` stands in for a terminal emulator; `bash` is interactive and
//! reads no start-up file. The measuring process is started from its prompt, and so it stands where
//! a person's command stands:
//!
//! ```text
//! PID 1 ── script ── bash ── measuring process ── osm session id
//! ```
//!
//! The environment has the size and the names of a desktop's, but nothing in it names a session:
//! osm has to read its ancestors, the most that it ever has to do. HOME is empty: no configuration
//! is read.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use osm_testkit::bench::Result;

/// What a terminal on a desktop has in its environment, about.
const ENVIRONMENT: [(&str, &str); 19] = [
    ("COLORTERM", "truecolor"),
    ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"),
    ("DESKTOP_SESSION", "default"),
    ("DISPLAY", ":0"),
    ("EDITOR", "vi"),
    ("LANG", "C.UTF-8"),
    ("LESS", "-R"),
    ("LOGNAME", "user"),
    ("PAGER", "less"),
    ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"),
    ("SHELL", "/bin/bash"),
    ("TERM", "xterm-256color"),
    ("USER", "user"),
    ("WAYLAND_DISPLAY", "wayland-0"),
    ("XDG_CURRENT_DESKTOP", "default"),
    ("XDG_DATA_DIRS", "/usr/local/share:/usr/share"),
    ("XDG_RUNTIME_DIR", "/run/user/1000"),
    ("XDG_SESSION_CLASS", "user"),
    ("XDG_SESSION_TYPE", "wayland"),
];

/// Has the request measured, passing on what the terminal shows, until the terminal is closed.
pub(crate) fn measure_in_one(request: &Path, scratch: &Path) -> Result<()> {
    let program = std::env::current_exe()?;
    let measure = format!("{} --measure {}; exit", quoted(&program)?, quoted(request)?);
    let mut child = Command::new("setsid")
        .args(["--fork", "script", "-qec", "exec bash --norc", "/dev/null"])
        .env_clear()
        .envs(ENVIRONMENT)
        .env("HOME", scratch)
        .env("PROMPT_COMMAND", measure)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("setsid: {error}; it and script are in the package util-linux"))?;

    // setsid ends at once. The pipe ends when the last process in the terminal does.
    let mut screen = child.stdout.take().expect("stdout was piped just above");
    let mut buffer = [0; 4096];
    loop {
        let length = screen.read(&mut buffer)?;
        if length == 0 {
            break;
        }
        let mut stdout = io::stdout().lock();
        stdout.write_all(&buffer[..length])?;
        stdout.flush()?;
    }
    child.wait()?;
    Ok(())
}

/// Quotes a path for the shell.
fn quoted(path: &Path) -> Result<String> {
    let path = path.to_str().ok_or("a path that is not UTF-8")?;
    Ok(format!("'{}'", path.replace('\'', r"'\''")))
}
