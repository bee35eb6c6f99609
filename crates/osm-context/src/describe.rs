//! Items for lists: what each stands for, and how much that is now. Diffs are taken for it; no command
//! of the user's is run.
//!
//! As in a prompt, a file that comes up twice counts once.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::build::at;
use crate::error::{Error, Result};
use crate::files::{Fate, read_all};
use crate::git;
use crate::item::{Item, Kind};
use crate::plan::{Plan, Planner};
use crate::progress::Step;
use crate::section::{REPEATED, Skipped};
use crate::setting::Setting;
use crate::stats::lines;
use crate::tokens;

/// What an item stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// Its number.
    pub id: Option<i64>,
    /// The word for its kind.
    #[serde(rename = "type")]
    pub type_name: String,
    /// How it is called.
    pub label: String,
    /// It is a file or a folder that is not there.
    pub missing: bool,
    /// It is a folder.
    pub folder: bool,
    /// How many files it gives.
    pub files: u64,
    /// How many bytes; none for a command, which is run only when the prompt is built.
    pub bytes: u64,
    /// How many lines.
    pub lines: u64,
    /// How many tokens, if they were counted.
    pub tokens: Option<u64>,
    /// What of it is left out, and why.
    pub skipped: Vec<Skipped>,
    /// The beginning of a note, on one line.
    pub beginning: Option<String>,
    /// Why a diff cannot be taken.
    pub failed: Option<String>,
}

/// The most characters of a note that are shown.
const BEGINNING: usize = 60;

/// A file that items stand for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOf {
    /// Where it is, as far as that is UTF-8.
    pub path: String,
    /// How it is called.
    pub label: String,
    /// How many bytes.
    pub size: u64,
}

/// What each of some items stands for, in order. Tokens are counted if the setting has an encoding.
pub fn describe(items: &[Item], setting: &Setting) -> Result<Vec<Description>> {
    let (mut planner, mut known) = (Planner::new(setting), HashSet::new());
    let mut describe = |(at, item)| {
        setting.report(at, Step::Items { done: at, total: items.len() });
        one(item, &mut planner, &mut known, setting)
    };
    items.iter().enumerate().map(&mut describe).collect()
}

/// The items whose files or folders are not there, by their numbers. One look at each tells.
#[must_use]
pub fn missing(items: &[Item], setting: &Setting) -> Vec<i64> {
    let mut planner = Planner::new(setting);
    let mut is_missing = |item: &&Item| match item.kind() {
        Kind::File(place) => planner.is_missing(&place, item.label()),
        _ => false,
    };
    items.iter().filter(&mut is_missing).filter_map(Item::id).collect()
}

/// The files that some items stand for, in order, without a look into them.
pub fn files(items: &[Item], setting: &Setting) -> Result<Vec<FileOf>> {
    let mut planner = Planner::new(setting);
    let mut files = Vec::new();
    for (at, item) in items.iter().enumerate() {
        setting.report(at, Step::Items { done: at, total: items.len() });
        let Kind::File(place) = item.kind() else { continue };
        let plan = lenient(planner.plan(&place, item.label()), item)?;
        files.extend(plan.files.into_iter().filter_map(|file| {
            let size = file.path.symlink_metadata().ok()?.len();
            let path = file.path.to_string_lossy().into_owned();
            Some(FileOf { path, label: file.label, size })
        }));
    }
    Ok(files)
}

fn one(
    item: &Item,
    planner: &mut Planner,
    known: &mut HashSet<PathBuf>,
    setting: &Setting,
) -> Result<Description> {
    let mut about = Description {
        id: item.id(),
        type_name: item.type_name().to_owned(),
        label: item.label().to_owned(),
        ..Description::default()
    };
    match item.kind() {
        Kind::File(place) => {
            let plan = lenient(planner.plan(&place, item.label()), item)?;
            about.add_files(plan, known, setting)?;
        }
        Kind::Note(text) => {
            about.add(Amount::of(&text, setting)?);
            about.beginning = Some(beginning(&text));
        }
        Kind::Diff(text) | Kind::FailedDiff(text) => about.add(Amount::of(&text, setting)?),
        Kind::LazyDiff { arguments, folder } => {
            match git::diff(&arguments, &at(folder, setting), setting) {
                Ok(diff) => {
                    about.add(Amount::of(&diff.text, setting)?);
                    about.bytes += diff.beyond;
                }
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => about.failed = Some(error.to_string()),
            }
        }
        Kind::LazyRun { .. } => {}
        Kind::Unknown(reason) => about.skipped.push(Skipped::new(item.name(), &reason)),
    }
    Ok(about)
}

/// The beginning of a text: its words on one line, cut where there are too many.
fn beginning(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if let Some((end, _)) = line.char_indices().nth(BEGINNING) {
            line.truncate(end);
            line.push('…');
            break;
        }
    }
    line
}

/// A plan in any case: what is wrong with an item is part of its description.
fn lenient(plan: Result<Plan>, item: &Item) -> Result<Plan> {
    match plan {
        Err(Error::Interrupted) => Err(Error::Interrupted),
        Err(error) => {
            let skipped = vec![Skipped::new(item.label(), &error)];
            Ok(Plan { skipped, missing: true, ..Plan::default() })
        }
        plan => plan,
    }
}

impl Description {
    fn add_files(
        &mut self,
        mut plan: Plan,
        known: &mut HashSet<PathBuf>,
        setting: &Setting,
    ) -> Result<()> {
        (self.missing, self.folder, self.skipped) = (plan.missing, plan.folder, plan.skipped);
        let all = plan.files.len();
        plan.files.retain(|file| !known.contains(&file.path));
        let repeated = all - plan.files.len();
        let note = |text: &str| Amount::of(text, setting);
        let fates = read_all(&plan.files, u64::MAX, setting, note, |amount, _| amount)?;
        for (file, fate) in plan.files.into_iter().zip(fates) {
            match fate {
                Fate::Read(amount) => {
                    self.files += 1;
                    self.add(amount?);
                    known.insert(file.path);
                }
                Fate::Skipped(reason) => self.skipped.push(Skipped::new(file.label, &reason)),
                Fate::Beyond => {}
            }
        }
        self.skipped.extend(Skipped::files(&self.label, self.folder, repeated, REPEATED));
        Ok(())
    }

    fn add(&mut self, amount: Amount) {
        self.bytes += amount.bytes;
        self.lines += amount.lines;
        self.tokens = amount.tokens.map(|tokens| self.tokens.unwrap_or(0) + tokens);
    }
}

/// How much a text is.
#[derive(Clone, Copy)]
struct Amount {
    bytes: u64,
    lines: u64,
    tokens: Option<u64>,
}

impl Amount {
    fn of(text: &str, setting: &Setting) -> Result<Self> {
        // The files are spread over the processors already.
        let count = |encoding| tokens::count_here(text, encoding, setting.interrupted);
        Ok(Self {
            bytes: text.len() as u64,
            lines: lines(text),
            tokens: setting.encoding.map(count).transpose()?,
        })
    }
}
