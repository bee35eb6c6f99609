//! Signals where nobody sits at a terminal: what runs is stopped with us. And a terminal whose output
//! goes elsewhere, which no editor may draw to.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use osm_testkit::lab::Lab;
use osm_testkit::tmux::Tmux;
use osm_testkit::{tools, trials};

use crate::harness::{Env, PROGRAM};
use crate::terminal::Person;

/// Machines that test are busy.
const PATIENCE: Duration = Duration::from_secs(30);

fn signal(name: &str, pid: u32) {
    let status = Command::new("kill").args(["-s", name, &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

/// The processes that another started.
fn children(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().map(|it| it.parse().unwrap()).collect()
}

/// Waits for something to be there.
fn await_some<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "it never came");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn ended(child: &mut Child) -> ExitStatus {
    await_some(|| child.try_wait().unwrap())
}

/// As a shell sees it.
fn code(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap())
}

fn is_running(pid: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !state.is_empty() && !state.contains(") Z ")
}

#[test]
fn a_command_that_runs_is_stopped() {
    for (name, expected) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let env = Env::new();
        let commands = ["note kept", "exec sleep 111", "show", "note more"];
        let commands: Vec<&str> = commands.iter().flat_map(|it| ["-c", *it]).collect();
        let mut osm =
            env.command_that_hears(&[&["code-review"], &commands[..]].concat()).spawn().unwrap();
        let sleep = await_some(|| children(osm.id()).first().copied());
        signal(name, osm.id());
        assert_eq!(code(ended(&mut osm)), expected, "{name}");
        await_some(|| (!is_running(sleep)).then_some(()));
        let shown = env.run(&["code-review", "-c", "list"]).good();
        assert!(shown.contains("[2] [lazy-exec]") && !shown.contains("[3]"), "{shown}");
    }
}

#[test]
fn a_command_of_standard_input_is_stopped() {
    let env = Env::new();
    let mut osm = env.command_that_hears(&["code-review"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = osm.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"exec sleep 111\nshow\n").unwrap();
    let sleep = await_some(|| children(osm.id()).first().copied());
    signal("TERM", osm.id());
    assert_eq!(code(ended(&mut osm)), 143);
    await_some(|| (!is_running(sleep)).then_some(()));
}

#[test]
fn who_waits_for_a_line_ends_at_once() {
    let env = Env::new();
    let mut talk = env.command_that_hears(&["code-review"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = talk.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, b"note kept\n").unwrap();
    let sessions = env.home().join("sessions");
    let is_document = |it: std::io::Result<std::fs::DirEntry>| {
        it.unwrap().file_name().to_str().unwrap().ends_with(".session.json")
    };
    await_some(|| std::fs::read_dir(&sessions).ok()?.any(is_document).then_some(()));
    signal("INT", talk.id());
    assert_eq!(code(ended(&mut talk)), 130);
    assert!(env.run(&["code-review", "-c", "list"]).good().contains("[1] [note]"));
}

#[test]
fn what_is_to_be_ignored_is() {
    let env = Env::new();
    let osm = env.command(&["code-review", "-c", "exec sleep 2", "-c", "show"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" \"$@\""]).arg(osm.get_program());
    shell.args(osm.get_args()).current_dir(env.work()).stdin(Stdio::null()).stdout(Stdio::null());
    shell.env("OSM_HOME", env.home()).env("OSM_SESSION", "test");
    let mut shell = shell.spawn().unwrap();
    await_some(|| children(shell.id()).first().copied());
    signal("HUP", shell.id());
    assert_eq!(code(ended(&mut shell)), 0);
}

#[test]
fn nothing_but_results_goes_where_output_goes() {
    trials::need(tools::program("tmux"));
    let lab = Lab::new(Path::new(PROGRAM)).unwrap();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let out = lab.path().join("out.txt");
    let line = format!("{PROGRAM} code-review > {}", out.display());
    let person = Person::at(&lab, &tmux, &line, "(code-review) >");
    person.says("note one", "Added note [1]");
    person.is_asked();
    person.types("list");
    person.presses(&["Enter"]);
    let read = || std::fs::read_to_string(&out).unwrap();
    person.waits_for("list", || read().contains("Total: 1 item"));
    assert!(read().starts_with("[1] [note] one (") && !read().contains('\x1b'), "{:?}", read());
}
