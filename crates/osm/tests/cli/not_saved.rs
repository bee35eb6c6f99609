//! What was asked for is saved where it belongs, or the run fails and says so: on a home that cannot be
//! written, behind a link, and when a disk fails at any moment.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use osm_testkit::stops::{FolderBy, Stops, copy_folder};
use osm_testkit::{tools, trials};
use serde_json::Value;

use crate::harness::Env;

const PROGRAM: &str = env!("CARGO_BIN_EXE_osm");

/// A command that saves something, and how to see that it did.
struct Change {
    arguments: &'static [&'static str],
    /// Shows what was saved.
    look: &'static [&'static str],
    /// Whether the output of that says so.
    is_saved: fn(&str) -> bool,
    /// Whether the command can answer in JSON.
    json: bool,
}

const CHANGES: &[Change] = &[
    Change {
        arguments: &["code-review", "-c", "note precious"],
        look: &["session", "export"],
        is_saved: |text| text.contains("\"precious\""),
        json: false,
    },
    Change {
        arguments: &["session", "reset", "-y"],
        look: &["session", "export"],
        is_saved: |text| !text.contains("\"before\""),
        json: false,
    },
    Change {
        arguments: &["claim", "TASK", "--scope", "x"],
        look: &["claims", "--scope", "x", "--json"],
        is_saved: |text| text.contains("\"TASK\""),
        json: true,
    },
    Change {
        arguments: &["config", "set", "session.max_count", "7"],
        look: &["config", "get", "session.max_count"],
        is_saved: |text| text == "7\n",
        json: true,
    },
    Change {
        arguments: &["goal", "new", "mine"],
        look: &["goal", "show", "mine"],
        is_saved: |text| text.starts_with("mine: "),
        json: true,
    },
    Change {
        // Any file can be trusted.
        arguments: &["trust", env!("CARGO_MANIFEST_PATH")],
        look: &["trust", "list"],
        is_saved: |text| text.contains("Cargo.toml"),
        json: true,
    },
];

/// SQLite syncs the folder of its log once in a process, and passes over a failure. The log is there since
/// the ledger was made.
const FOLDER_OF_LOG: &str = "fdatasync:error=EIO:when=2";

/// A home in which a session has something already.
fn used_home() -> Env {
    let env = Env::new().with("OSM_SESSION", "s");
    // What a cleanup records is not what was asked for.
    env.config("session.auto_cleanup_enabled = false\n");
    assert_eq!(env.run(&["code-review", "-c", "note before"]).code, Some(0));
    assert_eq!(env.run(&["claim", "FIRST", "--scope", "x"]).code, Some(0));
    env
}

/// A run without the environment of the test, besides its home.
fn osm(words: &[&str], home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(words.first().unwrap_or(&PROGRAM));
    command.args(words.iter().skip(1));
    if !words.is_empty() {
        command.arg(PROGRAM);
    }
    command.args(arguments).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command.env("OSM_HOME", home).env("OSM_SESSION", "s").output().unwrap()
}

fn said(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{:?}\n{}{}", output.status, text(&output.stdout), text(&output.stderr))
}

fn is_saved(change: &Change, words: &[&str], home: &Path) -> bool {
    let looked = osm(words, home, change.look);
    looked.status.success() && (change.is_saved)(&String::from_utf8(looked.stdout).unwrap())
}

/// A refusal names the folder that must be allowed, for people and for programs.
fn check_refused(change: &Change, home: &Path, words: &[&str], system: &str) {
    let output = osm(words, home, change.arguments);
    let text = said(&output);
    let is_mode = change.arguments[0] == "code-review";
    assert_eq!(output.status.code(), Some(if is_mode { 6 } else { 1 }), "{text}");
    let folder = home.display().to_string();
    if !is_mode {
        assert!(text.contains(&format!("cannot write to osm's folder {folder}: ")), "{text}");
    }
    assert!(text.contains(system), "{text}");
    assert!(text.contains(&format!("allow writing to {folder}; or set OSM_HOME")), "{text}");
    assert!(!is_saved(change, words, home), "{text}");
    if change.json {
        let output = osm(words, home, &[change.arguments, &["--json"]].concat());
        let report: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", said(&output)));
        assert_eq!(report["reason"], "home_not_writable", "{report}");
        assert_eq!((&report["exit"], &report["folder"]), (&1.into(), &folder.into()), "{report}");
    }
}

#[test]
fn on_a_read_only_file_system() {
    trials::need(tools::root());
    trials::need(tools::program("unshare"));
    for change in CHANGES {
        let env = used_home();
        let home = env.path().display().to_string();
        let mount = format!("mount --bind {home} {home} && mount -o remount,bind,ro {home}");
        let script = format!("{mount} && exec \"$0\" \"$@\"");
        let words = ["unshare", "--mount", "--propagation", "private", "sh", "-c", &script];
        check_refused(change, env.path(), &words, "ead-only file");
    }
}

/// A folder of the user's that the user may not write, and a home that cannot even be created.
#[test]
fn without_permission() {
    use std::os::unix::fs::{PermissionsExt, chown};

    const NOBODY: u32 = 65534;

    trials::need(tools::root());
    trials::need(tools::program("setpriv"));
    let words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    for change in CHANGES.iter().filter(|it| it.arguments[1] != "reset") {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(&folder, PermissionsExt::from_mode(0o755)).unwrap();
        for name in ["home", "locked"] {
            let path = folder.path().join(name);
            std::fs::create_dir(&path).unwrap();
            chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o555)).unwrap();
        }
        check_refused(change, &folder.path().join("home"), &words, "ermission denied");
        check_refused(change, &folder.path().join("locked/new"), &words, "ermission denied");
    }
}

/// A sandbox of macOS, and some of Linux, say that the operation is not permitted.
#[test]
fn not_permitted() {
    trials::need(tools::program("strace"));
    // The store opens its files in an open folder.
    let files = ["sessions", "sessions", "claims.mark", "config.lock", "goals/mine.prompt.md"];
    let files = files.into_iter().chain(["config.lock"]);
    for (change, file) in CHANGES.iter().zip(files) {
        let env = used_home();
        std::fs::create_dir(env.path().join("goals")).unwrap();
        let path = env.path().join(file).display().to_string();
        let words = ["strace", "-f", "-qq", "-o", "/dev/null", "-P", &path, "-e"];
        let words = [&words[..], &["inject=openat,openat2:error=EPERM"]].concat();
        check_refused(change, env.path(), &words, "peration not permitted");
    }
}

#[test]
fn behind_a_link() {
    let env = Env::new().with("OSM_SESSION", "s");
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(&elsewhere, env.path().join("sessions")).unwrap();
    for change in &CHANGES[..2] {
        let run = env.run(change.arguments);
        let code = if change.arguments[0] == "code-review" { 6 } else { 1 };
        assert_eq!(run.code, Some(code), "{}", run.transcript());
        assert!(run.stderr.contains("is a symbolic link"), "{}", run.transcript());
    }
    let claims = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(claims.path().join("c"), env.path().join("claims.db")).unwrap();
    let run = env.run(&["claim", "TASK", "--scope", "x"]);
    assert_eq!(run.code, Some(1), "{}", run.transcript());
    assert!(run.stderr.contains("is a symbolic link"), "{}", run.transcript());
    for folder in [&elsewhere, &claims] {
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
    }
}

/// The disk fails at each call that writes, one after the other. A run that ends well has saved, and one
/// whose file or folder was not confirmed by the disk does not end well.
#[test]
fn when_the_disk_fails() {
    trials::need(tools::program("strace"));
    let scratch = tempfile::tempdir().unwrap();
    for change in CHANGES {
        let env = used_home();
        // Two names, so that a point is one of the copy's own.
        let fresh = |number: usize| -> PathBuf {
            let copy = scratch.path().join(format!("{}-{number}", change.arguments[0]));
            copy_folder(env.path(), &copy).unwrap();
            copy
        };
        let stops = Stops {
            launcher: Vec::new(),
            program: PROGRAM.into(),
            folder_by: FolderBy::Variable("OSM_HOME"),
            calls: "openat,openat2,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,linkat",
            log: scratch.path().join("log"),
        };
        let arguments = [&["--session", "s"], change.arguments].concat();
        let points = stops.points(&fresh(0), &arguments).unwrap();
        let points = points.iter().filter(|it| it.contains("error=EIO") && !it.starts_with("open"));
        let (mut failed, mut number) = (0, 0);
        for point in points {
            number += 1;
            let home = fresh(number);
            let output = stops.run(&home, &arguments, Some(point)).unwrap();
            let text = format!("{point}: {}", said(&output));
            if output.status.success() {
                assert!(is_saved(change, &[], &home), "{text}");
                let is_passed_over = point.contains("sync")
                    && (point != FOLDER_OF_LOG || change.arguments[0] != "claim");
                assert!(!is_passed_over, "a sync failed, and was passed over: {text}");
            } else {
                failed += 1;
            }
        }
        assert!(failed > 1, "{:?}: {failed} of {number}", change.arguments);
    }
}

#[test]
fn a_bad_store_is_refused_wherever_it_is_named() {
    for command in [&["session", "list"][..], &["claims"], &["code-review", "-c", "list"]] {
        let flag = Env::new().run(&[&["--store", "disk"], command].concat());
        let variable = Env::new().with("OSM_STORE", "disk").run(command);
        assert_eq!(flag.code, Some(2), "{}", flag.transcript());
        assert_eq!(flag.transcript(), variable.transcript());
        assert!(flag.stderr.contains("unknown store \"disk\""), "{}", flag.transcript());
    }
    let flag = Env::new().run(&["--store", "disk", "claims", "--json"]);
    let variable = Env::new().with("OSM_STORE", "disk").run(&["claims", "--json"]);
    assert_eq!(flag.transcript(), variable.transcript());
    let report: Value = serde_json::from_str(&variable.stdout).unwrap();
    assert_eq!((&report["reason"], &report["exit"]), (&"unknown_store".into(), &2.into()));
}
