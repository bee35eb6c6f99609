//! Which files a folder stands for.
//!
//! Those that Git would take: ignore rules count, in a repository or not, and what is hidden is
//! skipped. Links are followed only to files within the folder, so that a folder that someone else wrote
//! cannot put the user's other files into a prompt.

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ignore::{DirEntry, WalkBuilder, WalkState};

use crate::error::Result;
use crate::progress::Step;
use crate::reason::Reason;
use crate::setting::Setting;

/// More threads than this only wait for each other.
const MOST_THREADS: usize = 12;

/// What a walk looks for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scope {
    /// Hidden files, too.
    pub(crate) hidden: bool,
    /// No deeper than this.
    pub(crate) depth: Option<usize>,
}

/// The files of a folder.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    /// Files, sorted by name.
    pub(crate) files: Vec<Walk>,
    /// What is not among them, sorted by name. What is ignored or hidden is not worth a word.
    pub(crate) skipped: Vec<(String, Reason)>,
}

/// A file in a folder.
#[derive(Debug)]
pub(crate) struct Walk {
    /// Where it really is: no link leads there.
    pub(crate) path: PathBuf,
    /// Its path below the folder, with slashes.
    pub(crate) name: String,
}

/// Walks through a folder, which must be given without links.
pub(crate) fn walk(root: &Path, scope: Scope, setting: &Setting) -> Result<Walked> {
    if root.file_name().is_some_and(|name| name == ".git") {
        return Ok(Walked { skipped: vec![(String::new(), Reason::InGit)], ..Walked::default() });
    }
    let found = Mutex::new(Walked::default());
    let count = AtomicUsize::new(0);
    let most = setting.limits.files;
    setting.report(0, Step::Finding(0));
    let visitor = || {
        let count = &count;
        let mut share = Share { mine: Walked::default(), all: &found };
        move |entry: std::result::Result<DirEntry, ignore::Error>| {
            if (setting.interrupted)() {
                return WalkState::Quit;
            }
            let is_one = match entry {
                Ok(entry) => share.look_at(&entry, root),
                Err(error) => share.complain(&error, root),
            };
            let so_far = count.fetch_add(usize::from(is_one), Ordering::Relaxed);
            if is_one {
                setting.report(so_far, Step::Finding(so_far));
            }
            if so_far > most { WalkState::Quit } else { WalkState::Continue }
        }
    };
    let mut builder = builder(root, scope);
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(MOST_THREADS);
    if can_start(threads) {
        builder.threads(threads).build_parallel().run(|| Box::new(visitor()));
    } else {
        let mut visit = visitor();
        let _walked = builder.build().all(|entry| visit(entry) == WalkState::Continue);
    }
    setting.go_on()?;
    let mut walked = found.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if count.into_inner() > most {
        let reason = Reason::TooManyFiles { limit: most };
        return Ok(Walked { files: Vec::new(), skipped: vec![(String::new(), reason)] });
    }
    // A stable sort merges what the threads have sorted.
    walked.files.sort_by(|one, other| one.name.cmp(&other.name));
    walked.skipped.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok(walked)
}

/// Whether so many threads can be had: without them a parallel walk would panic.
fn can_start(count: usize) -> bool {
    // Each of them lives until all were started.
    let (all_started, wait) = std::sync::mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    std::thread::scope(|scope| {
        let sleep = || drop(wait.lock().map(|wait| wait.recv()));
        let start = |_| std::thread::Builder::new().spawn_scoped(scope, sleep).ok();
        let started = (0..count).map_while(start).count();
        drop(all_started);
        started == count
    })
}

fn builder(root: &Path, scope: Scope) -> WalkBuilder {
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(!scope.hidden)
        .max_depth(scope.depth)
        .require_git(false)
        // Where the user's own rules are is told by variables, which are not ours to read.
        .git_global(false)
        .follow_links(false)
        .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
    builder
}

/// What one thread found; it is handed over when the thread is done.
struct Share<'a> {
    mine: Walked,
    all: &'a Mutex<Walked>,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        self.mine.files.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        let mut all = self.all.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        all.files.append(&mut self.mine.files);
        all.skipped.append(&mut self.mine.skipped);
    }
}

impl Share<'_> {
    /// Takes what is no folder, and tells whether it did.
    fn look_at(&mut self, entry: &DirEntry, root: &Path) -> bool {
        let Some(kind) = entry.file_type().filter(|_| entry.depth() > 0) else { return false };
        if kind.is_dir() {
            return false;
        }
        let name = name_below(root, entry.path());
        if kind.is_file() {
            self.mine.files.push(Walk { path: entry.path().to_owned(), name });
        } else if kind.is_symlink() {
            match follow(entry.path(), root) {
                Ok(path) => self.mine.files.push(Walk { path, name }),
                Err(reason) => self.mine.skipped.push((name, reason)),
            }
        } else if let Some(reason) = Reason::of_type(kind) {
            self.mine.skipped.push((name, reason));
        }
        true
    }

    fn complain(&mut self, error: &ignore::Error, root: &Path) -> bool {
        let name = path_of(error).map(|path| name_below(root, path)).unwrap_or_default();
        let reason = match error.io_error() {
            Some(error) => Reason::of_error(error),
            None => Reason::Unreadable(error.to_string()),
        };
        self.mine.skipped.push((name, reason));
        true
    }
}

/// The file within the folder that a path in it leads to, by links or not.
pub(crate) fn follow(link: &Path, root: &Path) -> std::result::Result<PathBuf, Reason> {
    let target = link.canonicalize().map_err(|error| match Reason::of_error(&error) {
        Reason::NotFound => Reason::BrokenLink,
        reason => reason,
    })?;
    let below = target.strip_prefix(root).map_err(|_| Reason::LinkOutside)?;
    if below.components().any(|part| part.as_os_str() == ".git") {
        return Err(Reason::InGit);
    }
    let metadata = target.symlink_metadata().map_err(|error| Reason::of_error(&error))?;
    match Reason::of_type(metadata.file_type()) {
        Some(reason) => Err(reason),
        None if metadata.is_file() => Ok(target),
        None if link.starts_with(&target) => Err(Reason::LinkLoop),
        None => Err(Reason::LinkToFolder),
    }
}

/// A path below a folder, with slashes.
pub(crate) fn name_below(root: &Path, path: &Path) -> String {
    with_slashes(path.strip_prefix(root).unwrap_or(path))
}

/// A path with slashes, on every system.
pub(crate) fn with_slashes(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) { text.replace('\\', "/") } else { text.into_owned() }
}

fn path_of(error: &ignore::Error) -> Option<&Path> {
    match error {
        ignore::Error::WithPath { path, .. } => Some(path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => {
            path_of(err)
        }
        _ => None,
    }
}
