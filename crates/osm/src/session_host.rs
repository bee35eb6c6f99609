//! What a mode and its scripts share: the open session, the screen, the log, folders and settings.
//!
//! The session is behind a lock for one reason: when the terminal is closed and the loop is stuck, the
//! thread that watches signals saves it.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use osm_identity::Environment;
use osm_store::backend::Wait;
use osm_store::fallback::{self, Fallback, Rescued};
use osm_store::{Clock, Journaled, Kept, Key, Notice, Session};

use crate::config::Prompting;
use crate::error::{CommandError, Exit, Failure};
use crate::invocation::{Invocation, StoreOpener};
use crate::log::Log;
use crate::ops::session::restore_command;
use crate::render::{Screen, Ui, author};
use crate::unwritable_home;

/// The reason of an error about a session that could not be saved.
const NOT_SAVED: &str = "session_not_saved";

/// What to do about a store that cannot be used.
pub(crate) fn advice(why: &osm_store::Error, home: Option<&Path>) -> Vec<String> {
    match home {
        Some(home) if unwritable_home::is_cause(why, home) => vec![unwritable_home::hint(home)],
        _ => why.hints(),
    }
}

/// An open session with everything that commands and scripts work with.
pub(crate) struct SessionHost {
    pub(crate) saver: SessionSaver,
    pub(crate) screen: Screen,
    pub(crate) log: Log,
    pub(crate) clock: Clock,
    pub(crate) environment: Environment,
    /// The working directory at the start.
    pub(crate) folder: PathBuf,
    /// Osm's home folder.
    pub(crate) home: Option<PathBuf>,
    pub(crate) temporary: PathBuf,
    pub(crate) settings: Prompting,
    /// Whether `reset` archives the old state.
    pub(crate) keep_archives: bool,
    /// Set when the running command should stop.
    pub(crate) stop: Arc<AtomicBool>,
    /// Keys that other processes changed and scripts were not notified of yet.
    changed: Arc<Mutex<Vec<Key>>>,
}

/// Saves the session at the end, from any thread.
#[derive(Clone)]
pub(crate) struct SessionSaver {
    session: Arc<Mutex<Session>>,
    /// Set if the session is in memory only, because its store cannot be used.
    fallback: Arc<Mutex<Option<Fallback>>>,
    open: StoreOpener,
    clock: Clock,
    temporary: PathBuf,
}

/// A session that could not be saved to its store.
#[derive(Debug)]
pub(crate) enum Unsaved {
    /// Its changes are in a journal.
    Journaled(Journaled),
    /// It was written elsewhere.
    Rescued {
        /// Why.
        why: osm_store::Error,
        /// Where it was written, or why that failed.
        rescued: osm_store::Result<Rescued>,
    },
}

impl SessionHost {
    /// Opens the session. If its store cannot be used, warns and keeps the session in memory.
    pub(crate) fn open(
        invocation: &Invocation,
        settings: Prompting,
        ui: &mut Ui,
    ) -> Result<Self, CommandError> {
        let world = invocation.world;
        let clock = Arc::clone(&world.clock);
        let temporary = world.temporary();
        let open = invocation.store_opener()?;
        let (id, holder) = (invocation.session_id(), world.holder());
        let (again, journals) = (Arc::clone(&open), invocation.journals());
        let opened = fallback::open(again, journals.as_ref(), &holder, &clock, id, Wait::USUAL)?;
        let (mut session, fallback) = opened;
        let screen = ui.screen()?;
        if let Some(fallback) = &fallback {
            let kept = match fallback.journal() {
                Some(path) => format!("changes are kept in the journal {}", path.display()),
                None => "this session is in memory only".to_owned(),
            };
            screen.warn(&format!("{}; {kept}", fallback.why()));
            if fallback.hides_what_was_kept() {
                screen.warn("the stored state of this session cannot be read and is not shown");
            }
            for hint in advice(fallback.why(), world.home().as_deref()) {
                screen.hint(&hint);
            }
            screen.hint(match fallback.journal() {
                Some(_) => "osm saves them with the next command after the server is back",
                None => "at the end osm writes it to another folder and prints where",
            });
        }
        // A session with a journal needs no rescue: it is saved like any other.
        let fallback = fallback.filter(|it| it.journal().is_none());
        let changed: Arc<Mutex<Vec<Key>>> = Arc::default();
        let sink = Arc::clone(&changed);
        session.observe(Box::new(move |keys| locked(&sink).extend_from_slice(keys)));
        let saver = SessionSaver {
            session: Arc::new(Mutex::new(session)),
            fallback: Arc::new(Mutex::new(fallback)),
            open,
            clock,
            temporary: temporary.clone(),
        };
        let host = Self {
            saver,
            screen,
            log: Log::open(&settings.log, world.home().as_deref(), &world.clock)?,
            clock: Arc::clone(&world.clock),
            environment: world.environment.clone(),
            folder: world.folder().unwrap_or_default(),
            home: world.home(),
            temporary,
            settings,
            keep_archives: invocation.settings.keep_archives,
            stop: Arc::default(),
            changed,
        };
        host.report_notices();
        Ok(host)
    }

    /// The session. Holders keep the lock only for a moment.
    pub(crate) fn session(&self) -> MutexGuard<'_, Session> {
        locked(&self.saver.session)
    }

    /// The keys that other processes changed since the last call.
    pub(crate) fn take_changed(&self) -> Vec<Key> {
        let mut keys = std::mem::take(&mut *locked(&self.changed));
        keys.sort();
        keys.dedup();
        keys
    }

    /// A path relative to the working directory, made absolute.
    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }

    /// An environment variable, if it is UTF-8 and not blank.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        let value = self.environment.get(name)?.to_str()?;
        (!value.trim().is_empty()).then(|| value.to_owned())
    }

    /// Warns of repairs that the store made to the session's document.
    pub(crate) fn report_notices(&self) {
        let notices = self.session().take_notices();
        for notice in notices {
            let text = match notice {
                Notice::Quarantined { reason, name } => {
                    format!(
                        "the session was damaged ({reason}); the damaged file is quarantine/{name}"
                    )
                }
                Notice::Upgraded { name } => {
                    format!("the session was upgraded; the old version is archived as {name}")
                }
                Notice::Reset { archive, by } => {
                    let old = match archive {
                        Some(name) => format!("archived as {name}"),
                        None => "not archived".to_owned(),
                    };
                    format!("{} has reset this session; its old state is {old}", author(&by))
                }
                Notice::Adopted { from } => {
                    format!("the session file was a copy of session {}", from.label())
                }
                Notice::Replayed { command, host, overwritten } => {
                    replayed(command.as_deref(), &host, &overwritten)
                }
                Notice::NotReplayed { path, reason } => {
                    format!(
                        "the journal {} cannot be replayed and is kept: {reason}",
                        path.display()
                    )
                }
                Notice::JournalFailed { reason } => {
                    format!("cannot use the journals of this session: {reason}")
                }
            };
            self.screen.warn(&text);
        }
    }

    /// Closes the session. A session that cannot be saved is written elsewhere, which is an error that says
    /// where: a program that reads only the exit code must not take the session for saved.
    pub(crate) fn close(&self) -> Result<(), CommandError> {
        if let Some(failure) = self.log.take_failure() {
            self.screen.warn(&failure);
        }
        let Some(unsaved) = self.saver.save_or_rescue() else { return Ok(()) };
        let (why, rescued) = match unsaved {
            Unsaved::Rescued { why, rescued } => (why, rescued),
            Unsaved::Journaled(Journaled { journal, why, .. }) => {
                self.log.error("not saved", &why.to_string());
                let journal = journal.display();
                return Err(CommandError::failed(
                    NOT_SAVED,
                    format!(
                        "cannot save the session: {why}; its changes are in the journal {journal}"
                    ),
                )
                .with_hint(
                    "when the server is back, osm saves them as soon as it opens this session",
                )
                .with_hint("`osm store status` lists the journals")
                .exiting(Exit::Partial));
            }
        };
        self.log.error("not saved", &why.to_string());
        match rescued {
            Ok(rescued) => Err(CommandError::failed(
                NOT_SAVED,
                format!("cannot save the session: {why}; osm has written it to {rescued}"),
            )
            .with_hint(format!("restore it with `{}`", restore_command(&rescued)))
            .exiting(Exit::Partial)),
            Err(error) => Err(CommandError::failed(
                NOT_SAVED,
                format!(
                    "cannot save the session: {why}; cannot write it elsewhere either: {error}"
                ),
            )),
        }
    }
}

impl SessionSaver {
    /// Saves the last changes, or writes the session to another folder. `None` if it was saved.
    pub(crate) fn save_or_rescue(&self) -> Option<Unsaved> {
        let mut session = locked(&self.session);
        let fallback = if let Some(fallback) = locked(&self.fallback).take() {
            fallback
        } else {
            let failure = match session.persist() {
                Ok(Kept::Stored) => return None,
                Ok(Kept::Journaled(journaled)) => return Some(Unsaved::Journaled(journaled)),
                Err(failure) => failure,
            };
            Fallback::after(failure, Arc::clone(&self.open), Arc::clone(&self.clock))
        };
        let rescued = fallback.rescue(&session, &self.temporary).transpose()?;
        if rescued.is_ok() {
            session.forget_journal();
        }
        Some(Unsaved::Rescued { why: fallback.into_why(), rescued })
    }
}

/// What is said of changes that waited for the server.
fn replayed(command: Option<&str>, host: &str, overwritten: &[Key]) -> String {
    let what = command.map_or_else(|| "the changes".to_owned(), |command| format!("`{command}`"));
    let said = format!("saved {what}, which waited on {host} for the server");
    if overwritten.is_empty() {
        return said;
    }
    let keys: Vec<String> = overwritten.iter().map(ToString::to_string).collect();
    let keys = keys.join(", ");
    format!("{said}; another process had changed {keys} meanwhile: its values are in the history")
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
