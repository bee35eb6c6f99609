//! Ledgers and callers to measure with.

use std::path::{Path, PathBuf};
use std::process::Command;

use osm_claims::{Caller, Claims, Requester, Resource, Scope, SqliteLedger, SystemProbe};
use osm_identity::{ProcessInstance, System};
use osm_testkit::bench::{Result, workspace};

pub(crate) fn claims(folder: &Path) -> Result<Claims> {
    let ledger = SqliteLedger::open(folder, &System)?;
    Ok(Claims::new(Box::new(ledger), Box::new(SystemProbe(System))))
}

/// A session that hangs on this process.
pub(crate) fn requester(session: &str) -> Result<Requester> {
    let process = ProcessInstance::with_pid(std::process::id(), &System)?;
    Ok(Requester {
        scope: Scope::named("bench"),
        caller: Caller {
            session: session.to_owned(),
            process: Some(process),
            agent: None,
            host: "bench".into(),
            is_random: false,
            is_sole: false,
            is_process: false,
        },
    })
}

/// The builds of osm, with their names in the tables: that of cargo, and that of `scripts/release`
/// if it exists. The last is the one that users install.
pub(crate) fn builds() -> Vec<(&'static str, PathBuf)> {
    let plain = PathBuf::from(env!("CARGO_BIN_EXE_osm"));
    let shipped = workspace().join("dist/osm");
    if shipped.exists() {
        vec![("`osm claim`, `cargo build --release`", plain), ("`osm claim`, `dist/osm`", shipped)]
    } else {
        vec![("`osm claim`", plain)]
    }
}

/// `osm claim`, not started yet.
pub(crate) fn program(osm: &Path, home: &Path, number: u32) -> Result<Command> {
    let mut command = Command::new(osm);
    command.args(["claim", "--scope", "bench", &resource(number)?.to_string()]);
    command.env("OSM_HOME", home);
    Ok(command)
}

pub(crate) fn resource(number: u32) -> Result<Resource> {
    Ok(Resource::new(format!("TASK-{number}"))?)
}
