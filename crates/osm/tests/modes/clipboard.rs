//! The clipboard, where there is one and where there is none.
#![cfg(unix)]

use std::os::unix::fs::MetadataExt;

use osm_testkit::{tools, trials};

use crate::harness::Env;

#[test]
fn a_command_of_the_users() {
    let env =
        Env::new().with("OSM_CLIPBOARD", "cat > taken").with("OSM_CLIPBOARD_PASTE", "cat taken");
    assert_eq!(env.probe(&["clip one two", "clap"]).good(), "copied\none two\nbye\n");
    assert_eq!(std::fs::read_to_string(env.work().join("taken")).unwrap(), "one two");
}

#[test]
fn its_failure_is_not_covered_up() {
    let env = Env::new().with("OSM_CLIPBOARD", "exit 3").with("DISPLAY", ":77");
    let run = env.probe(&["clip x"]);
    run.said(
        1,
        &["cannot copy to the clipboard (OSM_CLIPBOARD: exit code 3); saved to LAB/home/prompts/"],
    );
}

#[test]
fn without_a_clipboard_the_text_is_kept() {
    let env = Env::new();
    let run = env.probe(&["clip precious", "clap"]);
    run.said(1, &["cannot copy to the clipboard", "set OSM_CLIPBOARD", "set OSM_CLIPBOARD_PASTE"]);
    let folder = env.home().join("prompts");
    let file = std::fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "precious");
    let mode = |path: &std::path::Path| path.metadata().unwrap().mode() & 0o7777;
    assert_eq!((mode(&file), mode(&folder)), (0o600, 0o700));
}

/// The file and its name are on disk before osm says where it is.
#[test]
#[cfg(target_os = "linux")]
fn what_is_kept_is_synced() {
    trials::need(tools::program("strace"));
    let env = Env::new();
    let probe = crate::harness::probe();
    let trace = env.temporary().join("trace");
    let inner = env.command(&["script", "-i", "-c", "clip precious", probe.to_str().unwrap()]);
    let mut strace = std::process::Command::new("strace");
    strace.args(["-f", "-y", "-e", "trace=fsync", "-o"]).arg(&trace);
    strace.arg(inner.get_program()).args(inner.get_args()).current_dir(env.work()).env_clear();
    strace.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    strace.output().unwrap();
    let trace = std::fs::read_to_string(&trace).unwrap();
    let synced =
        |end: &str| trace.lines().any(|line| line.contains("fsync(") && line.contains(end));
    assert!(synced(".md>) = 0") && synced("/home/prompts>) = 0"), "{trace}");
}

/// A local terminal without a clipboard tool gets the text by OSC 52, and the user is told.
#[test]
#[cfg(target_os = "linux")]
fn a_local_terminal_without_a_tool_is_asked() {
    use osm_testkit::terminal::Terminal;

    let env = Env::new();
    let inner = env.command(&["code-review", "--no-tokens", "-c", "note precious", "-c", "copy"]);
    let words: Vec<String> = std::iter::once(inner.get_program())
        .chain(inner.get_args())
        .map(|word| word.to_str().unwrap().to_owned())
        .collect();
    let on = |term: &str, display: bool| {
        let own = |name: &std::ffi::OsStr| name.to_str().unwrap().to_owned();
        let variables = inner.get_envs().filter(|(name, _)| *name != "PATH");
        let mut variables: Vec<(String, String)> =
            variables.filter_map(|(name, value)| Some((own(name), own(value?)))).collect();
        variables.push(("PATH".to_owned(), "/nowhere".to_owned()));
        variables.push(("TERM".to_owned(), term.to_owned()));
        // There is a display, and no tool for it.
        variables.extend(display.then(|| ("DISPLAY".to_owned(), ":77".to_owned())));
        let terminal = Terminal::start(&words, &variables, &env.work()).unwrap();
        String::from_utf8(terminal.finish().unwrap()).unwrap()
    };
    for seen in [on("xterm", false), on("xterm", true)] {
        let (_, sent) = seen.split_once("\x1b]52;c;").expect(&seen);
        let (encoded, _) = sent.split_once('\x07').expect(&seen);
        assert!(encoded.len() > 500, "the whole prompt: {seen}");
        assert!(seen.contains("Sent to the terminal's clipboard (OSC 52)"), "{seen}");
        assert!(seen.contains("Copied │"), "{seen}");
    }
    // A terminal that would show the sequence gets none.
    let seen = on("dumb", false);
    assert!(seen.contains("cannot copy to the clipboard (no clipboard found"), "{seen}");
    assert!(!seen.contains("\x1b]52"), "{seen}");
}
