//! Waiting for a notification of the server, or for the end of a process.
//!
//! A notification has no file that could be waited for together with processes: behind TLS it may have been read
//! already. So processes are looked at several times in a tenth of a second, which asks only this machine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use osm_identity::ProcessInstance;
use osm_postgres::{Listener, Server};

use super::CHANNEL;
use crate::error::Result;
use crate::ledger::Watch;
use crate::liveness::{Ends, LivenessProbe};

const LOOK_EVERY: Duration = Duration::from_millis(25);

pub(super) fn begin(server: &Arc<Server>) -> Result<Box<dyn Watch + 'static>> {
    let listener = Some(listen(server)?);
    Ok(Box::new(PostgresWatch { server: Arc::clone(server), listener }))
}

fn listen(server: &Arc<Server>) -> Result<Listener> {
    Ok(Listener::open(server, &[CHANNEL])?)
}

struct PostgresWatch {
    server: Arc<Server>,
    /// `None` after the connection ended.
    listener: Option<Listener>,
}

impl PostgresWatch {
    /// Whether a notification came. A connection that ended is an error once, and opened by the next call.
    fn heard(&mut self, time: Duration) -> Result<bool> {
        let mut listener = match self.listener.take() {
            Some(listener) => listener,
            None => listen(&self.server)?,
        };
        let heard = listener.wait(time)?.is_some();
        // One look is enough for all changes that were told by now.
        while listener.wait(Duration::ZERO)?.is_some() {}
        self.listener = Some(listener);
        Ok(heard)
    }
}

impl Watch for PostgresWatch {
    fn wait(
        &mut self,
        processes: &[&ProcessInstance],
        probe: &dyn LivenessProbe,
        time: Duration,
    ) -> Result<()> {
        let until = Instant::now() + time;
        let ends = Ends::of(processes, probe);
        // Changes that were committed before this connection listened are not notified.
        let was_deaf = self.listener.is_none();
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let pause = if processes.is_empty() { left } else { left.min(LOOK_EVERY) };
            let heard = self.heard(pause)?;
            if heard || was_deaf || left.is_zero() || ends.wait(probe, Duration::ZERO)? {
                return Ok(());
            }
        }
    }
}
