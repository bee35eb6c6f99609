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
        let mut signals = platform::prepare(&mut command)?;
        let child = command.spawn().map_err(|error| {
            let code = if error.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
            CommandError::failed(format!(
                "{} cannot be run: {error}",
                std::path::Path::new(program).display()
            ))
            .exiting(Exit::Command(code))
        })?;
        signals.forward_to(&child);
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
        if status.is_some() {
            self.signals.close();
        }
        Ok(status.map(code))
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

    use rustix::process::{Pid, Signal, kill_process, kill_process_group};

    use crate::error::CommandError;

    /// What is passed on to the command.
    const FORWARDED: [Signal; 3] = [Signal::TERM, Signal::INT, Signal::HUP];

    /// Signals that come, and whether the command has a process group of its own.
    pub(super) struct Signals {
        come: Option<signal_hook::iterator::Signals>,
        handle: signal_hook::iterator::Handle,
        own_group: bool,
    }

    /// On a terminal the command must stay in the foreground, with us: the terminal itself sends
    /// its signals to both. Elsewhere it gets a group, so that all it starts can be stopped.
    pub(super) fn prepare(command: &mut Command) -> Result<Signals, CommandError> {
        let own_group = !std::io::stdin().is_terminal();
        if own_group {
            command.process_group(0);
        }
        let come = signal_hook::iterator::Signals::new(FORWARDED.map(Signal::as_raw))
            .map_err(|error| CommandError::failed(format!("signals cannot be caught: {error}")))?;
        Ok(Signals { handle: come.handle(), come: Some(come), own_group })
    }

    pub(super) fn signal(status: ExitStatus) -> Option<i32> {
        status.signal()
    }

    impl Signals {
        /// Passes on what is sent to us alone, from a thread of its own: whatever else we wait for,
        /// it comes at once.
        pub(super) fn forward_to(&mut self, child: &Child) {
            let (own_group, pid) = (self.own_group, child.id());
            let Some(mut come) = self.come.take() else { return };
            std::thread::spawn(move || {
                for number in come.forever() {
                    let signal = FORWARDED.into_iter().find(|it| it.as_raw() == number);
                    if let Some(signal) = signal.filter(|it| own_group || *it != Signal::INT) {
                        send(pid, own_group, signal);
                    }
                }
            });
        }

        /// The command has ended: its number may be somebody else's soon.
        pub(super) fn close(&self) {
            self.handle.close();
        }

        #[expect(clippy::needless_pass_by_ref_mut, reason = "as on platforms without signals")]
        pub(super) fn ask_to_end(&self, child: &mut Child) {
            send(child.id(), self.own_group, Signal::TERM);
            send(child.id(), self.own_group, Signal::CONT);
        }

        #[expect(clippy::needless_pass_by_ref_mut, reason = "as on platforms without signals")]
        pub(super) fn kill(&self, child: &mut Child) {
            send(child.id(), self.own_group, Signal::KILL);
        }
    }

    fn send(pid: u32, own_group: bool, signal: Signal) {
        let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return };
        // It may have ended in the meantime, which is what we want.
        let _ended =
            if own_group { kill_process_group(pid, signal) } else { kill_process(pid, signal) };
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
        pub(super) fn forward_to(&mut self, _child: &Child) {}

        #[expect(clippy::unused_self, reason = "as on platforms with signals")]
        pub(super) fn close(&self) {}

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
