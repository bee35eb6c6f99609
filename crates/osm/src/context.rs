//! What a command works with: the session, and the store, opened when it is asked for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use osm_identity::{Detection, Repository, Request, SessionId, System};
use osm_store::backend::Backend;
use osm_store::{FsBackend, LastUsed, MemoryBackend, Origin, Store, Usage};

use crate::World;
use crate::cli::{Force, Line};
use crate::config::Settings;
use crate::error::CommandError;
use crate::ui::Ui;

/// Where sessions and claims are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreName {
    Fs,
    Memory,
}

/// A command's view of the world.
pub(crate) struct Context<'a> {
    pub(crate) line: &'a Line,
    pub(crate) world: &'a World,
    pub(crate) settings: Settings,
}

impl Context<'_> {
    /// The session, with everything that can be told about it.
    pub(crate) fn explain(&self) -> Detection {
        osm_identity::explain(&self.request())
    }

    /// The session, with what its id rests on.
    pub(crate) fn detect(&self) -> Detection {
        osm_identity::detect(&self.request())
    }

    /// The session's id.
    pub(crate) fn session_id(&self) -> SessionId {
        osm_identity::detect(&self.request()).id
    }

    fn request(&self) -> Request<'_> {
        Request {
            explicit: self.line.session.as_deref(),
            environment: &self.world.environment,
            source: &System,
            catalogue: &self.settings.catalogue,
        }
    }

    /// The session that an argument names, or the current one.
    pub(crate) fn named(&self, argument: Option<&str>) -> SessionId {
        match argument {
            Some(text) => SessionId::explicit(text.as_ref()),
            None => self.session_id(),
        }
    }

    /// The store.
    pub(crate) fn store(&self) -> Result<Store, CommandError> {
        let backend: Arc<dyn Backend> = match self.store_name()? {
            StoreName::Fs => Arc::new(FsBackend::open(&self.home()?)?),
            StoreName::Memory => Arc::new(MemoryBackend::new()),
        };
        Ok(Store::new(backend, self.world.holder(), Arc::new(jiff::Timestamp::now)))
    }

    /// Which store was chosen.
    pub(crate) fn store_name(&self) -> Result<StoreName, CommandError> {
        let name = match &self.line.store {
            Some(name) => name.as_str(),
            None => self.settings.store()?,
        };
        match name {
            "fs" => Ok(StoreName::Fs),
            "memory" => Ok(StoreName::Memory),
            name => Err(CommandError::failed(format!("there is no store {name:?}"))
                .with_hint("use --store fs or --store memory")
                .exiting(crate::Exit::Usage)),
        }
    }

    /// The folder of everything that is kept.
    pub(crate) fn home(&self) -> Result<PathBuf, CommandError> {
        self.world.home().ok_or_else(|| {
            CommandError::failed("there is no folder for sessions")
                .with_hint("set HOME, or OSM_HOME to a folder")
        })
    }

    /// The store, for a command that changes sessions.
    pub(crate) fn store_to_change(&self, force: Force) -> Result<Store, CommandError> {
        Ok(self.store()?.forcing(force.force).used_by(self.usage()))
    }

    /// Who we are, and where.
    pub(crate) fn usage(&self) -> Usage {
        let found = self.detect();
        let anchor = found.anchor.map(|anchor| anchor.with_clock(&System));
        let text = |path: &Path| path.display().to_string();
        let folder = self.world.folder();
        let checkout = folder.as_deref().and_then(Repository::around);
        Usage {
            session: found.id,
            origin: Origin {
                source: found.source.name().to_owned(),
                agent: found.agent.map(|agent| agent.name.to_owned()),
                anchor,
                host: self.world.host_name(),
            },
            last_used: LastUsed {
                at: None,
                folder: folder.as_deref().map(text),
                repository: checkout.as_ref().map(|it| text(it.folder())),
                worktree: checkout.as_ref().map(|it| text(&it.worktree)),
                branch: checkout.and_then(|it| it.branch),
            },
        }
    }

    /// Asks before something is lost. `--dry-run` and `-y` never ask; without a terminal nobody can
    /// be asked, and the answer is no.
    pub(crate) fn confirm(
        &self,
        yes: bool,
        question: &str,
        ui: &mut Ui,
    ) -> Result<(), CommandError> {
        if yes {
            return Ok(());
        }
        if !self.world.can_ask() {
            return Err(CommandError::failed("nobody can be asked without a terminal")
                .with_hint("add -y to go ahead, or --dry-run to look first")
                .exiting(crate::Exit::Refused));
        }
        if ui.confirm(question)? {
            return Ok(());
        }
        Err(CommandError::failed("not confirmed: nothing was changed")
            .exiting(crate::Exit::Refused))
    }
}
