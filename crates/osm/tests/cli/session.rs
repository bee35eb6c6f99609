//! Sessions as a user meets them: force, other machines, where they are used, and what is refused.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]
#![expect(clippy::disallowed_methods, reason = "the real clock, and files that are no user's")]

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use jiff::Timestamp;
use osm_identity::{Pid, SessionId, System};
use osm_store::audit::Event;
use osm_store::backend::{Backend, Holder, Wait};
use osm_store::fallback::{self, Rescued};
use osm_store::{FsBackend, Key, Session, Store};
use serde_json::{Value, json};

use crate::harness::{Env, Run};

fn id(name: &str) -> SessionId {
    SessionId::explicit(name.as_ref())
}

fn holder(pid: u32, command: &str) -> Holder {
    Holder::new(&System, Pid(pid), "here".into(), Timestamp::now(), command.into())
}

fn open_store(home: &Path) -> osm_store::Result<Store> {
    let backend: Arc<dyn Backend> = Arc::new(FsBackend::open(home, Arc::new(Timestamp::now))?);
    Ok(Store::new(backend, holder(std::process::id(), "the test")))
}

/// A session with something in it, open.
fn opened(env: &Env, name: &str) -> Session {
    let mut session = open_store(env.path()).unwrap().open(&id(name), Wait::NONE).unwrap();
    session.set(Key::parse("k"), json!("old")).unwrap();
    session.record("test", "set k").unwrap();
    session
}

fn value(env: &Env, name: &str) -> Value {
    open_store(env.path()).unwrap().read(&id(name)).unwrap().state.value().unwrap()["shared"]["k"]
        .clone()
}

fn lock_file(env: &Env, name: &str) -> std::path::PathBuf {
    env.path().join("sessions").join(format!("{}.session.lock", id(name)))
}

fn audit(env: &Env) -> Vec<Event> {
    let text = std::fs::read_to_string(env.path().join("audit.jsonl")).unwrap_or_default();
    text.lines().filter_map(Event::parse).collect()
}

/// That a run ended in that way, and said all of these.
#[track_caller]
fn said(run: &Run, code: i32, words: &[&str]) {
    let transcript = run.transcript();
    assert_eq!(run.code, Some(code), "{transcript}");
    for word in words {
        assert!(transcript.contains(word), "{word:?} is missing:\n{transcript}");
    }
}

#[test]
fn force_breaks_no_lock_of_the_living() {
    let env = Env::new();
    let session = opened(&env, "x");
    let archive = {
        let mut other = opened(&env, "y");
        other.reset(true).unwrap().unwrap()
    };
    for arguments in [
        &["session", "reset", "x"][..],
        &["session", "delete", "-y", "x"],
        &["session", "restore", &archive, "--as", "x"],
    ] {
        let process = format!("process {} on here (`the test`", std::process::id());
        said(&env.run(arguments), 3, &["is in use by", &process]);
        let forced = [arguments, &["--force"]].concat();
        let words =
            ["was not broken", &process, "is alive", "hint: --force breaks locks of dead holders"];
        said(&env.run(&forced), 3, &words);
    }
    assert_eq!(value(&env, "x"), "old");
    assert!(audit(&env).iter().all(|event| !event.forced));
    drop(session);
    said(&env.run(&["session", "reset", "x", "--force"]), 0, &["reset select-horizon (ex--x_2d)"]);
    assert!(audit(&env).iter().all(|event| !event.forced), "nothing was in the way");
}

/// A shell that holds the presence lock of a session, and the job that inherits it.
struct Owner {
    shell: Child,
    job: u32,
}

impl Owner {
    fn start(env: &Env, name: &str) -> Self {
        let script = "exec 9<>\"$0\"; flock -s 9; tail --pid=\"$1\" -f /dev/null & echo $!; read x";
        let mut shell = Command::new("sh")
            .args(["-c", script])
            .arg(lock_file(env, name))
            .arg(std::process::id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut job = String::new();
        BufReader::new(shell.stdout.as_mut().unwrap()).read_line(&mut job).unwrap();
        let record = serde_json::to_string(&holder(shell.id(), "the owner")).unwrap();
        std::fs::write(lock_file(env, name), format!("{record}\n")).unwrap();
        Self { shell, job: job.trim().parse().unwrap() }
    }

    fn die(&mut self) {
        self.shell.kill().unwrap();
        self.shell.wait().unwrap();
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        drop(self.shell.kill());
        drop(self.shell.wait());
        drop(Command::new("kill").arg(self.job.to_string()).status());
    }
}

#[test]
fn force_breaks_the_lock_of_the_dead() {
    let env = Env::new();
    drop(opened(&env, "x"));
    let mut owner = Owner::start(&env, "x");
    said(&env.run(&["session", "reset", "x", "--force"]), 3, &["is alive"]);
    owner.die();
    let words = ["is still locked", "dead: no process has its pid", "with --force"];
    said(&env.run(&["session", "reset", "x"]), 3, &words);
    assert_eq!(value(&env, "x"), "old");
    said(
        &env.run(&["session", "reset", "x", "--force"]),
        0,
        &["reset select-horizon (ex--x_2d)", "archived as"],
    );
    let forced: Vec<_> = audit(&env).into_iter().filter(|event| event.forced).collect();
    let names: Vec<_> = forced.iter().map(|event| event.what.name()).collect();
    assert_eq!(names, ["force", "reset"]);
    said(&env.run(&["session", "delete", "-y", "x"]), 0, &["deleted"]);
}

#[test]
fn a_lock_without_a_name_is_not_broken() {
    let env = Env::new();
    drop(opened(&env, "x"));
    let mut owner = Owner::start(&env, "x");
    owner.die();
    std::fs::write(lock_file(&env, "x"), "").unwrap();
    let words = ["does not name its holder", "fuser"];
    said(&env.run(&["session", "reset", "x", "--force"]), 3, &words);
    assert_eq!(value(&env, "x"), "old");
}

#[test]
fn another_machine_in_the_same_folder_is_told_once() {
    let env = Env::new();
    for name in ["x", "y"] {
        drop(opened(&env, name));
        let mut elsewhere = holder(77, "osm code-review");
        elsewhere.process.boot = "another".into();
        elsewhere.host = "elsewhere".into();
        let record = serde_json::to_string(&elsewhere).unwrap();
        std::fs::write(lock_file(&env, name), format!("\n{record}\n")).unwrap();
    }
    for (arguments, code) in [
        (&["session", "purge", "-y"][..], 0),
        (&["session", "reset", "x"], 0),
        (&["session", "delete", "-y", "y"], 0),
    ] {
        let run = env.run(arguments);
        said(&run, code, &["process 77 on elsewhere (`osm code-review`", "OSM_HOME"]);
        assert_eq!(run.stderr.matches("warning").count(), 1, "{}", run.stderr);
    }
    assert_eq!(value(&env, "x"), Value::Null, "the purge left what is open elsewhere");
    let quiet = env.run(&["session", "list"]);
    assert_eq!(quiet.stderr, "", "looking changes nothing");
}

#[test]
fn where_a_session_is_used_is_shown_and_filtered_by() {
    let env = Env::new().with("OSM_SESSION", "x");
    let checkout = env.path().join("checkout");
    for folder in [".git/objects", ".git/refs", "src"] {
        std::fs::create_dir_all(checkout.join(folder)).unwrap();
    }
    std::fs::write(checkout.join(".git/HEAD"), "ref: refs/heads/feature/x\n").unwrap();
    drop(opened(&env, "x"));
    drop(opened(&env, "y"));
    for name in ["x", "y"] {
        let mut reset = env.command(&["session", "reset", name]);
        assert!(reset.current_dir(checkout.join("src")).output().unwrap().status.success());
    }
    let list = |arguments: &[&str]| -> Vec<Value> {
        let run = env.run(&[&["session", "list", "--format", "json"], arguments].concat());
        serde_json::from_str(&run.stdout).unwrap()
    };
    let all = list(&[]);
    let folder = checkout
        .canonicalize()
        .unwrap()
        .display()
        .to_string()
        .replace(&env.path().canonicalize().unwrap().display().to_string(), "$OSM_HOME");
    assert_eq!(all[0]["branch"], "feature/x");
    assert_eq!(all[0]["source"], "explicit-env", "this one came about here");
    assert_eq!(all[1]["source"], Value::Null, "of another one that is not known");
    assert_eq!(all[1]["repository"], folder);
    assert_eq!(all[1]["worktree"], folder);
    assert_eq!(list(&["--branch", "feature/x"]).len(), 2);
    assert_eq!(list(&["--branch", "main"]).len(), 0);
    for (here, path) in [
        ("checkout", "."),
        ("checkout", "src/"),
        ("checkout/src", ".."),
        ("", "checkout/"),
        ("", "./checkout/../checkout/src"),
    ] {
        let mut command = env.command(&["session", "list", "--json", "--repository", path]);
        let output = command.current_dir(env.path().join(here)).output().unwrap();
        let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(rows.len(), 2, "{path} in {here}");
    }
    assert_eq!(list(&["--repository", "/no/such"]).len(), 0);
    let shown = env.run(&["session", "info", "x"]);
    said(&shown, 0, &["found by  explicit-env", "used in", ", branch feature/x"]);
}

#[test]
fn a_broken_configuration_holds_up_a_cleanup_and_no_purge() {
    let env = Env::new();
    drop(opened(&env, "x"));
    env.config("[session]\nmax_count = \"many\"\n");
    said(&env.run(&["session", "clean", "-y"]), 1, &["limits", "invalid"]);
    assert_eq!(value(&env, "x"), "old");
    said(&env.run(&["session", "purge", "-y"]), 0, &["removed select-horizon (ex--x_2d): "]);
}

#[test]
fn what_a_reset_keeps() {
    let env = Env::new();
    env.config("[session]\nreset.keep_archives = false\n");
    drop(opened(&env, "x"));
    said(&env.run(&["session", "reset", "x"]), 5, &["cannot ask for confirmation"]);
    said(&env.run(&["session", "reset", "x", "--keep-archives"]), 0, &["archived as"]);
    said(&env.run(&["session", "reset", "x", "-y"]), 0, &["without an archive"]);
    let both = env.run(&["session", "reset", "x", "--keep-archives", "--no-archive"]);
    said(&both, 2, &["cannot be used with"]);
}

#[test]
fn settings_that_change_are_in_the_audit() {
    let env = Env::new();
    for arguments in [
        &["config", "set", "session.max_count", "7"][..],
        &["config", "set", "session.max_count", "8"],
        &["config", "unset", "session.max_count"],
        &["config", "unset", "session.max_count"],
    ] {
        said(&env.run(arguments), 0, &["session.max_count"]);
    }
    let events: Vec<_> = audit(&env);
    let changes: Vec<_> = events
        .iter()
        .map(|event| (&event.before["session.max_count"], &event.after["session.max_count"]))
        .collect();
    assert_eq!(
        changes,
        [(&Value::Null, &json!(7)), (&json!(7), &json!(8)), (&json!(8), &Value::Null)]
    );
    assert!(events.iter().all(|event| event.what.name() == "configure"));
    assert_eq!(events[0].who.command, "osm config set session.max_count 7");
}

/// A session that had to live in memory comes back by the very command that was printed.
#[test]
fn what_was_rescued_comes_back_as_told() {
    let env = Env::new();
    let home = env.path().to_owned();
    let temporary = tempfile::tempdir().unwrap();
    std::fs::write(home.join("sessions"), "in the way").unwrap();
    let (clock, me): (osm_store::Clock, _) = (Arc::new(Timestamp::now), holder(1, "a mode"));
    for mended in [false, true] {
        let home = home.clone();
        let opener = Arc::new(move || open_store(&home));
        let opened = fallback::open(opener, None, &me, &clock, &id("x"), Wait::NONE);
        let (mut session, fallback) = opened.unwrap();
        session.set(Key::parse("k"), json!(mended)).unwrap();
        session.record("test", "set k").unwrap();
        if mended {
            std::fs::remove_file(env.path().join("sessions")).unwrap();
        }
        let rescued = fallback.unwrap().rescue(&session, temporary.path()).unwrap().unwrap();
        let words = match &rescued {
            Rescued::Archive(name) => ["session".into(), "restore".into(), name.clone()],
            Rescued::File(path) => ["session".into(), "import".into(), path.display().to_string()],
        };
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        assert_eq!(words[1], if mended { "restore" } else { "import" });
        if !mended {
            said(&env.run(&words), 1, &["sessions: is a file, not a folder"]);
            std::fs::remove_file(env.path().join("sessions")).unwrap();
        }
        said(&env.run(&words), 0, &["ex--x_2d"]);
        assert_eq!(value(&env, "x"), mended);
        if !mended {
            std::fs::remove_dir_all(env.path().join("sessions")).unwrap();
            std::fs::write(env.path().join("sessions"), "in the way").unwrap();
        }
    }
}

#[test]
fn a_damaged_session_is_reset() {
    let env = Env::new();
    drop(opened(&env, "x"));
    let document = env.path().join("sessions").join(format!("{}.session.json", id("x")));
    std::fs::write(&document, "{\"version\"").unwrap();
    for command in ["info", "history", "export"] {
        let run = env.run(&["session", command, "x"]);
        said(
            &run,
            1,
            &["is damaged", "hint: `osm session reset` quarantines it and starts an empty session"],
        );
        assert!(!env.path().join("sessions/quarantine").exists(), "nothing is there yet");
    }
    said(&env.run(&["session", "import", document.to_str().unwrap()]), 1, &["nothing was changed"]);
    let run = env.run(&["session", "reset", "x"]);
    said(
        &run,
        0,
        &[
            "reset select-horizon (ex--x_2d)\n",
            "the session was damaged; the damaged file is quarantine/ex--x_2d--corrupt",
        ],
    );
    assert_eq!(value(&env, "x"), Value::Null);
    let name = run.stdout.trim().rsplit_once('/').unwrap().1;
    let aside = env.path().join("sessions/quarantine").join(name);
    assert_eq!(std::fs::read_to_string(aside).unwrap(), "{\"version\"");
    let shown = env.run(&["session", "diff", name, "x"]);
    said(&shown, 1, &["is damaged", "the file is not changed"]);
}

#[test]
fn archives_of_every_kind_are_compared() {
    let env = Env::new();
    drop(opened(&env, "x"));
    said(&env.run(&["session", "delete", "-y", "x"]), 0, &[]);
    drop(opened(&env, "y"));
    let archives = env.run(&["session", "archives", "--json"]);
    let rows: Vec<Value> = serde_json::from_str(&archives.stdout).unwrap();
    assert_eq!(rows[0]["kind"], "trash");
    let name = rows[0]["name"].as_str().unwrap();
    said(&env.run(&["session", "diff", name, "y"]), 0, &["No difference"]);
    said(&env.run(&["session", "diff", "no.session.json", "y"]), 4, &["not found"]);
}

#[test]
fn names_that_lead_elsewhere_lead_nowhere() {
    let env = Env::new();
    drop(opened(&env, "x"));
    let outside = env.path().join("outside.session.json");
    std::fs::write(&outside, "{}").unwrap();
    for name in ["../outside", "../../outside.session.json", "/etc/passwd", "..", "a/../x", "\\x"] {
        for command in ["info", "history", "export", "reset"] {
            said(
                &env.run(&["session", command, name]),
                4,
                &["not found", "see `osm session list`"],
            );
        }
        said(&env.run(&["session", "delete", "-y", name]), 4, &["not found", "see `osm session "]);
        said(&env.run(&["session", "restore", name]), 4, &["not found"]);
    }
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "{}");
    assert_eq!(value(&env, "x"), "old");
}

#[test]
fn files_that_are_no_sessions_are_not_taken_in() {
    let env = Env::new();
    let file = env.path().join("file");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (text, reason) in [
        ("", "damaged"),
        ("{", "damaged"),
        ("[]", "damaged"),
        ("\u{0}", "damaged"),
        (&deep, "damaged"),
        ("{\"version\":\"1.0.0\",\"version\":\"1.0.0\"}", "damaged"),
        ("{\"version\":\"1.0.0\",\"session_id\":7}", "damaged"),
        ("{\"export\":\"77\"}", "damaged"),
        ("{\"version\":\"77.0.0\",\"session_id\":\"ex--x_2d\"}", "newer than this osm"),
    ] {
        std::fs::write(&file, text).unwrap();
        let run = env.run(&["session", "import", file.to_str().unwrap()]);
        said(&run, 1, &["$OSM_HOME/file", reason]);
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    }
    std::fs::File::create(&file).unwrap().set_len(1 << 30).unwrap();
    let run = env.run(&["session", "import", file.to_str().unwrap()]);
    said(&run, 1, &["$OSM_HOME/file", "larger than"]);
    let run = env.run(&["session", "import", env.path().to_str().unwrap()]);
    said(&run, 1, &["not a file"]);
    assert!(!env.path().join("sessions").exists(), "nothing was made");
}

#[test]
fn every_id_that_is_listed_is_found() {
    let env = Env::new();
    let file = env.path().join("file");
    let document = |id: &str| {
        format!(
            r#"{{"version":"1.0.0","session_id":"{id}","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","shared_state":{{}},"script_state":{{}},"history":[]}}"#
        )
    };
    // As osm prints it, and two that it never prints: they become what naming them gives.
    for (id, imported) in [
        ("ex--good_77", None),
        ("ex--evil_00", Some("ex--evil_00_7a")),
        ("anchor--not-a-hash", Some("anchor--not-a-hash_")),
    ] {
        std::fs::write(&file, document(id)).unwrap();
        let run = env.run(&["session", "import", "-y", file.to_str().unwrap()]);
        said(&run, 0, &[&format!("({}", imported.unwrap_or(id))]);
    }
    // A file that no osm of today makes.
    let stray = env.path().join("sessions/ex--stray_00.session.json");
    std::fs::write(&stray, document("ex--stray_00")).unwrap();
    let listed: Value =
        serde_json::from_str(&env.run(&["session", "list", "--format", "json"]).stdout).unwrap();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 3, "{listed:#?}");
    for session in listed {
        said(&env.run(&["session", "info", session["id"].as_str().unwrap()]), 0, &[]);
    }
    said(&env.run(&["session", "import", "-y", stray.to_str().unwrap()]), 0, &["ex--stray_00_"]);
    said(&env.run(&["session", "info", "ex--stray_00"]), 0, &["ex--stray_00_"]);
}

#[test]
fn a_store_without_files_has_no_paths() {
    let env = Env::new();
    drop(opened(&env, "x"));
    for arguments in [&["session", "path", "--folder"][..], &["session", "path", "x"]] {
        said(&env.run(arguments), 0, &["$OSM_HOME/sessions"]);
        let memory = [arguments, &["--store", "memory"]].concat();
        said(&env.run(&memory), 1, &["sessions of this store are not files", "--store fs"]);
    }
}

/// An import, and a document that was edited: nothing in them controls the terminal.
#[test]
fn nothing_in_a_document_reaches_the_terminal_as_it_is() {
    let env = Env::new();
    let hostile = r"\u001b]0;owned\u0007\u001b[2J";
    let document = format!(
        r#"{{"export":"1.0.0","session_id":"ex--x_2d","created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","origin":{{"source":"s{hostile}","agent":"a{hostile}","host":"h{hostile}"}},"last_used":{{"branch":"b{hostile}","folder":"f{hostile}"}},"shared_state":{{"k{hostile}":"v{hostile}"}},"script_state":{{}},"history":[]}}"#
    );
    let file = env.path().join("export.json");
    std::fs::write(&file, document).unwrap();
    let imported = env.run(&["session", "import", file.to_str().unwrap()]);
    said(&imported, 0, &["imported"]);
    for arguments in [
        &["session", "list"][..],
        &["session"],
        &["session", "info", "x"],
        &["session", "history", "x"],
        &["session", "diff", "x@1", "x"],
    ] {
        let run = env.run(arguments);
        assert_eq!(run.code, Some(0), "{}", run.transcript());
        let control = |c: char| c.is_control() && c != '\n';
        assert!(!run.stdout.contains(control), "{:?}", run.stdout);
    }
    let list = env.run(&["session", "list", "--json"]);
    let rows: Value = serde_json::from_str(&list.stdout).unwrap();
    assert_eq!(rows[0]["agent"], "a\u{1b}]0;owned\u{7}\u{1b}[2J", "programs get the exact text");
}

#[test]
fn one_is_not_a_plural() {
    let env = Env::new();
    drop(opened(&env, "x"));
    let info = env.run(&["session", "info", "x"]);
    said(&info, 0, &["), once\n", "Last commands (1 kept)"]);
    assert!(!info.stdout.contains("1 times"), "{}", info.stdout);
}

#[test]
fn a_time_ahead_is_told_as_such() {
    let env = Env::new();
    drop(opened(&env, "x"));
    let path = env.path().join("sessions").join("ex--x_2d.session.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let created = document["created_at"].as_str().unwrap();
    std::fs::write(&path, text.replacen(created, "2999-01-01T00:00:00Z", 1)).unwrap();
    let info = env.run(&["session", "info", "x"]);
    said(&info, 0, &["created  2999-01-01T00:00:00Z (in "]);
    assert!(!info.stdout.contains("future"), "{}", info.stdout);
}

#[test]
fn errors_are_json_for_programs() {
    let env = Env::new();
    drop(opened(&env, "x"));
    for (arguments, code, reason) in [
        (&["session", "info", "nothing", "--json"][..], 4, "session_not_found"),
        (&["session", "history", "nothing", "--json"], 4, "session_not_found"),
        (&["session", "diff", "no.session.json", "--json"], 4, "archive_not_found"),
        (&["session", "purge", "--json"], 5, "cannot_ask"),
    ] {
        let run = env.run(arguments);
        assert_eq!(run.code, Some(code), "{}", run.transcript());
        let error: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(error["reason"], reason);
        assert!(error["hints"].as_array().is_some_and(|hints| !hints.is_empty()));
    }
}

#[test]
fn sessions_are_named_by_handles_and_prefixes_and_never_made_by_mistake() {
    let env = Env::new();
    for name in ["build", "build-2", "review"] {
        drop(opened(&env, name));
    }
    let listed: Value =
        serde_json::from_str(&env.run(&["session", "list", "--json"]).stdout).unwrap();
    for session in listed.as_array().unwrap() {
        let (id, handle) = (session["id"].as_str().unwrap(), session["handle"].as_str().unwrap());
        for name in [id, handle, &id[..id.len() - 1]] {
            said(&env.run(&["session", "info", name]), 0, &[id, handle]);
        }
    }
    let files = || std::fs::read_dir(env.path().join("sessions")).unwrap().count();
    let before = files();
    for command in ["info", "path", "history", "export", "reset", "diff", "delete"] {
        let ambiguous = ["means 2 sessions", "ex--build_44", "ex--build-2_", "give more of the id"];
        said(&env.run(&["session", command, "ex--bu"]), 2, &ambiguous);
        let unknown = ["session \"biuld\" not found", "did you mean", "ex--build_44"];
        said(&env.run(&["session", command, "biuld"]), 4, &unknown);
    }
    assert_eq!(files(), before, "nothing was made");
    let error = env.run(&["session", "info", "--json", "biuld"]).stdout;
    let error: Value = serde_json::from_str(&error).unwrap();
    assert_eq!(error["reason"], "session_not_found", "{error}");
}
