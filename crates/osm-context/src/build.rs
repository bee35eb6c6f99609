//! Builds the prompt of a list of items.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::{Fate, read_all};
use crate::git;
use crate::item::{Item, Kind};
use crate::plan::{Plan, Planner, Wanted};
use crate::progress::Step;
use crate::reason::{bytes, time};
use crate::render::Prompt;
use crate::run::{self, End};
use crate::section::{Block, CUT_SHORT, Outcome, REPEATED, Section, Shape, Skipped, Subject};
use crate::setting::Setting;

/// The prompt of some items: a section for each, and for a folder one for each file.
///
/// Diffs are taken and commands run, one after the other. A file that comes up twice is there once.
/// What cannot be there is in the last section, with its reason; only an interruption is an error.
pub fn build(items: &[Item], setting: &Setting) -> Result<Prompt> {
    let mut draft = Draft::default();
    let mut planner = Planner::new(setting);
    for (number, item) in items.iter().enumerate() {
        setting.go_on()?;
        setting.report(number, Step::Items { done: number, total: items.len() });
        draft.begin_item(item.label());
        match item.kind() {
            Kind::File(place) => match planner.plan(&place, item.label()) {
                Ok(plan) => draft.add_files(plan),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => draft.miss(item.label(), &error),
            },
            Kind::Note(text) => draft.add(Block::new(Subject::Note, item.label(), text)),
            Kind::Diff(text) => draft.add(Block::new(Subject::Diff, item.label(), text)),
            Kind::FailedDiff(text) => draft.add(failed(Subject::Diff, item.label(), text)),
            Kind::LazyDiff { arguments, folder } => {
                add_diff(&mut draft, item.label(), &arguments, &at(folder, setting), setting)?;
            }
            Kind::LazyRun { command, folder } => {
                add_output(&mut draft, item.label(), &command, &at(folder, setting), setting)?;
            }
            Kind::Unknown(reason) => draft.miss(item.name(), &reason),
        }
    }
    draft.finish(setting)
}

/// The folder in which a diff is taken or a command is run.
pub(crate) fn at(folder: Option<String>, setting: &Setting) -> PathBuf {
    folder.map_or_else(|| setting.folder.to_owned(), |folder| setting.folder.join(folder))
}

fn failed(subject: Subject, label: &str, complaint: impl Into<String>) -> Block {
    let mut block = Block::new(subject, label, complaint);
    block.outcome = Outcome::Failed;
    if subject == Subject::Diff {
        block.language = "text".into();
    }
    block
}

fn add_diff(
    draft: &mut Draft,
    label: &str,
    arguments: &[String],
    folder: &Path,
    setting: &Setting,
) -> Result<()> {
    let diff = match git::diff(arguments, folder, setting) {
        Ok(diff) => diff,
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        Err(error) => {
            draft.add(failed(Subject::Diff, label, format!("{error}\n")));
            return Ok(());
        }
    };
    draft.add(Block::new(Subject::Diff, label, diff.text));
    draft.mention_losses(label, diff.beyond, diff.replaced);
    Ok(())
}

fn add_output(
    draft: &mut Draft,
    label: &str,
    command: &[String],
    folder: &Path,
    setting: &Setting,
) -> Result<()> {
    let ran = match run::run(command, folder, setting) {
        Ok(ran) => ran,
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        Err(error) => {
            draft.add(failed(Subject::Output, label, format!("{error}\n")));
            return Ok(());
        }
    };
    let mut block = Block::new(Subject::Output, label, ran.output);
    block.outcome = match ran.end {
        End::Exited(0) => Outcome::Fine,
        End::Exited(code) => Outcome::ExitCode(code),
        End::Killed | End::TimedOut => Outcome::Failed,
    };
    draft.add(block);
    match ran.end {
        End::TimedOut => {
            let after = time(setting.limits.time);
            draft.skip(label, &format!("{CUT_SHORT}timed out after {after}"));
        }
        End::Killed => draft.skip(label, &format!("{CUT_SHORT}killed by a signal")),
        End::Exited(_) => {}
    }
    draft.mention_losses(label, ran.beyond, ran.replaced);
    Ok(())
}

/// A prompt whose files are not read yet.
#[derive(Default)]
struct Draft {
    items: Vec<Part>,
    files: Vec<Wanted>,
    /// Which of the files is where. Their paths are real ones, so equal paths have equal bytes, which
    /// are hashed faster than the parts of a path.
    known: HashMap<OsString, usize>,
}

/// What an item gives.
#[derive(Default)]
struct Part {
    label: String,
    block: Option<Block>,
    /// Its files, up to this one.
    files_end: usize,
    is_folder: bool,
    skipped: Vec<Skipped>,
    /// Of what is skipped, what should be there.
    missed: Vec<Skipped>,
    /// Files that an item before it gave already.
    repeated: Vec<usize>,
}

impl Draft {
    fn begin_item(&mut self, label: &str) {
        let part = Part { label: label.to_owned(), files_end: self.files.len(), ..Part::default() };
        self.items.push(part);
    }

    fn part(&mut self) -> &mut Part {
        self.items.last_mut().expect("an item was begun")
    }

    fn add(&mut self, block: Block) {
        self.part().block = Some(block);
    }

    fn skip(&mut self, label: impl Into<String>, reason: &impl ToString) {
        self.part().skipped.push(Skipped::new(label, reason));
    }

    /// Skips something that was asked for.
    fn miss(&mut self, label: impl Into<String>, reason: &impl ToString) {
        let missed = Skipped::new(label, reason);
        self.part().missed.push(missed.clone());
        self.part().skipped.push(missed);
    }

    fn mention_losses(&mut self, label: &str, beyond: u64, replaced: bool) {
        if beyond > 0 {
            self.miss(label, &format!("the last {}, beyond the limit", bytes(beyond)));
        }
        if replaced {
            self.skip(label, &"invalid UTF-8, replaced by \u{fffd}");
        }
    }

    fn add_files(&mut self, plan: Plan) {
        let mut repeated = Vec::new();
        for file in plan.files {
            match self.known.entry(file.path.as_os_str().to_owned()) {
                Entry::Occupied(known) => {
                    // A file of a folder may be larger if it was named itself, before or after.
                    let first = &mut self.files[*known.get()];
                    first.most = first.most.max(file.most);
                    repeated.push(*known.get());
                }
                Entry::Vacant(place) => {
                    place.insert(self.files.len());
                    self.files.push(file);
                }
            }
        }
        let files_end = self.files.len();
        let part = self.part();
        part.skipped.extend(plan.skipped);
        part.missed.extend(plan.missed);
        part.is_folder = plan.folder;
        (part.repeated, part.files_end) = (repeated, files_end);
    }

    fn finish(self, setting: &Setting) -> Result<Prompt> {
        let Self { items, files, known } = self;
        drop(known);
        let make = |shape, body| (shape, body);
        let fates = read_all(&files, setting.limits.total, setting, Shape::of, make)?;
        let is_there: Vec<bool> = fates.iter().map(|it| matches!(it, Fate::Read(_))).collect();
        let mut fates = files.into_iter().zip(fates);
        let mut sections = Vec::with_capacity(items.len() + is_there.len());
        let (mut left_out, mut missed) = (Vec::new(), Vec::new());
        let mut start = 0;
        for part in items {
            left_out.extend(part.skipped);
            missed.extend(part.missed);
            sections.extend(part.block.map(Section::Block));
            let mut beyond = 0;
            for (file, fate) in fates.by_ref().take(part.files_end - start) {
                match fate {
                    Fate::Read((shape, body)) => {
                        let block = Block::shaped(Subject::File, file.label, body, shape);
                        sections.push(Section::Block(block));
                    }
                    Fate::Skipped(reason) => {
                        let skipped = Skipped::new(file.label, &reason);
                        // The rules for the files of a folder do not hold for a file that was named.
                        let is_missed = reason.is_failure() || !part.is_folder;
                        missed.extend(is_missed.then(|| skipped.clone()));
                        left_out.push(skipped);
                    }
                    Fate::Beyond => beyond += 1,
                }
            }
            start = part.files_end;
            let repeated = part.repeated.into_iter().filter(|at| is_there[*at]).count();
            let too_much = format!("beyond the limit of {}", bytes(setting.limits.total));
            missed.extend(Skipped::files(&part.label, part.is_folder, beyond, &too_much));
            for (count, reason) in [(repeated, REPEATED), (beyond, &too_much)] {
                left_out.extend(Skipped::files(&part.label, part.is_folder, count, reason));
            }
        }
        if !left_out.is_empty() {
            sections.push(Section::LeftOut(left_out));
        }
        Ok(Prompt::new(sections).missing(missed))
    }
}
