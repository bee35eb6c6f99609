//! Commands from standard input and from the command line.

use crate::harness::Env;

#[test]
fn one_command_on_each_line() {
    let env = Env::new();
    let input =
        "# what is kept\nkeep a\r\n\n  keep 'b\nc'  \nkeep d\\\ne\nwords it's \"a b\" '' \\$\nshow";
    let expected =
        "kept a\nkept b\nc\nkept de\n[\"it's\",\"a b\",\"\",\"$\"]\nall: a, b\nc, de\nbye\n";
    assert_eq!(env.probe_reading(input, &[]).good(), expected);
}

#[test]
fn a_line_that_fails() {
    let env = Env::new();
    let run = env.probe_reading("keep a\nfail\nnothing\nshow\n", &[]);
    run.said(
        1,
        &[
            "osm: error: line 2: PROBE",
            "Error: it went wrong",
            "osm: error: line 3: unknown command",
        ],
    );
    assert!(run.stdout.ends_with("all: a\nbye\n"), "it goes on: {}", run.stdout);
    let run = env.probe_reading("fail\nshow\n", &["--fail-fast"]);
    run.said(1, &["osm: error: line 1: PROBE"]);
    assert_eq!(run.stdout, "seen: a\nbye\n", "it ends there");
    let run = env.probe(&["show", "fail", "show"]);
    run.said(1, &["osm: error: command 2: PROBE"]);
}

#[test]
fn a_comment_is_no_command() {
    assert_eq!(Env::new().probe(&["# keep a", "show"]).good(), "all: \nbye\n");
}

#[test]
fn a_quote_that_is_never_closed() {
    let env = Env::new();
    let run = env.probe(&["keep 'b", "show"]);
    run.said(1, &["command 1: unclosed quote: '"]);
    assert_eq!(run.stdout, "all: \nbye\n", "nothing was kept, and the next was run");
    let run = env.probe_reading("keep a\nkeep 'b\nshow\n", &[]);
    run.said(1, &["line 2: cannot read commands: unclosed quote: '"]);
    assert_eq!(run.stdout, "kept a\nbye\n");
}

#[test]
fn nothing_to_do() {
    let env = Env::new();
    assert_eq!(env.probe_reading("", &[]).good(), "bye\n");
    assert_eq!(env.probe_reading("\n# nothing\n", &[]).good(), "bye\n");
    let mut kept = env.home().join("sessions").read_dir().unwrap();
    let is_document = |path: std::path::PathBuf| path.extension().is_some_and(|it| it == "json");
    assert!(!kept.any(|it| is_document(it.unwrap().path())), "nothing was changed");
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let env = Env::new();
    let mut command = std::process::Command::new("sh");
    let script = format!(
        "{{ '{}' script -i -c 'js \"x\\n\".repeat(1000000)' -c 'keep on' '{}'; echo $? >&2; }} | head -n 1",
        crate::harness::PROGRAM,
        crate::harness::probe().display()
    );
    let output = command.args(["-c", &script]).env("OSM_HOME", env.home()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "0\n");
}
