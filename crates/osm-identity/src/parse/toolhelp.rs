//! A Toolhelp snapshot of Windows: every process with its parent and name, but not its age.
//!
//! Three facts about Windows shape this module. A snapshot costs milliseconds, so one serves a
//! whole walk. A process keeps the number of its parent after the parent has ended, and the number
//! may since be another's. And a snapshot tells no creation times, so these are asked of the
//! running process later, when the number in the snapshot may be another's too. Hence
//! [`Snapshot::find`] is told the creation time and says when the snapshot is too old to speak of
//! that process.

use crate::process::{Pid, StartTime};

/// The idle process and the kernel: roots of the table, which cannot be opened or asked.
const ROOTS: [Pid; 2] = [Pid(0), Pid(4)];

/// A process as the snapshot shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its number.
    pub pid: Pid,
    /// The number that its parent has or had; 0 for the roots of the table.
    pub parent: Pid,
    /// The file name of its executable, as the system spells it.
    pub name: String,
}

impl Row {
    /// Makes a row of `th32ProcessID`, `th32ParentProcessID` and `szExeFile`.
    #[must_use]
    pub fn new(pid: u32, parent: u32, name: &[u16]) -> Self {
        let pid = Pid(pid);
        let parent = if is_root(pid) { Pid(0) } else { Pid(parent) };
        Self { pid, parent, name: text(name) }
    }
}

/// What a snapshot says of a process that lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// This is its row.
    Row(&'a Row),
    /// It may have come after the snapshot was taken: take another.
    TooOld,
}

/// All processes at one moment.
#[derive(Clone, Debug)]
pub struct Snapshot {
    taken: StartTime,
    rows: Vec<Row>,
}

impl Snapshot {
    /// A snapshot whose taking began at a moment, in the unit of creation times.
    #[must_use]
    pub fn new(taken: StartTime, mut rows: Vec<Row>) -> Self {
        rows.sort_by_key(|row| row.pid);
        Self { taken, rows }
    }

    /// The row of a process that was created at that time.
    #[must_use]
    pub fn find(&self, pid: Pid, created: StartTime) -> Found<'_> {
        match self.row(pid) {
            Some(row) if created <= self.taken => Found::Row(row),
            _ => Found::TooOld,
        }
    }

    /// The row that has that pid now, whichever process it is.
    #[must_use]
    pub fn row(&self, pid: Pid) -> Option<&Row> {
        let index = self.rows.binary_search_by_key(&pid, |row| row.pid).ok()?;
        self.rows.get(index)
    }
}

/// Whether a process is one of the two at the root of the table, older than all others.
#[must_use]
pub fn is_root(pid: Pid) -> bool {
    ROOTS.contains(&pid)
}

/// A `FILETIME`: units of 100 ns since 1601.
#[must_use]
pub fn file_time(low: u32, high: u32) -> StartTime {
    StartTime(u64::from(high) << 32 | u64::from(low))
}

/// UTF-16 up to the first NUL, with a replacement for what is not text.
#[must_use]
pub fn text(units: &[u16]) -> String {
    String::from_utf16_lossy(units.split(|unit| *unit == 0).next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wide(text: &str) -> Vec<u16> {
        text.encode_utf16().chain([0, 0xdead, 0xbeef]).collect()
    }

    fn snapshot() -> Snapshot {
        let rows = vec![
            Row::new(5120, 4096, &wide("cmd.exe")),
            Row::new(4, 0, &wide("System")),
            Row::new(0, 7777, &wide("[System Process]")),
            Row::new(4096, 812, &wide("WindowsTerminal.exe")),
        ];
        Snapshot::new(StartTime(1000), rows)
    }

    #[test]
    fn a_process_that_was_there() {
        let snapshot = snapshot();
        let Found::Row(row) = snapshot.find(Pid(5120), StartTime(1000)) else {
            panic!("not found")
        };
        assert_eq!((row.parent, row.name.as_str()), (Pid(4096), "cmd.exe"));
    }

    #[test]
    fn a_process_that_came_later() {
        let snapshot = snapshot();
        assert_eq!(snapshot.find(Pid(8888), StartTime(1001)), Found::TooOld);
        // The number was recycled: the row is that of a process now dead.
        assert_eq!(snapshot.find(Pid(5120), StartTime(1001)), Found::TooOld);
    }

    #[test]
    fn the_roots_have_no_parent() {
        let snapshot = snapshot();
        for pid in [Pid(0), Pid(4)] {
            assert!(is_root(pid));
            assert_eq!(snapshot.row(pid).unwrap().parent, Pid(0));
        }
        assert!(!is_root(Pid(8)));
    }

    #[test]
    fn words_and_times() {
        assert_eq!(text(&wide("pwsh.exe")), "pwsh.exe");
        assert_eq!(text(&[]), "");
        assert_eq!(text(&[0x61, 0xd800, 0x62]), "a\u{fffd}b");
        assert_eq!(file_time(0xffff_ffff, 0x01dc_0000), StartTime(0x01dc_0000_ffff_ffff));
    }

    proptest! {
        #[test]
        fn every_row_is_found(pids in proptest::collection::btree_set(any::<u32>(), 0..20)) {
            let rows = pids.iter().rev().map(|pid| Row::new(*pid, 1, &[])).collect();
            let snapshot = Snapshot::new(StartTime(5), rows);
            for pid in pids {
                prop_assert!(matches!(snapshot.find(Pid(pid), StartTime(5)), Found::Row(row) if row.pid == Pid(pid)));
            }
        }

        #[test]
        fn no_units_panic(units in proptest::collection::vec(any::<u16>(), 0..300)) {
            drop(text(&units));
        }
    }
}
