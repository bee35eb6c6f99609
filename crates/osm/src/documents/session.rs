//! The current session as JSON: programs rely on these names and their meanings.

use osm_identity::{Handle, ProcessInstance, SessionId};
use serde::Serialize;

use crate::ops::identity::Identity;

/// The document of `--json`.
#[derive(Serialize)]
pub(crate) struct Report<'a> {
    id: &'a str,
    handle: String,
    source: &'a str,
    confidence: &'a str,
    agent: Option<Agent<'a>>,
    context: Option<&'a str>,
    terminal: Option<String>,
    parent: Option<&'a str>,
    parent_handle: Option<String>,
    anchor: Option<&'a ProcessInstance>,
    trail: Vec<Finding<'a>>,
    ancestry: Vec<Ancestor<'a>>,
    end: Option<String>,
}

#[derive(Serialize)]
struct Agent<'a> {
    name: &'a str,
    pid: Option<u32>,
    conversation: Option<&'a str>,
}

#[derive(Serialize)]
struct Finding<'a> {
    detector: &'a str,
    outcome: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct Ancestor<'a> {
    pid: u32,
    start: u64,
    name: &'a str,
    terminal: Option<String>,
    role: String,
}

impl<'a> Report<'a> {
    pub(crate) fn new(identity: &'a Identity) -> Self {
        let detection = &identity.detection;
        Self {
            id: detection.id.as_str(),
            handle: identity.handle.to_string(),
            source: detection.source.name(),
            confidence: detection.confidence.name(),
            agent: detection.agent.as_ref().map(|agent| Agent {
                name: agent.name,
                pid: agent.pid.map(|pid| pid.0),
                conversation: agent.conversation.as_deref(),
            }),
            context: detection.context.as_deref(),
            terminal: detection.terminal.map(|terminal| terminal.to_string()),
            parent: detection.parent.as_ref().map(SessionId::as_str),
            parent_handle: detection.parent.as_ref().map(|id| Handle::of(id).to_string()),
            anchor: detection.anchor.as_ref(),
            trail: detection
                .trail
                .iter()
                .map(|finding| Finding {
                    detector: finding.detector,
                    outcome: finding.outcome.name(),
                    reason: &finding.reason,
                })
                .collect(),
            ancestry: detection
                .ancestry
                .iter()
                .map(|ancestor| Ancestor {
                    pid: ancestor.process.pid.0,
                    start: ancestor.process.start.0,
                    name: &ancestor.process.name,
                    terminal: ancestor.process.terminal.map(|terminal| terminal.to_string()),
                    role: ancestor.role.to_string(),
                })
                .collect(),
            end: detection.end.as_ref().map(ToString::to_string),
        }
    }
}
