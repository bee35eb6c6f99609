//! A Toolhelp snapshot of Windows.

#![no_main]

use libfuzzer_sys::fuzz_target;
use osm_identity::parse::toolhelp::{Found, Row, Snapshot, file_time, is_root, text};
use osm_identity::{Pid, StartTime};

fuzz_target!(|input: (Vec<(u32, u32, Vec<u16>)>, u64, u32, u32, u32)| {
    let (rows, taken, pid, low, high) = input;
    let rows: Vec<Row> =
        rows.iter().map(|(pid, parent, name)| Row::new(*pid, *parent, name)).collect();
    let pids: Vec<Pid> = rows.iter().map(|row| row.pid).chain([Pid(pid)]).collect();
    let created = file_time(low, high);
    let snapshot = Snapshot::new(StartTime(taken), rows.clone());
    for pid in pids {
        let row = snapshot.row(pid);
        assert_eq!(row.is_some(), rows.iter().any(|row| row.pid == pid));
        match snapshot.find(pid, created) {
            Found::Row(found) => {
                assert!(created.0 <= taken && Some(found) == row && rows.contains(found));
                assert!(!is_root(pid) || found.parent == Pid(0));
            }
            Found::TooOld => assert!(created.0 > taken || row.is_none()),
        }
    }
    let units = [low as u16, (low >> 16) as u16, high as u16, (high >> 16) as u16];
    assert!(!text(&units).contains('\0'));
});
