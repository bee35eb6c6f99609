//! Lists, shows, creates and opens goals.

mod build;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Map, Value};

use super::{path_text, prompt};
use crate::error::{Exit, Failure};
use crate::goals::{self, Entry, Form, Goal, Registry, SearchPaths, new_file};
use crate::trust::{GoalModules, ModuleRules, Trust, Verdict};
use crate::unwritable_home::is_refusal;
use crate::{Interaction, Invocation, InvocationError, World, private};

pub use self::build::build;
pub use crate::goals::{Snippet, UnknownGoal};

/// A goal, without its text.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub name: String,
    /// The name that means this goal: `name`, or `name@origin` if `name` means another one.
    pub call: String,
    pub title: String,
    pub description: String,
    pub category: String,
    /// `builtin`, `user`, `config` or `tree`.
    pub origin: &'static str,
    /// Its file; `None` if it is built in.
    #[serde(serialize_with = "path_text::optional")]
    pub file: Option<PathBuf>,
    /// Whether it contains JavaScript.
    pub has_code: bool,
    /// Why its code may not run.
    pub blocked: Option<&'static str>,
    /// Whether another goal of the same name and origin hides it.
    pub hidden: bool,
    pub commands: Vec<String>,
    pub variables: Vec<Variable>,
}

/// A file that should be a goal and cannot be used.
#[derive(Clone, Debug, Serialize)]
pub struct BrokenGoal {
    /// The name that it would have, by its file.
    pub name: String,
    pub origin: &'static str,
    #[serde(serialize_with = "path_text::one")]
    pub file: PathBuf,
    /// The line of the mistake.
    pub line: Option<usize>,
    pub error: String,
}

/// All goals.
#[derive(Clone, Debug)]
pub struct List {
    pub goals: Vec<Summary>,
    pub broken: Vec<BrokenGoal>,
}

/// A variable of a goal.
#[derive(Clone, Debug, Serialize)]
pub struct Variable {
    pub name: String,
    /// The command that shows and sets it.
    pub command: Option<String>,
    /// The values that it can have; any text if this is empty.
    pub choices: Vec<String>,
    pub default: Value,
}

/// A goal with its text.
#[derive(Clone, Debug, Serialize)]
pub struct Details {
    #[serde(flatten)]
    pub summary: Summary,
    /// The template of the prompt, with the files that it links to.
    pub template: String,
    pub data: Map<String, Value>,
    pub snippets: Vec<Snippet>,
    /// The instructions as they are in the goal's file.
    #[serde(skip)]
    pub instructions: String,
    /// The commands that are code: name, description, JavaScript.
    #[serde(skip)]
    pub handlers: Vec<[String; 3]>,
}

/// A folder in which osm looks for goals.
#[derive(Clone, Debug, Serialize)]
pub struct Folder {
    #[serde(serialize_with = "path_text::one")]
    pub folder: PathBuf,
    pub origin: &'static str,
    pub exists: bool,
}

/// What to create.
#[derive(Clone, Debug)]
pub struct CreateRequest {
    pub name: String,
    pub description: Option<String>,
    /// In `.osm/goals` of the working directory, instead of the user's folder.
    pub here: bool,
    /// As JSON, which can contain code.
    pub json: bool,
}

/// A goal's file that was created.
#[derive(Clone, Debug, Serialize)]
pub struct Created {
    #[serde(serialize_with = "path_text::one")]
    pub file: PathBuf,
    /// The name that means the new goal.
    pub call: String,
    /// The name that means the built-in goal of this name now.
    pub built_in: Option<String>,
    /// Whether its code runs only after `osm trust`.
    pub needs_trust: bool,
}

/// Why an operation on goals failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such goal.
    #[error(transparent)]
    Unknown(#[from] UnknownGoal),
    /// The goal's file cannot be used.
    #[error("cannot use goal {}: {}: {}", .0.name, located(.0), .0.error)]
    Broken(BrokenGoal),
    /// The goal contains code that is not trusted.
    #[error("cannot run goal {goal}: its code {state}: {}", .file.display())]
    Blocked { goal: String, state: &'static str, file: PathBuf },
    /// The new goal cannot have this name or description.
    #[error("{0}")]
    Invalid(String),
    /// The file exists.
    #[error("{} exists already", .0.display())]
    Exists(PathBuf),
    /// A folder of the working tree is a link, which could lead anywhere.
    #[error("cannot create a goal here: {} is a symbolic link", .0.display())]
    Link(PathBuf),
    /// The file or its folder cannot be written.
    #[error("cannot {action} {}: {source}", .path.display())]
    Write { action: &'static str, path: PathBuf, source: io::Error },
    /// Its prompt cannot be built.
    #[error(transparent)]
    Prompt(#[from] prompt::Error),
    /// There is no folder for it.
    #[error(transparent)]
    Invocation(#[from] InvocationError),
}

impl Failure for Error {
    fn reason(&self) -> &'static str {
        match self {
            Self::Unknown(_) => "unknown_goal",
            Self::Broken(_) => "broken_goal",
            Self::Blocked { .. } => "not_trusted",
            Self::Invalid(_) => "invalid_goal",
            Self::Exists(_) => "exists",
            Self::Link(_) => "symbolic_link",
            Self::Write { .. } => "cannot_write",
            Self::Prompt(error) => error.reason(),
            Self::Invocation(error) => error.reason(),
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Unknown(_) => Exit::NotFound,
            Self::Blocked { .. } | Self::Link(_) => Exit::Refused,
            Self::Invalid(_) => Exit::Usage,
            Self::Broken(_) | Self::Exists(_) | Self::Write { .. } => Exit::Failure,
            Self::Prompt(error) => error.exit(),
            Self::Invocation(error) => error.exit(),
        }
    }

    fn hints(&self) -> Vec<String> {
        match self {
            Self::Unknown(error) => vec![error.hint()],
            Self::Blocked { file, .. } => {
                vec![format!("read it, then run: osm trust {}", shell_word(file))]
            }
            Self::Exists(_) => vec!["edit it, or choose another name".into()],
            Self::Link(_) => {
                vec!["replace the link by a folder, or create the goal without --here".into()]
            }
            Self::Write { action: "create", .. } => vec!["no goal was created".into()],
            Self::Write { .. } => {
                vec!["the file may be incomplete: remove it before you try again".into()]
            }
            Self::Broken(_) | Self::Invalid(_) => Vec::new(),
            Self::Prompt(error) => error.hints(),
            Self::Invocation(error) => error.hints(),
        }
    }

    fn unwritable(&self) -> Option<&Path> {
        match self {
            Self::Write { path, source, .. } => is_refusal(source).then_some(path),
            Self::Prompt(error) => error.unwritable(),
            _ => None,
        }
    }
}

/// The file of a broken goal, and the line.
#[must_use]
pub fn located(goal: &BrokenGoal) -> String {
    let line = goal.line.map_or(String::new(), |line| format!(":{line}"));
    format!("{}{line}", goal.file.display())
}

/// Lists every goal.
pub fn list(invocation: &Invocation, interaction: &mut dyn Interaction) -> List {
    let registry = registry(invocation, interaction);
    let goals = registry.entries.iter().map(summary).collect();
    List { goals, broken: broken(&registry).collect() }
}

/// The files that should be goals and cannot be used.
fn broken(registry: &Registry) -> impl Iterator<Item = BrokenGoal> {
    registry.problems.iter().filter_map(|problem| {
        let name = problem.path.file_name()?.to_string_lossy().into_owned();
        Some(BrokenGoal {
            name: goals::name_of(&name).to_owned(),
            origin: problem.broken?.name(),
            file: problem.path.clone(),
            line: problem.line,
            error: problem.reason.clone(),
        })
    })
}

/// The goal that a name means. If a file of that name cannot be used, the error says why; or a warning,
/// if another goal has the name.
fn find<'a>(
    registry: &'a Registry,
    name: &str,
    interaction: &mut dyn Interaction,
) -> Result<&'a Entry, Error> {
    let stem = name.split('@').next().unwrap_or(name);
    let broken = broken(registry).find(|it| it.name == stem).map(Error::Broken);
    match (registry.find(name), broken) {
        (Ok(entry), broken) => {
            if let Some(broken) = broken {
                interaction.warn(&broken.to_string());
            }
            Ok(entry)
        }
        (Err(unknown), broken) => Err(broken.unwrap_or(Error::Unknown(unknown))),
    }
}

/// Shows a goal.
pub fn show(
    invocation: &Invocation,
    name: &str,
    interaction: &mut dyn Interaction,
) -> Result<Details, Error> {
    let registry = registry(invocation, interaction);
    let entry = find(&registry, name, interaction)?;
    let opened = entry.open();
    let goal = &entry.goal;
    let text = goal.data.get("promptInstructions").and_then(Value::as_str);
    Ok(Details {
        summary: summary(entry),
        instructions: instructions(text.unwrap_or(&goal.template)).to_owned(),
        handlers: goal
            .handlers
            .iter()
            .map(|it| [it.name.clone(), it.description.clone(), it.code.clone()])
            .collect(),
        template: opened.template,
        data: opened.data,
        snippets: opened.snippets,
    })
}

/// A goal that is open.
#[derive(Debug)]
pub struct Opened {
    pub name: String,
    /// The name that means this goal.
    pub call: String,
    /// The goal.
    pub(crate) goal: Goal,
    /// The folder of its file, in which its code finds modules.
    pub(crate) folder: Option<PathBuf>,
    /// Which modules its code may load.
    pub(crate) modules: ModuleRules,
}

/// Opens a goal, to build a prompt from it. Code that is not trusted is refused.
pub fn open(
    invocation: &Invocation,
    name: &str,
    interaction: &mut dyn Interaction,
) -> Result<Opened, Error> {
    let trust = trust(invocation, interaction);
    let paths = search_paths(invocation);
    let registry = read(&paths, &trust, interaction);
    let entry = find(&registry, name, interaction)?;
    if let (Some(verdict), Some(file), true) = (entry.verdict, &entry.judged, entry.is_blocked()) {
        let (goal, file) = (entry.call.clone(), file.clone());
        let state = match verdict {
            Verdict::Changed => "changed since it was trusted",
            _ => "is not trusted",
        };
        return Err(Error::Blocked { goal, state, file });
    }
    let goal = entry.open();
    let real = entry.file.as_ref().and_then(|file| std::fs::canonicalize(file).ok());
    Ok(Opened {
        name: goal.name.clone(),
        call: entry.call.clone(),
        goal,
        folder: real.and_then(|file| file.parent().map(Path::to_owned)),
        modules: ModuleRules::Goal(GoalModules { own: own_code(entry, &paths, invocation), trust }),
    })
}

/// The folders in which a goal's modules need no trust: its own if it is the user's, and the module
/// paths, unless they are in the working tree.
fn own_code(entry: &Entry, paths: &SearchPaths, invocation: &Invocation) -> Vec<PathBuf> {
    let real = |path: &PathBuf| std::fs::canonicalize(path).ok();
    let tree = paths.tree();
    let configured = module_paths(invocation);
    let configured = configured.iter().filter_map(real);
    let outside = configured.filter(|path| tree.as_ref().is_none_or(|it| !path.starts_with(it)));
    entry.own.as_ref().and_then(real).into_iter().chain(outside).collect()
}

/// The setting `script.module_paths`. A relative path starts at the configuration folder: in the working
/// directory it would mean a stranger's modules.
pub(crate) fn module_paths(invocation: &Invocation) -> Vec<PathBuf> {
    let home = invocation.world.home().unwrap_or_default();
    let paths = invocation.settings.prompting.module_paths.iter();
    paths.map(|path| home.join(path)).filter(|path| path.is_absolute()).collect()
}

impl Opened {
    /// The configuration of its mode.
    pub(crate) fn config(&self) -> Value {
        serde_json::to_value(&self.goal).expect("a goal is JSON")
    }
}

/// Lists the folders in which osm looks for goals.
#[must_use]
pub fn folders(invocation: &Invocation) -> Vec<Folder> {
    let folders = search_paths(invocation).folders().into_iter();
    folders
        .map(|it| Folder { origin: it.origin.name(), exists: it.path.is_dir(), folder: it.path })
        .collect()
}

/// Creates a goal's file.
pub fn create(invocation: &Invocation, request: &CreateRequest) -> Result<Created, Error> {
    let CreateRequest { name, description, here, json } = request;
    goals::check_name(name).map_err(Error::Invalid)?;
    if description.as_ref().is_some_and(|text| text.trim().is_empty()) {
        return Err(Error::Invalid("the description is empty".into()));
    }
    let form = if *json { Form::Json } else { Form::PromptFile };
    let file_name = form.file_name(name);
    let (file, opened) = if *here {
        let base = invocation.folder()?;
        let file = base.join(".osm").join("goals").join(&file_name);
        (file, new_file::shared(&base, &[".osm", "goals"], &file_name))
    } else {
        let folder = invocation.home()?.join("goals");
        (folder.join(&file_name), new_file::own(&folder, &file_name))
    };
    let mut opened = opened.map_err(|error| refusal(&file, *here, error))?;
    let text = goals::scaffold(form, name, description.as_deref());
    let failed = |action| {
        let path = file.clone();
        move |source| Error::Write { action, path, source }
    };
    opened.write_all(text.as_bytes()).and_then(|()| opened.sync_all()).map_err(failed("write"))?;
    private::sync_folder(file.parent().unwrap_or(Path::new("."))).map_err(failed("sync"))?;
    let is_built_in = goals::built_in_names().any(|built_in| built_in == name);
    let (call, built_in) = match (is_built_in, here) {
        (false, _) => (name.clone(), None),
        (true, true) => (format!("{name}@tree"), Some(name.clone())),
        (true, false) => (name.clone(), Some(format!("{name}@builtin"))),
    };
    Ok(Created { file, call, built_in, needs_trust: *here && *json })
}

/// Why the file of a new goal could not be opened.
fn refusal(file: &Path, is_shared: bool, source: io::Error) -> Error {
    if source.kind() == io::ErrorKind::AlreadyExists {
        return Error::Exists(file.to_owned());
    }
    let folders = file.ancestors().skip(1).take(2);
    match folders.filter(|_| is_shared).find(|path| path.is_symlink()) {
        Some(link) => Error::Link(link.to_owned()),
        None => Error::Write { action: "create", path: file.to_owned(), source },
    }
}

/// Reads all goals, and warns about folders that cannot be used. A broken goal is part of the list, and
/// concerns no other goal.
fn registry(invocation: &Invocation, interaction: &mut dyn Interaction) -> Registry {
    let trust = trust(invocation, interaction);
    read(&search_paths(invocation), &trust, interaction)
}

/// The trusted files; none, with a warning, if the records cannot be read.
fn trust(invocation: &Invocation, interaction: &mut dyn Interaction) -> Trust {
    Trust::load(invocation.world).unwrap_or_else(|error| {
        interaction.warn(&error.to_string());
        Trust::default()
    })
}

fn read(paths: &SearchPaths, trust: &Trust, interaction: &mut dyn Interaction) -> Registry {
    let registry = Registry::read(paths, trust);
    for problem in registry.problems.iter().filter(|it| it.broken.is_none()) {
        interaction.warn(&problem.to_string());
    }
    registry
}

fn search_paths(invocation: &Invocation) -> SearchPaths {
    let world = invocation.world;
    let configured = invocation.settings.prompting.goal_paths.iter();
    SearchPaths {
        home: world.home(),
        configured: configured.filter_map(|path| expanded(path, world)).collect(),
        folder: world.folder(),
    }
}

/// A configured folder, with the user's home for `~`. A relative path would mean another folder in
/// every directory.
fn expanded(path: &str, world: &World) -> Option<PathBuf> {
    let home = || world.environment.get("HOME").map(PathBuf::from);
    let path = match path.strip_prefix("~/") {
        Some(rest) => home()?.join(rest),
        None => PathBuf::from(path),
    };
    path.is_absolute().then_some(path)
}

fn summary(entry: &Entry) -> Summary {
    let goal = &entry.goal;
    let mut commands = goal.commands.clone();
    commands.extend(goal.run.map(|_| "run".to_owned()));
    commands.extend(goal.variables.iter().filter_map(|it| it.setter.clone()));
    commands.extend(goal.handlers.iter().map(|it| it.name.clone()));
    commands.extend(goal.snippets.iter().map(|it| format!("hot-{}", it.name)));
    let variables = goal.variables.iter().map(|it| Variable {
        name: it.name.clone(),
        command: it.setter.clone(),
        choices: it.choices.clone(),
        default: it.default.clone(),
    });
    Summary {
        name: goal.name.clone(),
        call: entry.call.clone(),
        title: goal.title.clone(),
        description: goal.description.clone(),
        category: goal.category.clone(),
        origin: entry.origin.name(),
        file: entry.file.clone(),
        has_code: goal.has_code(),
        blocked: entry.verdict.filter(|_| entry.is_blocked()).map(Verdict::reason),
        hidden: entry.hidden,
        commands,
        variables: variables.collect(),
    }
}

/// The instructions in a template, without the frame around them.
fn instructions(template: &str) -> &str {
    template
        .strip_prefix("{% set promptInstructions %}")
        .and_then(|rest| rest.split_once("{% endset %}"))
        .map_or(template, |(instructions, _)| instructions)
        .trim()
}

/// A path as one word of a shell command.
#[must_use]
pub fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-._/:@%+,=".contains(it);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}
