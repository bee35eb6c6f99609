//! Sandboxes in which nothing identifies a session, or nothing that lasts: osm says so.
#![expect(clippy::unwrap_used, reason = "in a test, the panic is the report")]

use std::process::Command;

use osm_testkit::{tools, trials};

const OSM: &str = env!("CARGO_BIN_EXE_osm");

/// A first process of a pid namespace, whose own table it is.
const CONTAINER: [&str; 4] = ["--pid", "--fork", "--mount-proc", "--kill-child"];

/// What `osm` prints below `unshare`: the id and the messages.
fn below(options: &[&str], command: &[&str]) -> (String, String) {
    trials::need(tools::root());
    let folder = tempfile::tempdir().unwrap();
    let mut program = Command::new("unshare");
    program.args(options).args(command).env_clear().env("OSM_HOME", folder.path());
    let output = program.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap().trim_end().to_owned();
    (text(output.stdout), text(output.stderr))
}

#[test]
fn one_command_of_a_sandbox_is_warned_of() {
    let script = format!("{OSM} session id; true");
    let (id, messages) = below(&CONTAINER, &["sh", "-c", &script]);
    assert!(id.starts_with("anchor--"), "{id}");
    assert_eq!(
        messages,
        "osm: warning: osm sees only the command of this sandbox: the id changes with every command\n\
         osm: hint: set OSM_SESSION, or see why with `osm session id --explain`"
    );
    let script = format!("{OSM} session id --json; true");
    let (report, messages) = below(&CONTAINER, &["sh", "-c", &script]);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!((&report["confidence"], messages.as_str()), (&"one-command".into(), ""));
}

#[test]
fn one_command_of_a_sandbox_without_a_shell_is_warned_of() {
    for sandbox in [
        &["bwrap", "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc"][..],
        &["firejail", "--quiet", "--noprofile"],
    ] {
        trials::need(tools::root().and_then(|()| tools::program(sandbox[0])));
        let folder = tempfile::tempdir().unwrap();
        let mut program = Command::new(sandbox[0]);
        program.args(&sandbox[1..]).args([OSM, "session", "id"]).env_clear();
        program.env("PATH", "/usr/bin:/bin").env("OSM_HOME", folder.path());
        let output = program.output().unwrap();
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(messages.contains("changes with every command"), "{sandbox:?}: {messages}");
    }
}

#[test]
fn a_table_without_this_process_tells_nothing() {
    // The processes of another namespace, under numbers that mean others here.
    let script = format!(
        "unshare --pid --fork --mount-proc --kill-child sleep 100 >/dev/null 2>&1 & \
         until C=$(pgrep -P $! sleep); do sleep 0.05; done; \
         for i in $(seq 20); do nsenter -t $C --mount {OSM} session id; done; kill -9 $!"
    );
    let (ids, messages) = below(&["--mount"], &["sh", "-c", &script]);
    assert_eq!(ids.lines().filter(|id| id.starts_with("uuid--")).count(), 20, "{ids}");
    assert_eq!(messages.lines().filter(|line| line.contains("is random")).count(), 20);
    let script = script.replace("session id", "session id --explain").replace("seq 20", "seq 1");
    let (shown, _) = below(&["--mount"], &["sh", "-c", &script]);
    assert!(shown.contains("the process table is that of another pid namespace"), "{shown}");
}

#[test]
fn claims_of_a_command_need_its_own_process_table() {
    let script = format!("cd $OSM_HOME; {OSM} claim run work --scope x -- true; echo $?");
    let (code, messages) = below(&["--pid", "--fork"], &["sh", "-c", &script]);
    assert_ne!(code, "0", "{messages}");
    assert!(messages.contains("another pid namespace"), "{messages}");
}

#[test]
fn an_agent_outside_of_a_sandbox_is_not_confirmed_by_its_first_process() {
    trials::need(tools::root().and_then(|()| tools::program("bwrap")));
    let folder = tempfile::tempdir().unwrap();
    let script = format!("{OSM} session id --json; true");
    let mut sandbox = Command::new("bwrap");
    sandbox.args(["--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "sh", "-c", &script]);
    sandbox.env_clear().env("PATH", "/usr/bin:/bin").env("OSM_HOME", folder.path());
    let output = sandbox.env("CLAUDE_CODE_SESSION_ID", "abc").env("CLAUDECODE", "1").output();
    let report: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    assert_eq!(
        (&report["source"], &report["confidence"]),
        (&"agent-conversation".into(), &"unconfirmed".into()),
        "{report}"
    );
}
