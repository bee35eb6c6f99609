//! A session goes on while its store is away.
//!
//! What cannot be saved is written into a journal, and saved with the next command once the store is
//! back. A session that could not even be opened begins without what the store has: its edits have
//! no base, so the merge adds them to whatever the store has by then.

use std::path::PathBuf;

use crate::backend::Wait;
use crate::error::{Error, Result};
use crate::fallback::Opener;
use crate::journal::{Command, Content, Journal, Journals};
use crate::key::Key;

use super::{Notice, Session, put, stored};

/// What became of changes.
#[derive(Debug)]
pub enum Kept {
    /// The store has them.
    Stored,
    /// The store is away, and a journal has them.
    Journaled(Journaled),
}

/// Changes that wait for their store.
#[derive(Debug)]
pub struct Journaled {
    /// The file that has them.
    pub journal: PathBuf,
    /// Why the store does not.
    pub why: Error,
    /// Whether the user has not been told of it yet.
    pub is_first: bool,
}

/// How a session keeps what its store does not take.
#[derive(Default)]
pub(super) struct Away {
    /// `None` if changes are only kept in memory.
    journals: Option<Journals>,
    pub(super) ours: Option<Journal>,
    /// The commands whose changes are in the journal.
    pending: Option<Command>,
    /// Opens the store, if that failed when the session was opened.
    reopen: Option<Opener>,
    is_announced: bool,
}

impl Away {
    /// The journal whose changes the next save contains.
    pub(super) fn written(&self) -> Option<&Journal> {
        self.ours.as_ref().filter(|journal| journal.is_written())
    }

    /// The store has what the journal says. One that cannot be removed is marked in the document.
    pub(super) fn settled(&mut self) -> Option<Command> {
        self.is_announced = false;
        if let Some(journal) = self.ours.take() {
            let _removed = journal.remove();
        }
        self.pending.take()
    }
}

impl Session {
    /// From now on, changes that the store cannot take are written into a journal.
    pub(crate) fn journal_in(&mut self, journals: Journals) {
        self.away.journals = Some(journals);
    }

    /// Continues as a session whose store cannot be opened now: with the changes of the oldest
    /// journal that no process has, or with none. Returns the journal's path.
    pub(crate) fn go_away(&mut self, journals: Journals, reopen: Opener) -> Result<PathBuf> {
        let found = journals.take_all(&self.id)?;
        self.note_damaged(found.damaged);
        let journal = match found.journals.into_iter().next() {
            Some((journal, content)) => {
                self.edits = content.edits;
                self.waiting.clone_from(&self.edits);
                self.away.pending = content.command;
                journal
            }
            None => journals.create()?,
        };
        let path = journal.path();
        self.away.ours = Some(journal);
        self.away.journals = Some(journals);
        self.away.reopen = Some(reopen);
        self.away.is_announced = true;
        Ok(path)
    }

    /// Whether changes wait for the store, or it could not be opened.
    pub(super) fn is_away(&self) -> bool {
        self.away.reopen.is_some() || self.away.written().is_some()
    }

    /// Opens the store, if that failed before.
    pub(super) fn attach(&mut self) -> Result<()> {
        let Some(reopen) = &self.away.reopen else { return Ok(()) };
        let mut attached = reopen()?.open(&self.id, Wait::USUAL)?;
        let seen = self.as_we_see_it();
        attached.edits = std::mem::take(&mut self.edits);
        attached.waiting = std::mem::take(&mut self.waiting);
        attached.keeps_old = self.keeps_old;
        attached.observers = std::mem::take(&mut self.observers);
        attached.away = Away { reopen: None, ..std::mem::take(&mut self.away) };
        self.notices.append(&mut attached.notices);
        attached.notices = std::mem::take(&mut self.notices);
        *self = attached;
        self.tell_observers(&seen);
        Ok(())
    }

    /// Attaches a session without changes, which no save will; `true` if it did.
    pub(super) fn attach_unchanged(&mut self) -> Result<bool> {
        if self.away.reopen.is_none() || self.is_dirty() {
            return Ok(false);
        }
        match self.attach() {
            Ok(()) => Ok(true),
            Err(error) if error.kind().is_unavailable() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Saves, or writes into the journal what cannot be saved now.
    pub(super) fn keep(&mut self, command: Option<(&str, &str)>) -> Result<Kept> {
        let command = self.with_pending(command);
        let borrowed = command.as_ref().map(|it| (it.mode.as_str(), it.text.as_str()));
        let was_written = self.away.written().is_some();
        match self.save(borrowed, Wait::USUAL) {
            Ok(overwritten) => {
                if was_written {
                    let command = command.map(|it| it.text);
                    let host = self.holder.host.clone();
                    self.notices.push(Notice::Replayed { command, host, overwritten });
                }
                Ok(Kept::Stored)
            }
            Err(why) if is_away(&why) && self.away.journals.is_some() => {
                match self.write_journal(command) {
                    Ok(journal) => {
                        let is_first = !std::mem::replace(&mut self.away.is_announced, true);
                        Ok(Kept::Journaled(Journaled { journal, why, is_first }))
                    }
                    Err(error) => {
                        self.notices.push(Notice::JournalFailed { reason: error.to_string() });
                        Err(why)
                    }
                }
            }
            Err(why) => Err(why),
        }
    }

    /// Saves everything into the store, for a change that no journal can keep.
    pub(super) fn store_all(&mut self) -> Result<()> {
        self.attach()?;
        match self.persist()? {
            Kept::Stored => Ok(()),
            Kept::Journaled(journaled) => Err(journaled.why),
        }
    }

    /// A command with those that wait in the journal.
    fn with_pending(&self, command: Option<(&str, &str)>) -> Option<Command> {
        let command = command.filter(|(_, text)| !text.is_empty());
        match (self.away.pending.clone(), command) {
            (None, None) => None,
            (None, Some((mode, text))) => Some(Command { mode: mode.into(), text: text.into() }),
            (pending, None) => pending,
            (Some(pending), Some((mode, text))) => {
                Some(Command { mode: mode.into(), text: format!("{}; {text}", pending.text) })
            }
        }
    }

    fn write_journal(&mut self, command: Option<Command>) -> Result<PathBuf> {
        self.waiting.clone_from(&self.edits);
        let journals = self.away.journals.as_ref().expect("the caller has looked");
        let content = Content {
            session: self.id.clone(),
            host: self.holder.host.clone(),
            saved_at: journals.now(),
            command: command.clone(),
            edits: self.edits.clone(),
        };
        let journal = match &mut self.away.ours {
            Some(journal) => journal,
            ours => ours.insert(journals.create()?),
        };
        journal.write(content)?;
        self.away.pending = command;
        Ok(journal.path())
    }

    /// The journal is not needed: its changes are elsewhere.
    pub fn forget_journal(&mut self) {
        self.away.settled();
    }

    /// Saves what processes that ended left in journals, each journal once.
    pub(crate) fn replay(&mut self, journals: &Journals) -> Result<()> {
        let found = match journals.take_all(&self.id) {
            Ok(found) => found,
            Err(error) => {
                self.notices.push(Notice::JournalFailed { reason: error.to_string() });
                return Ok(());
            }
        };
        self.note_damaged(found.damaged);
        for (journal, content) in found.journals {
            if self.document.has_journal(journal.name()) {
                let _removed = journal.remove();
                continue;
            }
            let path = journal.path();
            self.edits = content.edits;
            self.away.ours = Some(journal);
            let command = content.command.as_ref();
            let command = command.map(|it| (it.mode.as_str(), it.text.as_str()));
            match self.save(command, Wait::USUAL) {
                Ok(overwritten) => {
                    let command = content.command.map(|it| it.text);
                    let host = content.host;
                    self.notices.push(Notice::Replayed { command, host, overwritten });
                }
                Err(error) if is_away(&error) => return Err(error),
                // The journal stays; the session can be used without it.
                Err(error) => {
                    self.edits.clear();
                    self.waiting.clear();
                    self.away = Away::default();
                    let reason = error.to_string();
                    self.notices.push(Notice::NotReplayed { path, reason });
                }
            }
        }
        Ok(())
    }

    fn note_damaged(&mut self, damaged: Vec<(PathBuf, String)>) {
        let notice = |(path, reason)| Notice::NotReplayed { path, reason };
        self.notices.extend(damaged.into_iter().map(notice));
    }

    /// Numbers that no other process can be asked about: the merge gives others to items whose
    /// numbers were given twice.
    pub(super) fn reserve_here(&mut self, key: &Key, floor: u64, count: u64) -> Result<u64> {
        let given = stored(&self.document, key).map_err(|reason| self.corrupt(reason))?;
        let given = given.as_ref().and_then(serde_json::Value::as_u64).unwrap_or(0);
        let highest = given.max(floor).saturating_add(count);
        put(&mut self.document, key, Some(&highest.into()));
        Ok(highest)
    }

    /// Whether numbers can be given without the store.
    pub(super) fn has_journals(&self) -> bool {
        self.away.journals.is_some()
    }
}

/// Whether an error leaves changes that the store may take later.
pub(super) fn is_away(error: &Error) -> bool {
    error.kind().is_unavailable() || error.is_unknown_outcome()
}
