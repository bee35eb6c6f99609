//! Builds prompts in a folder, with the user's settings. Scripts and operations use it.

use std::path::{Path, PathBuf};

use osm_context::{
    Block, Description, Encoding, Interrupted, Item, Kind, Limits, Outcome, Prompt, Setting, Stats,
    Step, Subject,
};
use osm_identity::Environment;
use serde::Serialize;
use serde_json::Value;

use super::{Error, Template};
use crate::bare::repository_around;
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

/// An item of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// What the item stands for.
    #[serde(flatten)]
    pub item: Description,
    /// The repository that it comes from, unless that is the one around the working directory.
    pub repository: Option<PathBuf>,
}

/// Builds prompts in a folder.
pub(crate) struct Builder<'a> {
    setting: Setting<'a>,
    budget: Option<u64>,
    /// A prompt without something that was asked for is an error.
    complete: bool,
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
        Self { setting, budget: settings.budget, complete: settings.complete }
    }

    pub(crate) fn setting(&self) -> &Setting<'a> {
        &self.setting
    }

    /// Builds the context of some items, and renders a template around it.
    pub(crate) fn build(
        &self,
        items: &[Item],
        template: Template,
        data: Value,
    ) -> Result<Prompt, Error> {
        template.wrap(self.context(items)?, data).map_err(Error::Template)
    }

    /// Builds the context of some items.
    pub(crate) fn context(&self, items: &[Item]) -> Result<Prompt, Error> {
        let context = osm_context::build(items, &self.setting)?;
        match context.missed() {
            missed if self.complete && !missed.is_empty() => Err(Error::Incomplete(missed)),
            _ => Ok(context),
        }
    }

    /// Describes items for a list.
    pub(crate) fn list(&self, items: &[Item]) -> Result<Vec<Listed>, Error> {
        let described = osm_context::describe(items, &self.setting)?;
        let worktree = |folder: &Path| repository_around(folder).map(|it| it.worktree);
        let here = worktree(self.setting.folder);
        let listed = described.into_iter().zip(items).map(|(description, item)| {
            let repository = self.folder_of(item).and_then(|folder| worktree(&folder));
            Listed {
                item: description,
                repository: repository.filter(|it| here.as_ref() != Some(it)),
            }
        });
        Ok(listed.collect())
    }

    /// The folder that an item comes from.
    fn folder_of(&self, item: &Item) -> Option<PathBuf> {
        let folder = match item.kind() {
            Kind::File(place) => {
                let path = self.setting.folder.join(place.path.as_deref().unwrap_or(item.label()));
                if path.is_dir() { path } else { path.parent()?.to_owned() }
            }
            Kind::LazyDiff { folder, .. } | Kind::LazyRun { folder, .. } => {
                self.setting.folder.join(folder?)
            }
            _ => return None,
        };
        Some(folder)
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
