//! A program on a pseudo terminal of its own.
//!
//! Nothing is drawn, but where the cursor is, a terminal has to say when it is asked: who edits lines
//! waits for that. It is always at the top.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use crate::lab::Typist;

/// Where is the cursor?
const QUESTION: &[u8] = b"\x1b[6n";
const ANSWER: &[u8] = b"\x1b[1;1R";

/// A terminal; closing it (dropping it) hangs up on what runs there.
pub struct Terminal {
    writer: Arc<Mutex<Box<dyn Write + Send>>>,
    child: Box<dyn Child + Send + Sync>,
    screen: Arc<Mutex<Vec<u8>>>,
    /// Ends when nothing has the terminal open any more.
    reader: Option<JoinHandle<()>>,
    /// Kept open: the last handle's close hangs up.
    _master: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// Starts a program as the leader of a new session on a new terminal.
    pub fn start<Text: AsRef<OsStr>>(
        arguments: &[Text],
        environment: &[(Text, Text)],
        folder: &Path,
    ) -> io::Result<Self> {
        let size = PtySize { rows: 50, cols: 500, pixel_width: 0, pixel_height: 0 };
        let pty = native_pty_system().openpty(size).map_err(io::Error::other)?;
        let mut command = CommandBuilder::from_argv(arguments.iter().map(Into::into).collect());
        command.env_clear();
        for (name, value) in environment {
            command.env(name, value);
        }
        command.cwd(folder);
        let child = pty.slave.spawn_command(command).map_err(io::Error::other)?;
        drop(pty.slave);
        let mut reader = pty.master.try_clone_reader().map_err(io::Error::other)?;
        let writer = pty.master.take_writer().map_err(io::Error::other)?;
        let writer = Arc::new(Mutex::new(writer));
        let answers = Arc::clone(&writer);
        let screen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&screen);
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(length @ 1..) = reader.read(&mut buffer) {
                let mut screen = sink.lock().unwrap_or_else(PoisonError::into_inner);
                let before = screen.len().saturating_sub(QUESTION.len() - 1);
                screen.extend(&buffer[..length]);
                if screen[before..].windows(QUESTION.len()).any(|bytes| bytes == QUESTION) {
                    // Who is gone needs no answer.
                    drop(type_in(&answers, ANSWER));
                }
            }
        });
        Ok(Self { writer, child, screen, reader: Some(reader), _master: pty.master })
    }

    /// The pid of the program.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.child.process_id()
    }

    /// All that was written to the terminal so far.
    #[must_use]
    pub fn screen(&self) -> String {
        let bytes = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Types keys.
    pub fn press(&mut self, keys: &str) -> io::Result<()> {
        type_in(&self.writer, keys.as_bytes())
    }

    /// Whether the program has ended.
    pub fn has_ended(&mut self) -> io::Result<bool> {
        Ok(self.child.try_wait()?.is_some())
    }

    /// Waits until the program and what it started are gone: all bytes that reached the terminal.
    pub fn finish(mut self) -> io::Result<Vec<u8>> {
        self.child.wait()?;
        if let Some(reader) = self.reader.take() {
            reader.join().map_err(|_| io::Error::other("the reader of the terminal panicked"))?;
        }
        Ok(std::mem::take(&mut self.screen.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Waits until the terminal shows a text.
    pub fn wait_for(&self, text: &str) -> io::Result<()> {
        let deadline = Instant::now() + Duration::from_mins(1);
        while !self.screen().contains(text) {
            if Instant::now() > deadline {
                let screen = self.screen();
                return Err(io::Error::other(format!("no {text:?} on the terminal: {screen}")));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Waits until the program ends.
    pub fn wait(&mut self) -> io::Result<()> {
        self.child.wait().map(drop)
    }
}

fn type_in(writer: &Mutex<Box<dyn Write + Send>>, bytes: &[u8]) -> io::Result<()> {
    let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
    writer.write_all(bytes)?;
    writer.flush()
}

impl Typist for Terminal {
    fn type_line(&mut self, line: &str) -> io::Result<()> {
        type_in(&self.writer, format!("{line}\r").as_bytes())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Already gone is as good.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
