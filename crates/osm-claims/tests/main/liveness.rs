//! Real processes that end, stop, hide, or run where they cannot be seen.
//!
//! Namespaces, `hidepid` and bind mounts are Linux; they need root.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use osm_claims::{LivenessProbe, SystemProbe};
use osm_identity::{
    Liveness, ProcessInstance, ProcessSource, Proof, ReadError, StartTime, System, UnknownReason,
};
use osm_testkit::{tools, trials};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::claimant::{Claimant, in_namespaces, program, run, said};

/// A process of ours that does nothing.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> (Self, ProcessInstance) {
        let child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        let process = ProcessInstance::with_pid(child.id(), &System).unwrap();
        (Self(child), process)
    }

    /// Sends a signal and waits until it had its effect, without collecting the process.
    fn signal(&self, signal: Signal, effect: WaitIdOptions) {
        let pid = Pid::from_child(&self.0);
        kill_process(pid, signal).unwrap();
        waitid(WaitId::Pid(pid), effect | WaitIdOptions::NOWAIT).unwrap().unwrap();
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn look(process: &ProcessInstance) -> Liveness {
    SystemProbe(System).look(process)
}

#[test]
fn killed_stopped_collected() {
    let (mut sleeper, process) = Sleeper::start();
    assert_eq!(look(&process), Liveness::Alive);
    sleeper.signal(Signal::STOP, WaitIdOptions::STOPPED);
    assert_eq!(look(&process), Liveness::Suspended);
    sleeper.signal(Signal::CONT, WaitIdOptions::CONTINUED);
    assert_eq!(look(&process), Liveness::Alive);
    sleeper.signal(Signal::KILL, WaitIdOptions::EXITED);
    assert_eq!(look(&process), Liveness::Dead(Proof::Zombie));
    sleeper.0.wait().unwrap();
    assert!(matches!(look(&process), Liveness::Dead(_)));
}

#[test]
fn what_an_owner_held_is_free_when_it_is_killed_and_not_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut owner = Claimant::start(folder.path(), &["owner@self", "hold", "task"]);
    let pid = Pid::from_raw(i32::try_from(owner.pid()).unwrap()).unwrap();
    let claim = || run(folder.path(), &["rival@1", "claim", "task"]);
    assert_eq!(claim().status.code(), Some(10), "held");
    kill_process(pid, Signal::STOP).unwrap();
    waitid(WaitId::Pid(pid), WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT).unwrap();
    let refused = claim();
    assert_eq!(refused.status.code(), Some(11), "suspended: {refused:?}");
    owner.kill();
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).unwrap();
    // A zombie: its parent has not collected it.
    assert!(said(&claim()).starts_with("Grant(Some(Died)) 2."));
    owner.collect();
}

/// Ends its main thread and goes on in another one until standard input ends.
const WITHOUT_MAIN_THREAD: &str = "
import ctypes, sys, threading
threading.Thread(target=sys.stdin.read).start()
ctypes.CDLL(None).pthread_exit(None)
";

#[test]
fn a_process_whose_main_thread_has_ended() {
    let python = trials::need(tools::program("python3"));
    let mut command = Command::new(python);
    command.args(["-c", WITHOUT_MAIN_THREAD]).stdin(Stdio::piped());
    let mut child = Sleeper(command.spawn().unwrap());
    let stat = format!("/proc/{}/stat", child.0.id());
    while !std::fs::read_to_string(&stat).unwrap().contains(") Z ") {
        std::thread::sleep(Duration::from_millis(5));
    }
    let process = ProcessInstance::with_pid(child.0.id(), &System).unwrap();
    assert_eq!(look(&process), Liveness::Alive);

    // Its claim is held until the last thread ended, and free then.
    let folder = tempfile::tempdir().unwrap();
    let owner = format!("owner@{}", child.0.id());
    assert!(said(&run(folder.path(), &[&owner, "claim", "task"])).starts_with("Grant(None) 1."));
    let claim = || run(folder.path(), &["rival@1", "claim", "task"]);
    assert_eq!(claim().status.code(), Some(10), "held");
    drop(child.0.stdin.take());
    let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(Pid::from_child(&child.0)), ended).unwrap().unwrap();
    assert_eq!(look(&process), Liveness::Dead(Proof::Zombie));
    assert!(said(&claim()).starts_with("Grant(Some(Died)) 2."));
}

/// What is known of a process there.
fn seen(options: &[&str], script: &str, process: &ProcessInstance) -> String {
    let process = serde_json::to_string(process).unwrap();
    said(&in_namespaces(options, script, &["-", "-", "see", &process]))
}

#[test]
fn a_number_that_is_used_again_within_one_tick() {
    let options = ["--pid", "--fork", "--mount-proc", "--kill-child"];
    let output = in_namespaces(&options, "exec \"$0\" \"$@\"", &["-", "-", "reuse", "20"]);
    let verdicts = said(&output);
    let expected = Liveness::Dead(Proof::AnotherInode).to_string();
    assert_eq!(verdicts.lines().collect::<Vec<_>>(), vec![expected; 20]);
}

#[test]
fn a_number_that_is_used_again_later() {
    let (_sleeper, process) = Sleeper::start();
    // What an older kernel knows of a process that had this number before.
    let earlier = ProcessInstance { start: StartTime(process.start.0 - 1), inode: None, ..process };
    assert_eq!(look(&earlier), Liveness::Dead(Proof::AnotherStart));
}

#[test]
fn another_pid_namespace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let owner = Claimant::start(folder.path(), &["owner@self", "hold", "task"]);
    let options = ["--pid", "--fork", "--mount-proc", "--kill-child"];
    for (arguments, code, expected) in [
        (&[path, "-", "look", "task"][..], 0, "another pid namespace"),
        (&[path, "rival", "claim", "task"], 12, "another pid namespace"),
        (&[path, "rival", "sweep"], 0, "freed 0"),
    ] {
        let output = in_namespaces(&options, "exec \"$0\" \"$@\"", arguments);
        let text = [&output.stdout[..], &output.stderr].concat();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(expected), "{text}");
    }
    owner.finish();
}

/// Ways to start a program in a pid namespace of its own.
const SANDBOXES: [&[&str]; 2] = [
    &["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"],
    &["bwrap", "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--die-with-parent"],
];

#[test]
fn a_sandbox_is_seen_from_outside_until_it_ends() {
    trials::need(tools::root().and_then(|()| tools::first_pid_namespace()));
    for words in SANDBOXES {
        trials::need(tools::program(words[0]));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let mut owner =
            Claimant::start_below(words, folder.path(), &["owner@self", "hold", "task"]);
        let look = || said(&run(folder.path(), &["reader", "look", "task"]));
        let claim = || run(folder.path(), &["rival@1", "claim", "task"]);
        assert_eq!((look().as_str(), claim().status.code()), ("alive", Some(10)), "{words:?}");
        // From a namespace beside it nothing is known of it.
        let beside = || {
            let arguments = [path, "reader", "look", "task"];
            said(&in_namespaces(&SANDBOXES[0][1..], "exec \"$0\" \"$@\"", &arguments))
        };
        let unknown = Liveness::Unknown(UnknownReason::AnotherNamespace).to_string();
        assert_eq!(beside(), unknown, "{words:?}");
        owner.kill();
        owner.collect();
        // The sandbox is killed with its parent, and ends in its own time.
        let ended = Liveness::Dead(Proof::NotFound).to_string();
        while look() != ended {
            std::thread::sleep(Duration::from_millis(5));
        }
        // After its end the namespace beside it can have its number, which proves that it is gone.
        let later = beside();
        assert!(later == unknown || later.starts_with("dead"), "{words:?}: {later}");
        let granted = said(&claim());
        assert!(granted.starts_with("Grant(Some(Died)) 2."), "{words:?}: {granted}");
    }
}

#[test]
fn a_process_of_a_sandbox_is_recognised_or_unknown() {
    trials::need(tools::root().and_then(|()| tools::first_pid_namespace()));
    let [unshare, options @ ..] = SANDBOXES[0] else { unreachable!() };
    let mut command = Command::new(unshare);
    command.args(options).args(["sh", "-c", "echo; exec sleep 1000"]);
    let mut sandbox = Sleeper(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap());
    let mut line = [0; 1];
    std::io::Read::read_exact(sandbox.0.stdout.as_mut().unwrap(), &mut line).unwrap();
    let children = format!("/proc/{0}/task/{0}/children", sandbox.0.id());
    let pid: u32 = std::fs::read_to_string(children).unwrap().trim().parse().unwrap();
    let namespace = std::fs::read_link(format!("/proc/{pid}/ns/pid")).unwrap();
    let namespace = namespace.to_str().unwrap().to_owned();
    // As it sees itself.
    let outside = ProcessInstance::with_pid(pid, &System).unwrap();
    let inside = ProcessInstance { pid: osm_identity::Pid(1), namespace, ..outside };
    let unknown = Liveness::Unknown(UnknownReason::AnotherNamespace);
    let ended = Liveness::Dead(Proof::NotFound);
    let older = ProcessInstance { inode: None, ..inside.clone() };
    let other = ProcessInstance { inode: inside.inode.map(|it| it + 1_000_000), ..inside.clone() };
    let older_other = ProcessInstance { pid: osm_identity::Pid(2), ..older.clone() };
    assert_eq!(
        (look(&inside), inside.pid_here(&System)),
        (Liveness::Alive, Some(osm_identity::Pid(pid)))
    );
    assert_eq!((look(&older), look(&other), look(&older_other)), (unknown, ended, ended));
    // A table that hides processes does not prove that one is missing in it.
    for options in ["hidepid=2", "hidepid=1", "subset=pid"] {
        let script = format!("mount -t proc -o {options} proc /proc; exec \"$0\" \"$@\"");
        for process in [&other, &older_other] {
            let verdict = seen(&["--mount"], &script, process);
            assert!(verdict.starts_with("unknown"), "{options}: {verdict}");
        }
    }
    let raw = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(raw, Signal::KILL).unwrap();
    sandbox.0.wait().unwrap();
    assert_eq!(look(&inside), ended);
    // Another sandbox can have the number of its namespace by now, and without an inode they are not told apart.
    let older = look(&older);
    assert!(older == ended || older == unknown, "{older}");
}

#[test]
fn hidden_processes() {
    let (_sleeper, process) = Sleeper::start();
    let script = "mount -t proc -o hidepid=2 proc /proc
        exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$0\" \"$@\"";
    // Another user must be able to run the program.
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    let copy = folder.path().join("claimant");
    osm_testkit::program::copy(program().as_ref(), &copy).unwrap();
    let script = script.replace("\"$0\"", &format!("'{}'", copy.display()));
    let verdict = seen(&["--mount"], &script, &process);
    assert_eq!(
        verdict,
        Liveness::Unknown(UnknownReason::Unreadable(ReadError::Absent)).to_string()
    );
}

#[test]
fn another_time_namespace() {
    let (_sleeper, process) = Sleeper::start();
    let options = ["--time", "--boottime", "100000", "--fork"];
    let verdict = seen(&options, "exec \"$0\" \"$@\"", &process);
    assert_eq!(verdict, "alive");
    // Where the kernel gives no inode, its start is compared, by the machine's own clock.
    let process = ProcessInstance { inode: None, ..process };
    let verdict = seen(&options, "exec \"$0\" \"$@\"", &process);
    assert_eq!(verdict, "alive");
}

#[test]
fn another_boot() {
    let (_sleeper, process) = Sleeper::start();
    if System.machine().is_none() {
        trials::skip(tools::Skipped("this machine has no id (/etc/machine-id)".into()));
    }
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let boot = file("boot", "11111111-2222-3333-4444-555555555555\n");
    let machine = file("machine", "0123456789abcdef0123456789abcdef\n");
    let boot = format!("mount --bind '{boot}' /proc/sys/kernel/random/boot_id");
    let machine = format!("mount --bind '{machine}' /etc/machine-id");
    // It was seen before this machine started.
    let before = ProcessInstance { seen: Some(1), ..process.clone() };
    let not_since = Liveness::Unknown(UnknownReason::AnotherBoot);
    let elsewhere = Liveness::Unknown(UnknownReason::AnotherMachine);
    for (process, script, expected) in [
        (&before, boot.clone(), Liveness::Dead(Proof::Rebooted)),
        (&process, boot.clone(), not_since),
        (&before, format!("{boot}; {machine}"), elsewhere),
        (&process, machine, Liveness::Alive),
    ] {
        let script = format!("{script}; exec \"$0\" \"$@\"");
        let verdict = seen(&["--mount"], &script, process);
        assert_eq!(verdict, expected.to_string(), "{script}");
    }
    // Nor by a clock that a time namespace shows.
    let options = ["--mount", "--time", "--boottime", "-1000", "--fork"];
    let verdict = seen(&options, &format!("{boot}; exec \"$0\" \"$@\""), &process);
    assert_eq!(verdict, not_since.to_string());

    // The claims of a process that runs stay held, in whatever boot a container believes to be.
    let ledger = tempfile::tempdir().unwrap();
    let path = ledger.path().to_str().unwrap();
    let owner = Claimant::start(ledger.path(), &["owner@self", "hold", "task"]);
    let lease = run(ledger.path(), &["named", "claim", "leased"]);
    assert!(lease.status.success(), "{lease:?}");
    for (resource, code) in [("task", 12), ("leased", 12)] {
        let script = format!("{boot}; exec \"$0\" \"$@\"");
        let arguments = [path, "rival", "claim", resource];
        let output = in_namespaces(&["--mount"], &script, &arguments);
        assert_eq!(output.status.code(), Some(code), "{resource}: {output:?}");
    }
    owner.finish();
}
