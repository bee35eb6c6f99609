//! One call of a tool, while it runs: its session, its arguments, and what the model is told besides.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use osm_claims::{Notices, Resource};
use serde_json::Value;

use super::arguments::Arguments;
use crate::Failure;
use crate::documents;
use crate::interaction::{CannotAsk, Interaction, Progress, Watcher, Work};
use crate::invocation::Invocation;
use crate::ops::claim;

/// What a tool returns: a document, or the document of why not.
pub(super) type Answer = Result<Value, Value>;

/// A call.
pub(super) struct Call<'a> {
    pub(super) invocation: &'a Invocation<'a>,
    pub(super) arguments: &'a Arguments,
    pub(super) voice: Voice,
}

/// A front end that collects what it is told, and cannot ask.
#[derive(Debug, Default)]
pub(super) struct Voice {
    said: Vec<String>,
    /// Becomes true when the client cancels the call.
    stop: Arc<AtomicBool>,
}

impl Voice {
    pub(super) fn new(stop: Arc<AtomicBool>) -> Self {
        Self { said: Vec::new(), stop }
    }

    /// Everything that the model should be told beside the result.
    pub(super) fn said(&self) -> Option<String> {
        (!self.said.is_empty()).then(|| self.said.join("\n"))
    }
}

impl Interaction for Voice {
    fn begin(&mut self, _what: &str) -> Progress {
        Progress::seen_by(Box::new(Stop(Arc::clone(&self.stop))))
    }

    fn confirm(&mut self, _question: &str) -> Result<bool, CannotAsk> {
        Err(CannotAsk)
    }

    fn note(&mut self, message: &str) {
        self.said.push(format!("note: {message}"));
    }

    fn warn(&mut self, message: &str) {
        self.said.push(format!("warning: {message}"));
    }

    fn hint(&mut self, message: &str) {
        self.said.push(format!("hint: {message}"));
    }
}

/// Long work of a call, which the client can cancel.
struct Stop(Arc<AtomicBool>);

impl Watcher for Stop {
    fn report(&self, _work: &Work) {}

    fn stop(&self) -> &AtomicBool {
        &self.0
    }

    fn signal(&self) -> Option<u8> {
        None
    }
}

impl Call<'_> {
    /// The scope that the caller named.
    pub(super) fn scope(&self) -> Option<String> {
        self.arguments.owned("scope")
    }

    /// The resource that the caller named.
    pub(super) fn resource(&self) -> Result<Resource, Value> {
        let word = self.arguments.text("resource").unwrap_or_default();
        self.resource_of(word)
    }

    /// The resource that a word means.
    pub(super) fn resource_of(&self, word: &str) -> Result<Resource, Value> {
        let scope = self.scope();
        let resource = claim::resource(self.invocation, word.as_ref(), scope.as_deref());
        resource.map_err(documents::failure)
    }

    /// The resources under the name of an argument: names, or paths from the working directory.
    pub(super) fn resources(&self, name: &str) -> Result<Vec<Resource>, Value> {
        self.arguments.texts(name).map(|word| self.resource_of(word)).collect()
    }

    /// The paths from the working directory.
    pub(super) fn paths(&self, name: &str) -> Result<Vec<Resource>, Value> {
        let scope = self.scope();
        let resource = |word: &str| {
            let path = claim::path_resource(self.invocation, word.as_ref(), scope.as_deref());
            path.map_err(documents::failure)
        };
        self.arguments.texts(name).map(resource).collect()
    }

    /// The answer of an operation on claims. A refusal is a document, too.
    pub(super) fn answered<T>(&mut self, answer: Result<T, claim::Error>) -> Result<T, Value> {
        answer.map_err(|error| {
            if let Some(refused) = error.refusal() {
                claim::tell_notices(&refused.notices, self.invocation, &mut self.voice);
            }
            let refusal = documents::claim::refusal(&error);
            refusal.unwrap_or_else(|| documents::failure(error))
        })
    }

    /// Tells the session what it lost.
    pub(super) fn tell(&mut self, notices: &Notices) {
        claim::tell_notices(notices, self.invocation, &mut self.voice);
    }

    /// The answer of any other operation.
    pub(super) fn done<T, F: Failure + 'static>(answer: Result<T, F>) -> Result<T, Value> {
        answer.map_err(documents::failure)
    }
}
