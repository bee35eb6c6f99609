//! What osm says to an agent, in the agent's dialect.
//!
//! A hook of osm always ends with exit code 0: Copilot takes 1 for a refusal, Gemini 127, and all of them 2.
//! What osm decides is only in the JSON that it prints. Nothing to say is no output.

#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use super::event::{Event, Moment};
use super::table::{Agent, Dialect};

/// What osm decided.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Verdict {
    /// Why the tool must not run.
    pub(crate) refusal: Option<String>,
    /// What the model should know.
    pub(crate) context: Option<String>,
    /// What the user should know.
    pub(crate) warning: Option<String>,
    /// The arguments with which the tool should run.
    pub(crate) input: Option<Value>,
}

/// What osm prints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// On standard output.
    pub(crate) output: String,
    /// On standard error.
    pub(crate) warning: Option<String>,
}

impl Verdict {
    /// The tool must not run.
    pub(crate) fn refuse(why: impl Into<String>) -> Self {
        Self { refusal: Some(why.into()), ..Self::default() }
    }

    /// The model should know this.
    pub(crate) fn tell(what: impl Into<String>) -> Self {
        Self { context: Some(what.into()), ..Self::default() }
    }

    fn is_silent(&self) -> bool {
        self.refusal.is_none()
            && self.context.is_none()
            && self.warning.is_none()
            && self.input.is_none()
    }
}

impl Answer {
    /// The answer to an event. An agent that is out of sight gets the form that most agents read.
    pub(crate) fn new(agent: Option<&Agent>, event: &Event, verdict: &Verdict) -> Self {
        let dialect = agent.map_or(Dialect::Claude, |agent| agent.dialect);
        let object = match dialect {
            _ if verdict.is_silent() => Map::new(),
            Dialect::Claude => claude(event, verdict),
            Dialect::Copilot if event.has_claude_form => claude(event, verdict),
            Dialect::Copilot => copilot(verdict),
            Dialect::Gemini => gemini(event, verdict),
            Dialect::Cline => cline(event, verdict),
            Dialect::Module => module(verdict),
            Dialect::Cursor => cursor(verdict),
            Dialect::Crush => crush(verdict),
        };
        let output =
            if object.is_empty() { String::new() } else { Value::from(object).to_string() };
        Self { output, warning: verdict.warning.clone() }
    }
}

/// The fields that have a value.
fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map<String, Value> {
    let known = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    known.collect()
}

fn text(text: Option<&String>) -> Option<Value> {
    text.map(|text| text.as_str().into())
}

fn claude(event: &Event, verdict: &Verdict) -> Map<String, Value> {
    let Verdict { refusal, context, warning, input } = verdict;
    let mut specific = object([
        ("permissionDecision", refusal.as_ref().map(|_| json!("deny"))),
        ("permissionDecisionReason", text(refusal.as_ref())),
        ("additionalContext", text(context.as_ref())),
        ("updatedInput", input.clone()),
    ]);
    if !specific.is_empty() {
        let name = event.name.clone().unwrap_or_else(|| event.moment.claude_name().to_owned());
        specific.shift_insert(0, "hookEventName".to_owned(), name.into());
    }
    let specific = (!specific.is_empty()).then(|| specific.into());
    object([("hookSpecificOutput", specific), ("systemMessage", text(warning.as_ref()))])
}

fn gemini(event: &Event, verdict: &Verdict) -> Map<String, Value> {
    let Verdict { refusal, context, warning, input } = verdict;
    let mut specific =
        object([("additionalContext", text(context.as_ref())), ("tool_input", input.clone())]);
    if !specific.is_empty()
        && let Some(name) = &event.name
    {
        specific.shift_insert(0, "hookEventName".to_owned(), name.as_str().into());
    }
    object([
        ("decision", refusal.as_ref().map(|_| json!("deny"))),
        ("reason", text(refusal.as_ref())),
        ("systemMessage", text(warning.as_ref())),
        ("hookSpecificOutput", (!specific.is_empty()).then(|| specific.into())),
    ])
}

fn copilot(verdict: &Verdict) -> Map<String, Value> {
    let Verdict { refusal, context, input, .. } = verdict;
    object([
        ("permissionDecision", refusal.as_ref().map(|_| json!("deny"))),
        ("permissionDecisionReason", text(refusal.as_ref())),
        ("additionalContext", text(context.as_ref())),
        ("modifiedArgs", input.clone()),
    ])
}

/// `cancel` would end the whole run, and the model would never read the reason. So the edit is one of the
/// folder, and fails. An edit of the file itself would create a file that does not exist.
fn cline(event: &Event, verdict: &Verdict) -> Map<String, Value> {
    let Verdict { refusal, context, input, .. } = verdict;
    let harmless = refusal.as_ref().map(|why| {
        let path = event.folder.as_deref().unwrap_or("/");
        json!({ "path": path, "old_text": format!("(refused by osm) {why}"), "new_text": "" })
    });
    let said: Vec<&str> = [refusal, context].into_iter().flatten().map(String::as_str).collect();
    object([
        ("cancel", Some(json!(false))),
        ("overrideInput", harmless.or_else(|| input.clone())),
        ("contextModification", (!said.is_empty()).then(|| said.join("\n").into())),
    ])
}

fn module(verdict: &Verdict) -> Map<String, Value> {
    let Verdict { refusal, context, warning, .. } = verdict;
    object([
        ("refusal", text(refusal.as_ref())),
        ("context", text(context.as_ref())),
        ("warning", text(warning.as_ref())),
    ])
}

fn cursor(verdict: &Verdict) -> Map<String, Value> {
    let Verdict { refusal, context, .. } = verdict;
    object([
        ("permission", refusal.as_ref().map(|_| json!("deny"))),
        ("user_message", text(refusal.as_ref())),
        ("agent_message", text(refusal.as_ref())),
        ("additional_context", text(context.as_ref())),
    ])
}

fn crush(verdict: &Verdict) -> Map<String, Value> {
    let Verdict { refusal, context, .. } = verdict;
    object([
        ("decision", refusal.as_ref().map(|_| json!("deny"))),
        ("reason", text(refusal.as_ref())),
        ("context", text(context.as_ref())),
    ])
}

/// Whether messages are delivered at this moment: after a tool, so that a hook before one does no more than its
/// task, unless the agent has no hook after a tool.
pub(crate) fn delivers(agent: Option<&Agent>, moment: Moment) -> bool {
    // The modules of osm for other agents have no list of hooks, and run before and after.
    let has_only = |agent: &Agent| {
        let has = |moment| agent.hooks.iter().any(|hook| hook.moment == moment);
        has(Moment::BeforeTool) && !has(Moment::AfterTool)
    };
    if agent.is_some_and(has_only) {
        return moment == Moment::BeforeTool;
    }
    moment == Moment::AfterTool
}

/// Whether the agent lets the model read what a hook says at this moment.
pub(crate) fn hears(agent: Option<&Agent>, moment: Moment) -> bool {
    !matches!((agent.map(|it| it.dialect), moment), (Some(Dialect::Cline), Moment::SessionStart))
}
