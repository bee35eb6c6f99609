//! A command that runs under a claim, and how it is told to end.

use std::ffi::OsString;
use std::process::{Command, ExitStatus};

use crate::error::{CommandError, Exit};

pub(super) struct Child {
    child: std::process::Child,
    signals: platform::Signals,
}

impl Child {
    pub(super) fn start(
        command: &[OsString],
        variables: &[(&str, OsString)],
    ) -> Result<Self, CommandError> {
        let (program, arguments) = command.split_first().expect("the parser requires a command");
        let mut command = Command::new(program);
        command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
        let signals = platform::prepare(&mut command)?;
        let child = command.spawn().map_err(|error| {
            let code = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
            CommandError::failed(format!(
                "{} cannot be run: {error}",
                std::path::Path::new(program).display()
            ))
            .exiting(Exit::Command(code))
        })?;
        Ok(Self { child, signals })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its exit code, if it ended; that of a signal as shells tell it.
    pub(super) fn ended(&mut self) -> Result<Option<u8>, CommandError> {
        let status = self.child.try_wait().map_err(|error| {
            CommandError::failed(format!("the command cannot be waited for: {error}"))
        })?;
        Ok(status.map(code))
    }

    /// Passes on what was sent to us alone.
    pub(super) fn forward_signals(&self) {
        self.signals.forward(&self.child);
    }

    pub(super) fn ask_to_end(&mut self) {
        self.signals.ask_to_end(&mut self.child);
    }

    pub(super) fn kill(&mut self) {
        self.signals.kill(&mut self.child);
    }
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| platform::signal(status).map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code & 0xff).ok()).unwrap_or(1)
}

#[cfg(unix)]
mod platform {
    use std::io::IsTerminal;
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::{Child, Command, ExitStatus};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use rustix::process::{Pid, Signal, kill_process, kill_process_group};

    use crate::error::CommandError;

    /// What is passed on to the command.
    const FORWARDED: [Signal; 3] = [Signal::TERM, Signal::INT, Signal::HUP];

    /// Signals that came, and whether the command has a process group of its own.
    pub(super) struct Signals {
        came: Vec<(Signal, Arc<AtomicBool>)>,
        own_group: bool,
    }

    /// On a terminal the command must stay in the foreground, with us: the terminal itself sends
    /// its signals to both. Elsewhere it gets a group, so that all it starts can be stopped.
    pub(super) fn prepare(command: &mut Command) -> Result<Signals, CommandError> {
        let own_group = !std::io::stdin().is_terminal();
        if own_group {
            command.process_group(0);
        }
        let mut came = Vec::new();
        for signal in FORWARDED {
            let flag = Arc::new(AtomicBool::new(false));
            signal_hook::flag::register(signal.as_raw(), Arc::clone(&flag)).map_err(|error| {
                CommandError::failed(format!("signals cannot be caught: {error}"))
            })?;
            came.push((signal, flag));
        }
        Ok(Signals { came, own_group })
    }

    pub(super) fn signal(status: ExitStatus) -> Option<i32> {
        status.signal()
    }

    impl Signals {
        pub(super) fn forward(&self, child: &Child) {
            for (signal, flag) in &self.came {
                if flag.swap(false, Ordering::Relaxed) && (self.own_group || *signal != Signal::INT)
                {
                    self.send(child, *signal);
                }
            }
        }

        #[expect(clippy::needless_pass_by_ref_mut, reason = "as on platforms without signals")]
        pub(super) fn ask_to_end(&self, child: &mut Child) {
            self.send(child, Signal::TERM);
            self.send(child, Signal::CONT);
        }

        #[expect(clippy::needless_pass_by_ref_mut, reason = "as on platforms without signals")]
        pub(super) fn kill(&self, child: &mut Child) {
            self.send(child, Signal::KILL);
        }

        fn send(&self, child: &Child, signal: Signal) {
            let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
            // It may have ended in the meantime, which is what we want.
            let _ended = if self.own_group {
                kill_process_group(pid, signal)
            } else {
                kill_process(pid, signal)
            };
        }
    }
}

#[cfg(not(unix))]
mod platform {
    use std::process::{Child, Command, ExitStatus};

    use crate::error::CommandError;

    /// The console sends its events to both of us.
    pub(super) struct Signals;

    pub(super) fn prepare(_command: &mut Command) -> Result<Signals, CommandError> {
        Ok(Signals)
    }

    pub(super) fn signal(_status: ExitStatus) -> Option<i32> {
        None
    }

    impl Signals {
        #[expect(clippy::unused_self, reason = "as on platforms with signals")]
        pub(super) fn forward(&self, _child: &Child) {}

        pub(super) fn ask_to_end(&self, child: &mut Child) {
            self.kill(child);
        }

        #[expect(clippy::unused_self, reason = "as on platforms with signals")]
        pub(super) fn kill(&self, child: &mut Child) {
            // It may have ended in the meantime, which is what we want.
            drop(child.kill());
        }
    }
}
