//! Elsewhere: the counter of commits and the processes, looked at several times in a tenth of a
//! second. Neither reads the disk.

use std::time::{Duration, Instant};

use osm_identity::{Liveness, ProcessInstance};
use super::super::SqliteLedger;
use super::commits;
use crate::error::Result;
use crate::ledger::Watch;
use crate::liveness::LivenessProbe;

const LOOK_EVERY: Duration = Duration::from_millis(25);

pub(in super::super) fn begin(ledger: &SqliteLedger) -> Result<Box<dyn Watch + '_>> {
    Ok(Box::new(PortableWatch { seen: commits(ledger)?, ledger }))
}

struct PortableWatch<'a> {
    ledger: &'a SqliteLedger,
    seen: i64,
}

impl Watch for PortableWatch<'_> {
    fn wait(
        &mut self,
        processes: &[&ProcessInstance],
        probe: &dyn LivenessProbe,
        time: Duration,
    ) -> Result<()> {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let now = commits(self.ledger)?;
            let died = processes.iter().any(|it| matches!(probe.look(it), Liveness::Dead(_)));
            if now != self.seen || died || left.is_zero() {
                self.seen = now;
                return Ok(());
            }
            std::thread::sleep(left.min(LOOK_EVERY));
        }
    }
}
