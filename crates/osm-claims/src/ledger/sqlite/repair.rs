//! Going on with a ledger that went back or is damaged.
//!
//! A damaged ledger grants nothing (`check.rs`). Its user decides to go on: osm keeps a copy of the
//! files, makes a ledger of what can be read (`salvage.rs`), and puts it in the place of the damaged
//! one. Claims that were lost may be granted again, so every later epoch is greater than every
//! earlier one: it starts at the next million, as the damage may also be in what is known of the
//! last epoch.
//!
//! Looking is done on a copy, so that it changes nothing. Replacing several files is not one step.
//! So the copy is renamed to `claims.repairing` before anything is changed, and to its last name
//! when all is done. While it has the first name, commands refuse the ledger, and a repair starts
//! again from the copy.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::copy::{self, Facts};
use super::mark::{self, Mark, Slot};
use super::salvage::{self, Salvage};
use super::{SqliteLedger, fault, place};
use crate::claim::Claim;
use crate::clock::Clock;
use crate::error::{Corruption, Error, Result};
use crate::ledger::Ledger;
use crate::resource::Resource;

/// Epochs after a repair start at the next multiple of this.
const STEP: u64 = 1_000_000;

/// What is known of a ledger that may be damaged.
#[derive(Debug)]
pub struct Findings {
    /// The damage; `None` if the ledger is whole.
    pub damage: Option<Corruption>,
    /// The open claims that can be read; they stay held.
    pub claims: Vec<Claim>,
    /// The resources of which a part can be read; what they were is lost.
    pub lost: Vec<Resource>,
    /// The last change that the high-water mark has, and the last that can be read.
    pub changes: (Option<u64>, u64),
    /// The greatest epoch that the mark or the ledger has.
    pub last_epoch: u64,
    /// The first epoch after a repair.
    pub next_epoch: u64,
}

/// A ledger that was repaired.
#[derive(Debug)]
pub struct Repaired {
    /// What was found.
    pub findings: Findings,
    /// The folder with the damaged files; `None` if the ledger was whole and nothing was done.
    pub copy: Option<PathBuf>,
}

/// Looks at the ledger of a folder, and changes nothing. This process must not have it open.
pub fn examine(folder: &Path, clock: Arc<dyn Clock>) -> Result<Findings> {
    Ok(Examination::of(folder, clock)?.findings)
}

/// Repairs the ledger of a folder, if it is damaged. This process must not have it open.
pub fn repair(folder: &Path, clock: Arc<dyn Clock>) -> Result<Repaired> {
    let examination = Examination::of(folder, clock)?;
    let copy = match examination.findings.damage {
        None => None,
        Some(_) => Some(examination.replace()?),
    };
    Ok(Repaired { findings: examination.findings, copy })
}

struct Examination {
    path: PathBuf,
    /// What the files were when they were copied; `None` if the copy is that of an interrupted
    /// repair.
    facts: Option<Facts>,
    /// The copy of the files, and the new ledger.
    workshop: tempfile::TempDir,
    clock: Arc<dyn Clock>,
    salvage: Salvage,
    findings: Findings,
}

/// In the workshop: the files as they were, the files that are looked at, and the new ledger.
const KEPT: &str = "kept";
const SEEN: &str = "seen";
const NEW: &str = "repaired.db";

impl Examination {
    fn of(folder: &Path, clock: Arc<dyn Clock>) -> Result<Self> {
        let folder = folder.canonicalize();
        let folder = folder.map_err(|error| Error::io("find the folder of", error))?;
        let path = folder.join(place::NAME);
        let is_interrupted = match place::not_in_repair(&path) {
            Err(Error::Corrupt(Corruption::Interrupted)) => true,
            answer => answer.map(|()| false)?,
        };
        let source =
            if is_interrupted { place::in_repair(&path).join(place::NAME) } else { path.clone() };
        let mut is_there = false;
        for file in place::files(&source) {
            is_there |= place::inspect(&file)?;
        }
        let error = |error| Error::io("copy", error);
        let name = place::temporary_name()?;
        let workshop = tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir_in(&folder);
        let workshop = workshop.map_err(error)?;
        let (kept, seen) = (workshop.path().join(KEPT), workshop.path().join(SEEN));
        let facts = copy::at_one_moment(&source, &kept)?;
        place::make_new_folder(&seen).map_err(error)?;
        copy::files(&kept.join(place::NAME), &seen).map_err(error)?;

        let copy = seen.join(place::NAME);
        let newest = mark::recorded(&copy)?;
        let exists = copy.exists();
        let mut damage = is_interrupted.then_some(Corruption::Interrupted);
        if is_there && damage.is_none() {
            match open(&seen, &clock) {
                Ok(()) => {}
                Err(Error::Corrupt(corruption)) => damage = Some(corruption),
                Err(error) => return Err(error),
            }
        }
        let salvage = salvage::salvage(&copy, &workshop.path().join(NEW), &*clock)?;
        if damage.is_none() && exists && !salvage.is_complete {
            damage = Some(Corruption::Altered);
        }
        let last_epoch = salvage.epoch.max(newest.map_or(0, |it| it.epoch));
        let findings = Findings {
            damage,
            claims: salvage.claims.clone(),
            lost: salvage.lost.clone(),
            changes: (newest.map(|it| it.events), salvage.events),
            last_epoch,
            next_epoch: (last_epoch / STEP + 1).saturating_mul(STEP),
        };
        let facts = (!is_interrupted).then_some(facts);
        Ok(Self { path, facts, workshop, clock, salvage, findings })
    }

    /// Keeps a copy of the files and puts the new ledger in their place; the folder of the copy.
    ///
    /// The log goes first, as it must not be applied to the new file.
    #[expect(clippy::disallowed_methods, reason = "a copy of all that is removed was synced")]
    fn replace(&self) -> Result<PathBuf> {
        let error = |error| Error::io("repair", error);
        let new = self.workshop.path().join(NEW);
        let before = self.findings.changes.0.unwrap_or(0).max(self.salvage.events);
        salvage::continue_after(&new, self.findings.next_epoch - 1, before)?;
        let file = std::fs::OpenOptions::new().write(true).open(&new).map_err(error)?;
        file.sync_all().map_err(error)?;
        drop(file);
        let writer = self.lock()?;
        let in_repair = place::in_repair(&self.path);
        if let Some(facts) = self.facts {
            if copy::facts(&self.path) != facts {
                // What was written since the copy would be lost.
                return Err(Error::Busy { writer: None });
            }
            std::fs::rename(self.workshop.path().join(KEPT), &in_repair).map_err(error)?;
            place::sync(self.folder()).map_err(error)?;
        }
        // Where an open file cannot be replaced, another process that has it open prevents it.
        let writer = writer.filter(|_| cfg!(unix));
        for extension in ["db-wal", "db-shm"] {
            match std::fs::remove_file(self.path.with_extension(extension)) {
                Err(it) if it.kind() != std::io::ErrorKind::NotFound => return Err(error(it)),
                _ => {}
            }
        }
        std::fs::rename(&new, &self.path).map_err(error)?;
        place::sync(self.folder()).map_err(error)?;
        drop(writer);
        let sum = self.salvage.claims.iter().map(mark::weight);
        let sum = sum.fold(0, u64::wrapping_add);
        let slot = Slot { events: self.salvage.kept_events, epoch: self.findings.last_epoch, sum };
        Mark::open(&self.path)?.restart(slot, place::file_facts(&self.path)).map_err(error)?;
        let kept = self.free_name()?;
        std::fs::rename(&in_repair, &kept).map_err(error)?;
        place::sync(self.folder()).map_err(error)?;
        Ok(kept)
    }

    /// Keeps other processes from writing until the connection is closed. A file that SQLite cannot
    /// read has no lock, and no process writes to it either.
    fn lock(&self) -> Result<Option<Connection>> {
        if place::file_facts(&self.path).is_none_or(|it| it.length == 0) {
            return Ok(None);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let Ok(mut writer) = Connection::open_with_flags(&self.path, flags) else {
            return Ok(None);
        };
        let error = |error| fault::explain(&self.path, error);
        // Closing it must not touch a log that is another ledger's by then.
        writer.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(error)?;
        writer.busy_handler(Some(super::keep_waiting)).map_err(error)?;
        match writer.execute_batch("BEGIN IMMEDIATE").map_err(error) {
            Err(busy @ Error::Busy { .. }) => Err(busy),
            _ => Ok(Some(writer)),
        }
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// A name for the copy that is not in use.
    fn free_name(&self) -> Result<PathBuf> {
        let time = self.clock.now()?.wall.strftime("%Y%m%dT%H%M%SZ").to_string();
        let mut kept = self.folder().join(format!("claims.damaged-{time}"));
        for number in 2.. {
            if kept.symlink_metadata().is_err() {
                break;
            }
            kept.set_file_name(format!("claims.damaged-{time}-{number}"));
        }
        Ok(kept)
    }
}

/// Opens a ledger and reads it, as every command does.
fn open(folder: &Path, clock: &Arc<dyn Clock>) -> Result<()> {
    let ledger = SqliteLedger::open_with_clock(folder, Box::new(Arc::clone(clock)))?;
    ledger.read(&mut |_| Ok(()))
}
