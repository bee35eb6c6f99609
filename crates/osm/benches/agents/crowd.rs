//! Ledgers with claims of another session.

use std::path::{Path, PathBuf};

use osm_claims::claim::Hold;
use osm_claims::ledger::Grant;
use osm_claims::{
    Caller, Case, ClaimedPath, Claims, Ledger, Mode, PathKind, Requester, Resource, Scope,
    SqliteLedger, SystemProbe,
};
use osm_identity::{ProcessInstance, ProcessSource, Repository, System};
use osm_testkit::bench::Result;

/// The file that the other session holds in every ledger, and the agent wants.
pub(crate) const HELD: &str = "src/held.rs";

/// Where a home has its ledger.
fn folder(home: &Path) -> PathBuf {
    home.join(".config/one-shot-man")
}

/// Claims [`HELD`] and so many other files of a worktree for a session that is alive as long as this process.
pub(crate) fn fill(home: &Path, worktree: &Path, others: u32) -> Result<()> {
    let requester = requester(worktree)?;
    let names = (0..others).map(|number| format!("other/folder_{}/file_{number}.rs", number / 50));
    let resources = names
        .chain([HELD.to_owned()])
        .map(|name| resource(worktree, &name))
        .collect::<Result<Vec<_>>>()?;
    let ledger = SqliteLedger::open(&folder(home), &System)?;
    ledger.write(&mut |transaction| {
        let at = transaction.now()?.wall;
        let scope = transaction.add_scope(&requester.scope)?;
        let owner = transaction.add_owner(&requester.caller)?;
        for resource in &resources {
            transaction.grant(&Grant {
                scope,
                resource,
                owner: &owner,
                mode: Mode::default(),
                hold: Hold::Session,
                at,
                note: Some("moving the parser".into()),
                request: None,
                worktree: None,
            })?;
        }
        Ok(())
    })?;
    Ok(())
}

/// How many claims are open.
pub(crate) fn count(home: &Path, worktree: &Path) -> Result<usize> {
    let ledger = SqliteLedger::open(&folder(home), &System)?;
    let claims = Claims::new(Box::new(ledger), Box::new(SystemProbe(System)));
    Ok(claims.list(&requester(worktree)?, false)?.len())
}

fn resource(worktree: &Path, name: &str) -> Result<Resource> {
    let name =
        ClaimedPath::new(&around(worktree)?.worktree_name(), PathKind::File, name, Case::Distinct)?;
    Ok(Resource::of_path(name, None))
}

fn around(worktree: &Path) -> Result<Repository> {
    Repository::around(worktree).ok_or_else(|| "the repository is gone".into())
}

/// The other session.
fn requester(worktree: &Path) -> Result<Requester> {
    let process = ProcessInstance::with_pid(std::process::id(), &System)?;
    Ok(Requester {
        scope: Scope::of(&around(worktree)?, &System.host()?.boot),
        caller: Caller {
            session: "agent--claude-code_0123456789abcdef".into(),
            process: Some(process),
            agent: Some("claude-code".into()),
            host: "bench".into(),
            is_random: false,
            is_sole: false,
            is_process: false,
        },
    })
}
