//! Where the files of an agent are.

use std::path::{Path, PathBuf};

use super::AgentError;
use crate::agent::Agent;
use crate::agent::files::{self, File, Place};
use crate::agent::table::{Below, Spot};
use crate::invocation::Invocation;

/// Whose settings are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// The user's: the hooks run in every project.
    User,
    /// The project's: the hooks run for every user of the project.
    Project,
}

/// The folders of all agents.
pub(super) struct Places {
    pub(super) reach: Reach,
    /// The user's home, or the top of the working tree. Links must not lead out of it.
    base: PathBuf,
    config: PathBuf,
    /// Folders that variables name, by the name of the variable.
    named: Vec<(&'static str, PathBuf)>,
    /// The folder of the ledger.
    ledger: Option<PathBuf>,
}

impl Places {
    pub(super) fn new(invocation: &Invocation, reach: Reach) -> Result<Self, AgentError> {
        let world = invocation.world;
        if reach == Reach::Project {
            let folder = invocation.folder()?;
            let repository = invocation.repository().ok_or(AgentError::NoProject(folder))?;
            let base = repository.worktree.clone();
            return Ok(Self { reach, config: base.clone(), base, named: Vec::new(), ledger: None });
        }
        let base = world.user_home().ok_or(AgentError::NoHome)?.to_owned();
        let absolute = |name: &str| {
            let path = Path::new(world.environment.get(name)?);
            path.is_absolute().then(|| path.to_owned())
        };
        let config = absolute("XDG_CONFIG_HOME").unwrap_or_else(|| base.join(".config"));
        let variables = crate::agent::table::AGENTS.iter().filter_map(|it| it.folder.variable);
        let named = variables.filter_map(|name| Some((name, absolute(name)?))).collect();
        Ok(Self { reach, base, config, named, ledger: world.home() })
    }

    /// The folder of an agent's settings.
    pub(super) fn folder(&self, agent: &Agent) -> PathBuf {
        if self.reach == Reach::Project {
            return self.base.join(agent.folder.project);
        }
        let named = self.named.iter().find(|(name, _)| Some(*name) == agent.folder.variable);
        match (named, agent.folder.user) {
            (Some((_, folder)), _) => folder.clone(),
            (None, Below::Home(name)) => self.base.join(name),
            (None, Below::Config(name)) => self.config.join(name),
        }
    }

    /// The files of an agent.
    pub(super) fn files(&self, agent: &Agent) -> Vec<File> {
        let ledger = self.ledger.as_ref().and_then(|it| it.to_str());
        files::of(agent, self.reach == Reach::User, ledger)
    }

    /// Where a file of an agent is.
    pub(super) fn path(&self, agent: &Agent, place: &Place) -> PathBuf {
        let (folder, name) = match place {
            Place::Folder(name) => (self.folder(agent), name.as_str()),
            Place::Spot(Spot::Folder(name)) => (self.folder(agent), *name),
            Place::Spot(Spot::Home(name)) if self.folder_is_named(agent) => {
                (self.folder(agent), *name)
            }
            Place::Spot(Spot::Home(name) | Spot::Top(name)) => (self.base.clone(), *name),
        };
        name.split('/').fold(folder, |path, name| path.join(name))
    }

    /// Whether a variable names the folder of an agent.
    fn folder_is_named(&self, agent: &Agent) -> bool {
        self.named.iter().any(|(name, _)| Some(*name) == agent.folder.variable)
    }

    /// The top of the project.
    pub(super) fn project(&self) -> &Path {
        &self.base
    }

    /// The folder that no link may lead out of.
    pub(super) fn base(&self, agent: &Agent) -> PathBuf {
        let folder = self.folder(agent);
        if folder.starts_with(&self.base) { self.base.clone() } else { folder }
    }

    /// Whether the agent has settings there.
    pub(super) fn has(&self, agent: &Agent) -> bool {
        match (self.reach, agent.folder.project) {
            // Its settings are in the top folder itself.
            (Reach::Project, "") => false,
            _ => self.folder(agent).is_dir(),
        }
    }
}
