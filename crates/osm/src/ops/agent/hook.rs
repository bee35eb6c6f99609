//! What `osm agent hook` decides.
//!
//! The hook stands between a model and a file, so it is fast and never in the way by mistake: whatever goes wrong
//! here lets the tool run. The user is told of it once in a session. A refusal is a sentence for the model: who
//! holds the file, since when, whether that session is running, and the next command.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use osm_claims::rules::Standing;
use osm_claims::{Listed, PathKind, Refused};
use serde_json::Value;

use super::seen::{self, Seen};
use crate::agent::event::Kind;
use crate::agent::{Agent, Answer, Event, Moment, Verdict, identity};
use crate::bare::repository_around;
use crate::config::{Edits, edits_of_repository};
use crate::interaction::Silence;
use crate::invocation::{Invocation, Options};
use crate::ops::claim::{self, HoldRequest, Resources, words};
use crate::ops::identity::name::handle_of;
use crate::ops::prime::{self, cut};
use crate::{Failure, World, ownership};

/// The settings of a repository, below its top.
const REPOSITORY_CONFIG: &str = ".osm/config.toml";
const MOST_CONFIG_BYTES: u64 = 64 << 10;
/// The most files of other sessions that are looked at after a command.
const MOST_WATCHED: usize = 200;

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
    let variables =
        agent.map(|agent| identity::variables(agent, &event.speaker)).unwrap_or_default();
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
    let folder = event.folder.as_ref().map(PathBuf::from).filter(|it| it.is_absolute());
    let (Some(folder), Ok(home)) =
        (folder.or_else(|| invocation.world.folder()), invocation.home())
    else {
        return Verdict::default();
    };
    let edits = edits(invocation, &folder);
    let seen = Seen::open(&home, invocation.session_id().as_str());
    let mut hook = Hook { invocation, agent, event, folder, home, seen };
    let mut verdict = match event.moment {
        Moment::SessionStart | Moment::SubagentStart => hook.start(),
        Moment::SessionEnd => return hook.end(),
        _ if edits == Edits::Off => Verdict::default(),
        Moment::BeforeTool => hook.before(edits),
        Moment::AfterTool => hook.after(),
    };
    let untold = hook.seen.take_untold();
    if !untold.is_empty() {
        let context = verdict.context.take().into_iter().chain(untold);
        verdict.context = Some(context.collect::<Vec<_>>().join("\n"));
    }
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

    /// The session is over: its automatic claims, and what it saw.
    fn end(self) -> Verdict {
        let mine = claim::mine(self.invocation, None, &mut Silence);
        let held = mine.map(|mine| mine.owned.held).unwrap_or_default();
        let automatic: Vec<_> = held
            .into_iter()
            .filter(|it| it.claim.mode.automatic)
            .map(|it| it.claim.resource)
            .collect();
        if !automatic.is_empty() {
            let request = claim::ReleaseRequest {
                resources: Resources::Named(automatic),
                epoch: None,
                done: false,
                scope: None,
            };
            // They end with the process in any case.
            drop(claim::release(self.invocation, &request, &mut Silence));
        }
        self.seen.remove();
        Verdict::default()
    }

    fn before(&mut self, edits: Edits) -> Verdict {
        if self.event.is_shell() {
            self.watch();
            return Verdict { input: self.with_context(), ..Verdict::default() };
        }
        let paths = self.event.edited();
        if paths.is_empty() {
            return Verdict::default();
        }
        let request = HoldRequest {
            paths: paths.iter().map(PathBuf::from).collect(),
            folder: Some(self.folder.clone()),
            caller: None,
            note: None,
        };
        match claim::hold_paths(self.invocation, &request, &mut Silence) {
            Ok(_) => self.read_again(),
            Err(claim::Error::Refused(refused)) if is_held(&refused) => {
                let why = refusal(&refused);
                if edits == Edits::Warn { self.warn(&why, &refused) } else { Verdict::refuse(why) }
            }
            Err(error) => self.problem(&error),
        }
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

    /// Lets an edit through that the rules refuse, and tells both sessions.
    fn warn(&mut self, why: &str, refused: &Refused) -> Verdict {
        if let Some(claim) = &refused.claim {
            let me = osm_identity::Handle::of(self.invocation.session_id());
            let name = refused.resource.as_ref().map(words::quoted).unwrap_or_default();
            self.tell(
                &claim.owner.session,
                format!("osm: {me} changed {name}, which you hold. Read it again."),
            );
        }
        let context = format!("osm lets this edit through (agent.edits is warn), but: {why}");
        Verdict { warning: Some(context.clone()), ..Verdict::tell(context) }
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
            Some(Kind::Shell) => self.changed_by_command(),
            _ => Verdict::default(),
        }
    }

    /// Remembers the files of other sessions before a command.
    fn watch(&mut self) {
        for (path, _) in self.files_of_others() {
            self.seen.note_other(&path);
        }
    }

    /// Tells of files of other sessions that a command changed.
    fn changed_by_command(&mut self) -> Verdict {
        let mut told = Vec::new();
        for (path, listed) in self.files_of_others() {
            let owner = &listed.claim.owner.session;
            // The holder may have changed it meanwhile.
            if !self.seen.other_changed(&path) || Seen::open(&self.home, owner).knows(&path) {
                continue;
            }
            self.seen.note_other(&path);
            let name = self.shown(&path);
            let me = osm_identity::Handle::of(self.invocation.session_id());
            self.tell(
                owner,
                format!("osm: a command of {me} changed {name}, which you hold. Read it again."),
            );
            let holder = handle_of(owner);
            told.push(format!(
                "osm: your command changed {name}, which {holder} holds. {holder} was told. Restore it if that was \
                 a mistake, and do not change it again."
            ));
        }
        if told.is_empty() { Verdict::default() } else { Verdict::tell(told.join("\n")) }
    }

    /// Files that other running sessions hold in this worktree.
    fn files_of_others(&self) -> Vec<(PathBuf, Listed)> {
        let listed = claim::paths_of_others(self.invocation, Some(&self.folder), None);
        // The ledger is not needed for a command to run.
        let listed = listed.unwrap_or_default().into_iter();
        let top = repository_around(&self.folder).map(|it| it.worktree);
        let Some(top) = top else { return Vec::new() };
        listed
            .filter(|it| !matches!(it.standing, Standing::Free(_)))
            .filter_map(|it| {
                let path = it.claim.resource.path()?;
                let file = (path.kind == PathKind::File).then(|| top.join(&path.text))?;
                Some((file, it))
            })
            .take(MOST_WATCHED)
            .collect()
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

    /// An error of ours: the tool runs, and the user is told once.
    fn problem(&mut self, error: &dyn Failure) -> Verdict {
        let text = error.to_string();
        let parts: Vec<String> = std::iter::once(text.clone()).chain(error.hints()).collect();
        let warning = format!("osm let an edit through without a check: {}", parts.join("; "));
        if self.seen.is_new_problem(&text) {
            Verdict { warning: Some(warning), ..Verdict::default() }
        } else {
            Verdict::default()
        }
    }

    /// Leaves a message for another session.
    fn tell(&self, session: &str, text: String) {
        let mut other = Seen::open(&self.home, session);
        other.tell(text);
        // The holder also notices the change itself, before its next edit.
        drop(other.save());
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

/// What a hook does here: the stricter of what the user and the repository say.
fn edits(invocation: &Invocation, folder: &Path) -> Edits {
    let user = invocation.settings.edits;
    if user == Edits::Refuse {
        return user;
    }
    let file = repository_around(folder).map(|it| it.worktree.join(REPOSITORY_CONFIG));
    // A file that cannot be read makes nothing stricter.
    let bytes = file.and_then(|file| ownership::read(&file, MOST_CONFIG_BYTES).ok().flatten());
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    let own = text.map(|text| edits_of_repository(&text, &invocation.world.environment));
    own.map_or(user, |own| own.max(user))
}

/// Whether another session is the reason.
fn is_held(refused: &Refused) -> bool {
    use osm_claims::Reason::{Held, Reserved, Suspended, Unknown};
    matches!(refused.reason, Held | Suspended | Unknown | Reserved)
}

/// What the model reads.
fn refusal(refused: &Refused) -> String {
    let note = refused.claim.as_ref().and_then(|claim| claim.note.as_ref());
    let note = note.map(|note| format!(" Their note: \"{}\".", cut(note))).unwrap_or_default();
    format!(
        "{}.{note} The edit was not made, and the file must not be changed by other means. Work on something \
         else, or {}",
        words::refusal(refused),
        words::remedy(refused)
    )
}
