//! What the loop and its scripts share: the open session, the screen, the log, and where we are.
//!
//! The session lies behind a lock for one reason: when the terminal is gone and the loop is stuck,
//! another thread must be able to keep what is not saved.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use osm_identity::Environment;
use osm_store::backend::{Backend, Wait};
use osm_store::fallback::{self, Fallback, Rescued};
use osm_store::{Clock, FsBackend, Key, MemoryBackend, Notice, Session, Store};

use crate::config::Prompting;
use crate::context::{Context, StoreName};
use crate::error::CommandError;
use crate::log::Log;
use crate::ui::{Screen, Ui};

/// The place where somebody works.
pub(crate) struct Desk {
    pub(crate) keeper: Keeper,
    pub(crate) screen: Screen,
    pub(crate) log: Log,
    pub(crate) environment: Environment,
    /// Where we were started.
    pub(crate) folder: PathBuf,
    /// The home of `osm`.
    pub(crate) home: Option<PathBuf>,
    pub(crate) temporary: PathBuf,
    pub(crate) settings: Prompting,
    /// Whether a reset archives what was there.
    pub(crate) keep_archives: bool,
    /// Somebody wants what runs to stop.
    pub(crate) stop: Arc<AtomicBool>,
    /// Keys that others changed, and nobody was told of yet.
    changed: Arc<Mutex<Vec<Key>>>,
}

/// Keeps the session, whatever happens.
#[derive(Clone)]
pub(crate) struct Keeper {
    session: Arc<Mutex<Session>>,
    /// What a session that is in memory alone needs at its end.
    fallback: Arc<Mutex<Option<Fallback>>>,
    open: Arc<dyn Fn() -> osm_store::Result<Store> + Send + Sync>,
    clock: Clock,
    temporary: PathBuf,
}

/// What became of something that could not be saved.
#[derive(Debug)]
pub(crate) struct Unsaved {
    /// Why.
    pub(crate) why: osm_store::Error,
    /// Where it is now, or why it is nowhere.
    pub(crate) kept: osm_store::Result<Rescued>,
}

impl Desk {
    /// Opens the session. If its store cannot be used, that is said, and work goes on in memory.
    pub(crate) fn open(
        context: &Context,
        settings: Prompting,
        ui: &mut Ui,
    ) -> Result<Self, CommandError> {
        let world = context.world;
        let clock: Clock = Arc::new(jiff::Timestamp::now);
        let temporary = world.temporary();
        let open = opener(context, &clock)?;
        let (id, holder) = (context.session_id(), world.holder());
        let again = Arc::clone(&open);
        let opened = fallback::open(Box::new(move || again()), &holder, &clock, &id, Wait::USUAL)?;
        let (mut session, fallback) = opened;
        let screen = ui.screen()?;
        if let Some(fallback) = &fallback {
            screen.warn(&format!("{}; this session is in memory only", fallback.why()));
            if fallback.hides_what_was_kept() {
                screen.warn("what was kept of it before cannot be read, and is not shown");
            }
            screen.hint("at the end it is written where it can be written, and you are told where");
        }
        let changed: Arc<Mutex<Vec<Key>>> = Arc::default();
        let sink = Arc::clone(&changed);
        session.observe(Box::new(move |keys| locked(&sink).extend_from_slice(keys)));
        let keeper = Keeper {
            session: Arc::new(Mutex::new(session)),
            fallback: Arc::new(Mutex::new(fallback)),
            open,
            clock,
            temporary: temporary.clone(),
        };
        let desk = Self {
            keeper,
            screen,
            log: Log::open(&settings.log, world.home().as_deref())?,
            environment: world.environment.clone(),
            folder: world.folder().unwrap_or_default(),
            home: world.home(),
            temporary,
            settings,
            keep_archives: context.settings.keep_archives,
            stop: Arc::default(),
            changed,
        };
        desk.tell_notices();
        Ok(desk)
    }

    /// The session; whoever has it lets go soon.
    pub(crate) fn session(&self) -> MutexGuard<'_, Session> {
        locked(&self.keeper.session)
    }

    /// The keys that changed under us since the last time.
    pub(crate) fn take_changed(&self) -> Vec<Key> {
        let mut keys = std::mem::take(&mut *locked(&self.changed));
        keys.sort();
        keys.dedup();
        keys
    }

    /// A path as it is meant here.
    pub(crate) fn at(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }

    /// A variable, if it is text and says something.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let value = self.environment.get(name)?.to_str()?;
        (!value.trim().is_empty()).then(|| value.to_owned())
    }

    /// Tells what happened to the session's document.
    pub(crate) fn tell_notices(&self) {
        let notices = self.session().take_notices();
        for notice in notices {
            let text = match notice {
                Notice::Quarantined { reason, name } => {
                    format!("the session was damaged ({reason}); it is kept as quarantine/{name}")
                }
                Notice::Upgraded { name } => {
                    format!("the session was upgraded; the old one is archived as {name}")
                }
                Notice::Adopted { from } => format!("the session's file was a copy of {from}'s"),
                other => format!("{other:?}"),
            };
            self.screen.warn(&text);
        }
    }

    /// Ends the session; what cannot be saved is not lost in silence.
    pub(crate) fn close(&self) -> Result<(), CommandError> {
        if let Some(failure) = self.log.take_failure() {
            self.screen.warn(&failure);
        }
        let Some(unsaved) = self.keeper.keep() else { return Ok(()) };
        self.log.error("not saved", &unsaved.why.to_string());
        match unsaved.kept {
            Ok(rescued) => {
                self.screen.warn(&format!("{}; the session is kept in {rescued}", unsaved.why));
                self.screen.hint(&format!("get it back with `{}`", rescued.command()));
                Ok(())
            }
            Err(error) => Err(CommandError::failed(format!(
                "the session is not saved: {}; nor could it be kept elsewhere: {error}",
                unsaved.why
            ))),
        }
    }
}

impl Keeper {
    /// Saves what is left, or writes the session where it can be written. `None` if all is well.
    pub(crate) fn keep(&self) -> Option<Unsaved> {
        let mut session = locked(&self.session);
        let fallback = if let Some(fallback) = locked(&self.fallback).take() {
            fallback
        } else {
            let failure = session.persist().err()?;
            let open = Arc::clone(&self.open);
            Fallback::after(failure, Box::new(move || open()), Arc::clone(&self.clock))
        };
        let why = copy(fallback.why());
        match fallback.rescue(&session, &self.temporary) {
            Ok(None) => None,
            Ok(Some(rescued)) => Some(Unsaved { why, kept: Ok(rescued) }),
            Err(error) => Some(Unsaved { why, kept: Err(error) }),
        }
    }
}

/// An error of which only the words are needed any more.
fn copy(error: &osm_store::Error) -> osm_store::Error {
    osm_store::Error::Invalid(error.to_string())
}

/// How the chosen store is opened, now and at the end.
fn opener(
    context: &Context,
    clock: &Clock,
) -> Result<Arc<dyn Fn() -> osm_store::Result<Store> + Send + Sync>, CommandError> {
    let name = context.store_name()?;
    let home = context.home()?;
    let (holder, usage, clock) = (context.world.holder(), context.usage(), Arc::clone(clock));
    Ok(Arc::new(move || {
        let backend: Arc<dyn Backend> = match name {
            StoreName::Fs => Arc::new(FsBackend::open(&home)?),
            StoreName::Memory => Arc::new(MemoryBackend::new()),
        };
        Ok(Store::new(backend, holder.clone(), Arc::clone(&clock)).used_by(usage.clone()))
    }))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
