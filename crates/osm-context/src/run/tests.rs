//! Commands that print too much, too long, or never.

use super::*;
use crate::Limits;
use std::sync::atomic::{AtomicBool, Ordering};

fn sh(script: &str, setting: &Setting) -> Result<Ran> {
    run(&["sh".into(), "-c".into(), script.into()], setting.folder, setting)
}

fn setting() -> Setting<'static> {
    Setting::new(Path::new("/"))
}

#[test]
fn both_streams_in_order_and_the_exit_code() {
    let ran = sh("echo one; echo two >&2; echo three; pwd; exit 3", &setting()).unwrap();
    assert_eq!(ran.output, "one\ntwo\nthree\n/\n");
    assert_eq!(ran.end, End::Exited(3));
    assert_eq!(sh("kill -9 $$", &setting()).unwrap().end, End::Killed);
}

#[test]
fn streams_are_kept_apart_for_a_parser() {
    let words = ["sh", "-c", r"echo one; echo two >&2; printf 'a\351'; exit 3"].map(str::to_owned);
    let ran = run_apart(&words, Path::new("/"), &setting()).unwrap();
    assert_eq!((ran.output.as_slice(), ran.beyond), (&b"one\na\xe9"[..], 0));
    assert_eq!((ran.errors.as_str(), ran.end), ("two\n", End::Exited(3)));
    assert!(matches!(run_apart(&[], Path::new("/"), &setting()), Err(Error::Start { .. })));
}

#[test]
fn there_is_no_input() {
    assert_eq!(sh("cat; echo done", &setting()).unwrap().output, "done\n");
}

#[test]
fn the_beginning_is_kept_and_the_rest_counted() {
    let limits = Limits { output: 5, ..Limits::default() };
    let setting = Setting { limits, ..setting() };
    let ran = sh("printf 'abcdé%01000000d' 7", &setting).unwrap();
    assert_eq!((ran.output.as_str(), ran.beyond, ran.replaced), ("abcd", 1_000_002, false));
    let ran = sh(r"printf 'a\351b'", &setting).unwrap();
    assert_eq!((ran.output.as_str(), ran.replaced), ("a\u{fffd}b", true));
}

#[test]
fn both_streams_full_do_not_block_each_other() {
    let script =
        "i=0; while [ $i -lt 3000 ]; do printf %0100d $i >&2; printf %0100d $i; i=$((i+1)); done";
    let mut command = Command::new("sh");
    command.args(["-c", script]);
    let captured = capture(command, Path::new("/"), Streams::Apart, 1 << 20, &setting()).unwrap();
    assert_eq!((captured.output.bytes.len(), captured.errors.bytes.len()), (300_000, 300_000));
}

#[test]
fn when_time_is_up_all_of_it_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    // The child of the command holds the pipe open. On a busy machine it may begin late.
    for time in [200, 2000, 20_000].map(Duration::from_millis) {
        let setting =
            Setting { limits: Limits { time, ..Limits::default() }, ..Setting::new(folder.path()) };
        let ran = sh("echo began; sh -c 'echo $$ > pid; exec sleep 1000'", &setting).unwrap();
        assert_eq!(ran.end, End::TimedOut);
        if std::fs::read_to_string(folder.path().join("pid")).is_ok_and(|it| it.ends_with('\n')) {
            assert_eq!(ran.output, "began\n");
            break;
        }
    }
    assert_is_gone(folder.path());
}

#[test]
fn an_interruption_stops_it() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    // Interrupted as soon as it runs, so no time has to be guessed.
    let interrupted = || std::fs::read_to_string(&pid).is_ok_and(|text| text.ends_with('\n'));
    let setting = Setting { interrupted: &interrupted, ..Setting::new(folder.path()) };
    let stopped = sh("sh -c 'echo $$ > pid; exec sleep 1000'; true", &setting);
    assert!(matches!(stopped, Err(Error::Interrupted)));
    assert_is_gone(folder.path());
    let never_started = AtomicBool::new(true);
    let interrupted = || never_started.load(Ordering::Relaxed);
    let setting = Setting { interrupted: &interrupted, ..setting };
    assert!(matches!(sh("touch started", &setting), Err(Error::Interrupted)));
    assert!(!folder.path().join("started").exists());
}

#[test]
fn what_is_left_in_the_background_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let setting = Setting::new(folder.path());
    let script = "sh -c 'echo $$ > pid; exec sleep 1000' & \
        while [ ! -s pid ]; do :; done; echo done";
    let ran = sh(script, &setting).unwrap();
    assert_eq!((ran.output.as_str(), ran.end), ("done\n", End::Exited(0)));
    assert_is_gone(folder.path());
}

#[test]
fn a_command_that_closes_its_streams_is_waited_for() {
    let ran = sh("exec >&- 2>&-; sleep 0.05; exit 7", &setting()).unwrap();
    assert_eq!((ran.output.as_str(), ran.end), ("", End::Exited(7)));
}

#[test]
fn what_cannot_be_started_is_told() {
    for command in [vec![], vec!["no-such-program".to_owned()], vec!["a\0b".to_owned()]] {
        let error = run(&command, Path::new("/"), &setting()).unwrap_err();
        assert!(matches!(error, Error::Start { .. }), "{error}");
    }
    let nowhere = run(&["true".to_owned()], Path::new("/no/such/folder"), &setting());
    assert!(matches!(nowhere, Err(Error::NotFound(_))));
}

/// The process that wrote its number there was killed. Its new parent may not have reaped it.
#[track_caller]
fn assert_is_gone(folder: &Path) {
    let pid = std::fs::read_to_string(folder.join("pid")).expect("it wrote its number");
    let stat = format!("/proc/{}/stat", pid.trim());
    let deadline = Instant::now() + Duration::from_secs(20);
    while let Ok(stat) = std::fs::read_to_string(&stat) {
        if stat.contains(") Z ") || stat.contains(") X ") {
            return;
        }
        assert!(Instant::now() < deadline, "it still lives: {stat}");
        std::thread::yield_now();
    }
}
