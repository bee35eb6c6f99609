//! A folder of its own, a clean environment, and shells to type into.
//!
//! Everything that a test starts lives below one [`Lab`], has none of our own variables, and ends
//! with it. Commands are given to real shells, by typing: whatever can be typed into (a terminal,
//! a tmux pane, a screen window) is a [`Typist`], and [`Lab::ask`] types one line and waits for
//! the answer in a file. So the same question can be put to an interactive shell, to one behind
//! `sudo -i`, or to one at the other end of `ssh`, without reading screens.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::terminal::Terminal;

/// How long a question may take: long, since machines that test are busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// A place to run things in.
pub struct Lab {
    folder: tempfile::TempDir,
    program: PathBuf,
    options: &'static str,
    questions: AtomicUsize,
}

/// Anything into which lines can be typed.
pub trait Typist {
    /// Types a line and the key that ends it.
    fn type_line(&mut self, line: &str) -> io::Result<()>;
}

/// What a command said.
#[derive(Debug)]
#[must_use = "look at the output or at the exit code"]
pub struct Answer {
    /// Standard output, without the spaces around it.
    pub output: String,
    /// Standard error.
    pub errors: String,
    /// The exit code.
    pub code: i32,
}

impl Answer {
    /// That the command succeeded.
    pub fn ok(&self) -> io::Result<()> {
        match self.code {
            0 => Ok(()),
            code => Err(io::Error::other(format!("exit code {code}: {}", self.errors))),
        }
    }
}

impl Lab {
    /// A new lab; in its commands `OSM` stands for the program given here.
    pub fn new(program: &Path) -> io::Result<Self> {
        Self::with_options(program, "")
    }

    /// A new lab in whose commands `session id` gets more options.
    pub fn with_options(program: &Path, options: &'static str) -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("osm-").tempdir()?;
        // Other users work in here too.
        open_to_all(folder.path())?;
        let questions = AtomicUsize::new(0);
        Ok(Self { folder, program: program.to_owned(), options, questions })
    }

    /// The lab's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A file of the lab with that content, open to all users.
    pub fn file(&self, name: &str, content: &str) -> io::Result<PathBuf> {
        let path = self.path().join(name);
        fs::write(&path, self.spell(content))?;
        open_to_all(&path)?;
        Ok(path)
    }

    /// A copy of a program under another name.
    pub fn copy(&self, program: &Path, name: &str) -> io::Result<PathBuf> {
        let path = self.path().join(name);
        crate::program::copy(program, &path)?;
        open_to_all(&path)?;
        Ok(path)
    }

    /// A command as it is really run: `OSM` is the program, `LAB` the folder.
    #[must_use]
    pub fn spell(&self, command: &str) -> String {
        command
            .replace("session id", &format!("session id{}", self.options))
            .replace("OSM ", &format!("{} ", self.program.display()))
            .replace("LAB", &self.path().display().to_string())
    }

    /// A command with the lab's environment and nothing of ours.
    #[must_use]
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().envs(self.environment()).current_dir(self.path()).stdin(Stdio::null());
        command
    }

    /// The environment that everything here starts with.
    #[must_use]
    pub fn environment(&self) -> Vec<(String, String)> {
        let folder = self.path().display().to_string();
        let pairs = [
            ("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"),
            ("HOME", &folder),
            ("TMPDIR", &folder),
            ("TERM", "xterm-256color"),
            ("LANG", "C.UTF-8"),
            ("HISTFILE", "/dev/null"),
        ];
        pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    /// A shell on a terminal of its own.
    pub fn terminal(&self) -> io::Result<Terminal> {
        self.terminal_running(&["bash", "--norc", "--noprofile", "-i"])
    }

    /// A program on a terminal of its own.
    pub fn terminal_running(&self, arguments: &[&str]) -> io::Result<Terminal> {
        let arguments: Vec<String> = arguments.iter().map(|text| self.spell(text)).collect();
        Terminal::start(&arguments, &self.environment(), self.path())
    }

    /// Types a command into a shell and waits for what it says.
    pub fn ask(&self, shell: &mut dyn Typist, command: &str) -> io::Result<Answer> {
        self.ask_within(PATIENCE, shell, command)
    }

    /// The same for a command that may take so long.
    pub fn ask_within(
        &self,
        patience: Duration,
        shell: &mut dyn Typist,
        command: &str,
    ) -> io::Result<Answer> {
        let stem = self.question();
        let (output, errors, done) =
            (stem.with_extension("out"), stem.with_extension("err"), stem.with_extension("code"));
        for path in [&output, &errors] {
            fs::write(path, "")?;
            open_to_all(path)?;
        }
        // Sourced, so that the shell runs it in itself; spelled so that fish understands it too.
        let script = self.spell(command);
        let file = stem.with_extension("sh");
        fs::write(&file, script + "\n")?;
        open_to_all(&file)?;
        let name = |path: &Path| path.display().to_string();
        shell.type_line(&format!(
            " . {file} >{output} 2>{errors} && echo 0 >{partial} || echo 1 >{partial}; mv {partial} {done}",
            file = name(&file),
            output = name(&output),
            errors = name(&errors),
            partial = name(&stem.with_extension("partial")),
            done = name(&done),
        ))?;
        wait_within(patience, &done)?;
        Ok(Answer {
            output: fs::read_to_string(&output)?.trim().to_owned(),
            errors: fs::read_to_string(&errors)?,
            code: fs::read_to_string(&done)?.trim().parse().map_err(io::Error::other)?,
        })
    }

    /// Waits until a file is there.
    pub fn wait_for(&self, path: &Path) -> io::Result<()> {
        wait_within(PATIENCE, path)
    }

    /// A name for the files of one question.
    pub(crate) fn question(&self) -> PathBuf {
        let number = self.questions.fetch_add(1, Ordering::Relaxed);
        self.path().join(format!("question-{number}"))
    }
}

fn wait_within(patience: Duration, path: &Path) -> io::Result<()> {
    let deadline = Instant::now() + patience;
    while !path.exists() {
        if Instant::now() > deadline {
            let name = path.display();
            return Err(io::Error::other(format!("{name} did not appear in {patience:?}")));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Lets every user read, write and enter.
#[cfg(unix)]
fn open_to_all(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(0o777))
}

#[cfg(not(unix))]
fn open_to_all(_path: &Path) -> io::Result<()> {
    Ok(())
}
