//! Several processes in one session: who did what, and what is asked before one undoes or clears the
//! work of another.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use osm_testkit::lab::Typist as _;
use osm_testkit::terminal::Terminal;
use serde_json::Value;

use crate::harness::{Env, PROGRAM, probe};

/// A process that has the session open, with all that it says.
struct Other {
    child: Child,
    errors: std::path::PathBuf,
}

impl Other {
    fn start(env: &Env) -> Self {
        let errors = env.temporary().join("errors");
        let mut command = env.command(&["script", "-i", probe().to_str().unwrap()]);
        command.stdin(Stdio::piped()).stderr(File::create(&errors).unwrap());
        Self { child: command.spawn().unwrap(), errors }
    }

    /// Says a line and hears one.
    fn say(&mut self, line: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
        let mut answer = String::new();
        // Byte by byte would do: nothing else is said before the next line is typed.
        BufReader::with_capacity(1, self.child.stdout.as_mut().unwrap())
            .read_line(&mut answer)
            .unwrap();
        answer.trim_end().to_owned()
    }

    /// Ends it, and returns what it said on standard error.
    fn end(mut self) -> String {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
        fs::read_to_string(&self.errors).unwrap()
    }
}

/// The program at a terminal, in the same session.
fn terminal(env: &Env, arguments: &[&str]) -> Terminal {
    let words: Vec<String> = [PROGRAM].iter().chain(arguments).map(|it| (*it).to_owned()).collect();
    let home = env.home().display().to_string();
    let variables = [
        ("OSM_HOME", home.as_str()),
        ("OSM_SESSION", "test"),
        ("PATH", "/usr/bin:/bin"),
        ("TERM", "xterm"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Terminal::start(&words, &variables, &env.work()).unwrap()
}

fn archives(env: &Env) -> Vec<String> {
    let found = fs::read_dir(env.home().join("sessions/archive")).into_iter().flatten();
    let mut names: Vec<String> =
        found.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_reset_from_outside_says_who_is_there_and_tells_them() {
    let env = Env::new();
    let mut other = Other::start(&env);
    assert_eq!(other.say("keep one"), "kept one");
    assert_eq!(other.say("words"), "[]");
    let process = format!("process {} on ", other.child.id());
    // Without a terminal it is refused, as before, and says how to do it all the same.
    env.run(&["session", "reset"]).said(3, &["is in use by", &process, "add -y to reset it"]);

    let mut asked = terminal(&env, &["session", "reset"]);
    asked.wait_for("Reset it all the same? (y/N) ").unwrap();
    assert!(asked.screen().contains(&process), "{}", asked.screen());
    asked.type_line("n").unwrap();
    asked.wait_for("not confirmed").unwrap();
    assert_eq!(other.say("show"), "all: one");

    let mut asked = terminal(&env, &["session", "reset"]);
    asked.wait_for("Reset it all the same? (y/N) ").unwrap();
    asked.type_line("y").unwrap();
    asked.wait_for("archived as ").unwrap();
    asked.wait().unwrap();
    let [archive] = archives(&env).try_into().unwrap();
    assert_eq!(other.say("show"), "seen:", "before its next command it is told");
    let mut rest = String::new();
    writeln!(other.child.stdin.as_mut().unwrap(), "words").unwrap();
    drop(other.child.stdin.take());
    std::io::Read::read_to_string(other.child.stdout.as_mut().unwrap(), &mut rest).unwrap();
    assert_eq!(rest, "all: \n[]\nbye\n");
    let said = other.end();
    let told = format!("has reset this session; its old state is archived as {archive}");
    assert_eq!(said.matches(&told).count(), 1, "told once: {said}");
}

#[test]
fn a_reset_in_a_mode_asks_before_others_lose_their_work() {
    let env = Env::new();
    let mut other = Other::start(&env);
    assert_eq!(other.say("keep one"), "kept one");
    assert_eq!(other.say("words"), "[]");
    let process = format!("the session is open in process {} on ", other.child.id());
    env.probe(&["reset"]).said(1, &[&process, "cannot ask", "reset --force"]);
    assert_eq!(archives(&env).len(), 0);
    let mut mine = terminal(&env, &["script", probe().to_str().unwrap()]);
    mine.wait_for("(probe) >").unwrap();
    mine.type_line("reset").unwrap();
    mine.wait_for("Reset the session? (y/N) ").unwrap();
    mine.type_line("y").unwrap();
    mine.wait_for("Session cleared").unwrap();
    drop(mine);
    assert_eq!(archives(&env).len(), 1);
    assert_eq!(other.say("show"), "seen:");
    other.end();
    env.probe(&["keep two", "reset --force"]).said(0, &["Session cleared"]);
    env.probe(&["reset --frce"]).said(1, &["unexpected argument \"--frce\""]);
}

#[test]
fn nothing_is_lost_for_good_without_a_question() {
    let env = Env::new();
    env.config("[session]\nreset.keep_archives = false\n");
    let refused = ["the old state is not archived", "cannot ask", "reset --keep-archives"];
    env.probe(&["keep one", "reset"]).said(1, &refused);
    assert_eq!(env.probe(&["show"]).good(), "all: one\nbye\n");
    env.probe(&["reset --keep-archives"]).said(0, &["osm session restore "]);
    assert_eq!(archives(&env).len(), 1);
    let mut mine = terminal(&env, &["script", probe().to_str().unwrap()]);
    mine.wait_for("(probe) >").unwrap();
    mine.type_line("keep two").unwrap();
    mine.wait_for("kept two").unwrap();
    mine.type_line("reset").unwrap();
    mine.wait_for("Reset the session? (y/N) ").unwrap();
    mine.type_line("n").unwrap();
    mine.wait_for("not confirmed").unwrap();
    drop(mine);
    assert_eq!(env.probe(&["show"]).good(), "all: two\nbye\n");
    env.probe(&["reset --force"]).said(0, &["the old state was not archived"]);
    assert_eq!(archives(&env).len(), 1);
}

#[test]
fn an_undo_says_whose_command_it_takes_back_and_asks() {
    let env = Env::new();
    let mut other = Other::start(&env);
    assert_eq!(other.say("keep theirs"), "kept theirs");
    assert_eq!(other.say("words"), "[]");
    let process = format!("process {}", other.child.id());
    env.probe(&["undo"]).said(1, &["changed by ", &process, "undo --force"]);
    let mut mine = terminal(&env, &["script", probe().to_str().unwrap()]);
    mine.wait_for("(probe) >").unwrap();
    mine.type_line("undo").unwrap();
    mine.wait_for("Undo it? (y/N) ").unwrap();
    assert!(mine.screen().contains(&process), "{}", mine.screen());
    mine.type_line("n").unwrap();
    mine.wait_for("not confirmed").unwrap();
    // A terminal shows both questions, so the second one is answered when it was asked.
    mine.type_line("undo").unwrap();
    let asked_twice = || mine.screen().matches("Undo it? (y/N) ").count() == 2;
    let deadline = Instant::now() + Duration::from_mins(1);
    while !asked_twice() {
        assert!(Instant::now() < deadline, "{}", mine.screen());
        std::thread::sleep(Duration::from_millis(5));
    }
    mine.type_line("y").unwrap();
    mine.wait_for("Undone: keep theirs (changed by ").unwrap();
    drop(mine);
    assert_eq!(other.say("show"), "seen:");
    other.end();

    // One's earlier commands, of a process that has ended, are undone without a question.
    env.probe(&["keep mine"]).good();
    env.probe(&["undo"]).said(0, &["Undone: keep mine\n"]);
}

#[test]
fn the_history_shows_who_ran_each_command() {
    let env = Env::new();
    env.probe(&["keep one"]).good();
    // A shell with an agent's name is that agent.
    let agent = env.temporary().join("claude");
    fs::copy("/bin/sh", &agent).unwrap();
    let script = format!("{PROGRAM} script -c 'keep two' {} && true", probe().display());
    let mut command = env.command(&[]);
    let variables: Vec<_> = command
        .get_envs()
        .filter_map(|(name, value)| Some((name.to_owned(), value?.to_owned())))
        .collect();
    command = std::process::Command::new(&agent);
    command.args(["-c", &script]).current_dir(env.work()).env_clear().envs(variables);
    assert!(command.stdin(Stdio::null()).output().unwrap().status.success());

    let rows: Value =
        serde_json::from_str(&env.run(&["session", "history", "--json"]).good()).unwrap();
    let by = |at: usize| &rows[at]["by"];
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    assert_eq!(by(0)["host"], host.trim());
    assert_eq!((&by(0)["agent"], &by(1)["agent"]), (&Value::Null, &"claude-code".into()));
    assert_ne!(by(0)["session"], by(1)["session"], "both in the session `test`");
    let shown = env.run(&["session", "history"]).good();
    let heading = shown.lines().next().unwrap();
    assert!(heading.contains("BY") && heading.contains("COMMAND"), "{shown}");
    let row = shown.lines().find(|line| line.contains("keep two")).unwrap();
    assert!(row.contains(&format!(" (claude-code) on {}", host.trim())), "{shown}");
    let in_mode = env.probe(&["history"]).good();
    let row = |text: &str| in_mode.lines().find(|line| line.contains(text)).unwrap().to_owned();
    assert!(row("keep one").contains("  you  "), "{in_mode}");
    assert!(row("keep two").contains(" (claude-code) on "), "{in_mode}");
    env.probe(&["undo"]).said(1, &["changed by ", "(claude-code)"]);
}

/// Numbers keep their meaning when old commands are forgotten; the setting says when that is.
#[test]
fn history_numbers_stay_when_the_ring_turns() {
    let env = Env::new();
    env.config("[session]\nhistory_length = 5\n");
    let keep: Vec<String> = (1..=8).map(|number| format!("keep {number}")).collect();
    env.probe(&keep.iter().map(String::as_str).collect::<Vec<_>>()).good();
    let said = env.probe(&["history"]).good();
    let number = |line: &str| line.split_whitespace().next()?.parse::<u32>().ok();
    let numbers: Vec<u32> = said.lines().filter_map(number).collect();
    assert_eq!(numbers, [4, 5, 6, 7, 8], "{said}");
    env.run(&["session", "diff", "@7"]).said(0, &["\"payload\":\"8\""]);
    env.run(&["session", "diff", "@3"]).said(4, &["has no command number 3"]);
    env.probe(&["undo 6", "show"])
        .said(0, &["Restored the state after 6: keep 6", "all: 1, 2, 3, 4, 5, 6\n"]);

    // An import keeps all of its commands, however many the setting allows.
    env.run(&["session", "export", "--output", "export.json"]).said(0, &[]);
    env.config("[session]\nhistory_length = 2\n");
    env.run(&["session", "import", "-y", "--as", "copy", "export.json"]).said(0, &[]);
    let rows: Value =
        serde_json::from_str(&env.run(&["session", "history", "copy", "--json"]).good()).unwrap();
    let commands: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row["command"].as_str().unwrap()).collect();
    assert_eq!(commands.len(), 6, "{commands:?}");
    assert!(commands[0].starts_with("keep ") && commands[5].starts_with("import "), "{commands:?}");
}
