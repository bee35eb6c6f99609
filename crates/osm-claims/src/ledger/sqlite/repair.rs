//! Going on with a ledger that went back or is damaged.
//!
//! A damaged ledger grants nothing (`check.rs`). Its user decides to go on: osm keeps a copy of the
//! files, makes a ledger of what can be read (`salvage.rs`), and puts it in the place of the damaged
//! one. Claims that were lost may be granted again, so every later epoch is greater than every
//! earlier one: it starts at the next million, as the damage may also be in what is known of the
//! last epoch.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::mark::{Mark, Slot};
use super::salvage::{self, Salvage};
use super::{SqliteLedger, place};
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

/// Looks at the ledger of a folder, and changes nothing.
pub fn examine(folder: &Path, clock: Arc<dyn Clock>) -> Result<Findings> {
    Ok(Examination::of(folder, clock)?.findings)
}

/// Repairs the ledger of a folder, if it is damaged.
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
    /// Private copies of the files, and the new ledger.
    workshop: tempfile::TempDir,
    clock: Arc<dyn Clock>,
    salvage: Salvage,
    findings: Findings,
}

const NEW: &str = "repaired.db";

impl Examination {
    fn of(folder: &Path, clock: Arc<dyn Clock>) -> Result<Self> {
        let folder = folder.canonicalize();
        let folder = folder.map_err(|error| Error::io("find the folder of", error))?;
        let path = folder.join(place::NAME);
        let mut damage = None;
        let exists = place::inspect(&path)?;
        let has_mark = place::inspect(&super::mark::path(&path))?;
        let newest = if has_mark { Mark::open(&path)?.read()?.newest() } else { None };
        if exists || newest.is_some() {
            match open(&folder, &clock) {
                Ok(()) => {}
                Err(Error::Corrupt(corruption)) => damage = Some(corruption),
                Err(error) => return Err(error),
            }
        }
        let error = |error| Error::io("copy", error);
        let name = place::temporary_name()?;
        let workshop = tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir_in(&folder);
        let workshop = workshop.map_err(error)?;
        salvage::copy_files(&path, workshop.path()).map_err(error)?;
        let copy = workshop.path().join(place::NAME);
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
        Ok(Self { path, workshop, clock, salvage, findings })
    }

    /// Keeps a copy of the files and puts the new ledger in their place; the folder of the copy.
    ///
    /// The log goes first, as it must not be applied to the new file. If this is interrupted, the
    /// mark is still that of the old ledger, which refuses what is there until it is repaired again.
    #[expect(clippy::disallowed_methods, reason = "a copy of all that is removed was synced")]
    fn replace(&self) -> Result<PathBuf> {
        let error = |error| Error::io("repair", error);
        let new = self.workshop.path().join(NEW);
        let before = self.findings.changes.0.unwrap_or(0).max(self.salvage.events);
        salvage::continue_after(&new, self.findings.next_epoch - 1, before)?;
        let file = std::fs::OpenOptions::new().write(true).open(&new).map_err(error)?;
        file.sync_all().map_err(error)?;
        drop(file);
        let kept = self.keep()?;
        // While this has the lock no process writes; one that cannot be had is one of a file that
        // cannot be written.
        let writer = rusqlite::Connection::open(&self.path).ok();
        if let Some(writer) = &writer {
            drop(writer.execute_batch("BEGIN IMMEDIATE"));
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
        let sum = self.salvage.claims.iter().map(super::mark::weight);
        let sum = sum.fold(0, u64::wrapping_add);
        let slot = Slot { events: self.salvage.kept_events, epoch: self.findings.last_epoch, sum };
        Mark::open(&self.path)?.restart(slot, place::file_facts(&self.path)).map_err(error)?;
        Ok(kept)
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }

    /// Copies the files to a folder of their own.
    fn keep(&self) -> Result<PathBuf> {
        let error = |error| Error::io("keep a copy of", error);
        let time = self.clock.now()?.wall.strftime("%Y%m%dT%H%M%SZ").to_string();
        let mut kept = self.folder().join(format!("claims.damaged-{time}"));
        for number in 2.. {
            match place::make_new_folder(&kept) {
                Err(it) if it.kind() == std::io::ErrorKind::AlreadyExists => {
                    kept.set_file_name(format!("claims.damaged-{time}-{number}"));
                }
                made => {
                    made.map_err(error)?;
                    break;
                }
            }
        }
        salvage::copy_files(&self.path, &kept).map_err(error)?;
        place::sync(&kept).and_then(|()| place::sync(self.folder())).map_err(error)?;
        Ok(kept)
    }
}

/// Opens the ledger and reads it, as every command does.
fn open(folder: &Path, clock: &Arc<dyn Clock>) -> Result<()> {
    let ledger = SqliteLedger::open_with_clock(folder, Box::new(Arc::clone(clock)))?;
    ledger.read(&mut |_| Ok(()))
}
