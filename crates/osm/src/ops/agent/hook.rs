//! What `osm agent hook` decides.
//!
//! The hook stands between a model and a file, so it is fast and never in the way by mistake: whatever goes wrong
//! here lets the tool run. The user is told of it once in a session. A refusal is a sentence for the model: who
//! holds the file, since when, whether that session is running, and the next command.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use osm_claims::rules::Standing;
use osm_claims::{Claim, Listed, MessageKind, PathKind, Refused, Resource};
use serde_json::Value;

use super::seen::{self, Seen};
use crate::agent::event::Kind;
use crate::agent::shell;
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
/// The most files of other sessions that a refusal names.
const MOST_NAMED: usize = 3;

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
    hook.deliver(&mut verdict);
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
        let released = mine.and_then(|mine| {
            let automatic = mine.owned.held.into_iter().filter(|it| it.claim.mode.automatic);
            let automatic: Vec<_> = automatic.map(|it| it.claim.resource).collect();
            self.release(automatic)
        });
        self.seen.remove();
        match released {
            // A session without an identity holds nothing.
            Err(error) if error.refusal().is_none() => {
                let warning =
                    format!("osm did not release this session's automatic claims: {error}");
                Verdict { warning: Some(warning), ..Verdict::default() }
            }
            _ => Verdict::default(),
        }
    }

    /// Releases claims of this session; those that it lost meanwhile are gone already.
    fn release(&self, resources: Vec<Resource>) -> Result<(), claim::Error> {
        if resources.is_empty() {
            return Ok(());
        }
        let request = claim::ReleaseRequest {
            resources: Resources::Named(resources),
            epoch: None,
            done: false,
            scope: None,
        };
        let batch = claim::release(self.invocation, &request, &mut Silence)?;
        batch.failed.map_or(Ok(()), Err)
    }

    fn before(&mut self, edits: Edits) -> Verdict {
        if self.event.is_shell() {
            let swept = self.sweep(edits);
            if swept.refusal.is_some() {
                return swept;
            }
            self.watch();
            return Verdict { input: self.with_context(), ..swept };
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
            let text = format!("{me} changed {name}, which you hold. Read it again.");
            self.tell_holder(claim, &text);
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
            Some(Kind::Shell) => {
                let mut verdict = self.changed_by_command();
                if verdict.warning.is_none() {
                    verdict.warning = self.after_commit();
                }
                verdict
            }
            _ => Verdict::default(),
        }
    }

    /// Refuses a command of Git that changes all files of a worktree in which other sessions hold some.
    fn sweep(&self, edits: Edits) -> Verdict {
        let command = self.event.tool.as_ref().and_then(|tool| tool.input["command"].as_str());
        for sweep in shell::sweeps(command.unwrap_or_default()) {
            let folder = sweep.folders.iter().fold(self.folder.clone(), |at, it| at.join(it));
            // The ledger is not needed for a command to run.
            let others = claim::paths_of_others(self.invocation, Some(&folder), None);
            let others = others.unwrap_or_default();
            if others.is_empty() {
                continue;
            }
            let held = others.iter().take(MOST_NAMED).map(|it| {
                let name = words::one_line(&it.claim.resource.to_string());
                format!("{name} ({})", handle_of(&it.claim.owner.session))
            });
            let held = held.collect::<Vec<_>>().join(", ");
            let more = others.len().saturating_sub(MOST_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let name = &sweep.name;
            let why = format!(
                "`{name}` can change files that other sessions hold in this worktree: {held}{more}"
            );
            if sweep.possible || edits == Edits::Warn {
                return Verdict::tell(format!("osm: {why}. Do not change their files."));
            }
            return Verdict::refuse(format!(
                "{why}. The command was not run. Name your own files instead (git add FILE, git commit, git \
                 checkout -- FILE), or work in a worktree of your own: git worktree add ../NAME. Ask a holder: \
                 osm ask RESOURCE TEXT"
            ));
        }
        Verdict::default()
    }

    /// Remembers the files of other sessions before a command.
    fn watch(&mut self) {
        for (path, _) in self.files_of_others() {
            self.seen.note_other(&path);
        }
    }

    /// Ends the automatic claims of what a command committed; a problem with that, once.
    fn after_commit(&mut self) -> Option<String> {
        let tool = self.event.tool.as_ref()?;
        let command = tool.input["command"].as_str()?;
        if !command.contains("commit") {
            return None;
        }
        let error = claim::release_committed(self.invocation, &self.folder).err()?.to_string();
        let warning = format!("osm did not release automatic claims after a commit: {error}");
        self.seen.is_new_problem(&error).then_some(warning)
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
            let text = format!("a command of {me} changed {name}, which you hold. Read it again.");
            self.tell_holder(&listed.claim, &text);
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

    /// Leaves a message for the holder of a file that changed. Without it the holder notices the change itself,
    /// before its next edit.
    fn tell_holder(&self, claim: &Claim, text: &str) {
        let (session, about) = (&claim.owner.session, &claim.resource);
        drop(claim::tell_changed(self.invocation, &self.folder, session, about, text));
    }

    /// Adds what the session must be told: claims that it lost, requests that wait for its claims, messages. A
    /// message that asks for something is repeated, and acknowledged by the session alone.
    fn deliver(&mut self, verdict: &mut Verdict) {
        if !crate::agent::answer::delivers(self.agent, self.event.moment) {
            return;
        }
        // Where the ledger cannot be read, the hook before an edit says so.
        let Ok(notices) = claim::notices(self.invocation, &self.folder) else { return };
        let now = self.invocation.world.now();
        let mut lines: Vec<String> = verdict.context.take().into_iter().collect();
        lines.extend(notices.losses.iter().map(|loss| {
            let name = words::one_line(&loss.claim.resource.to_string());
            format!("osm: {name} is no longer yours: {}", words::fate(&loss.claim))
        }));
        if !notices.losses.is_empty() {
            // If this fails, it is told again.
            drop(claim::mark_told(self.invocation));
        }
        for waiter in notices.waiting.iter().map(words::waiter) {
            if self.seen.is_due(&waiter, now) {
                lines.push(format!(
                    "osm: {waiter}. Release it as soon as you can: osm release RESOURCE"
                ));
            }
        }
        let mut known = Vec::new();
        for message in &notices.messages {
            let text = words::message(message);
            match message.kind {
                MessageKind::Changed => known.push(message.number),
                MessageKind::Asked | MessageKind::Told => {
                    if !self.seen.is_due(&format!("message {}", message.number), now) {
                        continue;
                    }
                }
            }
            lines.push(match message.kind {
                MessageKind::Changed => format!("osm: {text}"),
                MessageKind::Told => format!("osm: {text} (acknowledge: osm inbox)"),
                MessageKind::Asked => format!(
                    "osm: {text} (answer: osm ask {} TEXT; acknowledge: osm inbox)",
                    handle_of(&message.from)
                ),
            });
        }
        drop(claim::acknowledge(self.invocation, &known));
        verdict.context = (!lines.is_empty()).then(|| lines.join("\n"));
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
