//! Without signals: the console sends its events to both of us.

use std::io;
use std::process::{Child, Command, ExitStatus};

pub(super) struct Signals;

pub(super) struct Running(Child);

#[expect(clippy::unnecessary_wraps, reason = "as on platforms with signals")]
pub(super) fn prepare(_command: &mut Command) -> io::Result<Signals> {
    Ok(Signals)
}

pub(super) fn signal(_status: ExitStatus) -> Option<i32> {
    None
}

impl Running {
    pub(super) fn start(command: &mut Command, _signals: Signals) -> io::Result<Self> {
        command.spawn().map(Self)
    }

    pub(super) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(super) fn ended(&mut self) -> io::Result<Option<ExitStatus>> {
        self.0.try_wait()
    }

    pub(super) fn ask_to_end(&mut self) {
        self.kill();
    }

    pub(super) fn kill(&mut self) {
        // It may have ended in the meantime, which is what we want.
        drop(self.0.kill());
    }
}
