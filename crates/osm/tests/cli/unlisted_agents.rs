//! A program that behaves like an agent and is not in the catalogue: osm shows the entry of the
//! configuration that makes it one, and the entry does.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::path::Path;
use std::process::Command;

use osm_testkit::{tools, trials};

const OSM: &str = env!("CARGO_BIN_EXE_osm");

/// What a script of python prints that runs `osm` as agents do.
fn robo(folder: &Path, arguments: &str) -> String {
    let agent = "import os, subprocess, sys
names = {'AI_AGENT': 'robo', 'ROBO_SESSION_ID': 'c1', 'ROBO_PID': str(os.getpid())}
subprocess.run(['sh', '-c', sys.argv[1] + '; true'], env=os.environ | names, start_new_session=True)
";
    let script = folder.join("robo.py");
    std::fs::write(&script, agent).unwrap();
    let mut command = Command::new("python3");
    command.arg(&script).arg(format!("{OSM} session id {arguments}")).env_clear();
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("OSM_HOME", folder);
    String::from_utf8(command.output().unwrap().stdout).unwrap()
}

#[test]
fn an_entry_for_the_configuration_is_shown_and_works() {
    trials::need(tools::program("python3"));
    let folder = tempfile::tempdir().unwrap();
    let shown = robo(folder.path(), "--explain");
    let (_, suggestion) = shown.split_once("robo.py (pid ").unwrap_or_else(|| panic!("{shown}"));
    let (behaviour, entry) = suggestion.split_once("prints:\n\n").unwrap();
    for what in ["runs single commands in shells", "a session of its own", "sets AI_AGENT=robo"] {
        assert!(behaviour.contains(what), "{what}: {shown}");
    }
    insta::assert_snapshot!(entry, @r#"
      [[identity.agents]]
      name = "robo"
      programs = ["robo.py"]
      session = ["ROBO_SESSION_ID"]
      owner = "ROBO_PID"
    "#);
    std::fs::write(folder.path().join("config.toml"), entry).unwrap();
    assert!(robo(folder.path(), "").starts_with("agent--robo_"));
    let shown = robo(folder.path(), "--explain");
    assert!(!shown.contains("behaves like"), "{shown}");
}
