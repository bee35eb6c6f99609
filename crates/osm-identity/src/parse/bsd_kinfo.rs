//! FreeBSD, OpenBSD, NetBSD: where each `kinfo_proc` keeps what we need.
//!
//! All three promise that the structure only grows at its end, so the offsets hold for later
//! releases too. When this crate is compiled for one of the systems they are compared with the
//! declarations of the `libc` crate (see `platform/bsd/`).

use super::kinfo::{Layout, Number};

/// FreeBSD 12 and later, 64-bit: `struct kinfo_proc` of `sys/user.h`, 1088 bytes.
///
/// `ki_tdev` moved to the end of the structure when device numbers grew to 64 bits; what stands
/// in its old place is cut.
pub const FREEBSD: Layout = Layout {
    size: 1088,
    pid: Number { offset: 72, width: 4 },
    parent: Number { offset: 76, width: 4 },
    session: Some(Number { offset: 88, width: 4 }),
    terminal: Number { offset: 560, width: 8 },
    start_seconds: Number { offset: 336, width: 8 },
    start_micros: Number { offset: 344, width: 8 },
    state: Number { offset: 388, width: 1 },
    stopped: &[4],
    ended: &[5],
    name: 447,
    name_length: 20,
};

/// OpenBSD: `struct kinfo_proc` of `sys/sysctl.h`, up to the start time.
///
/// The widths are the same on every architecture. The kernel calls a zombie `SDEAD` (6) here;
/// `SZOMB` (5) is a name that older releases used.
pub const OPENBSD: Layout = Layout {
    size: 420,
    pid: Number { offset: 108, width: 4 },
    parent: Number { offset: 112, width: 4 },
    session: Some(Number { offset: 116, width: 4 }),
    terminal: Number { offset: 212, width: 4 },
    start_seconds: Number { offset: 408, width: 8 },
    start_micros: Number { offset: 416, width: 4 },
    state: Number { offset: 304, width: 1 },
    stopped: &[4],
    ended: &[5, 6],
    name: 312,
    name_length: 24,
};

/// NetBSD: `struct kinfo_proc2` of `sys/sysctl.h`, up to the state of the process.
///
/// The widths are the same on every architecture. `p_stat` is the state of one thread; that of
/// the process is `p_realstat`.
pub const NETBSD: Layout = Layout {
    size: 640,
    pid: Number { offset: 116, width: 4 },
    parent: Number { offset: 120, width: 4 },
    session: Some(Number { offset: 124, width: 4 }),
    terminal: Number { offset: 220, width: 4 },
    start_seconds: Number { offset: 456, width: 4 },
    start_micros: Number { offset: 460, width: 4 },
    state: Number { offset: 632, width: 8 },
    stopped: &[4],
    ended: &[5, 6],
    name: 368,
    name_length: 24,
};

#[cfg(test)]
mod tests {
    use super::super::kinfo::{parse, rows};
    use super::*;
    use crate::process::{Pid, Process, ReadError, StartTime, State, Terminal};

    fn shell() -> Process {
        Process {
            pid: Pid(812),
            parent: Pid(811),
            start: StartTime(1_763_230_000_000_042),
            name: "ksh".into(),
            terminal: Some(Terminal(0x0501)),
            session: Some(Pid(812)),
            state: State::Active,
        }
    }

    #[test]
    fn states_that_matter() {
        let zombies = [(&FREEBSD, 5), (&OPENBSD, 6), (&NETBSD, 5)];
        for (layout, zombie) in zombies {
            for (number, state) in [
                (2, State::Active),
                (3, State::Active),
                (4, State::Suspended),
                (zombie, State::Zombie),
            ] {
                let bytes = rows::row(&shell(), number, layout);
                assert_eq!(parse(&bytes, Pid(812), layout).unwrap().state, state);
            }
        }
    }

    #[test]
    fn a_wide_device_number_of_freebsd_stays_whole() {
        let process = Process { terminal: Some(Terminal(0x1_0000_0071)), ..shell() };
        let mut bytes = rows::row(&process, 3, &FREEBSD);
        // The old place holds the cut number.
        bytes[100..104].copy_from_slice(&0x71_u32.to_ne_bytes());
        assert_eq!(parse(&bytes, Pid(812), &FREEBSD), Ok(process));
    }

    #[test]
    fn a_32_bit_freebsd_is_refused() {
        // 768 bytes on i386, with everything elsewhere.
        assert_eq!(
            parse(&[0; 768], Pid(812), &FREEBSD),
            Err(ReadError::Malformed("row is cut short"))
        );
    }

    #[test]
    fn a_zombie_without_a_start_time_is_still_a_zombie() {
        let zombie = Process { start: StartTime(0), state: State::Zombie, ..shell() };
        for layout in [&OPENBSD, &NETBSD] {
            assert_eq!(parse(&rows::row(&zombie, 6, layout), Pid(812), layout), Ok(zombie.clone()));
        }
    }
}
