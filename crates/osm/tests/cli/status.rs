//! Bare `osm` and `osm --short`, with real processes, a real Git and a real terminal.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use osm_testkit::lab::Lab;
use osm_testkit::tmux::Tmux;
use osm_testkit::{tools, trials};
use serde_json::Value;
use tempfile::TempDir;

const OSM: &str = env!("CARGO_BIN_EXE_osm");
/// Machines that test are busy.
const PATIENCE: Duration = Duration::from_mins(2);

/// A home, and a repository with one commit.
struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        trials::need(tools::program("git"));
        let desk = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(desk.work()).unwrap();
        desk.git(&["init", "-q", "-b", "main"]);
        fs::write(desk.work().join("a"), "1\n").unwrap();
        desk.git(&["add", "a"]);
        desk.git(&["commit", "-q", "-m", "first"]);
        desk
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.env_clear().current_dir(self.work()).stdin(Stdio::null());
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.folder.path());
        command.env("OSM_HOME", self.home()).env("OSM", OSM);
        command
    }

    fn git(&self, arguments: &[&str]) {
        let mut command = self.command("git");
        command.args(["-c", "user.name=n", "-c", "user.email=e@example.org"]).args(arguments);
        assert!(command.status().unwrap().success(), "git {arguments:?}");
    }

    fn osm(&self, session: &str, arguments: &[&str]) -> Output {
        self.command(OSM).env("OSM_SESSION", session).args(arguments).output().unwrap()
    }

    /// The output of a command that succeeds.
    fn says(&self, session: &str, arguments: &[&str]) -> String {
        let output = self.osm(session, arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, session: &str) -> Value {
        serde_json::from_str(&self.says(session, &["--json"])).unwrap()
    }

    /// Runs a shell under the name of an agent, to its end.
    fn agent(&self, name: &str, script: &str) {
        let program = self.folder.path().join(name);
        if !program.exists() {
            fs::copy("/bin/sh", &program).unwrap();
        }
        // The shell stays the parent of the last command, too.
        let status = self.command(program).args(["-c", &format!("{script}; true")]).status();
        assert!(status.unwrap().success(), "{script}");
    }
}

#[test]
fn a_new_home_shows_three_lines_and_stays_new() {
    let desk = Desk::new();
    for home in ["missing", "empty"] {
        if home == "empty" {
            fs::create_dir(desk.home()).unwrap();
        }
        insta::allow_duplicates!(insta::assert_snapshot!(desk.says("a", &[]), @"
          for you          osm code-review        build a prompt from files, diffs and notes
          for your agents  osm agent install      they claim files, and see each other
          for your tool    osm session id --json  one stable id for each terminal and agent
        "));
        assert_eq!(desk.says("a", &["--short"]), "engaging-sheltie\n");
        assert_eq!(desk.json("a")["first_run"], true);
    }
    assert_eq!(fs::read_dir(desk.home()).unwrap().count(), 0, "a look creates nothing");
}

#[test]
fn claims_offers_and_the_prompt() {
    let desk = Desk::new();
    fs::create_dir(desk.home()).unwrap();
    fs::write(desk.home().join("config.toml"), "prompt.budget = 100\n").unwrap();
    desk.says("a", &["claim", "TASK-7", "--note", "login form"]);
    desk.says("b", &["claim", "TASK-8", "TASK-9"]);
    desk.says("b", &["claim", "handoff", "TASK-8", "--to", "ex--a_ca", "--note", "please"]);
    let note = format!("note {}", "x".repeat(200));
    desk.says("a", &["code-review", "-c", "add a", "-c", &note, "-c", "diff HEAD"]);
    let shown = desk.says("a", &[]).replace(&desk.work().display().to_string(), "WORK");
    let shown = shown.replace("0 s", "SINCE").replace("1 s", "SINCE").replace("2 s", "SINCE");
    insta::assert_snapshot!(shown, @"
      session   engaging-sheltie  ex--a_ca
      because   OSM_SESSION=a
      works in  WORK, main

    Your claims
      TASK-8  offered to you  please
      TASK-7  held            login form

    Other sessions here
      SESSION      AGENT  STATE  SINCE  HOLDS      WORKS IN
      liquid-goat  -      lease  SINCE    TASK-9 +1  work (main)

      prompt  1 file, 1 diff, 1 note: 202 B, at least about 51 tokens of 100 ███████████░░░░░░░░░

      osm claim accept TASK-8    accept what another session offers you
      osm code-review -c copy    copy the prompt with what you collected
      osm release TASK-7 --done  when that work is done
    ");
    assert_eq!(desk.says("a", &["--short"]), "engaging-sheltie: 1 held, 1 offered\n");
    let json = desk.json("a");
    assert_eq!(json["claims"][0]["relation"], "offered");
    assert_eq!(json["prompt"]["budget"], 100);
    assert_eq!(json["next"][0]["command"], "osm claim accept TASK-8");
    desk.says("b", &["claim", "take", "TASK-7", "--reason", "x", "--even-if-alive"]);
    assert_eq!(desk.says("a", &["--short"]), "engaging-sheltie: 1 offered, 1 lost\n");
    assert!(desk.says("a", &[]).contains("osm release TASK-7"));
}

#[test]
fn a_dead_owner_is_shown_with_what_it_left_and_no_program_of_its_repository_runs() {
    let desk = Desk::new();
    let marker = desk.folder.path().join("ran");
    let program = desk.folder.path().join("hostile");
    fs::write(&program, format!("#!/bin/sh\ntouch {}\ncat\n", marker.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    for (name, value) in [
        ("core.fsmonitor", program),
        ("core.pager", program),
        ("core.sshCommand", program),
        ("filter.x.clean", program),
        ("filter.x.required", "true"),
    ] {
        desk.git(&["config", name, value]);
    }
    fs::write(desk.work().join(".gitattributes"), "* filter=x\n").unwrap();
    fs::write(desk.work().join("a"), "changed\n").unwrap();
    desk.agent("claude", "\"$OSM\" claim TASK-1");
    let json = desk.json("a");
    let other = &json["others"][0];
    assert_eq!((&other["agent"], &other["state"]), (&"claude-code".into(), &"dead".into()));
    assert_eq!(other["uncommitted"], 2, "{json}");
    assert_eq!(json["next"][0]["command"], "osm claim TASK-1");
    let shown = desk.says("a", &[]);
    assert!(shown.contains("work (main), 2 files not committed"), "{shown}");
    assert!(!marker.exists(), "a program of the repository ran");
}

#[test]
fn a_damaged_ledger_is_named_and_hides_nothing_else() {
    let desk = Desk::new();
    desk.says("a", &["claim", "TASK-7"]);
    desk.says("a", &["code-review", "-c", "note hello"]);
    fs::write(desk.home().join("claims.db"), "not a ledger").unwrap();
    let output = desk.osm("a", &[]);
    let (shown, told) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success() && shown.contains("1 note"), "{shown}");
    assert!(told.contains("claims.db") && told.contains("hint: "), "{told}");
    assert_eq!(desk.says("a", &["--short"]), "engaging-sheltie\n", "a prompt shows no error");
    assert!(!desk.json("a")["problems"].as_array().unwrap().is_empty());
}

#[test]
fn options_of_bare_osm_are_refused_before_a_command() {
    let desk = Desk::new();
    for option in ["--json", "--short"] {
        let output = desk.osm("a", &[option, "claims"]);
        assert_eq!(output.status.code(), Some(2));
        let said = [output.stdout, output.stderr].concat();
        assert!(String::from_utf8(said).unwrap().contains("before a command means bare"));
    }
    assert_eq!(desk.osm("a", &["--json", "--short"]).status.code(), Some(2));
    assert_eq!(desk.says("b", &["--session", "a", "--short"]), "engaging-sheltie\n");
}

#[test]
fn it_fits_a_small_terminal() {
    trials::need(tools::program("tmux"));
    let lab = Lab::new(Path::new(OSM)).unwrap();
    let run = |session: &str, line: &str| {
        let mut command = lab.command("sh");
        command.env("OSM_SESSION", session).current_dir(lab.path());
        let output = command.args(["-c", line]).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
    };
    run("me", "git init -q -b a-branch-with-quite-a-long-name .");
    let long = "x".repeat(100);
    for number in 0..9 {
        run("me", &format!("{OSM} claim mine-{number}-{long} --note {long}"));
        run(&format!("other-{number}"), &format!("{OSM} claim theirs-{number}-{long}"));
    }
    run("me", &format!("{OSM} code-review -c 'note {long}'"));
    let (tmux, _) = Tmux::start(&lab, &[]).unwrap();
    let line = format!("cd {}; exec env OSM_SESSION=me PS1='ready> ' sh", lab.path().display());
    let pane = tmux.run(&["new-window", "-P", "-F", "#{pane_id}", &line]).unwrap();
    tmux.run(&["resize-window", "-t", &pane, "-x", "80", "-y", "24"]).unwrap();
    let deadline = Instant::now() + PATIENCE;
    let screen = |seen: &dyn Fn(&str) -> bool| {
        loop {
            let screen = tmux.run(&["capture-pane", "-p", "-t", &pane]).unwrap();
            if seen(&screen) {
                return screen;
            }
            assert!(Instant::now() < deadline, "not seen:\n{screen}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    screen(&|it| it.contains("ready>"));
    let typed = format!("clear; {OSM}");
    tmux.run(&["send-keys", "-t", &pane, "-l", &typed]).unwrap();
    tmux.run(&["send-keys", "-t", &pane, "Enter"]).unwrap();
    // A line that were wider than the terminal would take two, and push the first one out.
    let is_done = |it: &str| it.contains("osm doctor") && it.ends_with("ready>");
    let shown = screen(&|it| is_done(it.trim_end()));
    assert!(shown.lines().next().unwrap().starts_with("session"), "{shown}");
    for part in ["Your claims (5 more", "Other sessions here (4 more", "prompt", "osm "] {
        assert!(shown.contains(part), "{part}:\n{shown}");
    }
    assert!(shown.lines().count() <= 24, "{shown}");
}
