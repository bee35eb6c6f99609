//! What `osm agent hook` decides.
//!
//! The hook stands between a model and a file, so it is fast and never in the way by mistake: whatever goes wrong
//! here lets the tool run. The user is told of it once in a session. A refusal is a sentence for the model: who
//! holds the file, since when, whether that session is running, and the next command.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::Value;

use super::seen::{self, Seen};
use crate::World;
use crate::agent::event::Kind;
use crate::agent::{Agent, Answer, Event, Moment, Verdict, identity};
use crate::config::Edits;
use crate::invocation::{Invocation, Options};
use crate::ops::claim::words;
use crate::ops::prime;

/// Answers a hook.
pub(crate) fn answer(world: &World, moment: Moment, payload: &[u8]) -> Answer {
    let invocation = Invocation::new(world, Options::default());
    let found = invocation.detection().agent.as_ref();
    let agent = found.and_then(|found| Agent::of_catalogue(found.name));
    let event = match Event::parse(moment, agent, payload) {
        Ok(event) => event,
        Err(error) => {
            let warning = Some(format!("osm let the tool run unchecked: {error}"));
            return Answer { warning, ..Answer::default() };
        }
    };
    let variables = agent.map(|agent| identity::variables(agent, &event)).unwrap_or_default();
    let is_known = |(name, value): &(&str, String)| {
        world.environment.get(name).is_some_and(|it| it == value.as_str())
    };
    let verdict = if variables.iter().all(is_known) {
        decide(&invocation, agent, &event)
    } else {
        let environment = identity::environment(&world.environment, &variables);
        let world = World { environment, ..world.clone() };
        decide(&Invocation::new(&world, Options::default()), agent, &event)
    };
    Answer::new(agent, &event, &verdict)
}

/// One hook of one session.
struct Hook<'a> {
    invocation: &'a Invocation<'a>,
    agent: Option<&'a Agent>,
    event: &'a Event,
    /// The folder in which the agent works.
    folder: PathBuf,
    home: PathBuf,
    seen: Seen,
}

fn decide(invocation: &Invocation, agent: Option<&Agent>, event: &Event) -> Verdict {
    let edits = invocation.settings.edits;
    let folder = event.folder.as_ref().map(PathBuf::from).filter(|it| it.is_absolute());
    let (Some(folder), Ok(home)) =
        (folder.or_else(|| invocation.world.folder()), invocation.home())
    else {
        return Verdict::default();
    };
    let seen = Seen::open(&home, invocation.session_id().as_str());
    let mut hook = Hook { invocation, agent, event, folder, home, seen };
    let mut verdict = match event.moment {
        Moment::SessionStart | Moment::SubagentStart => hook.start(),
        Moment::SessionEnd => return hook.end(),
        _ if edits == Edits::Off => Verdict::default(),
        Moment::BeforeTool => hook.before(),
        Moment::AfterTool => hook.after(),
    };
    if let Err(error) = hook.seen.save()
        && verdict.warning.is_none()
    {
        verdict.warning =
            Some(format!("osm cannot remember which files this session saw: {error}"));
    }
    verdict
}

impl Hook<'_> {
    fn start(&self) -> Verdict {
        seen::remove_old(&self.home, SystemTime::from(self.invocation.world.now()));
        if !crate::agent::answer::hears(self.agent, self.event.moment) {
            return Verdict::default();
        }
        Verdict::tell(prime::prime(self.invocation).text())
    }

    /// The session is over, and what it saw.
    fn end(self) -> Verdict {
        self.seen.remove();
        Verdict::default()
    }

    fn before(&mut self) -> Verdict {
        if self.event.is_shell() {
            return Verdict { input: self.with_context(), ..Verdict::default() };
        }
        self.read_again()
    }

    /// Refuses an edit of a file that is not what the session last saw; once.
    fn read_again(&mut self) -> Verdict {
        let paths = self.paths(self.event.edited());
        let stale: Vec<&PathBuf> = paths.iter().filter(|path| self.seen.is_stale(path)).collect();
        if stale.is_empty() {
            return Verdict::default();
        }
        let names: Vec<String> = stale.iter().map(|it| self.shown(it)).collect();
        let why = format!(
            "{} changed on disk since you last read or wrote it. The edit was not made: read the file again, then \
             repeat the edit on its present content.",
            names.join(", ")
        );
        for path in stale {
            self.seen.note(path);
        }
        Verdict::refuse(why)
    }

    fn after(&mut self) -> Verdict {
        let tool = self.event.tool.as_ref().map(|tool| tool.kind);
        match tool {
            Some(Kind::Edit | Kind::Read) => {
                let named = [self.event.edited(), self.event.read()].concat();
                for path in self.paths(&named) {
                    self.seen.note(&path);
                }
                Verdict::default()
            }
            _ => Verdict::default(),
        }
    }

    /// The arguments of a sub-agent's shell, with the variable that tells it from its siblings.
    fn with_context(&self) -> Option<Value> {
        let tool = self.event.tool.as_ref()?;
        let prefix = identity::shell_prefix(self.agent?, self.event)?;
        let command = tool.input["command"].as_str()?;
        if command.starts_with(&prefix) {
            return None;
        }
        let mut input = tool.input.clone();
        input["command"] = format!("{prefix}{command}").into();
        Some(input)
    }

    /// The files that a tool names.
    fn paths(&self, named: &[String]) -> Vec<PathBuf> {
        named.iter().map(|name| self.folder.join(name)).collect()
    }

    /// A path for the model: below the folder in which the agent works.
    fn shown(&self, path: &Path) -> String {
        words::one_line(&path.strip_prefix(&self.folder).unwrap_or(path).display().to_string())
    }
}
