//! Drives every real agent once and reports where the catalogue of osm is wrong about it.
//!
//!     scripts/check-catalogue [NAME...]
//!
//! Each agent runs `osm` in two commands of a conversation, in another one and, where it can resume a
//! conversation, in the first one again. The table that is printed goes to `docs/known-agents.md`.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use osm_testkit::agents::{self, AGENTS, Agent, Home, RealAgent, Resumes, Run};
use osm_testkit::model::ScriptedModel;
use serde_json::Value;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(osm) = arguments.next().map(PathBuf::from) else {
        say(&mut io::stderr(), "usage: check_catalogue OSM DATE [NAME...]");
        return ExitCode::FAILURE;
    };
    let date = arguments.next().unwrap_or_default();
    let names: Vec<String> = arguments.collect();
    let chosen = AGENTS.iter().filter(|it| names.is_empty() || names.iter().any(|n| n == it.name));
    let mut is_right = true;
    for agent in chosen {
        let (row, right) = match examine(agent, &osm) {
            Ok(report) => report,
            Err(error) => {
                say(&mut io::stderr(), &format!("{}: {error}", agent.name));
                (format!("| **not driven**: {} | | | | ", first_line(&*error)), false)
            }
        };
        is_right &= right;
        let pinned = agent.pinned();
        let (known_as, package) = (agent.known_as, pinned.package);
        let row = format!("| {known_as} | `{package}` {} | {date} {row}|", pinned.version);
        say(&mut io::stdout(), &row);
    }
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn say(out: &mut dyn Write, line: &str) {
    // A stream that is gone cannot be told so.
    drop(writeln!(out, "{line}"));
}

fn first_line(error: &dyn Error) -> String {
    error.to_string().lines().next().unwrap_or_default().replace('|', "/")
}

/// The cells of one agent, and whether the catalogue is right about it.
fn examine(agent: &'static Agent, osm: &Path) -> Result<(String, bool)> {
    let stage = Stage {
        agent: agent.installed(&agents::cache_dir())?,
        model: ScriptedModel::start()?,
        home: Home::new()?,
        osm: osm.to_owned(),
    };
    let first = stage.reports(2, false)?;
    let resumed = match agent.resumes {
        Resumes::Never => None,
        _ => stage.reports(1, true)?.into_iter().next(),
    };
    let another = stage.reports(1, false)?.into_iter().next().ok_or("no report")?;
    let outside = Command::new(osm).args(["session", "id"]).output()?.stdout;
    let outside = String::from_utf8_lossy(&outside).trim().to_owned();
    let [one, two] = &first[..] else { return Err("two reports are needed".into()) };

    let mut wrong = Vec::new();
    let mut expect = |holds: bool, what: &'static str| {
        if !holds {
            wrong.push(what);
        }
    };
    expect(one["agent"]["name"] == agent.known_as, "not recognized");
    expect(one["id"] == two["id"], "two commands have two ids");
    expect(one["id"] != another["id"], "another run has the same id");
    expect(one["id"] != outside.as_str(), "it has the id of its terminal");
    let is_conversation = one["source"] == "agent-conversation";
    let resumes = resumed.map(|resumed| resumed["id"] == one["id"]);
    expect(resumes != Some(false) || !is_conversation, "a resumed conversation has another id");
    let by = if is_conversation { "conversation" } else { "process" };
    let resumes = match resumes {
        Some(true) => "the same",
        Some(false) => "another",
        None => "–",
    };
    let verdict =
        if wrong.is_empty() { "right".to_owned() } else { format!("**{}**", wrong.join(", ")) };
    let cells = format!("| {} | {by} | {resumes} | {verdict} ", process(one));
    Ok((cells, wrong.is_empty()))
}

/// What the processes between the command and the test are called, from the agent down.
fn process(report: &Value) -> String {
    let agent = &report["agent"]["pid"];
    let ancestry = report["ancestry"].as_array().into_iter().flatten();
    let names: BTreeSet<&str> = ancestry
        .filter(|process| process["pid"] == *agent)
        .filter_map(|process| process["name"].as_str())
        .collect();
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// One agent in a home of its own.
struct Stage {
    agent: RealAgent,
    model: ScriptedModel,
    home: Home,
    osm: PathBuf,
}

impl Stage {
    /// What osm says in so many commands of one conversation.
    fn reports(&self, count: usize, resume: bool) -> Result<Vec<Value>> {
        let file = self.home.join("reports");
        std::fs::write(&file, "")?;
        let command = format!("{} session id --json >>{}", self.osm.display(), file.display());
        let commands = vec![command; count];
        let workdir = self.home.join("work");
        let run = Run { resume, ..Run::new(&self.home, &workdir, &commands) };
        self.agent.run(&self.model, &run)?;
        let text = std::fs::read_to_string(&file)?;
        let reports = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        Ok(reports.collect::<std::result::Result<_, _>>()?)
    }
}
