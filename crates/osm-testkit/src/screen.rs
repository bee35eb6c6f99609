//! A GNU screen of its own.

use std::fs;
use std::io;
use std::time::{Duration, Instant};

use crate::lab::{Lab, Typist};
use crate::tmux::text;

/// A screen; it ends when dropped.
pub struct Screen<'a> {
    lab: &'a Lab,
    name: String,
}

/// A window of a screen.
pub struct Window<'a> {
    screen: &'a Screen<'a>,
    number: u32,
}

impl<'a> Screen<'a> {
    /// Starts a detached screen with window 0; it has these variables besides the lab's.
    pub fn start(lab: &'a Lab, name: &str, variables: &[(&str, &str)]) -> io::Result<Self> {
        use std::os::unix::fs::PermissionsExt;
        let folder = lab.path().join("screens");
        fs::create_dir_all(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        let screen = Self { lab, name: name.to_owned() };
        let mut command = screen.command();
        command.envs(variables.iter().copied());
        text(command.args(["-dmS", name, "bash", "--norc", "--noprofile", "-i"]))?;
        // The server answers a moment before its first window does.
        let deadline = Instant::now() + Duration::from_secs(30);
        while let Err(error) = screen.run(&["-p", "0", "-X", "stuff", ""]) {
            if Instant::now() > deadline {
                return Err(error);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(screen)
    }

    fn command(&self) -> std::process::Command {
        let mut command = self.lab.command("screen");
        command.env("SCREENDIR", self.lab.path().join("screens"));
        command
    }

    /// Sends the server a command.
    pub fn run(&self, arguments: &[&str]) -> io::Result<String> {
        text(self.command().args(["-S", &self.name]).args(arguments))
    }

    /// Opens a further window.
    pub fn open(&'a self, number: u32) -> io::Result<Window<'a>> {
        let wanted = number.to_string();
        self.run(&["-X", "screen", &wanted, "bash", "--norc", "--noprofile", "-i"])?;
        Ok(self.window(number))
    }

    /// A window by its number.
    #[must_use]
    pub fn window(&'a self, number: u32) -> Window<'a> {
        Window { screen: self, number }
    }
}

impl Typist for Window<'_> {
    fn type_line(&mut self, line: &str) -> io::Result<()> {
        let number = self.number.to_string();
        // `$` and `^` mean something to screen.
        let line = line.replace('\\', "\\\\").replace('$', "\\$").replace('^', "\\^");
        self.screen.run(&["-p", &number, "-X", "stuff", &format!("{line}\n")]).map(drop)
    }
}

impl Drop for Screen<'_> {
    fn drop(&mut self) {
        drop(self.run(&["-X", "quit"]));
    }
}
