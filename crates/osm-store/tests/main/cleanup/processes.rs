//! Cleanups by several processes at once, killed ones among them.
//!
//! The processes are this very test binary, told to run [`task`] only.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use osm_identity::SessionId;
use osm_store::backend::{ArchiveKind, Backend, Wait};
use osm_store::cleanup::{Options, Turn};
use osm_store::metadata::Metadata;
use osm_store::retention::{Mode, Policy};
use osm_store::{Error, FsBackend};

use super::{clean, cleaner, holder, is_there, lasting, removed, save};
use crate::harness::{Home, Single, clock, id};

const TASK: &str = "OSM_TEST_TASK";
const ROOT: &str = "OSM_TEST_ROOT";
/// Marks the answer between what the test harness prints.
const ANSWER: &str = "answer: ";

/// Not a test of its own: what another process does. It says when it is ready, and begins when its
/// input ends.
#[test]
#[expect(clippy::disallowed_methods, reason = "a test's processes are told by variables")]
fn task() {
    let (Some(task), Some(root)) = (std::env::var_os(TASK), std::env::var_os(ROOT)) else {
        return;
    };
    let backend = FsBackend::open(Path::new(&root), clock()).unwrap();
    let answer = match task.to_str().unwrap() {
        "sleep" => {
            wait_for_go();
            "slept".to_owned()
        }
        "attend" => {
            let _presence = backend.share(&id("session-A"), &holder(), Wait::USUAL).unwrap();
            wait_for_go();
            "attended".to_owned()
        }
        "clean if due" => cleaner(&backend, 0, &Policy::default(), |cleaner| {
            wait_for_go();
            match cleaner.run_if_due(&AtomicBool::new(false)).unwrap() {
                Turn::NotDue => "not due".to_owned(),
                Turn::Taken => "taken".to_owned(),
                Turn::Ran(report) => {
                    assert!(report.failed.is_empty() && report.warnings.is_empty(), "{report:?}");
                    format!("ran {}", report.removed.len())
                }
            }
        }),
        "clean" => cleaner(&backend, 365, &lasting(), |cleaner| {
            wait_for_go();
            match cleaner.clean_up(Mode::Clean, &Options::default(), &mut |_| {}) {
                Ok(report) => {
                    assert!(report.failed.is_empty() && report.warnings.is_empty(), "{report:?}");
                    format!("ran {}", report.removed.len())
                }
                Err(Error::CleanupRunning) => "taken".to_owned(),
                Err(error) => panic!("{error}"),
            }
        }),
        other => panic!("what is {other}?"),
    };
    say(&answer);
}

fn say(what: &str) {
    let mut output = std::io::stdout().lock();
    writeln!(output, "\n{ANSWER}{what}").unwrap();
    output.flush().unwrap();
}

fn wait_for_go() {
    say("ready");
    std::io::stdin().lock().read_to_end(&mut Vec::new()).unwrap();
}

struct Process {
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts one and waits until it is ready.
    fn start(task: &str, root: &Path) -> Self {
        let module = module_path!().split_once("::").unwrap().1;
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "--nocapture", &format!("{module}::task")])
            .env(TASK, task)
            .env(ROOT, root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut process = Self { child, output };
        assert_eq!(process.answer(), "ready");
        process
    }

    fn answer(&mut self) -> String {
        let mut line = String::new();
        while self.output.read_line(&mut line).unwrap() > 0 {
            if let Some(answer) = line.trim_end().strip_prefix(ANSWER) {
                return answer.to_owned();
            }
            line.clear();
        }
        panic!("the process ended without an answer");
    }

    fn go(&mut self) {
        drop(self.child.stdin.take());
    }

    fn end(mut self) -> String {
        self.go();
        let answer = self.answer();
        std::io::copy(&mut self.output, &mut std::io::sink()).unwrap();
        assert!(self.child.wait().unwrap().success());
        answer
    }
}

/// A process that lives until it is killed.
pub(super) fn sleeper() -> Child {
    Process::start("sleep", &Home::new().root()).child
}

/// Makes a session's document older than it is.
fn age(backend: &dyn Backend, id: &SessionId, days: u64) {
    let file = std::fs::File::options().write(true).open(backend.place(id)).unwrap();
    let then = file.metadata().unwrap().modified().unwrap() - Duration::from_secs(days * 86_400);
    file.set_modified(then).unwrap();
}

#[test]
fn verification_a_session_of_another_process_is_not_removed() {
    let home = Home::new();
    let backend = home.open();
    for name in ["session-A", "session-B"] {
        save(&backend, &id(name), "x");
        age(&backend, &id(name), 365);
    }
    let mut process = Process::start("attend", &home.root());
    let report = clean(&backend, 0, Mode::Clean, &Options::default());
    assert_eq!(removed(&report), [&id("session-B")]);
    assert!(is_there(&backend, &id("session-A")));

    // It is killed, and the session is not open any more.
    process.child.kill().unwrap();
    process.child.wait().unwrap();
    let report = clean(&backend, 0, Mode::Clean, &Options::default());
    assert_eq!(removed(&report), [&id("session-A")]);
}

#[test]
fn verification_two_processes_clean_at_once() {
    for _ in 0..5 {
        let home = Home::new();
        let backend = home.open();
        for n in 0..50 {
            save(&backend, &id(&n.to_string()), "x");
        }
        let mut processes = [(); 2].map(|()| Process::start("clean", &home.root()));
        processes.iter_mut().for_each(Process::go);
        let answers = processes.map(Process::end);
        let mut gone = 0;
        for answer in &answers {
            match answer.strip_prefix("ran ") {
                Some(count) => gone += count.parse::<usize>().unwrap(),
                None => assert_eq!(answer, "taken"),
            }
        }
        assert_eq!(gone, 50, "{answers:?}");
        assert!(backend.entries().unwrap().is_empty());
        assert_eq!(backend.archives_of(ArchiveKind::Trash).unwrap().len(), 50);
    }
}

#[test]
fn twenty_processes_that_start_at_once_run_one_cleanup() {
    for _ in 0..3 {
        let home = Home::new();
        let backend = home.open();
        for n in 0..30 {
            save(&backend, &id(&n.to_string()), "x");
            age(&backend, &id(&n.to_string()), if n < 10 { 100 } else { 1 });
        }
        let mut processes: Vec<Process> =
            (0..20).map(|_| Process::start("clean if due", &home.root())).collect();
        processes.iter_mut().for_each(Process::go);
        let answers: Vec<String> = processes.into_iter().map(Process::end).collect();
        let ran: Vec<&String> = answers.iter().filter(|it| it.starts_with("ran")).collect();
        assert_eq!(ran, ["ran 10"], "{answers:?}");
        assert!(answers.iter().all(|it| ["ran 10", "taken", "not due"].contains(&it.as_str())));
        assert_eq!(backend.entries().unwrap().len(), 20);
        assert!(Metadata::read(&backend).unwrap().metadata.last_cleanup.is_some());
        let audit = std::fs::read_to_string(home.root().join("audit.jsonl")).unwrap();
        assert_eq!(audit.lines().count(), 1, "{audit}");
    }
}

#[test]
fn a_cleanup_that_is_killed_loses_nothing_and_is_finished_by_the_next() {
    let home = Home::new();
    let backend = home.open();
    let count = 300;
    for n in 0..count {
        save(&backend, &id(&n.to_string()), &format!("document {n}"));
    }
    let mut kills = 0;
    for target in (50..count).step_by(50) {
        let mut process = Process::start("clean", &home.root());
        process.go();
        let deadline = Instant::now() + Duration::from_mins(1);
        while backend.entries().unwrap().len() > count - target && Instant::now() < deadline {}
        process.child.kill().unwrap();
        process.child.wait().unwrap();
        kills += usize::from(!backend.entries().unwrap().is_empty());
    }
    assert!(kills > 0, "every cleanup was done before it could be killed");
    let last = || {
        cleaner(&backend, 365, &lasting(), |cleaner| {
            cleaner.clean_up(Mode::Clean, &Options::default(), &mut |_| {}).unwrap()
        })
    };
    let report = last();
    assert!(report.failed.is_empty() && report.skipped.is_empty(), "{report:?}");
    assert!(backend.entries().unwrap().is_empty());
    let trash = backend.archives_of(ArchiveKind::Trash).unwrap();
    for n in 0..count {
        let id = id(&n.to_string());
        let mut mine = trash.iter().filter(|item| item.id.as_ref() == Some(&id)).peekable();
        assert!(mine.peek().is_some(), "{id} is in the trash");
        for item in mine {
            let document = backend.read_archived(ArchiveKind::Trash, &item.name).unwrap();
            assert_eq!(document, format!("document {n}").as_bytes());
        }
    }
    // And nothing else is left lying about.
    assert!(last().is_empty());
}
