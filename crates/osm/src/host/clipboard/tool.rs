//! Programs that take a text, or give one, in bounded time.

use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::desk::Desk;

/// A clipboard that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(10);

/// A command of the user's shell.
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

pub(super) fn give_shell(command: &str, text: &str, desk: &Desk) -> Result<(), String> {
    feed(shell(command).current_dir(&desk.folder), text, PATIENCE)
}

pub(super) fn give(words: &[&str], text: &str, desk: &Desk) -> Result<(), String> {
    let name = words.first().copied().unwrap_or_default();
    let command = &mut program(words);
    feed(command.current_dir(&desk.folder), text, PATIENCE).map_err(|it| format!("{name}: {it}"))
}

pub(super) fn take_shell(command: &str, desk: &Desk) -> Result<String, String> {
    drain(shell(command).current_dir(&desk.folder), PATIENCE)
}

pub(super) fn take(words: &[&str], desk: &Desk) -> Result<String, String> {
    let name = words.first().copied().unwrap_or_default();
    let command = &mut program(words);
    drain(command.current_dir(&desk.folder), PATIENCE).map_err(|it| format!("{name}: {it}"))
}

/// Gives a text to a program. Some stay in the background to serve it: they get no stream of ours.
fn feed(command: &mut Command, text: &str, patience: Duration) -> Result<(), String> {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let mut stdin = child.stdin.take();
    let text = text.to_owned();
    // It may never read: then the end of our patience ends it, and with it this thread.
    let writer = std::thread::spawn(move || {
        stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes()))
    });
    wait(&mut child, patience)?;
    match writer.join() {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(format!("it did not take all of it: {error}")),
        Err(_) => Err("it could not be given".into()),
    }
}

/// What a program prints.
fn drain(command: &mut Command, patience: Duration) -> Result<String, String> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let mut stdout = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stdout.take().map_or(Ok(0), |mut stdout| stdout.read_to_end(&mut bytes)).map(|_| bytes)
    });
    wait(&mut child, patience)?;
    let bytes = reader.join().map_err(|_| "it could not be read".to_owned())?;
    let bytes = bytes.map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "what it gives is not UTF-8".into())
}

/// Waits until a program has ended well.
fn wait(child: &mut Child, patience: Duration) -> Result<(), String> {
    let until = Instant::now() + patience;
    loop {
        match child.try_wait() {
            Err(error) => return Err(error.to_string()),
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => {
                return Err(format!("exit code {}", crate::host::exec::code(status)));
            }
            Ok(None) if Instant::now() > until => {
                // It may have ended in the meantime, which is as good.
                drop(child.kill());
                drop(child.wait());
                return Err(format!("no answer within {} s", patience.as_secs()));
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
        feed(&mut shell(&take), &long, PATIENCE).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), long);
        assert_eq!(
            feed(&mut shell("cat >/dev/null; exit 3"), "x", PATIENCE).unwrap_err(),
            "exit code 3"
        );
        assert!(feed(&mut shell("exec <&-; exit 0"), &long, PATIENCE).is_err(), "not all was read");
        let hangs = feed(&mut shell("exec sleep 60"), &long, Duration::from_millis(50));
        assert_eq!(hangs.unwrap_err(), "no answer within 0 s");
        assert!(feed(&mut program(&["/no/such"]), "x", PATIENCE).is_err());
    }

    #[test]
    fn what_programs_give() {
        assert_eq!(drain(&mut shell("printf 'a b'"), PATIENCE).unwrap(), "a b");
        assert!(drain(&mut shell("printf '\\377'"), PATIENCE).is_err());
        assert!(drain(&mut shell("exit 1"), PATIENCE).is_err());
    }
}
