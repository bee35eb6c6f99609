//! Real agents with osm's hooks, driven by a scripted model: an edit of a held file is refused and the model
//! reads why, an edit of a free file claims it, and a dead agent's claim is free.
#![expect(clippy::unwrap_used, reason = "a file that cannot be read is a failed test")]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};

use osm_testkit::agents::{self, Agent, RealAgent, Run};
use osm_testkit::model::{ScriptedModel, call_tool, delegate, write_file};
use osm_testkit::tools::Skipped;
use osm_testkit::trials;
use serde_json::Value;

use super::site::Site;

/// An agent in a home with osm's hooks.
struct Stage {
    site: Rc<Site>,
    agent: RealAgent,
    model: ScriptedModel,
}

impl Stage {
    fn new(name: &str) -> Self {
        Self::of(name, Rc::new(Site::new()))
    }

    /// Another agent of the same user in the same repository.
    fn beside(&self, name: &str) -> Self {
        Self::of(name, Rc::clone(&self.site))
    }

    fn of(name: &str, site: Rc<Site>) -> Self {
        let agent = Agent::named(name).unwrap().installed(&agents::cache_dir());
        let agent = trials::need(agent.map_err(|missing| Skipped(missing.to_string())));
        let stage = Self { site, agent, model: ScriptedModel::start().unwrap() };
        // The agent's own settings come first: the first run writes them.
        stage.prepare(&[]);
        stage
    }

    /// How to start the agent with these steps. This writes the settings of the test kit again.
    fn prepare(&self, steps: &[String]) -> Command {
        let (work, path) = (self.site.work(), self.site.search_path());
        let run =
            Run { env: &[("PATH", path.as_str())], ..Run::new(&self.site.home, &work, steps) };
        let script = self.model.script(steps);
        self.agent.prepare(&self.model, &script, &run).unwrap().command()
    }

    /// Starts the agent. Its settings are then those of the test kit with osm's hooks.
    fn start(&self, steps: &[String]) -> Child {
        let mut command = self.prepare(steps);
        self.site.ok(&["agent", "install", self.agent.agent.name, "--trust", "-y"]);
        let log = fs::File::create(self.log()).unwrap();
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        command.spawn().unwrap()
    }

    /// Runs the agent to its end, and returns everything that it told the model.
    fn run(&self, steps: &[String]) -> String {
        let before = self.model.exchanges().len();
        let status = self.start(steps).wait().unwrap();
        let log = fs::read_to_string(self.log()).unwrap();
        assert!(status.success(), "{status}: {log}");
        let exchanges = self.model.exchanges();
        exchanges.into_iter().skip(before).map(|it| it.request + "\n").collect()
    }

    fn log(&self) -> std::path::PathBuf {
        self.site.path(&format!("{}.log", self.agent.agent.name))
    }

    /// Starts the agent, and waits until its command has made this file.
    fn start_until(&self, steps: &[String], marker: &Path) -> Child {
        let mut started = self.start(steps);
        let begin = Instant::now();
        while !marker.exists() {
            let log = fs::read_to_string(self.log()).unwrap();
            assert!(started.try_wait().unwrap().is_none(), "{log}");
            assert!(begin.elapsed() < agents::TIMEOUT, "{log}");
            std::thread::sleep(Duration::from_millis(20));
        }
        started
    }

    fn file(&self, name: &str) -> String {
        self.site.work().join(name).display().to_string()
    }

    /// The open claims, as another session sees them.
    fn claims(&self) -> Vec<Value> {
        let list = self.site.ok(&["claims", "--json", "--session", "observer"]);
        match serde_json::from_str(&list).unwrap() {
            Value::Array(claims) => claims,
            other => other["claims"].as_array().cloned().unwrap_or_default(),
        }
    }
}

/// What an agent's hooks and its MCP server do; pi has no MCP.
fn an_edit_of_a_held_file_is_refused(agent: &str) {
    let stage = Stage::new(agent);
    let has_servers = agent != "pi";
    stage.site.ok(&["claim", "path", "held.txt", "--note", "rewriting it", "--session", "holder"]);
    let (id, check) = (stage.file("id"), stage.file("check"));
    let look = format!("osm session id >{id}; osm claim check path:free.txt >{check}");
    let mut steps =
        vec![write_file(&stage.file("held.txt")), write_file(&stage.file("free.txt")), look];
    if has_servers {
        steps.push(call_tool("osm", "whoami"));
    }
    let told = stage.run(&steps);
    assert!(!stage.site.work().join("held.txt").exists(), "the edit was made: {told}");
    assert!(stage.site.work().join("free.txt").exists(), "the free file was not written: {told}");
    for part in ["already claimed", "rewriting it", "The edit was not made", "osm claim --wait 10m"]
    {
        assert!(told.contains(part), "the model did not read {part:?}: {told}");
    }
    // A task of Cline has no start that the model hears of.
    let is_primed = told.contains("You are session ");
    assert!(is_primed || agent == "cline", "the model was not told who it is: {told}");
    let check = fs::read_to_string(check).unwrap();
    assert!(check.contains("path:free.txt is yours"), "the hook claimed it for another: {told}");
    if has_servers {
        let id = fs::read_to_string(id).unwrap();
        let called = format!("\"id\":\"{}\"", id.trim());
        assert!(told.replace('\\', "").contains(&called), "no call was of {id}: {told}");
    }
    // The agent may have written its settings again meanwhile.
    stage.site.ok(&["agent", "remove", agent]);
    for (path, (_, content)) in stage.site.snapshot() {
        let is_settings = path.extension().is_some_and(|it| it == "json" || it == "toml");
        let text = String::from_utf8_lossy(&content);
        let ours = text.contains("osm agent hook") || text.contains("\"command\": \"osm\"");
        assert!(!(is_settings && ours), "{} still has it: {text}", path.display());
    }
}

fn a_free_file_is_claimed_until_the_agent_is_killed(agent: &str) {
    let stage = Stage::new(agent);
    let file = stage.file("a.txt");
    let marker = stage.file("marker");
    let wait = format!("touch {marker}; sleep 60");
    let mut first = stage.start_until(&[write_file(&file), wait], marker.as_ref());
    let claims = stage.claims();
    assert_eq!(claims.len(), 1, "{claims:?}");
    let claimed = claims[0].to_string();
    assert!(claimed.contains("path:a.txt"), "{claimed}");
    let second = stage.site.osm(&["claim", "path", "a.txt", "--session", "second"]);
    assert_eq!(second.code, Some(10), "{}{}", second.stdout, second.stderr);
    kill(&mut first);
    stage.site.ok(&["claim", "path", "a.txt", "--session", "second"]);
}

/// Kills an agent and everything below it that still runs the agent's program.
fn kill(agent: &mut Child) {
    let below = Command::new("pgrep").args(["-P", &agent.id().to_string()]).output().unwrap();
    let pids = String::from_utf8(below.stdout).unwrap();
    agent.kill().unwrap();
    agent.wait().unwrap();
    for pid in pids.split_whitespace() {
        drop(Command::new("kill").args(["-KILL", pid]).status());
    }
}

fn removal_restores_every_file(agent: &str) {
    let stage = Stage::new(agent);
    let before = stage.site.snapshot();
    stage.site.ok(&["agent", "install", agent, "--trust", "-y"]);
    assert_ne!(before, stage.site.snapshot());
    stage.site.ok(&["agent", "remove", agent]);
    assert_eq!(before, stage.site.snapshot());
}

/// A sub-agent's hook and its shell command are one session, which is not the agent's.
fn a_subagent_is_a_session_of_its_own(agent: &str) {
    let stage = Stage::new(agent);
    let (file, ids) = (stage.file("sub.txt"), stage.file("ids"));
    let look = format!("osm session id >>{ids}");
    let check = format!("osm claim check path:sub.txt >{}", stage.file("check"));
    let inner = stage.model.script(&[write_file(&file), look.clone(), check]);
    let told = stage.run(&[delegate(&inner), look]);
    let lines = fs::read_to_string(&ids).unwrap_or_else(|_| panic!("no command ran: {told}"));
    let [sub, main] = lines.lines().collect::<Vec<_>>()[..] else { panic!("two ids: {lines}") };
    assert_ne!(sub, main);
    let check = fs::read_to_string(stage.file("check")).unwrap();
    assert!(
        check.contains("path:sub.txt is yours"),
        "the hook claimed it for another session: {told}"
    );
}

#[test]
fn two_agents_exclude_each_other() {
    let claude = Stage::new("claude");
    let codex = claude.beside("codex");
    let (file, marker) = (claude.file("a.txt"), claude.file("marker"));
    let wait = format!("touch {marker}; sleep 60");
    let mut first = claude.start_until(&[write_file(&file), wait], marker.as_ref());
    let content = fs::read(&file).unwrap();
    let told = codex.run(&[write_file(&file)]);
    assert!(told.contains("already claimed") && told.contains("(claude-code)"), "{told}");
    assert_eq!(fs::read(&file).unwrap(), content, "the edit was made: {told}");
    kill(&mut first);
    let told = codex.run(&[write_file(&file), "osm claim check path:a.txt".to_owned()]);
    assert!(told.contains("path:a.txt is yours"), "the claim of a dead agent stands: {told}");
}

#[test]
fn a_subagent_of_claude_is_a_session_of_its_own() {
    a_subagent_is_a_session_of_its_own("claude");
}

#[test]
fn a_subagent_of_qwen_is_a_session_of_its_own() {
    a_subagent_is_a_session_of_its_own("qwen");
}

#[test]
fn a_subagent_of_opencode_is_a_session_of_its_own() {
    a_subagent_is_a_session_of_its_own("opencode");
}

macro_rules! agents {
    ($($name:ident),*) => {$(
        mod $name {
            #[test]
            fn an_edit_of_a_held_file_is_refused() {
                super::an_edit_of_a_held_file_is_refused(stringify!($name));
            }

            #[test]
            fn a_free_file_is_claimed_until_the_agent_is_killed() {
                super::a_free_file_is_claimed_until_the_agent_is_killed(stringify!($name));
            }

            #[test]
            fn removal_restores_every_file() {
                super::removal_restores_every_file(stringify!($name));
            }
        }
    )*};
}

agents!(claude, codex, gemini, qwen, opencode, copilot, cline, pi);
