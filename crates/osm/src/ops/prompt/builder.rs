//! Builds prompts in a folder, with the user's settings. Scripts and operations use it.

use std::path::Path;

use osm_context::{
    Block, Encoding, Interrupted, Item, Limits, Outcome, Prompt, Setting, Stats, Step, Subject,
};
use osm_identity::Environment;
use serde::Serialize;
use serde_json::Value;

use super::{Error, template};
use crate::config::Prompting;
use crate::interaction::Progress;

/// The size of a prompt, and its problems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptStats {
    /// The size.
    #[serde(flatten)]
    pub stats: Stats,
    /// Failed items, empty diffs, skipped files.
    pub warnings: Vec<String>,
}

/// The caller, as long work sees it.
#[derive(Clone, Copy)]
pub(crate) struct Watch<'a> {
    /// Whether it wants the work to stop.
    pub(crate) interrupted: Interrupted<'a>,
    /// Hears how far the work is.
    pub(crate) progress: osm_context::Progress<'a>,
}

/// Shows a step of long work.
pub(crate) fn report(step: Step, shown: &Progress) {
    match step {
        Step::Finding(files) => shown.count("finding files", files, None),
        Step::Reading { done, total } => shown.count("reading files", done, Some(total)),
        Step::Items { done, total } => shown.count("going through items", done, Some(total)),
        Step::Counting { done, total } => shown.count("counting tokens", done, Some(total)),
        Step::Running(command) => shown.at(&format!("running {command}")),
        _ => {}
    }
}

/// Builds prompts in a folder.
pub(crate) struct Builder<'a> {
    setting: Setting<'a>,
    budget: Option<u64>,
}

impl<'a> Builder<'a> {
    pub(crate) fn new(
        folder: &'a Path,
        environment: &'a Environment,
        settings: &Prompting,
        watch: Watch<'a>,
    ) -> Self {
        let home = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
        let usual = Limits::default();
        let file = settings.max_file.unwrap_or(u64::MAX);
        let setting = Setting {
            home: environment.get(home).map(Path::new),
            limits: Limits { file, named_file: usual.named_file.max(file), ..usual },
            encoding: settings.tokens.then(Encoding::default),
            interrupted: watch.interrupted,
            progress: watch.progress,
            ..Setting::new(folder)
        };
        Self { setting, budget: settings.budget }
    }

    pub(crate) fn setting(&self) -> &Setting<'a> {
        &self.setting
    }

    /// Builds the context of some items, and renders a template around it.
    pub(crate) fn build(
        &self,
        items: &[Item],
        template: &str,
        data: Value,
    ) -> Result<Prompt, Error> {
        let context = osm_context::build(items, &self.setting)?;
        template::wrap(context, template, data).map_err(Error::Template)
    }

    /// The size of a prompt, and its problems.
    pub(crate) fn stats(&self, prompt: &Prompt) -> Result<PromptStats, Error> {
        let stats = prompt.stats(&self.setting, self.budget)?;
        Ok(PromptStats { stats, warnings: warnings(prompt) })
    }
}

fn warnings(prompt: &Prompt) -> Vec<String> {
    let of_block = |block: &Block| {
        let label = &block.label;
        match block.outcome {
            Outcome::Failed => {
                let why = prompt.failure_of(block).unwrap_or("no reason given");
                Some(format!("{label} failed: {why}"))
            }
            Outcome::ExitCode(code) => Some(format!("{label} ended with exit code {code}")),
            Outcome::Fine if block.subject == Subject::Diff && block.body().is_empty() => {
                Some(format!("{label} shows no change"))
            }
            Outcome::Fine => None,
        }
    };
    let mut warnings: Vec<String> = prompt.blocks().filter_map(of_block).collect();
    match prompt.skipped().count() {
        0 => {}
        count => {
            warnings.push(format!("{count} left out; the end of the prompt lists the reasons"));
        }
    }
    warnings
}
