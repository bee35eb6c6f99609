//! Promises and timers, which run after the script itself.

use std::time::Duration;

use crate::error::{Kind, ScriptError};
use crate::runtime::Runtime;

impl Runtime {
    /// Runs jobs and timers until `is_done`, or until nothing is left to run.
    pub(crate) fn settle(&self, is_done: &dyn Fn() -> bool) -> Result<(), ScriptError> {
        loop {
            self.run_jobs()?;
            if is_done() {
                return Ok(());
            }
            match self.next_timer()? {
                None => return Ok(()),
                Some(0) => self.fire_timers()?,
                Some(milliseconds) => self.nap(Duration::from_millis(milliseconds))?,
            }
        }
    }

    /// Waits for a timer; this time does not count towards the limit.
    fn nap(&self, time: Duration) -> Result<(), ScriptError> {
        let watchdog = self.watchdog().clone();
        self.host().sleep(time, &|| watchdog.is_interrupted());
        if watchdog.is_interrupted() {
            let kind = watchdog.reason().unwrap_or(Kind::Interrupted);
            return Err(ScriptError::new(kind, "Interrupted", "the script was stopped"));
        }
        self.restart_watchdog();
        Ok(())
    }
}
