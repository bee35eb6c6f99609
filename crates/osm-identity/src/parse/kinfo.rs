//! `kinfo_proc`: the row that `sysctl` gives for a process on macOS and the BSDs.
//!
//! The systems share the call and the idea but not the layout: each has a C structure of its own,
//! with the same handful of facts at different offsets and in different widths. So the parser is
//! one and the layouts are data ([`darwin_kinfo`](super::darwin_kinfo),
//! [`bsd_kinfo`](super::bsd_kinfo)). Numbers are in the byte order of the machine, because the
//! kernel that writes them is the one that we run on.

use crate::process::{Pid, Process, ReadError, StartTime, State, Terminal};

/// Where a number stands in a row, and how wide it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Bytes before it.
    pub offset: usize,
    /// Bytes that it takes, at most 8.
    pub width: usize,
}

/// Where one system keeps what we need of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The least number of bytes that hold everything below.
    pub size: usize,
    /// The number of the process.
    pub pid: Number,
    /// The number of its parent.
    pub parent: Number,
    /// The number of its session's leader; some systems keep it elsewhere.
    pub session: Option<Number>,
    /// The device of its controlling terminal; all ones (`NODEV`) where it has none.
    pub terminal: Number,
    /// Whole seconds of its start time.
    pub start_seconds: Number,
    /// Microseconds of its start time.
    pub start_micros: Number,
    /// What it is doing.
    pub state: Number,
    /// The values of `state` for a process that was stopped.
    pub stopped: &'static [u64],
    /// The values of `state` for a process that ended.
    pub ended: &'static [u64],
    /// The bytes before its name.
    pub name: usize,
    /// The bytes that the name may take, the NUL at its end included.
    pub name_length: usize,
}

/// Reads one row, which must be about the process that was asked for.
///
/// The start time is the one that the kernel tells, in microseconds since 1970; on systems that
/// derive it from the time of boot, see [`since_boot`].
pub fn parse(bytes: &[u8], pid: Pid, layout: &Layout) -> Result<Process, ReadError> {
    if bytes.is_empty() {
        return Err(ReadError::Absent);
    }
    if bytes.len() < layout.size {
        return Err(ReadError::Malformed("row is cut short"));
    }
    if pid_at(bytes, layout.pid)? != Some(pid) {
        return Err(ReadError::Malformed("another process's row"));
    }
    let micros = number(bytes, layout.start_micros)?;
    if micros >= 1_000_000 {
        return Err(ReadError::Malformed("microseconds out of range"));
    }
    let start = number(bytes, layout.start_seconds)?
        .checked_mul(1_000_000)
        .and_then(|whole| whole.checked_add(micros))
        .ok_or(ReadError::Malformed("start time out of range"))?;
    let terminal = number(bytes, layout.terminal)?;
    let state = match number(bytes, layout.state)? {
        state if layout.ended.contains(&state) => State::Zombie,
        state if layout.stopped.contains(&state) => State::Suspended,
        _ => State::Active,
    };
    let session = match layout.session {
        Some(place) => pid_at(bytes, place)?,
        None => None,
    };
    Ok(Process {
        pid,
        parent: pid_at(bytes, layout.parent)?.unwrap_or(Pid(0)),
        start: StartTime(start),
        name: name(bytes, layout)?,
        terminal: (terminal != all_ones(layout.terminal.width)).then_some(Terminal(terminal)),
        session,
        state,
    })
}

/// A start time as the time that passed since boot, in units of `unit` microseconds.
///
/// FreeBSD and OpenBSD remember when a process started by the clock that counts from boot, and
/// add the time of boot whenever they are asked. When the wall clock is set, the time of
/// boot moves, and with it the start time of every process that runs: a process would no longer be
/// itself. Taking the time of boot away again gives what the kernel remembers.
///
/// `boot` is what `kern.boottime` says: a `struct timeval`.
pub fn since_boot(start: StartTime, boot: &[u8], unit: u64) -> Result<StartTime, ReadError> {
    let seconds = number(boot, Number { offset: 0, width: 8 })?;
    let micros = number(boot, Number { offset: 8, width: 8 })?;
    let boot = seconds
        .checked_mul(1_000_000)
        .and_then(|whole| whole.checked_add(micros))
        .ok_or(ReadError::Malformed("time of boot out of range"))?;
    // A zombie may have lost its start time; a process that ended is older than none.
    Ok(StartTime(start.0.saturating_sub(boot) / unit.max(1)))
}

fn number(bytes: &[u8], place: Number) -> Result<u64, ReadError> {
    let field = place
        .offset
        .checked_add(place.width)
        .and_then(|end| bytes.get(place.offset..end))
        .ok_or(ReadError::Malformed("row is cut short"))?;
    let mut whole = [0; 8];
    let low = if cfg!(target_endian = "big") { 8_usize.saturating_sub(place.width) } else { 0 };
    whole
        .get_mut(low..low + place.width)
        .ok_or(ReadError::Malformed("no number is that wide"))?
        .copy_from_slice(field);
    Ok(u64::from_ne_bytes(whole))
}

/// A pid; `None` for 0, which means no process.
fn pid_at(bytes: &[u8], place: Number) -> Result<Option<Pid>, ReadError> {
    let value = number(bytes, place)?;
    match i32::try_from(value) {
        Ok(value) => Ok(Some(Pid(value.unsigned_abs())).filter(|pid| pid.0 != 0)),
        // Negative: "none" on systems that say it so.
        Err(_) if value >> 31 == 1 => Ok(None),
        Err(_) => Err(ReadError::Malformed("pid out of range")),
    }
}

fn name(bytes: &[u8], layout: &Layout) -> Result<String, ReadError> {
    let field = layout
        .name
        .checked_add(layout.name_length)
        .and_then(|end| bytes.get(layout.name..end))
        .ok_or(ReadError::Malformed("row is cut short"))?;
    let text = field.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(text).into_owned())
}

/// The greatest number of a width.
fn all_ones(width: usize) -> u64 {
    match width {
        1..8 => (1 << (8 * width)) - 1,
        _ => u64::MAX,
    }
}

/// Builds rows as a kernel would, for the tests of the layouts.
#[cfg(test)]
pub(super) mod rows {
    use super::{Layout, Number, Process};

    /// The row of a process in a layout; `state` is the kernel's number.
    pub(crate) fn row(process: &Process, state: u64, layout: &Layout) -> Vec<u8> {
        // Filled with junk: nothing but the named fields may matter.
        let mut bytes = vec![0xa5; layout.size];
        put(&mut bytes, layout.pid, u64::from(process.pid.0));
        put(&mut bytes, layout.parent, u64::from(process.parent.0));
        if let Some(place) = layout.session {
            put(&mut bytes, place, process.session.map_or(0, |pid| u64::from(pid.0)));
        }
        put(&mut bytes, layout.terminal, process.terminal.map_or(u64::MAX, |device| device.0));
        put(&mut bytes, layout.start_seconds, process.start.0 / 1_000_000);
        put(&mut bytes, layout.start_micros, process.start.0 % 1_000_000);
        put(&mut bytes, layout.state, state);
        let field = &mut bytes[layout.name..layout.name + layout.name_length];
        let length = process.name.len().min(field.len() - 1);
        field[..length].copy_from_slice(&process.name.as_bytes()[..length]);
        field[length] = 0;
        bytes
    }

    /// Writes a number at its place.
    pub(crate) fn put(bytes: &mut [u8], place: Number, value: u64) {
        let whole = value.to_le_bytes();
        let mut field = whole[..place.width].to_vec();
        if cfg!(target_endian = "big") {
            field.reverse();
        }
        bytes[place.offset..place.offset + place.width].copy_from_slice(&field);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{bsd_kinfo, darwin_kinfo};
    use super::*;
    use proptest::prelude::*;

    const LAYOUTS: [&Layout; 4] =
        [&darwin_kinfo::LAYOUT, &bsd_kinfo::FREEBSD, &bsd_kinfo::OPENBSD, &bsd_kinfo::NETBSD];

    fn shell(layout: &Layout) -> Process {
        Process {
            pid: Pid(4711),
            parent: Pid(4700),
            start: StartTime(1_763_230_000_123_456),
            name: "zsh".into(),
            terminal: Some(Terminal(0x1000_0003)),
            session: layout.session.map(|_| Pid(4701)),
            state: State::Active,
        }
    }

    #[test]
    fn every_layout_round_trips() {
        for layout in LAYOUTS {
            let process = shell(layout);
            assert_eq!(parse(&rows::row(&process, 3, layout), Pid(4711), layout), Ok(process));
        }
    }

    #[test]
    fn nothing_stands_on_anything_else_and_all_fits() {
        for layout in LAYOUTS {
            let numbers = [
                Some(layout.pid),
                Some(layout.parent),
                layout.session,
                Some(layout.terminal),
                Some(layout.start_seconds),
                Some(layout.start_micros),
                Some(layout.state),
                Some(Number { offset: layout.name, width: layout.name_length }),
            ];
            let mut fields: Vec<_> = numbers.into_iter().flatten().collect();
            fields.sort_by_key(|field| field.offset);
            for pair in fields.windows(2) {
                assert!(pair[0].offset + pair[0].width <= pair[1].offset, "{pair:?}");
            }
            let last = fields.last().unwrap();
            assert!(last.offset + last.width <= layout.size);
        }
    }

    #[test]
    fn what_is_missing_is_none() {
        for layout in LAYOUTS {
            let process =
                Process { terminal: None, session: None, parent: Pid(0), ..shell(layout) };
            assert_eq!(parse(&rows::row(&process, 3, layout), Pid(4711), layout), Ok(process));
        }
    }

    #[test]
    fn a_negative_pid_is_none_and_a_huge_one_is_refused() {
        let layout = &bsd_kinfo::NETBSD;
        let mut bytes = rows::row(&shell(layout), 3, layout);
        rows::put(&mut bytes, layout.parent, u64::from(u32::MAX));
        assert_eq!(parse(&bytes, Pid(4711), layout).unwrap().parent, Pid(0));
        let wide = Layout { parent: Number { offset: 0, width: 8 }, ..*layout };
        rows::put(&mut bytes, wide.parent, u64::MAX >> 1);
        assert_eq!(parse(&bytes, Pid(4711), &wide), Err(ReadError::Malformed("pid out of range")));
    }

    #[test]
    fn damaged_rows_are_refused() {
        for layout in LAYOUTS {
            let bytes = rows::row(&shell(layout), 3, layout);
            assert_eq!(parse(&[], Pid(4711), layout), Err(ReadError::Absent));
            assert_eq!(
                parse(&bytes[..bytes.len() - 1], Pid(4711), layout),
                Err(ReadError::Malformed("row is cut short"))
            );
            assert_eq!(
                parse(&bytes, Pid(4712), layout),
                Err(ReadError::Malformed("another process's row"))
            );
            let mut damaged = bytes.clone();
            rows::put(&mut damaged, layout.start_micros, 1_000_000);
            assert_eq!(
                parse(&damaged, Pid(4711), layout),
                Err(ReadError::Malformed("microseconds out of range"))
            );
        }
    }

    #[test]
    fn names_end_at_the_first_nul_or_with_the_field() {
        for layout in LAYOUTS {
            let mut bytes = rows::row(&shell(layout), 3, layout);
            let field = layout.name..layout.name + layout.name_length;
            bytes[field.clone()].fill(b'n');
            let name = parse(&bytes, Pid(4711), layout).unwrap().name;
            assert_eq!(name, "n".repeat(layout.name_length));
            bytes[field.start] = 0xff;
            bytes[field.start + 1] = 0;
            assert_eq!(parse(&bytes, Pid(4711), layout).unwrap().name, "\u{fffd}");
        }
    }

    #[test]
    fn setting_the_clock_changes_no_start_time() {
        fn boot(seconds: u64, micros: u64) -> Vec<u8> {
            let mut bytes = vec![0; 16];
            rows::put(&mut bytes, Number { offset: 0, width: 8 }, seconds);
            rows::put(&mut bytes, Number { offset: 8, width: 8 }, micros);
            bytes
        }
        // 90.5 seconds after boot, told before and after the clock was set back by an hour.
        let before = since_boot(StartTime(1_000_090_500_000), &boot(1_000_000, 0), 1).unwrap();
        let after = since_boot(StartTime(996_490_750_000), &boot(996_400, 250_000), 1).unwrap();
        assert_eq!((before, after), (StartTime(90_500_000), StartTime(90_500_000)));
        let coarse = since_boot(StartTime(1_000_090_500_001), &boot(1_000_000, 0), 10_000);
        assert_eq!(coarse, Ok(StartTime(9_050)));
        // A zombie without a start time, and bytes that hold no time.
        assert_eq!(since_boot(StartTime(0), &boot(1_000_000, 0), 1), Ok(StartTime(0)));
        assert!(since_boot(StartTime(0), &boot(u64::MAX, 0), 1).is_err());
        assert!(since_boot(StartTime(0), &[0; 15], 1).is_err());
        assert_eq!(since_boot(StartTime(7), &boot(0, 0), 0), Ok(StartTime(7)));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..1200),
            pid in any::<u32>(),
        ) {
            for layout in LAYOUTS {
                drop(parse(&bytes, Pid(pid), layout));
            }
            let _ = since_boot(StartTime(u64::from(pid)), &bytes, 10_000);
        }

        #[test]
        fn any_row_round_trips(
            pid in 1..=i32::MAX,
            parent in 0..=i32::MAX,
            start in 0..4_000_000_000_000_000_u64,
            device in 0..u32::MAX,
            name in "[ -~]{0,15}",
        ) {
            for layout in LAYOUTS {
                let process = Process {
                    pid: Pid(pid.unsigned_abs()),
                    parent: Pid(parent.unsigned_abs()),
                    start: StartTime(start),
                    name: name.clone(),
                    terminal: Some(Terminal(u64::from(device))),
                    ..shell(layout)
                };
                let bytes = rows::row(&process, 2, layout);
                prop_assert_eq!(parse(&bytes, process.pid, layout), Ok(process));
            }
        }
    }
}
