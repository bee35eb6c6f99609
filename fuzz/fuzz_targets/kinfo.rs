//! `kinfo_proc` of macOS and the BSDs, in every layout.

#![no_main]

use libfuzzer_sys::fuzz_target;
use osm_identity::parse::kinfo::{Layout, parse, since_boot};
use osm_identity::parse::{bsd_kinfo, darwin_kinfo};
use osm_identity::{Pid, StartTime};

const LAYOUTS: [Layout; 4] =
    [darwin_kinfo::LAYOUT, bsd_kinfo::FREEBSD, bsd_kinfo::OPENBSD, bsd_kinfo::NETBSD];

fuzz_target!(|input: (u32, u64, &[u8])| {
    let (pid, unit, bytes) = input;
    for layout in &LAYOUTS {
        // A row of the right length that is about the process asked for, so that more is read
        // than its first fields.
        let mut row = bytes.to_vec();
        row.resize(row.len().max(layout.size), 0);
        row[layout.pid.offset..][..4].copy_from_slice(&pid.to_ne_bytes());
        for row in [bytes, &row] {
            let Ok(process) = parse(row, Pid(pid), layout) else { continue };
            assert_eq!(process.pid, Pid(pid));
            assert!(process.name.chars().count() <= layout.name_length);
            if let Ok(start) = since_boot(process.start, bytes, unit) {
                assert!(start <= process.start);
            }
        }
    }
    let _ = since_boot(StartTime(unit), bytes, u64::from(pid));
});
