//! Another process with the pid of a dead owner, even with its start time.
//!
//! In a pid namespace of its own the next pid can be chosen. Whoever does that is this program in
//! a process of its own: it starts an owner, notes who it is, kills it, and starts another process
//! in its place before the clock has ticked.

use std::fs;
use std::io;
use std::process::{Child, Command, ExitCode, Stdio};

use osm_claims::{ClaimOptions, HeldBy, Resource};
use osm_identity::{ProcessInstance, System};
use osm_testkit::tools::root;

use super::liveness::OTHER_PIDS;
use super::race::{claims_in, requester};
use super::row::Outcome;
use super::site::Site;

/// The first argument of the program in its namespace; the ledger's folder follows.
pub(crate) const REUSER: &str = "--reuser";

/// How often a pid is reused.
const ROUNDS: usize = 40;

fn sleeper() -> io::Result<Child> {
    Command::new("cat").stdin(Stdio::piped()).spawn()
}

/// Reuses pids, and tells of every round whether the start time was the same, too.
pub(crate) fn run(folder: &str) -> ExitCode {
    let claims = claims_in(folder);
    let (mut reused, mut in_one_tick) = (0, 0);
    for _ in 0..10 * ROUNDS {
        if reused == ROUNDS {
            break;
        }
        let mut owner = sleeper().expect("a process");
        let before = ProcessInstance::with_pid(owner.id(), &System).expect("it runs");
        owner.kill().and_then(|()| owner.wait()).expect("it is ours");
        let last = (before.pid.0 - 1).to_string();
        fs::write("/proc/sys/kernel/ns_last_pid", last).expect("the namespace is ours");
        let mut successor = sleeper().expect("a process");
        let after = ProcessInstance::with_pid(successor.id(), &System).expect("it runs");
        // Something else may have taken the number.
        if after.pid == before.pid {
            let resource = Resource::new(format!("round-{reused}")).expect("a name");
            let options = ClaimOptions {
                held_by: HeldBy::Process(before.clone()),
                ..ClaimOptions::default()
            };
            claims.claim(&requester("dead", None), &resource, &options).expect("it is free");
            let granted =
                claims.claim(&requester("rival", None), &resource, &ClaimOptions::default());
            let ended = granted.expect("its owner is dead").ended.and_then(|it| it.ended);
            let evidence = ended.and_then(|it| it.evidence).unwrap_or_default();
            let same_start = after.start == before.start;
            let proof = match before.inode {
                Some(_) => "its pid belongs to another process",
                None => "its pid belongs to a process that started at another time",
            };
            assert!(evidence.contains(proof), "{evidence}");
            (reused, in_one_tick) = (reused + 1, in_one_tick + usize::from(same_start));
        }
        successor.kill().and_then(|()| successor.wait()).expect("it is ours");
    }
    assert_eq!(reused, ROUNDS, "pids could not be reused");
    assert!(in_one_tick > 0, "no pid was reused within one tick of the clock");
    ExitCode::SUCCESS
}

pub(crate) fn a_reused_pid_is_another_process(site: &Site) -> Outcome {
    root()?;
    let myself = std::env::current_exe()?;
    let mut command = site.lab.command(OTHER_PIDS[0]);
    command.args(&OTHER_PIDS[1..]).arg(myself).arg(REUSER).arg(site.path("race"));
    let output = command.output()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    // The same by the program: an agent, and another one that gets its pid.
    let mut place = site.shell(&[OTHER_PIDS, &["bash"]].concat(), &[])?;
    let answer = place.sh("mkfifo LAB/hold
         LAB/claude -c 'OSM claim work --json >LAB/granted; true' & old=$!; wait $old
         echo $((old - 1)) >/proc/sys/kernel/ns_last_pid
         LAB/claude -c 'read x <LAB/hold' & new=$!
         test $new = $old || { echo $new instead of $old; exit 1; }
         LAB/claude -c 'OSM claim work --json; true'
         echo >LAB/hold; wait")?;
    answer.ok()?;
    let granted: serde_json::Value = serde_json::from_str(&answer.output).unwrap_or_default();
    assert_eq!(granted["ended"]["ended"]["how"], "died", "{answer:#?}");
    let evidence = granted["ended"]["ended"]["evidence"].as_str().unwrap_or_default();
    assert!(evidence.contains("its pid belongs to"), "{evidence}");
    Ok(())
}
