//! The agent on a terminal of its own, and the little that a terminal must do for it.

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, PtySize, native_pty_system};

use super::Invocation;
use super::conduct::{Ending, TICK};

/// How long an agent may take to leave when its user does.
const FAREWELL: Duration = Duration::from_secs(10);

/// What a terminal is asked, and answers. Some agents wait for the answer before they start.
const QUERIES: [(&str, &[u8]); 3] = [
    ("\x1b[6n", b"\x1b[1;1R"),
    ("\x1b[c", b"\x1b[?62c"),
    ("\x1b]11;?", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
];

/// Runs the agent until it exits, or until `done` says that the user may leave.
pub(super) fn converse(
    invocation: &Invocation,
    deadline: Instant,
    done: impl Fn() -> bool,
) -> io::Result<Ending> {
    let size = PtySize { rows: 40, cols: 120, pixel_width: 0, pixel_height: 0 };
    let pty = native_pty_system().openpty(size).map_err(io::Error::other)?;
    let mut command = CommandBuilder::new(&invocation.program);
    command.args(&invocation.args);
    command.cwd(&invocation.workdir);
    command.env_clear();
    for (name, value) in &invocation.env {
        command.env(name, value);
    }
    let mut child = pty.slave.spawn_command(command).map_err(io::Error::other)?;
    drop(pty.slave);
    let pid = child.process_id().unwrap_or_default();
    let screen = pty.master.try_clone_reader().map_err(io::Error::other)?;
    let keyboard = pty.master.take_writer().map_err(io::Error::other)?;
    let keyboard = Arc::new(Mutex::new(keyboard));
    let drawn = Arc::new(Mutex::new(String::new()));
    let emulator = {
        let (keyboard, drawn) = (Arc::clone(&keyboard), Arc::clone(&drawn));
        thread::spawn(move || emulate(screen, &keyboard, &drawn))
    };

    let mut leaving: Option<Instant> = None;
    let mut next_key = Instant::now();
    let outcome = loop {
        if let Some(status) = child.try_wait()? {
            // Who is interrupted by a user that leaves may say so in the exit status.
            let fine = leaving.is_some() || status.success();
            break Some(if fine { Ok(()) } else { Err(status.to_string()) });
        }
        let now = Instant::now();
        match leaving {
            None if done() => {
                // The closing sentence is on its way, and after it the conversation is saved.
                next_key = now + Duration::from_millis(500);
                leaving = Some(now + FAREWELL);
            }
            None if now >= deadline => break None,
            Some(last) if now >= last => break Some(Ok(())),
            // Ctrl-C ends every one of them; most ask to hear it twice.
            Some(_) if now >= next_key => {
                next_key = now + Duration::from_millis(300);
                let mut keyboard = keyboard.lock().unwrap_or_else(PoisonError::into_inner);
                // Nobody reads any more: the agent is about to exit.
                drop(keyboard.write_all(b"\x03"));
            }
            _ => {}
        }
        thread::sleep(TICK);
    };
    drop(child.kill());
    drop(child.wait());
    drop((keyboard, pty.master));
    // What the agent left running may hold the terminal open: then the thread stays with it.
    let patience = Instant::now() + Duration::from_secs(1);
    while !emulator.is_finished() && Instant::now() < patience {
        thread::sleep(TICK);
    }
    let stdout = drawn.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(Ending { outcome, stdout, stderr: String::new(), pid })
}

fn emulate(mut screen: impl Read, keyboard: &Mutex<Box<dyn Write + Send>>, drawn: &Mutex<String>) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = screen.read(&mut buffer) {
        let text = String::from_utf8_lossy(&buffer[..count]);
        for (_, answer) in QUERIES.iter().filter(|(query, _)| text.contains(query)) {
            let mut keyboard = keyboard.lock().unwrap_or_else(PoisonError::into_inner);
            drop(keyboard.write_all(answer));
        }
        drawn.lock().unwrap_or_else(PoisonError::into_inner).push_str(&text);
    }
}
