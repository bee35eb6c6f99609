//! Which signal wins, and in what order.
//!
//! One walk up the process tree decides. Coming from below, the first *boundary* that we meet (an
//! agent, a multiplexer's server, a CI runner, a remote login, a terminal's window) is what we
//! live in; whatever lies beyond it may have left variables in our environment, but has no say.
//! Where there is no boundary, or it has no name for us, the process at the top of our terminal
//! is the session.
//!
//! Each detector looks at the scene and either finds the session or says why not. The order of
//! [`DETECTORS`] matters only between what a user says and what is detected, and for the last
//! two: boundaries exclude each other, since only the first one counts.

use std::ffi::{OsStr, OsString};

use crate::SessionId;
use crate::catalogue::Catalogue;
use crate::detection::{AgentFound, Ancestor, Confidence, Detection, Finding, Outcome, Source};
use crate::digest::Key;
use crate::environment::Environment;
use crate::likeness;
use crate::process::ProcessSource;
use crate::scene::{Boundary, Scene};

mod agent;
mod anchor;
mod explicit;
mod multiplexer;
mod random;
mod record;
mod runner;
mod ssh;
mod terminal;

/// Asked in this order; the first that finds something decides.
const DETECTORS: &[(&str, Detector)] = &[
    ("flag", explicit::flag),
    ("variable", explicit::variable),
    ("agent", agent::detect),
    ("multiplexer", multiplexer::detect),
    ("ci", runner::detect),
    ("ssh", ssh::detect),
    ("terminal", terminal::detect),
    ("anchor", anchor::detect),
    ("random", random::detect),
];

/// Looks at a scene, and at what the caller was told to use.
type Detector = fn(&mut Scene, Option<&OsStr>) -> Verdict;

/// What a detector found, or why it found nothing.
type Verdict = Result<Found, String>;

/// A session, before its id is written.
struct Found {
    identity: Identity,
    source: Source,
    confidence: Confidence,
    agent: Option<AgentFound>,
    /// The sub-agent that the agent itself names.
    context: Option<OsString>,
    /// The place in the chain of the process that the session hangs on.
    anchor: Option<usize>,
    reason: String,
}

enum Identity {
    /// It is written already.
    Id(SessionId),
    /// `{namespace}--{label}_{hash of key}`.
    Key { namespace: &'static str, label: String, key: Key },
}

impl Identity {
    fn id(&self, context: Option<&OsStr>) -> SessionId {
        match self {
            Self::Id(id) => id.clone(),
            Self::Key { namespace, label, key } => {
                let digest = key.digest_in(context.map(OsStr::as_encoded_bytes));
                if label.is_empty() {
                    SessionId::detected(namespace, &digest)
                } else {
                    SessionId::detected(namespace, &format!("{label}_{digest}"))
                }
            }
        }
    }
}

/// What a session is detected from.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The session that the caller was told to use.
    pub explicit: Option<&'a OsStr>,
    /// The variables and the pid of the process that asks.
    pub environment: &'a Environment,
    /// Where processes are read from.
    pub source: &'a dyn ProcessSource,
    /// What is known of programs.
    pub catalogue: &'a Catalogue,
}

/// The id of the session and how sure it is, and nothing else: for callers that ask before every command.
#[must_use]
pub fn identify(request: &Request) -> (SessionId, Confidence) {
    let mut scene = Scene::new(request.environment, request.source, request.catalogue);
    scene.ancestry.stop_below_first();
    scene.is_silent = true;
    let found = decide(&mut scene, request.explicit, false, &mut Vec::new());
    let context = context(&scene, &found);
    (found.identity.id(context.as_deref()), found.confidence)
}

/// Finds the session, looking no further than it must.
#[must_use]
pub fn detect(request: &Request) -> Detection {
    let mut scene = Scene::new(request.environment, request.source, request.catalogue);
    let mut trail = Vec::new();
    let found = decide(&mut scene, request.explicit, false, &mut trail);
    conclude(&mut scene, &found, trail)
}

/// Finds the session, asks every detector and looks at every ancestor, so that all of it can be
/// shown.
#[must_use]
pub fn explain(request: &Request) -> Detection {
    let mut scene = Scene::new(request.environment, request.source, request.catalogue);
    let mut trail = Vec::new();
    let found = decide(&mut scene, request.explicit, true, &mut trail);
    let parent = parent(&mut scene, &found);
    scene.base = 0;
    let end = scene.ancestry.end().clone();
    let mut detection = conclude(&mut scene, &found, trail);
    let count = scene.ancestry.known().len();
    detection.ancestry = (0..count)
        .map(|at| Ancestor { role: scene.role(at), process: scene.ancestry.known()[at].clone() })
        .collect();
    // An agent may start itself again in the middle of a conversation.
    detection.parent = parent.filter(|parent| *parent != detection.id);
    detection.unlisted = likeness::find(&mut scene);
    detection.end = Some(end);
    detection
}

/// Asks the detectors in order; with `all`, those after the decision too, for the trail.
fn decide(
    scene: &mut Scene,
    explicit: Option<&OsStr>,
    all: bool,
    trail: &mut Vec<Finding>,
) -> Found {
    let mut decided: Option<Found> = None;
    for (detector, ask) in DETECTORS {
        if decided.is_some() && (!all || *detector == "random") {
            break;
        }
        let (outcome, reason) = match (ask(scene, explicit), &decided) {
            (Err(reason), _) => (Outcome::Passed, reason),
            (Ok(found), Some(_)) => (Outcome::Outranked, found.reason),
            (Ok(mut found), None) => {
                let reason = std::mem::take(&mut found.reason);
                decided = Some(found);
                (Outcome::Won, reason)
            }
        };
        trail.push(Finding { detector, outcome, reason });
    }
    decided.expect("the last detector always finds something")
}

/// The session in which this one runs.
fn parent(scene: &mut Scene, found: &Found) -> Option<SessionId> {
    if context(scene, found).is_some() {
        return Some(found.identity.id(None));
    }
    let agent_at = found.anchor.filter(|_| found.agent.is_some())?;
    scene.base = agent_at;
    let outer = decide(scene, None, false, &mut Vec::new());
    let context = context(scene, &outer);
    (outer.source != Source::Random).then(|| outer.identity.id(context.as_deref()))
}

/// What tells sub-agents apart: ours to set, or the agent's own.
fn context(scene: &Scene, found: &Found) -> Option<OsString> {
    match found.identity {
        Identity::Id(_) => None,
        Identity::Key { .. } => scene.variable("OSM_CONTEXT_ID").or_else(|| found.context.clone()),
    }
}

fn conclude(scene: &mut Scene, found: &Found, trail: Vec<Finding>) -> Detection {
    let context = context(scene, found);
    let anchor = found.anchor.and_then(|at| {
        let instance = scene.instance(at)?;
        Some((scene.process(at)?.terminal, instance))
    });
    Detection {
        id: found.identity.id(context.as_deref()),
        source: found.source,
        confidence: found.confidence,
        agent: found.agent.clone(),
        context: context.map(|context| context.to_string_lossy().into_owned()),
        terminal: anchor.as_ref().and_then(|(terminal, _)| *terminal),
        parent: None,
        anchor: anchor.map(|(_, anchor)| anchor),
        trail,
        ancestry: Vec::new(),
        unlisted: None,
        end: None,
    }
}

/// How a boundary is called in a reason.
fn describe(scene: &mut Scene, at: usize, boundary: Boundary) -> String {
    if scene.is_silent {
        return String::new();
    }
    let place =
        scene.process(at).map_or(String::new(), |process| format!(" (pid {})", process.pid));
    match boundary {
        Boundary::Agent(agent) => format!("the agent {}{place}", agent.name),
        Boundary::Multiplexer(row) => format!("the {} server{place}", row.name),
        Boundary::Remote => format!("a remote login{place}"),
        Boundary::Terminal(row) => format!("the terminal {}{place}", row.name),
        Boundary::Runner(row) => format!("the CI runner {}{place}", row.name),
        Boundary::Supervisor => format!("a supervisor of services{place}"),
        Boundary::Sandbox => format!("a sandbox{place}"),
        Boundary::Top => match scene.process(at) {
            Some(process) => format!("{} (pid {})", show(process.name.as_ref()), process.pid),
            None => scene.ancestry.end().to_string(),
        },
    }
}

/// A value as it is shown in a reason: short, on one line, and never misleading a terminal.
pub(crate) fn show(value: &OsStr) -> String {
    const MOST: usize = 60;
    let text = value.to_string_lossy();
    let mut shown: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().count() > MOST {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
