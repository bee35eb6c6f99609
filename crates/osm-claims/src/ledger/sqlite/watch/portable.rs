//! Elsewhere: the counter of changes that the ledger's processes share in memory, and a look at the
//! processes, several times in a tenth of a second. Neither reads the disk.

use std::time::{Duration, Instant};

use super::super::{SqliteLedger, fault};
use crate::error::Result;
use crate::ledger::Watch;
use crate::liveness::Sight;
use osm_identity::{Liveness, ProcessInstance};

const LOOK_EVERY: Duration = Duration::from_millis(25);

pub(in super::super) fn begin(ledger: &SqliteLedger) -> Result<Box<dyn Watch + '_>> {
    Ok(Box::new(PortableWatch { seen: version(ledger)?, ledger }))
}

struct PortableWatch<'a> {
    ledger: &'a SqliteLedger,
    seen: i64,
}

fn version(ledger: &SqliteLedger) -> Result<i64> {
    let connection = ledger.connection();
    connection
        .pragma_query_value(None, "data_version", |row| row.get(0))
        .map_err(|error| fault::explain(ledger.path(), error))
}

impl Watch for PortableWatch<'_> {
    fn wait(&mut self, processes: &[&ProcessInstance], sight: &dyn Sight, time: Duration) -> Result<()> {
        let until = Instant::now() + time;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let now = version(self.ledger)?;
            let died = processes.iter().any(|it| matches!(sight.look(it), Liveness::Dead(_)));
            if now != self.seen || died || left.is_zero() {
                self.seen = now;
                return Ok(());
            }
            std::thread::sleep(left.min(LOOK_EVERY));
        }
    }
}
