//! The Windows reader, and detection on top of it, against real processes: under Wine by `scripts/test-platforms`, or on
//! Windows itself.
//!
//! A test starts this very binary again as a probe, by way of whatever it is about: `cmd.exe`, two
//! of them, a parent that ends, another name. The probe looks at itself and writes what it sees
//! into a file, so that its standard streams stay free to be part of the test.
#![cfg(windows)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs::File;
use std::io::Read;
use std::os::windows::io::FromRawHandle;
use std::os::windows::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use osm_identity::{
    Catalogue, Environment, Liveness, Pid, ProcessInstance, ProcessSource, Proof, ReadError,
    Request, StartTime, State, System, detect,
};

/// Where the probe writes; set in the probe only.
const REPORT: &str = "OSM_TEST_REPORT";
/// What it does first: nothing, or one of the words below.
const ERRAND: &str = "OSM_TEST_ERRAND";
/// Start another probe and end without waiting for it.
const ABANDON: &str = "abandon";
/// Wait until the parent is gone.
const OUTLIVE: &str = "outlive";
/// Start another probe and wait for it.
const LAUNCH: &str = "launch";
/// In front of the variables that detection is to see; it sees no others.
const SHOWN: &str = "OSM_TEST_SHOWN_";

/// What a probe saw.
#[derive(Debug)]
struct Report {
    /// Itself first, then its ancestors, as far as they could be read.
    chain: Vec<Link>,
    /// Why the chain ends.
    end: String,
    facts: BTreeMap<String, String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Link {
    pid: u32,
    start: u64,
    name: String,
}

/// Not a test of its own: what the other tests run in another process.
#[test]
fn probe() {
    let Some(report) = variable(REPORT) else {
        return;
    };
    let system = System::new();
    let own = Pid(std::process::id());
    let errand = variable(ERRAND).unwrap_or_default();
    if errand == ABANDON || errand == LAUNCH {
        let mut again = Command::new(exe());
        let next = if errand == ABANDON { OUTLIVE } else { "" };
        again.args(["--exact", "probe"]).env(ERRAND, next);
        if errand == LAUNCH {
            assert!(again.status().unwrap().success());
        } else {
            drop(again.spawn().unwrap());
        }
        return;
    }
    let first = system.process(own).unwrap();
    if errand == OUTLIVE {
        until("the parent is gone", || system.exists(first.parent) == Some(false));
    }

    let mut lines = Vec::new();
    let mut pid = own;
    let mut last = StartTime(u64::MAX);
    for _ in 0..100 {
        match system.process(pid) {
            Ok(process) if process.start > last => {
                lines.push(format!("end recycled: {pid} is younger than its child"));
                break;
            }
            Ok(process) => {
                lines.push(format!("link {pid} {} {}", process.start, process.name));
                (pid, last) = (process.parent, process.start);
            }
            Err(error) => {
                lines.push(format!("end {error}: {pid}"));
                break;
            }
        }
    }
    let mut fact = |key: &str, value: &dyn std::fmt::Display| lines.push(format!("{key} {value}"));
    fact("terminal", &system.named_terminal().unwrap_or_default());
    fact("state", &format!("{:?}", first.state));
    let detection = detect(&Request {
        explicit: None,
        environment: &Environment::new(own.0, shown_variables()),
        source: &system,
        catalogue: &Catalogue::new(),
    });
    fact("id", &detection.id);
    fact("source", &detection.source);
    fact("agent", &detection.agent.map_or("", |agent| agent.name));
    fact("anchor", &detection.anchor.map_or(0, |anchor| anchor.pid.0));
    // Under another name first: who waits for the report must not see half of it.
    let unfinished = Path::new(&report).with_extension("part");
    std::fs::write(&unfinished, lines.join("\n")).unwrap();
    rename(&unfinished, Path::new(&report));
}

#[test]
fn this_process() {
    let system = System::new();
    let own = Pid(std::process::id());
    let process = system.process(own).unwrap();
    assert_eq!(process.pid, own);
    assert_eq!(Some(process.name.as_str()), exe().file_name().and_then(|name| name.to_str()));
    assert_eq!((process.terminal, process.session, process.state), (None, None, State::Active));
    // 2020 in units of 100 ns since 1601: a time, and not one of another unit.
    assert!(process.start > StartTime(132_223_104_000_000_000), "{}", process.start);
    assert_eq!(System::new().process(own), Ok(process));
    assert_eq!(system.exists(own), Some(true));
    assert_eq!(system.executable(own).unwrap().canonicalize().ok(), exe().canonicalize().ok());
    assert_eq!(system.inode(own), None);
    assert_eq!(system.variable(own, "PATH"), Err(ReadError::Unsupported));
}

#[test]
fn the_machine_has_a_name() {
    let host = System::new().host().unwrap();
    assert!(host.boot.len() >= 32, "{host:?}");
    assert_eq!((host.namespace.as_str(), host.contained), ("", false));
    assert_eq!(System::new().host().as_ref(), Ok(&host));
}

#[test]
fn a_child_sees_its_parent() {
    let scratch = Scratch::new("child");
    let report = scratch.run(&mut probe_command(&exe()));
    assert_eq!(report.chain[1], own_link());
    assert_eq!(report.facts["state"], "Active");
    assert_eq!(report.facts["terminal"], "");
}

#[test]
fn under_cmd() {
    let scratch = Scratch::new("cmd");
    let report = scratch.run(&mut under_cmd_exe(&exe(), 1));
    assert_eq!(report.chain[1].name, "cmd.exe");
    assert_eq!(report.chain[2], own_link());
    let again = scratch.run(&mut under_cmd_exe(&exe(), 1));
    assert_ne!(report.chain[1], again.chain[1], "two shells are two processes");
    assert_eq!(report.chain[2..], again.chain[2..]);
    assert_eq!(report.end, again.end);
}

#[test]
fn under_a_cmd_inside_a_cmd() {
    let scratch = Scratch::new("cmds");
    let report = scratch.run(&mut under_cmd_exe(&exe(), 2));
    let names: Vec<_> = report.chain[1..3].iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["cmd.exe", "cmd.exe"]);
    assert_ne!(report.chain[1].pid, report.chain[2].pid);
    assert!(report.chain[1].start >= report.chain[2].start);
    assert_eq!(report.chain[3], own_link());
}

#[test]
fn another_name() {
    let scratch = Scratch::new("renamed");
    let renamed = scratch.path("Not OSM (1).exe");
    std::fs::copy(exe(), &renamed).unwrap();
    let report = scratch.run(&mut under_cmd_exe(&renamed, 1));
    assert_eq!(report.chain[0].name, "Not OSM (1).exe");
    assert_eq!(report.chain[1].name, "cmd.exe");
    assert_eq!(report.chain[2], own_link());
}

#[test]
fn a_parent_that_ended() {
    let scratch = Scratch::new("orphan");
    let report = scratch.run(probe_command(&exe()).env(ERRAND, ABANDON));
    assert_eq!(report.chain.len(), 1, "an orphan has no ancestors: {report:?}");
    assert!(
        report.end.starts_with("not visible") || report.end.starts_with("recycled"),
        "{report:?}"
    );
}

#[test]
fn a_kept_snapshot_sees_who_comes_and_who_goes() {
    let system = System::new();
    let own = system.process(Pid(std::process::id())).unwrap();

    // It came after the snapshot was taken.
    let mut child = sleeper();
    let pid = Pid(child.id());
    let process = system.process(pid).unwrap();
    assert_eq!((process.parent, process.state), (own.pid, State::Active));
    assert!(process.start >= own.start);
    assert_eq!(system.exists(pid), Some(true));
    let instance = ProcessInstance::of(&process, &system.host().unwrap(), &system);
    assert_eq!(instance.liveness(&system), Liveness::Alive);

    // It ended, but we hold its handle: its number can still be opened.
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(system.exists(pid), Some(false));
    match system.process(pid) {
        Ok(process) => assert_eq!(process.state, State::Zombie),
        Err(error) => assert_eq!(error, ReadError::Absent),
    }
    let ended = instance.liveness(&system);
    assert!(ended.is_dead(), "{ended:?}");
    drop(child);
    until("its number is free", || system.process(pid) == Err(ReadError::Absent));
    assert_eq!(system.exists(pid), Some(false));
    assert_eq!(instance.liveness(&system), Liveness::Dead(Proof::Gone));
}

#[test]
fn pids_of_no_process() {
    let system = System::new();
    let unused = Pid(0xffff_fffc);
    assert_eq!(system.process(unused), Err(ReadError::Absent));
    assert_eq!(system.exists(unused), Some(false));
    // Windows opens the process of 4 when asked for 5.
    let beside = Pid(std::process::id() + 1);
    assert_eq!(system.process(beside), Err(ReadError::Absent));
    assert_eq!(system.exists(beside), Some(false));
}

#[test]
fn the_roots_of_the_table() {
    let system = System::new();
    for pid in [Pid(0), Pid(4)] {
        match system.process(pid) {
            Ok(process) => assert_eq!((process.parent, process.start), (Pid(0), StartTime(0))),
            // Wine has neither.
            Err(error) => assert_eq!(error, ReadError::Absent),
        }
    }
}

#[test]
fn the_arguments_of_another_process() {
    let words = ["--exact", "sleep", "a b", "c\\", "say \"x\"", "", "d\\\\\"e"];
    let mut child = sleep_command().args(words).stdout(Stdio::piped()).spawn().unwrap();
    // Until it says something, its memory may not be there yet.
    let mut first = [0];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    let found = System::new().arguments(Pid(child.id()));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(found.unwrap()[1..], words.map(OsString::from));
}

/// Not a test of its own: a process that lives until it is ended.
#[test]
fn sleep() {
    if variable(ERRAND).is_some() {
        std::thread::sleep(Duration::from_mins(1));
    }
}

#[test]
fn the_pipe_of_a_mintty_window() {
    let scratch = Scratch::new("mintty");
    for (name, terminal) in [
        ("msys-1888ae32e00d56aa-pty0-to-master", "msys-1888ae32e00d56aa-pty0"),
        ("cygwin-e022582115c10879-pty7-from-master-nat", "cygwin-e022582115c10879-pty7"),
        ("osm-just-some-pipe", ""),
    ] {
        for stream in 0..3 {
            let (_server, client) = named_pipe(name);
            let mut command = probe_command(&exe());
            match stream {
                0 => command.stdin(client),
                1 => command.stdout(client),
                _ => command.stderr(client),
            };
            assert_eq!(scratch.run(&mut command).facts["terminal"], terminal, "stream {stream}");
        }
    }
}

#[test]
fn one_shell_is_one_session() {
    let scratch = Scratch::new("shell");
    let renamed = scratch.path("Not OSM either.exe");
    std::fs::copy(exe(), &renamed).unwrap();
    let plain = format!("\"{}\" --exact probe", exe().display());
    let other_name = format!("\"{}\" --exact probe", renamed.display());
    let nested = format!("cmd.exe /d /c {plain}");
    let reports = scratch.type_into_shell(&[&plain, &plain, &other_name, &nested]);

    let shell = &reports[0].chain[1];
    assert_eq!(shell.name, "cmd.exe");
    assert_eq!(reports[3].chain[1].name, "cmd.exe");
    for report in &reports {
        assert_eq!(report.facts["id"], reports[0].facts["id"], "{report:?}");
        assert_eq!(report.facts["source"], "anchor", "{report:?}");
        assert_eq!(report.facts["anchor"], shell.pid.to_string());
    }

    let elsewhere = scratch.type_into_shell(&[&plain]);
    assert_eq!(elsewhere[0].facts["source"], "anchor");
    assert_ne!(elsewhere[0].facts["id"], reports[0].facts["id"]);
}

#[test]
fn a_shell_in_a_shell_is_another_session() {
    let scratch = Scratch::new("shells");
    let plain = format!("\"{}\" --exact probe", exe().display());
    // The second line is typed into the inner shell, the last one into the outer shell again.
    let inner = ["cmd.exe /d /q", &plain, "exit", &plain];
    let reports = scratch.type_into_shell(&inner);
    assert_eq!(reports.len(), 2);
    assert_eq!(reports[0].chain[2], reports[1].chain[1]);
    assert_ne!(reports[0].facts["id"], reports[1].facts["id"]);
}

#[test]
fn an_orphan_gets_an_answer() {
    let scratch = Scratch::new("alone");
    let report = scratch.run(probe_command(&exe()).env(ERRAND, ABANDON));
    assert_eq!(report.facts["source"], "random", "{report:?}");
    assert!(report.facts["id"].starts_with("uuid--"), "{report:?}");
}

#[test]
fn an_orphan_in_a_mintty_window_belongs_to_it() {
    let scratch = Scratch::new("window");
    let orphan = |pipe| {
        let (_server, client) = named_pipe(pipe);
        scratch.run(probe_command(&exe()).env(ERRAND, ABANDON).stdin(client))
    };
    let first = orphan("msys-00d56aa1888ae32e-pty0-to-master");
    let again = orphan("msys-00d56aa1888ae32e-pty0-from-master");
    let other = orphan("msys-00d56aa1888ae32e-pty1-to-master");
    assert_eq!(first.chain.len(), 1);
    assert_eq!(first.facts["source"], "terminal", "{first:?}");
    assert_eq!(first.facts["id"], again.facts["id"]);
    assert_ne!(first.facts["id"], other.facts["id"]);
}

#[test]
fn agents_are_known_by_their_name_or_their_script() {
    let scratch = Scratch::new("agents");
    let by_name = scratch.path("Claude.exe");
    let by_script = scratch.path("node.exe");
    let script = scratch.path("gemini");
    std::fs::copy(exe(), &by_name).unwrap();
    std::fs::copy(exe(), &by_script).unwrap();

    let claude = || scratch.run(probe_command(&by_name).env(ERRAND, LAUNCH));
    let (first, second) = (claude(), claude());
    assert_eq!(first.chain[1].name, "Claude.exe");
    assert_eq!(first.facts["agent"], "claude-code", "{first:?}");
    assert_eq!(first.facts["anchor"], first.chain[1].pid.to_string());
    assert_ne!(first.facts["id"], second.facts["id"], "two agents of one kind");

    let mut node = quiet(&by_script);
    node.arg(&script).args(["--exact", "probe"]).env(ERRAND, LAUNCH);
    let gemini = scratch.run(&mut node);
    assert_eq!(gemini.chain[1].name, "node.exe");
    assert_eq!(gemini.facts["agent"], "gemini-cli", "{gemini:?}");
}

#[test]
fn a_tab_of_windows_terminal() {
    let scratch = Scratch::new("tab");
    let terminal = scratch.path("WindowsTerminal.exe");
    std::fs::copy(exe(), &terminal).unwrap();
    let tab = |value| {
        let mut command = probe_command(&terminal);
        command.env(ERRAND, LAUNCH).env(format!("{SHOWN}WT_SESSION"), value);
        scratch.run(&mut command)
    };
    let (first, again, other) = (tab("a-guid"), tab("a-guid"), tab("another-guid"));
    assert_eq!(first.facts["source"], "terminal", "{first:?}");
    assert_eq!(first.facts["id"], again.facts["id"]);
    assert_ne!(first.facts["id"], other.facts["id"]);
    // The variable alone, without such a window above, says nothing.
    let stale = scratch.run(probe_command(&exe()).env(format!("{SHOWN}WT_SESSION"), "a-guid"));
    if stale.chain.iter().all(|link| link.name != "WindowsTerminal.exe") {
        assert_ne!(stale.facts["id"], first.facts["id"]);
    }
}

/// A directory of a test's own, and the reports in it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("osm-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Runs a probe and waits for its report.
    fn run(&self, command: &mut Command) -> Report {
        let path = self.path("report");
        let mut child = command.env(REPORT, &path).spawn().unwrap();
        until("the probe ends", || child.try_wait().unwrap().is_some());
        read(&path)
    }

    /// Types lines into a shell that waits for them; a report for each that runs the probe.
    fn type_into_shell(&self, lines: &[&str]) -> Vec<Report> {
        let mut typed = String::new();
        let mut paths = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            if line.contains("probe") {
                let path = self.path(&format!("report-{index}"));
                write!(typed, "set {REPORT}={}\r\n", path.display()).unwrap();
                paths.push(path);
            }
            write!(typed, "{line}\r\n").unwrap();
        }
        typed.push_str("exit\r\n");
        // From a file: Wine's shell loses all but the first line that it finds in a pipe.
        let script = self.path("typed");
        std::fs::write(&script, typed).unwrap();
        let input = File::open(script).unwrap();
        let mut shell = quiet("cmd.exe").args(["/d", "/q"]).stdin(input).spawn().unwrap();
        until("the shell ends", || shell.try_wait().unwrap().is_some());
        paths.iter().map(|path| read(path)).collect()
    }
}

/// Waits for a report and takes it away.
fn read(path: &Path) -> Report {
    until("the probe reports", || path.exists());
    let text = std::fs::read_to_string(path).unwrap();
    remove(path);
    let mut report = Report { chain: Vec::new(), end: String::new(), facts: BTreeMap::new() };
    for line in text.lines() {
        let (key, value) = line.split_once(' ').unwrap();
        match key {
            "link" => report.chain.push(Link::parse(value)),
            "end" => value.clone_into(&mut report.end),
            _ => drop(report.facts.insert(key.to_owned(), value.to_owned())),
        }
    }
    report
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A leftover directory fails no test.
        drop(std::fs::remove_dir_all(&self.0));
    }
}

impl Link {
    fn parse(text: &str) -> Self {
        let mut words = text.splitn(3, ' ');
        let mut word = || words.next().unwrap();
        Self {
            pid: word().parse().unwrap(),
            start: word().parse().unwrap(),
            name: word().to_owned(),
        }
    }
}

fn own_link() -> Link {
    let process = System::new().process(Pid(std::process::id())).unwrap();
    Link { pid: process.pid.0, start: process.start.0, name: process.name }
}

fn exe() -> PathBuf {
    std::env::current_exe().unwrap()
}

fn quiet(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn probe_command(program: &Path) -> Command {
    let mut command = quiet(program);
    command.args(["--exact", "probe"]);
    command
}

/// The probe below `depth` shells.
fn under_cmd_exe(program: &Path, depth: usize) -> Command {
    let mut command = quiet("cmd.exe");
    let inner = "cmd.exe /d /c ".repeat(depth - 1);
    // The shell takes the outermost quotes away and leaves the rest alone.
    command.raw_arg(format!("/d /c \"{inner}\"{}\" --exact probe\"", program.display()));
    command
}

fn sleep_command() -> Command {
    let mut command = quiet(exe());
    command.env(ERRAND, "sleep");
    command
}

fn sleeper() -> Child {
    sleep_command().args(["--exact", "sleep"]).spawn().unwrap()
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_mins(1);
    while !done() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Both ends of a named pipe; the client's is for a child.
#[expect(unsafe_code, reason = "the standard library makes no pipes with names")]
fn named_pipe(name: &str) -> (File, File) {
    use windows_sys::Win32::Foundation::INVALID_HANDLE_VALUE;
    use windows_sys::Win32::Storage::FileSystem::PIPE_ACCESS_DUPLEX;
    use windows_sys::Win32::System::Pipes::{CreateNamedPipeW, PIPE_TYPE_BYTE};

    let path = format!(r"\\.\pipe\{name}");
    let wide: Vec<u16> = path.encode_utf16().chain([0]).collect();
    // SAFETY: the name ends in NUL and lives through the call.
    let server = unsafe {
        CreateNamedPipeW(
            wide.as_ptr(),
            PIPE_ACCESS_DUPLEX,
            PIPE_TYPE_BYTE,
            8,
            4096,
            4096,
            0,
            std::ptr::null(),
        )
    };
    assert_ne!(server, INVALID_HANDLE_VALUE, "{}", std::io::Error::last_os_error());
    // SAFETY: the handle is valid and has no other owner.
    let server = unsafe { File::from_raw_handle(server) };
    let client = File::options().read(true).write(true).open(path).unwrap();
    (server, client)
}

#[expect(clippy::disallowed_methods, reason = "a probe is told what to do by its environment")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

#[expect(clippy::disallowed_methods, reason = "a probe is told what to do by its environment")]
fn shown_variables() -> Vec<(OsString, OsString)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.to_str()?.strip_prefix(SHOWN)?.into(), value)))
        .collect()
}

#[expect(clippy::disallowed_methods, reason = "a test's own file")]
fn rename(from: &Path, to: &Path) {
    std::fs::rename(from, to).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "a test's own file")]
fn remove(path: &Path) {
    std::fs::remove_file(path).unwrap();
}
