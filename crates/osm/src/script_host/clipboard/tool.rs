//! Runs clipboard programs, with a time limit.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::session_host::SessionHost;

/// A clipboard program that takes longer is stopped.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A shell command.
fn shell(command: &str) -> Command {
    let mut shell;
    if cfg!(windows) {
        shell = Command::new("cmd");
        shell.arg("/c");
    } else {
        shell = Command::new("/bin/sh");
        shell.arg("-c");
    }
    shell.arg(command);
    shell
}

fn program(words: &[&str]) -> Command {
    let mut command = Command::new(words.first().copied().unwrap_or_default());
    command.args(words.iter().skip(1));
    command
}

pub(super) fn write_to_shell(command: &str, text: &str, host: &SessionHost) -> Result<(), String> {
    feed(shell(command).current_dir(&host.folder), text, TIMEOUT)
}

pub(super) fn write_to(words: &[&str], text: &str, host: &SessionHost) -> Result<(), String> {
    let name = words.first().copied().unwrap_or_default();
    let command = &mut program(words);
    feed(command.current_dir(&host.folder), text, TIMEOUT).map_err(|it| format!("{name}: {it}"))
}

pub(super) fn read_from_shell(command: &str, host: &SessionHost) -> Result<String, String> {
    drain(shell(command).current_dir(&host.folder), TIMEOUT)
}

pub(super) fn read_from(words: &[&str], host: &SessionHost) -> Result<String, String> {
    let name = words.first().copied().unwrap_or_default();
    let command = &mut program(words);
    drain(command.current_dir(&host.folder), TIMEOUT).map_err(|it| format!("{name}: {it}"))
}

/// Writes a text to a program. Some stay in the background to serve it, so they inherit no stream.
fn feed(command: &mut Command, text: &str, timeout: Duration) -> Result<(), String> {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let mut stdin = child.stdin.take();
    let text = text.to_owned();
    // A program may never read; the timeout ends it, and with it this thread.
    let write = move || stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes()));
    let writer = start(write, &mut child)?;
    wait(&mut child, timeout)?;
    match writer.join() {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(format!("it did not read the whole text: {error}")),
        Err(_) => Err("the writing thread failed".into()),
    }
}

/// Reads what a program prints.
fn drain(command: &mut Command, timeout: Duration) -> Result<String, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let mut stdout = child.stdout.take();
    let read = move || {
        let mut bytes = Vec::new();
        stdout.take().map_or(Ok(0), |mut stdout| stdout.read_to_end(&mut bytes)).map(|_| bytes)
    };
    let reader = start(read, &mut child)?;
    wait(&mut child, timeout)?;
    let bytes = reader.join().map_err(|_| "the reading thread failed".to_owned())?;
    let bytes = bytes.map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "its output is not valid UTF-8".into())
}

/// Starts a thread that serves a program; without one, the program is ended.
fn start<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    child: &mut Child,
) -> Result<JoinHandle<T>, String> {
    std::thread::Builder::new().spawn(work).map_err(|error| {
        drop(child.kill());
        drop(child.wait());
        format!("cannot start a thread: {error}")
    })
}

/// Waits until a program has ended with exit code 0.
fn wait(child: &mut Child, timeout: Duration) -> Result<(), String> {
    let until = Instant::now() + timeout;
    loop {
        match child.try_wait() {
            Err(error) => return Err(error.to_string()),
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => {
                return Err(format!("exit code {}", crate::script_host::exec::code(status)));
            }
            Ok(None) if Instant::now() > until => {
                // The program may have ended in the meantime.
                drop(child.kill());
                drop(child.wait());
                return Err(format!("no answer within {} s", timeout.as_secs()));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_programs_do_with_a_text() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("taken");
        let take = format!("cat > '{}'", file.display());
        let long = "x".repeat(1 << 20);
        feed(&mut shell(&take), &long, TIMEOUT).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), long);
        assert_eq!(
            feed(&mut shell("cat >/dev/null; exit 3"), "x", TIMEOUT).unwrap_err(),
            "exit code 3"
        );
        assert!(feed(&mut shell("exec <&-; exit 0"), &long, TIMEOUT).is_err(), "not all was read");
        let hangs = feed(&mut shell("exec sleep 60"), &long, Duration::from_millis(50));
        assert_eq!(hangs.unwrap_err(), "no answer within 0 s");
        assert!(feed(&mut program(&["/no/such"]), "x", TIMEOUT).is_err());
    }

    #[test]
    fn what_programs_give() {
        assert_eq!(drain(&mut shell("printf 'a b'"), TIMEOUT).unwrap(), "a b");
        assert!(drain(&mut shell("printf '\\377'"), TIMEOUT).is_err());
        assert!(drain(&mut shell("exit 1"), TIMEOUT).is_err());
    }
}
