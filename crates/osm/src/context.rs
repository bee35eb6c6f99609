//! What a command works with: the session, and the store, opened when it is asked for.

use std::sync::Arc;

use osm_identity::{Detection, Request, SessionId, System};
use osm_store::backend::{Backend, Holder};
use osm_store::{FsBackend, MemoryBackend, Store};

use crate::World;
use crate::cli::Line;
use crate::config::Settings;
use crate::error::CommandError;
use crate::ui::Ui;

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
        let name = match &self.line.store {
            Some(name) => name.as_str(),
            None => self.settings.store()?,
        };
        let backend: Arc<dyn Backend> = match name {
            "fs" => {
                let home = self.world.home().ok_or_else(|| {
                    CommandError::failed("there is no folder for sessions")
                        .with_hint("set HOME, or OSM_HOME to a folder")
                })?;
                Arc::new(FsBackend::open(&home)?)
            }
            "memory" => Arc::new(MemoryBackend::new()),
            name => {
                return Err(CommandError::failed(format!("there is no store {name:?}"))
                    .with_hint("use --store fs or --store memory")
                    .exiting(crate::Exit::Usage));
            }
        };
        Ok(Store::new(backend, self.holder(), Arc::new(jiff::Timestamp::now)))
    }

    /// Who we are, for others who meet our locks.
    pub(crate) fn holder(&self) -> Holder {
        let words: Vec<_> =
            self.world.arguments.iter().take(4).map(|word| word.to_string_lossy()).collect();
        Holder::new(
            &System,
            self.world.environment.pid(),
            self.world.host_name(),
            self.world.now(),
            format!("osm {}", words.join(" ")),
        )
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
