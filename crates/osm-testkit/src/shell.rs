//! A shell that reads its commands from a pipe: a process that others can depend on, off any
//! terminal.
//!
//! It runs what it is told in itself and answers when that is done, so nothing has to be polled. A
//! copy of a shell under an agent's name is that agent, as far as its process goes. Whoever ends
//! it decides when it is collected: until then it is a zombie.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::lab::{Answer, Lab};

/// A shell on pipes; it is killed when dropped.
pub struct Shell {
    child: Child,
    commands: ChildStdin,
    codes: BufReader<ChildStdout>,
}

impl Shell {
    /// Starts a command that ends in a shell without arguments, which reads what it is to do.
    pub fn start(mut command: Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(commands), Some(codes)) => {
                Ok(Self { child, commands, codes: BufReader::new(codes) })
            }
            _ => Err(io::Error::other("a process without the pipes that were asked for")),
        }
    }

    /// The pid of what was started.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Runs a command in the shell, and waits for what it says.
    pub fn ask(&mut self, lab: &Lab, command: &str) -> io::Result<Answer> {
        let stem = self.begin(lab, command)?;
        self.finish(&stem)
    }

    /// Has the shell begin a command; [`Shell::finish`] waits for it.
    pub fn begin(&mut self, lab: &Lab, command: &str) -> io::Result<std::path::PathBuf> {
        let stem = lab.question();
        let file = stem.with_extension("sh");
        fs::write(&file, lab.spell(command) + "\n")?;
        let name = stem.display();
        writeln!(self.commands, ". {name}.sh </dev/null >{name}.out 2>{name}.err; echo $?")?;
        self.commands.flush()?;
        Ok(stem)
    }

    /// Waits for the command that was begun.
    pub fn finish(&mut self, stem: &std::path::Path) -> io::Result<Answer> {
        let mut code = String::new();
        self.codes.read_line(&mut code)?;
        let text = |extension| fs::read_to_string(stem.with_extension(extension));
        Ok(Answer {
            output: text("out")?.trim().to_owned(),
            errors: text("err")?,
            code: code.trim().parse().map_err(|_| io::Error::other("the shell ended"))?,
        })
    }

    /// Waits until it has ended, and collects it.
    pub fn collect(&mut self) -> io::Result<()> {
        self.child.wait().map(drop)
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        // Already gone is as good.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
