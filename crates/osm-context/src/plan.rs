//! Which files an item stands for, and where each of them really is.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::item::Place;
use crate::reason::Reason;
use crate::resolve;
use crate::section::Skipped;
use crate::setting::Setting;
use crate::walk::{self, Scope};

/// A file that is to be read.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// Where it really is: no link leads there.
    pub(crate) path: PathBuf,
    /// How it is called.
    pub(crate) label: String,
    /// How large it may be.
    pub(crate) most: u64,
}

/// What a file item stands for.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) files: Vec<Wanted>,
    pub(crate) skipped: Vec<Skipped>,
    /// Of what is skipped, what could not be read.
    pub(crate) missed: Vec<Skipped>,
    /// It is a folder.
    pub(crate) folder: bool,
    /// There is nothing of that name.
    pub(crate) missing: bool,
}

/// Finds the files of items, one item after the other.
pub(crate) struct Planner<'a> {
    setting: &'a Setting<'a>,
    /// Where folders really are, which many files share.
    folders: HashMap<PathBuf, PathBuf>,
}

impl<'a> Planner<'a> {
    pub(crate) fn new(setting: &'a Setting<'a>) -> Self {
        Self { setting, folders: HashMap::new() }
    }

    /// The files of an item: of its path, or if it has none, of its label.
    pub(crate) fn plan(&mut self, place: &Place, label: &str) -> Result<Plan> {
        let setting = self.setting;
        setting.go_on()?;
        let path = self.absolute(place, label)?;
        let label = if label.is_empty() {
            resolve::label_of(&path, setting.folder)
        } else {
            label.to_owned()
        };
        let located = self.locate(&path).and_then(|located| {
            let is_same = place.real.as_ref().is_none_or(|real| located.0 == Path::new(real));
            is_same.then_some(located).ok_or(Reason::Elsewhere)
        });
        let (path, is_folder) = match located {
            Ok(located) => located,
            Err(reason) => {
                let missing = reason == Reason::NotFound;
                let skipped = vec![Skipped::new(label, &reason)];
                let missed = skipped.clone();
                return Ok(Plan { skipped, missed, missing, ..Plan::default() });
            }
        };
        if !is_folder {
            let most = setting.limits.named_file;
            return Ok(Plan { files: vec![Wanted { path, label, most }], ..Plan::default() });
        }
        let walked = walk::walk(&path, Scope::default(), setting)?;
        let most = setting.limits.file;
        let files = walked.files.into_iter().map(|file| {
            let label = below(&label, &file.name);
            Wanted { path: file.path, label, most }
        });
        let files = files.collect();
        let mut plan = Plan { files, folder: true, ..Plan::default() };
        for (name, reason) in walked.skipped {
            let skipped = Skipped::new(below(&label, &name), &reason);
            plan.missed.extend(reason.is_failure().then(|| skipped.clone()));
            plan.skipped.push(skipped);
        }
        Ok(plan)
    }

    /// Whether there is nothing of that name. No folder is walked for it.
    pub(crate) fn is_missing(&mut self, place: &Place, label: &str) -> bool {
        let path = self.absolute(place, label);
        path.is_ok_and(|path| self.locate(&path) == Err(Reason::NotFound))
    }

    fn absolute(&self, place: &Place, label: &str) -> Result<PathBuf> {
        match &place.path {
            Some(path) => Ok(self.setting.folder.join(path)),
            None => resolve::absolute(label, self.setting),
        }
    }

    /// Where a path really leads, and whether that is a folder.
    pub(crate) fn locate(&mut self, path: &Path) -> std::result::Result<(PathBuf, bool), Reason> {
        let failed = |error| Reason::of_error(&error);
        let metadata = path.symlink_metadata().map_err(failed)?;
        let metadata = if metadata.is_symlink() {
            path.metadata().map_err(|error| match Reason::of_error(&error) {
                Reason::NotFound => Reason::BrokenLink,
                reason => reason,
            })?
        } else if metadata.is_file()
            && let (Some(folder), Some(name)) = (path.parent(), path.file_name())
        {
            return Ok((self.real(folder).map_err(failed)?.join(name), false));
        } else {
            metadata
        };
        match Reason::of_type(metadata.file_type()) {
            Some(reason) => Err(reason),
            None => Ok((path.canonicalize().map_err(failed)?, metadata.is_dir())),
        }
    }

    fn real(&mut self, folder: &Path) -> std::io::Result<&PathBuf> {
        if !self.folders.contains_key(folder) {
            self.folders.insert(folder.to_owned(), folder.canonicalize()?);
        }
        Ok(&self.folders[folder])
    }
}

/// The label of a file in a folder.
fn below(folder: &str, name: &str) -> String {
    match (folder, name) {
        ("." | "", "") => ".".to_owned(),
        ("." | "", name) => name.to_owned(),
        (folder, "") => folder.to_owned(),
        (folder, name) => [folder.trim_end_matches('/'), "/", name].concat(),
    }
}
