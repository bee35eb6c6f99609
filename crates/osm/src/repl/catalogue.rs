//! The modes that osm has itself: built-in scripts, and goals, which are data for one script.
//!
//! A command starts with one of them, and `mode` loads another into an engine of its own. A goal is read
//! when it is needed, with the settings and the trust of that moment.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::error::CommandError;
use crate::interaction::{Interaction, Silence};
use crate::invocation::{Invocation, Options};
use crate::ops;
use crate::ops::goal::{self, Opened};
use crate::trust::ModuleRules;
use crate::world::World;

/// A built-in mode.
struct Mode {
    /// Its name, which is also the name of its command.
    name: &'static str,
    alias: &'static str,
    description: &'static str,
    script: &'static str,
}

const MODES: &[Mode] = &[
    Mode {
        name: "code-review",
        alias: "review",
        description: "Build a prompt for a code review",
        script: include_str!("../../assets/modes/code-review.js"),
    },
    Mode {
        name: "prompt-flow",
        alias: "flow",
        description: "Build a prompt from a goal in two steps",
        script: include_str!("../../assets/modes/prompt-flow.js"),
    },
];

/// The script that runs every goal.
const GOAL: &str = include_str!("../../assets/modes/goal.js");

/// The prompt templates of the modes; scripts see them as the global `PROMPTS`.
const PROMPTS: &[(&str, &str)] = &[
    ("codeReview", ops::prompt::CODE_REVIEW),
    ("flowMeta", include_str!("../../assets/prompts/flow-meta.md")),
    ("flowFinal", include_str!("../../assets/prompts/flow-final.md")),
];

/// A script of osm that registers a mode.
pub(crate) struct BuiltInScript {
    /// The name by which it was asked for.
    pub(super) call: String,
    /// The name of the mode.
    pub(super) mode: String,
    pub(super) text: &'static str,
    pub(super) globals: Vec<(String, Value)>,
    /// The folder in which the code of a goal finds modules.
    pub(super) folder: Option<PathBuf>,
    /// Which modules may run.
    pub(super) modules: ModuleRules,
    /// The folders in which modules are found by name.
    pub(super) module_paths: Vec<PathBuf>,
}

impl BuiltInScript {
    /// The script of an opened goal.
    pub(crate) fn of_goal(goal: Opened, invocation: &Invocation) -> Self {
        let globals = vec![("GOAL_CONFIG".to_owned(), goal.config())];
        let Opened { call, name, folder, modules, .. } = goal;
        Self::new(call, name, GOAL, globals, invocation).within(folder, modules)
    }

    /// The script of a built-in mode, by its name or alias.
    pub(crate) fn of_mode(name: &str, invocation: &Invocation) -> Option<Self> {
        let mode = MODES.iter().find(|mode| mode.name == name || mode.alias == name)?;
        let prompts: serde_json::Map<String, Value> =
            PROMPTS.iter().map(|(name, text)| ((*name).to_owned(), json!(text))).collect();
        let globals = vec![("PROMPTS".to_owned(), Value::Object(prompts))];
        let (call, mode, text) = (mode.name.to_owned(), mode.name.to_owned(), mode.script);
        Some(Self::new(call, mode, text, globals, invocation))
    }

    fn new(
        call: String,
        mode: String,
        text: &'static str,
        mut globals: Vec<(String, Value)>,
        invocation: &Invocation,
    ) -> Self {
        globals.push(("config".to_owned(), json!({ "name": mode })));
        let (modules, module_paths) = (ModuleRules::Trusted, goal::module_paths(invocation));
        Self { call, mode, text, globals, folder: None, modules, module_paths }
    }

    /// The name of the mode.
    pub(crate) fn mode(&self) -> &str {
        &self.mode
    }

    fn within(self, folder: Option<PathBuf>, modules: ModuleRules) -> Self {
        Self { folder, modules, ..self }
    }
}

/// A mode in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Listed {
    /// The name that `mode` takes.
    pub(crate) call: String,
    /// `built in` or `goal`, and why the code of a goal may not run.
    pub(crate) kind: String,
    pub(crate) description: String,
}

/// All modes of osm. It has its own copy of the run's options, because it is asked while a line is typed.
pub(crate) struct Catalogue {
    world: World,
    options: Options,
}

impl Catalogue {
    pub(crate) fn of(invocation: &Invocation) -> Self {
        Self { world: invocation.world.clone(), options: invocation.options().clone() }
    }

    /// All modes: built-in ones first, then goals by name.
    pub(crate) fn list(&self) -> Vec<Listed> {
        let modes = MODES.iter().map(|mode| Listed {
            call: mode.name.to_owned(),
            kind: "built in".to_owned(),
            description: mode.description.to_owned(),
        });
        // Goals that cannot be used are reported where goals are the subject: `osm goal`.
        let mut goals = goal::list(&self.invocation(), &mut Silence).goals;
        goals.retain(|goal| !goal.hidden);
        goals.sort_by(|one, other| one.call.cmp(&other.call));
        let goals = goals.into_iter().map(|goal| {
            let blocked = goal.blocked.map_or(String::new(), |reason| format!(", {reason}"));
            let kind = format!("goal{blocked}");
            Listed { call: goal.call, kind, description: goal.description }
        });
        modes.chain(goals).collect()
    }

    /// The name by which a mode is listed.
    pub(crate) fn canonical(name: &str) -> &str {
        MODES.iter().find(|mode| mode.alias == name).map_or(name, |mode| mode.name)
    }

    /// The script of a mode; `None` if there is no mode of that name.
    pub(crate) fn open(
        &self,
        name: &str,
        interaction: &mut dyn Interaction,
    ) -> Result<Option<BuiltInScript>, CommandError> {
        let invocation = self.invocation();
        if let Some(script) = BuiltInScript::of_mode(name, &invocation) {
            return Ok(Some(script));
        }
        match goal::open(&invocation, name, interaction) {
            Ok(goal) => Ok(Some(BuiltInScript::of_goal(goal, &invocation))),
            Err(goal::Error::Unknown(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn invocation(&self) -> Invocation<'_> {
        Invocation::new(&self.world, self.options.clone())
    }
}
