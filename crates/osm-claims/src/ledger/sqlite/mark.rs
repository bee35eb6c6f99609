//! The high-water mark: how many changes a ledger had, kept outside of it.
//!
//! SQLite reads a log that was cut or flipped up to its last whole commit, and a file that was
//! restored from a backup as it is. Both look like a ledger in which less was claimed. So
//! `claims.mark`, one page beside the ledger, says after every change how many changes there are
//! and what the open claims come to; and which file the ledger was when it was last known to be
//! whole. A ledger with fewer changes went back. One whose file was changed by another program is
//! checked as a whole (`check.rs`).
//!
//! A change is marked after its commit and before it is acknowledged. So a crash leaves the mark
//! behind, never ahead, and the next change catches up. Writers do not wait for each other here:
//! each change has a slot by its number, and the greatest counts. Overwriting a page costs no sync:
//! the kernel writes it within seconds, and every [`SYNC_EVERY`]th change syncs it beside its commit.
//! What a power failure takes from the mark weakens it, and makes nothing wrong.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::place::{self, FileFacts};
use crate::claim::Claim;
use crate::error::{Error, Result};

/// A mark: after this many changes, the open claims come to this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    /// The number of the last event.
    pub(super) events: u64,
    /// The epoch of the last grant.
    pub(super) epoch: u64,
    /// The sum of all [`weight`]s.
    pub(super) sum: u64,
}

/// What stands in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    /// The ledger's file when it was last known to be whole.
    pub(super) whole: Option<FileFacts>,
    slots: Vec<Slot>,
}

/// The file.
#[derive(Debug)]
pub(super) struct Mark {
    /// `None` if the file does not exist and cannot be created.
    file: Option<File>,
    can_write: bool,
}

const PAGE: usize = 4096;
const MAGIC: u64 = u64::from_le_bytes(*b"osmmark1");
const FIRST_SLOT: usize = 512;
const SLOT: usize = 32;
const SLOTS: u64 = 64;

/// How many changes share a sync.
const SYNC_EVERY: u64 = 8;

/// Its path beside a ledger.
pub(super) fn path(ledger: &Path) -> PathBuf {
    ledger.with_extension("mark")
}

/// The greatest change that the mark of a ledger has, if there is one. The file is not changed.
pub(super) fn recorded(ledger: &Path) -> Result<Option<Slot>> {
    let path = path(ledger);
    if !place::inspect(&path)? {
        return Ok(None);
    }
    let file = File::open(&path).map_err(|error| Error::io("open the mark of", error))?;
    Ok(Mark { file: Some(file), can_write: false }.read()?.newest())
}

impl Mark {
    /// Opens the mark of a ledger, and makes an empty one if it is missing.
    pub(super) fn open(ledger: &Path) -> Result<Self> {
        let path = path(ledger);
        let is_there = place::inspect(&path)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        place::keep_private(&mut options);
        match options.open(&path) {
            Ok(file) => {
                if file.metadata().is_ok_and(|it| it.len() < PAGE as u64) {
                    // Its space is taken now, so that a full disk does not keep it from moving. The
                    // last byte says nothing: what a cut mark still says, or what another process
                    // has written by now, stays.
                    platform::write_at(&file, &[0], PAGE as u64 - 1)
                        .map_err(|error| Error::io("create the mark of", error))?;
                }
                Ok(Self { file: Some(file), can_write: true })
            }
            Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
                let file = if is_there { File::open(&path).ok() } else { None };
                Ok(Self { file, can_write: false })
            }
            Err(error) => Err(Error::io("open the mark of", error)),
        }
    }

    /// Whether changes can be marked.
    pub(super) fn can_write(&self) -> bool {
        self.can_write
    }

    /// What it says now.
    pub(super) fn read(&self) -> Result<Page> {
        let Some(file) = &self.file else { return Ok(Page::default()) };
        let mut bytes = [0; PAGE];
        let length = platform::read_at(file, &mut bytes)
            .map_err(|error| Error::io("read the mark of", error))?;
        Ok(Page::decode(&bytes[..length]))
    }

    /// Marks a change. A failure leaves the mark behind, which is no error of the change.
    pub(super) fn advance(&self, slot: Slot) {
        self.write(&slot.encode(), slot.place());
    }

    /// Records that the ledger's file is whole as it is.
    pub(super) fn set_whole(&self, facts: &FileFacts) {
        self.write(&encode_facts(facts), 0);
    }

    /// Forgets all changes, and starts with this one.
    pub(super) fn restart(&self, slot: Slot, whole: Option<FileFacts>) -> io::Result<()> {
        let Some(file) = self.file.as_ref().filter(|_| self.can_write) else {
            return Err(io::ErrorKind::ReadOnlyFilesystem.into());
        };
        let mut bytes = [0; PAGE];
        if let Some(facts) = whole {
            bytes[..48].copy_from_slice(&encode_facts(&facts));
        }
        bytes[slot.place()..][..SLOT].copy_from_slice(&slot.encode());
        platform::write_at(file, &bytes, 0)?;
        file.sync_all()
    }

    fn write(&self, bytes: &[u8], place: usize) {
        if let Some(file) = self.file.as_ref().filter(|_| self.can_write) {
            drop(platform::write_at(file, bytes, place as u64));
        }
    }

    /// Runs a commit; beside it, some of the time, the mark of the changes before it is synced.
    pub(super) fn beside_sync<T>(&self, events: u64, commit: impl FnOnce() -> T) -> T {
        let Some(file) = self.file.as_ref().filter(|_| events.is_multiple_of(SYNC_EVERY)) else {
            return commit();
        };
        std::thread::scope(|scope| {
            let sync = || drop(file.sync_data());
            // Without a thread (a limit on processes) the kernel writes it later.
            drop(std::thread::Builder::new().spawn_scoped(scope, sync));
            commit()
        })
    }
}

impl Page {
    fn decode(bytes: &[u8]) -> Self {
        let slots = bytes.get(FIRST_SLOT..).unwrap_or_default().chunks_exact(SLOT);
        let slots = slots.filter_map(Slot::decode).collect();
        Self { whole: decode_facts(bytes), slots }
    }

    /// The greatest change that was marked.
    pub(super) fn newest(&self) -> Option<Slot> {
        self.slots.iter().copied().max_by_key(|slot| slot.events)
    }

    /// The mark of the state after this many changes.
    pub(super) fn after(&self, events: u64) -> Option<Slot> {
        self.slots.iter().copied().find(|slot| slot.events == events)
    }
}

impl Slot {
    fn place(&self) -> usize {
        FIRST_SLOT + usize::try_from(self.events % SLOTS).unwrap_or(0) * SLOT
    }

    fn encode(&self) -> [u8; SLOT] {
        let numbers = [self.events, self.epoch, self.sum];
        let check = digest(&numbers.map(u64::to_le_bytes).concat(), MAGIC);
        pack([self.events, self.epoch, self.sum, check])
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let slot = Self { events: word(bytes, 0)?, epoch: word(bytes, 1)?, sum: word(bytes, 2)? };
        (slot.encode() == bytes).then_some(slot)
    }
}

fn encode_facts(facts: &FileFacts) -> [u8; 48] {
    let FileFacts { inode, length, modified, changed, .. } = *facts;
    let check = digest(&pack::<32, 4>([inode, length, modified, changed]), MAGIC);
    pack([MAGIC, inode, length, modified, changed, check])
}

fn decode_facts(bytes: &[u8]) -> Option<FileFacts> {
    let word = |place| word(bytes, place);
    let facts = FileFacts {
        device: 0,
        inode: word(1)?,
        length: word(2)?,
        modified: word(3)?,
        changed: word(4)?,
    };
    (encode_facts(&facts)[..] == *bytes.get(..48)?).then_some(facts)
}

fn pack<const BYTES: usize, const WORDS: usize>(words: [u64; WORDS]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

fn word(bytes: &[u8], place: usize) -> Option<u64> {
    let bytes = bytes.get(place * 8..place * 8 + 8)?;
    bytes.try_into().ok().map(u64::from_le_bytes)
}

/// What an open claim adds to the sum: everything by which it is held, and the process that it
/// depends on. The session's name is not in it, which can change.
pub(super) fn weight(claim: &Claim) -> u64 {
    let mut sum = MAGIC;
    let mut add = |bytes: &[u8]| {
        sum = digest(&(bytes.len() as u64).to_le_bytes(), sum);
        sum = digest(bytes, sum);
    };
    for number in [claim.epoch.0, u64::from(claim.seal.0)] {
        add(&number.to_le_bytes());
    }
    for number in [claim.scope.0, claim.owner.id.0] {
        add(&number.to_le_bytes());
    }
    add(claim.resource.stored());
    // Claims of names weigh what they did before there were modes.
    if claim.resource.path().is_some() {
        add(&[claim.mode.bits()]);
        add(super::rows::link(&claim.resource).unwrap_or_default().as_bytes());
    }
    add(super::rows::json(&claim.hold).as_bytes());
    add(super::rows::json(&claim.offer).as_bytes());
    if let Some(process) = &claim.owner.process {
        add(process.key().as_bytes());
        add(process.namespace.as_bytes());
        add(&u64::from(process.pid.0).to_le_bytes());
        add(&process.start.0.to_le_bytes());
    }
    // Spread over all bits, so that sums of similar claims differ.
    sum ^= sum >> 30;
    sum = sum.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    sum ^= sum >> 27;
    sum = sum.wrapping_mul(0x94d0_49bb_1331_11eb);
    sum ^ (sum >> 31)
}

/// FNV-1a: it finds damage, and need not resist an adversary, who could write the ledger itself.
fn digest(bytes: &[u8], start: u64) -> u64 {
    bytes.iter().fold(start ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(unix)]
mod platform {
    use std::fs::File;
    use std::io;
    use std::os::unix::fs::FileExt;

    pub(super) fn read_at(file: &File, bytes: &mut [u8]) -> io::Result<usize> {
        file.read_at(bytes, 0)
    }

    pub(super) fn write_at(file: &File, bytes: &[u8], place: u64) -> io::Result<()> {
        file.write_all_at(bytes, place)
    }
}

#[cfg(windows)]
mod platform {
    use std::fs::File;
    use std::io;
    use std::os::windows::fs::FileExt;

    pub(super) fn read_at(file: &File, bytes: &mut [u8]) -> io::Result<usize> {
        file.seek_read(bytes, 0)
    }

    pub(super) fn write_at(file: &File, bytes: &[u8], place: u64) -> io::Result<()> {
        match file.seek_write(bytes, place)? {
            written if written == bytes.len() => Ok(()),
            _ => Err(io::ErrorKind::WriteZero.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(events: u64) -> Slot {
        Slot { events, epoch: events / 2, sum: events.wrapping_mul(0x9e37_79b9) }
    }

    #[test]
    fn the_greatest_change_counts_in_whatever_order_they_are_marked() {
        let folder = tempfile::tempdir().unwrap();
        let mark = Mark::open(&folder.path().join("claims.db")).unwrap();
        assert_eq!(mark.read().unwrap(), Page::default());
        for events in [1, 3, 2, 70, 69, 68, 5] {
            mark.advance(slot(events));
        }
        let page = mark.read().unwrap();
        assert_eq!(page.newest(), Some(slot(70)));
        assert_eq!((page.after(68), page.after(4)), (Some(slot(68)), None));
        assert_eq!(page.whole, None);
        let facts = FileFacts { device: 0, inode: 7, length: 4096, modified: 1, changed: 2 };
        mark.set_whole(&facts);
        assert_eq!(mark.read().unwrap().whole, Some(facts));
        assert_eq!(mark.beside_sync(0, || 5) + mark.beside_sync(1, || 6), 11);
    }

    #[test]
    fn a_mark_that_is_cut_keeps_what_it_says() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("claims.db");
        Mark::open(&ledger).unwrap().advance(slot(3));
        let file = OpenOptions::new().write(true).open(path(&ledger)).unwrap();
        file.set_len(1000).unwrap();
        let bytes = std::fs::read(path(&ledger)).unwrap();
        assert_eq!(recorded(&ledger).unwrap(), Some(slot(3)));
        assert_eq!(std::fs::read(path(&ledger)).unwrap(), bytes, "looking changes nothing");
        let mark = Mark::open(&ledger).unwrap();
        assert_eq!(mark.read().unwrap().newest(), Some(slot(3)));
        assert_eq!(std::fs::read(path(&ledger)).unwrap().len(), PAGE);
    }

    #[test]
    fn a_damaged_mark_says_less_and_never_more() {
        let facts = FileFacts { device: 0, inode: 7, length: 4096, modified: 1, changed: 2 };
        let mut bytes = vec![0; PAGE];
        bytes[..48].copy_from_slice(&encode_facts(&facts));
        bytes[FIRST_SLOT + SLOT..][..SLOT].copy_from_slice(&slot(1).encode());
        let whole = Page::decode(&bytes);
        assert_eq!((whole.whole.as_ref(), whole.newest()), (Some(&facts), Some(slot(1))));
        for place in (0..48).chain(FIRST_SLOT..FIRST_SLOT + 2 * SLOT) {
            for bit in 0..8 {
                let mut bytes = bytes.clone();
                bytes[place] ^= 1 << bit;
                let page = Page::decode(&bytes);
                assert!(page.whole.is_none_or(|it| it == facts), "{place}");
                assert!(page.newest().is_none_or(|it| it == slot(1)), "{place}");
            }
        }
        for length in 0..PAGE {
            let page = Page::decode(&bytes[..length]);
            assert!(page.newest().is_none_or(|it| it == slot(1)), "{length}");
        }
    }
}
