//! Runs a command and captures its output, within limits of time and size.
//!
//! The command gets no input. When it ends, times out or is interrupted, its whole process group is
//! killed. Output beyond the size limit is counted and dropped.

use std::io::{self, PipeReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::progress::Step;
use crate::setting::Setting;

/// The time between two checks for interruption and timeout.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
/// How long after the end of a command what it left behind may still print.
const GRACE: Duration = Duration::from_millis(500);
/// What is read at once.
const CHUNK: usize = 64 << 10;
/// How many chunks may wait.
const WAITING: usize = 16;

/// What a command did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// What it printed, to both streams in the order in which it did.
    pub output: String,
    /// How many bytes more it printed.
    pub beyond: u64,
    /// Whether it printed bytes that are not UTF-8; they are replaced.
    pub replaced: bool,
    /// How it ended.
    pub end: End,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that was not ours.
    Killed,
    /// Its time was up.
    TimedOut,
}

/// Runs a program with arguments in a folder.
pub fn run(command: &[String], folder: &Path, setting: &Setting) -> Result<Ran> {
    let process = program(command, setting)?;
    let mut captured = capture(process, folder, Streams::Together, setting.limits.output, setting)?;
    let (output, replaced) = captured.output.take_text();
    Ok(Ran { output, beyond: captured.output.beyond, replaced, end: captured.end })
}

/// What a command did whose streams are kept apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RanApart {
    /// What it printed to standard output.
    pub output: Vec<u8>,
    /// How many bytes more it printed there.
    pub beyond: u64,
    /// What it printed to standard error.
    pub errors: String,
    /// How it ended.
    pub end: End,
}

/// Runs a program with arguments in a folder, for a caller that parses what it prints.
pub fn run_apart(command: &[String], folder: &Path, setting: &Setting) -> Result<RanApart> {
    let process = program(command, setting)?;
    let mut captured = capture(process, folder, Streams::Apart, setting.limits.output, setting)?;
    let (errors, _) = captured.errors.take_text();
    let Kept { bytes: output, beyond, .. } = captured.output;
    Ok(RanApart { output, beyond, errors, end: captured.end })
}

fn program(command: &[String], setting: &Setting) -> Result<Command> {
    let [program, arguments @ ..] = command else {
        let source = io::Error::new(io::ErrorKind::InvalidInput, "the command is empty");
        return Err(Error::Start { program: String::new(), source });
    };
    (setting.progress)(Step::Running(&command.join(" ")));
    let mut process = Command::new(program);
    process.args(arguments);
    Ok(process)
}

/// What of a program is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Streams {
    /// Both as one.
    Together,
    /// Each by itself.
    Apart,
}

/// What a program printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) output: Kept,
    pub(crate) errors: Kept,
    pub(crate) end: End,
}

/// The beginning of a stream.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub(crate) bytes: Vec<u8>,
    most: usize,
    pub(crate) beyond: u64,
}

impl Kept {
    fn up_to(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    fn add(&mut self, chunk: &[u8]) {
        let fits = chunk.len().min(self.most - self.bytes.len());
        self.bytes.extend_from_slice(&chunk[..fits]);
        self.beyond += (chunk.len() - fits) as u64;
    }

    /// As text, and whether bytes had to be replaced. A character that was cut is counted as cut.
    pub(crate) fn take_text(&mut self) -> (String, bool) {
        if self.beyond > 0
            && let Err(error) = std::str::from_utf8(&self.bytes)
            && error.error_len().is_none()
        {
            self.beyond += (self.bytes.len() - error.valid_up_to()) as u64;
            self.bytes.truncate(error.valid_up_to());
        }
        match String::from_utf8(std::mem::take(&mut self.bytes)) {
            Ok(text) => (text, false),
            Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
        }
    }
}

/// A chunk, and whether it is of standard error.
type Chunk = (bool, Vec<u8>);

/// Runs a program and reads what it prints.
pub(crate) fn capture(
    mut command: Command,
    folder: &Path,
    streams: Streams,
    most: usize,
    setting: &Setting,
) -> Result<Captured> {
    setting.go_on()?;
    if !folder.is_dir() {
        // The system would say the same as of a program that is not there.
        return Err(Error::NotFound(folder.to_owned()));
    }
    let program = command.get_program().to_string_lossy().into_owned();
    let failed = |source| Error::Start { program: program.clone(), source };
    command.current_dir(folder).stdin(Stdio::null());
    let (sender, chunks) = sync_channel(WAITING);
    let (reader, writer) = io::pipe().map_err(failed)?;
    let mut readers = vec![(false, reader)];
    if streams == Streams::Together {
        command.stderr(writer.try_clone().map_err(failed)?);
    } else {
        let (reader, writer) = io::pipe().map_err(failed)?;
        command.stderr(writer);
        readers.push((true, reader));
    }
    command.stdout(writer);
    group::lead(&mut command);
    let child = command.spawn().map_err(failed)?;
    // Our own copies of what it writes to would keep the streams open.
    drop(command);
    let running = Running(Some(child));
    for (is_error, reader) in readers {
        let sender = sender.clone();
        let forward = move || forward(is_error, reader, &sender);
        std::thread::Builder::new().spawn(forward).map_err(failed)?;
    }
    drop(sender);
    running.watch(&chunks, most, setting)
}

/// Sends what is read until the pipe or the channel is closed.
fn forward(is_error: bool, mut from: PipeReader, to: &SyncSender<Chunk>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => {
                if to.send((is_error, buffer[..count].to_vec())).is_err() {
                    return;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// A process that is stopped, with all that it started, if it is not seen to its end.
struct Running(Option<Child>);

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            group::stop(child);
            drop(child.wait());
        }
    }
}

impl Running {
    fn watch(
        mut self,
        chunks: &Receiver<Chunk>,
        most: usize,
        setting: &Setting,
    ) -> Result<Captured> {
        let started = Instant::now();
        let (mut output, mut errors) = (Kept::up_to(most), Kept::up_to(most));
        let mut ended: Option<Instant> = None;
        let mut closed = false;
        loop {
            if closed {
                // It goes on without its streams, or is about to end: there is nothing to wait on.
                std::thread::sleep(Duration::from_millis(1));
            } else {
                match chunks.recv_timeout(BETWEEN_LOOKS) {
                    Ok((false, chunk)) => output.add(&chunk),
                    Ok((true, chunk)) => errors.add(&chunk),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => closed = true,
                }
            }
            if (setting.interrupted)() {
                return Err(Error::Interrupted);
            }
            if ended.is_none() && self.0.as_mut().is_none_or(group::has_ended) {
                ended = Some(Instant::now());
            }
            let late = ended.is_some_and(|ended| ended.elapsed() > GRACE);
            if ended.is_some() && (closed || late) {
                let end = self.finish();
                return Ok(Captured { output, errors, end });
            }
            if ended.is_none() && started.elapsed() > setting.limits.time {
                return Ok(Captured { output, errors, end: End::TimedOut });
            }
        }
    }

    /// How it ended; what it left behind is stopped.
    fn finish(&mut self) -> End {
        let Some(mut child) = self.0.take() else { return End::Killed };
        group::stop(&mut child);
        match child.wait().ok().as_ref().and_then(ExitStatus::code) {
            Some(code) => End::Exited(code),
            None => End::Killed,
        }
    }
}

/// A process and all that it started.
#[cfg(unix)]
mod group {
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    use rustix::process::{Pid, Signal, kill_process_group};

    pub(super) fn lead(command: &mut Command) {
        command.process_group(0);
    }

    /// Whether it ended. It is not reaped, so that its process id is not reused.
    #[cfg(not(target_os = "openbsd"))]
    pub(super) fn has_ended(child: &mut Child) -> bool {
        use rustix::process::{WaitId, WaitIdOptions, waitid};

        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        !matches!(waitid(WaitId::Pid(Pid::from_child(child)), options), Ok(None))
    }

    /// Whether it ended. OpenBSD cannot check without reaping. Other processes of the group keep its id
    /// in use and are killed right after. Known gap: if there are none, the id may be reused.
    #[cfg(target_os = "openbsd")]
    pub(super) fn has_ended(child: &mut Child) -> bool {
        !matches!(child.try_wait(), Ok(None))
    }

    pub(super) fn stop(child: &mut Child) {
        // The group may be empty.
        kill_process_group(Pid::from_child(child), Signal::KILL).unwrap_or_default();
    }
}

/// A process alone: what it started is on its own.
#[cfg(not(unix))]
mod group {
    use std::process::{Child, Command};

    pub(super) fn lead(_command: &mut Command) {}

    pub(super) fn has_ended(child: &mut Child) -> bool {
        !matches!(child.try_wait(), Ok(None))
    }

    pub(super) fn stop(child: &mut Child) {
        // It may have ended already.
        child.kill().unwrap_or_default();
    }
}

#[cfg(all(test, unix))]
mod tests;
