//! A command that runs under a claim, and how it is told to end.

std::cfg_select! {
    unix => {
        mod control_group;
        mod family;
        mod unix;
        use unix as platform;
    }
    _ => {
        mod other;
        use other as platform;
    }
}

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};

use super::super::Error;

pub(super) struct Child(platform::Running);

impl Child {
    pub(super) fn start(
        command: &[OsString],
        variables: &[(&str, OsString)],
    ) -> Result<Self, Error> {
        let (program, arguments) = command.split_first().expect("the parser requires a command");
        let mut command = Command::new(program);
        command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
        let signals = platform::prepare(&mut command)
            .map_err(|source| Error::Command { action: "pass signals to", source })?;
        let running = platform::Running::start(&mut command, signals)
            .map_err(|source| Error::Start { program: PathBuf::from(program), source })?;
        Ok(Self(running))
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.pid()
    }

    /// Its exit code, if it ended; that of a signal as shells tell it. What was asked to end has
    /// ended with the last process that it had started.
    pub(super) fn ended(&mut self) -> Result<Option<u8>, Error> {
        let ended = self.0.ended();
        let status = ended.map_err(|source| Error::Command { action: "wait for", source })?;
        Ok(status.map(code))
    }

    pub(super) fn ask_to_end(&mut self) {
        self.0.ask_to_end();
    }

    pub(super) fn kill(&mut self) {
        self.0.kill();
    }
}

fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| platform::signal(status).map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code & 0xff).ok()).unwrap_or(1)
}
