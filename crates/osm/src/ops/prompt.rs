//! Builds prompts from the items of a session, and changes these items.
//!
//! Modes do the same through scripts: `osm:context` (`script_host/context.rs`) and these operations share
//! the `Builder`. The items and the counter of their ids are those of `ctxutil.js`.

mod builder;
mod collected;
mod items;
mod template;
#[cfg(test)]
mod tests;

use std::path::Path;

use osm_context::Skipped;
use osm_store::Session;
use osm_store::backend::Wait;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::Failure;
use crate::interaction::{Interaction, Interrupted};
use crate::invocation::{Invocation, InvocationError};

use self::items::{Fresh, Items};

pub(crate) use builder::{Builder, Watch, report};
pub use builder::{Listed, PromptStats};
pub use collected::{Collected, collected};
pub(crate) use template::Template;

/// The template of `osm code-review`.
pub const CODE_REVIEW: &str = include_str!("../../assets/prompts/code-review.md");

/// The template of a prompt and its data; `{{ context }}` is the text of all items.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildRequest {
    /// A `MiniJinja` template.
    pub template: String,
    /// An object with the names that the template uses, or null.
    pub data: Value,
}

impl Default for BuildRequest {
    /// The text of all items without anything around it.
    fn default() -> Self {
        Self { template: "{{ context }}".into(), data: Value::Null }
    }
}

impl BuildRequest {
    /// The prompt that `show` and `copy` of `osm code-review` build.
    #[must_use]
    pub fn code_review() -> Self {
        Self { template: CODE_REVIEW.into(), data: json!({ "chunk": 1, "chunks": 1 }) }
    }
}

/// A prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Prompt {
    /// The text.
    pub text: String,
    /// Its size, and its warnings.
    pub stats: PromptStats,
    /// The files that are not in it, with the reasons.
    pub skipped: Vec<Skipped>,
}

/// Something to add to the items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewItem {
    /// A file, a folder, or a pattern.
    Path(String),
    /// A note.
    Note(String),
    /// The arguments of `git diff`, which runs when a prompt is built.
    Diff(Vec<String>),
}

/// What to add.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddRequest {
    /// The new items, in order.
    pub items: Vec<NewItem>,
}

/// The result of [`add`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Added {
    /// The ids of the new items.
    pub ids: Vec<i64>,
    /// The ids of items that were added before and asked for again.
    pub known: Vec<i64>,
    /// Matches of patterns that were skipped, with the reasons.
    pub skipped: Vec<Skipped>,
}

/// Why an operation on prompts failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The run has no store.
    #[error(transparent)]
    Invocation(#[from] InvocationError),
    /// The session cannot be read or saved.
    #[error(transparent)]
    Store(#[from] osm_store::Error),
    /// The context cannot be built.
    #[error("{}", explained(.0))]
    Context(#[from] osm_context::Error),
    /// The template cannot be rendered.
    #[error("{0}")]
    Template(String),
    /// Something that was asked for is not in the prompt.
    #[error("the prompt is incomplete: {}", missed(.0))]
    Incomplete(Vec<Skipped>),
    /// Paths that cannot be added.
    #[error("nothing added: {}", joined(.0))]
    Unresolved(Vec<(String, osm_context::Error)>),
    /// Another tool has stored something else under the items' key.
    #[error("the items of this session are invalid: {0}")]
    Items(#[from] serde_json::Error),
    /// The user stopped it.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

impl Failure for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Invocation(error) => error.reason(),
            Self::Store(_) => "store",
            Self::Context(_) => "context",
            Self::Template(_) => "invalid_template",
            Self::Incomplete(_) => "incomplete_prompt",
            Self::Unresolved(_) => "not_found",
            Self::Items(_) => "invalid_items",
            Self::Interrupted(error) => error.reason(),
        }
    }

    fn exit(&self) -> crate::Exit {
        match self {
            Self::Invocation(error) => error.exit(),
            Self::Unresolved(_) => crate::Exit::NotFound,
            Self::Interrupted(error) => error.exit(),
            _ => crate::Exit::Failure,
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::Invocation(error) => error.hints(),
            _ => Vec::new(),
        }
    }

    fn unwritable(&self) -> Option<&Path> {
        match self {
            Self::Store(error) => error.unwritable(),
            _ => None,
        }
    }
}

/// The message with its hint.
fn explained(error: &osm_context::Error) -> String {
    match error.hint() {
        Some(hint) => format!("{error} ({hint})"),
        None => error.to_string(),
    }
}

fn joined(failed: &[(String, osm_context::Error)]) -> String {
    let failed = failed.iter().map(|(path, error)| format!("{path}: {}", explained(error)));
    failed.collect::<Vec<_>>().join("; ")
}

fn missed(missed: &[Skipped]) -> String {
    let missed = missed.iter().map(|it| format!("{}: {}", it.path, it.reason));
    missed.collect::<Vec<_>>().join("; ")
}

/// Builds a prompt from the items of the session.
pub fn build(
    invocation: &Invocation,
    request: &BuildRequest,
    interaction: &mut dyn Interaction,
) -> Result<Prompt, Error> {
    let items = Items::read(&open(invocation)?)?;
    with_builder(invocation, "building the prompt", interaction, |builder| {
        let template = Template { name: Template::NAME, text: &request.template };
        let prompt = builder.build(&items.list, template, request.data.clone())?;
        let skipped = prompt.skipped().cloned().collect();
        Ok(Prompt { text: prompt.to_string(), stats: builder.stats(&prompt)?, skipped })
    })
}

/// Lists the items of the session with their sizes. Diffs are taken for it; no command is run.
pub fn list(
    invocation: &Invocation,
    interaction: &mut dyn Interaction,
) -> Result<Vec<Listed>, Error> {
    let items = Items::read(&open(invocation)?)?;
    with_builder(invocation, "listing the items", interaction, |builder| builder.list(&items.list))
}

/// Adds items to the session: all of them, or none.
pub fn add(
    invocation: &Invocation,
    request: &AddRequest,
    interaction: &mut dyn Interaction,
) -> Result<Added, Error> {
    let mut session = open(invocation)?;
    with_builder(invocation, "adding items", interaction, |builder| {
        add_to(&mut session, request, builder)
    })
}

fn add_to(session: &mut Session, request: &AddRequest, builder: &Builder) -> Result<Added, Error> {
    let mut items = Items::read(session)?;
    let (mut added, mut fresh, mut failed) = (Added::default(), Vec::new(), Vec::new());
    for new in &request.items {
        match (Fresh::find(new, builder, &mut added.skipped), new) {
            (Ok(found), _) => fresh.push(found),
            (Err(error @ osm_context::Error::Interrupted), _) => return Err(error.into()),
            (Err(error), NewItem::Path(path)) => failed.push((path.clone(), error)),
            (Err(error), _) => return Err(error.into()),
        }
    }
    if !failed.is_empty() {
        return Err(Error::Unresolved(failed));
    }
    items.reserve(session, &fresh)?;
    for each in fresh {
        items.add(each, builder, &mut added);
    }
    if !added.ids.is_empty() {
        items.store(session)?;
        let ids: Vec<String> = added.ids.iter().map(i64::to_string).collect();
        session.record("prompt", &format!("add {}", ids.join(" ")))?;
    }
    Ok(added)
}

/// Does work that the front end shows and the user can stop.
fn with_builder<T>(
    invocation: &Invocation,
    what: &str,
    interaction: &mut dyn Interaction,
    work: impl FnOnce(&Builder) -> Result<T, Error>,
) -> Result<T, Error> {
    let folder = invocation.folder()?;
    let (environment, settings) = (&invocation.world.environment, &invocation.settings.prompting);
    let shown = interaction.begin(what);
    let watch =
        Watch { interrupted: &|| shown.is_stopped(), progress: &|step| report(step, &shown) };
    match work(&Builder::new(&folder, environment, settings, watch)) {
        Err(Error::Context(osm_context::Error::Interrupted)) => Err(shown.interrupted().into()),
        done => done,
    }
}

fn open(invocation: &Invocation) -> Result<Session, Error> {
    let store = invocation.store_opener()?()?;
    Ok(store.open(invocation.session_id(), Wait::USUAL)?)
}
