//! The real agents, driven by a scripted model: each is recognised, two commands of a conversation
//! are one session, another run is another, the terminal that it was started in is another, and a
//! resumed conversation is the same where the agent says that it is.

use std::fs;

use osm_testkit::agents::{self, Agent, Home, Run, TIMEOUT, Transcript};
use osm_testkit::lab::Lab;
use osm_testkit::model::ScriptedModel;

use super::same::ids_of;
use super::situation::{Group, Identity, Ids, Situation, Stop, ask};

const fn row(
    name: &'static str,
    found_by: &'static [&'static str],
    run: fn(&Lab) -> Ids,
) -> Situation {
    Situation { group: Group::RealAgent, name, found_by, run }
}

/// What must win in the agent's commands, and then in the terminal that it was started in.
const BY_CONVERSATION: &[&str] = &["agent-conversation", "anchor"];
const BY_PROCESS: &[&str] = &["agent-process", "anchor"];

pub(crate) const SITUATIONS: &[Situation] = &[
    row("Claude Code", BY_CONVERSATION, |lab| headless(lab, "claude", Resumed::Same)),
    row("Claude Code, commands without its variables", &["agent-conversation"], |lab| {
        without_variables(lab, "claude")
    }),
    row("Claude Code, on a terminal", &["agent-conversation"], |lab| on_terminal(lab, "claude")),
    row("Codex", BY_CONVERSATION, |lab| headless(lab, "codex", Resumed::Same)),
    row("Codex, on a terminal", &["agent-conversation"], |lab| on_terminal(lab, "codex")),
    row("opencode", BY_PROCESS, |lab| headless(lab, "opencode", Resumed::New)),
    row("Gemini CLI", BY_PROCESS, |lab| headless(lab, "gemini", Resumed::New)),
    row("Gemini CLI, on a terminal", &["agent-process"], |lab| on_terminal(lab, "gemini")),
    row("Qwen Code", BY_CONVERSATION, |lab| headless(lab, "qwen", Resumed::Same)),
    row("aider", BY_PROCESS, |lab| headless(lab, "aider", Resumed::Never)),
    row("Copilot CLI", BY_CONVERSATION, |lab| headless(lab, "copilot", Resumed::Same)),
    row("Kimi Code", BY_PROCESS, |lab| headless(lab, "kimi", Resumed::New)),
    row("Nanocoder", BY_PROCESS, |lab| headless(lab, "nanocoder", Resumed::Never)),
    row("Grok CLI", BY_PROCESS, |lab| headless(lab, "grok", Resumed::Never)),
    row("Cline CLI", BY_PROCESS, |lab| headless(lab, "cline", Resumed::Never)),
    row("Pi", BY_PROCESS, |lab| headless(lab, "pi", Resumed::New)),
    row("Pi, on a terminal", &["agent-process"], |lab| on_terminal(lab, "pi")),
    row("Continue", BY_PROCESS, |lab| headless(lab, "cn", Resumed::New)),
    row("Kilo Code", BY_PROCESS, |lab| headless(lab, "kilo", Resumed::New)),
    row("Reasonix", BY_PROCESS, |lab| headless(lab, "reasonix", Resumed::New)),
    row("Open Codex", BY_PROCESS, |lab| headless(lab, "open-codex", Resumed::Never)),
    row("Mistral Vibe", BY_PROCESS, |lab| headless(lab, "vibe", Resumed::New)),
    row("gptme", BY_PROCESS, |lab| headless(lab, "gptme", Resumed::New)),
    row("Hermes", BY_CONVERSATION, |lab| headless(lab, "hermes", Resumed::Same)),
    row("Code Puppy", BY_PROCESS, |lab| headless(lab, "puppy", Resumed::Never)),
];

/// Whether the agent tells its commands that a conversation was taken up again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Resumed {
    Same,
    /// It does not: the new process is another session.
    New,
    /// It takes none up.
    Never,
}

/// One agent in a home of its own, with a model of its own.
struct Stage<'a> {
    lab: &'a Lab,
    agent: agents::RealAgent,
    model: ScriptedModel,
    home: Home,
}

impl<'a> Stage<'a> {
    fn new(lab: &'a Lab, agent: &str) -> Result<Self, Stop> {
        let agent = Agent::named(agent)
            .ok_or_else(|| Stop::Failed(format!("no agent {agent}")))?
            .installed(&agents::cache_dir())
            .map_err(|missing| Stop::Skipped(missing.to_string()))?;
        Ok(Self { lab, agent, model: ScriptedModel::start()?, home: Home::new()? })
    }

    /// Runs commands in one conversation, and returns the ids that they write to `LAB/ids`.
    fn run(
        &self,
        commands: &[&str],
        resume: bool,
        terminal: bool,
    ) -> Result<(Vec<Identity>, Transcript), Stop> {
        let file = self.lab.path().join("ids");
        fs::write(&file, "")?;
        let commands: Vec<String> =
            commands.iter().map(|command| self.lab.spell(command)).collect();
        let workdir = self.home.join("work");
        let run = Run { resume, terminal, ..Run::new(&self.home, &workdir, &commands) };
        let transcript =
            self.agent.run(&self.model, &run).map_err(|error| Stop::Failed(error.to_string()))?;
        Ok((ids_of(&fs::read_to_string(&file)?)?, transcript))
    }

    /// Runs one command in a conversation that is started by typing into a shell, and returns its id
    /// and that of the shell's terminal.
    fn typed(&self) -> Result<[Identity; 2], Stop> {
        let file = self.lab.path().join("ids");
        fs::write(&file, "")?;
        let commands = [self.lab.spell("OSM whoami --json >>LAB/ids")];
        let workdir = self.home.join("work");
        let run = Run::new(&self.home, &workdir, &commands);
        let script = self.model.script(&commands);
        let invocation = self
            .agent
            .prepare(&self.model, &script, &run)
            .map_err(|error| Stop::Failed(error.to_string()))?;
        self.lab.file("start.sh", &invocation.script())?;
        let mut terminal = self.lab.terminal()?;
        let outside = ask(self.lab, &mut terminal, "OSM whoami --json")?;
        let start = "sh LAB/start.sh </dev/null";
        let answer = self.lab.ask_within(TIMEOUT, &mut terminal, start)?;
        match (&ids_of(&fs::read_to_string(&file)?)?[..], &outside[..]) {
            ([inside], [outside]) => Ok([inside.clone(), outside.clone()]),
            _ => Err(Stop::Failed(format!("one id wanted: {answer:#?}"))),
        }
    }

    /// Runs commands that ask for the id, and returns the answers.
    fn ids(&self, count: usize, resume: bool, terminal: bool) -> Ids {
        let plain = self.lab.path().join("plain");
        fs::write(&plain, "")?;
        let command = "OSM whoami --json >>LAB/ids; OSM session id >>LAB/plain";
        let (ids, transcript) = self.run(&vec![command; count], resume, terminal)?;
        let plain = ids_of(&fs::read_to_string(&plain)?)?;
        let agree = ids.iter().map(|it| &it.id).eq(plain.iter().map(|it| &it.id));
        if ids.len() == count && agree {
            Ok(ids)
        } else {
            Err(Stop::Failed(format!("{count} ids wanted: {ids:?}, {plain:?}: {transcript:?}")))
        }
    }
}

fn headless(lab: &Lab, agent: &str, resumed: Resumed) -> Ids {
    let stage = Stage::new(lab, agent)?;
    let mut ids = one_conversation(&stage, false)?;
    if resumed != Resumed::Never {
        ids.extend(stage.ids(1, true, false)?);
        check((ids[0] == ids[2]) == (resumed == Resumed::Same), "the conversation, resumed", &ids)?;
    }
    let [inside, outside] = stage.typed()?;
    check(!ids.contains(&inside), "another run is another session", &ids)?;
    ids.extend([inside, outside]);
    let (outside, inside) = ids.split_last().expect("there are four");
    check(!inside.contains(outside), "the terminal is another session", &ids)?;
    Ok(ids)
}

/// Commands of a conversation that have its variable, have lost it, and lost it after a resumption.
fn without_variables(lab: &Lab, agent: &str) -> Ids {
    let stage = Stage::new(lab, agent)?;
    // The shell that the agent started must lose them too.
    let wiped = "exec env -i OSM whoami --json >>LAB/ids";
    let (mut ids, _) = stage.run(&["OSM whoami --json >>LAB/ids", wiped], false, false)?;
    ids.extend(stage.run(&[wiped], true, false)?.0);
    check(ids.iter().all(|it| *it == ids[0]), "one conversation", &ids)?;
    let (other, _) = stage.run(&[wiped], false, false)?;
    check(!ids.contains(&other[0]), "another run is another session", &ids)?;
    Ok(ids)
}

fn on_terminal(lab: &Lab, agent: &str) -> Ids {
    let stage = Stage::new(lab, agent)?;
    let mut ids = one_conversation(&stage, true)?;
    let other = stage.ids(1, false, true)?;
    check(!ids.contains(&other[0]), "another run is another session", &ids)?;
    ids.extend(other);
    Ok(ids)
}

fn one_conversation(stage: &Stage, terminal: bool) -> Ids {
    let name = stage.agent.agent.known_as;
    let ids = stage.ids(2, false, terminal)?;
    check(ids[0] == ids[1], "two commands of one conversation", &ids)?;
    check(ids[0].id.starts_with(&format!("agent--{name}_")), "the agent is recognised", &ids)?;
    Ok(ids)
}

fn check(holds: bool, what: &str, ids: &[Identity]) -> Result<(), Stop> {
    if holds { Ok(()) } else { Err(Stop::Failed(format!("{what}: {ids:#?}"))) }
}
