//! Nothing is lost: not by a kill, not by another process, not by a store that cannot be written.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use crate::harness::{Env, Run};

#[test]
fn a_kill_after_any_command_loses_nothing() {
    let env = Env::new();
    for number in 1..=4 {
        let mut talk = env.talk();
        assert_eq!(talk.say(&format!("keep {number}")), format!("kept {number}"));
        // The next answer comes after the save of the one before.
        talk.say("words");
        talk.kill();
    }
    let said = env.probe(&["show", "undo", "show", "history"]).good();
    assert!(
        said.starts_with("all: 1, 2, 3, 4\nUndone: keep 4\nseen: 1, 2, 3\nall: 1, 2, 3\n"),
        "{said}"
    );
    let commands: Vec<&str> =
        said.lines().skip(4).filter_map(|it| it.split("probe  ").nth(1)).collect();
    assert_eq!(commands, ["keep 1", "keep 2", "keep 3", "keep 4", "undo"]);
}

#[test]
fn two_in_one_session() {
    let env = Env::new();
    let (mut one, mut other) = (env.talk(), env.talk());
    // Both are there before anything changes.
    assert_eq!((one.say("words"), other.say("words")), ("[]".into(), "[]".into()));
    assert_eq!(one.say("keep a"), "kept a");
    assert_eq!(one.say("words"), "[]");
    assert_eq!(other.say("keep b"), "seen: a", "before the command it is told");
    assert_eq!(other.hears(), "kept b");
    assert_eq!(other.say("show"), "all: a, b");
    assert_eq!(one.say("show"), "seen: a, b");
    assert_eq!(one.hears(), "all: a, b");
    let undone = one.say("undo --force");
    assert!(undone.starts_with("Undone: keep b (changed by "), "{undone}");
    assert_eq!(one.hears(), "seen: a");
    assert_eq!(one.say("words"), "[]");
    assert_eq!(other.say("show"), "seen: a");
    assert_eq!(other.hears(), "all: a");
    one.kill();
    other.kill();
    assert_eq!(env.probe(&["show"]).good(), "all: a\nbye\n");
}

/// Two terminals add notes to one session at the same time: the number that a terminal was told is the
/// number of its note.
#[test]
fn announced_numbers_are_the_stored_ones() {
    const NOTES: usize = 500;
    let env = Env::new();
    let add = |terminal: usize| {
        let mut input = String::new();
        for round in 0..NOTES {
            writeln!(input, "note {terminal}-{round}").unwrap();
        }
        let mut child = env.command(&["code-review"]).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let typist = std::thread::spawn(move || stdin.write_all(input.as_bytes()).unwrap());
        let output = child.wait_with_output().unwrap();
        typist.join().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        let number =
            |line: &str| line.strip_prefix("Added note [")?.strip_suffix(']')?.parse().ok();
        said.lines().filter_map(number).collect::<Vec<u64>>()
    };
    let told = std::thread::scope(|scope| {
        [0, 1].map(|terminal| scope.spawn(move || add(terminal))).map(|it| it.join().unwrap())
    });
    let stored: serde_json::Value =
        serde_json::from_str(&env.run(&["session", "export"]).good()).unwrap();
    let items = stored["shared_state"]["contextItems"].as_array().unwrap().clone();
    assert_eq!(items.len(), 2 * NOTES, "no note is lost");
    for (terminal, numbers) in told.iter().enumerate() {
        assert_eq!(numbers.len(), NOTES);
        for (round, number) in numbers.iter().enumerate() {
            let item = items.iter().find(|item| item["id"] == *number).unwrap();
            assert_eq!(item["payload"], format!("{terminal}-{round}"), "[{number}]");
        }
    }
}

fn document(env: &Env) -> PathBuf {
    let files = std::fs::read_dir(env.home().join("sessions")).unwrap();
    let mut files = files.map(|it| it.unwrap().path());
    files.find(|path| path.to_str().unwrap().ends_with(".session.json")).unwrap()
}

/// The command that brings back what could not be saved.
fn way_back(said: &str) -> Vec<&str> {
    let command = said.split("restore it with `osm ").nth(1).expect("the way back is told");
    command.split('`').next().unwrap().split(' ').collect()
}

fn brought_back(env: &Env, run: &Run) -> String {
    let real = run.stderr.replace("LAB", env.home().parent().unwrap().to_str().unwrap());
    let words = way_back(&real);
    env.run(&[&words[..], &["-y"]].concat()).said(0, &[]);
    env.probe(&["show"]).good()
}

#[test]
fn a_save_that_fails_is_tried_again() {
    let env = Env::new();
    let mut talk = env.talk();
    talk.say("keep one");
    talk.say("words");
    let (path, good) = (document(&env), std::fs::read(document(&env)).unwrap());
    std::fs::write(&path, r#"{"version":"7.0.0","session_id":"ex--test_xx"}"#).unwrap();
    assert_eq!(talk.say("keep two"), "kept two");
    assert_eq!(talk.say("words"), "[]");
    std::fs::write(&path, good).unwrap();
    assert_eq!(talk.say("show"), "all: one, two");
    talk.say("words");
    talk.kill();
    let said = env.probe(&["show", "history"]).good();
    assert!(said.starts_with("all: one, two\n") && said.contains("probe  keep two\n"), "{said}");
}

#[test]
fn what_cannot_be_saved_is_kept_at_the_end() {
    let env = Env::new();
    env.probe(&["keep one"]).good();
    let path = document(&env);
    // While it works, a newer osm takes over the file.
    let newer = r#"{"version":"7.0.0","session_id":"ex--test_xx"}"#;
    let write = format!("js require('osm:os').writeFile('{}', '{newer}')", path.display());
    let run = env.probe(&[&write, "keep two", "fail", "show"]);
    run.said(
        6,
        &[
            "cannot save the session",
            "hint: your changes are kept in memory; osm saves again after the next command",
            "all: one, two",
            "osm has written it to recovered/",
        ],
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), newer, "that one is left alone");
    std::fs::write(&path, "").unwrap();
    assert_eq!(brought_back(&env, &run), "all: one, two\nbye\n");
}

#[test]
fn without_a_store_work_goes_on_in_memory() {
    let env = Env::new();
    let home = env.home();
    std::fs::remove_dir(&home).unwrap();
    std::fs::write(&home, "not a folder").unwrap();
    let run = env.probe(&["keep one", "keep two", "undo", "history"]);
    run.said(6, &["cannot save the session", "osm has written it to LAB/temporary/osm-"]);
    std::fs::write(&home, "").unwrap();
    #[expect(clippy::disallowed_methods, reason = "the test put it there")]
    std::fs::remove_file(&home).unwrap();
    assert_eq!(brought_back(&env, &run), "all: one\nbye\n");
}

#[test]
fn without_a_home_work_goes_on_in_memory() {
    let env = Env::new();
    let without_home = |arguments: &[&str]| {
        let mut command = env.command(arguments);
        command.env_remove("HOME").env_remove("OSM_HOME");
        env.finish(command.output().unwrap())
    };
    let probe = crate::harness::probe();
    let script = ["script", "-c", "keep one", "-c", "show", probe.to_str().unwrap()];
    let run = without_home(&script);
    run.said(
        6,
        &[
            "no folder for sessions: neither HOME nor OSM_HOME is set; this session is in memory only",
            "hint: set HOME, or OSM_HOME to a folder",
            "all: one",
            "osm has written it to LAB/temporary/osm-",
        ],
    );
    assert!(!run.stderr.contains("cannot be read"), "nothing was kept: {}", run.stderr);
    assert_eq!(brought_back(&env, &run), "all: one\nbye\n");
    // A store in memory that was asked for is no failure, and nothing is written anywhere.
    let before = std::fs::read_dir(env.temporary()).unwrap().count();
    let run = without_home(&[&["--store", "memory"], &script[..]].concat());
    assert_eq!((run.code, run.stderr.as_str()), (Some(0), ""), "{}", run.transcript());
    assert_eq!(std::fs::read_dir(env.temporary()).unwrap().count(), before);
    without_home(&["session", "list"]).said(1, &["no folder for sessions"]);
}

/// Each store that cannot be used is another reason; none of them passes for a saved session.
#[test]
#[cfg(unix)]
fn a_linked_folder_of_sessions_is_not_followed_and_not_passed_over() {
    let env = Env::new();
    let elsewhere = env.home().parent().unwrap().join("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, env.home().join("sessions")).unwrap();
    let run = env.probe(&["keep one"]);
    run.said(6, &["is a symbolic link", "cannot save the session"]);
    assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
    env.run(&["session", "list"]).said(1, &["is a symbolic link"]);
}
