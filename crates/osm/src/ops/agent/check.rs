//! `osm agent check`: two sessions race for a file, the winner is killed, and the other one gets it. A call of the
//! MCP server and a shell command of one conversation are one session.
//!
//! The sessions are real processes with the name of an agent, below which the same `osm agent hook` runs as
//! below the agent. They work in a repository and with a ledger of their own, in a temporary folder.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};

use super::AgentError;
use crate::World;

/// How long a session may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The name of the agent whose sessions are played.
const AGENT: &str = "claude";

/// What happened, step by step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// The steps.
    pub steps: Vec<CheckStep>,
    /// Whether all of them went as they should.
    pub ok: bool,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckStep {
    /// What was tried.
    pub what: &'static str,
    /// What came of it.
    pub result: String,
    /// Whether that is right.
    pub ok: bool,
}

/// The conversation whose server and shell are compared.
const CONVERSATION: &str = "check";

/// A session that edits the file once at its start, and once for each line that it is given.
struct Session {
    child: Child,
    stdin: ChildStdin,
}

impl Session {
    fn start(folder: &Path, program: &str, number: usize) -> std::io::Result<Self> {
        let payload = json!({
            "session_id": format!("check-{number}"),
            "cwd": folder.join("work"),
            "hook_event_name": "PreToolUse",
            "tool_name": "Write",
            "tool_input": { "file_path": folder.join("work/file.txt") },
        });
        fs::write(folder.join(format!("payload-{number}")), payload.to_string())?;
        // The answer gets its name when it is complete.
        let script = "n=0; while :; do \"$1\" agent hook before-tool <\"$2/payload-$3\" >\"$2/new-$3\" && \
                      mv \"$2/new-$3\" \"$2/answer-$3-$n\"; n=$((n+1)); read -r _ || exit 0; done";
        let number = number.to_string();
        let mut child = agent(folder, script, program)
            .arg(&number)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let stdin = child.stdin.take().ok_or_else(|| std::io::Error::other("no standard input"))?;
        Ok(Self { child, stdin })
    }

    fn edit_again(&mut self) -> std::io::Result<()> {
        self.stdin.write_all(b"\n")
    }

    fn kill(&mut self) -> std::io::Result<()> {
        self.child.kill()?;
        self.child.wait().map(drop)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // It ends with its input in any case.
        drop(self.kill());
    }
}

/// A process with the name of the agent, which runs a script with the program and the folder as arguments.
fn agent(folder: &Path, script: &str, program: &str) -> Command {
    let mut command = Command::new(folder.join(AGENT));
    command
        .args(["-c", script, AGENT, program])
        .arg(folder)
        .current_dir(folder.join("work"))
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("OSM_HOME", folder.join("home"))
        .env("HOME", folder);
    command
}

/// The sessions of a shell command and of an MCP call of one conversation.
fn identities(folder: &Path, program: &str) -> std::io::Result<(String, String)> {
    let request = |id: u32, method: &str, params: Value| {
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string() + "\n"
    };
    let client = json!({ "name": "osm", "version": env!("CARGO_PKG_VERSION") });
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let requests =
        request(1, "initialize", hello) + &request(2, "tools/call", json!({ "name": "whoami" }));
    fs::write(folder.join("requests"), requests)?;
    let script = "\"$1\" session id; \"$1\" mcp <\"$2/requests\"; exit";
    let mut command = agent(folder, script, program);
    let output = command.env("CLAUDE_CODE_SESSION_ID", CONVERSATION).output()?;
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let shell = output.lines().next().unwrap_or_default().to_owned();
    let mut answers = output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let called = answers.find(|answer| answer["id"] == 2).unwrap_or_default();
    let id = &called["result"]["structuredContent"]["id"];
    Ok((shell, id.as_str().unwrap_or("no answer").to_owned()))
}

/// Plays the race.
pub fn check(world: &World) -> Result<Checked, AgentError> {
    let folder = tempfile::tempdir_in(world.temporary())
        .map_err(AgentError::io("create a folder in", &world.temporary()))?;
    let failed = AgentError::io("use", folder.path());
    play(folder.path(), world).map_err(failed)
}

fn play(folder: &Path, world: &World) -> std::io::Result<Checked> {
    let program =
        world.program().ok_or_else(|| std::io::Error::other("osm does not find itself"))?;
    // A repository, as far as osm looks at one.
    for name in ["home", "work/.git/objects", "work/.git/refs"] {
        fs::create_dir_all(folder.join(name))?;
    }
    fs::write(folder.join("work/.git/HEAD"), "ref: refs/heads/main\n")?;
    link("/bin/sh", &folder.join(AGENT))?;
    let mut sessions = [Session::start(folder, &program, 0)?, Session::start(folder, &program, 1)?];
    let answers = [answer(folder, 0, 0)?, answer(folder, 1, 0)?];
    let mut steps = Vec::new();
    let mut step = |what, result: String, ok| steps.push(CheckStep { what, result, ok });

    let winners: Vec<usize> = (0..2).filter(|it| answers[*it].is_none()).collect();
    let result = match winners.len() {
        1 => "one session has it".to_owned(),
        count => format!("{count} sessions have it"),
    };
    step("two sessions edit one file at the same time", result, winners.len() == 1);
    let winner = winners.first().copied().unwrap_or_default();
    let loser = 1 - winner;
    if let Some(why) = &answers[loser] {
        step("the other session reads why", why.clone(), why.contains("already claimed"));
    }
    sessions[winner].kill()?;
    let killed = Instant::now();
    sessions[loser].edit_again()?;
    let again = answer(folder, loser, 1)?;
    let time = format!("after {} ms", killed.elapsed().as_millis());
    let result = again.clone().unwrap_or_else(|| format!("the other session has the file {time}"));
    step("the first session is killed", result, again.is_none());
    let (shell, server) = identities(folder, &program)?;
    let is_one = !shell.is_empty() && shell == server;
    let result = if is_one { shell } else { format!("{shell} and {server}") };
    let mut step = |what, result: String, ok| steps.push(CheckStep { what, result, ok });
    step("a shell command and an MCP call are one session", result, is_one);
    let ok = steps.iter().all(|step| step.ok);
    Ok(Checked { steps, ok })
}

/// The refusal in the answer of a session; `None` if its edit may be made.
fn answer(folder: &Path, number: usize, turn: usize) -> std::io::Result<Option<String>> {
    let path = folder.join(format!("answer-{number}-{turn}"));
    let begin = Instant::now();
    while !path.exists() {
        if begin.elapsed() > PATIENCE {
            return Err(std::io::Error::other("a session did not answer within 10 seconds"));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let answer: Value = serde_json::from_slice(&fs::read(path)?).unwrap_or_default();
    let why = &answer["hookSpecificOutput"]["permissionDecisionReason"];
    Ok(why.as_str().map(str::to_owned))
}

#[cfg(unix)]
fn link(to: &str, path: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(to, path)
}

#[cfg(not(unix))]
fn link(_to: &str, _path: &Path) -> std::io::Result<()> {
    Err(std::io::Error::other("this check needs a POSIX shell"))
}
