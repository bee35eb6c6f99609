//! Wrong command lines, and output that cannot be written.

use std::process::Stdio;

use insta::assert_snapshot;

use crate::harness::Env;

#[test]
fn wrong_command_lines() {
    let env = Env::new();
    assert_snapshot!(env.run(&["sesion"]).transcript(), @"
    --- stderr
    error: unrecognized subcommand 'sesion'

      tip: some similar subcommands exist: 'version', 'session'

    Usage: osm [OPTIONS] [COMMAND]

    For more information, try '--help'.
    --- exit Some(2)
    ");
    assert_snapshot!(env.run(&["session", "id", "extra"]).transcript(), @"
    --- stderr
    error: unexpected argument 'extra' found

    Usage: osm session id [OPTIONS]

    For more information, try '--help'.
    --- exit Some(2)
    ");
    assert_snapshot!(env.run(&["session", "id", "--session"]).transcript(), @"
    --- stderr
    error: a value is required for '--session <ID>' but none was supplied

    For more information, try '--help'.
    --- exit Some(2)
    ");
    assert_snapshot!(env.run(&["session", "id", "--json", "--explain"]).transcript(), @r#"
    {
      "reason": "usage",
      "exit": 2,
      "message": "the argument '--json' cannot be used with '--explain'",
      "hints": []
    }
    --- exit Some(2)
    "#);
    assert_snapshot!(env.run(&["completion", "tcsh"]).transcript(), @"
    --- stderr
    error: invalid value 'tcsh' for '<SHELL>'
      [possible values: bash, elvish, fish, nushell, powershell, zsh]

      tip: a similar value exists: 'zsh'

    For more information, try '--help'.
    --- exit Some(2)
    ");
}

#[test]
fn the_version() {
    assert_snapshot!(Env::new().run(&["--version"]).transcript(), @"osm 0.1.0");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let env = Env::new();
    let mut child = env
        .command(&["completion", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one() {
    let env = Env::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = env.command(&["session", "id"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_snapshot!(String::from_utf8(output.stderr).unwrap(), @"osm: error: cannot write the output: No space left on device (os error 28)");
}

#[test]
fn colours_only_for_terminals() {
    for arguments in [&["whoami"][..], &["session", "id", "--explain"], &["--help"]] {
        let run = Env::new().run(arguments);
        assert!(!run.stdout.contains('\x1b'), "{}", run.stdout);
    }
}

#[cfg(unix)]
#[test]
fn a_file_name_cannot_pretend_to_be_a_message() {
    let env = Env::new();
    let name = "notes\nosm: error: your disk is full\u{1b}[2J\u{202e}";
    let run = env.run(&["session", "import", name]);
    assert!(!run.stderr.contains("\nosm: error: your disk"), "{}", run.stderr);
    assert!(
        run.stderr.contains("\n  osm: error: your disk is full\\u{1b}[2J\\u{202e}"),
        "{}",
        run.stderr
    );
}

#[test]
fn an_argument_cannot_control_the_terminal() {
    let hostile = "\u{1b}]0;x\u{7}\u{9b}2J\u{202e}\u{7f}";
    let option = format!("--{hostile}");
    for arguments in [&[hostile][..], &["session", hostile], &["session", "list", &option]] {
        let run = Env::new().run(arguments);
        assert_eq!(run.code, Some(2), "{}", run.transcript());
        let shown = run.stdout + &run.stderr;
        assert!(shown.contains(r"\u{202e}"), "{shown:?}");
        assert!(
            !shown.contains(|c: char| c != '\n' && (c.is_control() || c == '\u{202e}')),
            "{shown:?}"
        );
    }
}

#[cfg(unix)]
#[test]
fn json_has_paths_that_are_no_text() {
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join(std::ffi::OsStr::from_bytes(b"h\xff"));
    std::fs::create_dir_all(home.join("goals")).unwrap();
    std::fs::write(home.join("goals/broken.json"), "{").unwrap();
    std::fs::write(home.join("config.toml"), "session.max_count = 7\n").unwrap();
    std::fs::write(home.join("script.js"), "1").unwrap();
    for line in [
        "goal new mine",
        "goal list",
        "goal paths",
        "goal show mine",
        "config list",
        "config get session.max_count",
        "config validate",
        "config unset session.max_count",
        "session list",
        "trust list",
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_osm"));
        command.args(line.split(' ')).arg("--json").env_clear().env("OSM_HOME", &home);
        let output = command.env("OSM_SESSION", "test").current_dir(&home).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {said}");
        let json = serde_json::from_slice::<serde_json::Value>(&output.stdout);
        assert!(json.is_ok(), "{line}: {}", String::from_utf8_lossy(&output.stdout));
    }
    // A record of trust would name another file.
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_osm"));
    command.args(["trust", "script.js"]).env_clear().env("OSM_HOME", &home);
    let output = command.current_dir(&home).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("its path is not UTF-8"), "{said}");
}
