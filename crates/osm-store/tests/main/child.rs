//! The same binary once more, as another process that works on a store.
//!
//! A test starts [`Child`] with an errand, a store and the words that the errand needs. The child
//! says a line when it has got somewhere, and goes on when it is told to.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use osm_store::FsBackend;
use osm_store::backend::{Backend, Wait};
use osm_store::metadata::{Metadata, ResetRecord};

use crate::harness::{
    Single, change_record, clock, get, id, increment, myself, now, put, set_metadata,
};

const ERRAND: &str = "OSM_STORE_TEST_ERRAND";
const ROOT: &str = "OSM_STORE_TEST_ROOT";
/// In front of what the child has to say; the test harness talks on the same stream.
const MARK: &str = "child says: ";

/// Another process.
pub(crate) struct Child {
    process: std::process::Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Child {
    /// Starts it.
    pub(crate) fn start(errand: &str, root: &Path) -> Self {
        Self::start_under(Command::new(std::env::current_exe().unwrap()), errand, root)
    }

    /// Starts it by way of a shell that prepares something first: `"$0" "$@"` is the child.
    #[cfg(unix)]
    pub(crate) fn start_after(mut shell: Command, script: &str, errand: &str, root: &Path) -> Self {
        shell.arg("sh").arg("-c").arg(script).arg(std::env::current_exe().unwrap());
        Self::start_under(shell, errand, root)
    }

    fn start_under(mut command: Command, errand: &str, root: &Path) -> Self {
        let mut process = command
            .args(["--exact", "child::child", "--nocapture"])
            .env(ERRAND, errand)
            .env(ROOT, root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = process.stdin.take().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        Self { process, input, output }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// The next line that it says; `None` if it ended.
    pub(crate) fn hear(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            if let Some((_, said)) = line.split_once(MARK) {
                return Some(said.trim_end().to_owned());
            }
        }
    }

    /// Waits until it says something.
    pub(crate) fn expect(&mut self, expected: &str) {
        assert_eq!(self.hear().as_deref(), Some(expected));
    }

    /// Lets it go on.
    pub(crate) fn go_on(&mut self) {
        self.input.write_all(b"\n").unwrap();
    }

    /// Kills it, with no chance to say goodbye.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Waits for a good end.
    pub(crate) fn finish(mut self) {
        drop(self.input);
        while let Some(line) = {
            let mut line = String::new();
            (self.output.read_line(&mut line).unwrap() > 0).then_some(line)
        } {
            assert!(!line.contains(MARK), "unexpected: {line}");
        }
        assert!(self.process.wait().unwrap().success());
    }
}

/// What the child says.
pub(crate) fn say(text: &str) {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{MARK}{text}").unwrap();
    stdout.flush().unwrap();
}

/// Waits until the test lets us go on.
pub(crate) fn pause() {
    std::io::stdin().read_line(&mut String::new()).unwrap();
}

#[expect(clippy::disallowed_methods, reason = "this is how the errand comes")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Not a test of its own: what the child does.
#[test]
fn child() {
    let Some(errand) = variable(ERRAND) else {
        return;
    };
    let root = PathBuf::from(variable(ROOT).unwrap());
    let backend = FsBackend::open(&root, clock()).unwrap();
    let mut words = errand.split(' ');
    let verb = words.next().unwrap();
    let rest: Vec<_> = words.collect();
    match (verb, rest.as_slice()) {
        ("attend", [session]) => {
            let presence = backend.share(&id(session), &myself("attend"), Wait::NONE).unwrap();
            say("attending");
            pause();
            drop(presence);
            say("left");
            pause();
        }
        ("change", [session]) => {
            let mut next = |_| {
                say("changing");
                pause();
                Ok(Some(b"changed".to_vec().into()))
            };
            let holder = myself("change");
            backend.update(&id(session), None, &holder, Wait::NONE, &mut next).unwrap();
        }
        #[cfg(target_os = "linux")]
        ("orphan", [lock, session]) => crate::eviction::errand(&backend, lock, session),
        ("increment", [session, times]) => {
            let holder = myself("increment");
            say("ready");
            pause();
            for _ in 0..times.parse().unwrap() {
                increment(&backend, &id(session), &holder);
            }
        }
        ("note", [name, times]) => {
            let holder = myself("note");
            say("ready");
            pause();
            for number in 0..times.parse().unwrap() {
                let session = id(&format!("{name}-{number}"));
                let record = ResetRecord::new(&session, now(), None, &holder);
                let push = |it: &mut Metadata| it.resets.push(record.clone());
                change_record(&backend, Wait::USUAL, push).unwrap();
            }
        }
        ("visit", [session, times]) => visit(&backend, session, times.parse().unwrap()),
        ("clean", [seconds]) => {
            let _cleanup = backend.lock_cleanup(&myself("clean")).unwrap().unwrap();
            say("cleaning");
            std::thread::sleep(Duration::from_secs(seconds.parse().unwrap()));
        }
        ("everything", []) => {
            crate::backend_story::story(&backend);
            put(&backend, &id("left"), "behind").unwrap();
            set_metadata(&backend, b"{}").unwrap();
            let _cleanup = backend.lock_cleanup(&myself("everything")).unwrap().unwrap();
            say("done");
            pause();
        }
        ("list", []) => {
            for entry in backend.entries().unwrap() {
                say(&format!("{} {}", entry.id, entry.active));
            }
            say("end");
        }
        #[cfg(target_os = "linux")]
        ("disk", [kind]) => crate::disks::errand(&backend, &root, kind),
        _ => panic!("no such errand: {errand}"),
    }
}

/// Opens a session again and again. Whatever is there when it is opened stays until it is closed.
pub(crate) fn visit(backend: &dyn Backend, session: &str, times: u32) {
    let (id, holder) = (id(session), myself("visit"));
    for _ in 0..times {
        let wait = Wait(Duration::from_secs(30));
        let presence = backend.share(&id, &holder, wait).unwrap();
        let before = get(backend, &id);
        std::thread::yield_now();
        if before.is_some() {
            assert!(get(backend, &id).is_some(), "removed while it was open");
        }
        if before.is_none() {
            put(backend, &id, "new").unwrap();
            assert!(get(backend, &id).is_some(), "removed while it was open");
        }
        drop(presence);
        // Others come and go, too.
        std::thread::sleep(Duration::from_micros(100));
    }
}
