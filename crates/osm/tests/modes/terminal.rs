//! People at real terminals: tmux draws what a person would see.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::path::Path;
use std::time::{Duration, Instant};

use osm_testkit::lab::Lab;
use osm_testkit::tmux::Tmux;
use osm_testkit::{tools, trials};

use crate::harness::{PROGRAM, probe};

/// Machines that test are busy.
const PATIENCE: Duration = Duration::from_mins(1);

fn lab() -> Lab {
    trials::need(tools::program("tmux"));
    let lab = Lab::new(Path::new(PROGRAM)).unwrap();
    lab.copy(&probe(), "probe.js").unwrap();
    lab
}

/// A person in front of a terminal in which the probe runs.
pub(crate) struct Person<'a> {
    lab: &'a Lab,
    tmux: &'a Tmux<'a>,
    pane: String,
    pid: u32,
    prompt: String,
}

impl<'a> Person<'a> {
    /// Sits down: the program is the first process of the pane.
    fn new(lab: &'a Lab, tmux: &'a Tmux<'a>) -> Self {
        Self::with(lab, tmux, "")
    }

    /// The same with a variable of the program's own.
    fn with(lab: &'a Lab, tmux: &'a Tmux<'a>, variable: &str) -> Self {
        Self::at(lab, tmux, &format!("{variable} {PROGRAM} script probe.js"), "(probe) >")
    }

    /// The same with another program, which shows this prompt.
    pub(crate) fn at(lab: &'a Lab, tmux: &'a Tmux<'a>, line: &str, prompt: &str) -> Self {
        let start = format!("exec env OSM_SESSION=tested {line}");
        let pane = tmux.run(&["new-window", "-P", "-F", "#{pane_id}", &start]).unwrap();
        let pid = tmux.run(&["display", "-p", "-t", &pane, "#{pane_pid}"]).unwrap();
        let prompt = prompt.to_owned();
        let person = Self { lab, tmux, pane, pid: pid.parse().unwrap(), prompt };
        person.is_asked();
        person
    }

    /// Everything that was ever on the screen.
    pub(crate) fn transcript(&self) -> String {
        let all = ["capture-pane", "-p", "-J", "-S", "-", "-t", &self.pane];
        let text = self.tmux.run(&all).unwrap();
        text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    fn screen(&self) -> String {
        self.tmux.run(&["capture-pane", "-p", "-J", "-t", &self.pane]).unwrap()
    }

    pub(crate) fn waits_for(&self, what: &str, is_so: impl Fn() -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so() {
            assert!(Instant::now() < deadline, "no {what}; the screen:\n{}", self.screen());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn sees(&self, text: &str) {
        self.waits_for(text, || self.screen().contains(text));
    }

    pub(crate) fn presses(&self, keys: &[&str]) {
        let words = [&["send-keys", "-t", &self.pane], keys].concat();
        self.tmux.run(&words).unwrap();
    }

    pub(crate) fn types(&self, text: &str) {
        self.presses(&["-l", text]);
    }

    /// Waits until a line can be typed: before that, the terminal itself would show it.
    pub(crate) fn is_asked(&self) {
        self.waits_for("prompt", || self.screen().trim_end().ends_with(&self.prompt));
    }

    /// Types a line when asked for one, and sees the answer to it.
    pub(crate) fn says(&self, line: &str, answer: &str) {
        self.is_asked();
        self.adds(line, answer);
    }

    /// Types the rest of a line, and sees the answer to it.
    fn adds(&self, line: &str, answer: &str) {
        self.types(line);
        self.presses(&["Enter"]);
        self.sees(answer);
    }

    fn is_gone(&self) -> bool {
        !Path::new(&format!("/proc/{}/exe", self.pid)).exists()
    }

    /// What the next one finds in the session.
    fn legacy(&self) -> String {
        let mut command = self.lab.command(PROGRAM);
        command
            .env("OSM_SESSION", "tested")
            .args(["script", "-c", "show", "-c", "history", "probe.js"]);
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    }
}

#[test]
fn what_a_person_sees() {
    let lab = lab();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let person = Person::new(&lab, &tmux);
    person.says("keep one", "kept one");
    person.says("kep two", "hint: did you mean `keep`? `help` lists all commands");
    person.says("show", "all: one");
    person.is_asked();
    let screen: Vec<String> = person.screen().lines().map(|it| it.trim_end().to_owned()).collect();
    insta::assert_snapshot!(screen.join("\n").trim_end(), @r#"
    welcome
    (probe) > keep one
    kept one
    (probe) > kep two
    error: unknown command "kep"
    hint: did you mean `keep`? `help` lists all commands
    hint: `js EXPRESSION` evaluates JavaScript
    (probe) > show
    all: one
    (probe) >
    "#);
    person.presses(&["C-d"]);
    person_is_gone(&person);
    assert!(person.legacy().starts_with("all: one\n"), "{}", person.legacy());
}

#[test]
fn tab_completes() {
    let lab = lab();
    std::fs::create_dir(lab.path().join("folder")).unwrap();
    lab.file("folder/some file.txt", "").unwrap();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let person = Person::new(&lab, &tmux);
    person.types("sho");
    person.presses(&["Tab"]);
    person.sees("(probe) > show");
    person.presses(&["C-u"]);
    person.types("paint gr");
    person.presses(&["Tab"]);
    person.sees("paint green");
    person.presses(&["C-u"]);
    person.types("paint --");
    person.presses(&["Tab"]);
    person.sees("paint --wet");
    person.presses(&["C-u"]);
    person.types("open fol");
    person.presses(&["Tab"]);
    person.sees("open folder/");
    person.presses(&["Tab"]);
    person.sees("open 'folder/some file.txt'");
    person.presses(&["Enter"]);
    person.sees("opened folder/some file.txt");
    person.types("mode ot");
    person.presses(&["Tab"]);
    person.sees("mode other");
}

#[test]
fn lines_that_go_on_and_lines_from_before() {
    let lab = lab();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let person = Person::new(&lab, &tmux);
    person.types("words 'a");
    person.presses(&["Enter"]);
    person.sees("...");
    person.adds("b'", "[\"a\\nb\"]");
    person.types("words c \\");
    person.presses(&["Enter"]);
    person.adds("d", "[\"c\",\"d\"]");
    person.presses(&["C-t"]);
    person.sees("the key was pressed");
    person.types("exit");
    person.presses(&["Enter"]);
    person_is_gone(&person);
    let history = lab.path().join(".config/one-shot-man/history/probe");
    let mode = std::os::unix::fs::MetadataExt::mode(&history.metadata().unwrap());
    assert_eq!(mode & 0o7777, 0o600);

    let again = Person::new(&lab, &tmux);
    again.presses(&["Up"]);
    again.sees("(probe) > exit");
    again.presses(&["C-u"]);
    again.types("words c");
    again.sees("words c \\");
    again.presses(&["C-c"]);
    again.says("words only", "[\"only\"]");
}

/// What is pasted behind `note` is its text: every line of it, with its quotes, indents and comments.
#[test]
fn pasted_lines_are_one_note() {
    let lab = lab();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let line = format!("{PROGRAM} code-review --no-tokens");
    let person = Person::at(&lab, &tmux, &line, "(code-review) >");
    let paste = |text: &str| {
        tmux.run(&["set-buffer", text]).unwrap();
        tmux.run(&["paste-buffer", "-p", "-t", &person.pane]).unwrap();
    };
    let text = "it's 'half open\n  reset \"now\n# C:\\new\\";
    person.types("note ");
    paste(text);
    person.sees("C:\\new");
    person.presses(&["Enter"]);
    person.sees("Added note [1]");
    // The command can be pasted with its text, and other commands before it.
    person.is_asked();
    paste("note one\ntwo");
    person.sees("two");
    person.presses(&["Enter"]);
    person.sees("Added note [2]");
    person.is_asked();
    paste("list\nremove 2");
    person.sees("remove 2");
    person.presses(&["Enter"]);
    person.sees("Removed [2]");
    person.is_asked();
    let mut command = lab.command(PROGRAM);
    let output = command.env("OSM_SESSION", "tested").args(["session", "export"]).output().unwrap();
    let kept: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let items = kept["shared_state"]["contextItems"].as_array().unwrap();
    assert_eq!((items.len(), items[0]["payload"].as_str()), (1, Some(text)), "{items:?}");
    assert!(person.transcript().contains("[2] [note] one two ("), "{}", person.transcript());
}

#[test]
fn a_person_changes_from_mode_to_mode() {
    let lab = lab();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let mut person = Person::new(&lab, &tmux);
    person.says("keep one", "kept one");
    person.is_asked();
    person.types("mode code-rev");
    person.presses(&["Tab"]);
    person.sees("mode code-review");
    person.presses(&["Enter"]);
    person.sees("Session restored: 1 item");
    person.prompt = "(code-review) >".into();
    person.says("list", "[1] [note] one (");
    person.is_asked();
    person.adds("mode probe", "welcome");
    person.prompt = "(probe) >".into();
    person.says("show", "all: one");
    person.is_asked();
    person.presses(&["C-d"]);
    person_is_gone(&person);
}

#[test]
fn lines_that_were_typed_ahead() {
    let lab = lab();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let person = Person::new(&lab, &tmux);
    let busy = "js output.print('bus' + 'y'); require('osm:time').sleep(4000)";
    person.says(busy, "busy");
    for line in ["words a", "words 'b", "c'", "words d"] {
        person.types(line);
        person.presses(&["Enter"]);
    }
    person.types("words e");
    person.sees("(probe) > words e");
    let seen = person.transcript();
    let after = seen.split_once("busy\n").unwrap().1;
    // The terminal showed what was typed; then it was run.
    let run = after.split_once("(probe) >").unwrap().1;
    insta::assert_snapshot!(format!("(probe) >{run}"), @r#"
    (probe) > words a
    ["a"]
    (probe) > words 'b
    c'
    ["b\nc"]
    (probe) > words d
    ["d"]
    (probe) > words e
    "#);
    person.presses(&["Enter"]);
    person.sees("[\"e\"]");
    person.is_asked();
    person.presses(&["Up", "Up"]);
    person.waits_for("line", || person.screen().trim_end().ends_with("(probe) > words d"));
    // Who stops a command stops what was to follow it.
    person.presses(&["C-u"]);
    person.says("loop", "looping");
    person.types("keep lost");
    person.presses(&["Enter"]);
    person.presses(&["C-c"]);
    person.sees("error: stopped");
    person.says("show", "all:");
    assert!(!person.transcript().contains("kept lost"), "{}", person.transcript());
}

#[test]
fn ctrl_c_stops_the_script_and_nothing_else() {
    let lab = lab();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let person = Person::new(&lab, &tmux);
    person.says("keep one", "kept one");
    for (line, begun) in [
        ("loop", "looping"),
        ("js output.print('spin' + 'ning'); for (;;) {}", "spinning"),
        ("regex", "matching"),
        ("js output.print('sleep' + 'ing'); for (;;) require('osm:time').sleep(60000)", "sleeping"),
        (
            "js output.print('wait' + 'ing'); new Promise((done) => setTimeout(done, 1e9))",
            "waiting",
        ),
    ] {
        let before = person.screen().matches("error: stopped").count();
        person.says(line, begun);
        person.presses(&["C-c"]);
        let stopped = || person.screen().matches("error: stopped").count() > before;
        person.waits_for("end of it", stopped);
    }
    // A program gets it too, and what runs it goes on.
    person.says(
        "js output.print('run' + 'ning'); require('osm:exec').exec('sleep', '600')",
        "running",
    );
    person.presses(&["C-c"]);
    person.sees("\"code\": 130");
    person.says("bomb", "exceeded its memory limit");
    person.says("show", "all: one");
    person.is_asked();
    let prompts = || person.screen().matches("(probe) >").count();
    let before = prompts();
    person.presses(&["C-c"]);
    // The line editor drops what is typed before it asks again.
    person.waits_for("new prompt", || prompts() > before);
    person.says("words on", "[\"on\"]");
}

#[test]
fn a_kill_loses_nothing() {
    let lab = lab();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let person = Person::new(&lab, &tmux);
    person.says("keep one", "kept one");
    person.says("keep two", "kept two");
    person.says("words", "[]");
    assert!(lab.command("kill").args(["-9", &person.pid.to_string()]).status().unwrap().success());
    person_is_gone(&person);
    let next = Person::new(&lab, &tmux);
    next.says("show", "all: one, two");
    next.says("undo --force", "Undone: keep two");
    next.says("show", "all: one\n");
}

/// The screen is gone with it.
fn person_is_gone(person: &Person) {
    let deadline = Instant::now() + PATIENCE;
    while !person.is_gone() {
        assert!(Instant::now() < deadline, "process {} lives on", person.pid);
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_terminal_that_is_closed() {
    let lab = lab();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let person = Person::new(&lab, &tmux);
    person.says("keep one", "kept one");
    person.types("half a li");
    tmux.run(&["kill-pane", "-t", &person.pane]).unwrap();
    person_is_gone(&person);
    assert!(person.legacy().starts_with("all: one\n"), "{}", person.legacy());

    // With something that cannot be saved: in the middle of a command, and waiting for one.
    let sessions = lab.path().join(".config/one-shot-man/sessions");
    let document = std::fs::read_dir(&sessions).unwrap().map(|it| it.unwrap().path());
    let mut document = document.filter(|path| path.extension().is_some_and(|it| it == "json"));
    let document = document.next().unwrap();
    let good = std::fs::read(&document).unwrap();
    for (number, (line, begun)) in [("loop", "looping"), ("words", "[]")].into_iter().enumerate() {
        let person = Person::new(&lab, &tmux);
        std::fs::write(&document, r#"{"version":"7.0.0","session_id":"ex--tested_xx"}"#).unwrap();
        person.says("keep two", "cannot save the session");
        person.says(line, begun);
        tmux.run(&["kill-pane", "-t", &person.pane]).unwrap();
        person_is_gone(&person);
        let recovered = std::fs::read_dir(sessions.join("recovered")).unwrap().count();
        assert_eq!(recovered, number + 1, "what was not saved is kept, once");
        std::fs::write(&document, &good).unwrap();
    }
}

#[test]
fn one_column_is_enough() {
    let lab = lab();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let person = Person::new(&lab, &tmux);
    person.says("keep one", "kept one");
    for (columns, rows) in [("1", "1"), ("1", "5"), ("2", "2"), ("300", "50")] {
        tmux.run(&["resize-window", "-t", &person.pane, "-x", columns, "-y", rows]).unwrap();
        let line = format!("keep {columns}x{rows}");
        person.types(&line);
        person.presses(&["Enter"]);
        person.waits_for(&line, || person.legacy().contains(&line));
        person.types("pai");
        person.presses(&["Tab"]);
        person.presses(&["C-u"]);
    }
    // A terminal tells of its new size when it likes, and then what is on the screen is gone.
    person.waits_for("list", || {
        person.types("show");
        person.presses(&["Enter"]);
        std::thread::sleep(Duration::from_millis(200));
        person.screen().contains("all: one, 1x1, 1x5, 2x2, 300x50\n")
    });
    person.is_asked();
    person.presses(&["C-d"]);
    person_is_gone(&person);
}

#[test]
fn two_people_in_one_session() {
    let lab = lab();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let (one, other) = (Person::new(&lab, &tmux), Person::new(&lab, &tmux));
    one.says("keep a", "kept a");
    other.says("keep b", "seen: a");
    // The command speaks before it is saved; the next one comes after.
    other.says("show", "all: a, b");
    one.says("show", "all: a, b");
    one.says("undo --force", "Undone: keep b");
    other.says("show", "all: a");
}

#[test]
fn tmux_takes_what_is_copied() {
    let lab = lab();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let person = Person::new(&lab, &tmux);
    person.says("clip out of the ordinary", "copied");
    person.waits_for("buffer", || {
        tmux.run(&["show-buffer"]).is_ok_and(|buffer| buffer == "out of the ordinary")
    });
    person.says("js output.toClipboard('x'.repeat(80000)) ?? 'done so'", "done so");
    person.waits_for("long buffer", || {
        tmux.run(&["show-buffer"]).is_ok_and(|buffer| buffer.len() == 80_000)
    });
}

#[test]
fn a_terminal_is_told_what_is_copied() {
    let lab = lab();
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    tmux.run(&["set", "-g", "set-clipboard", "on"]).unwrap();
    // Where tmux itself cannot be asked, it is the terminal.
    let person = Person::with(&lab, &tmux, "PATH=/nowhere");
    person.says("clip out of the ordinary", "copied");
    person.waits_for("buffer", || {
        tmux.run(&["show-buffer"]).is_ok_and(|buffer| buffer == "out of the ordinary")
    });
    person.says("js output.toClipboard('x'.repeat(80000))", "80 kB exceed the terminal's limit");
}
