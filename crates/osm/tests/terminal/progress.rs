//! Long work at a terminal: one line tells of it and goes again, and Ctrl-C leaves everything whole.
//!
//! Work is made slow by `strace`, which delays the system calls that it consists of, or by a command
//! that sleeps.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use osm_testkit::lab::Typist as _;
use osm_testkit::terminal::Terminal;
use osm_testkit::{tools, trials};
use tempfile::TempDir;

use crate::reading::{Writer, read};

const PROGRAM: &str = env!("CARGO_BIN_EXE_osm");

/// Says how the program ended, as a shell sees it, and survives Ctrl-C.
const SHELL: &str = "trap : INT; \"$@\"; echo \"exit $?\"";

/// A home, a folder to work in, and variables.
struct Desk {
    folder: TempDir,
    variables: Vec<(String, String)>,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["home", "tree"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let path = folder.path().display();
        let variables = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
            ("HOME", path.to_string()),
            ("OSM_HOME", format!("{path}/home")),
            ("OSM_SESSION", "test".to_owned()),
            ("OSM_SCOPE", "test".to_owned()),
            ("TERM", "xterm-256color".to_owned()),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value)).into();
        let desk = Self { folder, variables };
        fs::write(desk.home().join("config.toml"), "prompt.tokens = false\n").unwrap();
        desk
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn tree(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    /// Runs osm in a pipe.
    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(PROGRAM);
        command.args(arguments).current_dir(self.tree()).env_clear().stdin(Stdio::null());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.output().unwrap()
    }

    #[track_caller]
    fn good(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs osm on a terminal, under a shell that says how it ended.
    fn terminal(&self, arguments: &[&str]) -> Terminal {
        self.start(&[&[PROGRAM], arguments].concat())
    }

    /// The same with a delay, in milliseconds, before every system call of a name.
    fn slow(&self, call: &str, milliseconds: u32, arguments: &[&str]) -> Terminal {
        trials::need(tools::program("strace"));
        let inject = format!("inject={call}:delay_enter={}", milliseconds * 1000);
        let trace = format!("trace={call}");
        let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
        self.start(&[&strace[..], &[PROGRAM], arguments].concat())
    }

    fn start(&self, words: &[&str]) -> Terminal {
        let words: Vec<String> = ["bash", "-c", SHELL, "bash"]
            .iter()
            .chain(words)
            .map(|word| (*word).to_owned())
            .collect();
        Terminal::start(&words, &self.variables, &self.tree()).unwrap()
    }

    /// Exports of sessions with these names.
    fn exports(&self, names: &[&str]) -> Vec<String> {
        let export = |name: &&str| {
            let path = self.folder.path().join(format!("{name}.json"));
            let document = serde_json::json!({"export": "1.0.0", "session_id": format!("ex--{name}"), "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "shared_state": {"k": 1}});
            fs::write(&path, document.to_string()).unwrap();
            path.display().to_string()
        };
        names.iter().map(export).collect()
    }

    /// That no process has anything of the store open, and that no file is half written.
    #[track_caller]
    fn is_whole(&self) {
        let rows = self.good(&["session", "list", "--json"]);
        let rows: serde_json::Value = serde_json::from_str(&rows).unwrap();
        for row in rows.as_array().unwrap() {
            assert_eq!((&row["isActive"], &row["isDamaged"]), (&false.into(), &false.into()));
        }
        assert_eq!(temporary_files(self.folder.path()), Vec::<PathBuf>::new());
    }

    fn sessions(&self) -> Vec<String> {
        let rows: serde_json::Value =
            serde_json::from_str(&self.good(&["session", "list", "--json"])).unwrap();
        let id = |row: &serde_json::Value| row["id"].as_str().unwrap().to_owned();
        rows.as_array().unwrap().iter().map(id).collect()
    }
}

fn temporary_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            found.extend(temporary_files(&entry.path()));
        } else if entry.file_name().to_string_lossy().starts_with(".tmp") {
            found.push(entry.path());
        }
    }
    found
}

/// Waits until the line shows some words, and presses Ctrl-C.
#[track_caller]
fn interrupt(terminal: &mut Terminal, words: &str) {
    terminal.wait_for(words).unwrap();
    terminal.press("\x03").unwrap();
}

/// What stays on the screen of a terminal when all is over, without the echo of Ctrl-C.
#[track_caller]
fn rest(terminal: Terminal) -> String {
    let bytes = terminal.finish().unwrap();
    let seen = String::from_utf8_lossy(&bytes).into_owned();
    match read(seen.replace("^C", "").as_bytes(), Writer::Command) {
        Ok(rest) => rest,
        Err(found) => panic!("{found}: {seen:?}"),
    }
}

#[test]
fn the_line_tells_of_a_slow_walk_and_goes_again() {
    let desk = Desk::new();
    fs::create_dir(desk.tree().join("folder")).unwrap();
    fs::write(desk.tree().join("folder/a.rs"), "fn a() {}\n").unwrap();
    let terminal = desk.slow("getdents64", 700, &["code-review", "-c", "add folder", "-c", "list"]);
    terminal.wait_for("\r\x1b[Kfinding files").unwrap();
    let rest = rest(terminal);
    assert!(rest.contains("[1] [file] folder") && rest.ends_with("exit 0\n"), "{rest}");
    assert!(!rest.contains("finding files"), "{rest}");
}

#[test]
fn the_line_tells_of_a_command_and_for_how_long() {
    let desk = Desk::new();
    let terminal = desk.terminal(&["code-review", "-c", "exec sleep 3", "-c", "show"]);
    terminal.wait_for("\r\x1b[Krunning sleep 3 (").unwrap();
    let rest = rest(terminal);
    assert!(rest.contains("sleep 3") && rest.ends_with("exit 0\n"), "{rest}");
    assert!(!rest.contains("running"), "{rest}");
}

#[test]
fn no_line_disturbs_a_program_that_has_the_terminal() {
    let desk = Desk::new();
    let script = desk.tree().join("run.js");
    let program = "printf 'Password: ' > /dev/tty; sleep 2; echo secret";
    let text = format!("output.print(require('osm:exec').exec('sh', '-c', {program:?}).stdout);");
    fs::write(&script, text).unwrap();
    let seen = desk.terminal(&["script", script.to_str().unwrap()]).finish().unwrap();
    assert_eq!(String::from_utf8(seen).unwrap(), "Password: secret\r\nexit 0\r\n");
}

#[test]
fn no_line_where_none_can_be_seen_or_erased() {
    let work = ["code-review", "-c", "exec sleep 1", "-c", "show"];
    let desk = Desk::new();
    let piped = desk.run(&work);
    assert!(piped.status.success(), "{piped:?}");
    for stream in [piped.stdout, piped.stderr].map(|it| String::from_utf8(it).unwrap()) {
        assert!(!stream.contains('\r') && !stream.contains("running"), "{stream:?}");
    }

    let dumb = Desk::new().with("TERM", "dumb");
    let elsewhere = Desk::new();
    let json = Desk::new();
    holder(&json);
    let redirect = format!("{PROGRAM} \"$@\" 2> errors");
    let behind = Desk::new();
    for terminal in [
        dumb.terminal(&work),
        elsewhere.start(&[&["sh", "-c", &redirect, "sh"], &work[..]].concat()),
        behind.start(
            &[&["bash", "-c", "set -m; \"$@\" & wait", "bash", PROGRAM], &work[..]].concat(),
        ),
        json.terminal(&["claim", "TASK", "--wait", "1s", "--json"]),
    ] {
        let seen = String::from_utf8(terminal.finish().unwrap()).unwrap();
        assert!(!seen.contains("\x1b[K") && seen.contains("exit "), "{seen:?}");
    }
    let errors = fs::read_to_string(elsewhere.tree().join("errors")).unwrap();
    assert!(errors.contains("Added exec") && !errors.contains("running"), "{errors:?}");
}

#[test]
fn the_line_fits_the_terminal_and_shows_what_others_wrote_escaped() {
    let desk = Desk::new();
    let exec = "exec sh -c 'sleep 2' \x1b]0;title\x07 and a text that is longer than the line";
    let script = format!("stty cols 40; {PROGRAM} code-review -c \"$1\" -c show");
    let terminal = desk.start(&["sh", "-c", &script, "sh", exec]);
    terminal.wait_for("\\u{1b}").unwrap();
    let bytes = terminal.finish().unwrap();
    let seen = String::from_utf8(bytes).unwrap();
    let drawn: Vec<&str> = seen.split("\r\x1b[K").skip(1).filter(|it| !it.is_empty()).collect();
    let drawn: Vec<&str> = drawn.into_iter().filter(|it| it.starts_with("running")).collect();
    assert!(!drawn.is_empty(), "{seen:?}");
    for line in drawn {
        assert!(line.chars().count() < 40 && line.ends_with('…'), "{line:?}");
    }
}

#[test]
fn ctrl_c_ends_a_walk() {
    let desk = Desk::new();
    desk.good(&["code-review", "-c", "note kept"]);
    for name in 0..40 {
        fs::create_dir(desk.tree().join(format!("{name}"))).unwrap();
        fs::write(desk.tree().join(format!("{name}/a")), "a").unwrap();
    }
    let commands = ["code-review", "-c", "add .", "-c", "list", "-c", "note lost"];
    let mut terminal = desk.slow("getdents64", 800, &commands);
    interrupt(&mut terminal, "finding files");
    let rest = rest(terminal);
    assert!(rest.ends_with("exit 130\n") && !rest.contains("finding"), "{rest}");
    desk.is_whole();
    let list = desk.good(&["code-review", "-c", "list"]);
    assert!(list.contains("[1] [note]") && !list.contains("lost"), "{list}");
}

#[test]
fn ctrl_c_ends_a_prompt_and_its_command() {
    let desk = Desk::new();
    desk.good(&["code-review", "-c", "note kept", "-c", "exec sleep 111"]);
    let before = desk.good(&["session", "history", "--json"]);
    let mut terminal = desk.terminal(&["code-review", "-c", "show"]);
    interrupt(&mut terminal, "running sleep 111");
    let rest = rest(terminal);
    assert!(rest.ends_with("exit 130\n") && !rest.contains("running"), "{rest}");
    desk.is_whole();
    assert_eq!(desk.good(&["session", "history", "--json"]), before);
}

#[test]
fn ctrl_c_ends_the_command_of_a_mode_and_not_the_mode() {
    let desk = Desk::new();
    desk.good(&["code-review", "-c", "exec sleep 111"]);
    let mut terminal = desk.terminal(&["code-review"]);
    terminal.wait_for("(code-review) >").unwrap();
    terminal.type_line("show").unwrap();
    interrupt(&mut terminal, "running sleep 111");
    terminal.wait_for("stopped").unwrap();
    terminal.type_line("note kept").unwrap();
    terminal.wait_for("Added note [2]").unwrap();
    terminal.type_line("exit").unwrap();
    terminal.wait_for("exit 0").unwrap();
    let seen = terminal.screen();
    let drawn = seen.rfind("running sleep 111").unwrap();
    assert!(seen[drawn..].contains("\r\x1b[K"), "the line is erased: {seen:?}");
    let (hidden, visible) = (seen.rfind("\x1b[?25l"), seen.rfind("\x1b[?25h"));
    assert!(hidden <= visible, "the cursor is visible: {seen:?}");
    desk.is_whole();
}

/// Lets another session, whose process runs, hold a claim.
fn holder(desk: &Desk) {
    let claimed = desk.run(&["--session", "other", "claim", "TASK"]);
    assert!(claimed.status.success(), "{claimed:?}");
}

#[test]
fn ctrl_c_ends_the_wait_for_a_claim() {
    let desk = Desk::new();
    holder(&desk);
    let before = desk.good(&["claims", "--json"]);
    let mut terminal = desk.terminal(&["claim", "TASK", "--wait", "10m"]);
    interrupt(&mut terminal, "\r\x1b[Kwaiting for TASK: ");
    terminal.wait_for(" has it since 20").unwrap();
    let rest = rest(terminal);
    assert_eq!(rest, "osm: error: interrupted\nexit 130\n");
    assert_eq!(desk.good(&["claims", "--json"]), before);
    // Who waited has claimed nothing, and left nothing that blocks others.
    let released = desk.run(&["--session", "other", "release", "TASK"]);
    assert!(released.status.success(), "{released:?}");
    desk.good(&["claim", "TASK"]);
}

#[test]
fn ctrl_c_ends_the_command_of_a_work_list() {
    let desk = Desk::new();
    let mut terminal = desk.terminal(&["claim", "next", "--from-command", "sleep 111; echo TASK"]);
    interrupt(&mut terminal, "running sleep 111");
    assert_eq!(rest(terminal), "osm: error: interrupted\nexit 130\n");
    assert_eq!(desk.good(&["claims", "--json"]), "[]\n");
}

#[test]
fn ctrl_c_ends_a_purge_between_two_sessions() {
    let desk = Desk::new();
    let names: Vec<String> = (0..30).map(|number| format!("s{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let files = desk.exports(&names);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    desk.good(&[&["session", "import"], &files[..]].concat());
    let mut terminal = desk.slow("unlinkat", 150, &["session", "purge", "-y"]);
    interrupt(&mut terminal, "removing sessions and archives: ");
    let rest = rest(terminal);
    assert!(rest.ends_with("osm: error: interrupted\nexit 130\n"), "{rest}");
    let left = desk.sessions().len();
    assert_eq!(rest.matches("removed ").count() + left, 30, "what is gone was said: {rest}");
    assert!(left > 0 && left < 30, "{rest}");
    desk.is_whole();
    desk.good(&["session", "purge", "-y"]);
    assert!(desk.sessions().is_empty());
}

#[test]
fn a_second_ctrl_c_ends_it_at_once() {
    let desk = Desk::new();
    let files = desk.exports(&["one", "two"]);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    desk.good(&[&["session", "import"], &files[..]].concat());
    let mut terminal = desk.slow("unlinkat", 20_000, &["session", "purge", "-y"]);
    interrupt(&mut terminal, "looking through sessions");
    terminal.wait_for("^C\r\x1b[K").unwrap();
    terminal.press("\x03").unwrap();
    let rest = rest(terminal);
    assert!(rest.ends_with("exit 130\n") && !rest.contains("looking"), "{rest:?}");
    assert_eq!(desk.sessions().len(), 2);
    desk.is_whole();
}

#[test]
fn ctrl_c_reaches_the_command_that_runs_after_the_wait() {
    let desk = Desk::new();
    holder(&desk);
    let script = "trap 'echo caught; exit 7' INT; echo ready; sleep 111 & wait";
    let mut terminal =
        desk.terminal(&["claim", "run", "TASK", "--wait", "10m", "--", "sh", "-c", script]);
    terminal.wait_for("\r\x1b[Kwaiting for TASK: ").unwrap();
    let released = desk.run(&["--session", "other", "release", "TASK"]);
    assert!(released.status.success(), "{released:?}");
    interrupt(&mut terminal, "ready");
    let rest = rest(terminal);
    assert!(rest.starts_with("ready\n") && rest.ends_with("caught\nexit 7\n"), "{rest}");
}

#[test]
fn ctrl_c_ends_an_import_between_two_files() {
    let desk = Desk::new();
    let files = desk.exports(&["one", "two", "three"]);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let words = [&["session", "import"], &files[..]].concat();
    let mut terminal = desk.slow("fsync,fdatasync", 900, &words);
    interrupt(&mut terminal, "one.json: 1 of 3");
    let rest = rest(terminal);
    assert!(rest.contains("imported ") && rest.ends_with("interrupted\nexit 130\n"), "{rest}");
    assert_eq!(desk.sessions().len(), rest.matches("imported ").count(), "{rest}");
    desk.is_whole();
}

#[test]
fn ctrl_c_leaves_no_part_of_an_export() {
    let desk = Desk::new();
    let text = "x".repeat(4 << 20);
    let note = desk.tree().join("note");
    fs::write(&note, format!("note {text}\n")).unwrap();
    let stored = Command::new(PROGRAM)
        .arg("code-review")
        .current_dir(desk.tree())
        .env_clear()
        .envs(desk.variables.iter().map(|(name, value)| (name, value)))
        .stdin(fs::File::open(&note).unwrap())
        .output()
        .unwrap();
    assert!(stored.status.success(), "{stored:?}");
    let mut terminal = desk.slow("write", 700, &["session", "export", "-o", "out.json"]);
    interrupt(&mut terminal, "exporting the session");
    let rest = rest(terminal);
    assert!(rest.ends_with("osm: error: interrupted\nexit 130\n"), "{rest}");
    assert!(!desk.tree().join("out.json").exists());
    desk.is_whole();
}
